"""Events that are looked at twice: whatever the first look saw, the weights of the answers are unbiased."""

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.candidate_buffer import play, weight_of_first, weight_of_second

SHARES = [(0.0, 0.3), (0.2, 0.0001), (0.7, 0.5), (1.0, 0.0)]


@pytest.mark.parametrize(("first", "second"), SHARES)
def test_the_mean_weight_of_an_event_is_one(first, second):
    mean = 0.0
    if first > 0.0:
        mean += first * weight_of_first(first)
    if first < 1.0:
        mean += (1.0 - first) * second * weight_of_second(first, second)
    assert mean == pytest.approx(1.0)


def noisy_stream(seed, n=150):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1, -1)
    return sp.csr_matrix(rng.normal(size=(n, 3)) + 0.8 * y[:, None]), y


@pytest.mark.prove
@pytest.mark.parametrize("name", ["PAA-I", "UOAL-entropy"])
def test_mistakes_are_estimated_without_bias_from_two_looks(name):
    """The second look depends on answers that the first brought; that must not matter."""
    runs = [play(name, *noisy_stream(seed), budget=None, size=20, seed=seed, explore=0.1) for seed in range(250)]
    errors = np.array([run.estimated_mistakes - run.mistakes for run in runs])
    standard_error = errors.std(ddof=1) / np.sqrt(len(errors))
    assert abs(errors.mean()) < 4 * standard_error
    assert standard_error < 0.05 * np.mean([run.mistakes for run in runs])  # so that a bias would be seen
