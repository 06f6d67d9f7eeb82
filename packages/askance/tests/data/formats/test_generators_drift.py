"""Generated streams that drift, attack, or get their answers late."""

import numpy as np
import pytest

import askance
from askance.data.generators import (
    abrupt,
    answers_by_arrival,
    gradual,
    imbalance,
    label_noise,
    messages,
    novel_spam_attack,
    recurring,
    splitting_the_difference,
    verification_delay,
)
from askance.errors import InvalidInput, InvalidParameter


def test_messages_are_still_where_they_were():
    assert messages(3, random_state=3).labels.tolist() == ["spam", "ham", "ham"]


@pytest.mark.parametrize("make", [abrupt, gradual, recurring])
def test_the_same_seed_gives_the_same_stream_and_another_seed_another(make):
    one, same, other = make(500), make(500), make(500, random_state=1)
    for name in ("X", "y", "concept"):
        np.testing.assert_array_equal(getattr(one, name), getattr(same, name))
    assert (one.y != other.y).any()


@pytest.mark.parametrize("rate", [0.05, 0.5, 0.9])
def test_the_share_of_positives_is_the_one_asked_for(rate):
    assert (abrupt(20_000, positive_rate=rate).y == 1).mean() == pytest.approx(rate, abs=0.015)


def test_what_was_learned_before_an_abrupt_change_is_wrong_after_it():
    stream = abrupt(4000, angle=180)
    clf = askance.make("PA-I").fit(stream.X[:2000], stream.y[:2000])
    assert clf.score(stream.X[:2000], stream.y[:2000]) > 0.9
    assert clf.score(stream.X[2000:], stream.y[2000:]) < 0.1


def test_a_gradual_change_comes_little_by_little():
    concept = gradual(10_000, start=0.2, end=0.8).concept
    assert not concept[:2000].any()
    assert concept[8000:].all()
    thirds = [concept[2000:4000].mean(), concept[4000:6000].mean(), concept[6000:8000].mean()]
    np.testing.assert_allclose(thirds, [1 / 6, 3 / 6, 5 / 6], atol=0.04)


def test_concepts_come_back():
    stream = recurring(4000, period=500, concepts=2, angle=180)
    assert stream.concept.tolist() == ([0] * 500 + [1] * 500) * 4
    clf = askance.make("PA-I").fit(stream.X[:500], stream.y[:500])
    assert clf.score(stream.X[1000:1500], stream.y[1000:1500]) > 0.9
    assert clf.score(stream.X[500:1000], stream.y[500:1000]) < 0.1


def test_a_memory_makes_half_a_mistake_per_novel_attack():
    stream = novel_spam_attack(days=400, copies=5)
    trace = askance.make("PE", classes=[-1, 1]).run(stream.X, stream.y)
    wrong = trace.predicted != stream.y
    assert wrong.reshape(400, 5)[:, 1:].sum() == 0  # once labeled, never wrong again
    assert wrong.sum() == pytest.approx(200, abs=40)
    first_day_only = askance.make("PE", classes=[-1, 1]).partial_fit(stream.X[:5], stream.y[:5])
    later = (first_day_only.predict(stream.X[5:]) != stream.y[5:]).sum()
    assert later == pytest.approx(399 * 5 / 2, abs=200)


@pytest.mark.parametrize("n", [40, 2000])
def test_the_spammer_goes_half_way_between_what_is_known(n):
    stream = splitting_the_difference(n, random_state=2)
    x, y = stream.X.ravel(), stream.y
    assert x[y > 0].min() > x[y < 0].max()  # separable, and yet
    below, above = 0.0, 1.0
    for value, label in zip(x, y, strict=True):
        assert below < value < above
        if n <= 50:
            assert value == (below + above) / 2
        below, above = (below, value) if label > 0 else (value, above)


