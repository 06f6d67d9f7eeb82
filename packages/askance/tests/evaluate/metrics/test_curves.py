"""Curves: each point is the metric of the events up to there."""

import numpy as np
import pytest

import askance
from askance.evaluate.metrics import METRICS, curve, summarise

WITH_CURVES = [name for name, metric in METRICS.items() if metric.has_curve]


@pytest.fixture(scope="module")
def played():
    rng = np.random.default_rng(0)
    truth = np.array(["a", "b"])[rng.integers(0, 2, 500)]
    predicted = np.where(rng.random(500) < 0.8, truth, "a")
    return truth, predicted, rng.random(500) < 0.2


@pytest.mark.parametrize("metric", WITH_CURVES)
@pytest.mark.parametrize("over", ["events", "labels"])
@pytest.mark.parametrize("window", [None, 60])
def test_every_point_is_the_summary_of_what_came_before(played, metric, over, window):
    truth, predicted, asked = played
    drawn = curve(truth, predicted, asked, classes=["a", "b"], metric=metric, over=over, window=window, points=17)
    assert len(drawn.values) == 17
    for events, labels, value in zip(drawn.events, drawn.labels, drawn.values, strict=True):
        part = slice(0 if window is None else max(0, events - window), events)
        expected = summarise(truth[part], predicted[part], asked[part], classes=["a", "b"])
        assert value == pytest.approx(expected[metric])
        assert labels == asked[:events].sum()


@pytest.mark.parametrize("over", ["events", "labels"])
@pytest.mark.parametrize("window", [None, 60])
def test_a_curve_read_in_pieces_is_the_same(played, monkeypatch, over, window):
    from askance.evaluate.metrics import curves

    truth, predicted, asked = played
    options = {"classes": ["a", "b"], "metric": "f1", "over": over, "window": window, "points": 40}
    whole = curve(truth, predicted, asked, **options)
    monkeypatch.setattr(curves, "PIECE", 7)
    pieces = curve(truth, predicted, asked, **options)
    for name in ("events", "labels", "values"):
        assert getattr(pieces, name).tolist() == getattr(whole, name).tolist()


def test_the_last_point_over_events_is_the_end_and_over_labels_the_last_label(played):
    truth, predicted, asked = played
    assert curve(truth, predicted, asked, classes=["a", "b"]).events[-1] == 500
    by_label = curve(truth, predicted, asked, classes=["a", "b"], over="labels", points=5)
    assert by_label.labels[-1] == asked.sum()
    assert asked[by_label.events - 1].all()


def test_three_classes_have_macro_curves_and_curves_of_one_of_them():
    truth, predicted = np.array([0, 1, 2, 2, 1, 0]), np.array([0, 1, 1, 2, 1, 2])
    drawn = curve(truth, predicted, np.ones(6), classes=[0, 1, 2], metric="f1", points=6)
    assert drawn.values[-1] == pytest.approx(summarise(truth, predicted, np.ones(6), classes=[0, 1, 2])["f1"])
    with pytest.raises(ValueError, match="a curve of 'sum' needs a positive class: name it"):
        curve(truth, predicted, np.ones(6), classes=[0, 1, 2], metric="sum")
    one = curve(truth, predicted, np.ones(6), classes=[0, 1, 2], metric="recall", positive=2, points=6)
    assert one.values[-1] == 0.5


def test_a_stream_without_labels_or_events_has_an_empty_curve():
    assert len(curve([0, 1], [0, 1], [0, 0], classes=[0, 1], over="labels").values) == 0
    assert len(curve([], [], [], classes=[0, 1]).values) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "beauty"}, "no curve of 'beauty'; there are accuracy"),
        ({"over": "time"}, "over must be"),
        ({"points": 0}, "points and window must be 1 or more"),
        ({"window": 0}, "points and window must be 1 or more"),
    ],
)
def test_a_curve_that_cannot_be_drawn_says_why(options, message):
    with pytest.raises(ValueError, match=message):
        curve([0, 1], [0, 1], [1, 0], classes=[0, 1], **options)


def test_a_trace_draws_its_own_curves():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    trace = askance.make("PAA-I", random_state=0).run(X, np.sign(X[:, 0]).astype(int))
    drawn = trace.curve("f1", points=10, window=100)
    assert len(drawn.values) == 10
    assert drawn.values[-1] > 0.7
