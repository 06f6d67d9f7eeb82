"""Label sets: the forms they come in, a matrix with a column per label or a list with a set per event, and the trace of
what was decided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from askance.errors import InvalidInput, InvalidParameter, InvalidType
from askance.learner.labels import MISSING
from askance.learner.trace import Trace
from askance.plural import format_count

Label = str | int | bool | float


def check_labels(labels: Any) -> tuple[Any, ...]:
    """The labels there are, in the order given."""
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise InvalidType(f'labels are a list of names, such as ["sports", "politics"], got {labels!r}.')
    found = tuple(label.item() if isinstance(label, np.generic) else label for label in labels)
    for label in found:
        if not isinstance(label, str | int | float):
            raise InvalidParameter(f"a label is a text or a number, got {label!r}.")
    if len(set(found)) != len(found):
        twice = next(label for label in found if found.count(label) > 1)
        raise InvalidParameter(f"the label {twice!r} is named twice.")
    if not found:
        raise InvalidParameter("there are no labels; name one or more.")
    return found


def read_label_sets(
    Y: Any, labels: tuple[Any, ...] | None, separator: str | None
) -> tuple[tuple[Any, ...], np.ndarray]:
    """The labels, and a row per event: 1 for a label that it has, 0 for one that it has not, MISSING where unknown.

    ``labels`` are those known before; None: those that occur here.
    """
    if Y is None:
        raise InvalidInput(
            "Y is missing; pass the labels of each event: a matrix with a column per label, or a list of sets."
        )
    if hasattr(Y, "toarray"):
        Y = Y.toarray()
    if getattr(Y, "ndim", 1) == 2 or (hasattr(Y, "columns") and hasattr(Y, "shape")):
        return read_matrix(Y, labels)
    if hasattr(Y, "to_list"):
        Y = Y.to_list()
    elif hasattr(Y, "tolist"):
        Y = Y.tolist()
    if isinstance(Y, str) or not isinstance(Y, Sequence):
        raise InvalidType(
            f"Y is a matrix with a column per label, or a list with a set per event, got {type(Y).__name__}."
        )
    sets = [read_known(value, f"Y[{place}]", separator) for place, value in enumerate(Y)]
    if labels is None:
        occurring = {label for each in sets if each is not None for label in each}
        if not occurring:
            raise InvalidInput("Y has no label in any event; name the labels with labels=.")
        labels = check_labels(sorted(occurring, key=lambda label: (isinstance(label, str), label)))
    place_of = {label: place for place, label in enumerate(labels)}
    answers = np.zeros((len(sets), len(labels)), np.int32)
    for row, each in enumerate(sets):
        if each is None or isinstance(each, dict):
            answers[row] = MISSING
        for label, answer in (each if isinstance(each, dict) else dict.fromkeys(each or (), True)).items():
            if label not in place_of:
                raise unknown_label(label, f"Y[{row}]", labels, row)
            if answer is not None:
                answers[row, place_of[label]] = int(answer)
    return labels, answers


def read_matrix(Y: Any, labels: tuple[Any, ...] | None) -> tuple[tuple[Any, ...], np.ndarray]:
    """A matrix of zeros and ones, NaN or None where it is not known whether an event has a label."""
    named = tuple(Y.columns) if hasattr(Y, "columns") else None
    values = np.asarray(Y)
    if values.dtype.kind == "O":
        values = np.array([[np.nan if value is None else value for value in row] for row in values], object)
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("the matrix Y has 1 for a label that an event has, and 0 for one that it has not.") from None
    known = numbers == numbers
    wrong = known & (numbers != 0.0) & (numbers != 1.0)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise InvalidInput(
            f"Y[{row}, {column}] is {numbers[row, column]:g}; the matrix Y has 1 for a label that an event has, 0 for "
            "one that it has not, and NaN where that is not known."
        )
    if named is not None:
        if labels is None:
            labels = check_labels(named)
        elif set(named) != set(labels):
            raise InvalidInput(f"the columns of Y are {_some(named)}, but the labels are {_some(labels)}.")
        numbers = numbers[:, [named.index(label) for label in labels]]
    elif labels is None:
        labels = check_labels(range(numbers.shape[1]))
    if numbers.shape[1] != len(labels):
        raise InvalidInput(f"Y has {numbers.shape[1]} columns for {len(labels)} labels.")
    return labels, np.where(numbers == numbers, numbers == 1.0, MISSING).astype(np.int32)


def read_known(value: Any, where: str, separator: str | None) -> set[Any] | dict[Any, bool | None] | None:
    """What is known of one event's labels: the set of those that it has, or, where only some are known, whether it has
    them by label; None where nothing is known."""
    return read_answers(value, where) if isinstance(value, Mapping) else read_set(value, where, separator)


def read_answers(value: Mapping[Any, Any], where: str) -> dict[Any, bool | None]:
    """Whether an event has some labels, None where that is not known."""
    found = {}
    for label, answer in value.items():
        if not isinstance(label, str | int | float | np.generic):
            raise InvalidInput(f"{where} has the label {label!r}; a label is a text or a number.")
        if answer is not None and not isinstance(answer, bool | np.bool_):
            raise InvalidType(f"the answer for {label!r} in {where} is True or False, or None, got {answer!r}.")
        found[label.item() if isinstance(label, np.generic) else label] = None if answer is None else bool(answer)
    return found


def read_set(value: Any, where: str, separator: str | None) -> set[Any] | None:
    """One event's labels; None where nothing is known of them."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return None
    if isinstance(value, str):
        if separator is None:
            raise InvalidInput(
                f"{where} is the text {value!r} where a set of labels belongs; say what separates them with "
                'label_separator=";".'
            )
        return {part.strip() for part in value.split(separator)} - {""}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, set | frozenset | list | tuple):
        raise InvalidInput(f"{where} is {value!r} where a set of labels belongs.")
    found = [label.item() if isinstance(label, np.generic) else label for label in value]
    for label in found:
        if not isinstance(label, str | int | float):
            raise InvalidInput(f"{where} has the label {label!r}; a label is a text or a number.")
    return set(found)


class UnknownLabel(InvalidInput):
    """An event has a label that is none of those there are."""

    what = ""
    """What the event has, without where it is and what to do."""
    row = 0
    """Which event it is."""


def unknown_label(label: Any, where: str, labels: tuple[Any, ...], row: int = 0) -> UnknownLabel:
    what = f"has the label {label!r}, which is none of {_some(labels)}"
    error = UnknownLabel(f"{where} {what}; name all with labels=.")
    error.what, error.row = what, row
    return error


def _some(labels: tuple[Any, ...]) -> str:
    shown = ", ".join(repr(label) for label in labels[:8])
    return shown if len(labels) <= 8 else f"{shown} and {len(labels) - 8:,} more"


# --- what was decided ------------------------------------------------------------------------------------


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
        place = self.labels.index(label)
        names = ("predicted_index", "truth_index", "margin", "probability", "asked", "audit")
        parts: dict[str, Any] = {name: self._rows(getattr(self.questions, name))[:, place] for name in names}
        variance = self.questions.variance
        return replace(self.questions, variance=self._rows(variance)[:, place] if variance.size else variance, **parts)


def sets_of(has_label: np.ndarray, labels: tuple[Any, ...]) -> list[set[Any]]:
    """The labels of each row of a matrix."""
    return [{labels[place] for place in np.flatnonzero(row)} for row in has_label]
