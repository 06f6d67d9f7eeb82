"""The model of a stream of label sets: the interface of ``Learner``, with a question for each label of an event.

Labels and predictions are numbers of ``label_space``. The budget counts questions, as in the library: whether an event
has a label is one. What is stored as the scores of an event has a ``LabelQuestion`` for each label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from askance.data.encoding.encoder import Cells
from askance.data.encoding.rows import FieldError
from askance.learner.base import NO_TIMES
from askance.learner.events import SparseEvents, in_pieces
from askance.learner.files import to_bytes
from askance.learner.labels import MISSING
from askance.learner.loop import Block
from askance.learner.multilabel.classifier import MultiLabelClassifier, make_multilabel
from askance.learner.multilabel.questions import QuestionEvents, QuestionLearner
from askance.learner.trace import Decision
from askance_live.config import AskingSettings, ModelSettings
from askance_live.engine.exploration import budget_of
from askance_live.engine.label_sets.exploration import LabelSetExploration
from askance_live.engine.label_sets.question import LabelQuestion, asked_about
from askance_live.engine.label_sets.tracker import AnsweredLabel, LabelSetTracker
from askance_live.engine.label_space import known_of, pack
from askance_live.engine.learner import SPARE_COLUMNS, Answer, Decided, Learner, most_model_bytes
from askance_live.engine.preset_versions import set_preset_version
from askance_live.engine.start import Start
from askance_live.exchange.received import Incoming
from askance_live.problems import Unusable


def label_set_classifier(model: ModelSettings, asking: AskingSettings) -> MultiLabelClassifier:
    """The classifier that the settings ask for."""
    budget = budget_of(asking)
    clf = make_multilabel(
        model.algorithm, labels=list(model.classes), random_state=model.seed, max_pending=0, budget=budget,
        **{"intercept": True, **model.parameters},
    )  # fmt: skip
    set_preset_version(clf, model.edition, budget)
    return clf


class LabelSetLearner(Learner):
    """Predicts label sets, decides which labels are asked about, learns."""

    classifier_kind: ClassVar = QuestionLearner
    exploration_kind: ClassVar[Any] = LabelSetExploration
    tracker_kind: ClassVar = LabelSetTracker
    tracker: LabelSetTracker
    exploring: Any

    def __init__(
        self, model: ModelSettings, asking: AskingSettings, most_fields: int = 10_000, start: Start | None = None
    ) -> None:
        super().__init__(model, asking, most_fields, start)
        _, self._layout, self._preparation = label_set_classifier(model, asking).parts()

    def new_classifier(self, asking: AskingSettings) -> Any:
        return label_set_classifier(self.model, asking).parts()[0]

    # --- events ------------------------------------------------------------------------------------------

    @property
    def _room(self) -> int:
        """How many features the classifier has room for."""
        return self._layout.n_features(self.clf.n_features_in_)

    def _widen(self) -> None:
        width = self.features.encoder.width
        if not self.clf._has_begun or width > self._room:
            self.clf.make_room(self._layout.width(width + SPARE_COLUMNS))

    def _decide(self, cells: Cells, events: Sequence[Incoming], after: int) -> list[Decided]:
        if not cells.n_rows:
            return []
        starts, columns, values = self.features.encoder.rows(cells)
        self._widen()
        blocks = self._blocks(starts, columns, values)
        return [
            self._decide_one(event, block, after + 1 + row)
            for row, (event, block) in enumerate(zip(events, blocks, strict=True))
        ]

    def _blocks(self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray) -> Iterator[Block]:
        """Events as the layout of questions takes them, one by one."""
        events = SparseEvents(starts, columns, values, self._room, len(starts) - 1)
        return (block for _, block in in_pieces(events.blocks(self._preparation), 1))

    def _decide_one(self, event: Incoming, block: Block, seq: int) -> Decided:
        levels = self.exploring.levels
        self._follow_clock(event.received)
        when = np.array([event.received]) if self.clf.reads_time else NO_TIMES
        decisions: list[Decision] = self.clf.ask_all(self._layout.questions(block), when, levels)
        n_asked = n_asked_here = sum(decision.asked for decision in decisions)
        if event.stored_scores:
            n_asked = known_of(asked_about(event.stored_scores)).bit_count()
        if n_asked != n_asked_here:
            self.clf._set_labels_asked(self.clf.labels_asked_ + n_asked - n_asked_here)
        for _ in range(n_asked):
            self.count_asked()
        predicted = [bool(decision.label) for decision in decisions]
        scores = [decision.margin for decision in decisions]
        if self.clf.update.probabilistic:
            scores = self._block_scores(block)
        chances = self._chances(scores)
        asking = [(decision.probability, decision.asked) for decision in decisions]
        self.tracker.event_of_labels(seq, predicted, chances, asking)
        return Decided(
            predicted=pack(dict(enumerate(predicted))),
            probabilities=chances,
            scores=[
                LabelQuestion(score, decision.probability, decision.asked, decision.audit)
                for score, decision in zip(scores, decisions, strict=True)
            ],
            asked=n_asked_here > 0,
            why=self.exploring.count_decisions(decisions),
            probability=1.0 - prod(1.0 - decision.probability for decision in decisions),
            audit=any(decision.audit for decision in decisions),
            audit_probability=1.0 - prod(
                1.0 - min(level, decision.probability) for level, decision in zip(levels, decisions, strict=True)
            ),
            about=pack({place: False for place, decision in enumerate(decisions) if decision.asked}),
            n_asked=n_asked_here,
        )  # fmt: skip

    def _block_scores(self, block: Block) -> list[float]:
        """How far an event lies towards each label; leaves no trace."""
        columns, values = (part[block.starts[0] : block.starts[-1]] for part in (block.columns, block.values))
        starts = np.array([0, len(columns)], np.int32)
        events = SparseEvents(starts, columns.astype(np.int32), values, self._room)
        questions = QuestionEvents(events, self._room, self._layout, self._preparation._replace(normalise=False))
        scores = self.clf.decision_function(questions)
        if self.clf.update.probabilistic:
            scores = 1.7 * scores  # a probit's spread as a logistic one's
        return list(np.ravel(scores).tolist())

    def _chances(self, scores: list[float]) -> list[float]:
        """The probability of each label, calibrated by the answers about all of them together."""
        return [self.calibration.probabilities([score])[1] for score in scores]

    # --- answers -----------------------------------------------------------------------------------------

    def learn(self, answer: Answer) -> None:
        """Learn what is known of an event's labels, each weighed and judged by what was decided when it came."""
        with self._lock:
            answers = np.full(len(self.classes), MISSING, np.int32)
            weights = np.ones(len(self.classes))
            told = []
            for place, stored in enumerate(answer.scores):
                if not known_of(answer.label) >> place & 1:
                    continue
                question = LabelQuestion(*stored)
                has_label = bool(answer.label >> place & 1)
                answers[place] = has_label
                if question.asked and question.probability > 0.0:
                    weights[place] = 1.0 / question.probability
                weight = float(weights[place])
                predicted = bool(answer.predicted >> place & 1)
                told.append(AnsweredLabel(place, has_label, predicted, weight, bool(question.audit)))
                self.calibration.learn([question.score], int(has_label), weight)
                self.exploring.count_answer(place, has_label)
            columns, values = self.encode(answer.fields)
            (block,) = self._blocks(np.array([0, len(columns)], np.int32), columns, values)
            self.clf.tell_some(self._layout.questions(block), answers, weights)
            self.tracker.answer_of_labels(answer.event, told, answer.received)

    # --- looking -----------------------------------------------------------------------------------------

    def predict(self, fields: Mapping[str, Any]) -> tuple[int, list[float]]:
        with self._lock:
            try:
                columns, values = self.encode(fields, is_from_log=False)
            except FieldError as error:
                raise Unusable.of(error) from None
            if not self.clf._has_begun:
                return pack(dict.fromkeys(range(len(self.classes)), False)), [0.5] * len(self.classes)
            (block,) = self._blocks(np.array([0, len(columns)], np.int32), columns, values)
            scores = self._block_scores(block)
            return pack({place: score >= 0.0 for place, score in enumerate(scores)}), self._chances(scores)

    def weights_towards(self, label: int) -> np.ndarray | None:
        if not self.clf._has_begun or not hasattr(self.clf, "coef_"):
            return None
        return self._layout.weights(self.clf.coef_)[int(self._layout.has_constant) :, label]

    # --- the whole of it ---------------------------------------------------------------------------------

    def _classifier_bytes(self) -> bytes:
        return to_bytes(self.clf, label_sets=np.empty(0, np.uint8))

    @classmethod
    def most_bytes(cls, model: ModelSettings, width: int, start: Start | None = None) -> int:
        learner, layout, _ = label_set_classifier(model, AskingSettings()).parts()
        return most_model_bytes(learner._rules().update, layout.width(width + SPARE_COLUMNS), 2)
