"""Label sets: K models in one loop on one budget, which decide as K papers' algorithms side by side would."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests import oracle
from tests.oracle.queries import Event

import askance
from askance.budgets import PerPeriod
from askance.errors import AskanceError, IncompatibleRules, InvalidInput, InvalidParameter, ModelFileError

INTERLEAVED = ["PAA-I", "PAA-II", "D-ADA", "D-AMD", "SOAL-diag", "OA3-diag"]
MARKED = ["SOAL", "SOAL-AUC"]
K = 4


def stream(n=150, d=9, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    Y = (X @ rng.normal(size=(d, K)) + 0.3 * rng.normal(size=(n, K)) > 0.7).astype(int)
    return X, Y


def play_oracles(name, X, Y, seed, budget, **settings):
    """K oracles, a uniform number and a place in the budget for each question."""
    rule, query = oracle.PRESETS[name]
    parts = [oracle.build(rule, query, X.shape[1], 2, settings) for _ in range(K)]
    uniforms = np.random.default_rng(seed).random(Y.shape)
    margins, asked = np.zeros(Y.shape), np.zeros(Y.shape, bool)
    for t, x in enumerate(X):
        for k, (update, ask) in enumerate(parts):
            margins[t, k] = p = update.margin(x)
            chance = ask(Event(p, update.variance(x), x @ x, t * K + k + 1, 0)) if x.any() else 0.0
            asked[t, k] = asked.sum() < budget and uniforms[t, k] < chance
            if asked[t, k]:
                update.update(x, 2 * Y[t, k] - 1, weight=1 / chance)
    return margins, asked, np.vstack([update.weights() for update, _ in parts])


@pytest.mark.parametrize("name", [*INTERLEAVED, *MARKED])
def test_each_label_is_learned_as_the_paper_says(name):
    X, Y = stream()
    settings = oracle.settings_of(name)
    settings.pop("decay", None)
    clf = askance.make_multilabel(name, random_state=5, budget=200, **settings)
    trace = clf.run(X, Y)
    margins, asked, weights = play_oracles(name, X, Y, 5, 200, **settings)
    np.testing.assert_array_equal(trace.asked, asked)
    np.testing.assert_allclose(trace.margin, margins, atol=1e-9)
    np.testing.assert_allclose(clf.coef_, weights, atol=1e-9)
    np.testing.assert_array_equal(trace.predicted, trace.margin >= 0)


class Scripted(np.random.Generator):
    """Gives the numbers that were drawn for one label."""

    def __init__(self, numbers):
        super().__init__(np.random.PCG64(0))
        self._numbers = iter(numbers)

    def random(self):
        return next(self._numbers)


def test_auto_learns_each_label_as_it_would_learn_it_alone():
    X, Y = stream(300)
    X[[3, 40]] = 0.0
    clf = askance.make_multilabel("auto", labels=["a", "b", "c", "d"], random_state=5)
    trace = clf.run(X, Y)
    uniforms = np.random.default_rng(5).random(Y.shape)
    for k, report in enumerate(clf.report().values()):
        alone = askance.make("auto", objective="f1", classes=[False, True], random_state=Scripted(uniforms[:, k]))
        for t, x in enumerate(X):
            decision = alone.ask(x)
            assert (decision.margin, decision.asked) == (trace.margin[t, k], trace.asked[t, k])
            if decision.asked:
                alone.tell(ticket=decision.ticket, y=bool(Y[t, k]))
        assert report == alone.report()
        np.testing.assert_array_equal(clf.coef_[k], alone.coef_[0])
        np.testing.assert_array_equal(clf.intercept_[k], alone.intercept_[0])


def test_auto_holds_one_budget_for_all_labels_and_spends_it_where_it_is_in_doubt():
    X, Y = stream(1500)
    Y[:, 3] = 0  # a label that no event has
    trace = askance.make_multilabel("auto", budget=0.1, random_state=0).run(X, Y)
    assert 0.08 * Y.size < trace.asked.sum() <= 40 + 0.96 * 0.1 * Y.size  # as docs/auto.md has it
    assert trace.asked[:, 3].sum() < 0.6 * trace.asked[:, :3].sum() / 3
    assert trace.summary()["micro_f1"] > 0.7
    assert askance.make_multilabel("auto", budget=50, random_state=0).run(X, Y).asked.sum() <= 50


def test_what_auto_reports_leaves_corrected_answers_out():
    X, _ = stream(40)
    clf, other = (askance.make_multilabel("auto", labels=["a", "b"], random_state=0) for _ in range(2))
    tickets = [[d.ticket for d in each.ask(X[0]).values()] for each in (clf, other)]
    for ticket in tickets[0]:
        clf.tell(ticket=ticket, y=True)
    clf.tell(ticket=tickets[0][1], y=False, replace=True)
    other.tell(ticket=tickets[1][0], y=True)
    other.tell(ticket=tickets[1][1], y=False)
    assert clf.report()["a"] == other.report()["a"]
    counts = [each.report()["b"].quality for each in (clf, other)]
    assert counts[0] == counts[1]


def test_only_auto_reports():
    with pytest.raises(InvalidInput, match="has no report"):
        askance.make_multilabel("PAA-I", labels=["a"]).report()


SETTINGS = [
    {},
    {"budget": 100},
    {"budget": 0.1, "explore": 0.02},
    {"intercept": True, "normalize": "l2", "weighted": True},
]


CASES = [(name, settings) for name in ("PAA-I", "D-ADA") for settings in SETTINGS]
CASES += [("SOAL", {"budget": 0.3, "intercept": True, "normalize": "l2"}), ("auto", {"budget": 0.2})]


@pytest.mark.parametrize(("name", "settings"), CASES, ids=str)
def test_a_stream_its_chunks_and_single_events_decide_alike(name, settings):
    X, Y = stream()
    X[7] = 0.0
    made = [askance.make_multilabel(name, labels=range(K), random_state=2, **settings) for _ in range(3)]
    whole = made[0].run(X, Y)
    chunks = askance.MultiLabelTrace.join([made[1].run(X[i : i + 31], Y[i : i + 31]) for i in range(0, len(X), 31)])
    for t, x in enumerate(X):
        decisions = made[2].ask(x)
        assert [d.margin for d in decisions.values()] == whole.margin[t].tolist()
        assert [d.probability for d in decisions.values()] == whole.probability[t].tolist()
        assert [d.asked for d in decisions.values()] == whole.asked[t].tolist()
        assert [d.audit for d in decisions.values()] == whole.audit[t].tolist()
        for label, decision in decisions.items():
            if decision.asked and t % 2:
                made[2].tell(ticket=decision.ticket, y=bool(Y[t, label]))
        answers = {k: bool(Y[t, k]) for k, d in decisions.items() if d.asked}
        if not t % 2 and answers:
            made[2].tell(x, answers, weight={k: decisions[k].weight for k in answers})
    assert np.array_equal(chunks.margin, whole.margin)
    assert np.array_equal(chunks.asked, whole.asked)
    assert all(np.array_equal(each.coef_, made[0].coef_) for each in made[1:])
    assert all(np.array_equal(each.intercept_, made[0].intercept_) for each in made[1:])
    assert made[2].labels_asked_ == whole.asked.sum()


def test_one_budget_holds_for_all_questions():
    X, Y = stream(300)
    assert askance.make_multilabel("PAA-I", delta=5.0, budget=77, random_state=0).run(X, Y).asked.sum() == 77
    trace = askance.make_multilabel("D-ADA", budget=0.1, random_state=0).run(X, Y)
    assert 0.08 * Y.size < trace.asked.sum() <= 0.1 * Y.size
    by_day = askance.make_multilabel("PAA-I", delta=5.0, budget=PerPeriod(20, "1d"), random_state=0)
    days = np.arange(300) // 100
    bought = by_day.run(X, Y, times=days * 86400.0).asked.sum(axis=1)
    assert all(bought[days == day].sum() <= 20 for day in range(3))
    assert bought.sum() > 30


def test_label_sets_come_in_many_forms_with_the_same_result():
    X, Y = stream()
    names = ["d", "a", "c", "b"]
    sets = [{names[k] for k in np.flatnonzero(row)} for row in Y]
    table = pd.DataFrame(Y, columns=names)
    forms = [
        (Y, names), (sp.csr_matrix(Y), names), (Y.astype(bool), names), (table, None),
        (table[["a", "b", "c", "d"]], names),
        (sets, names), ([sorted(each) for each in sets], names), (pd.Series(sets), names),
        ([" | ".join(each) for each in sets], names),
    ]  # fmt: skip
    traces = []
    for form, labels in forms:
        clf = askance.make_multilabel("PAA-I", labels=labels, label_separator="|", random_state=0)
        traces.append(clf.run(X, form))
        assert clf.labels_ == tuple(names)
    assert all(np.array_equal(trace.margin, traces[0].margin) for trace in traces)
    found = askance.make_multilabel("PAA-I", random_state=0)
    found.run(X, sets)
    assert found.labels_ == ("a", "b", "c", "d")


def test_raw_events_bring_their_labels_and_new_fields_along():
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(30)]
    rows = []
    for t in range(120):
        chosen = rng.choice(words[: 10 + t // 6], 3, replace=False).tolist()
        tags = [tag for tag, own in (("x", "word1"), ("y", "word2")) if own in chosen]
        rows.append({"text": " ".join(chosen), "size": float(rng.normal()), "tags": tags})
    whole, halves = (askance.make_multilabel("D-ADA", labels=["x", "y"], random_state=0) for _ in range(2))
    trace = whole.run(rows, "tags")
    assert trace.truth.tolist() == [[int(tag in row["tags"]) for tag in ("x", "y")] for row in rows]
    first, second = halves.run(rows[:60], "tags"), halves.run(rows[60:], "tags")
    assert np.array_equal(np.vstack([first.margin, second.margin]), trace.margin)
    assert whole.predict_sets([{"text": "word1 word2", "size": 0.0}]) == [{"x", "y"}]
    decision = whole.ask({"text": "word1 brandnew", "size": 1.0})
    assert decision["x"].label is True
    assert decision["y"].label is False


def test_what_is_not_known_is_predicted_and_nothing_else():
    X, Y = stream()
    gaps = np.random.default_rng(1).random(Y.shape) < 0.3
    clf = askance.make_multilabel("PAA-I", random_state=0)
    trace = clf.run(X, np.where(gaps, np.nan, Y))
    assert not trace.asked[gaps].any()
    assert (trace.truth[gaps] == -1).all()
    assert clf.events_seen_ == (~gaps).sum()
    other = askance.make_multilabel("PAA-I", labels=range(K), random_state=0).fit(X, np.where(gaps, np.nan, Y))
    for k in range(K):
        alone = askance.make("PAA-I", classes=[0, 1]).fit(X[~gaps[:, k]], Y[~gaps[:, k], k])
        np.testing.assert_array_equal(other.coef_[k], alone.coef_[0])


def test_some_answers_may_come_late_or_never_and_one_may_be_corrected():
    X, _ = stream(20)
    clf = askance.make_multilabel("PAA-I", labels=["a", "b", "c", "d"], delta=1e6, random_state=0)
    first = clf.ask(X[0])
    clf.ask(X[1])
    assert len(clf.pending) == 8
    clf.tell(ticket=first["b"].ticket, y=True)
    assert clf.coef_[1].any()
    assert not clf.coef_[[0, 2, 3]].any()
    clf.tell(ticket=first["b"].ticket, y=False, replace=True)
    clf.forget(first["c"].ticket)
    assert len(clf.pending) == 6
    clf.tell(X[2], {"a", "d"})
    assert clf.coef_[[0, 3]].any(axis=1).all()
    before = clf.coef_.copy()
    clf.tell(X[3], {"a": True, "b": None})
    assert np.array_equal(clf.coef_[1:], before[1:])


@pytest.mark.parametrize(("name", "intercept"), [("D-AMD", False), ("D-AMD", True), ("SOAL", True), ("auto", False)])
def test_a_model_in_a_file_goes_on_where_it_stood(tmp_path, name, intercept):
    X, Y = stream()
    clf = askance.make_multilabel(name, labels=["a", "b", "c", "d"], intercept=intercept, budget=0.3, random_state=0)
    clf.run(X[:100], Y[:100])
    waiting = [d.ticket for d in clf.ask(X[100]).values() if d.asked]
    clf.save(tmp_path / "model")
    again = askance.MultiLabelClassifier.load(tmp_path / "model")
    assert again.labels_ == clf.labels_
    assert again.pending == clf.pending == waiting
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert np.array_equal(again.run(X, Y).margin, clf.run(X, Y).margin)
    with pytest.raises(ModelFileError, match=r"MultiLabelClassifier\.load"):
        askance.load(tmp_path / "model")
    askance.make("PAA-I").fit(X, Y[:, 0]).save(tmp_path / "plain")
    with pytest.raises(ModelFileError, match=r"askance\.load"):
        askance.MultiLabelClassifier.load(tmp_path / "plain")


@pytest.mark.parametrize(
    "document",
    ["{}", "[]", "nonsense", '{"labels": 3}',
     '{"labels": {"kind": "array", "dtype": "<i8", "values": [1, 2, 3]}, "x": 1}',
     '{"labels": {"kind": "array", "dtype": "<i8", "values": [0, 1, 2, 3, 4]}}'],
)  # fmt: skip
def test_a_file_with_other_labels_than_its_model_is_refused(tmp_path, document):
    from askance.learner.files import save, to_bytes

    X, Y = stream(30)
    clf = askance.make_multilabel("PAA-I", random_state=0).fit(X, Y)
    arrays = {"label_sets": np.frombuffer(document.encode(), np.uint8)}
    save(clf._learner, tmp_path / "m", reader=np.frombuffer(to_bytes(clf._reader), np.uint8), **arrays)
    with pytest.raises(ModelFileError):
        askance.MultiLabelClassifier.load(tmp_path / "m")


@pytest.mark.parametrize(("name", "rounding"), [("D-ADA", 0.0), ("SOAL", 1e-9)])
def test_the_width_may_grow_while_answers_wait(name, rounding):
    X, Y = stream()
    wide = askance.make_multilabel(name, labels=range(K), n_features=12, intercept=True, random_state=0)
    grown = askance.make_multilabel(name, labels=range(K), intercept=True, random_state=0)
    padded = np.pad(X, [(0, 0), (0, 3)])
    for clf, rows in ((wide, padded), (grown, X)):
        clf.run(rows[:50], Y[:50])
    asked = [clf.ask(rows[50]) for clf, rows in ((wide, padded), (grown, X))]
    grown.widen(12)
    for clf, decisions in zip((wide, grown), asked, strict=True):
        for label, decision in decisions.items():
            if decision.asked:
                clf.tell(ticket=decision.ticket, y=bool(Y[50, label]))
    margins = [clf.run(padded[51:], Y[51:]).margin for clf in (wide, grown)]
    np.testing.assert_allclose(*margins, rtol=rounding)


def test_it_is_cloned_and_trained_anew():
    X, Y = stream()
    clf = askance.make_multilabel("PAA-I", C=0.5, labels=range(K), random_state=0)
    again = clone(clf.fit(X, Y))
    assert not again._has_begun
    with pytest.raises(NotFittedError):
        again.predict(X)
    assert np.array_equal(again.fit(X, Y).coef_, clf.fit(X, Y).coef_)
    assert clf.predict(X).shape == clf.predict_proba(X).shape == clf.decision_function(X).shape == Y.shape
    assert np.array_equal(clf.predict(X) == 1, clf.decision_function(X) >= 0)


REFUSED = ["SEL-ada", "MPAA-I"]


@pytest.mark.parametrize("name", REFUSED)
def test_a_rule_that_would_mix_labels_is_refused(name):
    with pytest.raises(IncompatibleRules, match="share|two weight vectors"):
        askance.make_multilabel(name)


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([[0, 2]] * 3, "set of labels|none of"), (np.full((3, 4), 2), r"Y\[0, 0\] is 2"),
        (np.zeros((3, 3)), "3 columns"),
        (np.zeros((2, 4)), "each event needs one"), (["a;b"] * 3, "label_separator"), ([{"z"}] * 3, "none of"),
        (None, "Y is missing"), ("tags", "no column 'tags'"), ([3, 4, 5], "set of labels"),
        ([{(1, 2)}] * 3, "a text or a"),
    ],
)  # fmt: skip
def test_label_sets_that_cannot_be_read_are_refused_and_nothing_begins(Y, message):
    clf = askance.make_multilabel("PAA-I", labels=["a", "b", "c", "d"], random_state=0)
    with pytest.raises(AskanceError, match=message):
        clf.run(np.ones((3, 2)), Y)
    assert not clf._has_begun


def test_answers_that_cannot_be_meant_are_refused():
    X, _ = stream(10)
    clf = askance.make_multilabel("PAA-I", labels=range(K), delta=1e6, random_state=0)
    with pytest.raises(InvalidInput, match="labels are not known"):
        askance.make_multilabel("PAA-I").ask(X[0])
    ticket = clf.ask(X[0])[0].ticket
    for arguments in ({"y": {0: True}}, {"x": X[0], "y": {9: True}}, {"x": X[0], "y": {0: "yes"}}, {"x": X[0]},
                      {"ticket": ticket, "y": 1}, {"x": X[0], "y": {0: True}, "weight": -1.0}):  # fmt: skip
        with pytest.raises(AskanceError):
            clf.tell(**arguments)
    assert not clf.coef_.any()
    with pytest.raises(AskanceError, match="named twice"):
        askance.make_multilabel("PAA-I", labels=["a", "a"])
    with pytest.raises(AskanceError, match="classes of each label"):
        askance.make_multilabel("PAA-I", classes=[0, 1])


def test_the_trace_of_one_label_and_the_sets_of_all_are_read_out():
    X, Y = stream()
    trace = askance.make_multilabel("SOAL-diag", labels=["a", "b", "c", "d"], random_state=0).run(X, Y)
    alone = trace.of("c")
    assert np.array_equal(alone.margin, trace.margin[:, 2])
    assert alone.summary()["accuracy"] == np.mean(trace.predicted[:, 2] == Y[:, 2])
    assert [len(each) for each in trace.predicted_sets()] == trace.predicted.sum(axis=1).tolist()
    assert json.dumps(trace.summary())
    assert repr(trace).startswith("MultiLabelTrace(150 events, 4 labels")


def test_a_list_within_a_list_of_labels_is_refused_in_a_sentence():
    clf = askance.make_multilabel("D-ADA", labels=["sports"])
    with pytest.raises(InvalidInput, match=r"y has the label \['sports'\]; a label is a text or a number"):
        clf.tell("a goal", [["sports"]])
    with pytest.raises(InvalidInput, match=r"Y\[0\] has the label \['x'\]"):
        askance.make_multilabel("D-ADA").run(["a b"] * 3, [[["x"]], ["y"], ["z"]])
    with pytest.raises(InvalidInput, match=r"Y\[1\] has the label \('x',\)"):
        askance.make_multilabel("D-ADA").run(["a b"] * 2, [["x"], {("x",): True}])
    with pytest.raises(InvalidParameter, match=r"a label is a text or a number"):
        askance.make_multilabel("D-ADA", labels=[["x"]])
