"""What mistakes cost: how it is written, and what it does to D-ADA and D-AMD."""

from dataclasses import dataclass

import numpy as np
import pytest
from tests import oracle
from tests import real_data as data
from tests.oracle import queries as q
from tests.oracle import updates as u

import askance
from askance.errors import InvalidParameter
from askance.evaluate.costs import cost_matrix, relative_costs
from askance.learner.auto.rule import Committee
from askance.rules import finite
from askance.updates import MirrorDescent

NAMES = ["fraud", "ok", "spam"]
MATRIX = [[0, 9, 5], [1, 0, 1], [2, 1, 0]]
BY_NAME = {"fraud": {"ok": 9, "spam": 5}, "spam": {"fraud": 2}}
RULES = {
    "MD-ADA": (u.Costly, u.CostlyOfTwo),
    "MD-AMD": (u.CostlyMirrorDescent, u.CostlyMirrorDescentOfTwo),
}


def some_costs(k):
    C = np.exp(np.random.default_rng(3).normal(size=(k, k)))
    np.fill_diagonal(C, 0.0)
    return C


def assert_same(trace, clf, truth):
    np.testing.assert_array_equal(trace.predicted, truth.predicted)
    np.testing.assert_array_equal(trace.asked, truth.asked)
    np.testing.assert_allclose(trace.probability, truth.probability, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(clf.coef_, truth.coef, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(("data_set", "cut"), [("digits", {"rows": 600}), ("wine", {"standardize": True})])
def test_many_classes_learn_from_their_costs_as_the_formula_says(name, data_set, cut):
    X, y = data.sample(data_set, **{"rows": 178} | cut)
    C = some_costs(len(np.unique(y)))
    options = {"eta": 0.5, "delta": 0.3, "b": 0.5, "normalize": "l2"}
    clf = askance.make(name, costs=C, classes=np.unique(y), random_state=7, **options)
    truth = oracle.run((RULES[name][0], q.discriminative), X, y, seed=7, C=C, **options)
    assert_same(clf.run(X, y), clf, truth)


@pytest.mark.parametrize("name", RULES)
def test_two_classes_learn_from_their_costs_as_the_formula_says(name):
    X, y = data.sample("breast_cancer", rows=569, standardize=True)
    options = {"eta": 0.5, "delta": 0.3, "b": 0.5, "normalize": "l2"}
    clf = askance.make(name[1:], costs={"fn": 9, "fp": 2}, classes=np.unique(y), random_state=7, **options)
    truth = oracle.run((RULES[name][1], q.discriminative), X, y, seed=7, missed=9, false_alarm=2, **options)
    assert_same(clf.run(X, y), clf, truth)


@pytest.mark.parametrize("name", ["D-ADA", "D-AMD"])
def test_equal_costs_change_nothing(name):
    X, y = data.sample("digits", rows=300)
    traces = [askance.make(name, random_state=0, **costs).run(X, y) for costs in ({}, {"costs": 7 - 7 * np.eye(10)})]
    np.testing.assert_array_equal(traces[0].asked, traces[1].asked)
    np.testing.assert_array_equal(traces[0].margin, traces[1].margin)


@dataclass
class Renamed(MirrorDescent):
    """A rule of a user's, with one more parameter than the rule it is made of."""

    note: float = finite(3.0)


@pytest.mark.parametrize("costs", [None, MATRIX])
def test_a_rule_made_from_this_one_may_have_more_parameters(costs):
    X, y = data.sample("wine", rows=178, standardize=True)
    traces = [
        askance.ActiveClassifier(rule(costs=costs), askance.queries.Always()).run(X, y)
        for rule in (MirrorDescent, Renamed)
    ]
    np.testing.assert_array_equal(traces[0].margin, traces[1].margin)


def test_runs_single_events_and_a_saved_model_agree(tmp_path):
    X, y = data.sample("digits", rows=120)
    labels = np.array(NAMES)[y % 3]
    whole, single = (askance.make("D-ADA", costs=BY_NAME, classes=NAMES, random_state=1) for _ in range(2))
    whole.run(X, labels)
    for place, (x, label) in enumerate(zip(X, labels, strict=True)):
        if place == 60:
            single.save(tmp_path / "model")
            single = askance.load(tmp_path / "model")
        decision = single.ask(x)
        if decision.asked:
            single.tell(ticket=decision.ticket, y=label)
    np.testing.assert_array_equal(whole.coef_, single.coef_)
    assert single.costs == BY_NAME


def test_a_matrix_comes_back_from_a_file(tmp_path):
    clf = askance.make("D-AMD", costs=np.array(MATRIX), random_state=1).partial_fit(np.eye(3), NAMES)
    clf.save(tmp_path / "model")
    assert askance.load(tmp_path / "model").partial_fit(np.eye(3), NAMES).costs == MATRIX


def test_names_and_matrix_say_the_same():
    np.testing.assert_array_equal(cost_matrix(BY_NAME, NAMES), MATRIX)
    np.testing.assert_array_equal(cost_matrix({1: {0: 4}}, np.array([0, 1])), [[0, 1], [4, 0]])
    np.testing.assert_array_equal(relative_costs([[0, 4], [2, 0]], [0, 1]), [[0, 2], [1, 0]])


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ({"fraud": {"good": 9}}, "costs name 'good', which is not one of the classes fraud, ok, spam"),
        ({"fraud": {"fraud": 9}}, "predicted as itself"),
        ({"fn": 9, "fp": 1}, "for two classes and there are 3"),
        ([[0, 1], [1, 0]], "2 rows and there are 3 classes"),
        ([[0, 1, 1], [1, 0, -1], [1, 1, 0]], "above 0"),
        ([[1, 1, 1], [1, 0, 1], [1, 1, 0]], "0 where the prediction is right"),
        ({"fraud": 9}, "numbers above 0, written"),
        ({}, "numbers above 0, written"),
        (9, "numbers above 0, written"),
    ],
)
def test_costs_that_cannot_work_are_refused_before_the_first_event(costs, said):
    with pytest.raises(InvalidParameter, match=said):
        askance.make("D-ADA", costs=costs, classes=NAMES)


