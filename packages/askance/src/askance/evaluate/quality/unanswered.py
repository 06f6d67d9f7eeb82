"""How many of the events without an answer were predicted wrongly: an estimate and 95 % limits for each group.

A group is a predicted class and an ask bin. In it, m answers with x mistakes stand for n events without an answer. With
the weights w_i of the answers (see ``strata``),

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

**All groups of a column together.** Each ask bin has limits of its own. Adding them up counts what may have been missed
once for each bin, and makes intervals far too wide where there are many bins with few answers. Here the bins of a
column are joined until each group g has ``LEAST`` answers. With n events without an answer, m effective answers and x
mistakes among them, the mistakes of all groups have

    mean = sum_g n x / m,        variance = sum_g (n^2 / (m - 1) + n) x / m (1 - x / m)

The upper limit comes from a world in which one more answer was a mistake, the lower from one in which one more was
right. These change the moments of one group to those of Beta(x + 1, m - x) or Beta(x, m - x + 1), as Clopper and
Pearson do where there is one group. The mistake lies in a group with probability n / sum n; the right one, where it
counts most. Fay and Feuer (1997) do so for rates added up over strata. Each world is a beta distribution with its two
moments, and the limits are its quantiles.

A bin without any answer joins its neighbours only if they can speak for it: if an answer was to be expected, or it has
no more events than one answer of theirs stands for. Else its events are open: right in the lower limit, wrong in the
upper one. Which bins are joined depends on how many events and answers they have, not on what the answers say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askance.evaluate.metrics.arrays import Numbers, divide
from askance.evaluate.quality.bins import NEVER
from askance.evaluate.quality.strata import StratumWeights


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


LEAST = 5.0  # answers of a group
FEW = 20.0  # answers; classes that have fewer are joined where classes do not matter


class Strata(NamedTuple):
    """What is counted per column and ask bin, ``[column, ask_bin]``, or per column and group."""

    events: Numbers
    asked: Numbers
    answers: Numbers
    unasked: Numbers
    """Sums of the answers' unasked weights, (1 - p) / p."""
    squares: Numbers
    """Sums of the squares of these."""
    wrong: Numbers
    """The answers that were mistakes."""
    wrong_unasked: Numbers

    @classmethod
    def of_bins(cls, *counts: Numbers) -> Strata:
        """From counts in which unasked weights are kept as 2^-h (1 - p) / p (see ``bins``)."""
        strata = cls(*counts)
        unit = 2.0 ** np.arange(strata.unasked.shape[-1])
        return strata._replace(
            unasked=strata.unasked * unit,
            squares=strata.squares * unit * unit,
            wrong_unasked=strata.wrong_unasked * unit,
        )

    def join_small(self) -> Strata:
        """One column for all those with fewer than ``FEW`` answers, after the others."""
        is_small = self.answers.sum(axis=1) < FEW
        return Strata(*(np.vstack([counts[~is_small], counts[is_small].sum(axis=0)]) for counts in self))


def mistakes_by_column(strata: Strata, value: Numbers, level: float) -> UnansweredMistakes:
    """The mistakes of each column, ``[column, 0]``; ``value`` is the estimate, to which the limits are made to fit."""
    return limits_of([[part] for part in join_columns(strata)], value, level)


def mistakes_of_all(strata: Strata, value: Numbers, level: float) -> UnansweredMistakes:
    """The mistakes of all columns together, ``[0, 0]``."""
    return limits_of([join_columns(strata.join_small())], value, level)


def join_columns(strata: Strata) -> list[tuple[Numbers, float]]:
    """``join_bins`` for every column."""
    return [join_bins(np.array([counts[column] for counts in strata])) for column in range(len(strata.events))]


def join_bins(bins: Numbers) -> tuple[Numbers, float]:
    """The groups ``[count, group]`` that the bins ``[count, ask_bin]`` of a column are joined to, and the open events.

    Bins are taken from the most often asked on; what is left at the end joins the last group."""
    groups: list[Numbers] = []
    silent: list[tuple[int, Numbers]] = []  # bins without an answer, and the group that follows each
    current = np.zeros(len(bins))
    for ask_bin in np.flatnonzero(bins[0, :NEVER]):
        one = bins[:, ask_bin]
        if one[2] == 0.0 and one[0] * 0.5 ** (ask_bin + 1) < 1.0:
            silent.append((len(groups), one))
            continue
        current = current + one
        if current[2] >= LEAST:
            groups.append(current)
            current = np.zeros(len(bins))
    if current[0] > 0.0 and groups:
        groups[-1] = groups[-1] + current
    elif current[0] > 0.0:
        groups.append(current)
    open_events = float(bins[0, NEVER:].sum())
    for following, one in silent:
        group = groups[min(following, len(groups) - 1)] if groups else np.zeros(len(bins))
        if one[0] * group[2] <= group[0] and group[2] > 0.0:
            group += one
        else:
            open_events += one[0]
    return np.array(groups).reshape(-1, len(bins)).T, open_events


