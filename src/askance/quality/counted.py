"""Estimates of the metrics that count right and wrong predictions of one class against the rest.

The number of predictions of each kind is known, N_p said positive and N_n said negative; what has to be estimated is
how many of them were wrong, E_p (false alarms) and E_n (missed positives). Every metric is a function of these two, and
falls, or like the cost grows, with both:

    precision    (N_p - E_p) / N_p                      recall        (N_p - E_p) / (N_p - E_p + E_n)
    specificity  (N_n - E_n) / (N_n - E_n + E_p)        F1            2 (N_p - E_p) / (2 (N_p - E_p) + E_p + E_n)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from askance.learner.octaves import SQUARE_UNIT, UNIT
from askance.quality.limits import Unseen, recover, unseen
from askance.quality.result import Estimate
from askance.quality.standing import Numbers, Standing, divide
from askance.quality.tally import Tally

UNKNOWN = Estimate(float("nan"), 0.0, 1.0)


@dataclass(frozen=True)
class Mistakes:
    """Per group ``[column, octave]``: all events, mistakes seen, and mistakes among the events without an answer."""

    events: Numbers
    seen: Numbers
    unseen: Unseen
    standing: Standing

    @classmethod
    def of(cls, tally: Tally, column_of: Any, is_wrong: Any, level: float) -> Mistakes:
        """``column_of[place]`` gathers places into columns; ``is_wrong[truth, place]`` says what a mistake is."""
        columns = int(np.max(column_of)) + 1

        def gathered(cells: Any) -> Numbers:
            sums = np.zeros((columns, cells.shape[-1]))
            np.add.at(sums, column_of, cells)
            return sums

        wrong = np.asarray(is_wrong)[:, :, None]
        events = gathered(tally.events)
        standing = Standing.of(
            events,
            gathered(tally.asked),
            gathered(tally.answered.sum(axis=0)),
            gathered(tally.odds.sum(axis=0)) / UNIT,
            gathered(tally.squares.sum(axis=0)) / SQUARE_UNIT,
        )
        seen = gathered((tally.answered * wrong).sum(axis=0))
        weight = standing.weight(seen, gathered((tally.odds * wrong).sum(axis=0)) / UNIT)
        return cls(events, seen, unseen(standing, weight, level), standing)

    def estimate(self, metric: Any) -> Estimate:
        """``metric`` maps mistakes ``[..., column]`` to numbers."""
        return Estimate(*recover(lambda wrong: metric(wrong.sum(axis=-1)), self.unseen, self.seen))


def accuracy(mistakes: Mistakes) -> Estimate:
    total = float(mistakes.events.sum())
    return mistakes.estimate(lambda wrong: 1.0 - wrong.sum(axis=-1) / total) if total else UNKNOWN


def macro_precision(mistakes: Mistakes) -> Estimate:
    """Linear in the mistakes, as the number of predictions of each class is known."""
    predicted = mistakes.events.sum(axis=1)
    return mistakes.estimate(lambda wrong: divide(predicted - wrong, predicted).mean(axis=-1))


def formulas(said_negative: float, said_positive: float, alpha_p: float, c_p: float) -> dict[str, Any]:
    """The metrics of one class against the rest as functions of the mistakes ``[..., (missed, false alarms)]``."""

    def recall(wrong: Any) -> Any:
        found = said_positive - wrong[..., 1]
        return divide(found, found + wrong[..., 0])

    def specificity(wrong: Any) -> Any:
        left_alone = said_negative - wrong[..., 0]
        return divide(left_alone, left_alone + wrong[..., 1])

    def precision(wrong: Any) -> Any:
        return divide(said_positive - wrong[..., 1], np.full(wrong.shape[:-1], said_positive))

    def f1(wrong: Any) -> Any:
        found = said_positive - wrong[..., 1]
        return divide(2.0 * found, 2.0 * found + wrong.sum(axis=-1))

    def balanced(wrong: Any) -> Any:
        """A class that did not occur does not count."""
        both = recall(wrong) + specificity(wrong)
        positives = said_positive - wrong[..., 1] + wrong[..., 0]
        negatives = said_negative - wrong[..., 0] + wrong[..., 1]
        return both / np.maximum((positives > 0.0).astype(float) + (negatives > 0.0), 1.0)

    return {
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "specificity": specificity,
        "balanced_accuracy": balanced,
        "sum": lambda wrong: alpha_p * recall(wrong) + (1.0 - alpha_p) * specificity(wrong),
        "cost": lambda wrong: c_p * wrong[..., 0] + (1.0 - c_p) * wrong[..., 1],
    }


def one_against_rest(mistakes: Mistakes, alpha_p: float, c_p: float) -> dict[str, Estimate]:
    """All of them; ``mistakes`` has the two columns said negative, said positive."""
    said_negative, said_positive = mistakes.events.sum(axis=1)
    metrics = formulas(said_negative, said_positive, alpha_p, c_p)
    if not said_negative + said_positive:
        return dict.fromkeys(metrics, UNKNOWN) | {"cost": Estimate(0.0, 0.0, 0.0)}
    return {name: mistakes.estimate(formula) for name, formula in metrics.items()}
