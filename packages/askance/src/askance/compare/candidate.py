"""What takes part in a comparison: an algorithm, the parameters that are fixed, and the grid of those to be chosen."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from askance.compare.random_baseline import build, is_committee, preset_of
from askance.compare.search import ScaleParameter, asks_by_rate, parameters_of, scale_parameter_of
from askance.compare.table import Table
from askance.errors import InvalidParameter
from askance.learner.presets import key_of

Value = float | str | tuple[tuple[float, ...], ...] | Callable[[Table], float]
"""A number, a word (the objective of ``auto``), a matrix (its costs), or a function that finds a number in the data."""


def imbalance(table: Table) -> float:
    """T_n / T_p: how many times more negative than positive events there are, the papers' choice for ``rho``."""
    return table.imbalance


def powers(base: float, exponents: Iterable[float]) -> tuple[float, ...]:
    """``base`` to each of the exponents.

    >>> powers(10, range(-1, 2))
    (0.1, 1.0, 10.0)
    """
    return tuple(float(base) ** exponent for exponent in exponents)


GRIDS: dict[str, dict[str, tuple[float, ...]]] = {
    "quick": {
        "C": powers(4, range(-3, 3)),
        "eta": powers(10, (-2, -1, -0.5, 0, 0.5, 1)),
        "gamma": powers(10, (-1, 0, 1)),
        "a": powers(10, range(-1, 3)),
        "phi": (0.25, 0.5, 1.0, 2.0),
        "prior_variance": powers(10, range(-2, 2)),
    },
    "papers": {
        "C": powers(2, range(-5, 6)),
        "eta": powers(10, range(-5, 6)),
        "gamma": powers(10, range(-5, 6)),
        "a": powers(10, range(-5, 6)),
        "phi": powers(2, range(-3, 4)),
        "tau_pos": powers(10, range(-1, 2)),
        "prior_variance": powers(10, range(-3, 3)),
    },
    "none": {},
}
"""Grids by letter. ``papers``: paper 1 searches C in 2^[-5:5], paper 3 all parameters in 10^[-5:5]."""

RIDGE = {"quick": powers(10, (-2, -1, 0)), "papers": powers(10, range(-5, 2)), "none": ()}
"""For ``delta`` where it is the ridge of paper 2's H rather than the scale of a query rule."""

SCALE_GRIDS = {
    "quick": {letter: powers(10, range(-2, 2)) for letter in ("delta", "b", "delta_pos", "delta_neg")},
    "papers": {letter: powers(10, range(-5, 6)) for letter in ("delta", "b", "delta_pos", "delta_neg")},
    "none": {},
}
"""For the letters of query rules, where they are parameters like the others: paper 4 searches them in 10^[-5:5]."""


