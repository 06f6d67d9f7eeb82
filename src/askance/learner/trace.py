"""What came of a stream: the decision for one event, the trace of many."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from askance.metrics import Curve


class Decision(NamedTuple):
    """What was decided for one event."""

    label: Any
    """The predicted label."""
    margin: float
    """w.x, or the best score minus the second best."""
    probability: float
    """The probability with which this event could be asked."""
    asked: bool
    """Whether its label is wanted."""
    weight: float
    """1 / probability, the importance weight of an answer; 0 where the event could not be asked."""
    ticket: int | None = None
    """What the answer is told under, however late: the event's number, from 1. None: not asked."""
    audit: bool = False
    """Whether it was asked as part of the uniform sample that ``explore`` draws."""


@dataclass(frozen=True, eq=False)
class Trace:
    """What was decided for each event of a stream, in order."""

    classes: np.ndarray
    """The labels there are, sorted."""
    predicted_index: np.ndarray
    """The predicted class of each event, as an index into ``classes``."""
    truth_index: np.ndarray
    """The true class of each event, as an index into ``classes``."""
    margin: np.ndarray
    """w.x, or the best score minus the second best."""
    variance: np.ndarray
    """The variance of the margin; empty where the combination computes none, and 0 once the budget is spent, unless
    the rule's probabilities need it."""
    probability: np.ndarray
    """The probability with which the event could be asked."""
    asked: np.ndarray
    """Whether the label was bought."""
    audit: np.ndarray
    """Which of the labels bought belong to the uniform sample that ``explore`` draws."""
    seconds: float
    """The time the loop took, input checks left out."""
    margin_is_signed: bool = True
    """Whether the margin's sign tells the class; with a weight vector per class it is never negative."""
    probabilistic: bool = False
    """Whether Phi(margin / sqrt(variance + 1)) is the probability of the second class."""

    def __len__(self) -> int:
        return len(self.asked)

    def __repr__(self) -> str:
        return f"Trace({len(self):,} events, {int(self.asked.sum()):,} labels bought)"

    @cached_property
    def predicted(self) -> np.ndarray:
        """The predicted label of each event."""
        return self.classes.take(self.predicted_index)

    @cached_property
    def truth(self) -> np.ndarray:
        """The true label of each event."""
        return self.classes.take(self.truth_index)

    @cached_property
    def probability_positive(self) -> np.ndarray | None:
        """P(second class | x) as each event came, where the model has one."""
        if not self.probabilistic:
            return None
        from scipy.special import ndtr

        return np.asarray(ndtr(self.margin / np.sqrt(self.variance + 1.0)))

    @property
    def signed_margin(self) -> np.ndarray:
        """The margin, for two classes negative where the first of them is predicted."""
        if self.margin_is_signed:
            return self.margin
        return np.where(self.predicted_index == 1, self.margin, -self.margin)

    def summary(self, positive: Any = None, alpha_p: float = 0.5, c_p: float = 0.9) -> dict[str, float | int]:
        """The metrics of the whole stream, every event counted by the prediction made when it came.

        Parameters
        ----------
        positive : label, optional
            The class that precision, recall, F1, sum and cost are about; the second of two unless given.
        alpha_p : float, default 0.5
            The weight of sensitivity in ``sum``; specificity has the rest.
        c_p : float, default 0.9
            The cost of a missed positive in ``cost``; a false alarm costs the rest.
        """
        from askance.metrics import summarise

        return summarise(
            self.truth,
            self.predicted,
            self.asked,
            margin=self.signed_margin,
            probability_positive=self.probability_positive,
            classes=self.classes,
            positive=positive,
            alpha_p=alpha_p,
            c_p=c_p,
            seconds=self.seconds,
        )

    def curve(self, metric: str = "accuracy", **options: Any) -> Curve:
        """A metric as the stream goes on: cumulative or over a ``window``, over events or over labels.

        The options are those of ``askance.metrics.curve``.
        """
        from askance.metrics import curve

        return curve(self.truth, self.predicted, self.asked, classes=self.classes, metric=metric, **options)
