"""Find the scale of a query rule that gives a wanted query ratio.

Every query rule has a parameter that says how readily it asks: delta, b, epsilon or rate, or delta_pos and delta_neg,
which are scaled together. The papers change it until the algorithm asks for, say, 10 % of the labels. With the query
ratio r(s) of a scale s, that is the root of an increasing, slightly noisy function:

    log(r(s) / (1 - r(s))) = log(r / (1 - r))        for the wanted ratio r

For most rules the left side is nearly a straight line over log s (for Margin with a single |p| exactly so, with slope
one). So a secant step in these coordinates, kept inside a bracket, is within 3 % after a few plays.

The search is a generator: it yields a scale, is sent the query ratio of that scale, and returns what it found. The
caller decides who plays, and on how many permutations.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, fields
from math import exp, inf, log
from statistics import fmean, median
from typing import Any

from askance.compare.random_baseline import is_committee, preset_of
from askance.errors import InvalidParameter
from askance.learner import query as q
from askance.learner.auto import InverseSquareMargin
from askance.learner.auto.make import PARAMETERS
from askance.learner.rule import QueryRule, SearchRange

TOLERANCE = 0.03
MOST_SCALES = 16
"""Scales tried for one ratio before the nearest is taken, marked as not reached."""
LARGEST_STEP = log(1e3)
FLAT_OVER = log(4.0)
"""If so large a change of log s does not move the ratio, the end of the range is tried next."""
CLOSE = 0.03
"""Width of a bracket, in log s, inside which the ratio moves by chance rather than by the scale."""
GOLDEN = 0.6180339887498949
NEARBY = log(1.6)
"""Log-odds within this distance of the wanted ones count as nearby."""


# --- scale parameters ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScaleParameter:
    """The parameters of a query rule that set how readily it asks, by their letters, and the range of the scale."""

    letters: tuple[str, ...]
    lowest: float = 1e-10
    highest: float = 1e12
    start: float = 1.0

    def apply(self, parameters: dict[str, Any], scale: float) -> dict[str, Any]:
        """The parameters with this scale. Several letters keep the proportions they have in ``parameters``."""
        if len(self.letters) == 1:
            return parameters | {self.letters[0]: scale}
        return parameters | {letter: scale * float(parameters.get(letter, 1.0)) for letter in self.letters}


DELTA = ScaleParameter(("delta",))
RATE = ScaleParameter(("rate",), *q.Random.search)


def parameters_of(algorithm: str) -> dict[str, Any]:
    """The parameters that a user may set, with their defaults."""
    if is_committee(algorithm):
        return dict(PARAMETERS)
    return preset_of(algorithm).parameters


def scale_parameter_of(algorithm: str) -> ScaleParameter | None:
    """The parameter that sets the query ratio of an algorithm; None if it asks for every label.

    Examples
    --------
    >>> scale_parameter_of("OA3").apply({"delta_pos": 10.0, "delta_neg": 1.0}, scale=0.5)
    {'delta_pos': 5.0, 'delta_neg': 0.5}
    """
    return scale_parameter_for(preset_of(algorithm).query)


def scale_parameter_for(rule: type[QueryRule]) -> ScaleParameter | None:
    """What scales a query rule: the parameters that it declares as its ``scales``, or else the first one, where it
    declares a range to ``search``."""
    if issubclass(rule, InverseSquareMargin):
        return RATE  # of the committee's budget
    search = getattr(rule, "search", SearchRange())
    if search is None:
        return None
    letters = tuple(field.name for field in fields(rule)[: rule.own_scales() or hasattr(rule, "search")])
    if not letters:
        raise InvalidParameter(f"{rule.__name__} has no scale to search; declare its scales, or a range to search.")
    return ScaleParameter(letters, *search)


def asks_at_random(algorithm: str) -> bool:
    """Whether every event is asked with the same probability, the rate."""
    return issubclass(preset_of(algorithm).query, q.Random)


def asks_by_rate(algorithm: str) -> bool:
    """Whether the query ratio is simply the rate: that of a rule that asks at random, or of a budget."""
    return asks_at_random(algorithm) or is_committee(algorithm)


# --- the search ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FoundScale:
    """The scale for a wanted query ratio, and the ratio it gave."""

    wanted: float
    scale: float
    ratio: float
    reached: bool
    limit: str = ""
    """Why it was not reached: "at the least" the rule asks for more, "at the most" for less, or the ratio "jumps"."""

    def note(self, ratio: float) -> str:
        """The limit in words, with the ratio of the reported plays."""
        if not self.limit:
            return ""
        return f"asks for {100 * ratio:.2f} %{', no scale comes nearer' if self.limit == 'jumps' else f' {self.limit}'}"


Search = Generator[float, float, dict[float, FoundScale]]


def find_scales(
    wanted: Sequence[float],
    scale_parameter: ScaleParameter = DELTA,
    *,
    start: float | None = None,
    tolerance: float = TOLERANCE,
    most: int = MOST_SCALES,
) -> Search:
    """Search the scale of each wanted query ratio.

    Parameters
    ----------
    wanted : sequence of float
        Query ratios in (0, 1].
    scale_parameter : ScaleParameter
        The range of the scale.
    start : float, optional
        Where to begin. Default: the start of ``scale_parameter``.
    tolerance : float, default 0.03
        How far, relatively, the ratio may be from the wanted one.
    most : int
        How many scales to try for one ratio at most.

    Yields
    ------
    float
        A scale to play; send the query ratio.

    Returns
    -------
    dict
        From each wanted ratio to what was found. A ratio that the rule cannot reach is not an error: it comes with the
        nearest scale, ``reached`` false and the ``limit`` it met.
    """
    curve = RatioCurve(scale_parameter)
    yield from curve.visit(log(start if start is not None else scale_parameter.start))
    found = {}
    for ratio in sorted(set(wanted), reverse=True):
        found[ratio] = yield from _find(curve, ratio, tolerance, most)
    return found


class RatioCurve:
    """The known points of the query ratio as a function of the scale."""

    def __init__(self, scale_parameter: ScaleParameter) -> None:
        self.lowest, self.highest = log(scale_parameter.lowest), log(scale_parameter.highest)
        self.points: dict[float, float] = {}  # log scale -> ratio

    def visit(self, place: float) -> Generator[float, float, None]:
        """Yield the scale at this place, if it is not known yet, and keep its ratio. A place is log s."""
        place = min(max(place, self.lowest), self.highest)
        if place not in self.points:
            self.points[place] = yield exp(place)

    def nearest(self, wanted: float) -> tuple[float, float]:
        """The point with the closest log-odds."""
        return min(self.points.items(), key=lambda point: (abs(log_odds(point[1]) - log_odds(wanted)), point[0]))

    def bracket(self, wanted: float) -> tuple[float, float]:
        """The nearest places that ask too little and too much; infinite if there is none."""
        above = min((place for place, ratio in self.points.items() if ratio > wanted), default=inf)
        below = max((place for place, ratio in self.points.items() if ratio <= wanted and place < above), default=-inf)
        return below, above

    def step(self, wanted: float, bisect: bool) -> float | None:
        """The place to try next: x_0 + (x_1 - x_0) (y - y_0) / (y_1 - y_0) in a bracket of places x and log-odds y.

        With ``bisect`` it is the middle. None if the bracket is too narrow, or the range ends before the ratio."""
        below, above = self.bracket(wanted)
        if below == -inf or above == inf:
            return self._outwards(wanted, below, above)
        if above - below < CLOSE:
            return None
        share = 0.5
        if not bisect:
            low, high = log_odds(self.points[below]), log_odds(self.points[above])
            share = (log_odds(wanted) - low) / (high - low)
        return below + min(max(share, 0.05), 0.95) * (above - below)

    def centre(self, wanted: float, otherwise: float) -> tuple[float, float]:
        """The root by all points nearby, and the slope there: least squares for the slope, the median for the root."""
        near = [(place, log_odds(ratio) - log_odds(wanted)) for place, ratio in self.points.items()]
        near = [(place, off) for place, off in near if abs(off) < NEARBY]
        if len(near) < 3:
            return otherwise, 1.0
        middle, level = fmean(place for place, _ in near), fmean(off for _, off in near)
        squares = sum((place - middle) ** 2 for place, _ in near)
        slope = sum((place - middle) * (off - level) for place, off in near) / squares
        slope = min(max(slope, 0.5), 8.0)
        return median(place - off / slope for place, off in near), slope

    def _outwards(self, wanted: float, below: float, above: float) -> float | None:
        """A place beyond the known ones: by ever larger steps, or the end of the range if the curve is flat."""
        down = below == -inf
        edge, limit = (above, self.lowest) if down else (below, self.highest)
        if edge == limit:
            return None
        outermost = sorted(self.points, reverse=not down)[:2]
        step = 1.1 * abs(log_odds(wanted) - log_odds(self.points[edge]))  # as if along a line of slope one
        if len(outermost) == 2:
            before = abs(outermost[0] - outermost[1])
            first, second = (self.points[place] for place in outermost)
            if before >= FLAT_OVER and abs(first - second) <= 0.01 * max(first, second):
                return limit
            step = max(step, 2.0 * before)
        step = min(max(step, 0.05), LARGEST_STEP)
        return min(max(edge - step if down else edge + step, self.lowest), self.highest)


def _find(curve: RatioCurve, wanted: float, tolerance: float, most: int) -> Generator[float, float, FoundScale]:
    nudges = 0
    for attempt in range(most):
        place, ratio = curve.nearest(wanted)
        if abs(ratio - wanted) <= tolerance * wanted:
            return FoundScale(wanted, exp(place), ratio, reached=True)
        following = curve.step(wanted, bisect=attempt % 4 == 3)
        if following is None:
            below, above = curve.bracket(wanted)
            if below == -inf or above == inf:
                break
            # In so narrow a bracket the ratio moves by chance: try places around it, further and further away.
            nudges += 1
            root, slope = curve.centre(wanted, 0.5 * (below + above))
            following = root + min(0.25, 0.01 * 1.4**nudges) * (2.0 * (GOLDEN * nudges % 1.0) - 1.0) / slope
        yield from curve.visit(following)
    place, ratio = curve.nearest(wanted)
    below, above = curve.bracket(wanted)
    limit = "at the least" if below == -inf else "at the most" if above == inf else "jumps"
    return FoundScale(wanted, exp(place), ratio, reached=False, limit=limit)


def log_odds(ratio: float) -> float:
    """log(ratio / (1 - ratio)), for a ratio clipped to [1e-7, 1 - 1e-7]: a million events tell no more."""
    ratio = min(max(ratio, 1e-7), 1.0 - 1e-7)
    return log(ratio / (1.0 - ratio))
