"""One event alone: every form is decided as in a matrix, nothing is shared with the caller, and slips are told."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import askance
from askance.errors import InvalidInput, InvalidParameter
from askance.learner.group import NOT_KNOWN, Exploring


def odd_numbers(dtype, n=60, d=8):
    """Values whose squares are not exact in float32."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, d)).astype(dtype)
    X[rng.random(X.shape) < 0.4] = 0.0
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1)


FORMS = {
    "pair": lambda row: (np.flatnonzero(row), row[np.flatnonzero(row)]),
    "small columns": lambda row: (np.flatnonzero(row).astype(np.uint8), row[np.flatnonzero(row)]),
    "other byte order": lambda row: (
        np.flatnonzero(row).astype(">i4"),
        row[np.flatnonzero(row)].astype(row.dtype.newbyteorder()),
    ),
    "matrix": lambda row: sp.csr_matrix(row.reshape(1, -1)),
    "sparse array": lambda row: sp.csr_array(row.reshape(1, -1)),
    "row of a sparse array": lambda row: sp.csr_array(np.stack([row, row]))[0],
    "row": lambda row: row,
}


@pytest.mark.parametrize("normalize", [None, "l2"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", FORMS)
def test_one_by_one_is_bit_for_bit_as_in_a_matrix(form, dtype, normalize):
    X, y = odd_numbers(dtype)
    together = askance.make("SOAL-diag", classes=[-1, 1], normalize=normalize, random_state=0)
    trace = together.run(sp.csr_matrix(X), y)
    alone = askance.make("SOAL-diag", classes=[-1, 1], n_features=8, normalize=normalize, random_state=0)
    for t, row in enumerate(X):
        decision = alone.ask(FORMS[form](row))
        assert (decision.margin, decision.asked) == (trace.margin[t], trace.asked[t])
        if decision.asked:
            alone.tell(FORMS[form](row), y[t])
    assert np.array_equal(alone.coef_, together.coef_)


@pytest.mark.parametrize("budget", [None, 20, askance.budgets.PerPeriod(5, 10.0)])
@pytest.mark.parametrize("is_cold", [True, False])
def test_rows_that_are_prepared_together_are_decided_as_one_by_one(budget, is_cold):
    X, _ = odd_numbers(np.float64)
    X[7] = 0.0  # an event without features
    rows, times = sp.csr_matrix(X), 3.0 + np.arange(len(X))
    alone, together = (
        askance.make(
            "SOAL-diag", classes=[-1, 1], n_features=8, intercept=True, budget=budget, random_state=0, max_pending=0
        )
        for _ in range(2)
    )
    levels = np.array([0.5, 0.4, 0.3]) if is_cold else np.empty(0)
    exploring = Exploring(levels, np.array([-1]), np.array([0.2]), 0.4, 50.0)
    were_asked = np.full(len(X), NOT_KNOWN, np.int8)
    were_asked[20:40] = np.arange(20) % 3 == 0
    waiting, mean, expected = -1, 0.2, []
    for t in range(len(X)):
        explore = levels[min(max(waiting, 0), 2)] if is_cold else min(1.0, 0.4 * mean)
        decision = alone.ask(rows[t], times[t], explore)
        expected.append((*decision[1:4], decision.audit, explore, *alone.scores_))
        waiting += decision.asked
        mean += (decision.probability - mean) / 50.0 if decision.probability > 0.0 else 0.0
        if were_asked[t] != NOT_KNOWN:
            alone._set_labels_asked(alone.labels_asked_ + int(were_asked[t]) - decision.asked)
    found = []
    for part in (slice(0, 1), slice(1, 33), slice(33, len(X))):
        group = rows[part]
        ask_next = together._ask_batch(group.indptr, group.indices, group.data)
        for piece in (slice(0, group.shape[0] // 2), slice(group.shape[0] // 2, None)):
            if len(times[part][piece]):
                record, scores, explored = ask_next(times[part][piece], exploring, were_asked[part][piece])
                found += zip(
                    record.margin.tolist(), record.probability.tolist(), record.asked.tolist(), record.audit.tolist(),
                    explored.tolist(), *scores.T.tolist(), strict=True,
                )  # fmt: skip
    assert found == expected
    assert any(asked for _, _, asked, *_ in found)
    assert (alone.labels_asked_, alone.events_seen_) == (together.labels_asked_, together.events_seen_)
    if is_cold:
        assert exploring.waiting[0] == waiting
    else:
        assert exploring.mean[0] == mean


def test_lengths_beyond_single_precision_are_lengths():
    clf = askance.make("PA-I", classes=[0, 1], n_features=2, normalize="l2", random_state=0)
    clf.partial_fit([[1.0, 1.0]], [1])
    expected = clf.decision_function([[3.0, 4.0]])[0]
    for scale in (1e19, 1e-23):
        assert clf.ask(([0, 1], np.array([3.0, 4.0], np.float32) * np.float32(scale))).margin == pytest.approx(expected)


def test_a_ticket_does_not_share_the_callers_memory():
    x = sp.csr_matrix(
        (np.array([1.0, 2.0, 7.0]), np.array([0, 2, 3], np.int32), np.array([0, 3], np.int32)), shape=(1, 4)
    )
    x.indptr = np.array([0, 2], np.int32)  # with room to spare
    clf = askance.make("PA-I", classes=[0, 1], n_features=4, random_state=0)
    ticket = clf.ask(x).ticket
    x.data[:] = 100.0
    x.indices[:] = [1, 3, 3]
    assert clf.tell(ticket=ticket, y=1).coef_.tolist() == [[0.2, 0.0, 0.4, 0.0]]


def test_names_are_compared():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    clf = askance.make("PAA-I", random_state=0)
    clf.run(table, (table["a"] > 0).astype(int))
    with pytest.raises(ValueError, match=r"X has no column c,.* and has the column d,"):
        clf.ask(table.rename(columns={"c": "d"}).iloc[[0]])
    assert clf.decision_function(table[list("cba")].iloc[[0]])[0] == clf.decision_function(table.iloc[[0]])[0]
    assert clf.decision_function(table.iloc[[0]])[0] == clf.ask(table.iloc[[0]]).margin
    alone = askance.make("PAA-I", classes=[0, 1], random_state=0)
    alone.ask(table.iloc[[0]])
    assert alone.feature_names_in_.tolist() == list("abc")


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        ([np.nan, 1.0, -np.inf, 3.0], "column 2 of the event is -inf"),
        (([1], [np.inf]), "column 1 of the event is .inf"),
        (([4], [1.0]), "the event has column 4, but there are 4, 0 to 3"),
        (([-1], [1.0]), "the event has column -1"),
        ((np.array([2**63 + 1], np.uint64), [1.0]), "the event has column"),
        (([0, 1], [1.0]), "2 columns but 1 values"),
        (sp.csr_matrix(np.ones((2, 4))), "one event is a matrix of shape"),
    ],
)
def test_what_is_wrong_is_told_of_the_event(x, sentence):
    clf = askance.make("PAA-I", classes=[0, 1], n_features=4)
    with pytest.raises(InvalidInput, match=sentence):
        clf.ask(x)


def test_a_refused_first_event_begins_nothing():
    clf = askance.make("PAA-I", classes=[0, 1])
    with pytest.raises(InvalidParameter, match="explore must be a share"):
        clf.ask([1.0, 2.0], explore=7)
    with pytest.raises(InvalidInput, match="the first event has no features"):
        clf.ask([])
    assert clf.ask([1.0, 2.0, 3.0]).label == 1
