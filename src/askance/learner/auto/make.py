"""``make("auto")``: from a budget to a classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from askance.errors import InvalidParameter
from askance.learner.auto.gradual import spread
from askance.learner.auto.query import Doubt
from askance.learner.auto.rule import Committee

if TYPE_CHECKING:
    from askance.learner.classifier import ActiveClassifier

PARAMETERS = {"objective": "balanced", "costs": None}
"""What ``auto`` takes beside what every algorithm does."""


def make_auto(common: dict[str, Any], parameters: dict[str, Any]) -> ActiveClassifier:
    """The classifier; ``common`` are the parameters every algorithm takes."""
    from askance.learner.classifier import ActiveClassifier

    for key in parameters:
        if key not in PARAMETERS:
            raise InvalidParameter(
                f"auto has no parameter {key!r}; it takes {', '.join(PARAMETERS)}, and, like every algorithm, budget, "
                "classes, n_features, random_state, explore, keep and keep_for."
            )
    for key in ("normalize", "intercept"):  # it does both itself, whatever a loop over algorithms says
        common.pop(key, None)
    common["budget"] = spread(common.get("budget"))
    clf = ActiveClassifier(update=Committee(**aim(**parameters)), query=Doubt(), **common)
    clf.check_rules()
    return clf


def aim(objective: Any = None, costs: Any = None) -> dict[str, Any]:
    """The committee's parameters for an objective, or for the costs of the two kinds of mistakes."""
    if costs is None:
        if objective == "cost":
            raise InvalidParameter('objective="cost" needs the costs, such as costs={"fn": 9, "fp": 1}.')
        return {} if objective is None else {"objective": objective}
    if objective not in (None, "cost"):
        raise InvalidParameter(f'costs go with objective="cost", not {objective!r}.')
    try:
        missed, false_alarm = float(costs["fn"]), float(costs["fp"])
        is_sound = isinstance(costs, Mapping) and len(costs) == 2 and 0.0 < min(missed, false_alarm) < float("inf")
    except (KeyError, TypeError, ValueError):
        is_sound = False
    if not is_sound:
        raise InvalidParameter(
            "costs must say what a missed event of the second class and a false alarm cost, both above 0, such as "
            f'{{"fn": 9, "fp": 1}}, got {costs!r}.'
        )
    return {"objective": "cost", "ratio": missed / false_alarm}
