"""What came of a stream of label sets: a row per event, a column per label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from askance.learner.trace import Trace
from askance.plural import format_count


@dataclass(frozen=True, eq=False)
class MultiLabelTrace:
    """What was decided for each question of a stream. The arrays have a row per event and a column per label."""

    labels: tuple[Any, ...]
    """The labels, in the order of the columns."""
    questions: Trace
    """The same, question by question: event after event, and of each event label after label."""

    @classmethod
    def join(cls, traces: Sequence[MultiLabelTrace]) -> MultiLabelTrace:
        """One trace of several that follow each other."""
        return cls(traces[0].labels, Trace.join([trace.questions for trace in traces]))

    def __len__(self) -> int:
        return len(self.questions) // len(self.labels)

    def __repr__(self) -> str:
        bought = format_count(int(self.asked.sum()), "answer")
        sizes = f"{format_count(len(self), 'event')}, {format_count(len(self.labels), 'label')}"
        return f"MultiLabelTrace({sizes}, {bought} bought)"

    def _rows(self, array: np.ndarray) -> np.ndarray:
        return array.reshape(-1, len(self.labels))

    @property
    def predicted(self) -> np.ndarray:
        """Whether each label was predicted."""
        return self._rows(self.questions.predicted_index == 1)

    @property
    def truth(self) -> np.ndarray:
        """1 for a label that the event has, 0 for one that it has not, -1 where that is not known."""
        return self._rows(self.questions.truth_index)

    @property
    def margin(self) -> np.ndarray:
        """How far each event lies towards each label."""
        return self._rows(self.questions.signed_margin)

    @property
    def probability(self) -> np.ndarray:
        """The ask probability of each question."""
        return self._rows(self.questions.probability)

    @property
    def asked(self) -> np.ndarray:
        """Which answers were bought."""
        return self._rows(self.questions.asked)

    @property
    def audit(self) -> np.ndarray:
        """Which of them belong to the uniform sample that ``explore`` draws."""
        return self._rows(self.questions.audit)

    @property
    def seconds(self) -> float:
        """The time the loop took."""
        return self.questions.seconds

    def predicted_sets(self) -> list[set[Any]]:
        """The predicted labels of each event."""
        return sets_of(self.predicted, self.labels)

    def summary(self) -> dict[str, float | int]:
        """The metrics of the whole stream, every event counted by the prediction made when it came."""
        from askance.evaluate.metrics.label_sets import summarise_label_sets

        found = summarise_label_sets(self.truth, self.predicted, self.asked)
        return {**found, "seconds": self.seconds}

    def of(self, label: Any) -> Trace:
        """The questions about one label."""
        from dataclasses import replace

        place = self.labels.index(label)
        names = ("predicted_index", "truth_index", "margin", "probability", "asked", "audit")
        parts: dict[str, Any] = {name: self._rows(getattr(self.questions, name))[:, place] for name in names}
        variance = self.questions.variance
        return replace(self.questions, variance=self._rows(variance)[:, place] if variance.size else variance, **parts)


def sets_of(has_label: np.ndarray, labels: tuple[Any, ...]) -> list[set[Any]]:
    """The labels of each row of a matrix."""
    return [{labels[place] for place in np.flatnonzero(row)} for row in has_label]
