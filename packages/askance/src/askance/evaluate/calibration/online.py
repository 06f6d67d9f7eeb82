"""From scores to probabilities, learned on the way.

A margin says on which side an event lies, not how sure that is. Two numbers make it a probability (Platt's scaling),

    P(second class) = 1 / (1 + exp(-(slope margin + offset)))

and with several classes one does (a temperature), softmax(slope scores). Every answer moves them by one step of an
extended Kalman filter for logistic regression, weighted by 1 / (probability of the question), since the events asked
about are not typical ones. The score is the one from when the event came, so the step is the same in a replay.

How good the probabilities are, ``askance.quality`` estimates (``calibration_error``).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, isfinite
from typing import Any

from askance.errors import InvalidInput

HEAVIEST = 20.0  # one answer to an improbable question must not overturn all others
FORGET = 1e-4  # added to the variances with every answer, so that old answers fade


class OnlineCalibration:
    """Turns scores into probabilities; knows two classes by one score, several by a score each.

    Examples
    --------
    >>> import random
    >>> rng, calibration = random.Random(0), OnlineCalibration()
    >>> for _ in range(2000):  # a margin that says little: the truth is mostly chance
    ...     margin = rng.uniform(-1.0, 1.0)
    ...     label = int(rng.random() < 0.5 + 0.2 * margin)
    ...     calibration.learn([margin], label)
    >>> [round(chance, 1) for chance in calibration.probabilities([1.0])]
    [0.3, 0.7]
    """

    def __init__(self) -> None:
        self.slope, self.offset = 4.0, 0.0
        self.slope_variance, self.covariance, self.offset_variance = 16.0, 0.0, 1.0

    def probabilities(self, scores: Sequence[float]) -> list[float]:
        """The probability of each class."""
        if len(scores) == 1:
            positive = logistic(self.slope * scores[0] + self.offset)
            return [1.0 - positive, positive]
        largest = max(scores)
        parts = [exp(max(-700.0, self.slope * (score - largest))) for score in scores]
        total = sum(parts)
        return [part / total for part in parts]

    def learn(self, scores: Sequence[float], label: int, weight: float = 1.0) -> None:
        """Take an answer in: ``scores`` as they were when the event came, the place of the ``label`` among the classes,
        and as ``weight`` 1 / (probability with which it was asked)."""
        if not 0 <= label < max(2, len(scores)):
            raise InvalidInput(f"label must be the place of a class, 0 to {max(2, len(scores)) - 1}, got {label!r}.")
        if not weight > 0.0 or not all(map(isfinite, scores)):
            raise InvalidInput("a weight must be above 0 and scores finite; nothing was learned.")
        weight = min(weight, HEAVIEST)
        chances = self.probabilities(scores)
        if len(scores) == 1:
            self._learn_margin(scores[0], (1.0 if label == 1 else 0.0) - chances[1], chances[0] * chances[1], weight)
        else:  # for scores f, S' = 1 / (1 / S + w Var(f)), slope += S' w (f_y - mean f), both under softmax(slope f)
            mean = sum(chance * score for chance, score in zip(chances, scores, strict=True))
            variance = sum(chance * (score - mean) ** 2 for chance, score in zip(chances, scores, strict=True))
            self.slope_variance = 1.0 / (1.0 / (self.slope_variance + FORGET) + weight * variance)
            self.slope += self.slope_variance * weight * (scores[label] - mean)
        self.slope = min(max(self.slope, 0.01), 1e4)

    def _learn_margin(self, margin: float, error: float, curvature: float, weight: float) -> None:
        """One step for theta = (slope, offset) with covariance S: for z = (margin, 1) and the probability p before,

            theta += w S z (y - p) / (1 + w h z'S z),     S -= w h S z z'S / (1 + w h z'S z),     h = p (1 - p)

        where y - p is the ``error`` and h the ``curvature``."""
        a, b, c = self.slope_variance + FORGET, self.covariance, self.offset_variance + FORGET
        along, across = a * margin + b, b * margin + c
        gain = weight / (1.0 + weight * curvature * (margin * along + across))
        self.slope += gain * along * error
        self.offset += gain * across * error
        gain *= curvature
        self.slope_variance = a - gain * along * along
        self.covariance = b - gain * along * across
        self.offset_variance = c - gain * across * across

    def to_dict(self) -> dict[str, float]:
        return dict(vars(self))

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> OnlineCalibration:
        new = cls()
        for name in vars(new):
            setattr(new, name, float(kept[name]))
        return new


def logistic(x: float) -> float:
    """1 / (1 + exp(-x)), for any x."""
    return 1.0 / (1.0 + exp(-x)) if x >= 0 else exp(max(x, -700.0)) / (1.0 + exp(max(x, -700.0)))
