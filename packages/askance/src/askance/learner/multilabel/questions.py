"""Questions: an event with K possible labels is K events of two classes, played one after the other.

They are played in the one loop, with the one budget, the tickets and the random numbers that a single model has; the
t-th event owns K random numbers. Each label has a model that knows nothing of the others, in one of two layouts:

``Interleaved``, for rules that read and write the numbers of an event's own features alone: question k has the event's
features in columns of its own, feature j of label k in column j K + k, so that the numbers of a feature lie side by
side for all labels, and a wider stream adds columns at the end. With an intercept label k's constant is column k, and
the features follow.

``Marked``, for all others: ``ModelPerLabel`` keeps a model for each label, and a question begins with an entry that
names its label. With an intercept the constant is column 0, and the features follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from askance.compile import specialise
from askance.errors import IncompatibleRules, InvalidInput, InvalidParameter
from askance.learner.budget import Budget
from askance.learner.classifier import StreamClassifier
from askance.learner.engine import Engine
from askance.learner.events import MOST_FEATURES, Events, Preparation, in_pieces, read_events, room_for
from askance.learner.labels import MISSING
from askance.learner.loop import Block
from askance.learner.multilabel.model_per_label import ModelPerLabel, model_of
from askance.learner.query import MistakeDrivenMargin
from askance.learner.reader import Reader, length_of
from askance.learner.rule import UpdateRule
from askance.learner.tickets import PendingEvent
from askance.learner.trace import Decision

NO_AND_YES = np.array([False, True])
ENTRIES_AT_ONCE = 1 << 20


def repeat_per_label(
    starts: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    n_labels: int,
    has_constant: bool,
    is_marked: bool,
    new_starts: np.ndarray,
    new_columns: np.ndarray,
    new_values: np.ndarray,
) -> None:
    """The questions of events, label by label; the constant comes last, as in a model of one label."""
    first = 1 if has_constant else 0
    stride = 1 if is_marked else n_labels
    place, row = 0, 0
    new_starts[0] = 0
    for t in range(starts.size - 1):
        for label in range(n_labels):
            own = 0 if is_marked else label
            if is_marked:
                new_columns[place] = label
                new_values[place] = 0.0
                place += 1
            for i in range(starts[t], starts[t + 1]):
                new_columns[place] = (columns[i] + first) * stride + own
                new_values[place] = values[i]
                place += 1
            if has_constant:
                new_columns[place] = own
                new_values[place] = 1.0
                place += 1
            row += 1
            new_starts[row] = place


class QuestionLayout:
    """Where the models of the labels keep the numbers of a feature, and what questions look like."""

    is_marked: ClassVar[bool]
    """Whether a question begins with an entry for its label."""

    def __init__(self, n_labels: int, has_constant: bool) -> None:
        self.n_labels, self.has_constant = n_labels, bool(has_constant)

    def width(self, n_features: int) -> int:
        """How many columns questions have."""
        raise NotImplementedError

    def n_features(self, width: int) -> int:
        """How many features there is room for in so many columns."""
        raise NotImplementedError

    def weights(self, coefficients: np.ndarray) -> np.ndarray:
        """The weights, a row per feature and a column per label, from those of the model of all."""
        raise NotImplementedError

    def questions(self, block: Block) -> Block:
        """The questions of the events of a block."""
        n_events = len(block.starts) - 1
        entries = int(block.starts[-1] - block.starts[0]) + (self.has_constant + self.is_marked) * n_events
        new = room_for(n_events * self.n_labels, entries * self.n_labels)
        specialise(repeat_per_label)(*block, self.n_labels, self.has_constant, self.is_marked, *new)
        return new

    def _check(self, n_features: int) -> None:
        numbers = (n_features + self.has_constant) * self.n_labels
        if numbers > MOST_FEATURES:
            raise InvalidInput(
                f"{n_features:,} features for each of {self.n_labels:,} labels are {numbers:,} numbers; at most "
                f"{MOST_FEATURES:,} are possible: hash the features, or leave out rare labels."
            )


class Interleaved(QuestionLayout):
    """Feature j of label k is column j K + k."""

    is_marked: ClassVar = False

    def width(self, n_features: int) -> int:
        self._check(n_features)
        return (n_features + self.has_constant) * self.n_labels

    def n_features(self, width: int) -> int:
        return width // self.n_labels - self.has_constant

    def weights(self, coefficients: np.ndarray) -> np.ndarray:
        return coefficients[0].reshape(-1, self.n_labels)


class Marked(QuestionLayout):
    """Feature j is column j of each label's model, and a question begins with the number of its label."""

    is_marked: ClassVar = True

    def width(self, n_features: int) -> int:
        self._check(n_features)
        return n_features + self.has_constant

    def n_features(self, width: int) -> int:
        return width - self.has_constant

    def weights(self, coefficients: np.ndarray) -> np.ndarray:
        return coefficients.T


