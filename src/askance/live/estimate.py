"""The accuracy of the whole stream from a random sample of it whose probabilities are known.

An event sampled with probability q stands for 1 / q events. With weights v = 1 / q the estimate is the weighted share
of right predictions, and its interval Wilson's with the effective size (sum v)^2 / sum v^2 in place of the count.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from typing import Any

Z = 1.959963984540054  # 95 %


def share(rows: Iterable[tuple[float, float]]) -> dict[str, Any]:
    """From (weight, 1 or 0): how many, the weighted share of ones, and its 95 % interval.

    >>> share([(1.0, 1.0)] * 90 + [(1.0, 0.0)] * 10)
    {'n': 100, 'estimate': 0.9, 'low': 0.825634, 'high': 0.944771}
    """
    n, total, squares, ones = 0, 0.0, 0.0, 0.0
    for weight, one in rows:
        n += 1
        total += weight
        squares += weight * weight
        ones += weight * one
    if not n or total <= 0.0:
        return {"n": 0, "estimate": None, "low": None, "high": None}
    size, p = total * total / squares, ones / total
    middle = (p + Z * Z / (2 * size)) / (1 + Z * Z / size)
    half = Z / (1 + Z * Z / size) * sqrt(max(0.0, p * (1 - p) / size + Z * Z / (4 * size * size)))
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return {"n": n, "estimate": round(p, 6), "low": round(low, 6), "high": round(high, 6)}
