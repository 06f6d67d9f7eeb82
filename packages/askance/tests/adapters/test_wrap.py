"""Classifiers of scikit-learn under our rules: the same decisions as by the formula, and as by our own classifiers."""

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array, csr_matrix, dok_matrix
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.utils.estimator_checks import check_estimator

import askance
from askance.adapters.scored import margin_of
from askance.budgets import Fixed, PerPeriod, Rate
from askance.errors import ConflictingAnswer, IncompatibleRules, InvalidInput, InvalidParameter, InvalidType
from askance.queries import Always, AsymmetricMargin, Entropy, Margin, MistakeDrivenMargin, Random


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))[:160]
    return ((X - X.mean(axis=0)) / X.std(axis=0))[order], np.array(["ill", "well"])[y[order]]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:160] / 16.0, y[:160]


def play_one_by_one(clf, X, y, times=None):
    decisions = []
    for t, label in enumerate(y):
        decision = clf.ask(X[t : t + 1], time=None if times is None else times[t])
        decisions.append(decision)
        if decision.asked:
            clf.tell(ticket=decision.ticket, y=label)
    return decisions


def assert_same(trace, decisions):
    for name in ("margin", "probability", "asked", "audit"):
        assert getattr(trace, name).tolist() == [getattr(decision, name) for decision in decisions]
    assert trace.predicted.tolist() == [decision.label for decision in decisions]


# --- the decisions -----------------------------------------------------------------------------------------


def margin_by_hand(estimator, row):
    """Straight from the definition: the decision, or the logarithm of the odds; the best minus the second best."""
    if hasattr(estimator, "decision_function"):
        scores = estimator.decision_function(row)[0]
        return scores if np.ndim(scores) == 0 else np.subtract(*np.sort(scores)[[-1, -2]])
    chances = np.log(np.clip(estimator.predict_proba(row)[0], np.finfo(float).eps, None))
    return chances[1] - chances[0] if len(chances) == 2 else np.subtract(*np.sort(chances)[[-1, -2]])


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (SGDClassifier(random_state=0), "cancer"),
        (SGDClassifier(random_state=0), "digits"),
        (MultinomialNB(), "digits"),
        (MLPClassifier((8,), random_state=0), "cancer"),
    ],
    ids=str,
)
@pytest.mark.parametrize("explore", [0.0, 0.05])
def test_decisions_are_those_of_the_formula(estimator, name, explore, request):
    X, y = request.getfixturevalue(name)
    delta, limit = (30.0 if isinstance(estimator, SGDClassifier) else 1.0), 40
    clf = askance.wrap(estimator, Margin(delta), limit, random_state=3, explore=explore)
    trace = clf.run(X, y)

    rng, model, bought = np.random.default_rng(3), clone(estimator), 0
    for t in range(len(y)):
        margin = margin_by_hand(model, X[t : t + 1]) if bought else 0.0
        chance = max(explore, delta / (delta + abs(margin))) if bought < limit else 0.0
        is_asked = rng.random() < chance
        assert trace.margin[t] == margin
        assert trace.probability[t] == chance
        assert trace.asked[t] == is_asked
        assert trace.predicted[t] == (model.predict(X[t : t + 1])[0] if bought else np.unique(y)[0])
        if is_asked:
            model.partial_fit(X[t : t + 1], y[t : t + 1], classes=np.unique(y))
            bought += 1
    assert 10 < bought <= limit
    assert clf.labels_asked_ == bought
    assert clf.events_seen_ == len(y)


@pytest.mark.parametrize(
    ("budget", "name"),
    [(None, "cancer"), (PerPeriod(9, 50.0) & Fixed(40), "cancer"), (Rate(0.15), "cancer"), (Rate(0.15), "digits")],
    ids=str,
)
def test_a_wrapped_model_of_ours_decides_as_it_does_alone(budget, name, request):
    X, y = request.getfixturevalue(name)
    algorithm, times = ("PAA-I" if name == "cancer" else "MPAA-I"), np.arange(len(y))
    ours = askance.make(algorithm, budget=budget, delta=0.2, random_state=5, explore=0.01).run(X, y, times=times)
    wrapped = askance.wrap(askance.make(algorithm), Margin(0.2), budget, random_state=5, explore=0.01)
    trace = wrapped.run(X, y, times=times)
    for field in ("margin", "probability", "asked", "audit"):
        assert np.array_equal(getattr(trace, field), getattr(ours, field)), field
    assert trace.asked.sum() > 5


