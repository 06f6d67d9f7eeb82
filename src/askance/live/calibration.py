"""From scores to probabilities, learned on the way.

A margin says on which side an event lies, not how sure that is. Two numbers turn it into a probability,

    P(second class) = 1 / (1 + exp(-(slope margin + offset)))

and with several classes one, softmax(slope scores). Every answer moves them by one step of an extended Kalman filter
for logistic regression, weighted by 1 / (probability of the question), since the events asked about are not
typical ones. The score is the one from when the event came, so the step is the same in a replay.
"""

from __future__ import annotations

from math import exp
from typing import Any

HEAVIEST = 20.0  # one answer to an improbable question must not overturn all others
FORGET = 1e-4  # added to the variances with every answer, so that old answers fade


class Calibration:
    """Turns scores into probabilities; knows two classes by one score, several by a score each."""

    def __init__(self) -> None:
        self.slope, self.offset = 4.0, 0.0
        self.slope_variance, self.covariance, self.offset_variance = 16.0, 0.0, 1.0

    def probabilities(self, scores: list[float]) -> list[float]:
        """The probability of each class."""
        if len(scores) == 1:
            positive = logistic(self.slope * scores[0] + self.offset)
            return [1.0 - positive, positive]
        largest = max(scores)
        parts = [exp(max(-700.0, self.slope * (score - largest))) for score in scores]
        total = sum(parts)
        return [part / total for part in parts]

    def learn(self, scores: list[float], label: int, weight: float) -> None:
        """Take an answer in: ``scores`` as they were when the event came."""
        weight = min(weight, HEAVIEST)
        chances = self.probabilities(scores)
        if len(scores) == 1:
            self._step(scores[0], 1.0, (1.0 if label == 1 else 0.0) - chances[1], chances[0] * chances[1], weight)
        else:
            mean = sum(chance * score for chance, score in zip(chances, scores, strict=True))
            spread = sum(chance * (score - mean) ** 2 for chance, score in zip(chances, scores, strict=True))
            self.slope_variance = 1.0 / (1.0 / (self.slope_variance + FORGET) + weight * spread)
            self.slope += self.slope_variance * weight * (scores[label] - mean)
        self.slope = min(max(self.slope, 0.01), 1e4)

    def _step(self, x: float, one: float, error: float, curvature: float, weight: float) -> None:
        a, b, c = self.slope_variance + FORGET, self.covariance, self.offset_variance + FORGET
        along, across = a * x + b * one, b * x + c * one
        gain = weight / (1.0 + weight * curvature * (x * along + one * across))
        self.slope += gain * along * error
        self.offset += gain * across * error
        gain *= curvature
        self.slope_variance = a - gain * along * along
        self.covariance = b - gain * along * across
        self.offset_variance = c - gain * across * across

    def to_dict(self) -> dict[str, float]:
        return dict(vars(self))

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> Calibration:
        new = cls()
        for name in vars(new):
            setattr(new, name, float(kept[name]))
        return new


def logistic(x: float) -> float:
    """1 / (1 + exp(-x)), for any x."""
    return 1.0 / (1.0 + exp(-x)) if x >= 0 else exp(max(x, -700.0)) / (1.0 + exp(max(x, -700.0)))