class QuestionEvents(Events):
    """The questions of checked events."""

    def __init__(self, events: Events, n_features: int, layout: QuestionLayout, preparation: Preparation) -> None:
        self.n_events = events.n_events * layout.n_labels
        self.width = layout.width(n_features)
        self._events, self._layout, self._preparation = events, layout, preparation

    def blocks(self, preparation: Preparation) -> Iterator[tuple[slice, Block]]:
        n_labels = self._layout.n_labels
        for which, block in self._events.blocks(self._preparation):
            longest = int(np.diff(block.starts).max(initial=0)) + 2
            most = max(1, ENTRIES_AT_ONCE // (longest * n_labels))
            for piece, part in in_pieces(iter([(which, block)]), most):
                yield slice(piece.start * n_labels, piece.stop * n_labels), self._layout.questions(part)


def keeps_numbers_by_feature(update: UpdateRule) -> bool:
    """Whether all that a rule knows is in the numbers of single features, so that labels can lie interleaved."""
    return update.is_local and not update.start(1, 2).extra.size


class QuestionReader(Reader):
    """Questions come checked."""

    def read(
        self, X: QuestionEvents, y: np.ndarray, classes: object = None, may_be_unlabeled: bool = False
    ) -> tuple[Events, np.ndarray]:
        self._clf.make_room(X.width)  # type: ignore[attr-defined]
        return X, y

    def read_unlabeled(self, X: QuestionEvents) -> QuestionEvents:
        return X


class QuestionEngine(Engine):
    """A model of the questions about all labels."""

    def _take_back(self, event: PendingEvent, answer: int) -> None:
        update = self.compiled.update
        if isinstance(update, ModelPerLabel) and event.columns.size > 1:
            model = model_of(self.state, int(event.columns[0]))
            update.update.take_back(model, answer, event.predicted, event.probability)


class QuestionLearner(StreamClassifier):
    """Plays questions. Its model is that of all labels, and its budget and tickets count questions."""

    _is_for_label_sets: ClassVar[bool] = True
    _engine_kind: ClassVar = QuestionEngine

    @property
    def _reader(self) -> Reader:
        return QuestionReader(self)

    def _check_rules(self) -> None:
        super()._check_rules()
        rules = self._rules()
        if rules.update.keeps_vector_per_class(2):
            raise IncompatibleRules(
                f"{type(rules.update.innermost).__name__}(per_class=True) keeps two weight vectors where a label needs "
                "one; take the form for two classes, whose name has no M before it, such as PAA-I or D-ADA."
            )
        if isinstance(rules.query, MistakeDrivenMargin):
            raise IncompatibleRules(
                "MistakeDrivenMargin asks by the mistakes so far, which the labels of an event would share; take a "
                "query rule that reads the margin alone, such as Margin."
            )

        if rules.budget.reads_prediction:
            raise InvalidParameter(
                f"{rules.budget!r} limits labels by the predicted class, and each label of a set is only predicted to "
                "be there or not; limit the answers by a number, a share or a number a period."
            )

    def make_room(self, width: int) -> None:
        """Begin with so many columns, or add what is missing."""
        if not self._has_begun:
            self._begin(NO_AND_YES, width)
        elif self.n_features_in_ < width:
            self.widen(width)

    def ask_all(self, block: Block, when: np.ndarray, explore: Iterable[float | None]) -> list[Decision]:
        """Decide on each question of one event, each with a share of its own that is explored."""
        engine = self._ready()
        return [engine.ask(question, when, share) for question, share in zip(_one_by_one(block), explore, strict=True)]

    def tell_some(self, block: Block, answers: np.ndarray, weights: np.ndarray) -> None:
        """Learn the answers to questions of one event; MISSING where there is none."""
        engine = self._ready()
        for question, answer, weight in zip(_one_by_one(block), answers, weights, strict=True):
            if answer != MISSING:
                engine.tell(question, int(answer), float(weight))

    def learn_given(self, questions: QuestionEvents, answers: np.ndarray) -> None:
        """Learn from labels that are given, where they are."""
        self.make_room(questions.width)
        self._ready().learn_given(questions, answers, (answers != MISSING).astype(np.float64))

    def reports(self) -> list[Any]:
        """The report of each label's model, where the rule has one."""
        update = self._rules().update
        assert isinstance(update, ModelPerLabel)
        return [update.update.report(model, self.classes_) for model in update.models(self._engine.state)]  # type: ignore[attr-defined]

    def scores(self, questions: QuestionEvents) -> tuple[np.ndarray, np.ndarray]:
        """The prediction and the scores of each question."""
        return self._ready().scores_of(questions)

    @property
    def reads_time(self) -> bool:
        return isinstance(self.budget, Budget) and self.budget.reads_time


def _one_by_one(block: Block) -> Iterator[Block]:
    """Each row as a block of its own, which shares nothing with the others."""
    for first, last in zip(block.starts[:-1].tolist(), block.starts[1:].tolist(), strict=True):
        yield Block(np.array([0, last - first], np.int32), block.columns[first:last], block.values[first:last])


class EventReader(StreamClassifier):
    """Reads events of any form, as a classifier of one label would.

    It is never asked: it knows the fields of raw events, and how wide rows are.
    """

    @property
    def preparation(self) -> Preparation:
        return self._ready().compiled.preparation

    def open(self, X: Any, Y: Any) -> tuple[Any, Any, int]:
        """Several events, as raw ones or as rows, their label sets, and how many events there are."""
        if isinstance(Y, str) and isinstance(X, list | tuple) and all(isinstance(row, Mapping) for row in X):
            Y, name = [row.get(Y) for row in X], Y  # before nested fields are named, and empty ones dropped
            X = [{field: value for field, value in row.items() if field != name} for row in X]
        raw = self._reader.raw_events(X)
        if raw is None:
            if isinstance(Y, str):
                raise InvalidInput(f"X has no column {Y!r} that could hold the labels; pass them as Y.")
            rows = self._check_rows(X, reset=not self._has_begun)
            return rows, Y, length_of(rows) or 0
        return raw, raw.pop(Y) if isinstance(Y, str) else Y, raw.n_events

    def take(self, opened: Any, label: Any) -> Events:
        """The events for the loop. The first ones settle what their fields are, or how wide they are."""
        if hasattr(opened, "shape"):
            events = read_events(opened)
            if not self._has_begun:
                self._begin(NO_AND_YES, opened.shape[1])
            return events
        self._reader.match_fields(opened)
        events = self._reader.take_many(opened, NO_AND_YES)
        self._reader.remember_label(label)
        return events

    def take_one(self, x: Any, time: Any) -> tuple[Block, np.ndarray]:
        """One event that comes now, and its time."""
        return self._reader.read_new(x, time)

    def take_answered(self, x: Any) -> Block:
        """One event that came before."""
        return self._reader.read_again(x)

    def transform(self, X: Any) -> Events:
        """Several events that are only predicted."""
        return self._reader.read_unlabeled(X)
