"""Importance weights: one update of weight three is three updates, and none overshoots."""

import numpy as np
import pytest

import askance
from askance import updates as u

RULES = [
    u.Perceptron(weighted=True),
    u.PassiveAggressive(weighted=True),
    u.PassiveAggressive1(C=0.1, weighted=True),
    u.PassiveAggressive2(C=0.1, weighted=True),
    u.CostSensitivePassiveAggressive(C=0.1, rho=3.0, weighted=True),
    u.PredictionBasedPassiveAggressive(C=0.1, rho=2.0, weighted=True),
    u.UnevenMarginPerceptron(eta=0.1, weighted=True),
    u.SecondOrderPerceptron(weighted=True),
    u.SecondOrderPerceptronDiagonal(weighted=True),
    u.ConfidenceWeighted(weighted=True),
    u.AdaptiveRegularization(eta=0.2, weighted=True),
    u.AdaptiveRegularizationDiagonal(eta=0.2, weighted=True),
    u.AsymmetricAdaptive(eta=0.2, rho=2.0, weighted=True),
    u.AsymmetricAdaptiveDiagonal(eta=0.2, rho=2.0, weighted=True),
    u.AsymmetricAdaptiveSketched(eta=0.2, weighted=True),
    u.AsymmetricAdaptiveSparseSketched(eta=0.2, weighted=True),
    u.DualAveraging(eta=0.1, weighted=True),
    u.MirrorDescent(eta=0.1, weighted=True),
    u.CostSensitiveAdaptive(eta=0.2, rho=2.0, weighted=True),
    u.AsymmetricAdaptiveBlockSketched(eta=0.2, weighted=True),
    u.ProbitFull(weighted=True),
    u.Probit(weighted=True),
]
STOPPING = RULES[:-2]  # Probit goes on, ever more slowly
MANY = [u.Perceptron(weighted=True), u.PassiveAggressive1(C=0.05, weighted=True), u.DualAveraging(0.1, weighted=True)]


def named(rule):
    return type(rule).__name__


def trained(rule, classes=(0, 1), n=60):
    rng = np.random.default_rng(0)
    clf = askance.ActiveClassifier(update=rule, classes=list(classes), n_features=6)
    for _ in range(n):
        clf.tell(rng.normal(size=6), rng.integers(len(classes)))
    return clf


def x_and_answer(seed=1, n_classes=2):
    rng = np.random.default_rng(seed)
    return rng.normal(size=6), int(rng.integers(n_classes))


def test_every_update_rule_can_be_weighted():
    from askance.learner.update import __all__ as everything

    elsewhere = {
        "Probit",
        "RandomFourier",
        "PairwiseAdaptiveDiagonal",
    }  # weighted in a way of their own, with tests of it
    assert set(everything) == {named(rule) for rule in RULES} | elsewhere


