"""Small tables for the tests of the experiments."""

import numpy as np

from askance.compare import Table


def blobs(n_events=1_200, n_features=6, share=0.4, seed=0, n_classes=2):
    """Classes as overlapping clouds, in no order."""
    rng = np.random.default_rng(seed)
    if n_classes == 2:
        y = (rng.random(n_events) < share).astype(int)
        labels = np.array(["ham", "spam"])[y]
    else:
        y = rng.integers(n_classes, size=n_events)
        labels = y
    centres = rng.normal(size=(n_classes, n_features))
    return "blobs", centres[y] + rng.normal(size=(n_events, n_features)), labels


def table(**options):
    return Table.of(blobs(**options))
