"""Query rules that look at nothing: ask always, or by the toss of a coin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from askance.learner.rule import QueryRule, SearchRange, share

__all__ = ["Always", "Random"]


def always(parameters, margin, variance, squared_length, tally):
    return 1.0


def at_random(parameters, margin, variance, squared_length, tally):
    return parameters[0]  # rate


@dataclass
class Always(QueryRule):
    """Ask for every label: what a passive learner does."""

    probability: ClassVar = staticmethod(always)
    search: ClassVar = None


@dataclass
class Random(QueryRule):
    """Ask for each label with the same probability.

    Parameters
    ----------
    rate : float, default 0.1
        The share of events to ask for, in (0, 1].
    """

    rate: float = share(0.1, hint=" To allow {value} labels in total use budget={value}.")

    probability: ClassVar = staticmethod(at_random)
    search: ClassVar = SearchRange(lowest=1e-12, highest=1.0)