def test_weights_of_ours_are_those_of_a_weighted_rule(cancer):
    X, y = cancer
    ours = askance.make("PAA-I", budget=0.2, weighted=True, random_state=5)
    wrapped = askance.wrap(askance.make("PAA-I", weighted=True), Margin(), 0.2, weighted=True, random_state=5)
    trace, wanted = wrapped.run(X, y), ours.run(X, y)
    assert np.array_equal(trace.margin, wanted.margin)
    assert trace.probability[trace.asked].min() < 0.7


@pytest.mark.parametrize(
    ("query", "estimator", "name"),
    [
        (MistakeDrivenMargin(0.1), SGDClassifier(random_state=0), "cancer"),
        (AsymmetricMargin(0.5, 0.1), SGDClassifier(random_state=0), "cancer"),
        (MistakeDrivenMargin(0.1), GaussianNB(), "digits"),  # gives NaN as long as it knows one event of a class
    ],
    ids=str,
)
def test_run_chunks_and_ask_tell_are_the_same(query, estimator, name, request):
    X, y = request.getfixturevalue(name)
    y = y.astype(object)
    y[[7, 100]] = None
    known = [t for t in range(len(y)) if y[t] is not None]
    classes = sorted(set(y[known]))
    make = lambda: askance.wrap(estimator, query, 0.2, classes=classes, random_state=1, explore=0.02)  # noqa: E731
    whole, parts, single = make(), make(), make()
    trace = whole.run(X, y)
    bounds = [0, 1, 8, 130, len(y)]
    pieces = [(np.asfortranarray(X[a:b]), y[a:b]) for a, b in itertools.pairwise(bounds)]
    joined = parts.run(pieces)
    for field in ("margin", "probability", "asked", "audit", "predicted_index"):
        assert np.array_equal(getattr(joined, field), getattr(trace, field)), field
    assert_same(trace.labeled, play_one_by_one(single, X[known], y[known]))
    assert np.array_equal(whole.predict_proba(X), single.predict_proba(X))
    assert np.array_equal(whole.predict_proba(X), parts.predict_proba(X))
    assert not trace.asked[[7, 100]].any()


def test_sparse_rows_tables_and_lists_decide_alike(cancer):
    import pandas

    X, y = cancer
    X = np.round(X, 1)
    clf = askance.wrap(SGDClassifier(random_state=0), budget=0.2, random_state=0)
    dense, *others = [clone(clf).run(form, y) for form in (X, X.tolist(), pandas.DataFrame(X))]
    for other in others:
        assert np.array_equal(dense.margin, other.margin)
    sparse = [clone(clf).run(form, y) for form in (csr_matrix(X), csr_array(X), dok_matrix(X))]  # SGD learns it slower
    for other in sparse[1:]:
        assert np.array_equal(sparse[0].margin, other.margin)
    frame = pandas.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    one = clone(clf).set_params(classes=["ill", "well"])
    assert_same(dense, [_asked_and_told(one, frame.iloc[t : t + 1], y[t]) for t in range(len(y))])


def _asked_and_told(clf, x, label):
    decision = clf.ask(x)
    if decision.asked:
        clf.tell(x, label, weight=decision.weight)
    return decision


def test_texts_go_to_an_estimator_that_takes_texts():
    class Words(SGDClassifier):
        def partial_fit(self, X, y, **options):
            return super().partial_fit(HashingVectorizer(n_features=64).transform(X), y, **options)

        def decision_function(self, X):
            return super().decision_function(HashingVectorizer(n_features=64).transform(X))

    texts, labels = ["win a prize", "lunch at noon"] * 20, ["spam", "ham"] * 20
    clf = askance.wrap(Words(random_state=0), Always(), random_state=0)
    trace = clf.run(texts, labels)
    assert trace.predicted[-10:].tolist() == labels[-10:]
    assert clf.ask("win the prize").label == "spam"


