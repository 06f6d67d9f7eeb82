"""The model of the service, a pure function of its settings and of what came in, in order.

Two things move it: an event (``decide``), which moves the running statistics of the features and takes one random
number, whatever becomes of it; and an answer (``learn``). The clock, the queue and the store have no
part in it: the same sequence gives the same model, bit for bit, in one process or over ten restarts. One thread moves
it; others may ask it for predictions meanwhile, which wait for what that thread does to it, and never for the store.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec
import numpy as np

from askance.data.encoding.assemble import csr
from askance.data.encoding.columns import gather_columns
from askance.data.encoding.encoder import Cells
from askance.data.encoding.explain import effects, towards
from askance.data.encoding.rows import FieldError, Plan, RowFeatures, flatten
from askance.errors import AskanceError, ModelFileError
from askance.evaluate.calibration import OnlineCalibration
from askance.learner.budget_kinds import HOUR
from askance.learner.classifier import StreamClassifier
from askance.learner.files import from_bytes, to_bytes
from askance.learner.group import NOT_KNOWN, Decisions
from askance.learner.make import make_stream_classifier
from askance.learner.state import SAVED
from askance_live.clock import STEP
from askance_live.config import ALGORITHM, AskingSettings, ModelSettings
from askance_live.dashboard.counts import counted_periods
from askance_live.engine.exploration import Exploration, budget_of
from askance_live.engine.preset_versions import set_preset_version
from askance_live.engine.quality_tracker import QualityTracker
from askance_live.exchange.received import Incoming
from askance_live.problems import TooManyFields, Unusable

if TYPE_CHECKING:
    from askance.learner.budget import Budget
    from askance.learner.rule import UpdateRule
    from askance_live.engine.start import Start

SPARE_COLUMNS = 16  # so that not every new field of numbers copies the model
FORMAT = 6
Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
MOST_WORDS, MOST_FIELDS = 5, 3  # effects: readers need no more
LEAST_OF_KIND = 1 / 3  # of the strongest word, or of the strongest field: one number must not hide all words
LEAST_OF_ALL = 1 / 20
HOURS_KEPT = 200  # in which something was asked; more if a period is longer


class Decided(NamedTuple):
    """What was decided for one event as it came."""

    predicted: int
    probabilities: list[float]
    scores: list[Any]
    """What ``learn`` wants to know of the event when its answer comes: a number or one for each class."""
    asked: bool
    why: str
    probability: float
    """With which it could be asked: 0 where the budget was spent."""
    audit: bool
    audit_probability: float
    widened: Mapping[str, str] = {}
    """The settled fields that got a wider kind with it, after too many stray values."""
    about: int | None = None
    """Of label sets: the labels that are asked about, as a number of ``label_space`` in which they are known."""
    n_asked: int = 1
    """How much of the budget the question takes, if there is one."""


class Answer(NamedTuple):
    """An answer to learn, with what was said of its event when that came."""

    event: int
    fields: Mapping[str, Any]
    label: int
    predicted: int
    scores: list[Any]
    weight: float
    """1 / probability of the question; 1 for what was never asked."""
    audit: bool
    received: float
    agreement: float = 1.0
    """By how much less the model moves, as the people who said so were fewer; the estimates go by ``weight`` alone."""

    @classmethod
    def of(cls, row: Any, weight: float, agreement: float = 1.0) -> Answer:
        """From a row that has the event and the label of an answer, and the columns of its event, by their names."""
        return cls(
            row.event, msgspec.json.decode(row.fields), row.label, row.predicted, msgspec.json.decode(row.scores),
            weight, bool(row.audit), row.received, agreement,
        )  # fmt: skip


def classifier(model: ModelSettings, asking: AskingSettings) -> Any:
    """The classifier that the settings ask for. What waits for an answer is kept in the store, so it keeps nothing."""
    parameters = {"intercept": True, **model.parameters}
    if model.algorithm == ALGORITHM and not parameters.keys() & {"objective", "costs"}:
        parameters["objective"] = "accuracy"  # it is judged by that, and suggests what is most probable
    budget = budget_of(asking)
    clf = make_stream_classifier(
        model.algorithm, classes=list(model.classes), n_features=SPARE_COLUMNS, random_state=model.seed, max_pending=0,
        budget=budget, **parameters,
    )  # fmt: skip
    set_preset_version(clf, model.edition, budget)
    return clf


class Learner:
    """Predicts, decides what is asked, learns. Each event has one class; ``LabelSetLearner`` is for sets of them."""

    classifier_kind: ClassVar[type[StreamClassifier]] = StreamClassifier
    exploration_kind: ClassVar[type[Exploration]] = Exploration
    tracker_kind: ClassVar[type[QualityTracker]] = QualityTracker

    def __init__(
        self, model: ModelSettings, asking: AskingSettings, most_fields: int = 10_000, start: Start | None = None
    ) -> None:
        self.model, self.start = model, start
        self._lock = threading.RLock()  # a prediction borrows the running statistics for a moment
        self.classes = list(model.classes)
        """What it predicts, in the order of its scores."""
        self.labels = list(model.places)
        """Every label by its place in the log; those that were retired are no classes."""
        self._place = {label: place for place, label in enumerate(self.labels)}
        self._own = {self._place[label]: own for own, label in enumerate(self.classes)}
        self._in_order = self.labels == self.classes
        self._needed = {
            place: n for n, place in enumerate(p for p in sorted(self._own) if self.labels[p] not in model.added)
        }
        self.most_fields = most_fields
        self.features = RowFeatures(
            model.fields, hash_bits=model.hash_bits, ngrams=model.ngrams, na_values=model.na_values
        )
        self.clf: Any = None
        self.exploring = self.exploration_kind(asking, len(self._needed))
        self.calibration = OnlineCalibration()
        if start is None:
            self.clf = self.new_classifier(asking)
        else:
            self.clf, self.features = start.begin(asking)
            self.calibration, self.exploring.class_counts = start.begin_calibration(self.clf)
        self.tracker = self.tracker_kind(self.labels)
        self.time = -inf
        """When the last event came."""
        self.asked_in: dict[int, int] = {}
        """Questions by the hour of their event, of the last hours that had any."""
        self._periods = counted_periods()
        self.version = 0
        """The number of the last answer learned."""

    def new_classifier(self, asking: AskingSettings) -> Any:
        """A classifier that knows nothing."""
        return classifier(self.model, asking)

    @property
    def algorithm(self) -> str:
        """What the algorithm is called."""
        return self.model.algorithm if self.start is None else self.start.algorithm

    def hold_since(self, seq: int) -> None:
        """Classes and kinds of fields are these since this entry of the log, the last that it was made from."""
        with self._lock:
            self.model = replace(self.model, since=seq)

    def follow(self, asking: AskingSettings) -> None:
        """Ask as much as these settings say from now on."""
        with self._lock:
            self.exploring.settings = asking
            self.clf.budget = self._budget_for(asking)

    def _budget_for(self, asking: AskingSettings) -> Budget:
        """The budget of the classifier."""
        budget: Budget = self.new_classifier(asking).budget if self.start is None else self.start.budget(asking)
        return budget

    # --- events ------------------------------------------------------------------------------------------

    def decide(self, events: Sequence[Incoming], after: int) -> list[Decided | AskanceError]:
        """Predict events in order, and decide which are asked about.

        An event whose fields cannot be used gives its error, and leaves no trace; the others are numbered in the log
        from ``after`` + 1 on. How the events are divided into calls changes nothing.
        """
        with self._lock:
            return self._decide_all(events, after)

    def _decide_all(self, events: Sequence[Incoming], after: int) -> list[Decided | AskanceError]:
        known = None
        if len(self.features.kinds) <= self.most_fields:
            known = gather_columns(self.features, [event.fields for event in events])
        if known is not None:
            return [*self._decide(known, events, after)]
        cells, taken = Cells(), list[Incoming]()
        outcomes: list[Decided | AskanceError | None] = []
        decided: list[Decided] = []
        widened: dict[int, Mapping[str, str]] = {}
        for event in events:
            try:
                plan = self._plan(event)
            except (FieldError, AskanceError) as error:
                outcomes.append(error if isinstance(error, AskanceError) else Unusable.of(error))
                continue
            if plan.kinds:  # the model may become wider: at this event
                decided += self._decide(cells, taken, after + len(decided))
                cells, taken = Cells(), []
                if plan.promoted:
                    widened[len(decided)] = plan.promoted
            self.features.take(cells, plan)
            outcomes.append(None)
            taken.append(event)
        decided += self._decide(cells, taken, after + len(decided))
        for place, kinds in widened.items():
            decided[place] = decided[place]._replace(widened=kinds)
        decisions = iter(decided)
        return [next(decisions) if outcome is None else outcome for outcome in outcomes]

    def _plan(self, event: Incoming) -> Plan:
        """What an event becomes; one that cannot be used changes nothing but the count of stray values."""
        flat = self._flatten(event.fields)
        known = self.features.kinds
        if len(known) + len(flat) > self.most_fields and len(known.keys() | flat.keys()) > self.most_fields:
            raise TooManyFields(
                f"the event brings the number of different fields above {self.most_fields:,}; "
                "are there identifiers among the names of the fields?"
            )
        plan = self.features.plan(flat, event.widened, is_from_log=event.was_asked is not None)
        if plan.error is not None:
            if not event.is_repeated:
                self.features.mismatches.add(plan.mismatches)
            raise plan.error
        return plan

    def _decide(self, cells: Cells, events: Sequence[Incoming], after: int) -> list[Decided]:
        if not cells.n_rows:
            return []
        rows = self.features.encoder.rows(cells)
        self._widen()
        ask_next = self.clf._ask_batch(*rows)
        decided: list[Decided] = []
        while len(decided) < len(events):
            first = len(decided)
            self._follow_clock(events[first].received)
            part = events[first : self._end_of_moment(events, first)]
            times, were_asked = np.array([event.received for event in part]), _were_asked(part)
            exploring = self.exploring.as_arrays()
            decisions = ask_next(times, exploring, were_asked)
            if (recorded := part[0].recorded) is not None:
                self.exploring.count_recorded(recorded)
            else:
                self.exploring.follow(exploring)
            self.time = max(self.time, part[-1].received)
            for asked in np.where(were_asked == NOT_KNOWN, decisions.record.asked, were_asked).tolist():
                if asked:
                    self.count_asked()
            decided += self._describe(decisions, part, self._scores_of(decisions, rows, first), after + 1 + first)
        return decided

    def _end_of_moment(self, events: Sequence[Incoming], first: int) -> int:
        """Up to where events can be decided on in one go, after the clock has come to the ``first``: those after it
        came at the same time or a little later, and begin no hour, day or so that a budget counts in. Of the log, an
        event goes alone of which something else was said when it came."""
        if self.clf.update.probabilistic or events[first].recorded is not None:  # scores are taken one by one
            return first + 1
        now, last = self.time, first + 1
        while last < len(events):
            received = events[last].received
            if events[last].recorded is not None:
                break
            if received != now:
                if received < now or any(received // length != now // length for length in self._periods):
                    break
                now = received
            last += 1
        return last

    def _describe(
        self, decisions: Decisions, part: Sequence[Incoming], scores: list[list[float]], seq: int
    ) -> list[Decided]:
        """What was decided, event by event, the first with this number; the estimates take it in."""
        record, places = decisions.record, self._places()
        predicted = [places[place] for place in record.predicted.tolist()]
        chances, asked = record.probability.tolist(), record.asked.tolist()
        probabilities = [self._by_place(self.calibration.probabilities(of_classes)) for of_classes in scores]
        if (said := part[0].recorded) is not None:
            self.tracker.events(seq, [said.predicted], [said.probabilities], [said.probability], [said.asked])
        else:
            self.tracker.events(seq, predicted, probabilities, chances, asked)
        audits, explored = record.audit.tolist(), decisions.explored.tolist()
        return [
            Decided(
                place, of_classes, values, is_asked, self.exploring.why(is_audit) if is_asked else "", chance, is_audit,
                min(level, chance),  # 0 where the budget is spent
            )
            for place, of_classes, values, is_asked, chance, is_audit, level in zip(
                predicted, probabilities, scores, asked, chances, audits, explored, strict=True
            )
        ]  # fmt: skip

    def _places(self) -> list[int]:
        """The place of each class of the classifier's among those of the settings."""
        return [self._place[label] for label in self.clf.classes_.tolist()]

    def _by_place(self, chances: list[float]) -> list[float]:
        """Probabilities of the classes, by the places of all labels; a retired one has none."""
        if self._in_order:
            return chances
        found = [0.0] * len(self.labels)
        for place, own in self._own.items():
            found[place] = chances[own]
        return found

    def _follow_clock(self, received: float) -> None:
        """Where the clock was set back, or comes to an hour, a day or so once more, budgets go by what was asked
        in it."""
        if received < self.time - STEP or any(
            received // length != self.time // length and self._asked_since(received // length * length, length)
            for length in self._periods
        ):
            asked = {length: self._asked_since(received // length * length, length) for length in self._periods}
            self.clf._move_time(received, asked)
            self.time = received
        self.time = max(self.time, received)

    def _asked_since(self, start: float, length: int) -> int:
        """Questions about events of the period of this length that begins at ``start``."""
        return sum(asked for hour, asked in self.asked_in.items() if start <= hour * HOUR < start + length)

    def count_asked(self) -> None:
        """Count a question of the hour of the last event."""
        hour = int(self.time // HOUR)
        if hour not in self.asked_in and len(self.asked_in) >= max(HOURS_KEPT, self._periods[-1] // HOUR):
            del self.asked_in[next(iter(self.asked_in))]
        self.asked_in[hour] = self.asked_in.get(hour, 0) + 1

    def _scores_of(self, decisions: Decisions, rows: Rows, first: int) -> list[list[float]]:
        """A score for the second of two classes, or one for each of several, of the events decided on just now, the
        first of which is row ``first``."""
        if self.clf.update.probabilistic:
            starts, columns, values = rows
            which = slice(starts[first], starts[first + 1])
            return [self._scores(columns[which], values[which])]
        scores = decisions.scores
        if scores.shape[1] == 1:
            scores = decisions.record.margin[:, None]
        elif len(self.classes) == 2:
            scores = scores[:, 1:] - scores[:, :1]
        found: list[list[float]] = scores.tolist()
        return found

    def _widen(self) -> None:
        width = self.features.encoder.width
        if not hasattr(self.clf, "n_features_in_"):
            if width > self.clf.n_features:
                self.clf.n_features = width + SPARE_COLUMNS
        elif width > self.clf.n_features_in_:
            self.clf.widen(width + SPARE_COLUMNS)

    def _scores(self, columns: np.ndarray, values: np.ndarray) -> list[float]:
        """The same, of any event, which leaves no trace."""
        X = csr(np.array([0, len(columns)], np.int32), columns, values, self.clf.n_features_in_)
        scores = self.clf.decision_function(X)
        if self.clf.update.probabilistic:
            scores = 1.7 * scores  # a probit's spread as a logistic one's
        return list(np.ravel(scores).tolist())

    # --- answers -----------------------------------------------------------------------------------------

    def learn(self, answer: Answer) -> None:
        """Learn an answer, weighed and judged by what was decided when its event came.

        One whose label is retired teaches nothing, but what was said of its event is judged by it. The scores of an
        event from before classes or kinds changed are those of another model; this one's are taken, before it learns.
        """
        with self._lock:
            if (own := self._own.get(answer.label)) is not None:
                x = self.encode(answer.fields)
                scores = answer.scores if answer.event > self.model.since else self._scores(*x)
                self.clf.tell(x, self.classes[own], weight=answer.weight * answer.agreement)
                self.calibration.learn(scores, own, answer.weight)
                self.exploring.count_answer(self._needed.get(answer.label))
            self.tracker.answer(
                answer.event, answer.label, answer.predicted, answer.weight, answer.audit, answer.received
            )

    def encode(self, fields: Mapping[str, Any], is_from_log: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """One event, with fields and running statistics left as they are.

        Fields never seen are left out, and so are values that would make a kind wider: nothing was learned of them.
        """
        return self.features.transform_row(self._flatten(fields), self.features.encoder.scaling.as_next, is_from_log)

    def _flatten(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of an event by their full names; the one that held the label of a saved model is none."""
        flat = flatten(fields)
        if self.features.label is not None:
            flat.pop(self.features.label, None)
        return flat

    # --- looking -----------------------------------------------------------------------------------------

    def predict(self, fields: Mapping[str, Any]) -> tuple[int, list[float]]:
        """What the model says of an event now; nothing changes. From any thread."""
        with self._lock:
            try:
                columns, values = self.encode(fields, is_from_log=False)
            except FieldError as error:
                raise Unusable.of(error) from None
            if not hasattr(self.clf, "n_features_in_"):
                even = [1.0 / len(self.classes)] * len(self.classes)
                return self._place[self.classes[0]], self._by_place(even)
            scores = self._scores(columns, values)
            chances = self._by_place(self.calibration.probabilities(scores))
        best = int(scores[0] >= 0.0) if len(scores) == 1 else max(range(len(scores)), key=scores.__getitem__)
        return self._place[self.classes[best]], chances

    def explain(self, fields: Mapping[str, Any], label: int) -> list[dict[str, Any]]:
        """The few words and fields that moved the score most, the strongest first; positive effects speak for
        ``label``. Words count singly, not in pairs."""
        if (own := self._own.get(label)) is None:  # retired since
            return []
        with self._lock:
            if (weights := self.weights_towards(own)) is None:
                return []
            pushes = effects(self.features, flatten(fields), weights)
        rated: list[dict[str, Any]] = [
            {"field": found.field, "word": found.word, "value": found.value, "effect": round(found.push, 6)}
            for found in pushes
        ]
        strongest = max((abs(item["effect"]) for item in rated), default=0.0)
        whole = [item for item in rated if item["word"] is None]
        spoken = [item for item in rated if item["word"] is not None]
        few = _few(whole, MOST_FIELDS, strongest) + _few(spoken, MOST_WORDS, strongest)
        return sorted(few, key=lambda item: -abs(item["effect"]))

    def weights_towards(self, label: int) -> np.ndarray | None:
        """The weights that speak for a class; None where the model has none."""
        if not hasattr(self.clf, "n_features_in_") or not hasattr(self.clf, "coef_"):
            return None
        return towards(self.clf.coef_, label)

    # --- the whole of it ---------------------------------------------------------------------------------

    def dump(self) -> bytes:
        """All of it, for ``load``; equal models give equal bytes."""
        with self._lock:
            return self._dump()

    def _dump(self, with_clock: bool = True) -> bytes:
        kept = self.features.to_dict()
        del kept["strays"]  # they are no part of the log: what gives way to them is
        scaling = {name: array.tolist() for name, array in kept["scaling"].items()}
        document = {
            "format": FORMAT,
            "model": self.model.document(),
            "features": {**kept, "scaling": scaling},
            "exploring": self.exploring.to_dict(),
            "calibration": self.calibration.to_dict(),
            "watch": self.tracker.to_dict(),
            "version": self.version,
        }
        if with_clock:
            document |= {"time": None if self.time == -inf else self.time, "asked_in": list(self.asked_in.items())}
        head = json.dumps(document, sort_keys=True).encode()
        return len(head).to_bytes(8, "big") + head + self._classifier_bytes()

    def _classifier_bytes(self) -> bytes:
        return to_bytes(self.clf)

    @classmethod
    def most_bytes(cls, model: ModelSettings, width: int, start: Start | None = None) -> int:
        """How long what the classifier is kept as can be, for events of so many columns, with much to spare."""
        if start is not None:
            return most_model_bytes(start.update, max(width, start.n_features), len(model.classes))
        return most_model_bytes(classifier(model, AskingSettings())._rules().update, width, len(model.classes))

    @classmethod
    def load(
        cls, content: bytes, model: ModelSettings, most_fields: int = 10_000, start: Start | None = None
    ) -> Learner:
        """What ``dump`` gave, in this version or an earlier one."""
        length = int.from_bytes(content[:8], "big")
        document = json.loads(content[8 : 8 + length])
        if document["model"] != model.document():
            raise ValueError("it belongs to other settings")
        upgrade(document)
        new = cls(model, AskingSettings(), most_fields)
        new.start = start
        try:
            new.clf, _ = from_bytes(content[8 + length :], "its model", cls.classifier_kind)
        except ModelFileError as error:
            raise ValueError(str(error)) from None
        new.features = RowFeatures.from_dict(document["features"])
        new.exploring = cls.exploration_kind.from_dict(document["exploring"])
        new.calibration = OnlineCalibration.from_dict(document["calibration"])
        new.tracker = cls.tracker_kind.from_dict(document["watch"])
        new.version = document["version"]
        new.time = -inf if document["time"] is None else document["time"]
        new.asked_in = dict(document["asked_in"])
        return new

    def digest(self) -> str:
        """A hash of all of it but the times of events: the same events teach the same, whenever they come."""
        with self._lock:
            return hashlib.sha256(self._dump(with_clock=False)).hexdigest()


def _were_asked(part: Sequence[Incoming]) -> np.ndarray:
    """Which events of the log were asked about, NOT_KNOWN of those that have just come."""
    return np.array([NOT_KNOWN if event.was_asked is None else event.was_asked for event in part], np.int8)


def upgrade(document: dict[str, Any]) -> None:
    """Bring the document of an earlier checkpoint to the present format.

    4   the model did not keep the time of the last event, nor how much was asked in which hour; whoever has the
        log finds both there (see ``checkpoints``)
    """
    if document["format"] == 4:
        document |= {"format": FORMAT, "time": None, "asked_in": []}
    if document["format"] != FORMAT:
        raise ValueError(f"it is of format {document['format']}, where this version reads {FORMAT} and 4")


def most_model_bytes(update: UpdateRule, width: int, n_classes: int) -> int:
    """How long the file of a classifier for events of so many columns can be, with much to spare."""
    sizes = [
        sum(getattr(state, name).nbytes for name in SAVED)
        for state in (update.start(n_features + 1, n_classes) for n_features in (width, width + SPARE_COLUMNS))
    ]
    return 4 * max(sizes) + 4_000_000 + 10_000 * n_classes


def _few(rated: list[dict[str, Any]], most: int, strongest: float) -> list[dict[str, Any]]:
    """Those that matter beside the strongest of their kind, and beside the strongest of all."""
    least = max(LEAST_OF_KIND * max((abs(item["effect"]) for item in rated), default=0.0), LEAST_OF_ALL * strongest)
    telling = [item for item in rated if item["effect"] != 0.0 and abs(item["effect"]) >= least]
    return sorted(telling, key=lambda item: -abs(item["effect"]))[:most]
