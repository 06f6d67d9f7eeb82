"""Editions of ``auto``: what its parameters were in earlier releases.

A release may choose better parameters for ``auto``. The log of a store that began with others is played with those, so
that the model stays the same function of the log, bit for bit. A store keeps its edition until settings of the model
are edited and a rebuild takes them up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Edition(NamedTuple):
    """What an edition has otherwise than ``make("auto")`` has it now."""

    update: Mapping[str, Any]
    """Parameters of the committee."""
    query: Mapping[str, Any]
    """Parameters of its query rule."""


EDITIONS = (
    Edition(
        update={"audit_growth": 20.0, "hurry": False, "novelty": False, "centred": 512}, query={"power": 2.0}
    ),  # 0.2.0
    Edition(update={}, query={}),
)
"""By number, oldest first. Stores that name none began with the first."""
EDITION = len(EDITIONS) - 1
"""That of now."""


def set_edition(clf: Any, number: int, budget: Any) -> None:
    """Give a classifier that ``make`` made for this budget the parameters of an edition."""
    clf.update.set_params(**EDITIONS[number].update)
    clf.query.set_params(**EDITIONS[number].query)
    clf.budget = clf.update.resolve_budget(budget)
