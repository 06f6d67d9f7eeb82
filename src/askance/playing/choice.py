"""Which algorithm, with which parameters and how many labels: what a user writes, and the classifier it stands for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from askance.errors import InvalidParameter

TWO_CLASSES, MANY_CLASSES = "D-ADA", "MD-ADA"
"""What plays if nobody is named: tried as they are, without tuning, on fifteen streams of numbers and of words at a
rate of 5 %, these rules were the most accurate on average and never far behind the best."""

SET_APART = ("budget", "classes", "explore", "intercept", "n_features", "normalize", "random_state")
WORDS = ("objective",)  # parameters whose value is a word
KEEP_EXACT = 10_000  # features, up to which a model is exactly as wide as its stream


@dataclass(frozen=True)
class Choice:
    """An algorithm, its parameters, and what every algorithm takes.

    Parameters
    ----------
    algorithm : str, optional
        A name of ``askance.algorithms()``. Default: D-ADA for two classes, MD-ADA for more.
    parameters : mapping, optional
        The algorithm's own, by the papers' letters.
    budget : None, int or Budget
        How many labels may be bought.
    explore : float, default 0.0
        The least probability with which every event is asked.
    normalize, intercept, random_state
        As for ``ActiveClassifier``.
    """

    algorithm: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    budget: Any = None
    explore: float = 0.0
    normalize: str | None = None
    intercept: bool = True
    random_state: int | None = 0

    def check(self) -> None:
        """Refuse what cannot work, before anything is read."""
        self.make([0, 1] if self.algorithm is None else None)

    def resolve(self, n_classes: int) -> tuple[str, dict[str, Any]]:
        """The name and the parameters for so many classes."""
        if self.algorithm is not None:
            return self.algorithm, dict(self.parameters)
        return TWO_CLASSES if n_classes <= 2 else MANY_CLASSES, dict(self.parameters)

    def about(self, n_classes: int) -> dict[str, Any]:
        """The algorithm by its own name and all its parameters, for people."""
        import askance

        name, given = self.resolve(n_classes)
        wanted = name.strip().casefold()
        for row in askance.algorithms():
            if wanted in (spelling.casefold() for spelling in (row["name"], *row["aliases"])):
                if "costs" in given:  # which are an objective of their own
                    given = {"objective": "cost"} | given
                return {"algorithm": row["name"], "parameters": row["parameters"] | given}
        return {"algorithm": name, "parameters": given}

    def make(self, classes: Any, n_features: int | None = None, positive: int | None = None) -> Any:
        """The classifier; ``positive`` is the place among the classes of the one that costs and F1 are about."""
        import askance

        for letter in self.parameters:
            if letter in SET_APART:
                raise InvalidParameter(f"{letter!r} is no parameter of an algorithm; it is set on its own.")
        name, parameters = self.resolve(2 if classes is None else len(classes))
        if positive == 0:
            parameters = about_the_first(parameters)
        more: dict[str, Any] = {"explore": self.explore} if self.explore else {}
        if n_features is not None:
            more["n_features"] = n_features
        return askance.make(
            name,
            budget=self.budget,
            classes=classes,
            normalize=self.normalize,
            intercept=self.intercept,
            random_state=self.random_state,
            **more,
            **parameters,
        )


def about_the_first(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters of ``auto``, whose objectives are about the second class, where the first is the positive one.

    >>> about_the_first({"costs": {"fn": 9, "fp": 1}})
    {'costs': {'fn': 1, 'fp': 9}}
    """
    if parameters.get("objective") == "f1":
        raise InvalidParameter(
            "the objective f1 is about the second class; name no other as the positive one, or give costs instead."
        )
    costs = parameters.get("costs")
    return parameters if costs is None else parameters | {"costs": {"fn": costs["fp"], "fp": costs["fn"]}}


def named(text: str, settings: Iterable[str] = ()) -> tuple[str, dict[str, Any]]:
    """An algorithm from ``NAME:letter=value,letter=value``, and more settings ``letter=value``.

    >>> named("PAA-I:C=0.5", ["delta=2"])
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


def room_for(width: int) -> int:
    """How wide to make a model for a stream that is ``width`` columns wide so far, and may grow.

    >>> room_for(300), room_for(1_000_000)
    (300, 1250000)
    """
    return width if width <= KEEP_EXACT else min(width + width // 4, 2**31 - 2)
