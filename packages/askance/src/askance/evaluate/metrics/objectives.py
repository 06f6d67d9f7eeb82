"""Which objective of ``auto`` a metric calls for, and which metric an objective is judged by: the one home of both.

metric                              objective
accuracy, mistakes                  accuracy
balanced_accuracy                   balanced
recall                              balanced, where it is the mean over the classes
sum                                 balanced, where both classes weigh the same
f1                                  f1, of the second of two classes, or the mean over the classes
cost                                cost of the two mistakes of two classes
all others                          none
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from askance.evaluate.metrics.register import USUAL_WEIGHTS, Weights, metric_of

HEADLINES = {"balanced": "balanced_accuracy", "accuracy": "accuracy", "f1": "f1", "cost": "cost"}
"""The metric that each objective is judged by."""
USUAL_OBJECTIVE = "balanced"
"""That of ``auto``, unless another one is given."""
USUAL_METRIC = HEADLINES[USUAL_OBJECTIVE]
"""What comparisons choose and rank by, unless another metric is given: what ``auto`` optimizes by itself."""


def headline_of(about: Mapping[str, Any]) -> str:
    """The metric that an algorithm is judged by, from its parameters: accuracy, if it has no objective.

    >>> headline_of({"parameters": {"objective": "balanced"}}), headline_of({"parameters": {"C": 1.0}})
    ('balanced_accuracy', 'accuracy')
    """
    return HEADLINES.get(about["parameters"].get("objective", ""), "accuracy")


def objective_for(
    metric: str, positive: int | None = 1, n_classes: int = 2, weights: Weights = USUAL_WEIGHTS
) -> dict[str, Any] | None:
    """The parameters of ``auto`` that optimize a metric; None where none do.

    Parameters
    ----------
    metric : str
        Its name in the register.
    positive : int, optional
        The class that the metric is about, as an index; None for a mean over the classes.
    n_classes : int
        How many classes there are.
    weights : Weights
        Those in ``sum`` and ``cost``.

    Examples
    --------
    >>> objective_for("mistakes"), objective_for("auc")
    ({'objective': 'accuracy'}, None)
    >>> objective_for("cost", positive=0)
    {'objective': 'cost', 'costs': ((0.0, 0.9), (0.1, 0.0))}
    """
    if metric == "cost":
        return _objective_of_cost(positive, n_classes, weights.c_p)
    found = {
        "accuracy": "accuracy",
        "mistakes": "accuracy",
        "balanced_accuracy": "balanced",
        "recall": "balanced" if positive is None else None,
        "sum": "balanced" if n_classes == 2 and weights.alpha_p == 0.5 else None,
        "f1": "f1" if positive is None or (positive, n_classes) == (1, 2) else None,
    }.get(metric)
    return None if found is None else {"objective": found}


def _objective_of_cost(positive: int | None, n_classes: int, c_p: float) -> dict[str, Any] | None:
    """The costs as rows of a matrix; ``auto`` takes none that are 0."""
    if positive is None or n_classes != 2 or not 0.0 < c_p < 1.0:
        return None
    missed, alarm = float(c_p), round(1.0 - c_p, 12)
    rows = ((0.0, alarm), (missed, 0.0)) if positive == 1 else ((0.0, missed), (alarm, 0.0))
    return {"objective": "cost", "costs": rows}


def describe_objectives(
    metric: str, wanted: Mapping[str, Any] | None, committees: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Whether a metric is what committees optimize, in sentences; empty where there are no committees.

    ``committees`` has their parameters by name, ``wanted`` is what ``objective_for`` says of the metric.

    >>> describe_objectives("accuracy", objective_for("accuracy"), {"auto": {"objective": "accuracy"}})
    ['auto optimizes this metric, accuracy (objective=accuracy).']
    >>> describe_objectives("auc", objective_for("auc"), {"auto": {}})
    ['auto optimizes balanced accuracy (objective=balanced), not AUC, for which it has no objective.']
    """
    groups: dict[tuple[str, bool], list[str]] = {}
    for name, parameters in committees.items():
        objective = parameters.get("objective", USUAL_OBJECTIVE)
        fits = wanted is not None and {"objective": objective, "costs": _rows(parameters.get("costs"))} == {
            "objective": wanted["objective"],
            "costs": _rows(wanted.get("costs")),
        }
        groups.setdefault((objective, fits), []).append(name)
    title = metric_of(metric).title
    sentences = []
    for (objective, fits), names in groups.items():
        who = f"{' and '.join(names)} {'optimizes' if len(names) == 1 else 'optimize'}"
        what = f"{metric_of(HEADLINES[objective]).title} (objective={objective})"
        without = f", for which {'it has' if len(names) == 1 else 'they have'} no objective" if wanted is None else ""
        sentences.append(
            f"{who} this metric, {title} (objective={objective})." if fits else f"{who} {what}, not {title}{without}."
        )
    return sentences


def _rows(costs: Any) -> Any:
    """Costs as they are after a visit to JSON."""
    return [list(row) for row in costs] if isinstance(costs, list | tuple) else costs
