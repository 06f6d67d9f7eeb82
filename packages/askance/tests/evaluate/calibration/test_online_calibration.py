"""Scores become probabilities: learned answer by answer, for whatever scale the scores have."""

import random
from math import exp

import pytest

from askance.errors import InvalidInput
from askance.evaluate.calibration import OnlineCalibration


def logistic(x):
    return 1.0 / (1.0 + exp(-x))


@pytest.mark.parametrize(("slope", "offset"), [(0.3, 0.0), (2.0, -1.0), (12.0, 0.5)])
def test_the_truth_is_found_whatever_the_scale_of_the_scores(slope, offset):
    rng, calibration = random.Random(1), OnlineCalibration()
    for _ in range(4000):
        margin = rng.gauss(0.0, 1.0)
        calibration.learn([margin], int(rng.random() < logistic(slope * margin + offset)))
    for margin in (-1.0, 0.0, 0.7):
        chances = calibration.probabilities([margin])
        assert sum(chances) == pytest.approx(1.0)
        assert chances[1] == pytest.approx(logistic(slope * margin + offset), abs=0.08)


def test_answers_chosen_by_their_score_are_put_right_by_their_weights():
    rng, calibration = random.Random(2), OnlineCalibration()
    for _ in range(20_000):
        margin = rng.gauss(0.0, 1.0)
        asked = 1.0 / (1.0 + 3.0 * abs(margin))
        if rng.random() < asked:
            calibration.learn([margin], int(rng.random() < logistic(1.5 * margin)), 1.0 / asked)
    assert calibration.probabilities([1.0])[1] == pytest.approx(logistic(1.5), abs=0.05)


def test_several_classes_share_one_temperature():
    rng, calibration = random.Random(3), OnlineCalibration()
    for _ in range(5000):
        scores = [rng.gauss(0.0, 1.0) for _ in range(4)]
        parts = [exp(0.8 * score) for score in scores]
        calibration.learn(scores, rng.choices(range(4), parts)[0])
    assert calibration.slope == pytest.approx(0.8, abs=0.25)  # from 4; it never settles, for old answers fade
    assert sum(calibration.probabilities([500.0, -3.0, 0.0])) == pytest.approx(1.0)


def test_it_is_kept_and_goes_on_bit_for_bit():
    rng, calibration = random.Random(4), OnlineCalibration()
    for _ in range(100):
        calibration.learn([rng.gauss(0.0, 1.0)], rng.randrange(2), 3.0)
    again = OnlineCalibration.from_dict(calibration.to_dict())
    for one in (calibration, again):
        one.learn([0.25], 1, 2.0)
    assert again.to_dict() == calibration.to_dict()


@pytest.mark.parametrize(
    ("scores", "label", "weight"), [([0.1], 2, 1.0), ([0.1], -1, 1.0), ([float("nan")], 0, 1.0), ([0.1], 0, 0.0)]
)
def test_what_cannot_be_learned_changes_nothing(scores, label, weight):
    calibration = OnlineCalibration()
    before = calibration.to_dict()
    with pytest.raises(InvalidInput):
        calibration.learn(scores, label, weight)
    assert calibration.to_dict() == before
