"""``make("auto")``: from a budget to a classifier."""

from __future__ import annotations

from typing import Any

from askance.errors import InvalidParameter
from askance.evaluate.costs import check_costs, has_two_kinds
from askance.evaluate.metrics.objectives import USUAL_OBJECTIVE
from askance.learner.auto.fourier import CURVES
from askance.learner.auto.query import InverseSquareMargin
from askance.learner.auto.rule import Committee
from askance.learner.make import COMMON, no_parameter
from askance.learner.presets import AUTO

PARAMETERS = {"objective": USUAL_OBJECTIVE, "costs": None}
"""The parameters of ``auto`` beside those of every algorithm, with their defaults."""
OWN_WAY = ("normalize", "intercept")
"""What it does itself, whatever a loop over algorithms says."""
CLASS_POWER, POWER = 1.0, 3.0  # a and b of ``InverseSquareMargin``
AUDITS = 0.2  # of a share r of the events, asked at random ...
AUDIT_GROWTH = 30.0  # ... times 1 + 30 r
FRONT_LOAD = True  # of the initial burst
REACTION = 1.0  # to an alarm
EVENT_REACTION = 0.5  # to changed events
NOVELTY = True  # a member that seeks it
CENTRED = 800  # features at most: with as many, there are 50,000 events of 100 non-zeros a second
ASKING: dict[str, Any] = {"unbiasing": 1.0, "rare_side": 0.5, "variety": 4.0}
"""The committee's parameters of asking (see ``asking`` and ``classes``). Whoever changes one of all these writes what
it was into ``askance_live.engine.preset_versions``, for the logs that began with it."""


def settings_of_auto(common: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters of the classifier; ``common`` are those that every algorithm takes."""
    for key in parameters:
        if key not in PARAMETERS:
            raise no_parameter(AUTO, key, PARAMETERS, [name for name in COMMON if name not in OWN_WAY])
    for key in OWN_WAY:
        common.pop(key, None)
    update = Committee(
        **aim(**parameters),
        curves=CURVES,
        reaction=REACTION,
        event_reaction=EVENT_REACTION,
        audits=AUDITS,
        audit_growth=AUDIT_GROWTH,
        front_load=FRONT_LOAD,
        novelty=NOVELTY,
        centred=CENTRED,
        **ASKING,
    )
    common["budget"] = update.resolve_budget(common.get("budget"))
    return {"update": update, "query": InverseSquareMargin(class_power=CLASS_POWER, power=POWER), **common}


def aim(objective: Any = None, costs: Any = None) -> dict[str, Any]:
    """The committee's parameters for an objective, or for the costs of mistakes."""
    if costs is None:
        if objective == "cost":
            raise InvalidParameter('objective="cost" needs the costs, such as costs={"fn": 9, "fp": 1}.')
        return {} if objective is None else {"objective": objective}
    if objective not in (None, "cost"):
        raise InvalidParameter(f'costs go with objective="cost", not {objective!r}.')
    check_costs(costs)
    if has_two_kinds(costs):
        return {"objective": "cost", "ratio": float(costs["fn"]) / float(costs["fp"])}
    return {"objective": "cost", "costs": costs}
