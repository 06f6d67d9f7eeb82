"""An event without a label is predicted, and changes nothing else."""

import numpy as np
import pytest

import askance
from askance.evaluate import quality

WORDS = ["nan", "NaN", "null", "?", "N/A", "", "None", "<NA>"]
NAMES = ["PAA-I", "SOAL", "D-ADA", "UOAL-entropy", "MPAA-I", "auto"]


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = np.where(X @ [1.0, -2.0, 0.5, 0.0] + 0.3 * rng.normal(size=600) > 0, "spam", "ham")
    return X, y, rng.random(600) < 0.3


def with_gaps(y, is_missing, value):
    gaps = y.astype(object)
    gaps[is_missing] = value
    return gaps


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("budget", [40, askance.budgets.Rate(0.2)])
def test_the_others_are_decided_on_as_if_it_had_not_come(stream, name, budget):
    X, y, gone = stream
    clf, other = (askance.make(name, budget=budget, random_state=0) for _ in range(2))
    trace = clf.run(X, with_gaps(y, gone, None))
    alone = other.run(X[~gone], y[~gone])
    for part in ("asked", "margin", "probability", "predicted_index", "truth_index"):
        assert np.array_equal(getattr(trace, part)[~gone], getattr(alone, part))
    assert not trace.asked[gone].any()
    assert (trace.truth_index[gone] == -1).all()
    assert (clf.events_seen_, clf.labels_asked_) == (other.events_seen_, other.labels_asked_)
    assert np.array_equal(clf._engine.state.table, other._engine.state.table)


@pytest.mark.parametrize("name", NAMES)
def test_run_equals_chunks_equals_ask_and_tell_with_predict_for_the_unlabeled(stream, name):
    X, y, gone = stream
    gaps = with_gaps(y, gone, None)
    whole, pieces, single = (
        askance.make(name, budget=askance.budgets.Rate(0.2), classes=["ham", "spam"], random_state=0) for _ in range(3)
    )
    trace = whole.run(X, gaps)
    parts = [pieces.run(X[first : first + 37], gaps[first : first + 37]) for first in range(0, 600, 37)]
    assert np.array_equal(trace.predicted, np.concatenate([part.predicted for part in parts]))
    assert np.array_equal(trace.asked, np.concatenate([part.asked for part in parts]))
    for x, label, predicted, asked in zip(X, gaps, trace.predicted, trace.asked, strict=True):
        if label is None:
            if hasattr(single, "classes_"):
                assert single.predict([x]) == predicted
            continue
        decision = single.ask(x)
        assert (decision.label, decision.asked) == (predicted, asked)
        if decision.asked:
            single.tell(ticket=decision.ticket, y=label)
    assert np.array_equal(whole.coef_, pieces.coef_)
    assert np.array_equal(whole.coef_, single.coef_)


@pytest.mark.parametrize("value", [*WORDS, None, float("nan"), np.float32("nan"), np.datetime64("NaT")])
@pytest.mark.parametrize("kind", [list, np.asarray, lambda y: np.array([str(label) for label in y])])
def test_whatever_stands_for_it_the_label_is_missing(stream, value, kind):
    X, y, gone = stream
    trace = askance.make("PAA-I", random_state=0).run(X, kind(with_gaps(y, gone, value)))
    assert trace.classes.tolist() == ["ham", "spam"]
    assert np.array_equal(trace.is_labeled, ~gone)
    assert trace.truth[gone].tolist() == [None] * gone.sum()


def test_values_of_pandas_stand_for_missing_labels(stream):
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    X, y, gone = stream
    series = pandas.Series(y).mask(gone)
    for labels in (series, series.astype("string"), series.astype("category"), series.where(series.notna(), pandas.NA)):
        trace = askance.make("PAA-I", random_state=0).run(X, labels)
        assert trace.classes.tolist() == ["ham", "spam"]
        assert np.array_equal(trace.is_labeled, ~gone)


def test_numbers_may_be_missing_or_masked(stream):
    X, y, gone = stream
    numbers = (y == "spam").astype(int)
    masked = askance.make("PAA-I", random_state=0).run(X, np.ma.masked_array(numbers, gone))
    floats = askance.make("PAA-I", random_state=0).run(X, np.where(gone, np.nan, numbers))
    listed = askance.make("PAA-I", random_state=0).run(
        X, [None if g else int(n) for n, g in zip(numbers, gone, strict=True)]
    )
    assert masked.classes.tolist() == listed.classes.tolist() == floats.classes.tolist() == [0, 1]
    assert listed.classes.dtype.kind == "i"
    for trace in (masked, floats, listed):
        assert np.array_equal(trace.is_labeled, ~gone)


def test_a_word_that_is_named_as_a_class_is_one(stream):
    X, y, gone = stream
    words = np.where(y == "spam", "?", "x")
    trace = askance.make("PAA-I", classes=["?", "x"], random_state=0).run(X, words)
    assert trace.is_labeled.all()
    assert askance.make("PAA-I", classes=["?", "x"]).fit(X, list(words)).classes_.tolist() == ["?", "x"]
    objects = askance.make("PAA-I", classes=["?", "x"], random_state=0).run(X, with_gaps(words, gone, None))
    assert np.array_equal(objects.is_labeled, ~gone)


def test_metrics_are_about_the_events_with_a_label(stream):
    X, y, gone = stream
    trace = askance.make("PAA-I", explore=0.1, random_state=0).run(X, with_gaps(y, gone, "?"))
    alone = askance.make("PAA-I", explore=0.1, random_state=0).run(X[~gone], y[~gone])
    found, expected = trace.summary(), alone.summary()
    assert found.pop("unlabeled") == gone.sum()
    del found["seconds"], expected["seconds"]
    assert found == expected
    assert np.array_equal(trace.curve().values, alone.curve().values)
    assert quality.estimate(trace).accuracy == quality.estimate(alone).accuracy


@pytest.mark.parametrize("value", ["nan", None, float("nan")])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_what_learns_from_given_labels_refuses_a_missing_one_and_stays_as_it_was(stream, value, method):
    X, y, _ = stream
    gaps = with_gaps(y, np.arange(600) == 7, value)
    clf = askance.make("PAA-I")
    with pytest.raises(ValueError, match=r"the label y\[7\] is missing; leave such events out"):
        getattr(clf, method)(X, gaps)
    assert not hasattr(clf, "classes_")
    assert not hasattr(clf, "n_features_in_")


@pytest.mark.parametrize("value", ["nan", None, float("nan")])
def test_tell_refuses_a_missing_label_and_the_ticket_stays_open(stream, value):
    X, _, _ = stream
    clf = askance.make("PA", classes=["ham", "spam"])
    ticket = clf.ask(X[0]).ticket
    with pytest.raises(ValueError, match="stands for a missing one"):
        clf.tell(ticket=ticket, y=value)
    assert clf.pending == [ticket]


def test_no_label_at_all_is_told(stream):
    X, _, _ = stream
    with pytest.raises(ValueError, match="y has no label that is known"):
        askance.make("PAA-I").run(X, [None] * 600)
    trace = askance.make("PAA-I", classes=["ham", "spam"]).run(X, ["?"] * 600)
    assert not trace.is_labeled.any()
    assert len(trace) == 600
