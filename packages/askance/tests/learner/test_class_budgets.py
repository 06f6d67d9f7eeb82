"""Budgets that see the prediction: at most so many labels of each predicted class."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import askance
from askance.budgets import Budget, Fixed, PerPeriod, PerPredictedClass, Rate, Unlimited
from askance.errors import InvalidParameter, ModelFileError
from askance.learner.auto import DecayingRate

DAY = 86_400.0
FIELDS = ("predicted", "margin", "probability", "asked", "audit")
COMBINED = [
    PerPredictedClass(12),
    Fixed(40) & PerPredictedClass(12),
    PerPredictedClass(12) & Rate(0.3),
    Rate(0.2) & PerPredictedClass(12) & PerPeriod(20, "1d"),
]


def a_stream(n=900, classes=2, seed=100):
    """Blobs; the first class is the most frequent, the last one rare."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n, p=np.arange(classes, 0, -1) / np.arange(classes, 0, -1).sum())
    X = rng.normal(size=(n, 6)) + 1.5 * rng.normal(size=(classes, 6))[y]
    return X, y, np.sort(rng.uniform(0, 4 * DAY, n))


def asked_by_class(trace, classes):
    return np.bincount(np.asarray(trace.predicted)[trace.asked], minlength=classes)


@pytest.mark.parametrize("name", [row["name"] for row in askance.algorithms()])
def test_no_class_gets_more_labels_with_any_algorithm(name):
    classes = 3 if name.startswith("M") else 2
    X, y, _ = a_stream(400, classes)
    budget = PerPredictedClass(9)
    for explore in (0.0, 0.3):
        clf = askance.make(name, budget=budget, classes=range(classes), explore=explore, random_state=1)
        trace = clf.run(X, y)
        asked = asked_by_class(trace, classes)
        assert asked.max() <= 9
        assert asked.tolist() == clf._labels_asked_by_class
    assert asked.max() == 9  # explored, some class has had all of its labels


@pytest.mark.parametrize("budget", COMBINED, ids=Budget.describe)
@pytest.mark.parametrize("name", ["PAA-I", "SOAL-diag", "UOAL-entropy", "MD-ADA", "auto"])
def test_calls_of_any_size_asking_one_by_one_and_saving_decide_the_same(name, budget, tmp_path):
    classes = 4 if name in ("MD-ADA", "auto") else 2
    X, y, times = a_stream(500, classes)

    def make():
        return askance.make(name, budget=budget, classes=range(classes), explore=0.005, random_state=7)

    whole = make().run(X, y, times=times)
    most = asked_by_class(whole, classes).max()
    assert most == 12 or (most < 12 and budget.max_labels() == 40 and name == "auto")  # it spreads a number
    clf, parts = make(), []
    for place, which in enumerate(np.array_split(np.arange(len(y)), [1, 2, 40, 41, 233])):
        parts.append(clf.run(X[which], y[which], times=times[which]))
        if place % 2:
            clf = pickle.loads(pickle.dumps(clf))
        else:
            clf.save(tmp_path / "model")
            clf = askance.load(tmp_path / "model")
    for field in FIELDS:
        assert np.array_equal(getattr(whole, field), np.concatenate([getattr(part, field) for part in parts]))
    clf = make()
    for t in range(len(y)):
        decision = clf.ask(X[t], time=times[t])
        assert [decision.label, decision.margin, decision.probability, decision.asked, decision.audit] == [
            getattr(whole, field)[t] for field in FIELDS
        ]
        if decision.asked:
            clf.tell(ticket=decision.ticket, y=y[t])


@pytest.mark.parametrize("classes", [2, 4])
def test_the_ceiling_holds_with_late_answers_and_with_none(classes):
    X, y, _ = a_stream(600, classes)
    for answers in (True, False):
        clf = askance.make("auto", budget=PerPredictedClass(12), classes=range(classes), random_state=0)
        asked, waiting = np.zeros(classes, int), []
        for x, label in zip(X, y, strict=True):
            decision = clf.ask(x, explore=0.5)
            if decision.asked:
                asked[decision.label] += 1
                waiting.append((decision.ticket, label))
            if answers and len(waiting) > 20:
                ticket, late = waiting.pop(0)
                clf.tell(ticket=ticket, y=late)
        assert asked.max() == 12
        assert asked.tolist() == clf._labels_asked_by_class


