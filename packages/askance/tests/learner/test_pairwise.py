"""Learning from pairs: what the buffers keep, and that a model file cannot name places outside of them.

The arithmetic is compared with the oracle where all algorithms are (``test_exactness``)."""

import numpy as np
import pytest
from tests import oracle
from tests.learner.test_exactness import assert_agrees

import askance
from askance.errors import ModelFileError
from askance.learner.state import Event
from askance.learner.update import pairwise


def rare_stream(n=600, d=8, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.1).astype(int)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    X[:, 0] += y
    return X, y


def test_answers_that_count_with_their_weights_are_learned_as_the_formula_says():
    X, y = rare_stream()
    settings = {"eta": 0.5, "gamma": 2.0, "buffer_size": 7, "delta": 0.2, "weighted": True}
    clf = askance.make("SOAL-AUC", classes=[0, 1], random_state=3, **settings)
    truth = oracle.run("SOAL-AUC", X, y, seed=3, **settings)
    assert_agrees(clf, clf.run(X, y), truth)
    assert truth.probability[truth.asked].min() < 0.5  # some weights are not one


def kept_after(n, size, weights, seed):
    """The numbers of the events that a buffer keeps of n."""
    rule = pairwise.PairwiseAdaptiveDiagonal(buffer_size=size)
    state = rule.start(1, 2)
    buffers = pairwise.view_buffers(state, size)
    buffers.drawn[0] = seed
    for t in range(n):
        pairwise.keep(buffers, Event(np.array([0]), np.array([t + 1.0]), 0, 1), 1, weights[t])
    return buffers.answers[1, :, 2] - 1


@pytest.mark.parametrize("heavy", [1.0, 3.0])
def test_an_answer_is_kept_as_often_as_its_weight_says(heavy):
    n, size, rounds = 20, 4, 1500
    weights = np.where(np.arange(n) % 2 == 1, heavy, 1.0)
    kept = np.zeros(n)
    for seed in range(1, rounds + 1):
        for place in kept_after(n, size, weights, 7919 * seed):
            kept[int(place)] += 1 / rounds
    wanted = size * weights / weights.sum()
    if heavy == 1.0:
        assert np.abs(kept - wanted).max() < 4 * np.sqrt(wanted.max() / rounds)
    late = np.arange(n) >= 2 * size  # the first are in before the buffer is full, whatever their weight
    assert kept[late & (weights == heavy)].mean() / kept[late & (weights == 1.0)].mean() == pytest.approx(
        heavy, rel=0.15
    )


def test_of_a_long_event_the_largest_features_are_kept_in_order():
    values = np.array([1.0, -5.0, 2.0, 2.0, 0.5, 2.0, 7.0])
    kept = np.zeros(1 + 2 * 4)
    pairwise.write(kept, Event(np.arange(10, 17), values, 0, len(values)))
    assert kept.tolist() == [4, 11, 12, 13, 16, -5.0, 2.0, 2.0, 7.0]
    pairwise.write(kept, Event(np.arange(7), np.ones(7), 0, 7))
    assert kept.tolist() == [4, 0, 1, 2, 3, 1.0, 1.0, 1.0, 1.0]


def test_events_longer_than_a_buffer_keeps_are_learned_all_the_same():
    rng = np.random.default_rng(0)
    d = pairwise.LONGEST + 200
    X = rng.normal(size=(60, d))
    y = (np.arange(60) % 3 == 0).astype(int)
    X[:, 5] += 40 * y
    clf = askance.make("SOAL-AUC", classes=[0, 1], buffer_size=5, normalize="l2", random_state=0).fit(X, y)
    scores = clf.decision_function(X)
    assert scores[y == 1].min() > scores[y == 0].max()


def test_the_first_class_can_be_the_rare_one_and_ranks_below():
    X, y = rare_stream()
    clf = askance.make("SOAL-AUC", classes=[0, 1], random_state=0).fit(X, 1 - y)
    assert clf.coef_[0, 0] < 0


def test_a_model_that_grows_goes_on_as_if_it_had_always_been_wide():
    X, y = rare_stream()
    wide = askance.make("SOAL-AUC", classes=[0, 1], intercept=True, n_features=12, random_state=0)
    grown = askance.make("SOAL-AUC", classes=[0, 1], intercept=True, random_state=0)
    padded = np.pad(X, [(0, 0), (0, 4)])
    first = grown.run(X[:300], y[:300])
    grown.widen(12)
    second = grown.run(padded[300:], y[300:])
    whole = wide.run(padded, y)
    assert np.array_equal(np.concatenate([first.margin, second.margin]), whole.margin)


@pytest.mark.parametrize(("place", "value"), [(4, 101.0), (4, 0.5), (6, 9.0), (7, 8.0), (7, -1.0), (0, np.nan)])
def test_a_file_whose_buffers_name_what_does_not_exist_is_refused(tmp_path, place, value):
    X, y = rare_stream(50)
    clf = askance.make("SOAL-AUC", classes=[0, 1], random_state=0).fit(X, y)
    clf._engine.state.extra[place] = value
    clf.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="does not exist"):
        askance.load(tmp_path / "model")
