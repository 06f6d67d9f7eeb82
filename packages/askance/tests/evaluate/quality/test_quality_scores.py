"""The area under the ROC curve and the calibration error, where little is known."""

import numpy as np
import pytest

from askance.evaluate.metrics import summarise
from askance.evaluate.quality import Monitor, estimate_columns


def scored(rng, n=20_000, scale=1.0):
    truth = np.where(rng.random(n) < 0.3, 1, -1)
    score = (truth + rng.standard_normal(n)) * scale
    return truth, score, rng.random(n) < 0.1


@pytest.mark.parametrize("scale", [1e-300, 1e-4, 0.01, 100.0, 1e4, 1e300])
def test_the_area_does_not_depend_on_the_scale_of_the_scores(scale):
    truth, score, asked = scored(np.random.default_rng(5))

    def area(factor):
        columns = (np.where(score > 0, 1, -1), np.full(len(truth), 0.1), asked, truth)
        return estimate_columns(*columns, classes=[-1, 1], asked=asked, score=score * factor).auc

    exact = summarise(truth, np.sign(score), asked, classes=[-1, 1], margin=score)["auc"]
    found = area(scale)
    assert exact in found
    assert found.high - found.low < 0.05
    assert found == pytest.approx(area(1.0), abs=0.005)  # the bins lie elsewhere
    assert area(2.0**30) == area(1.0)


def test_one_score_far_from_all_others_does_not_hide_them():
    truth, score, asked = scored(np.random.default_rng(6))
    columns = (np.where(score > 0, 1, -1), np.full(len(truth), 0.1), asked, truth)
    far = score.copy()
    far[0] = 1e4
    with_it, without = (
        estimate_columns(*columns, classes=[-1, 1], asked=asked, score=each).auc for each in (far, score)
    )
    assert with_it == pytest.approx(without, abs=0.005)


@pytest.mark.parametrize("order", ["rising", "falling", "mixed"])
def test_a_monitor_files_growing_scores_as_if_it_had_known_them_before(order):
    rng = np.random.default_rng(2)
    n = 600
    score = rng.standard_normal(n) * 2.0 ** rng.integers(-60, 60, n)
    if order != "mixed":
        score = score[np.argsort(np.abs(score))[:: 1 if order == "rising" else -1]]
    truth = np.where(rng.random(n) < 0.5, 1, 0)
    asked = rng.random(n) < 0.5
    predicted = (score > 0).astype(int)
    monitor = Monitor([0, 1], window=200)
    for place in range(n):
        monitor.event(int(predicted[place]), 0.5, bool(asked[place]), score=float(score[place]))
    for place in np.flatnonzero(asked).tolist():
        monitor.answer(place + 1, int(truth[place]))
    columns = (predicted, np.full(n, 0.5), asked, truth)
    assert monitor.overall == estimate_columns(*columns, classes=[0, 1], asked=asked, score=score)
    assert monitor.recent == estimate_columns(*columns, classes=[0, 1], asked=asked, score=score, window=200)


def test_one_positive_seen_says_little_about_the_area():
    rng = np.random.default_rng(16)
    n = 3000
    truth = np.where(rng.random(n) < 0.015, 1, -1)
    score = rng.standard_normal(n)
    asked = rng.random(n) < 0.05
    found = estimate_columns(
        np.where(score > 0, 1, -1), np.full(n, 0.05), asked, truth, classes=[-1, 1], score=score
    ).auc
    assert (truth[asked] == 1).sum() == 1
    assert found.high - found.low > 0.9


@pytest.mark.parametrize(("separation", "share"), [(0.0, 0.015), (3.0, 0.015), (2.0, 0.05)])
def test_the_area_of_a_rare_class_is_covered(separation, share):
    rng, inside, n = np.random.default_rng(1), [], 4000
    for _ in range(100):
        truth = np.where(rng.random(n) < share, 1, -1)
        score = rng.standard_normal(n) + separation * (truth == 1) - 2.0
        asked = rng.random(n) < 0.05
        found = estimate_columns(
            np.where(score > 0, 1, -1), np.full(n, 0.05), asked, truth, classes=[-1, 1], score=score
        ).auc
        inside.append(
            summarise(truth, np.where(score > 0, 1, -1), asked, classes=[-1, 1], margin=score)["auc"] in found
        )
    assert np.mean(inside) >= 0.93


@pytest.mark.parametrize("label", [0, 1])
def test_without_answers_the_calibration_error_is_open(label):
    chance = np.random.default_rng(0).random(1000)
    found = estimate_columns(
        np.ones(1000, int),
        np.full(1000, 0.01),
        np.zeros(1000, bool),
        np.full(1000, label),
        classes=[0, 1],
        probability_positive=chance,
    ).calibration_error
    assert abs(float(chance.mean()) - label) in found
    assert found.low == 0.0


def test_with_all_answers_there_is_nothing_left_to_know():
    truth, score, _ = scored(np.random.default_rng(8), n=500)
    everything = np.ones(500, bool)
    chance = 1.0 / (1.0 + np.exp(-score))
    found = estimate_columns(
        np.where(score > 0, 1, -1), np.ones(500), everything, truth, classes=[-1, 1], probability_positive=chance
    )
    assert found.calibration_error.high == pytest.approx(found.calibration_error.low)
    exact = summarise(truth, np.sign(score), everything, classes=[-1, 1], margin=score)["auc"]
    assert exact in found.auc
    assert found.auc.high - found.auc.low < 0.03  # the order within the bins