def test_one_dict_is_an_event():
    rows = [{"words": 3.0, "prizes": k % 2} for k in range(40)]
    labels = ["spam" if row["prizes"] else "ham" for row in rows]
    told = [{**row, "label": label} for row, label in zip(rows, labels, strict=True)]

    class Fields(SGDClassifier):
        def partial_fit(self, X, y, **options):
            return super().partial_fit(FeatureHasher(64).transform(X), y, **options)

        def decision_function(self, X):
            return super().decision_function(FeatureHasher(64).transform(X))

    clf = askance.wrap(Fields(random_state=0), Always(), random_state=0)
    clf.partial_fit(rows[0], "ham", classes=["ham", "spam"])
    assert clf.predict(rows[1]).shape == (1,)
    in_batches = clone(clf).run((told[i : i + 7] for i in range(0, 40, 7)), "label")
    assert in_batches.predicted.tolist() == clone(clf).run(rows, labels).predicted.tolist()
    clf.run(rows, labels)
    for row, label in zip(rows[:2], labels[:2], strict=True):
        assert clf.predict(row).tolist() == [label]
        assert np.array_equal(clf.predict_proba(row), clf.predict_proba([row]))
    assert len(clf.run(told[0], "label")) == 1


def test_the_budget_holds_and_explore_draws_a_uniform_sample(cancer):
    X, y = cancer
    trace = askance.wrap(SGDClassifier(random_state=0), Always(), 25, random_state=0).run(X, y)
    assert trace.asked.sum() == 25
    sampled = askance.wrap(SGDClassifier(random_state=0), Margin(1e-9), random_state=0, explore=0.1).run(X, y)
    uniforms = np.random.default_rng(0).random(len(y))
    assert np.array_equal(sampled.audit, uniforms < 0.1)


def test_an_event_without_features_is_asked_like_any_other():
    clf = askance.wrap(MultinomialNB(), Always(), random_state=0)
    assert clf.run([[0.0, 0.0], [0.0, 1.0]], ["a", "b"]).asked.all()


# --- tickets -----------------------------------------------------------------------------------------------


def test_late_answers_are_learned_as_they_come_with_their_own_events(cancer):
    X, y = cancer
    clf = askance.wrap(SGDClassifier(random_state=0), Always(), classes=["ill", "well"], random_state=0)
    rows = [X[t].copy() for t in range(20)]
    tickets = []
    for row in rows:
        tickets.append(clf.ask(row).ticket)
        row[:] = np.nan  # what the caller does with it afterwards is no concern of the ticket
    assert clf.pending == tickets
    order = np.random.default_rng(1).permutation(20)
    for t in order:
        clf.tell(ticket=tickets[t], y=y[t])
    by_hand = SGDClassifier(random_state=0)
    for t in order:
        by_hand.partial_fit(X[t : t + 1], y[t : t + 1], classes=["ill", "well"])
    assert np.array_equal(clf.estimator_.coef_, by_hand.coef_)
    assert clf.pending == []
    assert clf._answer_to(tickets[3]) == y[3]


def test_an_answer_counts_once_and_another_only_to_replace_it(cancer):
    X, _ = cancer
    clf = askance.wrap(SGDClassifier(random_state=0), classes=["ill", "well"], random_state=0)
    ticket = clf.ask(X[0]).ticket
    clf.tell(ticket=ticket, y="ill").tell(ticket=ticket, y="ill")
    assert clf.estimator_.t_ == 2.0  # scikit-learn counts from 1
    with pytest.raises(ConflictingAnswer, match="was answered 'ill' before"):
        clf.tell(ticket=ticket, y="well")
    clf.tell(ticket=ticket, y="well", replace=True)
    assert clf.estimator_.t_ == 3.0
    assert clf._answer_to(ticket) == "well"
    with pytest.raises(LookupError, match="no open ticket 99"):
        clf.forget(99)


