"""The threshold between two classes moved for the other libraries, nearly as ``auto`` moves its own.

    theta = (M_0 / (n_0 + B / 2) + M_1 / (n_1 + B / 2)) / 2,     M_k: the sum of the margins of class k's answers

with the margins in units of their usual size, and everything forgetting, as in ``askance.learner.auto.classes``. All
answers count alike here. ``auto`` weighs them by what they stand for (``unbiasing``), for which one has to know how
likely each was to be asked for: the others do not say.
"""

import numpy as np

from askance.learner.auto.classes import BEFOREHAND, FARTHEST, MEMORY
from askance.learner.auto.committee import USUAL


class MovedThreshold:
    """Half way between the mean margins of two classes' answers."""

    def __init__(self) -> None:
        self.seen = 0
        self.usual_size = 0.0
        self.answers = np.zeros(2)
        self.margins = np.zeros(2)

    def predict(self, score: float) -> bool:
        """Whether an event of the stream with this score is predicted to be of the second class."""
        self.seen += 1
        self.usual_size += (abs(score) - self.usual_size) / min(self.seen, USUAL)
        means = self.margins / (self.answers + 0.5 * BEFOREHAND)
        return self._in_units(score) >= 0.5 * float(means.sum())

    def learn(self, score: float, answer: bool) -> None:
        """Take in an answer to an event with this score."""
        self.answers *= 1.0 - 1.0 / MEMORY
        self.margins *= 1.0 - 1.0 / MEMORY
        self.answers[int(answer)] += 1.0
        self.margins[int(answer)] += min(FARTHEST, max(-FARTHEST, self._in_units(score)))

    def _in_units(self, score: float) -> float:
        return score / self.usual_size if self.usual_size > 0.0 else 0.0


def move_threshold(scores: np.ndarray, truth: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """The predictions for a stream; the label of an event that was asked counts once the event was predicted."""
    threshold = MovedThreshold()
    predicted = np.empty(len(scores), bool)
    for t, (score, answer, is_asked) in enumerate(zip(scores.tolist(), truth.tolist(), asked.tolist(), strict=True)):
        predicted[t] = threshold.predict(score)
        if is_asked:
            threshold.learn(score, answer)
    return predicted
