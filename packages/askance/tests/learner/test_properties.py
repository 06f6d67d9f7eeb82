"""What must hold for every algorithm, whatever the stream."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests import oracle

import askance
from askance import queries, updates


def stream_for(name, n, d, seed, scale=None):
    """Events of two or four classes, some without features; `scale` gives each value its magnitude."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)
    X[rng.random(n) < 0.05] = 0.0
    if scale is not None:
        X = np.where(X == 0, 0.0, np.sign(X) * scale(rng, (n, d)))
    return X, rng.integers(4, size=n) if name in oracle.MULTI_CLASS else rng.choice([-1, 1], size=n)


def make(name, seed=0, which=0, **options):
    classes = range(4) if name in oracle.MULTI_CLASS else (-1, 1)
    parameters = oracle.settings_of(name, which) | options
    return askance.make(name, random_state=seed, classes=list(classes), **parameters)


every_algorithm = pytest.mark.parametrize("name", oracle.PRESETS)


# --- probabilities, budgets, random numbers --------------------------------------------------------------


@every_algorithm
@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    which=st.integers(0, 2),
    scale=st.sampled_from([1e-100, 1e-3, 1.0, 1e3, 1e100]),
)
def test_a_probability_is_between_zero_and_one(name, seed, which, scale):
    X, y = stream_for(name, 60, 5, seed)
    trace = make(name, which=which).run(scale * X, y)
    assert np.all((trace.probability >= 0) & (trace.probability <= 1))
    assert np.all(np.isfinite(trace.margin))


@every_algorithm
@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    budget=st.integers(0, 50),
    cuts=st.lists(st.integers(0, 100), max_size=5).map(sorted),
)
def test_a_budget_is_never_exceeded(name, seed, budget, cuts):
    X, y = stream_for(name, 100, 5, seed)
    clf = make(name, seed=seed, budget=budget)
    bounds = zip([0, *cuts], [*cuts, 100], strict=True)
    traces = [clf.run(X[start:stop], y[start:stop]) for start, stop in bounds if start < stop]
    asked = np.concatenate([trace.asked for trace in traces])
    probability = np.concatenate([trace.probability for trace in traces])
    assert asked.sum() <= budget
    spent = np.cumsum(asked) - asked >= budget  # before this event
    assert np.all(probability[spent] == 0)
    assert np.all(probability[~spent & X.any(axis=1)] > 0)
    assert clf.labels_asked_ == asked.sum()
    assert clf.events_seen_ == 100


@every_algorithm
def test_a_budget_of_zero_never_asks_and_never_learns(name):
    X, y = stream_for(name, 50, 5, seed=1)
    clf = make(name, budget=0)
    trace = clf.run(X, y)
    assert not trace.asked.any()
    assert not trace.probability.any()
    assert not clf.coef_.any()


@every_algorithm
def test_an_event_without_features_is_predicted_but_never_asked(name):
    X, y = stream_for(name, 200, 5, seed=2)
    trace = make(name).run(X, y)
    empty = ~X.any(axis=1)
    assert empty.any()
    assert not trace.asked[empty].any()
    assert not trace.probability[empty].any()
    if name == "SOAL-AUC":  # whose threshold moves
        return
    assert not trace.margin[empty].any()
    assert set(trace.predicted[empty]) == {0 if name in oracle.MULTI_CLASS else 1}


@every_algorithm
def test_every_event_takes_one_random_number(name):
    """Also those without features, those after the budget is spent, and those of rules that toss no coin."""
    X, y = stream_for(name, 200, 5, seed=3)
    uniforms = np.random.default_rng(11).random(201)
    rng = np.random.default_rng(11)
    eager = {"delta": 1e3} if name == "CSPAA(a)" else {}
    clf = make(name, seed=rng, budget=10, **eager)
    first = clf.run(X[:120], y[:120])
    assert first.asked.sum() == 10
    clf.set_params(budget=None)
    second = clf.run(X[120:], y[120:])
    assert second.asked.any()
    np.testing.assert_array_equal(first.asked, uniforms[:120] < first.probability)
    np.testing.assert_array_equal(second.asked, uniforms[120:200] < second.probability)
    assert rng.random() == uniforms[200]


@every_algorithm
def test_the_same_seed_gives_the_same_result(name):
    X, y = stream_for(name, 200, 5, seed=4)
    one, other = make(name, seed=5), make(name, seed=5)
    np.testing.assert_array_equal(one.run(X, y).asked, other.run(X, y).asked)
    np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize(
    "name", [name for name in oracle.PRESETS if oracle.PRESETS[name][1] is not oracle.queries.always]
)
def test_another_seed_gives_another_result(name):
    X, y = stream_for(name, 200, 5, seed=4)
    assert not np.array_equal(make(name, seed=5).run(X, y).asked, make(name, seed=6).run(X, y).asked)


# --- what is learned -------------------------------------------------------------------------------------

rows = st.lists(st.floats(-10, 10).filter(lambda value: value == 0 or abs(value) > 1e-3), min_size=4, max_size=4)
examples = st.lists(st.tuples(rows, st.sampled_from([-1, 1])), min_size=2, max_size=12)


@pytest.mark.parametrize(
    "rule",
    [updates.PassiveAggressive(), updates.PassiveAggressive1(C=0.3), updates.PassiveAggressive2(C=0.3)],
)
@given(examples=examples)
@settings(max_examples=60, deadline=None)
def test_passive_aggressive_moves_towards_margin_one_and_never_beyond(rule, examples):
    *past, (x, y) = examples
    assume(any(x))
    clf = askance.ActiveClassifier(update=rule, query=queries.Always(), classes=[-1, 1])
    clf.partial_fit([row for row, _ in past], [label for _, label in past])
    before = y * clf.decision_function([x])[0]
    after = y * clf.partial_fit([x], [y]).decision_function([x])[0]
    if before >= 1:
        assert after == before
    else:
        assert before < after or before == pytest.approx(after)
        assert after <= 1 + 1e-9 * max(1, np.abs(clf.coef_).max() * np.abs(x).max())
        if isinstance(rule, updates.PassiveAggressive):
            assert after == pytest.approx(1, abs=1e-9 * max(1, np.abs(clf.coef_).max() * np.abs(x).max()))