def test_dropped_tickets_take_their_events_with_them(cancer):
    X, _ = cancer
    clf = askance.wrap(SGDClassifier(), Always(), classes=[0, 1], random_state=0, max_pending=3)
    for row in X:
        clf.ask(row)
    assert len(clf.pending) == 3
    assert len(clf._decides._rows.waiting) <= 22
    none = askance.wrap(SGDClassifier(), Always(), classes=[0, 1], random_state=0, max_pending=0)
    assert none.ask(X[0]).ticket is None


def test_answers_are_estimated_by_a_monitor_and_traces_by_their_weights(cancer):
    X, y = cancer
    clf = askance.wrap(SGDClassifier(random_state=0), budget=0.3, random_state=0, explore=0.1, classes=["ill", "well"])
    monitor = askance.quality.Monitor(classes=["ill", "well"])
    for row, label in zip(X, y, strict=True):
        decision = clf.ask(row)
        monitor.event(
            decision.label, decision.probability, decision.asked, score=decision.margin, ticket=decision.ticket
        )
        if decision.asked:
            clf.tell(ticket=decision.ticket, y=label)
            monitor.answer(decision.ticket, label)
    trace = clone(clf).run(X, y)
    assert monitor.accuracy.value == pytest.approx(askance.quality.estimate(trace).accuracy.value, abs=1e-9)
    assert monitor.accuracy.low <= np.mean(trace.predicted == y) <= monitor.accuracy.high


def test_weighted_answers_come_with_one_over_their_probability(cancer):
    X, y = cancer
    clf = askance.wrap(SGDClassifier(random_state=0), Margin(5.0), weighted=True, random_state=0)
    trace = clf.run(X, y)
    by_hand = SGDClassifier(random_state=0)
    for t in np.flatnonzero(trace.asked):
        by_hand.partial_fit(X[t : t + 1], y[t : t + 1], ["ill", "well"], sample_weight=[1.0 / trace.probability[t]])
    assert np.array_equal(clf.estimator_.coef_, by_hand.coef_)
    late = clone(clf).set_params(classes=["ill", "well"])
    play_one_by_one(late, X, y)
    assert np.array_equal(late.estimator_.coef_, by_hand.coef_)


# --- scikit-learn's contract -------------------------------------------------------------------------------


def test_scikit_learns_checks_pass():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(askance.wrap(SGDClassifier(random_state=0), random_state=0), on_fail=None)
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []


def test_given_labels_are_passed_on_and_leave_the_decisions_alone(cancer):
    X, y = cancer
    clf = askance.wrap(SGDClassifier(random_state=0), budget=0.2, random_state=0).partial_fit(X[:50], y[:50])
    assert clf.events_seen_ == clf.labels_asked_ == 0
    alone = SGDClassifier(random_state=0).partial_fit(X[:50], y[:50], classes=["ill", "well"])
    assert np.array_equal(clf.decision_function(X), alone.decision_function(X))
    assert np.array_equal(clf.predict(X), alone.predict(X))
    chances = clf.predict_proba(X)
    assert np.allclose(chances.sum(axis=1), 1.0)
    assert np.mean((chances[:, 1] > 0.5) == (alone.decision_function(X) > 0.0)) > 0.95


def test_a_fitted_estimator_goes_on_and_the_users_stays_as_it_is(cancer):
    X, y = cancer
    mine = SGDClassifier(random_state=0).partial_fit(X[:50], y[:50], classes=["ill", "well"])
    before = mine.coef_.copy()
    clf = askance.wrap(mine, random_state=0)
    assert clf.ask(X[60]).margin == mine.decision_function(X[60:61])[0]
    clf.tell(X[60], y[60])
    assert clf.estimator_.t_ == mine.t_ + 1
    assert np.array_equal(mine.coef_, before)
    with pytest.raises(InvalidInput, match=r"was fitted to the classes \['ill', 'well'\]"):
        askance.wrap(mine, classes=[0, 1]).ask(X[0])