@pytest.mark.parametrize("name", ["PAA-I", "SOAL", "auto"])
@pytest.mark.parametrize("budget", [PerPredictedClass(25), Rate(0.2) & PerPredictedClass(25)], ids=Budget.describe)
def test_workers_decide_the_same_whatever_their_number(name, budget):
    X, y, _ = a_stream(1500)
    one, three = (
        askance.make(name, budget=budget, classes=[0, 1], explore=0.01, random_state=2).run(X, y, workers=workers)
        for workers in (1, 3)
    )
    for field in FIELDS:
        assert np.array_equal(getattr(one, field), getattr(three, field))
    assert asked_by_class(one, 2).max() == 25


def perceptron_with_a_limit_by_class(X, y, n, delta, limit, explore, seed):
    """PEA in dense NumPy, one line for the budget."""
    uniforms = np.random.default_rng(seed).random(len(X))
    w, asked, decisions = np.zeros(X.shape[1]), {-1: 0, 1: 0}, []
    for x, label, u in zip(X, y, uniforms, strict=True):
        margin = w @ x
        predicted = 1 if margin >= 0 else -1
        may_be_asked = asked[predicted] < n and sum(asked.values()) < limit
        chance = max(explore, delta / (delta + abs(margin))) if may_be_asked else 0.0
        decisions.append((predicted, chance, u < chance))
        if u < chance:
            asked[predicted] += 1
            if label != predicted:
                w = w + label * x
    return decisions


