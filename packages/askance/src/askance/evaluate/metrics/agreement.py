"""How far people agree who labeled the same things, beyond what chance would give, with 95 % intervals.

Krippendorff, "Content Analysis" (2004), chapter 11, for nominal labels, any number of people, and gaps: with n(u, c)
answers c to the unit u, m(u) of them in all, n(c) answers c in all, and n answers to units that have two or more,

    alpha = 1 - D_o / D_e,    D_o = 1/n sum_u sum_(c /= k) n(u, c) n(u, k) / (m(u) - 1),
                              D_e = 1/(n (n - 1)) sum_(c /= k) n(c) n(k)

Cohen, "A Coefficient of Agreement for Nominal Scales" (1960), for two people: with the share p_o of units on which they
agree, and p_e = sum_c p(c) q(c) by their own shares of each label,

    kappa = (p_o - p_e) / (1 - p_e)

1 is full agreement, 0 what chance gives. Where everybody said the same label throughout, neither is defined: NaN.
Intervals are percentiles of 1,000 bootstrap samples of the units.
"""

from __future__ import annotations

from math import nan, sqrt
from typing import Any, NamedTuple

import numpy as np

RESAMPLED = 1_000
Z = 1.959964  # of the normal distribution, for 95 %


class Agreement(NamedTuple):
    """A measure with its 95 % interval; NaN where it is not defined."""

    estimate: float
    low: float
    high: float


def krippendorff_alpha(counts: Any, random_state: int = 0) -> Agreement:
    """Alpha of a table with a row for each unit and the number of answers of each label in it.

    Examples
    --------
    >>> krippendorff_alpha([[2, 0], [2, 0], [1, 1], [0, 2]]).estimate
    0.5333333333333333
    """
    table = np.asarray(counts, float)
    table = table[table.sum(axis=1) >= 2]
    if not len(table):
        return Agreement(nan, nan, nan)
    kinds, times = np.unique(table, axis=0, return_counts=True)  # units alike are drawn together
    sizes = kinds.sum(axis=1)
    disagreement = (sizes**2 - (kinds**2).sum(axis=1)) / (sizes - 1.0)
    drawn = np.random.default_rng(random_state).multinomial(len(table), times / len(table), RESAMPLED)
    return _interval(np.vstack((times, drawn)).astype(float), lambda weights: _alpha(weights, kinds, disagreement))


def _alpha(weights: np.ndarray, kinds: np.ndarray, disagreement: np.ndarray) -> np.ndarray:
    of_label = weights @ kinds
    n = of_label.sum(axis=1)
    observed = weights @ disagreement / n
    expected = (n**2 - (of_label**2).sum(axis=1)) / (n * (n - 1.0))
    return _beyond_chance(observed, expected)


def cohen_kappa(table: Any, random_state: int = 0) -> Agreement:
    """Kappa of the table of two people: how often one said the row's label and the other the column's.

    Examples
    --------
    >>> round(cohen_kappa([[20, 5], [10, 15]]).estimate, 6)
    0.4
    """
    counts = np.asarray(table, float)
    n = int(counts.sum())
    if not n:
        return Agreement(nan, nan, nan)
    drawn = np.random.default_rng(random_state).multinomial(n, counts.ravel() / n, RESAMPLED)
    return _interval(np.vstack((counts.ravel(), drawn)), lambda cells: _kappa(cells.reshape(-1, *counts.shape) / n))


def _kappa(shares: np.ndarray) -> np.ndarray:
    observed = np.trace(shares, axis1=1, axis2=2)
    expected = np.einsum("bc,bc->b", shares.sum(axis=2), shares.sum(axis=1))
    return _beyond_chance(1.0 - observed, 1.0 - expected)


def _beyond_chance(observed: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """1 - observed / expected disagreement; NaN where none is to be expected."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 1e-12, 1.0 - observed / expected, nan)


def _interval(samples: np.ndarray, measure: Any) -> Agreement:
    """The measure of the first sample, and the percentiles of the others for which it is defined."""
    estimate, *resampled = measure(samples).tolist()
    defined = [value for value in resampled if value == value]
    if estimate != estimate or not defined:
        return Agreement(estimate, nan, nan)
    low, high = np.percentile(defined, [2.5, 97.5]).tolist()
    return Agreement(estimate, min(low, estimate), max(high, estimate))


def wilson(right: int, n: int) -> Agreement:
    """A share with Wilson's interval.

    Examples
    --------
    >>> [round(value, 3) for value in wilson(9, 10)]
    [0.9, 0.596, 0.982]
    """
    if not n:
        return Agreement(nan, nan, nan)
    share = right / n
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    return Agreement(share, min(share, middle - half), max(share, middle + half))