def limits_of(columns: list[list[tuple[Numbers, float]]], value: Numbers, level: float) -> UnansweredMistakes:
    """The limits of sums over groups; each entry of ``columns`` has the parts that are added up."""
    worlds = np.zeros((2, 2, len(columns)))
    events, means, unknown = np.zeros((3, len(columns)))
    for place, parts in enumerate(columns):
        groups = np.concatenate([groups for groups, _ in parts], axis=1)
        worlds[:, :, place], events[place], means[place], unheard = two_worlds(groups)
        unknown[place] = unheard + sum(open_events for _, open_events in parts)
    tail = (1.0 - level) / 2.0
    low = np.minimum(np.floor(quantile(worlds[0], tail) * events), value)
    high = np.maximum(np.ceil(quantile(worlds[1], 1.0 - tail) * events), np.minimum(value, events))
    fewest = np.where(low <= 0.0, 0.0, value)
    most = np.where(high >= events, events, np.clip(means, low, high))
    found = value, low, np.maximum(high + unknown, value), fewest, most + unknown
    return UnansweredMistakes(*(numbers[:, None] for numbers in found))


def two_worlds(groups: Numbers) -> tuple[Numbers, float, float, float]:
    """The beta distributions of the share of mistakes with one more right answer and with one more wrong one, ``[world,
    (a, b)]``; the events without an answer that answers stand for, the mean of their mistakes, and the other events."""
    strata = Strata(*groups)
    weights = StratumWeights.of(strata.events, strata.asked, strata.answers, strata.unasked, strata.squares)
    open_events = float(weights.open.sum())
    heard = (weights.events > 0.0) & (weights.size > 0.0)
    n, m = weights.events[heard], weights.size[heard]
    if not heard.any():
        return np.array([[0.0, 1.0], [0.0, 1.0]]), 0.0, 0.0, open_events
    share = divide(weights.weight(strata.wrong, strata.wrong_unasked), weights.total)[heard]
    x = m * np.clip(share, 0.0, 1.0)
    mean = n * x / m
    variance = (n * n / np.maximum(m - 1.0, 1.0) + n) * x / m * (1.0 - x / m)
    right_mean, right_variance = moments_of(x, m - x + 1.0, n)
    wrong_mean, wrong_variance = moments_of(x + 1.0, m - x, n)
    most = int(np.argmax(mean - right_mean))
    chance = n / n.sum()
    total, spread = mean.sum(), variance.sum()
    fewer = total - (mean - right_mean)[most], spread + max((right_variance - variance)[most], 0.0)
    more = (
        total + (chance * (wrong_mean - mean)).sum(),
        spread + (chance * np.maximum(wrong_variance - variance, 0.0)).sum(),
    )
    return np.array([beta_with(*fewer, n.sum()), beta_with(*more, n.sum())]), float(n.sum()), float(total), open_events


def moments_of(a: Numbers, b: Numbers, events: Numbers) -> tuple[Numbers, Numbers]:
    """Mean and variance of a beta-binomial number out of n = ``events``: n mu and (n^2 + n (a + b)) mu (1 - mu) /
    (a + b + 1), mu = a / (a + b)."""
    mu = a / (a + b)
    return events * mu, (events * events + events * (a + b)) * mu * (1.0 - mu) / (a + b + 1.0)


def beta_with(mean: float, variance: float, events: float) -> tuple[float, float]:
    """The parameters of the beta distribution of a share of ``events`` with these moments: kappa mu and kappa (1 - mu),
    kappa = mu (1 - mu) / variance - 1. All events or none: a parameter is 0."""
    mu = min(max(mean / events, 0.0), 1.0)
    if mu * (1.0 - mu) <= 0.0:
        return mu, 1.0 - mu
    kappa = max(mu * (1.0 - mu) * events * events / max(variance, 1e-12) - 1.0, 1e-3)
    return kappa * mu, kappa * (1.0 - mu)


def quantile(world: Numbers, q: float) -> Numbers:
    """The q-quantiles of the beta distributions ``[(a, b), place]``; a parameter of 0 puts everything at that end."""
    from scipy.special import betaincinv

    a, b = world
    inner = (a > 0.0) & (b > 0.0)
    return np.where(inner, betaincinv(np.where(inner, a, 1.0), np.where(inner, b, 1.0), q), a > 0.0)
