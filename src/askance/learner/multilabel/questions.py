"""Questions: an event with K possible labels is K events of two classes, played one after the other.

Question k of an event has the event's features in columns of its own: feature j of label k is column j K + k, so that
the numbers of a feature lie side by side for all labels, and a wider stream adds columns at the end. With an intercept
label k's constant is column k, and the features follow. A rule that reads and writes the numbers of an event's own
features alone thus learns K models that know nothing of each other, in the one loop, with the one budget, the tickets
and the random numbers that a single model has; the t-th event owns K random numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from askance.compile import specialise
from askance.errors import IncompatibleRules, InvalidInput
from askance.learner.budget import Budget
from askance.learner.compiled import combine
from askance.learner.events import MOST_FEATURES, Events, Preparation, in_pieces, room_for
from askance.learner.labels import MISSING
from askance.learner.loop import MISTAKES, Block
from askance.learner.query import MistakeDrivenMargin
from askance.learner.stream_classifier import StreamClassifier
from askance.learner.trace import Decision

NO_AND_YES = np.array([False, True])
ENTRIES_AT_ONCE = 1 << 20


def spread(
    starts: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    n_labels: int,
    has_constant: bool,
    new_starts: np.ndarray,
    new_columns: np.ndarray,
    new_values: np.ndarray,
) -> None:
    """The questions of events, label by label; the constant comes last, as in a model of one label."""
    shift = 1 if has_constant else 0
    place, row = 0, 0
    new_starts[0] = 0
    for t in range(starts.size - 1):
        for label in range(n_labels):
            for i in range(starts[t], starts[t + 1]):
                new_columns[place] = (columns[i] + shift) * n_labels + label
                new_values[place] = values[i]
                place += 1
            if has_constant:
                new_columns[place] = label
                new_values[place] = 1.0
                place += 1
            row += 1
            new_starts[row] = place


class QuestionLayout:
    """Which column a feature has in each label's model."""

    def __init__(self, n_labels: int, has_constant: bool) -> None:
        self.n_labels, self.has_constant = n_labels, bool(has_constant)

    def width(self, n_features: int) -> int:
        """How many columns all models have together."""
        width = (n_features + self.has_constant) * self.n_labels
        if width > MOST_FEATURES:
            raise InvalidInput(
                f"{n_features:,} features for each of {self.n_labels:,} labels are {width:,} numbers; at most "
                f"{MOST_FEATURES:,} are possible: hash the features, or leave out rare labels."
            )
        return width

    def questions(self, block: Block) -> Block:
        """The questions of the events of a block."""
        n_events = len(block.starts) - 1
        entries = int(block.starts[-1] - block.starts[0]) + self.has_constant * n_events
        new = room_for(n_events * self.n_labels, entries * self.n_labels)
        specialise(spread)(*block, self.n_labels, self.has_constant, *new)
        return new


class QuestionEvents(Events):
    """The questions of checked events."""

    def __init__(self, events: Events, n_features: int, layout: QuestionLayout, preparation: Preparation) -> None:
        self.n_events = events.n_events * layout.n_labels
        self.width = layout.width(n_features)
        self._events, self._layout, self._preparation = events, layout, preparation

    def blocks(self, preparation: Preparation) -> Iterator[tuple[slice, Block]]:
        n_labels = self._layout.n_labels
        for which, block in self._events.blocks(self._preparation):
            longest = int(np.diff(block.starts).max(initial=0)) + 1
            most = max(1, ENTRIES_AT_ONCE // (longest * n_labels))
            for piece, part in in_pieces(iter([(which, block)]), most):
                yield slice(piece.start * n_labels, piece.stop * n_labels), self._layout.questions(part)


class QuestionLearner(StreamClassifier):
    """Plays questions. Its model is that of all labels, and its budget and tickets count questions."""

    plays_questions: ClassVar[bool] = True

    def check_rules(self) -> None:
        super().check_rules()
        rules = combine(*self._given()[:6])
        if not rules.update.is_local or rules.update.start(1, 2).extra.size:
            raise IncompatibleRules(
                f"{type(rules.update).__name__} cannot learn several labels side by side: what it keeps is not each "
                "label's own. Take a rule that keeps its numbers feature by feature, such as PAA-I, D-ADA, D-AMD or "
                "SOAL-diag."
            )
        if rules.update.keeps_vector_per_class(2):
            raise IncompatibleRules(
                f"{type(rules.update).__name__}(per_class=True) keeps two weight vectors where a label needs one; take "
                "the form for two classes, whose name has no M before it, such as PAA-I or D-ADA."
            )
        if isinstance(rules.query, MistakeDrivenMargin):
            raise IncompatibleRules(
                "MistakeDrivenMargin asks by the mistakes so far, which the labels of an event would share; take a "
                "query rule that reads the margin alone, such as Margin."
            )

    def make_room(self, width: int) -> None:
        """Begin with so many columns, or add what is missing."""
        if not self.has_begun:
            self._begin(NO_AND_YES, width)
        elif self.n_features_in_ < width:
            self.widen(width)

    def _read(
        self, X: QuestionEvents, y: np.ndarray, classes: object = None, may_be_unlabeled: bool = False
    ) -> tuple[Events, np.ndarray]:
        """Questions come checked."""
        self.make_room(X.width)
        return X, y

    def ask_all(self, block: Block, when: np.ndarray, explore: float | None) -> list[Decision]:
        """Decide on each question of one event."""
        compiled = self._compiled_learner()
        self._refresh_budget_state(compiled)
        return [self._decide(compiled, question, when, explore) for question in _one_by_one(block)]

    def tell_some(self, block: Block, answers: np.ndarray, weights: np.ndarray) -> None:
        """Learn the answers to questions of one event; MISSING where there is none."""
        compiled = self._compiled_learner()
        for question, answer, weight in zip(_one_by_one(block), answers, weights, strict=True):
            if answer != MISSING:
                self._budget_state.counts[MISTAKES] += self._learn_one(compiled, question, int(answer), float(weight))

    def learn_given(self, questions: QuestionEvents, answers: np.ndarray) -> None:
        """Learn from labels that are given, where they are."""
        self.make_room(questions.width)
        compiled = self._compiled_learner()
        weights = (answers != MISSING).astype(np.float64)
        for which, block in questions.blocks(compiled.preparation):
            compiled.learn_given(
                compiled.parameters.update, self._state, self._recent, block, answers[which], weights[which],
                weights[which],
            )  # fmt: skip

    def scores(self, questions: QuestionEvents) -> tuple[np.ndarray, np.ndarray]:
        """The prediction and the scores of each question."""
        return self._scores_of(questions)

    def _predict_scores(self, X: QuestionEvents) -> tuple[np.ndarray, np.ndarray]:
        return self._scores_of(X)

    @property
    def reads_time(self) -> bool:
        return isinstance(self.budget, Budget) and self.budget.reads_time


def _one_by_one(block: Block) -> Iterator[Block]:
    """Each row as a block of its own, which shares nothing with the others."""
    for first, last in zip(block.starts[:-1].tolist(), block.starts[1:].tolist(), strict=True):
        yield Block(np.array([0, last - first], np.int32), block.columns[first:last], block.values[first:last])
