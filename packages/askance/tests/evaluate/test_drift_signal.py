"""The signal that the world has changed."""

import json

import numpy as np
import pytest

import askance
from askance.data.generators import abrupt
from askance.errors import InvalidInput, InvalidParameter
from askance.evaluate.drift import DriftSignal, PageHinkley, alarms, uniform_of


def test_unscaled_it_is_rivers_detector():
    drift = pytest.importorskip("river.drift", reason="river is not installed (the extra 'drift')")
    theirs = drift.PageHinkley(min_instances=30, delta=0.01, threshold=5.0, mode="up")
    ours = PageHinkley(min_instances=30, delta=0.01, threshold=5.0, forget=0.9999, scaled=False)
    rng = np.random.default_rng(0)
    found = []
    for value in (rng.random(3000) < np.repeat([0.1, 0.4, 0.1], 1000)).astype(float):
        theirs.update(value)
        ours.update(value)
        assert ours.drift_detected == theirs.drift_detected
        found.append(ours.drift_detected)
    assert any(found[1000:1200])


def first_alarm(detector, values):
    for place, value in enumerate(values):
        detector.update(value)
        if detector.drift_detected:
            return place
    return len(values)


@pytest.mark.parametrize(("share", "expected"), [(0.05, 5.6), (0.2, 2.7)])
def test_false_alarms_are_as_rare_as_the_documentation_says(share, expected):
    """Of twenty series of 10,000 values without a change, docs/quality.md says, so many have an alarm."""
    found = 0
    for seed in range(20):
        values = (np.random.default_rng(seed).random(10_000) < share).tolist()
        found += first_alarm(PageHinkley(), values) < len(values)
    assert found <= expected + 2.5 * np.sqrt(expected)


@pytest.mark.parametrize(("share", "delay"), [(0.02, 237), (0.05, 116), (0.1, 70), (0.2, 46), (0.3, 34)])
def test_changes_are_noticed_as_soon_as_the_documentation_says(share, delay):
    """The median delay until 2.5 times as many mistakes are noticed, after 2,000 values as before."""
    late = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        detector = PageHinkley()
        if first_alarm(detector, (rng.random(2000) < share).tolist()) == 2000:
            late.append(first_alarm(detector, (rng.random(3000) < 2.5 * share).tolist()) + 1)
    assert len(late) >= 24
    assert 0.6 * delay < np.median(late) < 1.6 * delay


def test_a_river_detector_can_take_its_place():
    drift = pytest.importorskip("river.drift", reason="river is not installed (the extra 'drift')")
    signal = DriftSignal(rate=1.0, detector=drift.ADWIN())
    rng = np.random.default_rng(0)
    found = [place for place in range(2000) if signal.answer(rng.random() < (0.1 if place < 1000 else 0.6), 1.0)]
    assert any(1000 < place < 1200 for place in found)
    with pytest.raises(InvalidInput, match="built-in detector"):
        signal.to_dict()


def test_what_is_passed_on_is_a_fair_sample():
    """Mistakes are asked ten times as often; the detector still sees their true share."""
    rng = np.random.default_rng(0)
    seen = []

    class Recorder:
        drift_detected = False

        def update(self, x):
            seen.append(x)

    signal = DriftSignal(rate=0.05, detector=Recorder())
    wrong = rng.random(100_000) < 0.1
    probability = np.where(wrong, 0.5, 0.05)
    for place in np.flatnonzero(rng.random(len(wrong)) < probability):
        signal.answer(bool(wrong[place]), float(probability[place]))
    assert np.mean(seen) == pytest.approx(0.1, abs=0.015)
    assert signal.sampled == len(seen) == pytest.approx(5000, rel=0.05)


def test_audits_are_taken_as_they_are():
    signal = DriftSignal(rate=0.01)
    for audit in (True, False, True):
        signal.answer(False, probability=1.0, audit=audit)
    assert (signal.answers, signal.sampled) == (3, 2)


def test_an_abrupt_change_of_a_real_run_is_noticed_and_a_steady_stream_is_not():
    changing, steady = abrupt(20_000, angle=150, random_state=1), abrupt(20_000, at=1.0, random_state=1)
    clf = {"delta": 0.1, "explore": 0.05, "random_state": 0}
    found = alarms(askance.make("PAA-I", **clf).run(changing.X, changing.y), rate=0.05)
    assert found
    assert 10_000 < found[0] < 12_500
    assert not alarms(askance.make("PAA-I", **clf).run(steady.X, steady.y), rate=0.05)


def test_a_saved_signal_goes_on_as_it_would_have():
    rng = np.random.default_rng(0)
    one = DriftSignal(rate=0.3, random_state=5)
    assert DriftSignal.from_dict(json.loads(json.dumps(one.to_dict()))).to_dict() == one.to_dict()
    for _ in range(500):
        one.answer(rng.random() < 0.1, 0.5)
    other = DriftSignal.from_dict(json.loads(json.dumps(one.to_dict())))
    for _ in range(500):
        wrong = rng.random() < 0.5
        assert one.answer(wrong, 0.5) == other.answer(wrong, 0.5)
    assert one.alarms >= 1


def test_luck_is_uniform():
    values = np.array([uniform_of(3, number) for number in range(20_000)])
    counts, _ = np.histogram(values, bins=20, range=(0.0, 1.0))
    assert counts.min() > 850
    assert counts.max() < 1150


@pytest.mark.parametrize("wrong", [{"delta": -1.0}, {"threshold": 0.0}, {"min_instances": 0}, {"forget": 0.0}])
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        PageHinkley(**wrong)
    with pytest.raises(InvalidParameter, match="rate must be in"):
        DriftSignal(rate=0.0)
    with pytest.raises(InvalidParameter, match="rate must be in .* got None"):
        DriftSignal(rate=None)
    with pytest.raises(InvalidParameter, match="delta must be 0 or more"):
        PageHinkley(delta=None)
    with pytest.raises(InvalidInput, match="probability must be in"):
        DriftSignal(rate=0.5).answer(True, 0.0)
