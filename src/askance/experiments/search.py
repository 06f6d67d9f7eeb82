"""Find the scale of a query rule that gives a wanted query ratio.

Every query rule has a letter that says how readily it asks: delta, b, epsilon or rate, or delta_pos and delta_neg,
which are scaled together. The papers turn that letter until the algorithm asks for, say, 10 % of the labels. Here this
is a search for the root of an increasing, slightly noisy function: for most rules the log-odds of the query ratio are
nearly a straight line over the logarithm of the scale (for Margin with a single |p| exactly so), hence a secant step
in those coordinates, kept inside a bracket, lands within 3 % after a few plays.

The search is written as a generator: it yields a scale, is sent the query ratio that came of it, and returns what it
found. Who plays, and on how many permutations, is the caller's business.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from math import exp, inf, log
from statistics import fmean, median
from typing import Any

from askance.errors import InvalidParameter
from askance.learner import query as q
from askance.learner.auto import Committee, Doubt
from askance.learner.presets import AUTO, Preset, find, is_auto
from askance.learner.rule import QueryRule

TOLERANCE = 0.03
MOST_SCALES = 16
"""Scales tried for one ratio before the nearest is taken and said to be off."""
LARGEST_STEP = log(1e3)
FLAT_OVER = log(4.0)
"""A change of scale by this factor that does not move the ratio: only the end of the range can tell more."""
CLOSE = 0.03
"""Width of a bracket, in log scale, inside which the ratio moves by chance rather than by the scale."""
GOLDEN = 0.6180339887498949
NEARBY = log(1.6)
"""Odds within this factor of the wanted ones count as nearby."""


# --- knobs -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Knob:
    """The letters of a query rule that set how readily it asks, and where they may go."""

    letters: tuple[str, ...]
    lowest: float = 1e-10
    highest: float = 1e12
    start: float = 1.0

    def turn(self, parameters: dict[str, Any], scale: float) -> dict[str, Any]:
        """The parameters with this scale. Several letters keep the proportions they have in ``parameters``."""
        if len(self.letters) == 1:
            return parameters | {self.letters[0]: scale}
        return parameters | {letter: scale * float(parameters.get(letter, 1.0)) for letter in self.letters}


DELTA, B = Knob(("delta",)), Knob(("b",))
RATE = Knob(("rate",), lowest=1e-12, highest=1.0)
KNOBS: dict[type[QueryRule], Knob | None] = {
    q.Always: None,
    q.Random: RATE,
    Doubt: RATE,
    q.Margin: DELTA,
    q.ShiftedMargin: DELTA,
    q.DecreasingMargin: Knob(("delta",), start=1e4),
    q.MistakeDrivenMargin: Knob(("delta",), start=0.1),
    q.Variance: DELTA,
    q.AsymmetricMargin: Knob(("delta_pos", "delta_neg")),
    q.AsymmetricVariance: Knob(("delta_pos", "delta_neg")),
    q.Discriminative: B,
    q.DiscriminativeUnscaled: B,
    q.FunctionValue: B,
    q.Entropy: Knob(("epsilon",), lowest=1e-12, highest=0.499, start=0.01),
}


ALONE = Preset(AUTO, 0, Committee, Doubt, (), {})
"""``auto`` as if it were a preset: the rate of its budget is what turns its query ratio."""


def preset_of(algorithm: str) -> Preset:
    """The preset of this name; also ``auto``, which is none, and asks as its budget says."""
    return ALONE if is_auto(algorithm) else find(algorithm)


def parameters_of(algorithm: str) -> dict[str, Any]:
    """The letters a user may set, with their defaults."""
    if is_auto(algorithm):
        return {"objective": "balanced"}
    return find(algorithm).parameters


def knob_of(algorithm: str) -> Knob | None:
    """What turns the query ratio of an algorithm; None if it asks for every label.

    Examples
    --------
    >>> knob_of("OA3").turn({"delta_pos": 10.0, "delta_neg": 1.0}, scale=0.5)
    {'delta_pos': 5.0, 'delta_neg': 0.5}
    """
    rule = preset_of(algorithm).query
    for kind in rule.__mro__:
        if kind in KNOBS:
            return KNOBS[kind]
    raise InvalidParameter(f"{rule.__name__} has no known scale to search; add it to KNOBS in search.py.")


def asks_at_random(algorithm: str) -> bool:
    """Whether every event is asked with the same probability, the rate."""
    return issubclass(preset_of(algorithm).query, q.Random)


def asks_by_rate(algorithm: str) -> bool:
    """Whether the query ratio is simply the rate: of a rule that asks at random, or of a budget that is kept."""
    return asks_at_random(algorithm) or preset_of(algorithm) is ALONE


# --- the search ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """The scale for a wanted query ratio, and the ratio it gave."""

    wanted: float
    scale: float
    ratio: float
    reached: bool
    limit: str = ""
    """Why not: the rule asks for more "at the least", or "at the most" for less, or the ratio "jumps" across it."""

    def note(self, ratio: float) -> str:
        """In words, with the ratio that came of it."""
        if not self.limit:
            return ""
        return f"asks for {100 * ratio:.2f} %{', no scale comes nearer' if self.limit == 'jumps' else f' {self.limit}'}"


Search = Generator[float, float, dict[float, Found]]


def find_scales(
    wanted: Sequence[float],
    knob: Knob = DELTA,
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
    knob : Knob
        The range of the scale.
    start : float, optional
        Where to begin, if something is known; the knob's own start otherwise.
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
        From each wanted ratio to what was found. A ratio outside of what the rule can do is not an error: it comes back
        with the nearest scale, ``reached`` false and the ``limit`` it met.
    """
    curve = Curve(knob)
    yield from curve.visit(log(start if start is not None else knob.start))
    found = {}
    for ratio in sorted(set(wanted), reverse=True):
        found[ratio] = yield from _find(curve, ratio, tolerance, most)
    return found


