"""Labels that were drawn with the random numbers of the classifier spoil every weight: ``run`` says so."""

import warnings

import numpy as np
import pytest

import askance
from askance.errors import DataWarning

WAYS = {
    "random": lambda rng, n: (rng.random(n) < 0.1).astype(int),
    "choice": lambda rng, n: rng.choice([0, 1], n, p=[0.8, 0.2]),
    "three classes": lambda rng, n: rng.choice(3, n, p=[0.8, 0.1, 0.1]),
}


def stream(way, seed, n=2_000):
    rng = np.random.default_rng(seed)
    y = WAYS[way](rng, n)
    return rng.normal(size=(n, 3)) + (y == y.max())[:, None], y


@pytest.mark.parametrize(
    ("name", "way"), [*(("auto", way) for way in WAYS), ("BOAL-entropy", "random"), ("MPAA-I", "three classes")]
)
def test_a_seed_that_made_the_labels_is_told(name, way):
    X, y = stream(way, 7)
    with pytest.warns(DataWarning, match=r"drawn by numpy.random.default_rng\(7\).*take another random_state") as told:
        askance.make(name, budget=0.05, random_state=7).run(X, y)
    assert [one.filename for one in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        askance.make(name, budget=0.05, random_state=8).run(X, y)


def test_labels_and_numbers_that_have_nothing_to_do_with_each_other_are_not_told_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(200):
            X, y = stream("choice", [seed, 1], 300)
            askance.make("PAA-I", random_state=seed).run(X, y)
        askance.make("PAA-I", random_state=0, classes=[0, 1]).run(X[:3], y[:3])
        askance.make("PAA-I", random_state=0).run(X, np.arange(len(y)) % 2)


def test_what_would_happen_without_a_word():
    """Why it matters: the interval of such a run is nowhere near the truth."""
    X, y = stream("choice", 0, 5_000)
    with pytest.warns(DataWarning, match="the labels depend on the random numbers"):
        trace = askance.make("auto", budget=0.05, random_state=0).run(X, y)
    assert np.mean(trace.predicted == y) not in askance.quality.estimate(trace).accuracy
