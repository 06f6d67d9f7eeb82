"""How many of the events without an answer were predicted wrongly: an estimate and 95 % limits for each group.

A group is a predicted class and an octave of ask probabilities. In it, m answers with x mistakes stand for n events
without an answer. Answers count by the number of events they stand for (see ``standing``), so

    x / m   the weighted share of mistakes              m   (sum of weights)^2 / (sum of squared weights)

and the limits of the share are Clopper and Pearson's with this effective m, as Korn and Graubard (1998) do for
surveys: quantiles of Beta(x, m - x + 1) and Beta(x + 1, m - x). Nothing seen is not nothing there: 0 mistakes in 50
answers leave up to 7 %, and a group without any answer leaves everything open. The n events are themselves drawn with
that share; their number has a beta-binomial distribution, taken here as the beta distribution with its two moments.

A metric depends on many groups. Its limits come from theirs by the method of variance estimates recovery (Zou and
Donner 2008): move one group at a time to its limit, and add the moves of the metric as squares, for the groups are
independent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askance.quality.standing import Numbers, Standing, divide


@dataclass(frozen=True)
class Unseen:
    """For each group: the mistakes among the events without an answer, estimated, at least and at most.

    ``fewest`` and ``most`` are the estimates as far as they are known, what is not known taken at its ends: a group
    whose limit is the end of what is possible, no mistake at all or nothing but mistakes, is set there (if that is the
    truth, it does not vary), and so are events that no answer stands for.
    """

    value: Numbers
    low: Numbers
    high: Numbers
    fewest: Numbers
    most: Numbers


def unseen(standing: Standing, wrong: Numbers, level: float = 0.95) -> Unseen:
    """All arrays are ``[column, octave]``; ``wrong`` is the weight of the wrong answers."""
    size, events = standing.size, standing.events
    mistakes = size * divide(wrong, standing.total)
    tail = (1.0 - level) / 2.0
    low = np.floor(spread_quantile(mistakes, size - mistakes + 1.0, events, tail))
    high = np.minimum(np.ceil(spread_quantile(mistakes + 1.0, size - mistakes, events, 1.0 - tail)), events)
    share = borrow(mistakes, size)
    value = np.clip(events * share, low, high)
    fewest, most = np.where(low <= 0.0, 0.0, value), np.where(high >= events, events, value)
    # What nobody stands for comes on top.
    return Unseen(value + standing.open * share, low, high + standing.open, fewest, most + standing.open)


def spread_quantile(a: Numbers, b: Numbers, events: Numbers, q: float) -> Numbers:
    """The q-quantile of a beta-binomial number out of ``events``, by the beta distribution with the same moments."""
    from scipy.special import betaincinv

    total = a + b
    mean = a / total
    events_or_one = np.maximum(events, 1.0)
    concentration = np.maximum(total * (1.0 - 1.0 / events_or_one) / (1.0 + total / events_or_one), 1e-3)
    inner = (a > 1e-12) & (b > 1e-12)
    safe_a = np.where(inner, mean * concentration, 1.0)
    safe_b = np.where(inner, (1.0 - mean) * concentration, 1.0)
    share = np.where(inner, betaincinv(safe_a, safe_b, q), np.where(a <= 1e-12, 0.0, 1.0))
    return share * events


def borrow(mistakes: Numbers, size: Numbers) -> Numbers:
    """The share of mistakes per group; one without answers has that of the next more often asked octave."""
    answers = size.sum()
    everywhere = mistakes.sum() / answers if answers > 0.0 else 0.5
    per_column = size.sum(axis=1)
    before = np.where(per_column > 0.0, mistakes.sum(axis=1) / np.maximum(per_column, 1e-12), everywhere)
    shares = np.empty_like(size)
    for octave in range(size.shape[1]):
        known = size[:, octave] > 0.0
        before = np.where(known, mistakes[:, octave] / np.where(known, size[:, octave], 1.0), before)
        shares[:, octave] = before
    return shares


def recover(metric: Callable[[Any], Any], groups: Unseen, seen: Numbers) -> tuple[float, float, float]:
    """Value and limits of ``metric``, a function of the mistakes per group ``[..., column, octave]``."""
    value = float(metric(seen + groups.value))
    best = around(metric, groups, groups.fewest, groups.fewest > groups.low, seen)
    worst = around(metric, groups, groups.most, groups.most < groups.high, seen)
    # Not even all groups at their limits at once can move a metric further.
    least, most = sorted((float(metric(seen + groups.low)), float(metric(seen + groups.high))))
    return value, min(max(min(best[0], worst[0]), least), value), max(min(max(best[1], worst[1]), most), value)


def around(
    metric: Callable[[Any], Any], groups: Unseen, middle: Numbers, moving: NDArray[np.bool_], seen: Numbers
) -> tuple[float, float]:
    """The limits around a middle, some of the groups moved, one at a time."""
    value = float(metric(seen + middle))
    places = np.argwhere(moving)
    moved = np.repeat((seen + middle)[None], 2 * len(places), axis=0)
    for place, (column, octave) in enumerate(places):
        moved[2 * place, column, octave] = seen[column, octave] + groups.low[column, octave]
        moved[2 * place + 1, column, octave] = seen[column, octave] + groups.high[column, octave]
    moves = np.asarray(metric(moved)) - value
    down, up = np.minimum(moves, 0.0), np.maximum(moves, 0.0)
    return value - float(np.sqrt((down * down).sum())), value + float(np.sqrt((up * up).sum()))


def normal_quantile(level: float) -> float:
    """1.96 for 95 %."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + level / 2.0))