def test_pickles_and_clones_go_on_alike(cancer):
    X, y = cancer
    clf = askance.wrap(SGDClassifier(random_state=0), budget=0.3, random_state=0)
    clf.run(X[:100], y[:100])
    ticket = next(t for t in (clf.ask(row).ticket for row in X[100:]) if t is not None)
    again = pickle.loads(pickle.dumps(clf))
    for one in (clf, again):
        one.tell(ticket=ticket, y="ill")
    assert np.array_equal(clf.run(X, y).margin, again.run(X, y).margin)
    assert not hasattr(clone(clf), "estimator_")


def test_changed_parameters_take_effect_with_the_next_call(cancer):
    X, y = cancer
    clf = askance.wrap(SGDClassifier(random_state=0), Always(), 10, random_state=0)
    clf.run(X[:50], y[:50])
    clf.set_params(budget=30)
    assert clf.run(X[50:100], y[50:100]).asked.sum() == 20
    clf.set_params(query=Random(0.5), budget=None, estimator__alpha=0.1)
    assert set(clf.run(X, y).probability) == {0.5}


# --- what is refused ---------------------------------------------------------------------------------------


class Silent:
    def partial_fit(self, X, y, classes=None): ...

    def predict(self, X): ...


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (
            (LogisticRegression(),),
            InvalidType,
            "LogisticRegression has no partial_fit; wrap one that learns event by event",
        ),
        ((SGDClassifier,), InvalidType, r"got the class SGDClassifier; write SGDClassifier\(\)"),
        ((Silent(),), InvalidType, "Silent has neither decision_function nor predict_proba"),
        (
            (SGDClassifier(), Entropy()),
            IncompatibleRules,
            "Entropy reads the variance of a margin, which a wrapped SGD",
        ),
        ((SGDClassifier(), "margin"), InvalidType, "query must be a query rule"),
        ((SGDClassifier(), None, 1.5), InvalidParameter, "budget=1.5 is neither"),
    ],
)
def test_what_cannot_work_is_refused_at_once(arguments, error, words):
    with pytest.raises(error, match=words):
        askance.wrap(*arguments)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"weighted": "yes"}, InvalidType, "weighted must be True or False"),
        ({"classes": ["one"]}, InvalidInput, "there is only one class, 'one'"),
        ({"random_state": "x"}, InvalidParameter, "random_state must be"),
        ({"explore": 2.0}, InvalidParameter, "explore must be a share"),
        ({"max_pending": -1}, InvalidParameter, "max_pending must be a whole number"),
    ],
    ids=str,
)
def test_wrong_settings_are_refused_at_once(settings, error, words):
    with pytest.raises(error, match=words):
        askance.wrap(SGDClassifier(), **settings)


class Weightless(GaussianNB):
    def partial_fit(self, X, y, classes=None):
        return super().partial_fit(X, y, classes)


def test_weights_for_an_estimator_without_them_are_refused(cancer):
    with pytest.raises(InvalidParameter, match="partial_fit of Weightless takes no sample_weight"):
        askance.wrap(Weightless(), weighted=True)
    with pytest.raises(InvalidParameter, match="takes no sample_weight"):
        askance.wrap(Weightless()).partial_fit(*cancer, sample_weight=np.ones(160))


def test_bad_input_is_refused_and_changes_nothing(cancer, tmp_path):
    X, y = cancer
    clf = askance.wrap(SGDClassifier(random_state=0), Always(), random_state=0)
    with pytest.raises(InvalidInput, match="the classes are not known before the first label"):
        clf.ask(X[0])
    with pytest.raises(InvalidInput, match=r"X has shape \(30,\)"):
        clf.run(X[0], y[:1])
    with pytest.raises(InvalidInput, match="3 events and y has 2 labels"):
        clf.run(X[:3], y[:2])
    with pytest.raises(AttributeError):
        clf.classes_  # noqa: B018
    clf.run(X[:30], y[:30])
    with pytest.raises(InvalidInput, match="is 'dead', which is not one of the classes"):
        clf.tell(X[0], "dead")
    with pytest.raises(InvalidInput, match="one event is a flat list"):
        clf.ask(X[:2])
    with pytest.raises(InvalidType, match="cannot be saved to a model file, which holds no pickle"):
        clf.save(tmp_path / "m.model")
    assert clf.events_seen_ == 30