def test_shuffling_makes_the_spammer_harmless():
    """Who predicts by the nearest known neighbour errs every other time in order, and seldom in a shuffled stream."""

    def mistakes(x, y):
        below, above, wrong = 0.0, 1.0, 0
        for value, label in zip(x, y, strict=True):
            known = -1 if value <= below else 1 if value >= above else -1
            wrong += known != label
            below, above = (below, min(above, value)) if label > 0 else (max(below, value), above)
        return wrong

    stream = splitting_the_difference(2000)
    x, y = stream.X.ravel(), stream.y
    order = np.random.default_rng(0).permutation(len(y))
    assert mistakes(x, y) > 800
    assert mistakes(x[order], y[order]) < 30


def test_imbalance_keeps_all_of_one_class_and_the_order():
    y = np.array([1, -1] * 5000)
    for rate in (0.1, 0.9):
        rows = imbalance(y, 1, rate)
        assert (np.diff(rows) > 0).all()
        assert (y[rows] == 1).mean() == pytest.approx(rate, abs=0.02)
        assert (y[rows] == (-1 if rate < 0.5 else 1)).sum() == 5000
    with pytest.raises(InvalidInput, match="must hold 1 and other labels"):
        imbalance([1, 1], 1, 0.5)


def test_noise_replaces_a_label_by_another_one():
    y = np.random.default_rng(0).choice(["a", "b", "c"], 9000)
    noisy = label_noise(y, 0.2)
    assert (noisy != y).mean() == pytest.approx(0.2, abs=0.015)
    assert (noisy[(y == "a") & (noisy != y)] == "b").mean() == pytest.approx(0.5, abs=0.06)
    assert (label_noise(y, 0.0) == y).all()


def test_delays_have_their_mean_and_some_answers_never_come():
    delay = verification_delay(20_000, mean=50, lost=0.1)
    assert (delay == -1).mean() == pytest.approx(0.1, abs=0.01)
    assert delay[delay >= 0].mean() == pytest.approx(50, rel=0.05)
    assert verification_delay(3, mean=0).tolist() == [0, 0, 0]


def test_trouble_falls_on_asked_and_other_events_alike_though_the_seeds_are_equal():
    stream = abrupt(20_000, angle=0.0, random_state=0)
    asked = askance.make("PAA-I", budget=askance.budgets.Rate(0.05), random_state=0).run(stream.X, stream.y).asked
    wrong = label_noise(stream.y, 0.1, random_state=0) != stream.y
    lost = verification_delay(20_000, 100, spread="constant", lost=0.3, random_state=0) == -1
    kept = np.isin(np.arange(20_000), imbalance(stream.y, 1, 0.2, random_state=0))[stream.y == 1]
    assert wrong[asked].mean() == pytest.approx(0.1, abs=0.04)
    assert lost[asked].mean() == pytest.approx(0.3, abs=0.06)
    assert kept[asked[stream.y == 1]].mean() == pytest.approx(0.25, abs=0.08)


def test_every_answer_arrives_once_and_on_time():
    delay = verification_delay(500, mean=20, lost=0.2, random_state=1)
    seen = [(now, event) for now, there in answers_by_arrival(delay) for event in there]
    assert all(now == event + delay[event] for now, event in seen)
    assert sorted(event for _, event in seen) == [t for t in range(500) if delay[t] >= 0 and t + delay[t] < 500]


@pytest.mark.parametrize(
    "call",
    [
        lambda: abrupt(0),
        lambda: abrupt(10, at=2.0),
        lambda: abrupt(10, n_features=1),
        lambda: abrupt(10, positive_rate=1.0),
        lambda: gradual(10, start=0.8, end=0.2),
        lambda: recurring(10, concepts=1),
        lambda: recurring(10, period=0),
        lambda: novel_spam_attack(0, 5),
        lambda: splitting_the_difference(0),
        lambda: imbalance([1, -1], 1, 0.0),
        lambda: label_noise([1, -1], 1.5),
        lambda: verification_delay(5, -1.0),
        lambda: verification_delay(5, 1.0, spread="slow"),
    ],
)
def test_impossible_settings_are_refused(call):
    with pytest.raises(InvalidParameter):
        call()
