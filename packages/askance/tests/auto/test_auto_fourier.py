"""Curved members: a kernel's bends at the cost of a linear rule, and a vote that can die."""

import numpy as np
import pytest
from scipy.stats import norm

import askance
from askance.learner.auto import Committee, InverseSquareMargin
from askance.learner.auto.fourier import blocks_at
from askance.learner.auto.layout import n_flat, n_members, view_member
from askance.learner.auto.members import CURVED_MEMBERS, MEMBERS
from askance.learner.covariance import view_covariance
from askance.learner.fourier import draw_frequencies

EVERYTHING = InverseSquareMargin(delta=1e12)  # asks with certainty


def rings(n=3000, d=4, seed=0):
    """The second class lies around the first: no line separates them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return 5.0 + X * np.arange(1, d + 1), ((X[:, :2] ** 2).sum(axis=1) > 1.4).astype(int)


def play(X, y, **options):
    clf = askance.ActiveClassifier(
        update=Committee(**({"curves": 32} | options)), query=EVERYTHING, classes=np.unique(y), random_state=0
    )
    clf.run(X, y)
    return clf


def curved_view(X, t, curves):
    """Event t as a curved member sees it when it comes, from the events up to it."""
    seen = X[: t + 1]
    spread = seen.std(axis=0)
    varies = spread > 0.0
    x = np.where(varies, (X[t] - seen.mean(axis=0)) / np.where(varies, spread, 1.0), 0.0)
    x /= np.sqrt(max(1, varies.sum()))
    frequencies, phases = draw_frequencies(X.shape[1], curves)
    return np.append(np.sqrt(2.0 / curves) * np.cos(x @ frequencies + phases), 1.0 / np.sqrt(curves))


def test_products_of_curved_events_are_a_gaussian_kernel():
    rng = np.random.default_rng(1)
    frequencies, phases = draw_frequencies(6, 20_000)
    assert abs(frequencies.mean()) < 0.02
    assert frequencies.std() == pytest.approx(1.0, abs=0.02)
    for _ in range(10):
        x, other = rng.normal(size=(2, 6)) / np.sqrt(6)
        z, other_z = (np.sqrt(2.0 / 20_000) * np.cos(event @ frequencies + phases) for event in (x, other))
        assert z @ other_z == pytest.approx(np.exp(-((x - other) ** 2).sum() / 2.0), abs=0.03)


def test_the_frequencies_are_the_same_for_ever_and_for_any_number_of_features():
    frequencies, phases = draw_frequencies(3, 4)
    first = [-2.3691983188083694, -0.8890141730076337, 1.2331309535889847]
    np.testing.assert_allclose(frequencies[:, 0], first, rtol=1e-12)
    np.testing.assert_allclose(phases[:2], [0.4265209643841558, 3.8746262298634577], rtol=1e-12)
    np.testing.assert_array_equal(draw_frequencies(9, 4)[0][:3], frequencies)


@pytest.mark.parametrize("n", [10, 60])
def test_a_curved_member_is_a_bayesian_probit_on_random_fourier_features(n):
    """Exact moment matching with a full covariance, in plain NumPy."""
    X, y = rings(n)
    clf = play(X, y, members="curved-probit-10", objective="accuracy", curves=8)
    mean, covariance = np.zeros(9), 10.0 * np.eye(9)
    for t in range(n):
        z, label = curved_view(X, t, 8), 2 * y[t] - 1
        product = covariance @ z
        spread = z @ product + 1.0
        standing = label * (mean @ z) / np.sqrt(spread)
        ratio = norm.pdf(standing) / norm.cdf(standing)
        mean = mean + label * ratio / np.sqrt(spread) * product
        covariance = covariance - np.outer(product, product) * ratio * (ratio + standing) / spread
    ((_, own),) = clf.update._curved_states(clf._engine.state)
    np.testing.assert_allclose(own.table[:, 0, 0], mean, rtol=1e-7, atol=1e-9)
    pending = own.pending[:, : int(view_covariance(own).n_pending)]
    np.testing.assert_allclose(own.matrix - pending @ pending.T, covariance, rtol=1e-7, atol=1e-7)


def test_what_no_line_separates_is_learned_and_the_report_names_who_did_it():
    X, y = rings()
    bent, straight = (
        askance.make("auto", budget=0.1, random_state=0).set_params(update__curves=curves) for curves in (128, 0)
    )
    right = [np.mean(clf.run(X, y).predicted[1500:] == y[1500:]) for clf in (bent, straight)]
    assert right[0] > 0.85 > 0.7 > right[1]
    report = bent.report()
    assert report.leader.startswith("curved")
    assert {member.name for member in CURVED_MEMBERS} <= {told.name for told in report.member_reports}
    assert f"leads {len(MEMBERS + CURVED_MEMBERS)} learners" in bent.describe()
    assert f"leads {len(MEMBERS)} learners" in straight.describe()


def test_a_line_is_learned_as_if_there_were_no_curves():
    votes = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(3000, 30))
        y = (X @ rng.normal(size=30) > 0).astype(int)
        clf = askance.make("auto", budget=0.1, random_state=0)
        trace = clf.run(X, y)
        told = {member.name: member.vote for member in clf.report().member_reports}
        votes.append(sum(told[member.name] for member in CURVED_MEMBERS))
        assert np.mean(trace.predicted[1500:] == y[1500:]) > 0.93
    assert np.mean(votes) < 0.01


def test_weights_and_explanations_are_those_of_the_best_member_that_has_some():
    X, y = rings()
    clf = askance.make("auto", budget=0.1, random_state=0)
    clf.run(X, y)
    told = next(one for one in clf.report().member_reports if not one.name.startswith("curved"))
    place = [member.name for member in MEMBERS].index(told.name)
    np.testing.assert_array_equal(clf.coef_[0], clf._engine.state.table[:-1, 2 * place, 0])
    effects = dict(clf.explain(X[7], label=1))
    assert effects == {column: pytest.approx(clf.coef_[0, column] * X[7, column]) for column in range(4)}


@pytest.mark.parametrize("classes", [2, 3])
def test_a_wider_model_keeps_its_curves_as_long_as_there_is_a_view_for_them(classes):
    X, y = rings(400)
    y = y + (X[:, 3] > 9.0) * (classes == 3)
    clf = play(X, y)
    before = clf._engine.state.extra[blocks_at(clf._engine.state) :].copy()
    clf.decision_function(X[:1])
    curved = slice(n_flat(clf._engine.state) * len(clf._engine.state.scores), None)
    scores = clf._engine.state.variances[curved].copy()
    clf.widen(9)
    np.testing.assert_array_equal(clf._engine.state.extra[blocks_at(clf._engine.state) :], before)
    clf.decision_function(np.pad(X[:1], ((0, 0), (0, 5))))
    np.testing.assert_allclose(clf._engine.state.variances[curved], scores, rtol=1e-12)
    clf.widen(400)
    assert n_members(clf._engine.state) == n_flat(clf._engine.state) == len(MEMBERS)
    votes = [view_member(clf._engine.state, i).vote for i in range(len(MEMBERS))]
    assert sum(votes) == pytest.approx(1.0)
    report = clf.report()
    assert report.leader == report.member_reports[0].name
    trace = clf.run(np.pad(X, ((0, 0), (0, 396))), y)
    assert np.isfinite(trace.margin).all()


def test_loosening_takes_the_covariances_of_curves_back():
    X, y = rings(200)
    clf = play(X, y)
    weights = [own.table.copy() for _, own in clf.update._curved_states(clf._engine.state)]
    clf.inflate_variances(1.0)
    for (member, own), earlier in zip(clf.update._curved_states(clf._engine.state), weights, strict=True):
        np.testing.assert_array_equal(own.table, earlier)
        np.testing.assert_allclose(own.matrix, member.variance * np.eye(33), atol=1e-12)
        assert not own.pending.any()


@pytest.mark.parametrize(("features", "classes", "has_curves"), [(260, 2, True), (261, 2, False), (20, 400, False)])
def test_there_are_curves_where_features_and_classes_are_few(features, classes, has_curves):
    rule = Committee(curves=128)
    state = rule.start(features, classes)
    assert n_members(state) == len(MEMBERS) + len(CURVED_MEMBERS) * has_curves
    plain = Committee().start(features, classes)
    if not has_curves:
        for name in ("table", "matrix", "pending", "extra", "work"):
            np.testing.assert_array_equal(getattr(state, name), getattr(plain, name))


def test_curves_that_make_no_sense_are_refused():
    for curves in (-1, 2.5, 5000):
        with pytest.raises(askance.errors.InvalidParameter, match="curves must be a whole number"):
            Committee(curves=curves)