@dataclass(frozen=True)
class Candidate:
    """An algorithm that takes part, with its parameters.

    Parameters
    ----------
    name : str
        The algorithm, by any name of ``askance.algorithms()``.
    grid : mapping or sequence of mappings, optional
        Values to choose from, by letter: all combinations are tried. A sequence lists the combinations themselves.
    fixed : mapping, optional
        Values that are given. A function of the :class:`Table`, such as :func:`imbalance`, is called with the data.
    label : str, optional
        What to call it in tables, where an algorithm takes part more than once.

    Examples
    --------
    >>> Candidate("PAA-I", grid={"C": [0.1, 1.0]}).points(None)
    [{'C': 0.1}, {'C': 1.0}]
    """

    name: str
    grid: Mapping[str, Sequence[Value]] | Sequence[Mapping[str, Value]] = field(default_factory=dict)
    fixed: Mapping[str, Value] = field(default_factory=dict)
    label: str = ""

    def __post_init__(self) -> None:
        preset, known_letters = preset_of(self.name), parameters_of(self.name)
        object.__setattr__(self, "label", self.label or self._spelling(preset.name, preset.aliases))
        for letter in self.letters - set(known_letters):
            known = ", ".join(known_letters) or "none"
            raise InvalidParameter(f"{preset.name} has no parameter {letter!r}; its parameters are: {known}.")

    def _spelling(self, name: str, aliases: tuple[str, ...]) -> str:
        """The algorithm's name as printed in its paper, whichever alias was used."""
        given = key_of(self.name)
        return next((spelling for spelling in (name, *aliases) if key_of(spelling) == given), name)

    @property
    def letters(self) -> set[str]:
        """The parameters that are given, or chosen from a grid."""
        return {*self.fixed}.union(*([self.grid] if isinstance(self.grid, Mapping) else self.grid))

    @property
    def algorithm(self) -> str:
        """The algorithm's main name."""
        return preset_of(self.name).name

    @property
    def scale_parameter(self) -> ScaleParameter | None:
        """What turns its query ratio."""
        return scale_parameter_of(self.name)

    @property
    def asks_by_rate(self) -> bool:
        """Whether its query ratio is simply the rate."""
        return asks_by_rate(self.name)

    @property
    def is_auto(self) -> bool:
        """Whether it is ``auto`` or its random baseline, whose budget is all there is to choose."""
        return is_committee(self.name)

    def aimed_at(self, objective: Mapping[str, Value] | None) -> Candidate:
        """This candidate with an objective, if it is ``auto`` or its random baseline and its own is left open."""
        if objective is None or not self.is_auto or self.letters:
            return self
        return replace(self, fixed={**self.fixed, **objective})

    def points(self, table: Table | None) -> list[dict[str, float]]:
        """All combinations of parameters, in order; the fixed ones included."""
        if isinstance(self.grid, Mapping):
            rows = [
                dict(zip(self.grid, values, strict=True)) for values in itertools.product(*self.grid.values())
            ]  # one empty row for an empty grid
        else:
            rows = [dict(row) for row in self.grid] or [{}]
        points = []
        for row in rows:
            point = {letter: _number(value, table) for letter, value in (dict(self.fixed) | row).items()}
            build(self.name, **point)  # refuses values that cannot work, with a sentence
            if point not in points:
                points.append(point)
        return points


def _number(value: Value, table: Table | None) -> Any:
    if not callable(value):
        return value if isinstance(value, int | str | tuple) else float(value)
    if table is None:
        raise InvalidParameter(f"{getattr(value, '__name__', value)} needs the data; pass the table.")
    return float(value(table))


def default_candidate(
    name: str,
    grid: str = "quick",
    fixed: Mapping[str, Value] | None = None,
    choices: Mapping[str, Sequence[Value]] | None = None,
    *,
    with_scale: bool = False,
    label: str = "",
) -> Candidate:
    """An algorithm with the usual grid over those of its letters that are not given.

    Parameters
    ----------
    name : str
        The algorithm.
    grid : {"quick", "papers", "none"}
        Which of the ``GRIDS``.
    fixed : mapping, optional
        Values that are given. ``rho``, where there is one, is T_n / T_p unless given.
    choices : mapping, optional
        Values to choose from, instead of those of the grid.
    with_scale : bool, default False
        Whether the query scale is chosen, too, as it must be when algorithms are compared at budgets.
    label : str, optional
        What to call it.
    """
    if grid not in GRIDS:
        raise InvalidParameter(f"grid must be one of {', '.join(GRIDS)}, got {grid!r}.")
    letters, given, values = parameters_of(name), dict(fixed or {}), dict(choices or {})
    scale_parameter = scale_parameter_of(name)
    turned = scale_parameter.letters if scale_parameter else ()
    open_letters = [letter for letter in letters if letter not in given and letter not in values]
    for letter in open_letters:
        if letter in turned:
            if with_scale and letter in SCALE_GRIDS[grid]:
                values[letter] = SCALE_GRIDS[grid][letter]
        elif letter == "rho":
            given[letter] = imbalance
        elif letter == "delta" and RIDGE[grid]:
            values[letter] = RIDGE[grid]
        elif letter in GRIDS[grid] and not (letter == "eta" and "tau_pos" in letters):
            values[letter] = GRIDS[grid][letter]  # (the weights of PAUM scale with eta: only its margins matter)
    return Candidate(name, values, given, label)
