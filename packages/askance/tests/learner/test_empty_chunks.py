"""A chunk without events in the middle of a stream changes nothing; at its beginning there is nothing to go on with."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import askance
from askance.learner.files import to_bytes

RNG = np.random.default_rng(3)
X = RNG.normal(size=(120, 3))
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=120) > 0, "spam", "ham")
FRAME = pd.DataFrame({"size": X[:, 0], "age": X[:, 1], "text": ["win a prize", "lunch"] * 60})
EVENTS = {
    "array": X, "sparse": sp.csr_matrix(X), "frame": FRAME, "dicts": FRAME.to_dict("records"),
    "texts": FRAME["text"].tolist(),
}  # fmt: skip


def make(name="PAA-I"):
    return askance.make(name, random_state=0)


def same(one, other, *traces):
    first, second = traces
    for column in ("predicted", "margin", "probability", "asked"):
        assert np.array_equal(getattr(first, column), getattr(second, column))
    assert to_bytes(one) == to_bytes(other)


@pytest.mark.parametrize("name", ["PAA-I", "SOAL-diag", "auto"])
@pytest.mark.parametrize("kind", EVENTS)
def test_calls_without_events_change_nothing(kind, name):
    events, one, other = EVENTS[kind], make(name), make(name)
    begun = [clf.run(events[:60], Y[:60]) for clf in (one, other)]
    assert len(other.run(events[:0], Y[:0]).asked) == 0
    assert len(other.run([], []).asked) == 0
    other.partial_fit(events[:0], Y[:0])
    same(one, other, *begun)
    same(one, other, one.run(events[60:], Y[60:]), other.run(events[60:], Y[60:]))


@pytest.mark.parametrize("kind", EVENTS)
@pytest.mark.parametrize("places", [(0,), (1,), (2,), (0, 0, 1, 2, 2)])
def test_batches_without_events_change_nothing(kind, places):
    events = EVENTS[kind]
    full = [(events[:60], Y[:60]), (events[60:], Y[60:])]
    mixed = list(full)
    for place in reversed(places):
        mixed.insert(place, (events[:0], Y[:0]))
    one, other = make(), make()
    same(one, other, one.run(iter(full)), other.run(iter(mixed)))
    assert len(other.run(iter([(events[:0], Y[:0])])).asked) == 0


@pytest.mark.parametrize("kind", EVENTS)
def test_nothing_begins_without_events(kind):
    events = EVENTS[kind][:0]
    for begin in (make().run, make().fit, make().partial_fit):
        with pytest.raises(ValueError, match="no events|0 sample"):
            begin(events, Y[:0])
    with pytest.raises(ValueError, match="no batches"):
        make().run(iter([(events, Y[:0])]))


def test_an_empty_chunk_of_another_width_is_refused():
    clf = make()
    clf.run(X, Y)
    with pytest.raises(ValueError, match="4 features"):
        clf.run(np.empty((0, 4)), [])


def test_weights_workers_and_label_sets_of_no_events():
    one, other = (askance.make("PAA-I", weighted=True, random_state=0) for _ in range(2))
    begun = [clf.run(X, Y, workers=2) for clf in (one, other)]
    other.partial_fit(X[:0], Y[:0], sample_weight=[])
    other.run(X[:0], Y[:0], workers=2)
    same(one, other, *begun)
    sets = [["a"] if number % 2 else ["b"] for number in range(120)]
    clf = askance.make_multilabel("PAA-I", random_state=0)
    clf.run(X, sets)
    asked = clf.labels_asked_
    clf.run(X[:0], sets[:0])
    clf.partial_fit(X[:0], sets[:0])
    assert clf.labels_asked_ == asked