class Curve:
    """What is known of the query ratio as a function of the scale."""

    def __init__(self, knob: Knob) -> None:
        self.lowest, self.highest = log(knob.lowest), log(knob.highest)
        self.points: dict[float, float] = {}  # log scale -> ratio

    def visit(self, place: float) -> Generator[float, float, None]:
        """Have the scale at this place played."""
        place = min(max(place, self.lowest), self.highest)
        if place not in self.points:
            self.points[place] = yield exp(place)

    def nearest(self, wanted: float) -> tuple[float, float]:
        """The point whose ratio is closest."""
        return min(self.points.items(), key=lambda point: (abs(log_odds(point[1]) - log_odds(wanted)), point[0]))

    def bracket(self, wanted: float) -> tuple[float, float]:
        """The nearest places known to ask too little and too much; infinite where none is."""
        above = min((place for place, ratio in self.points.items() if ratio > wanted), default=inf)
        below = max((place for place, ratio in self.points.items() if ratio <= wanted and place < above), default=-inf)
        return below, above

    def step(self, wanted: float, bisect: bool) -> float | None:
        """The place to try next; None if the range ends before the wanted ratio."""
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
        """Where the root lies by all points nearby, and how steep the curve is there."""
        near = [(place, log_odds(ratio) - log_odds(wanted)) for place, ratio in self.points.items()]
        near = [(place, off) for place, off in near if abs(off) < NEARBY]
        if len(near) < 3:
            return otherwise, 1.0
        middle, level = fmean(place for place, _ in near), fmean(off for _, off in near)
        spread = sum((place - middle) ** 2 for place, _ in near)
        slope = sum((place - middle) * (off - level) for place, off in near) / spread
        slope = min(max(slope, 0.5), 8.0)
        return median(place - off / slope for place, off in near), slope

    def _outwards(self, wanted: float, below: float, above: float) -> float | None:
        """Beyond the known places: ever larger steps, and to the end of the range where the curve has become flat."""
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


def _find(curve: Curve, wanted: float, tolerance: float, most: int) -> Generator[float, float, Found]:
    nudges = 0
    for attempt in range(most):
        place, ratio = curve.nearest(wanted)
        if abs(ratio - wanted) <= tolerance * wanted:
            return Found(wanted, exp(place), ratio, reached=True)
        following = curve.step(wanted, bisect=attempt % 4 == 3)
        if following is None:
            below, above = curve.bracket(wanted)
            if below == -inf or above == inf:
                break
            # In so narrow a bracket the ratio moves by chance: try places around, further and further away.
            nudges += 1
            root, slope = curve.centre(wanted, 0.5 * (below + above))
            following = root + min(0.25, 0.01 * 1.4**nudges) * (2.0 * (GOLDEN * nudges % 1.0) - 1.0) / slope
        yield from curve.visit(following)
    place, ratio = curve.nearest(wanted)
    below, above = curve.bracket(wanted)
    limit = "at the least" if below == -inf else "at the most" if above == inf else "jumps"
    return Found(wanted, exp(place), ratio, reached=False, limit=limit)


def log_odds(ratio: float) -> float:
    """log(ratio / (1 - ratio)), within what counts of a million events can tell from 0 and 1."""
    ratio = min(max(ratio, 1e-7), 1.0 - 1e-7)
    return log(ratio / (1.0 - ratio))
