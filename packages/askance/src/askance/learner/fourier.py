"""Standardised events, and their random Fourier features: a linear rule on them is a kernel rule on the event.

Moments are the running mean and variance of every feature, absent values counting as 0. With g = 1 / min(t, ``LONG``)
for the t-th event x, this one included,

    mu_k += g (x_k - mu_k),     sigma_k^2 = (1 - g) (sigma_k^2 + g (x_k - mu_k)^2)     the old mu_k in both

so that an event counts as one of the last ``LONG``. They are the last two numbers of each feature in a rule's table.

After Rahimi and Recht, "Random features for large-scale kernel machines" (2007): for a standardised event x, whose
numbers are (x_k - mu_k) / (sigma_k sqrt(d)),

    z_j = sqrt(2 / D) cos(w_j.x / h + b_j),     w_j normal,     b_j even in [0, 2 pi),     j = 1 ... D,

so that z.z' is about exp(-||x - x'||^2 / (2 h^2)), the Gaussian kernel of width h. A constant, 1 / sqrt(D), follows. h
needs no label and no search: standardised by the stream, two events have a mean squared distance of 2, whatever the
data. w_jk depends on j, k, D and the seed alone, so that a wider model sees known features as before.
"""

from __future__ import annotations

from math import cos, pi, sqrt

import numpy as np

LONG = 20_000.0
FARTHEST = 30.0  # standard deviations: z_k is clipped to this


def update_moments(table, features, event, share):
    """Let an event enter the moments of the first ``features`` rows; ``share`` is g."""
    mean = table.shape[1] - np.uint64(2)
    deviation = table.shape[1] - np.uint64(1)
    i = event.start
    for feature in range(features):
        value = 0.0
        if i < event.stop and event.columns[i] == feature:
            value = event.values[i]
            i += np.uint64(1)
        before = value - table[feature, mean, 0]
        table[feature, mean, 0] += share * before
        table[feature, deviation, 0] = (1.0 - share) * (table[feature, deviation, 0] + share * before * before)


def standardise(table, features, event, standard):
    """Fill ``standard`` with (x_k - mu_k) / (sigma_k sqrt(d)), 0 for a feature that does not vary; d is the number of
    those that do, which is returned."""
    mean = table.shape[1] - np.uint64(2)
    deviation = table.shape[1] - np.uint64(1)
    varying = 0
    i = event.start
    for feature in range(features):
        value = 0.0
        if i < event.stop and event.columns[i] == feature:
            value = event.values[i]
            i += np.uint64(1)
        standard[feature] = 0.0
        if table[feature, deviation, 0] > 0.0:
            varying += 1
            z = (value - table[feature, mean, 0]) / sqrt(table[feature, deviation, 0])
            standard[feature] = min(FARTHEST, max(-FARTHEST, z))
    inverse = 1.0 / sqrt(max(1, varying))
    for feature in range(features):
        standard[feature] *= inverse
    return varying


SEED = 20_070_101  # Models are saved without their w_j, so this and the drawing must stay as they are


def fill_curves(standard, phases, frequencies, values, features, curves):
    """z_j = sqrt(2 / D) cos(w_j.x / h + b_j), and the constant; sums run in the order of the features. Row k of
    ``frequencies`` has w_jk / h for every j."""
    for j in range(curves):
        values[j] = phases[j]
    for feature in range(features):
        value = standard[feature]
        if value != 0.0:
            row = frequencies[feature]
            for j in range(curves):
                values[j] += value * row[j]
    scale = sqrt(2.0 / curves)
    for j in range(curves):
        values[j] = scale * cos(values[j])
    values[curves] = 1.0 / sqrt(curves)


def draw_frequencies(
    n_features: int, curves: int, bandwidth: float = 1.0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """w_jk / h, a row for each feature k, and b_j: the same for ever, from raw bits, which NumPy will not change.

    Two even numbers u, v make a normal one, sqrt(-2 log u) cos(2 pi v)."""

    def even(row: int, n: int) -> np.ndarray:
        entropy = [SEED, row] if seed == 0 else [SEED, row, seed]
        raw = np.random.PCG64(np.random.SeedSequence(entropy)).random_raw(n)
        return ((raw >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53

    frequencies = np.zeros((n_features, curves))
    for feature in range(n_features):
        first, second = np.split(even(feature + 1, 2 * curves), 2)
        frequencies[feature] = np.sqrt(-2.0 * np.log(first)) * np.cos(2.0 * pi * second) / bandwidth
    return frequencies, 2.0 * pi * even(0, curves)
