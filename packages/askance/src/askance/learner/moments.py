"""The running mean and variance of every feature, absent values counting as 0, and events standardised by them.

With g = 1 / min(t, ``LONG``) for the t-th event x, this one included,

    mu_k += g (x_k - mu_k),     sigma_k^2 = (1 - g) (sigma_k^2 + g (x_k - mu_k)^2)     the old mu_k in both

so that an event counts as one of the last ``LONG``. They are the last two numbers of each feature in a rule's table.
"""

from __future__ import annotations

from math import sqrt

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
