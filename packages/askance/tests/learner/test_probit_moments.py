"""The probit's moments against numerical integration of the exact posterior.

One answer turns N(w; m, S) into a posterior proportional to Phi(y x.w) N(w; m, S). With the other coordinates
integrated out, that of coordinate i is N(w_i; m_i, S_i) times

    Phi((y x.m - y x_i m_i + y x_i w_i) / sqrt(1 + variance of the others)),

an integral over one line.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import erfcx, log_ndtr

import askance
from askance.learner.sparse import VARIANCE, WEIGHT, margin_and_variance
from askance.learner.state import Event
from askance.learner.update.probit import Probit, hazard, learn_moments

Z = np.concatenate([np.linspace(-60, -6, 19), np.linspace(-5.5, 5.5, 45), np.linspace(6, 10, 5)])


def learn_once(m, S, x, y):
    """One step of the learner (weight 1, decay 1) from the given means and variances; the new ones."""
    rule = Probit(prior_variance=1e13, decay=1.0)
    state = rule.start(len(x), 2)
    state.table[:, WEIGHT, 0], state.table[:, VARIANCE, 0] = m, S
    event = Event(np.arange(len(x)), np.array(x, dtype=float), 0, len(x))
    prediction = margin_and_variance(rule.parameters(), state, event)
    learn_moments(rule.parameters(), state, event, 1 if y > 0 else 0, prediction, 1.0)
    return state.table[:, WEIGHT, 0], state.table[:, VARIANCE, 0]


def integrate(m, S, x, y, i):
    """Mean and variance of coordinate i under the exact posterior."""
    m, S, x = map(np.asarray, (m, S, x))
    others = np.sqrt(1 + np.sum(S * x**2) - S[i] * x[i] ** 2)
    rest = y * (m @ x - m[i] * x[i])

    def log_density(w):
        return log_ndtr((rest + y * x[i] * w) / others) - (w - m[i]) ** 2 / (2 * S[i])

    mode = minimize_scalar(lambda w: -log_density(w), bracket=(m[i], m[i] + np.sqrt(S[i]))).x
    top = log_density(mode)
    wide = mode + np.sqrt(S[i]) * np.array([-12, -6, -3, -1, 0, 1, 3, 6, 12])
    # Under a wide prior Phi is a step, which quadrature must be shown: it turns within a few of these widths.
    narrow = (-y * rest + others * np.array([-40, -12, -4, -1, 0, 1, 4, 12, 40])) / x[i]
    reach = np.sort(np.concatenate([wide, narrow[(narrow > wide[0]) & (narrow < wide[-1])]]))

    def moment(function):
        return sum(
            quad(lambda w: function(w) * np.exp(log_density(w) - top), a, b, epsabs=0, epsrel=1e-12)[0]
            for a, b in pairwise(reach)
        )

    mass = moment(lambda w: 1.0)
    shift = moment(lambda w: w - mode) / mass
    return mode + shift, moment(lambda w: (w - mode - shift) ** 2) / mass


@pytest.mark.parametrize("y", [-1, 1])
@pytest.mark.parametrize(("S", "x"), [(1.0, 1.0), (0.2, -3.0), (4.0, 0.5), (1e6, 1.0), (1e12, -2.0)])
@pytest.mark.parametrize("z", Z[::4])
def test_one_feature_has_the_moments_of_the_exact_posterior(z, S, x, y):
    m = z * y * np.sqrt(S * x**2 + 1) / x  # so that y m x / sqrt(v + 1) = z
    (mean,), (variance,) = learn_once([m], [S], [x], y)
    true_mean, true_variance = integrate([m], [S], [x], y, 0)
    assert mean == pytest.approx(true_mean, rel=1e-9, abs=1e-9)
    assert variance == pytest.approx(true_variance, rel=1e-8)


@pytest.mark.parametrize("y", [-1, 1])
@pytest.mark.parametrize("z", [-60.0, -20.0, -5.0, -1.0, 0.0, 2.0, 10.0])
def test_each_of_several_features_has_the_moments_of_the_exact_posterior(z, y):
    S, x = np.array([1.0, 0.3, 2.0, 0.01]), np.array([0.7, -2.0, 1.5, 5.0])
    direction = np.array([1.0, -0.5, 0.2, 0.1])
    m = z * y * np.sqrt(S @ x**2 + 1) * direction / (direction @ x)
    means, variances = learn_once(m, S, x, y)
    for i in range(len(x)):
        true_mean, true_variance = integrate(m, S, x, y, i)
        assert means[i] == pytest.approx(true_mean, rel=1e-9, abs=1e-9)
        assert variances[i] == pytest.approx(true_variance, rel=1e-8)


def test_the_compiled_classifier_takes_the_same_step():
    x = np.array([0.7, -2.0, 1.5])
    for name in ("UOAL-random", "BOAL-random"):
        clf = askance.make(name, prior_variance=0.5, decay=1.0, rate=1.0, classes=[-1, 1])
        clf.partial_fit([x], [1])
        truth = [integrate([0.0] * 3, [0.5] * 3, x, 1, i)[0] for i in range(3)]
        np.testing.assert_allclose(clf.coef_, [truth], rtol=1e-9)


@pytest.mark.parametrize("z", Z)
def test_the_ratio_of_density_to_distribution_is_accurate_everywhere(z):
    ratio, excess, slack = hazard(z)
    assert ratio == pytest.approx(np.sqrt(2 / np.pi) / erfcx(-z / np.sqrt(2)), rel=1e-13)
    assert ratio == pytest.approx(np.exp(-(z**2) / 2 - np.log(2 * np.pi) / 2 - log_ndtr(z)), rel=1e-12)
    assert ratio + z == pytest.approx(excess, abs=1e-13 * max(1.0, abs(z)))
    assert 0 < ratio * excess < 1
    assert slack == pytest.approx(1 - ratio * excess, abs=1e-13)


@pytest.mark.parametrize("z", [-1e3, -1e5, -1e8, -1e15, -1e100])
def test_far_mistakes_follow_the_asymptotic_series(z):
    ratio, excess, slack = hazard(z)
    assert ratio == pytest.approx(-z, rel=1e-5)
    assert excess == pytest.approx(-1 / z + 2 / z**3 if z > -1e50 else -1 / z, rel=1e-8)
    assert slack == pytest.approx(1 / z**2 if z > -1e50 else z**-2.0, rel=1e-4, abs=1e-300)
    assert excess > 0
    assert slack > 0


@pytest.mark.parametrize("z", [12.0, 38.0, 50.0, 1e3, 1e8])
def test_sure_successes_teach_nothing(z):
    ratio, excess, slack = hazard(z)
    assert 0 <= ratio < 1e-30
    assert excess == pytest.approx(z)
    assert slack == pytest.approx(1.0)


def test_a_variance_survives_the_farthest_mistake():
    """r (r + z) tends to one, and naive forms leave a variance of zero or below."""
    for p in (-10.0, -1e3, -1e6, -1e12, -1e100):
        _, variance = learn_once([p], [1.0], [1.0], 1)
        assert 0 < variance[0] < 1
        assert variance[0] == pytest.approx(0.5, rel=0.02)  # of N(0, 1) and a likelihood that fades as a Gaussian


def test_the_delta_that_the_paper_prints_makes_variances_negative():
    """Paper 5 divides delta by sqrt(v + 1); the second moment needs v + 1."""
    S, x = 1.0, 3.0
    spread = S * x**2 + 1
    for z in (-10.0, -1.0, 0.0):
        ratio, excess, _ = hazard(z)
        printed = S - ratio * excess / np.sqrt(spread) * (S * x) ** 2
        right = S - ratio * excess / spread * (S * x) ** 2
        _, truth = integrate([z * np.sqrt(spread) / x], [S], [x], 1, 0)
        assert printed < 0 < truth
        assert right == pytest.approx(truth, rel=1e-8)
