"""The probability of each class, for every rule: scores, calibrated on the latest answers by their weights.

A margin says on which side an event lies, not how sure that is. The last ``KEPT`` answers, bought or given, are kept,
each with the scores from before it was learned and with the weight h = 1 / (ask probability). Over them, when somebody
asks for probabilities, two numbers are fitted (Platt's scaling), or one if there are several classes (a temperature):

    P(second class) = 1 / (1 + exp(-(slope m / s + offset))),     P(k) = softmax(slope f / s)_k

m is the margin, f the scores, and s their usual size: the mean of |m| over the answers, weighted by h. The slope and
the offset maximise

    sum_i h_i log P(y_i) / mean(h) - (slope - STEEPNESS)^2 / (2 V) - offset^2 / (2 W)

Where the offset o is not 0, the likelier class is not always the predicted one, which should not come of chance. So o
counts only as far as it is beyond doubt, with sd its standard deviation: sign(o) max(0, |o| - CLEARLY sd). A rule that
moves its threshold, as ``auto`` does for a rare class, predicts before the class is the likelier one: its margin 0 is
no even chance. There W is SHIFTED, for o may be large, and o counts as it was fitted if |o| > LIKELY sd, else as 0.

Nothing that is decided depends on any of this.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from askance.compile import no_inline
from askance.evaluate.calibration.online import HEAVIEST

KEPT = 512  # answers, a power of two
STEEPNESS, V, W = 1.5, 1.0, 0.1  # what slope and offset are before the first answer: their means (0) and variances
SHIFTED = 1.0  # W of a rule that moves its threshold
FLATTEST = 0.01  # a higher score is never less probable
CLEARLY, LIKELY = 3.0, 2.0  # standard deviations
TIE = 1e-14  # log odds that are nearer to 0 make two probabilities equal, and the predicted class is to have the larger
ROUNDS = 30  # of Newton's method, which takes about five


# The answers are the rows of one array, a ring: answer n, from 0, is at n modulo KEPT. The last row has their number.
LABEL = 0  # the column of the class index
WEIGHT = 1  # of h, or of the ask probability with a minus: the loop need not wait for a division
SCORES = 2  # of the margin, or with several weight vectors of the first of their scores


def no_answers(n_vectors: int) -> np.ndarray:
    """Room for the answers to a model with so many weight vectors."""
    return np.zeros((KEPT + 1, SCORES + n_vectors))


@no_inline
def keep_answer(answers, scores, margin, label, weight):  # type: ignore[no-untyped-def]
    """Keep an answer that is about to be learned: a few numbers written, nothing computed."""
    place = int(answers[KEPT, 0]) & (KEPT - 1)
    answers[KEPT, 0] += 1.0
    answers[place, LABEL] = label
    answers[place, WEIGHT] = weight
    if scores.size == 1:
        answers[place, SCORES] = margin
    else:
        for vector in range(scores.size):
            answers[place, SCORES + vector] = scores[vector]


def keep_margins(answers: np.ndarray, margins: np.ndarray, labels: np.ndarray, chances: np.ndarray) -> None:
    """Keep the answers of a stream that was played; all arguments have an entry for each."""
    count = int(answers[KEPT, 0]) + len(margins)
    latest = slice(-KEPT, None)
    rows = np.column_stack([labels[latest], -chances[latest], margins[latest]])
    answers[np.arange(count - len(rows), count) & (KEPT - 1)] = rows
    answers[KEPT, 0] = count


def trim_answers(answers: np.ndarray) -> np.ndarray:
    """The rows that a model file needs: those of the answers there are, and their number."""
    return answers[[*range(min(KEPT, int(answers[KEPT, 0]))), KEPT]]


def sort_answers(answers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The answers that are kept, the oldest first: class indices, weights, and rows of scores."""
    count = int(answers[KEPT, 0])
    latest = answers[np.arange(max(0, count - KEPT), count) & (KEPT - 1)]  # by age, so that all sums run alike
    weights = latest[:, WEIGHT].copy()
    weights[weights < 0.0] = -1.0 / weights[weights < 0.0]
    return latest[:, LABEL].astype(np.intp), weights, latest[:, SCORES:]


