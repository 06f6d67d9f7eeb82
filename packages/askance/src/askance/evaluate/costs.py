"""What mistakes cost: one number for each pair of classes, by name or as a matrix.

{"fraud": {"ok": 9}}        a fraud that is predicted to be ok costs 9, every other mistake 1
[[0, 1], [9, 0]]            row: the class of the event, column: the predicted one, in the order of the classes
{"fn": 9, "fp": 1}          two classes: a missed event of the second, and a false alarm
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np

from askance.errors import InvalidParameter, UnfitCosts

TWO_KINDS = {"fn", "fp"}
FORMS = '{"fraud": {"ok": 9}} (a fraud predicted as ok costs 9), a matrix, or for two classes {"fn": 9, "fp": 1}'


def is_cost(value: Any) -> bool:
    """Whether this is a number that a mistake may cost."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return is_number and 0.0 < value < inf


def has_two_kinds(costs: Any) -> bool:
    """Whether costs are those of a missed event and of a false alarm."""
    return (
        isinstance(costs, Mapping)
        and set(costs) == TWO_KINDS
        and not any(isinstance(c, Mapping) for c in costs.values())
    )


def check_costs(costs: Any) -> None:
    """Refuse what no classes could make costs of."""
    if has_two_kinds(costs):
        sound = all(map(is_cost, costs.values()))
    elif isinstance(costs, Mapping):
        rows = list(costs.values())
        sound = bool(rows) and all(isinstance(row, Mapping) and all(map(is_cost, row.values())) for row in rows)
    else:
        sound = (
            isinstance(costs, list | tuple)
            and len(costs) > 1
            and all(
                isinstance(row, list | tuple)
                and len(row) == len(costs)
                and all(cost == 0 if place == number else is_cost(cost) for place, cost in enumerate(row))
                for number, row in enumerate(costs)
            )
        )
    if not sound:
        raise InvalidParameter(
            f"costs are numbers above 0, written {FORMS}; a matrix is a list of rows with 0 where the prediction is "
            f"right; got {costs!r}."
        )


def cost_matrix(costs: Any, classes: Any) -> np.ndarray:
    """What it costs to predict class j (column) for an event of class i (row).

    >>> cost_matrix({"fraud": {"ok": 9}}, ["fraud", "ok", "spam"])
    array([[0., 9., 1.],
           [1., 0., 1.],
           [1., 1., 0.]])
    """
    check_costs(costs)
    names = [str(name) for name in np.asarray(classes).tolist()]
    if has_two_kinds(costs):
        if len(names) != 2:
            raise UnfitCosts(
                f"the costs fn and fp are for two classes and there are {len(names)}: name the classes, such as "
                f'{{"{names[0]}": {{"{names[1]}": 9}}}}.'
            )
        return np.array([[0.0, costs["fp"]], [costs["fn"], 0.0]])
    if not isinstance(costs, Mapping):
        if len(costs) != len(names):
            raise UnfitCosts(f"costs have {len(costs)} rows and there are {len(names)} classes; each needs one.")
        return np.array(costs, np.float64)
    matrix = 1.0 - np.eye(len(names))
    for truth, row in costs.items():
        for predicted, cost in row.items():
            truth_at, predicted_at = _place(truth, names), _place(predicted, names)
            if truth_at == predicted_at:
                raise UnfitCosts(f"costs has {truth!r} predicted as itself, which is no mistake; leave it out.")
            matrix[truth_at, predicted_at] = cost
    return matrix


def relative_costs(costs: Any, classes: Any) -> np.ndarray:
    """The costs in units of the cheapest mistake, for only their ratios matter to a learner."""
    matrix = cost_matrix(costs, classes)
    relative: np.ndarray = matrix / matrix[matrix > 0.0].min()
    return relative


def _place(name: Any, names: list[str]) -> int:
    try:
        return names.index(str(name))
    except ValueError:
        raise UnfitCosts(f"costs name {name!r}, which is not one of the classes {', '.join(names[:10])}.") from None
