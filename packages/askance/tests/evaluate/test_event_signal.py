"""A change of the events is noticed without any label, and nothing is noticed where nothing changes."""

import json
import math

import numpy as np
import pytest
import scipy.sparse as sp
from tests import real_data as data

from askance.errors import InvalidInput, InvalidParameter
from askance.evaluate.drift import EventSignal


def resampled(name, n, seed=0):
    """A stream that does not change: events of a set, drawn one by one."""
    X, _ = data.sample(name, rows=10_000)
    return np.asarray(X)[np.random.default_rng(seed).integers(0, X.shape[0], n)]


@pytest.mark.parametrize("name", ["breast_cancer", "digits"])
def test_permuted_columns_are_noticed_at_the_end_of_the_block(name):
    X = resampled(name, 8_000)
    X[4_000:] = X[4_000:][:, np.random.default_rng(1).permutation(X.shape[1])]
    signal = EventSignal()
    assert signal.watch(X) == [4_249] == signal.alarms
    assert signal.events == 8_000


@pytest.mark.parametrize("name", ["breast_cancer", "digits", "wine", "iris"])
def test_there_is_no_alarm_where_nothing_changes(name):
    assert [EventSignal().watch(resampled(name, 25_000, seed)) for seed in range(3)] == [[], [], []]


def test_heavy_tails_and_rare_words_are_no_change():
    rng = np.random.default_rng(0)
    assert EventSignal().watch(rng.standard_t(2, size=(40_000, 10))) == []
    assert EventSignal().watch(sp.random_array((40_000, 400), density=0.003, rng=rng, format="csr")) == []


def first_alarm(X, block, horizon):
    """The first alarm, once more from the formulas, a number at a time."""
    n_features, limit = X.shape[1], math.log(2 * X.shape[1] * 2 * horizon / block)
    blocks = [X[first : first + block] for first in range(0, len(X), block)]
    for last in range(len(blocks)):
        for stretch in (1, 4):
            first = last - stretch + 1
            if first - 3 < 4:  # blocks of reference of the first block
                continue
            for k in range(n_features):
                z = []
                for place in range(first, last + 1):
                    known = np.concatenate(blocks[: place - 3])[:, k]
                    z += [min(5.0, max(-5.0, (x - known.mean()) / known.std())) for x in blocks[place][:, k]]
                m = block * (first - 3)
                worth, t = len(z) * m / (len(z) + m), abs(sum(z) / len(z))
                if worth * t * t / 2 > limit * (1 + 5 * t / 3):
                    return (last + 1) * block - 1
    return None


@pytest.mark.parametrize(("shift", "is_noticed"), [(0.2, False), (0.8, True), (1.5, True)])
def test_an_alarm_is_where_bernsteins_inequality_says(shift, is_noticed):
    X = np.random.default_rng(3).normal(size=(3_000, 2))
    X[1_510:, 1] += shift
    found = EventSignal(block=50, horizon=1e5).watch(X)
    expected = first_alarm(X, 50, 1e5)
    assert found[:1] == ([expected] if is_noticed else [])
    assert (expected is not None) == is_noticed


def test_it_says_which_features_changed_and_begins_anew():
    X = np.random.default_rng(0).normal(size=(20_000, 6))
    X[8_000:, 4] += 2.0
    X[8_000:, 1] -= 1.0
    X[15_000:, 2] *= 5.0  # the mean stays
    signal = EventSignal()
    assert signal.watch(X) == [8_249]
    assert [feature for feature, _ in signal.changed] == [4, 1]
    assert [shift for _, shift in signal.changed] == pytest.approx([2.0, -1.0], abs=0.2)


def test_a_column_that_never_varied_counts_once_it_does():
    X = np.random.default_rng(0).normal(size=(6_000, 3))
    X[:, 2] = 7.0
    rare = X.copy()
    rare[4_000::100, 2] = 8.0
    assert EventSignal().watch(rare) == []
    X[4_000::5, 2] = 8.0
    signal = EventSignal()
    assert signal.watch(X) == [4_249]
    assert signal.changed[0][0] == 2


def test_chunks_sparse_rows_and_a_saved_signal_give_the_same_alarms():
    X = np.random.default_rng(0).normal(size=(9_000, 4)) * (np.random.default_rng(1).random((9_000, 4)) < 0.4)
    X[5_100:] += 0.4
    whole = EventSignal()
    whole.watch(X)
    assert len(whole.alarms) == 1
    pieces = EventSignal()
    for part in np.split(X, [1, 7, 1_000, 1_001, 5_300, 5_301]):
        pieces = EventSignal.from_dict(json.loads(json.dumps(pieces.to_dict())))
        pieces.watch(sp.csr_matrix(part))
    assert pieces.to_dict() == whole.to_dict()


def test_wide_events_are_watched_in_groups():
    rng = np.random.default_rng(0)
    X = sp.random_array((6_000, 20_000), density=0.002, rng=rng, format="csr")
    moved = sp.vstack([X[:4_000], X[4_000:][:, rng.permutation(20_000)]]).tocsr()
    assert EventSignal().watch(moved) == []  # every column was like every other
    words = sp.csr_matrix((np.ones(2_000), (np.arange(2_000), np.full(2_000, 77))), shape=(2_000, 20_000))
    signal = EventSignal()
    assert signal.watch(sp.vstack([X[:4_000], X[4_000:] + words])) == [4_249]
    assert len(signal.changed) == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"block": 5}, "block must be a whole number of events from 10 to 100,000, got 5"),
        ({"block": 20.5}, "block must be a whole number"),
        ({"block": "many"}, "block must be a whole number"),
        ({"horizon": 100}, "horizon must be a number of events above block, got 100"),
        ({"horizon": float("nan")}, "horizon must be"),
    ],
)
def test_parameters_that_cannot_be_are_refused(options, sentence):
    with pytest.raises(InvalidParameter, match=sentence):
        EventSignal(**options)


def test_events_that_cannot_be_are_refused_and_change_nothing():
    signal = EventSignal()
    signal.watch(np.zeros((3, 2)))
    for X, sentence in [
        (np.zeros(3), "rows of a matrix of numbers"),
        (np.array([["a", "b"]]), "rows of a matrix of numbers"),
        (np.zeros((3, 4)), "X has 4 features, but the events before had 2"),
        (np.array([[np.nan, 1.0]]), "NaN or infinite"),
    ]:
        with pytest.raises(InvalidInput, match=sentence):
            signal.watch(X)
    assert signal.events == 3
