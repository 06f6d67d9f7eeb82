"""Versions of the presets ``auto`` and Bayesian probit: what their parameters were in earlier releases.

A release may choose better parameters for them. The log of a store that began with others is played with those, so
that the model stays the same function of the log, bit for bit. A store keeps its preset version until settings of the
model are edited and a rebuild takes them up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class PresetVersion(NamedTuple):
    """What a preset version has otherwise than ``make`` has it now."""

    update: Mapping[str, Any]
    """Parameters of the committee."""
    query: Mapping[str, Any]
    """Parameters of its query rule."""
    probit: Mapping[str, Any] = {}
    """Parameters of ``Probit``, the rule of UOAL and BOAL."""


BEFORE_ALL = -1
"""That of 0.1, which no store names: stores from then lack what later ones say of themselves (``stored_model``)."""
OLD = {"audit_growth": 20.0, "front_load": False, "novelty": False, "centred": 512}
CAPPED = {"max_variance_ratio": 1.0}
PRESET_VERSIONS = {
    BEFORE_ALL: PresetVersion(
        update=OLD | dict.fromkeys(
            ("audits", "audit_growth", "curves", "event_reaction", "rare_side", "reaction", "unbiasing", "variety"), 0
        ),
        query={"power": 2.0, "class_power": 0.0},
        probit=CAPPED,
    ),
    0: PresetVersion(update=OLD, query={"power": 2.0}, probit=CAPPED),  # 0.2.0; stores that name none began with it
    1: PresetVersion(update={}, query={}),
}  # fmt: skip
NEWEST_PRESET_VERSION = max(PRESET_VERSIONS)
"""That of now."""


def preset_version_of_new_store(algorithm: str) -> int:
    """The preset version of a new store: that of now where the algorithm has several, else the first."""
    from askance.learner.presets import find, is_auto  # only now: reading settings is quick
    from askance.learner.update import Probit

    return NEWEST_PRESET_VERSION if is_auto(algorithm) or find(algorithm).update is Probit else 0


def set_preset_version(clf: Any, number: int, budget: Any) -> None:
    """Give a classifier that ``make`` made for this budget the parameters of a preset version."""
    from askance.learner.auto import Committee
    from askance.learner.update import Probit

    rule = clf.update.innermost
    if isinstance(rule, Probit):
        rule.set_params(**PRESET_VERSIONS[number].probit)
        if number == BEFORE_ALL:  # its decay was local, as ``learner.upgrades`` knows of its files
            rule.set_params(decay=1.0, local_decay=rule.decay)
    elif isinstance(rule, Committee):
        rule.set_params(**PRESET_VERSIONS[number].update)
        clf.query.set_params(**PRESET_VERSIONS[number].query)
        clf.budget = rule.resolve_budget(budget)
