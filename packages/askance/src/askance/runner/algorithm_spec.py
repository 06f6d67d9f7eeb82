"""An algorithm with its parameters and budget, as a user writes it, and the classifier that it describes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from askance.errors import InvalidParameter
from askance.evaluate.costs import has_two_kinds

if TYPE_CHECKING:
    from askance.learner.multilabel import MultiLabelClassifier

USUAL_ALGORITHM = "auto"
"""What runs if no algorithm is named."""
LABEL_SET_ALGORITHM = "D-ADA"
"""The same, where events have several labels."""
SET_APART = ("budget", "classes", "explore", "intercept", "n_features", "normalize", "random_state")
WORDS = ("objective", "kernel")  # parameters whose value is a word


@dataclass(frozen=True)
class AlgorithmSpec:
    """An algorithm, its own parameters, and those that every algorithm takes.

    Parameters
    ----------
    algorithm : str, default "auto"
        A name of ``askance.algorithms()``.
    parameters : mapping, optional
        The algorithm's own parameters, by the papers' letters.
    budget : None, int, float or Budget
        How many labels may be requested.
    explore : float, default 0.0
        The least ask probability of every event.
    normalize, intercept, random_state
        As for ``ActiveClassifier``.
    """

    algorithm: str = USUAL_ALGORITHM
    parameters: Mapping[str, Any] = field(default_factory=dict)
    budget: Any = None
    explore: float = 0.0
    normalize: str | None = None
    intercept: bool = True
    random_state: int | None = 0

    def check(self) -> None:
        """Raise if the parameters cannot work, before anything is read."""
        from askance.learner.make import check

        check(self.algorithm, **self._arguments(None))

    def about(self) -> dict[str, Any]:
        """The algorithm by its own name, with all its parameters, for people."""
        import askance
        from askance.learner.presets import is_auto, key_of

        name, given = self.algorithm, dict(self.parameters)
        for row in askance.algorithms():
            if key_of(name) in map(key_of, (row["name"], *row["aliases"])):
                if "costs" in given and is_auto(name):  # costs imply the objective
                    given = {"objective": "cost"} | given
                return {"algorithm": row["name"], "parameters": row["parameters"] | given}
        return {"algorithm": name, "parameters": given}

    def make(self, classes: Any, n_features: int | None = None, positive: int | None = None) -> Any:
        """The classifier; ``positive`` is the index of the class that costs and F1 are about."""
        from askance.learner.make import make_stream_classifier

        width = {} if n_features is None else {"n_features": n_features}
        return make_stream_classifier(self.algorithm, classes=classes, **width, **self._arguments(positive))

    def make_multilabel(self, labels: Any, separator: str | None) -> MultiLabelClassifier:
        """The classifier for label sets."""
        from askance.learner.multilabel import make_multilabel

        return make_multilabel(self.algorithm, labels=labels, label_separator=separator, **self._arguments(None))

    def _arguments(self, positive: int | None) -> dict[str, Any]:
        """What ``make`` is called with, beside the classes and the width."""
        for letter in self.parameters:
            if letter in SET_APART:
                raise InvalidParameter(f"{letter!r} is no parameter of an algorithm; it is set on its own.")
        parameters = dict(self.parameters)
        if positive == 0:
            parameters = swap_costs(parameters)
        return {
            "budget": self.budget,
            "normalize": self.normalize,
            "intercept": self.intercept,
            "random_state": self.random_state,
            **({"explore": self.explore} if self.explore else {}),
            **parameters,
        }


def swap_costs(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters if the first class is the positive one; costs of two kinds, and f1, are about the second.

    >>> swap_costs({"costs": {"fn": 9, "fp": 1}})
    {'costs': {'fn': 1, 'fp': 9}}
    """
    if parameters.get("objective") == "f1":
        raise InvalidParameter(
            "the objective f1 is about the second class; name no other as the positive one, or give costs instead."
        )
    costs: Any = parameters.get("costs")
    return parameters if not has_two_kinds(costs) else parameters | {"costs": {"fn": costs["fp"], "fp": costs["fn"]}}


def parse_algorithm(text: str, settings: Iterable[str] = ()) -> tuple[str, dict[str, Any]]:
    """An algorithm from ``NAME:letter=value,letter=value``, and more settings ``letter=value``.

    >>> parse_algorithm("PAA-I:C=0.5", ["delta=2"])
    ('PAA-I', {'C': 0.5, 'delta': 2})
    """
    name, _, rest = text.partition(":")
    return name.strip(), parameters_in([*filter(None, rest.split(",")), *settings])


def parameters_in(settings: Iterable[str]) -> dict[str, Any]:
    """Parameters from texts such as ``C=0.1``."""
    found: dict[str, Any] = {}
    for part in settings:
        letter, equals, text = part.partition("=")
        value = (text.strip() or None) if letter.strip() in WORDS else _value(text.strip())
        if not (letter.strip() and equals) or value is None:
            raise InvalidParameter(f"{part!r} is not understood; write a parameter and its value, such as C=0.1.")
        found[letter.strip()] = value
    return found


def _value(text: str) -> int | float | bool | None:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None