@pytest.mark.parametrize("rule", RULES, ids=named)
@pytest.mark.parametrize("seed", range(5))
def test_a_weight_of_three_is_three_answers(rule, seed):
    one, three = trained(rule), trained(rule)
    x, answer = x_and_answer(seed)
    one.tell(x, answer, weight=3.0)
    for _ in range(3):
        three.tell(x, answer, weight=1.0)
    assert np.allclose(one.coef_, three.coef_, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rule", MANY, ids=named)
def test_a_weight_of_three_is_three_answers_with_many_classes(rule):
    for seed in range(8):
        one, three = trained(rule, range(4)), trained(rule, range(4))
        x, answer = x_and_answer(seed, 4)
        one.tell(x, answer, weight=3.0)
        for _ in range(3):
            three.tell(x, answer)
        assert np.array_equal(one.coef_, three.coef_)


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_a_weight_of_one_is_the_printed_update(rule):
    weighted, printed = trained(rule), trained(type(rule)(**{**rule.get_params(), "weighted": False}))
    assert np.array_equal(weighted.coef_, printed.coef_)


@pytest.mark.parametrize("rule", STOPPING, ids=named)
def test_large_weights_move_further_but_not_beyond_what_one_update_may(rule):
    """Towards the answer, more for more weight; and never past where the rule itself would stop."""
    for seed in range(4):
        x, answer = x_and_answer(seed)
        towards = 1 if answer == 1 else -1
        margins = []
        for weight in (0.25, 1.0, 2.5, 30.0, 1000.0):
            clf = trained(rule)
            before = towards * clf.decision_function([x])[0]
            clf.tell(x, answer, weight=weight)
            margins.append(towards * clf.decision_function([x])[0])
        assert np.all(np.diff([before, *margins]) >= -1e-9)
        clf = trained(rule)
        unit = 0.0
        for _ in range(1000):
            last = towards * clf.decision_function([x])[0]
            clf.tell(x, answer)
            unit = max(unit, towards * clf.decision_function([x])[0] - last)
        goal = 3.0 if named(rule).startswith("CostSensitive") else 1.0
        assert margins[-1] <= max(before, goal + unit) + 1e-9


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_a_small_weight_is_a_part_of_an_update(rule):
    x, answer = x_and_answer(2)
    start = trained(rule)
    whole, half = trained(rule), trained(rule)
    whole.tell(x, answer, weight=1.0)
    half.tell(x, answer, weight=0.5)
    moved, halfway = np.linalg.norm(whole.coef_ - start.coef_), np.linalg.norm(half.coef_ - start.coef_)
    assert moved == halfway == 0.0 or 0.0 < halfway <= moved + 1e-12


def test_run_ask_and_tell_use_the_probability_of_asking():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 6))
    y = (X @ rng.normal(size=6) > 0).astype(int)
    options = {"delta": 0.1, "weighted": True, "classes": [0, 1], "random_state": 0}
    played = askance.make("PAA-I", C=0.05, **options)
    played.run(X, y)
    asked, by_hand = askance.make("PAA-I", C=0.05, **options), askance.make("PAA-I", C=0.05, **options)
    for x, label in zip(X, y, strict=True):
        decision = asked.ask(x)
        if decision.asked:
            asked.tell(ticket=decision.ticket, y=label)
        decision = by_hand.ask(x)
        if decision.asked:
            by_hand.tell(x, label, weight=decision.weight)
    assert np.array_equal(played.coef_, asked.coef_)
    assert np.array_equal(played.coef_, by_hand.coef_)


def test_a_huge_weight_ends():
    clf = trained(u.AdaptiveRegularizationDiagonal(eta=1e-3, weighted=True))
    x, answer = x_and_answer()
    clf.tell(x, answer, weight=1e300)
    assert np.isfinite(clf.coef_).all()


def test_both_sketches_decide_alike_with_weights_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    y = (X[:, 0] > 0).astype(int)
    sketched, sparse = (
        askance.make(name, sketch_size=3, weighted=True, random_state=0).run(X, y) for name in ("SOA3", "SSOA3")
    )
    assert np.array_equal(sketched.asked, sparse.asked)
    assert np.array_equal(sketched.predicted, sparse.predicted)


def test_probit_takes_a_weight_in_one_step_as_printed_or_as_so_many_answers():
    x = [1.0, -2.0, 0.5]
    printed, repeated = (
        askance.ActiveClassifier(u.Probit(weighted=True, as_printed=choice), classes=[0, 1]) for choice in (True, False)
    )
    for clf in (printed, repeated):
        clf.tell(x, 1, weight=100.0)
    hundred = askance.ActiveClassifier(u.Probit(), classes=[0, 1])
    for _ in range(100):
        hundred.tell(x, 1)
    assert repeated.decision_function([x]) == pytest.approx(hundred.decision_function([x]), rel=1e-12)
    assert printed.decision_function([x]) > 1.2 * hundred.decision_function([x])
    assert askance.make("UOAL-entropy").update.as_printed
    assert askance.make("BOAL-entropy", weighted=True).update.weighted
