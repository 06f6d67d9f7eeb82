"""A model may be given more features while the stream flows."""

import numpy as np
import pytest

import askance

SKETCHED = {"SOA3", "SSOA3"}
NAMES = ["PAA-I", "MPAA-I", "SOP-diag", "SEL-2nd", "CW-diag", "D-ADA", "SOAL", "SOAL-diag", "OA3", "UOAL-entropy"]


def growing_stream(n_classes=2):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(240, 9)) * (rng.random((240, 9)) < 0.7)
    X[:80, 4:] = 0.0
    X[80:160, 7:] = 0.0
    return X, np.argmax(X @ rng.normal(size=(9, n_classes)), axis=1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("options", [{}, {"intercept": True, "normalize": "l2"}], ids=["plain", "intercept"])
def test_a_widened_model_decides_as_one_that_was_wide_from_the_start(name, options):
    X, y = growing_stream(3 if name.startswith("M") else 2)
    expected = askance.make(name, random_state=0, **options).run(X, y)
    clf = askance.make(name, random_state=0, classes=np.unique(y), **options)
    traces = [clf.run(X[:80, :4], y[:80])]
    traces.append(clf.widen(7).run(X[80:160, :7], y[80:160]))
    traces.append(clf.widen(9).run(X[160:], y[160:]))
    assert np.array_equal(np.concatenate([trace.asked for trace in traces]), expected.asked)
    assert np.allclose(np.concatenate([trace.margin for trace in traces]), expected.margin, atol=1e-9)


@pytest.mark.parametrize("name", sorted(SKETCHED))
def test_a_widened_sketch_keeps_its_predictions_and_goes_on(name, tmp_path):
    X, y = growing_stream()
    clf = askance.make(name, random_state=0, classes=[0, 1])
    clf.run(X[:80, :4], y[:80])
    before = clf.decision_function(X[:80, :4])
    clf.widen(9)
    assert np.array_equal(clf.decision_function(X[:80]), before)
    clf.run(X[80:], y[80:])
    assert np.isfinite(clf.coef_).all()
    clf.save(tmp_path / "model")
    assert np.array_equal(askance.load(tmp_path / "model").coef_, clf.coef_)


def test_widening_is_refused_where_it_makes_no_sense():
    X, y = growing_stream()
    with pytest.raises(ValueError, match="nothing to widen"):
        askance.make("PAA-I").widen(5)
    clf = askance.make("PAA-I").partial_fit(X, y)
    with pytest.raises(ValueError, match="cannot be narrowed"):
        clf.widen(3)