def test_a_matrix_beside_classes_in_another_order_is_refused():
    with pytest.raises(InvalidParameter, match="in the order fraud, ok, spam"):
        askance.make("D-ADA", costs=MATRIX, classes=["ok", "spam", "fraud"])


def test_other_algorithms_say_that_they_have_no_costs():
    with pytest.raises(InvalidParameter, match="PAA-I has no parameter 'costs'"):
        askance.make("PAA-I", costs=MATRIX)


def test_the_cost_of_a_run_is_the_sum_over_its_mistakes():
    X, y = data.sample("digits", rows=300)
    labels = np.array(NAMES)[y % 3]
    trace = askance.make("D-ADA", costs=BY_NAME, random_state=0).run(X, labels)
    by_hand = sum(np.array(MATRIX)[trace.truth_index, trace.predicted_index])
    assert by_hand > 0
    assert trace.summary(costs=BY_NAME)["cost"] == by_hand
    assert trace.curve("cost", costs=BY_NAME).values[-1] == by_hand
    assert "cost" not in trace.summary()


def test_auto_weighs_each_of_many_classes_by_what_missing_it_costs():
    missing_it = np.array(MATRIX).sum(axis=1)
    weights = Committee(objective="cost", costs=MATRIX).parameters_for(np.array(NAMES))[-3:]
    np.testing.assert_allclose(weights, 3 * missing_it / missing_it.sum())


def test_auto_with_mistakes_that_all_cost_the_same_aims_at_accuracy():
    X, y = data.sample("wine", rows=178)
    aims = {"costs": 4 - 4 * np.eye(3)}, {"objective": "accuracy"}
    equal, accuracy = (askance.make("auto", random_state=0, **aim).run(X, y) for aim in aims)
    np.testing.assert_array_equal(equal.margin, accuracy.margin)
    np.testing.assert_array_equal(equal.asked, accuracy.asked)
