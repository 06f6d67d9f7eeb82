"""Estimates of a whole trace from its bought labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaincinv
from tests.real_data import sample

import askance
from askance.data.generators import messages
from askance.errors import InvalidInput, InvalidParameter, InvalidType
from askance.evaluate.metrics import calibration_error, summarise
from askance.evaluate.metrics.register import METRICS, estimated
from askance.evaluate.quality import estimate, estimate_columns

COUNTED = ["accuracy", *(metric.name for metric in estimated() if metric.of_class)]


def columns(seed, n=3000, error=0.1, floor=0.05):
    """Predictions, ask probabilities that depend on the score, draws and labels of a made-up stream."""
    rng = np.random.default_rng(seed)
    score = rng.standard_normal(n)
    wrong = rng.random(n) < np.minimum(0.5, 4 * error * np.exp(-2 * np.abs(score)))
    predicted = np.where(score > 0.3, 1, -1)
    truth = np.where(wrong, -predicted, predicted)
    probability = np.maximum(floor, 0.1 / (0.1 + np.abs(score)))
    return predicted, probability, rng.random(n) < probability, truth, score


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=60),
    st.sampled_from([None, 0, 1]),
    st.booleans(),
)
def test_with_all_labels_the_estimate_is_the_metric_and_has_no_width(pairs, positive, two_classes):
    predicted, truth = np.array(pairs).T
    classes = [0, 1] if two_classes else [0, 1, 2]
    predicted, truth = np.minimum(predicted, len(classes) - 1), np.minimum(truth, len(classes) - 1)
    everything = np.ones(len(truth), bool)
    exact = summarise(truth, predicted, everything, classes=classes, positive=positive)
    found = estimate_columns(predicted, np.ones(len(truth)), everything, truth, classes=classes, positive=positive)
    occurs_only_seen = set(truth.tolist()) == set(classes)
    for name, (value, low, high) in found.items():
        assert value == pytest.approx(exact[name], abs=1e-9), name
        if name in ("accuracy", "precision", "cost") or (two_classes and positive is not None):
            assert low == pytest.approx(value, abs=1e-9)
            assert high == pytest.approx(value, abs=1e-9)
        elif occurs_only_seen:
            assert low <= value <= high


def test_labels_that_were_not_bought_are_never_looked_at():
    predicted, probability, asked, truth, score = columns(0)
    hidden = np.where(asked, truth, 12345)
    assert estimate_columns(predicted, probability, asked, hidden, classes=[-1, 1], score=score) == estimate_columns(
        predicted, probability, asked, truth, classes=[-1, 1], score=score
    )


def test_a_trace_is_its_columns():
    stream = messages(800)
    trace = askance.make("UOAL-entropy", random_state=0).run(stream.X, stream.labels)
    assert estimate(trace) == estimate_columns(
        trace.predicted,
        trace.probability,
        trace.asked,
        trace.truth,
        classes=trace.classes,
        score=trace.margin,
        probability_positive=trace.probability_positive,
    )
    assert {"auc", "calibration_error", *COUNTED} == set(estimate(trace))


def test_the_window_is_the_end_of_the_stream():
    predicted, probability, asked, truth, score = columns(1)
    last = slice(-700, None)
    part = estimate_columns(
        predicted[last], probability[last], asked[last], truth[last], classes=[-1, 1], score=score[last]
    )
    assert estimate_columns(predicted, probability, asked, truth, classes=[-1, 1], score=score, window=700) == part


def test_no_mistake_seen_does_not_mean_none_there():
    n, m = 10_000, 200
    asked = np.arange(n) < m
    accuracy = estimate_columns(np.ones(n), np.full(n, m / n), asked, np.ones(n), classes=[-1, 1]).accuracy
    assert accuracy.value == accuracy.high == 1.0
    assert accuracy.low == pytest.approx(1.0 - betaincinv(1, m, 0.975), abs=0.001)


def test_equal_probabilities_give_clopper_and_pearsons_interval():
    n, m, wrong = 200_000, 400, 60
    asked = np.arange(n) < m
    truth = np.where(np.arange(n) < wrong, -1, 1)
    accuracy = estimate_columns(np.ones(n), np.full(n, m / n), asked, truth, classes=[-1, 1]).accuracy
    assert accuracy.value == pytest.approx(1 - wrong / m, abs=1e-4)
    assert accuracy.low == pytest.approx(1 - betaincinv(wrong + 1, m - wrong, 0.975), abs=1e-3)
    assert accuracy.high == pytest.approx(1 - betaincinv(wrong, m - wrong + 1, 0.025), abs=1e-3)


def test_many_small_groups_leave_no_more_open_than_a_few_large_ones():
    """Ten ask probabilities instead of one: as many answers, all of them right."""
    n = 8000
    probability = np.repeat([0.11, 0.12, 0.06, 0.055, 0.03, 0.028, 0.015, 0.014, 0.008, 0.0075], n // 10)
    asked = np.random.default_rng(0).random(n) < probability
    varied = estimate_columns(np.ones(n), probability, asked, np.ones(n), classes=[-1, 1]).accuracy
    weight = (1 - probability[asked]) / probability[asked]
    effective = weight.sum() ** 2 / (weight**2).sum()
    assert 1 - 1.5 * betaincinv(1, effective, 0.975) < varied.low < 1 - betaincinv(1, asked.sum(), 0.975)


def test_events_that_are_hardly_ever_asked_stay_open():
    """A tenth of the events would be asked once in 100,000 times: answers to the others do not speak for them."""
    n = 5000
    probability = np.where(np.arange(n) < n // 10, 1e-5, 0.2)
    asked = (np.arange(n) % 5 == 0) & (probability > 0.1)
    for classes in ([-1, 1], [-1, 0, 1]):
        quality = estimate_columns(np.ones(n), probability, asked, np.ones(n), classes=classes)
        assert quality.accuracy.low < 0.9
        assert quality.accuracy.high == 1.0


def test_a_class_that_is_always_wrong_may_have_been_right_once_more():
    """The second class is predicted for 200 events, all 8 of its answers are wrong: that leaves some right ones."""
    predicted = np.repeat([-1, 1], [3800, 200])
    probability = np.full(4000, 0.04)
    asked = np.arange(4000) % 25 == 0
    quality = estimate_columns(predicted, probability, asked, np.full(4000, -1), classes=[-1, 1])
    assert quality.accuracy.value == pytest.approx(0.95)
    assert quality.accuracy.high > 0.955
    assert quality.accuracy.low > 0.92


def test_events_that_could_not_be_asked_leave_everything_open():
    n = 1000
    reachable = np.arange(n) < 600
    quality = estimate_columns(
        np.ones(n), np.where(reachable, 1.0, 0.0), reachable, np.ones(n), classes=[-1, 1], positive=1
    )
    assert quality.unreachable == 400
    assert quality.accuracy.low == pytest.approx(0.6)
    assert quality.accuracy.high == 1.0
    assert "400 events could not be asked: the values are about the others" in quality.table()


def test_without_any_label_nothing_is_claimed():
    n = 50
    quality = estimate_columns(np.ones(n), np.full(n, 0.1), np.zeros(n, bool), np.ones(n), classes=[-1, 1])
    assert (quality.accuracy.low, quality.accuracy.high) == (0.0, 1.0)
    empty = estimate_columns([], [], [], [], classes=[-1, 1])
    assert np.isnan(empty.accuracy.value)
    assert (empty.recall.low, empty.recall.high) == (0.0, 1.0)
    assert empty.cost == (0.0, 0.0, 0.0)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 400), st.sampled_from([2, 3, 5]))
def test_an_interval_holds_its_value_and_stays_within_what_is_possible(seed, n, classes):
    rng = np.random.default_rng(seed)
    probability = rng.random(n) ** rng.integers(1, 12)
    probability[rng.random(n) < 0.05] = 0.0
    asked = rng.random(n) < probability
    answered = asked & (rng.random(n) < rng.choice([0.0, 0.5, 1.0]))
    predicted, truth = rng.integers(0, classes, n), rng.integers(0, classes, n)
    columns = (predicted, probability, answered, truth)
    quality = estimate_columns(
        *columns,
        classes=range(classes),
        asked=asked if rng.random() < 0.5 else None,
        score=rng.standard_normal(n) if classes == 2 else None,
        probability_positive=rng.random(n) if classes == 2 and rng.random() < 0.5 else None,
    )
    for name, (value, low, high) in quality.items():
        assert low <= value <= high or np.isnan(value), name
        assert low >= METRICS[name].smallest, name
        assert high <= (n if name == "cost" else 1.0), name


def covered(draw, truth, runs):
    inside = dict.fromkeys(truth, 0)
    values = {name: [] for name in truth}
    for seed in range(runs):
        for name, found in draw(seed).items():
            inside[name] += truth[name] in found
            values[name].append(found.value)
    return {name: count / runs for name, count in inside.items()}, {k: np.mean(v) for k, v in values.items()}


@pytest.mark.parametrize("error", [0.01, 0.1])
def test_the_intervals_hold_the_truth_and_the_values_have_no_bias(error):
    predicted, probability, _, truth, score = columns(3, error=error)
    rng = np.random.default_rng(9)

    def draw(seed):
        asked = rng.random(len(truth)) < probability
        return estimate_columns(predicted, probability, asked, truth, classes=[-1, 1], score=score)

    exact = summarise(truth, predicted, truth > 0, classes=[-1, 1], margin=score)
    exact = {name: exact[name] for name in [*COUNTED, "auc"]}
    share, mean = covered(draw, exact, 300)
    assert min(share.values()) >= 0.93, share
    assert mean["accuracy"] == pytest.approx(exact["accuracy"], abs=0.003)
    assert mean["auc"] == pytest.approx(exact["auc"], abs=0.02)


@pytest.mark.parametrize(("name", "algorithm"), [("a8a", "PAA-I"), ("spambase", "UOAL-entropy"), ("ijcnn1", "D-ADA")])
def test_the_intervals_hold_the_truth_on_real_sets(name, algorithm):
    X, y = sample(name, 4000, standardize=name == "spambase")
    inside = []
    for seed in range(100):
        trace = askance.make(algorithm, normalize="l2", explore=0.02, random_state=seed).run(X, y)
        exact = trace.summary()
        inside.append([exact[metric] in found for metric, found in estimate(trace).items() if metric in exact])
    assert np.mean(inside, axis=0).min() >= 0.9  # a hundred runs; benchmarks/COVERAGE.md has five hundred
    assert np.mean(inside) >= 0.94


def test_answers_missing_at_random_do_not_bias():
    predicted, probability, _, truth, _ = columns(5)
    rng = np.random.default_rng(2)
    exact = float((predicted == truth).mean())
    found = [
        estimate_columns(
            predicted,
            probability,
            (rng.random(len(truth)) < probability) & (rng.random(len(truth)) < 0.6),
            truth,
            classes=[-1, 1],
        ).accuracy
        for _ in range(200)
    ]
    assert np.mean([exact in one for one in found]) >= 0.93
    assert np.mean([one.value for one in found]) == pytest.approx(exact, abs=0.005)


def test_several_classes_are_covered_too():
    rng = np.random.default_rng(0)
    n = 4000
    truth = rng.choice(4, n, p=[0.6, 0.25, 0.1, 0.05])
    wrong = rng.random(n) < 0.15
    predicted = np.where(wrong, (truth + rng.integers(1, 4, n)) % 4, truth)
    probability = np.where(wrong, 0.3, 0.1) * rng.uniform(0.5, 1.0, n)
    exact = summarise(truth, predicted, wrong, classes=range(4))
    exact = {name: exact[name] for name in ("accuracy", "balanced_accuracy", "precision", "recall", "f1", "mcc")}

    def draw(seed):
        asked = rng.random(n) < probability
        return estimate_columns(predicted, probability, asked, truth, classes=range(4))

    share, _ = covered(draw, exact, 200)
    assert min(share.values()) >= 0.93, share


@pytest.mark.parametrize("label", [0, 1, 2])
def test_without_answers_averages_over_classes_are_open(label):
    found = estimate_columns([label] * 300, [0.01] * 300, [False] * 300, [label] * 300, classes=[0, 1, 2])
    assert (found.balanced_accuracy.low, found.balanced_accuracy.high) == (0.0, 1.0)
    assert 1.0 / 3.0 in found.recall


def test_calibration_error_is_the_usual_one():
    probability = np.array([0.05, 0.15, 0.15, 0.95])
    truth = np.array([-1, 1, -1, 1])
    assert calibration_error(truth, probability, 1) == pytest.approx((0.05 + 0.7 + 0.05) / 4)
    found = estimate_columns(
        np.where(probability > 0.5, 1, -1),
        np.ones(4),
        [True] * 4,
        truth,
        classes=[-1, 1],
        probability_positive=probability,
    )
    assert found.calibration_error.value == pytest.approx((0.05 + 0.7 + 0.05) / 4, abs=1e-6)
    assert np.isnan(calibration_error([], [], 1))


def test_the_table_and_the_dictionary_say_the_same():
    predicted, probability, asked, truth, score = columns(4)
    quality = estimate_columns(predicted, probability, asked, truth, classes=[-1, 1], score=score)
    assert f"{quality.recall.low:.4f}" in quality.table()
    assert quality.to_dict()["estimates"]["recall"]["low"] == quality.recall.low
    assert quality["recall"] == quality.recall
    with pytest.raises(AttributeError, match="no 'beauty'; it has accuracy"):
        _ = quality.beauty


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ({"probability": [0.5, 1.5]}, InvalidInput, r"must be in \[0, 1\], got 1.5 at event 1"),
        ({"probability": [0.5, 0.0]}, InvalidInput, "event 1 has an answer but an ask probability of 0"),
        ({"labels": [1, 7]}, InvalidInput, "labels is 7 at event 1"),
        ({"window": 0}, InvalidParameter, "window must be a whole number of events, 1 or more, got 0"),
        ({"window": 1.5}, InvalidParameter, "window must be a whole number of events, 1 or more, got 1.5"),
        ({"window": "10"}, InvalidParameter, "window must be a whole number of events, 1 or more, got '10'"),
        ({"level": 1.0}, InvalidParameter, "level must be in"),
        ({"level": None}, InvalidParameter, "level must be in"),
        ({"alpha_p": "half"}, InvalidParameter, "alpha_p must be in"),
        ({"classes": [1]}, InvalidParameter, "two or more labels"),
        ({"positive": 5}, InvalidParameter, "positive is 5"),
        ({"score": [0.0, float("nan")]}, InvalidInput, "score is NaN at event 1"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence(changes, error, sentence):
    given = {
        "predicted": [1, 1],
        "probability": [0.5, 0.5],
        "answered": [True, True],
        "labels": [1, -1],
        "classes": [-1, 1],
    } | changes
    with pytest.raises(error, match=sentence):
        estimate_columns(**given)


def test_only_a_trace_can_be_estimated():
    with pytest.raises(InvalidType, match="estimate takes the trace that run returns, got int"):
        estimate(3)
