"""Model files of earlier formats, made into today's: a step from a format to the next.

A file of any format from ``OLDEST`` on is read for good: labels that were paid for are not thrown away by an upgrade.
A step changes the document and the arrays of a file in place, as far as the next format differs:

    3   a budget by time kept 4 numbers of a period before those of its parts; 4 more followed
    4   rules and parameters had other names
    5   the encoder of raw events was no part of the model: ``askance run`` and ``askance pipe`` kept it beside
    7   a committee did not count what tells it of a change: 3 numbers more in its head, 16 more for each class
    8   a committee did not remember what it asked lately, nor how likely: 98 numbers more in its head, 2 for each class
    9   the numbers of a budget state had no names; labels were not counted by predicted class; ``front_load`` was
        called ``hurry``

What a file does not have of the parameters of ``Probit`` is from before they were there, whatever its format
(``fill_in_earlier``).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from askance.learner.budget_state import NO_PART, PERIOD, SLOTS, STEERING_SIZE, name_budget_state
from askance.learner.loop import COUNTS
from askance.learner.update.probit import fill_in_earlier

OLDEST = 3
Arrays = dict[str, np.ndarray]

RULES = {"Doubt": "InverseSquareMargin", "Gradual": "DecayingRate"}
PARAMETERS = {"keep": "max_pending", "keep_for": "max_pending_age"}


def upgrade(version: int, document: dict[str, Any], arrays: Arrays) -> None:
    """Bring what a file of this format holds to the present one."""
    for format_, step in STEPS.items():
        if format_ >= version:
            step(document, arrays)
    document["parameters"] = {name: _with_earlier_parameters(value) for name, value in document["parameters"].items()}


def lengthen_periods(document: dict[str, Any], arrays: Arrays) -> None:
    """3 to 4: which part of a period it is is found out again with the next event."""
    old = arrays.get("account", np.empty(0))
    if old.size <= STEERING_SIZE:
        return
    before = ("begun", "asked_before", "carried", "known")  # what was kept of a period in front of its parts
    pages = old[STEERING_SIZE:].reshape(-1, len(before) + 2 * SLOTS)
    periods = np.zeros(len(pages), PERIOD)
    for place, name in enumerate(before):
        periods[name] = pages[:, place]
    periods["part"] = NO_PART
    periods["now"] = pages[:, len(before) : len(before) + SLOTS]
    periods["usually"] = pages[:, len(before) + SLOTS :]
    arrays["account"] = np.concatenate([old[:STEERING_SIZE], periods.view(np.float64)])


def rename_rules(document: dict[str, Any], arrays: Arrays) -> None:
    """4 to 5: rules and parameters get the names they have now."""
    document["parameters"] = {
        PARAMETERS.get(name, name): _with_new_names(value) for name, value in document["parameters"].items()
    }


def _with_new_names(value: Any) -> Any:
    if not isinstance(value, dict) or value.get("kind") != "rule":
        return value
    name = RULES.get(value["name"], value["name"]) if value["module"] is None else value["name"]
    parameters = {key: _with_new_names(inner) for key, inner in value["parameters"].items()}
    return {**value, "name": name, "parameters": parameters}


def _with_earlier_parameters(value: Any) -> Any:
    if not isinstance(value, dict) or value.get("kind") != "rule":
        return value
    parameters = {key: _with_earlier_parameters(inner) for key, inner in value["parameters"].items()}
    if _is_rule(value, "Probit"):
        parameters = fill_in_earlier(parameters)
    return {**value, "parameters": parameters}


def take_encoder_in(document: dict[str, Any], arrays: Arrays) -> None:
    """5 to 6: the encoder of a stream with named fields becomes a part of the model."""
    if "stream" in arrays:
        stream = json.loads(arrays["stream"].tobytes())["stream"]
        if "fields" in stream:
            document["encoder"] = stream


def begin_to_watch_for_changes(document: dict[str, Any], arrays: Arrays) -> None:
    """7 to 8: nothing is known yet of how often a committee's predictions were wrong."""
    if "learned" in document and _is_rule(document["parameters"]["update"], "Committee"):
        classes = len(document["learned"]["classes"]["values"])
        head, counts = 14, (3 + 2 * 22) * classes + (3 * 22 + 1) * classes**2
        before, between, after = np.split(arrays["extra"], [head, head + counts])
        arrays["extra"] = np.concatenate([before, np.zeros(3), between, np.zeros(16 * classes), after])


def begin_to_remember_asked_events(document: dict[str, Any], arrays: Arrays) -> None:
    """8 to 9: no asked event is remembered, and every answer so far counted once in the threshold."""
    update = document["parameters"]["update"]
    if "learned" not in document:
        return
    if _is_rule(update, "Committee"):
        arrays["extra"] = _with_asked_events(arrays["extra"], len(document["learned"]["classes"]["values"]))
    elif _is_rule(update, "ModelPerLabel") and _is_rule(update["parameters"]["update"], "Committee"):
        labels, models = arrays["extra"][:1], arrays["extra"][1:].reshape(update["parameters"]["labels"], -1)
        arrays["extra"] = np.concatenate([labels, *(_with_asked_events(extra, classes=2) for extra in models)])


def name_budget_numbers(document: dict[str, Any], arrays: Arrays) -> None:
    """9 to 10: the labels asked so far are counted for no class."""
    document["parameters"] = {name: _with_front_load(value) for name, value in document["parameters"].items()}
    if "learned" in document:
        arrays["counts"] = arrays["counts"].view(COUNTS)
        arrays["asked_by_class"] = np.zeros(len(document["learned"]["classes"]["values"]), np.int64)
        arrays["budget_state"] = name_budget_state(arrays.pop("account"))


def _with_front_load(value: Any) -> Any:
    if not isinstance(value, dict) or value.get("kind") != "rule":
        return value
    parameters = {key: _with_front_load(inner) for key, inner in value["parameters"].items()}
    if (_is_rule(value, "Rate") or _is_rule(value, "Committee")) and "hurry" in parameters:
        parameters["front_load"] = parameters.pop("hurry")
    return {**value, "parameters": parameters}


def _is_rule(value: Any, name: str) -> bool:
    """Whether a parameter is a rule of ours with this name."""
    return isinstance(value, dict) and value.get("name") == name and value.get("module") is None


def _with_asked_events(extra: np.ndarray, classes: int) -> np.ndarray:
    head = 17
    before, answers, others, after = np.split(extra, [head, head + classes, head + 3 * classes])
    return np.concatenate([before, np.zeros(98), answers, others, answers, answers, after])


STEPS: dict[int, Callable[[dict[str, Any], Arrays], None]] = {
    3: lengthen_periods, 4: rename_rules, 5: take_encoder_in, 7: begin_to_watch_for_changes,
    8: begin_to_remember_asked_events, 9: name_budget_numbers,
}  # fmt: skip
"""By the format they begin with. Where a format only has a field more, there is no step (see ``model_fields``)."""
