"""How many of the events without an answer were predicted wrongly: an estimate and 95 % limits for each group.

A group is a predicted class and an ask bin. In it, m answers with x mistakes stand for n events without an answer. With
the weights w_i of the answers (see ``stratum_weights``),

    m = (sum w_i)^2 / sum w_i^2,        x / m = (sum of w_i over the mistakes) / sum w_i

and the limits of the share are Clopper and Pearson's with this effective m, as Korn and Graubard (1998) do for surveys:

    low     the alpha/2 quantile of Beta(x, m - x + 1)
    high    the 1 - alpha/2 quantile of Beta(x + 1, m - x)

Nothing seen is not nothing there: 0 mistakes in 50 answers leave up to 7 %, and a group without any answer leaves
everything open. The n events are themselves drawn with that share, so that the number of mistakes among them is
beta-binomial. Here it has the beta distribution with the same two moments.

A metric f depends on the mistakes of many groups, which are independent. Its limits come from theirs by the method of
variance estimates recovery (Zou and Donner 2008), which moves one group g at a time to its limit:

    limit = f - sqrt(sum_g min(0, f(g at a limit) - f)^2)        and + with max above
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askance.evaluate.metrics.arrays import Numbers, divide
from askance.evaluate.quality.stratum_weights import StratumWeights


@dataclass(frozen=True)
class UnansweredMistakes:
    """For each group, the mistakes among the events without an answer: the estimate and its limits.

    ``fewest`` and ``most`` are the estimate, except where a limit is the end of what is possible, 0 or n mistakes.
    There ``fewest`` is 0 and ``most`` is n: if that is the truth, it does not vary. The events that no answer stands
    for are no mistakes in ``fewest`` and all mistakes in ``most``.
    """

    value: Numbers
    low: Numbers
    high: Numbers
    fewest: Numbers
    most: Numbers


def estimate_unanswered(weights: StratumWeights, wrong: Numbers, level: float = 0.95) -> UnansweredMistakes:
    """The mistakes of each group ``[column, ask_bin]``; ``wrong`` is the weight of the wrong answers.

        x = m wrong / W,     low = floor(n Q(alpha/2; x, m - x + 1)),     high = ceil(n Q(1 - alpha/2; x + 1, m - x))

    with the quantile Q of ``beta_binomial_quantile``. The value is n x / m, within these limits."""
    size, events = weights.size, weights.events
    mistakes = size * divide(wrong, weights.total)
    tail = (1.0 - level) / 2.0
    low = np.floor(beta_binomial_quantile(mistakes, size - mistakes + 1.0, events, tail))
    high = np.minimum(np.ceil(beta_binomial_quantile(mistakes + 1.0, size - mistakes, events, 1.0 - tail)), events)
    share = pool_shares(mistakes, size)
    value = np.clip(events * share, low, high)
    fewest, most = np.where(low <= 0.0, 0.0, value), np.where(high >= events, events, value)
    # The events that no answer stands for come on top.
    return UnansweredMistakes(value + weights.open * share, low, high + weights.open, fewest, most + weights.open)


def beta_binomial_quantile(a: Numbers, b: Numbers, events: Numbers, q: float) -> Numbers:
    """The q-quantile of a beta-binomial number out of n = ``events``, by the beta distribution with the same moments.

        n times the quantile of Beta(mu kappa, (1 - mu) kappa),
        mu = a / (a + b),     kappa = (a + b) (1 - 1/n) / (1 + (a + b) / n)

    A parameter of 0 puts everything at that end: 0 for a = 0, n for b = 0."""
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


def pool_shares(mistakes: Numbers, size: Numbers) -> Numbers:
    """x / m per group. A group without answers has that of the next ask bin with answers that was asked more often,
    else that of its whole column, else that of all columns."""
    answers = size.sum()
    everywhere = mistakes.sum() / answers if answers > 0.0 else 0.5
    per_column = size.sum(axis=1)
    before = np.where(per_column > 0.0, mistakes.sum(axis=1) / np.maximum(per_column, 1e-12), everywhere)
    shares = np.empty_like(size)
    for ask_bin in range(size.shape[1]):
        known = size[:, ask_bin] > 0.0
        before = np.where(known, mistakes[:, ask_bin] / np.where(known, size[:, ask_bin], 1.0), before)
        shares[:, ask_bin] = before
    return shares


def combine_intervals(
    metric: Callable[[Any], Any], groups: UnansweredMistakes, seen: Numbers
) -> tuple[float, float, float]:
    """Value and limits of ``metric``, a function of the mistakes per group ``[..., column, ask_bin]``.

    The lower limit is the lower one of those around ``fewest`` and around ``most``; the upper one is the higher."""
    value = float(metric(seen + groups.value))
    best = interval_around(metric, groups, groups.fewest, groups.fewest > groups.low, seen)
    worst = interval_around(metric, groups, groups.most, groups.most < groups.high, seen)
    # A metric cannot move further than with all groups at their limits at once.
    least, most = sorted((float(metric(seen + groups.low)), float(metric(seen + groups.high))))
    return value, min(max(min(best[0], worst[0]), least), value), max(min(max(best[1], worst[1]), most), value)


def interval_around(
    metric: Callable[[Any], Any], groups: UnansweredMistakes, middle: Numbers, moving: NDArray[np.bool_], seen: Numbers
) -> tuple[float, float]:
    """f - sqrt(sum min(0, d)^2) and f + sqrt(sum max(0, d)^2), for the changes d of the metric f at ``middle`` when one
    of the ``moving`` groups is moved to its lower or its upper limit."""
    value = float(metric(seen + middle))
    places = np.argwhere(moving)
    moved = np.repeat((seen + middle)[None], 2 * len(places), axis=0)
    for place, (column, ask_bin) in enumerate(places):
        moved[2 * place, column, ask_bin] = seen[column, ask_bin] + groups.low[column, ask_bin]
        moved[2 * place + 1, column, ask_bin] = seen[column, ask_bin] + groups.high[column, ask_bin]
    moves = np.asarray(metric(moved)) - value
    down, up = np.minimum(moves, 0.0), np.maximum(moves, 0.0)
    return value - float(np.sqrt((down * down).sum())), value + float(np.sqrt((up * up).sum()))


def normal_quantile(level: float) -> float:
    """Phi^-1(1/2 + level/2): 1.96 for 95 %."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + level / 2.0))