@pytest.mark.parametrize("limit", [70, 10_000])
def test_it_decides_as_the_page_says(limit):
    X, y, _ = a_stream(700)
    y = 2 * y - 1
    clf = askance.make(
        "PEA", delta=2.0, budget=PerPredictedClass(40) & limit, classes=[-1, 1], explore=0.05, random_state=3
    )
    trace = clf.run(X, y)
    expected = perceptron_with_a_limit_by_class(X, y, 40, 2.0, limit, 0.05, seed=3)
    assert trace.predicted.tolist() == [predicted for predicted, _, _ in expected]
    assert trace.asked.tolist() == [asked for _, _, asked in expected]
    assert trace.probability == pytest.approx([chance for _, chance, _ in expected], rel=1e-9)
    assert np.bincount((trace.predicted[trace.asked] + 1) // 2).max() == 40 or limit == 70


def test_a_rate_goes_to_the_classes_that_are_left():
    X, y, _ = a_stream(20_000, 3)
    trace = askance.make("MPAA-I", budget=Rate(0.05) & PerPredictedClass(400), random_state=0).run(X, y)
    alone = askance.make("MPAA-I", budget=Rate(0.05), random_state=0).run(X, y)
    limited, free = asked_by_class(trace, 3), asked_by_class(alone, 3)
    assert (np.cumsum(trace.asked) <= np.maximum(0.05 * np.arange(1, 20_001), 10 + 0.048 * np.arange(1, 20_001))).all()
    assert limited.max() == 400 < free.max()
    assert limited.sum() == pytest.approx(free.sum(), rel=0.05)


def test_auto_spreads_a_number_beside_it_as_it_spreads_a_number():
    budget = askance.make("auto", budget=Fixed(300) & PerPredictedClass(10**6)).budget
    assert budget == DecayingRate(300) & PerPredictedClass(10**6)
    X, y, _ = a_stream(800)
    limited, alone = (askance.make("auto", budget=b, random_state=0).run(X, y) for b in (budget, 300))
    assert np.array_equal(limited.probability, alone.probability)


@pytest.mark.parametrize("budget", [None, 200, 0.1, Rate(0.1, burst=40, front_load=True), Rate(0.1) & 300])
def test_a_limit_that_is_never_met_changes_nothing(budget):
    X, y, _ = a_stream()
    alone = askance.make("SOAL-diag", budget=budget, random_state=0).run(X, y)
    both = PerPredictedClass(10**6) if budget is None else PerPredictedClass(10**6) & budget
    beside = askance.make("SOAL-diag", budget=both, random_state=0).run(X, y)
    for field in FIELDS:
        assert np.array_equal(getattr(alone, field), getattr(beside, field))


def test_two_of_them_are_the_smaller_one():
    first, second = PerPredictedClass(5) & PerPredictedClass(9), PerPredictedClass(9) & Unlimited()
    assert first.class_ceilings(np.array(["a", "b", "c"])).tolist() == [5, 5, 5]
    assert second.class_ceilings(np.array(["a", "b"])).tolist() == [9, 9]
    assert (first & second).describe().count("of each predicted class") == 3
    assert not (first & second).sets_pace


def test_a_budget_set_in_mid_stream_counts_all_labels_so_far():
    X, y, _ = a_stream()
    clf = askance.make("PAA-I", classes=[0, 1], random_state=0)
    before = asked_by_class(clf.run(X[:400], y[:400]), 2)
    clf.set_params(budget=PerPredictedClass(int(before.max())))
    assert clf.run(X[400:], y[400:]).asked.sum() <= before.max() - before.min()
    clf.set_params(budget__n=int(before.max()) + 3)
    assert clf.run(X, y).asked.any()
    assert max(clf._labels_asked_by_class) == before.max() + 3


def test_fit_begins_to_count_again():
    X, y, _ = a_stream(300)
    clf = askance.make("PAA-I", budget=PerPredictedClass(5), random_state=0)
    clf.run(X, y)
    assert max(clf._labels_asked_by_class) == 5
    assert clf.fit(X[:20], y[:20])._labels_asked_by_class == [0, 0]


@pytest.mark.parametrize("name", ["counts", "asked_by_class", "budget_state"])
def test_the_budget_state_is_kept_by_name(name, tmp_path):
    X, y, _ = a_stream(300)
    clf = askance.make("PAA-I", budget=Rate(0.2) & PerPredictedClass(9), random_state=0)
    clf.run(X, y)
    clf.save(tmp_path / "model")
    _, arrays = askance.learner.files.read(tmp_path / "model", askance.ActiveClassifier)
    assert arrays["counts"]["seen"] == 300
    assert arrays["budget_state"]["steering"]["scale"] > 0.0
    again = copy.deepcopy(clf)
    again._engine.budget_state.budget[:] = np.nan
    from askance.learner.budget_state import name_budget_state, restore_by_name

    backwards = arrays["budget_state"][["constraints", "steering"]]
    restore_by_name(name_budget_state(again._engine.budget_state.budget), backwards)
    assert np.array_equal(again._engine.budget_state.budget, clf._engine.budget_state.budget, equal_nan=True)
    with pytest.raises((ValueError, ModelFileError), match="of shape"):
        askance.learner.model_fields.restore_budget_state(clf._engine, {**arrays, name: arrays[name][:0]})


# --- a kind more ---------------------------------------------------------------------------------------------------


@dataclass
class FirstClassOnly(Budget):
    """Labels only of events that are predicted as the first class."""

    reads_prediction: ClassVar = True

    def class_ceilings(self, classes: np.ndarray) -> np.ndarray:
        return np.where(classes == classes[0], 2**62, 0)


def test_another_kind_is_a_dataclass():
    X, y, _ = a_stream(500, 3)
    trace = askance.make("MPAA-I", budget=Rate(0.1) & FirstClassOnly(), random_state=0).run(X, y)
    assert trace.asked.sum() > 30
    assert (trace.predicted[trace.asked] == 0).all()
    assert (trace.probability[trace.predicted != 0] == 0.0).all()


# --- what is refused -----------------------------------------------------------------------------------------------


def test_what_it_cannot_limit_is_refused():
    with pytest.raises(InvalidParameter, match="PerPredictedClass: n must be a whole number of 0 or more, got -1"):
        PerPredictedClass(-1)
    with pytest.raises(InvalidParameter, match="limit the answers by a number, a share or a number a period"):
        askance.make_multilabel("PAA-I", labels=["a", "b"], budget=PerPredictedClass(5))


def test_strategies_of_scikit_activeml_refuse_it():
    pytest.importorskip("skactiveml")
    from askance.adapters.skactiveml import budget_of

    with pytest.raises(InvalidParameter, match="which a strategy here lacks; use a number or a share"):
        budget_of(Rate(0.1) & PerPredictedClass(5))


def test_classes_that_river_meets_as_they_come_get_their_labels():
    pytest.importorskip("river")
    from river import naive_bayes

    from askance.adapters.river import QuerySampler

    X, y, _ = a_stream(400, 5)
    model = QuerySampler(naive_bayes.GaussianNB(), budget=PerPredictedClass(7), explore=0.5, seed=0)
    asked = dict.fromkeys([None, *range(5)], 0)
    for x, label in zip(X, y, strict=True):
        event = dict(enumerate(x.tolist()))
        decision = model.ask(event)
        if decision.asked:
            asked[decision.label] += 1
        model.learn_one(event, int(label))
    known = model._stream.classes_.tolist()
    assert dict(zip(known, model._stream._labels_asked_by_class, strict=True)) == asked
    assert max(asked.values()) == 7
    assert sum(count == 7 for count in asked.values()) >= 3