class WindowedCalibration(NamedTuple):
    """What turns the values of ``decision_function`` into probabilities."""

    slope: float
    offset: float = 0.0

    def log_probabilities(self, decision: np.ndarray) -> np.ndarray:
        """The logarithm of the probability of each class."""
        from scipy.special import log_expit, log_softmax

        if decision.ndim == 2:
            return np.asarray(log_softmax(self.slope * decision, axis=1))
        log_odds = self.slope * decision + self.offset
        if self.slope > 0.0 and self.offset == 0.0:
            is_tie = np.abs(log_odds) < TIE
            log_odds[is_tie] = np.where(decision[is_tie] < 0.0, -TIE, TIE)
        return np.column_stack([log_expit(-log_odds), log_expit(log_odds)])


def calibrate(answers: np.ndarray, is_shifted: bool = False) -> WindowedCalibration:
    """The calibration by the answers that are kept; without any, all classes are equally likely. ``is_shifted``: the
    rule moves its threshold."""
    return _calibrate(answers.tobytes(), answers.shape[1], is_shifted)


@lru_cache(maxsize=4)  # events that come one by one mostly have the answers of the event before them
def _calibrate(content: bytes, width: int, is_shifted: bool) -> WindowedCalibration:
    labels, weights, scores = sort_answers(np.frombuffer(content).reshape(-1, width))
    weights = np.minimum(weights, HEAVIEST)
    usable = np.isfinite(scores).all(axis=1) & (weights > 0.0)
    if not usable.any():
        return WindowedCalibration(0.0)
    scores, labels, weights = scores[usable], labels[usable], weights[usable] / weights[usable].mean()
    if scores.shape[1] <= 2:
        margins = scores[:, -1] - (scores[:, 0] if scores.shape[1] == 2 else 0.0)
        return fit_platt(margins, labels == 1, weights, is_shifted)
    return fit_temperature(scores, labels, weights)


def fit_platt(margins: np.ndarray, is_second: np.ndarray, weights: np.ndarray, is_shifted: bool) -> WindowedCalibration:
    """Slope and offset by Newton's method; p (1 - p) is the curvature of an event's log P."""
    from scipy.special import expit

    size = float(weights @ np.abs(margins) / weights.sum()) or 1.0
    inputs = np.column_stack([margins / size, np.ones(len(margins))])
    before, precision = np.array([STEEPNESS, 0.0]), np.diag([1.0 / V, 1.0 / (SHIFTED if is_shifted else W)])
    found = before
    for _ in range(ROUNDS):
        chances = expit(inputs @ found)
        gradient = inputs.T @ (weights * (is_second - chances)) - precision @ (found - before)
        curvature = (inputs.T * (weights * chances * (1.0 - chances))) @ inputs + precision
        step = np.clip(np.linalg.solve(curvature, gradient), -2.0, 2.0)
        found = found + step
        if np.abs(step).max() < 1e-9:
            break
    deviation = np.sqrt(np.linalg.inv(curvature)[1, 1])
    if is_shifted:
        offset = found[1] if abs(found[1]) > LIKELY * deviation else 0.0
    else:
        offset = np.copysign(max(0.0, abs(found[1]) - CLEARLY * deviation), found[1])
    return WindowedCalibration(max(FLATTEST, float(found[0])) / size, float(offset))


def fit_temperature(scores: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> WindowedCalibration:
    """The slope by Newton's method; the curvature of log P is the variance of the scores under P."""
    from scipy.special import log_softmax

    ordered = np.sort(scores, axis=1)
    size = float(weights @ (ordered[:, -1] - ordered[:, -2]) / weights.sum()) or 1.0
    relative = np.maximum((scores - ordered[:, -1:]) / size, -1e3)
    own = relative[np.arange(len(labels)), labels]
    slope = STEEPNESS
    for _ in range(ROUNDS):
        chances = np.exp(log_softmax(slope * relative, axis=1))
        mean = (chances * relative).sum(axis=1)
        variance = (chances * relative**2).sum(axis=1) - mean**2
        gradient = weights @ (own - mean) - (slope - STEEPNESS) / V
        step = float(np.clip(gradient / (weights @ variance + 1.0 / V), -2.0, 2.0))
        slope = max(FLATTEST, slope + step)
        if abs(step) < 1e-9:
            break
    return WindowedCalibration(slope / size)
