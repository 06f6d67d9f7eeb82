"""What it takes to write a rule: its base class, the declarations of parameters, and the parts of kernels.

``askance.updates`` and ``askance.queries`` have the rules that are there, ``askance.testing`` checks one of your own.
"""

import warnings
from typing import Any

from askance.compile import no_inline
from askance.learner.rule import Kernel, Kernels, QueryRule, UpdateRule, finite, positive, share, whole
from askance.learner.sparse import add, best_of, dot, linear_margin, margin_and_variance, side, sign, squared_norm
from askance.learner.state import Event, Score, State

__all__ = [
    "Event",
    "Kernel",
    "Kernels",
    "QueryRule",
    "Score",
    "State",
    "UpdateRule",
    "add",
    "best_of",
    "dot",
    "finite",
    "linear_margin",
    "margin_and_variance",
    "no_inline",
    "positive",
    "share",
    "side",
    "sign",
    "squared_norm",
    "whole",
]


def _moved(module: str, name: str) -> Any:
    """What was in ``askance.updates`` or ``askance.queries`` before it was here."""
    if name not in __all__:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    warnings.warn(f"{module}.{name} is askance.rules.{name} now.", DeprecationWarning, stacklevel=3)
    return globals()[name]