@pytest.mark.parametrize(
    "rule",
    [updates.PassiveAggressive(), updates.PassiveAggressive1(C=0.3), updates.PassiveAggressive2(C=0.3)],
)
@given(examples=st.lists(st.tuples(rows, st.integers(0, 3)), min_size=2, max_size=12))
@settings(max_examples=60, deadline=None)
def test_multi_class_passive_aggressive_never_overshoots_margin_one(rule, examples):
    *past, (x, y) = examples
    assume(any(x))
    clf = askance.ActiveClassifier(update=rule, query=queries.Always(), classes=[0, 1, 2, 3])
    clf.partial_fit([row for row, _ in past], [label for _, label in past])

    def margin_over(rival):
        scores = clf.decision_function([x])[0]
        return scores[y] - scores[rival]

    scores = clf.decision_function([x])[0]
    rival = max((r for r in range(4) if r != y), key=lambda r: scores[r])
    before = margin_over(rival)
    clf.partial_fit([x], [y])
    rounding = 1e-9 * max(1, np.abs(clf.coef_).max() * np.abs(x).max())
    assert before - rounding <= margin_over(rival) <= max(1, before) + rounding


SECOND_ORDER = {
    "SecondOrderPerceptron": (
        updates.SecondOrderPerceptron(a=1.0),
        queries.Variance(delta=1e9, eta=1.0, gamma=1.0),
    ),
    "SecondOrderPerceptronDiagonal": (
        updates.SecondOrderPerceptronDiagonal(a=1.0),
        queries.Variance(delta=1e9, eta=1.0, gamma=1.0),
    ),
    "AdaptiveRegularization": (updates.AdaptiveRegularization(gamma=0.1), queries.Variance(delta=1e9)),
    "AdaptiveRegularizationDiagonal": (
        updates.AdaptiveRegularizationDiagonal(gamma=0.1),
        queries.Variance(delta=1e9),
    ),
    "AsymmetricAdaptive": (updates.AsymmetricAdaptive(gamma=0.1, rho=3.0), queries.Variance(delta=1e9)),
    "AsymmetricAdaptiveDiagonal": (
        updates.AsymmetricAdaptiveDiagonal(gamma=0.1, rho=3.0),
        queries.Variance(delta=1e9),
    ),
    "AsymmetricAdaptiveSketched": (
        updates.AsymmetricAdaptiveSketched(gamma=0.1, rho=3.0, sketch_size=3),
        queries.Variance(delta=1e9),
    ),
    "AsymmetricAdaptiveSparseSketched": (
        updates.AsymmetricAdaptiveSparseSketched(gamma=0.1, rho=3.0, sketch_size=3),
        queries.Variance(delta=1e9),
    ),
    "ConfidenceWeighted": (
        updates.ConfidenceWeighted(phi=0.1),
        queries.Variance(delta=1e9, eta=1.0, gamma=1.0),
    ),
    "DualAveraging": (updates.DualAveraging(), queries.Discriminative(b=1e9)),
    "MirrorDescent": (updates.MirrorDescent(), queries.Discriminative(b=1e9)),
    "CostSensitiveAdaptive": (updates.CostSensitiveAdaptive(rho=3.0), queries.Variance(delta=1e9)),
    "ProbitFull": (updates.ProbitFull(), queries.Entropy(epsilon=0.4)),
    "Probit": (updates.Probit(decay=0.9999), queries.Entropy(epsilon=0.4)),
}


@pytest.fixture(scope="module")
def long_stream():
    """A million events with six features of different scale, and labels of which one in ten is wrong."""
    rng = np.random.default_rng(0)
    scale = np.array([0.01, 0.1, 1.0, 1.0, 3.0, 10.0])
    X = rng.standard_normal((1_000_000, 6)) * scale
    y = np.where(X @ (np.array([1, -1, 1, 1, -1, 1]) / scale) > 0, 1, -1)
    return X, np.where(rng.random(len(y)) < 0.1, -y, y)


@pytest.mark.prove
@pytest.mark.parametrize("rule", SECOND_ORDER)
def test_a_variance_stays_positive_over_a_million_events(rule, long_stream):
    update, query = SECOND_ORDER[rule]
    clf = askance.ActiveClassifier(update=update, query=query, classes=[-1, 1], random_state=0)
    trace = clf.run(*long_stream)
    assert trace.asked.mean() > 0.9
    assert np.all(trace.variance > 0)
    assert np.all(np.isfinite(trace.variance))
    assert np.all(np.isfinite(clf.coef_))


@every_algorithm
@pytest.mark.parametrize("intercept", [False, True])
def test_weights_stay_finite_for_features_of_any_magnitude(name, intercept):
    for seed in range(5):
        X, y = stream_for(name, 300, 5, seed, scale=lambda rng, shape: 10.0 ** rng.uniform(-150, 150, size=shape))
        for which in range(3):
            clf = make(name, which=which, intercept=intercept)
            trace = clf.run(X, y)
            assert np.all(np.isfinite(clf.coef_))
            assert np.all(np.isfinite(clf.intercept_))
            assert np.all(np.isfinite(trace.margin))
            assert np.all((trace.probability >= 0) & (trace.probability <= 1))
