"""Online active learning: predict every event, ask for a few labels, learn from the answers.

Importing this package is cheap: what a name needs is imported when the name is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from askance import budgets, drift, quality, queries, rules, testing, updates
    from askance.adapters.wrapped import wrap
    from askance.data.encoding.embedding import Embedding
    from askance.learner.estimator import ActiveClassifier
    from askance.learner.files import load
    from askance.learner.make import make
    from askance.learner.multilabel import MultiLabelClassifier, MultiLabelTrace, make_multilabel
    from askance.learner.pipeline import load_pipeline, make_pipeline
    from askance.learner.presets import algorithms
    from askance.learner.trace import Decision, Trace

__version__ = "0.3.0.dev0"

__all__ = [
    "ActiveClassifier",
    "Decision",
    "Embedding",
    "MultiLabelClassifier",
    "MultiLabelTrace",
    "Trace",
    "algorithms",
    "budgets",
    "drift",
    "load",
    "load_pipeline",
    "make",
    "make_multilabel",
    "make_pipeline",
    "quality",
    "queries",
    "rules",
    "testing",
    "updates",
    "wrap",
]

_LAZY_IMPORTS = {
    "ActiveClassifier": "askance.learner.estimator",
    "Decision": "askance.learner.trace",
    "Embedding": "askance.data.encoding.embedding",
    "MultiLabelClassifier": "askance.learner.multilabel",
    "MultiLabelTrace": "askance.learner.multilabel",
    "Trace": "askance.learner.trace",
    "algorithms": "askance.learner.presets",
    "load": "askance.learner.files",
    "load_pipeline": "askance.learner.pipeline",
    "make": "askance.learner.make",
    "make_multilabel": "askance.learner.multilabel",
    "make_pipeline": "askance.learner.pipeline",
    "wrap": "askance.adapters.wrapped",
}


if not TYPE_CHECKING:  # a checker would take any misspelt name

    def __getattr__(name: str) -> object:
        import importlib

        if name in _LAZY_IMPORTS:
            value = getattr(importlib.import_module(_LAZY_IMPORTS[name]), name)
        elif name in ("budgets", "drift", "quality", "queries", "rules", "testing", "updates"):
            value = importlib.import_module(f"askance.{name}")
        else:
            raise AttributeError(f"module 'askance' has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