def test_an_event_at_which_the_estimator_fails_is_not_counted_and_takes_no_random_number(cancer):
    X, y = cancer
    clf, unharmed = (askance.wrap(SGDClassifier(random_state=0), budget=0.3, random_state=0) for _ in range(2))
    spoilt = X.copy()
    spoilt[40, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        clf.run(spoilt, y)
    assert clf.events_seen_ == 40
    assert_same(unharmed.run(X, y).labeled, [*_decisions(unharmed_first(X, y)), *_decisions(clf.run(X[40:], y[40:]))])


def unharmed_first(X, y):
    clf = askance.wrap(SGDClassifier(random_state=0), budget=0.3, random_state=0, classes=["ill", "well"])
    return clf.run(X[:40], y[:40])


def _decisions(trace):
    names = ("predicted", "margin", "probability", "asked", "audit")
    rows = zip(*(getattr(trace, name).tolist() for name in names), strict=True)
    return [
        askance.Decision(label, margin, chance, asked, 0.0, None, audit) for label, margin, chance, asked, audit in rows
    ]


@pytest.mark.parametrize(
    ("scores", "margin"),
    [([2.5], 2.5), ([1.0, -2.0], -3.0), ([0.0, 5.0, 3.0], 2.0), ([np.nan], 0.0), ([np.inf, np.inf, 1.0], 0.0)],
)
def test_the_margin_of_odd_scores(scores, margin):
    assert margin_of(np.array(scores)) == margin
    assert np.isfinite(margin_of(np.array([np.inf])))
    assert np.isfinite(margin_of(np.array([-np.inf, 0.0, 1.0, np.inf])))


# --- labels by the name of their column -------------------------------------------------------------------


def by_margin():
    return askance.wrap(SGDClassifier(random_state=0), query=Margin(), random_state=0)


def test_the_labels_may_be_a_column_of_the_table_or_a_field_of_the_dicts(cancer):
    X, y = cancer
    table = pd.DataFrame(X[:200], columns=[f"x{k}" for k in range(X.shape[1])])
    expected = by_margin().run(table, y[:200])
    with_label = table.assign(truth=y[:200])
    for labeled in (with_label, pl.from_pandas(with_label)):
        trace = by_margin().run(labeled, "truth")
        assert np.array_equal(trace.asked, expected.asked)
        assert np.array_equal(trace.margin, expected.margin)
    assert np.array_equal(
        by_margin().fit(with_label, "truth").predict(table), by_margin().fit(table, y[:200]).predict(table)
    )


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        (np.eye(4), "label", "y is 'label', but X has no named columns; pass the labels themselves."),
        (pd.DataFrame({"a": [1, 2]}), "label", "X has no column 'label' to be the label; there are: a."),
        (["win a prize", "lunch"], "label", "y is 'label', but X has no named columns; pass the labels themselves."),
        (["win a prize", "lunch"] * 9, [0, 1] * 9, "SGDClassifier learns from numbers, and X has words such as 'win"),
    ],
)
def test_what_an_estimator_of_numbers_cannot_take_is_said_in_a_sentence(X, y, sentence):
    with pytest.raises(InvalidInput) as raised:
        by_margin().run(X, y)
    assert str(raised.value).startswith(sentence)


@pytest.mark.parametrize(
    ("event", "found"), [({"a": 1.0, "b": 0.0}, "dicts"), ([{"a": 1.0, "b": 0.0}], "dicts"), (["win a prize"], "texts")]
)
@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_an_estimator_of_numbers_says_that_it_takes_no_dicts_and_no_texts(method, event, found):
    clf = by_margin().fit(np.eye(2), ["x", "y"])
    with pytest.raises(InvalidInput) as raised:
        getattr(clf, method)(event)
    assert str(raised.value) == (
        f"SGDClassifier learns from rows of numbers, and X has {found}; pass a table or an array, or use askance.make, "
        "which takes them."
    )
