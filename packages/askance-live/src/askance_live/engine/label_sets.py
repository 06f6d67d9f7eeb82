"""Streams of label sets: what differs from a stream whose events have one class.

Labels and predictions are numbers of ``label_space``. The budget counts questions, as in the library: whether an event
has a label is one. What is stored as the scores of an event has a ``LabelQuestion`` for each label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, ClassVar, NamedTuple

import msgspec
import numpy as np

from askance.data.encoding.encoder import Cells
from askance.data.encoding.rows import FieldError
from askance.evaluate.drift import DriftSignal
from askance.evaluate.quality import Monitor
from askance.learner.engine import NO_TIMES
from askance.learner.events import SparseEvents, in_pieces
from askance.learner.files import to_bytes
from askance.learner.labels import MISSING
from askance.learner.loop import Block
from askance.learner.multilabel.classifier import MultiLabelClassifier, make_multilabel
from askance.learner.multilabel.questions import QuestionEvents, QuestionLearner
from askance.learner.trace import Decision
from askance_live.config import AskingSettings, ModelSettings
from askance_live.engine.exploration import AUDIT, COLD_PATIENCE, COLD_START, LEAST_COLD, MEMORY, UNCERTAIN, budget_of
from askance_live.engine.label_space import known_of, pack
from askance_live.engine.learner import SPARE_COLUMNS, Answer, Decided, Learner, most_model_bytes
from askance_live.engine.preset_versions import set_preset_version
from askance_live.engine.quality_tracker import KEEP, WINDOW, QualityTracker
from askance_live.engine.start import Start
from askance_live.exchange.received import Incoming
from askance_live.problems import Unusable

PATIENCE = 20  # answers that said no, after which a label is not cold any more
NO, YES = "no", "yes"
MOST_RECENT = 20_000  # questions
OUTCOMES = ("right_no", "right_yes", "wrong_yes", "missed")


def learner_kind(model: ModelSettings) -> type[Learner]:
    """The learner that the settings ask for: of single classes, or of label sets."""
    return LabelSetLearner if model.label_sets else Learner


# --- what is stored --------------------------------------------------------------------------------------


class LabelQuestion(NamedTuple):
    """What was decided for a label of an event as it came."""

    score: float
    probability: float
    """With which it could be asked."""
    asked: bool
    audit: bool


_decode = msgspec.json.Decoder(list[LabelQuestion]).decode


def read_questions(stored: str) -> list[LabelQuestion]:
    """A question for each label, by what is stored as the scores of an event."""
    return _decode(stored)


def asked_about(stored: str) -> int:
    """The labels that an event was asked about: a number of ``label_space`` in which they are known."""
    return pack({place: False for place, question in enumerate(read_questions(stored)) if question.asked})


# --- which labels are asked about ------------------------------------------------------------------------


class LabelSetExploration:
    """Which labels of an event are asked about: as ``Exploration``, for each label on its own.

    cold start  until an event with the label was seen, or ``PATIENCE`` answers said no: a rare label is then left to
                the query rule and to the random sample, which find it in time
    audit       then: with the probability that makes the sample the wanted share of all questions
    """

    def __init__(self, settings: AskingSettings, n_labels: int) -> None:
        self.settings = settings
        self.cold_asked = [0] * n_labels
        self.answered = [0] * n_labels
        self.found = [0] * n_labels
        """How many answers said that an event has the label."""
        self.share = settings.rate
        """The recent mean of the probability of asking."""

    def is_cold(self, place: int) -> bool:
        """Whether nobody has said yet that an event has a label, and not many that none has."""
        return not self.found[place] and self.answered[place] < PATIENCE

    @property
    def levels(self) -> list[float]:
        """For each label, the least probability with which the next event is asked about it."""
        return [self._level(place) for place in range(len(self.found))]

    def _level(self, place: int) -> float:
        if self.is_cold(place):
            waiting = max(0, self.cold_asked[place] - self.answered[place])
            return max(LEAST_COLD, (1.0 + waiting / COLD_PATIENCE) ** -2)
        return min(1.0, self.settings.audit * self.share)

    def count_decisions(self, decisions: Sequence[Decision]) -> str:
        """Take the decisions on an event in; why it is asked about, if it is: the first reason that one label has."""
        whys = set()
        for place, decision in enumerate(decisions):
            is_cold = self.is_cold(place)
            if is_cold:
                self.cold_asked[place] += decision.asked
            elif decision.probability > 0.0:  # else the budget is spent
                self.share += (decision.probability - self.share) / (MEMORY * len(decisions))
            if decision.asked:
                whys.add(COLD_START if is_cold else AUDIT if decision.audit else UNCERTAIN)
        return next((why for why in (COLD_START, AUDIT, UNCERTAIN) if why in whys), "")

    def count_answer(self, place: int, has_label: bool) -> None:
        """An answer about a label was learned."""
        self.answered[place] += 1
        self.found[place] += has_label

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "settings": self.settings.document()}

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> LabelSetExploration:
        new = cls(AskingSettings.from_document(kept["settings"]), len(kept["found"]))
        for name, value in kept.items():
            if name != "settings":
                setattr(new, name, value)
        return new


# --- how good the predictions are ------------------------------------------------------------------------


class AnsweredLabel(NamedTuple):
    """What was said of a label of an event, and what had been predicted of it."""

    place: int
    has_label: bool
    predicted: bool
    weight: float
    audit: bool


class LabelSetTracker(QualityTracker):
    """How good predicted label sets are: the estimates of ``QualityTracker``, with a question in the place of an event.

    Over all questions the accuracy is 1 - Hamming loss, and precision, recall and F1 of "yes" are the micro-averaged
    ones, each with its interval. For each label the answers are summed up, each with its weight 1 / (ask probability):

        F1(label) = 2 tp / (2 tp + fp + fn)

    and macro F1 is their mean, over the labels that an answer or a prediction has shown. Of how many events the whole
    set is right is not estimated: but for the first events, few are asked about all of their labels.
    """

    def __init__(self, classes: list[str]) -> None:
        super().__init__([NO, YES])
        self.names = list(classes)
        self.monitor, self.early = (Monitor(self.classes, window=self._most_recent, max_pending=KEEP) for _ in range(2))
        self.outcomes = {name: [0.0] * len(classes) for name in OUTCOMES}
        """By label: the weights of answers that said what was predicted, or something else."""

    @property
    def _most_recent(self) -> int:
        return min(MOST_RECENT, WINDOW * len(self.names))

    @property
    def window(self) -> int:
        return self._most_recent // len(self.names)

    def event_of_labels(
        self, seq: int, predicted: Sequence[bool], chances: Sequence[float], asking: Sequence[tuple[float, bool]]
    ) -> None:
        """An event came, with so many questions."""
        probabilities, asked = [probability for probability, _ in asking], [is_asked for _, is_asked in asking]
        pairs = [(1.0 - chance, chance) for chance in chances]
        self.events(self._ticket(seq, 0), [int(is_there) for is_there in predicted], pairs, probabilities, asked)

    def answer_of_labels(self, seq: int, answers: Sequence[AnsweredLabel], received: float) -> None:
        """Answers about an event are learned."""
        for place, has_label, predicted, weight, audit in answers:
            ticket = self._ticket(seq, place)
            before = self.monitor.answer_to(ticket)
            self.answer(ticket, int(has_label), int(predicted), weight, audit, received)
            if self.monitor.answer_to(ticket) is None:
                continue  # of before the model began to learn, or not asked about
            if before is not None:
                self.outcomes[_outcome(before == YES, predicted)][place] -= weight
            self.outcomes[_outcome(has_label, predicted)][place] += weight

    def _ticket(self, seq: int, place: int) -> int:
        return seq * len(self.names) + place

    def by_label(self) -> dict[str, dict[str, float | None]]:
        """Precision, recall and F1 of each label; None where nothing was shown that they could be of."""
        found = {}
        for place, name in enumerate(self.names):
            right, wrong, missed = (self.outcomes[kind][place] for kind in ("right_yes", "wrong_yes", "missed"))
            found[name] = {
                "precision": _share(right, right + wrong),
                "recall": _share(right, right + missed),
                "f1": _share(2.0 * right, 2.0 * right + wrong + missed),
            }
        return found

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> LabelSetTracker:
        new = cls(kept["names"])
        for name in ("alarm", "labels", "step", "next", "curve", "outcomes"):
            setattr(new, name, kept[name])
        new.monitor, new.early = Monitor.from_dict(kept["monitor"]), Monitor.from_dict(kept["early"])
        new.drift = DriftSignal.from_dict(kept["drift"])
        return new


def _outcome(has_label: bool, predicted: bool) -> str:
    if has_label == predicted:
        return "right_yes" if has_label else "right_no"
    return "wrong_yes" if predicted else "missed"


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 6) if whole > 1e-9 else None


# --- the learner -----------------------------------------------------------------------------------------


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
