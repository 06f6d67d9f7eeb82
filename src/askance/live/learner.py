"""The model of the service, a pure function of its settings and of what came in, in order.

Two things move it: an event (``decide``), which moves the running statistics of the features and takes one random
number, whatever becomes of it; and an answer (``learn``). The clock, the queue and the store have no
part in it: the same sequence gives the same model, bit for bit, in one process or over ten restarts. One thread moves
it; others may ask it for predictions meanwhile, which wait for what that thread does to it, and never for the store.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from askance.calibration import Calibration
from askance.errors import AskanceError, InvalidInput, ModelFileError
from askance.features.assemble import csr
from askance.features.encoder import Cells
from askance.features.rows import FieldError, RowFeatures, flatten
from askance.learner.trace import Decision
from askance.live.asking import Exploring, budget_of
from askance.live.config import ALGORITHM, Asking, Model
from askance.live.problems import TooManyFields
from askance.live.watching import Watch

SPARE_COLUMNS = 16  # so that not every new field of numbers copies the model
FORMAT = 4


class Incoming(NamedTuple):
    """An event to decide on."""

    fields: Mapping[str, Any]
    received: float
    """When it came."""
    was_asked: bool | None = None
    """For one from the log: whether it was asked about. Another model, or another version of this one, may decide
    otherwise when the log is played again, but budgets go by what people were asked."""


class Decided(NamedTuple):
    """What was decided for one event as it came."""

    predicted: int
    probabilities: list[float]
    scores: list[float]
    asked: bool
    why: str
    probability: float
    """With which it could be asked: 0 where the budget was spent."""
    audit: bool
    audit_probability: float


class Answer(NamedTuple):
    """An answer to learn, with what was said of its event when that came."""

    event: int
    fields: Mapping[str, Any]
    label: int
    predicted: int
    scores: list[float]
    weight: float
    """1 / probability of the question; 1 for what was never asked."""
    audit: bool
    received: float

    @classmethod
    def of(cls, row: Sequence[Any], weight: float) -> Answer:
        """From the columns ``ANSWERED`` and its weight."""
        event, label, fields, scores, predicted, audit, received = row
        return cls(
            event, msgspec.json.decode(fields), label, predicted, msgspec.json.decode(scores), weight, bool(audit),
            received,
        )  # fmt: skip


ANSWERED = "e.fields, e.scores, e.predicted, e.audit, e.received"
"""The columns of an answer's event, after the numbers of the event and the label."""


def classifier(model: Model, asking: Asking) -> Any:
    """The classifier that the settings ask for. What waits for an answer is kept in the store, so it keeps nothing."""
    import askance

    parameters = {"intercept": True, **model.parameters}
    if model.algorithm == ALGORITHM and not parameters.keys() & {"objective", "costs"}:
        parameters["objective"] = "accuracy"  # it is judged by that, and suggests what is most probable
    return askance.make(
        model.algorithm, classes=list(model.classes), n_features=SPARE_COLUMNS, random_state=model.seed, keep=0,
        budget=budget_of(asking), **parameters,
    )  # fmt: skip


class Learner:
    """Predicts, decides what is asked, learns."""

    def __init__(self, model: Model, asking: Asking, most_fields: int = 10_000) -> None:
        self.model = model
        self._lock = threading.RLock()  # a prediction borrows the running statistics for a moment
        self.classes = list(model.classes)
        self._place = {label: place for place, label in enumerate(self.classes)}
        self.most_fields = most_fields
        self.features = RowFeatures(model.fields, hash_bits=model.hash_bits, ngrams=model.ngrams)
        self.clf: Any = classifier(model, asking)
        self.exploring = Exploring(asking, len(self.classes))
        self.calibration = Calibration()
        self.watch = Watch(self.classes)
        self.version = 0
        """The number of the last answer learned."""

    def follow(self, asking: Asking) -> None:
        """Ask as much as these settings say from now on."""
        with self._lock:
            self.exploring.settings = asking
            self.clf.budget = classifier(self.model, asking).budget

    # --- events ------------------------------------------------------------------------------------------

    def decide(self, events: Sequence[Incoming], after: int) -> list[Decided | AskanceError]:
        """Predict events in order, and decide which are asked about.

        An event whose fields cannot be used gives its error, and leaves no trace; the others are numbered in the log
        from ``after`` + 1 on. How the events are divided into calls changes nothing.
        """
        with self._lock:
            return self._decide_all(events, after)

    def _decide_all(self, events: Sequence[Incoming], after: int) -> list[Decided | AskanceError]:
        cells, taken = Cells(), list[Incoming]()
        outcomes: list[Decided | AskanceError | None] = []
        decided: list[Decided] = []
        for event in events:
            try:
                flat = flatten(event.fields)
                if any(name not in self.features.kinds for name in flat):  # the model may become wider: at this event
                    decided += self._decide(cells, taken, after + len(decided))
                    cells, taken = Cells(), []
                self._add(cells, flat)
            except (FieldError, AskanceError) as error:
                outcomes.append(error if isinstance(error, AskanceError) else InvalidInput(str(error)))
                continue
            outcomes.append(None)
            taken.append(event)
        decided += self._decide(cells, taken, after + len(decided))
        decisions = iter(decided)
        return [next(decisions) if outcome is None else outcome for outcome in outcomes]

    def _add(self, cells: Cells, flat: dict[str, Any]) -> None:
        """Add a row to others; one that cannot be used changes nothing, not even the list of fields."""
        known = self.features.kinds
        before = len(known)
        if len(known.keys() | flat.keys()) > self.most_fields:
            raise TooManyFields(
                f"the event brings the number of different fields above {self.most_fields:,}; "
                "are there identifiers among the names of the fields?"
            )
        try:
            self.features.add(cells, flat)
        except FieldError:
            if len(known) > before:
                kept = self.features.to_dict()
                self.features = RowFeatures.from_dict({**kept, "fields": kept["fields"][:before]})
            raise

    def _decide(self, cells: Cells, taken: list[Incoming], after: int) -> list[Decided]:
        if not cells.n_rows:
            return []
        starts, columns, values = self.features.encoder.rows(cells)
        self._widen()
        bounds = starts.tolist()
        decided = []
        for row, event in enumerate(taken):
            x = columns[bounds[row] : bounds[row + 1]], values[bounds[row] : bounds[row + 1]]
            explore = self.exploring.level
            decision: Decision = self.clf.ask(x, event.received, explore)
            if event.was_asked not in (None, decision.asked):
                self.clf.recount(self.clf.labels_asked_ + event.was_asked - decision.asked)
            scores = self._scores_of(decision, x)
            item = Decided(
                predicted=self._place[decision.label],
                probabilities=self.calibration.probabilities(scores),
                scores=scores,
                asked=decision.asked,
                why=self.exploring.decided(decision),
                probability=decision.probability,
                audit=decision.audit,
                audit_probability=min(explore, decision.probability),  # 0 where the budget is spent
            )
            self.watch.event(after + 1 + row, item.predicted, item.probabilities, item.probability, item.asked)
            decided.append(item)
        return decided

    def _scores_of(self, decision: Decision, x: tuple[np.ndarray, np.ndarray]) -> list[float]:
        """A score for the second of two classes, or one for each of several, of the event decided on just now."""
        if hasattr(self.clf, "predict_proba"):
            return self._scores(*x)
        scores: list[float] = self.clf.scores_.tolist()
        if len(scores) == 1:
            return [decision.margin]
        return [scores[1] - scores[0]] if len(self.classes) == 2 else scores

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
        if hasattr(self.clf, "predict_proba"):
            scores = 1.7 * scores  # a probit's spread as a logistic one's
        return list(np.ravel(scores).tolist())

    # --- answers -----------------------------------------------------------------------------------------

    def learn(self, answer: Answer) -> None:
        """Learn an answer, weighed and judged by what was decided when its event came."""
        with self._lock:
            self.clf.tell(self.encode(answer.fields), self.classes[answer.label], weight=answer.weight)
            self.calibration.learn(answer.scores, answer.label, answer.weight)
            self.exploring.learned(answer.label)
            self.watch.answer(
                answer.event, answer.label, answer.predicted, answer.weight, answer.audit, answer.received
            )

    def encode(self, fields: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """One event, with the running statistics left as they are; fields never seen are left out."""
        known, scaling = self.features.kinds, self.features.encoder.scaling
        flat = {name: value for name, value in flatten(fields).items() if name in known}
        kept = scaling.to_dict()
        cells = Cells()
        try:
            self.features.add(cells, flat)
            _, columns, values = self.features.encoder.rows(cells)
        finally:
            scaling.counts, scaling.means, scaling.squares = kept["counts"], kept["means"], kept["squares"]
        return columns, values

    # --- looking -----------------------------------------------------------------------------------------

    def predict(self, fields: Mapping[str, Any]) -> tuple[int, list[float]]:
        """What the model says of an event now; nothing changes. From any thread."""
        with self._lock:
            try:
                columns, values = self.encode(fields)
            except FieldError as error:
                raise InvalidInput(str(error)) from None
            if not hasattr(self.clf, "n_features_in_"):
                return 0, [1.0 / len(self.classes)] * len(self.classes)
            scores = self._scores(columns, values)
            chances = self.calibration.probabilities(scores)
        best = int(scores[0] >= 0.0) if len(scores) == 1 else max(range(len(scores)), key=scores.__getitem__)
        return best, chances

    def explain(self, fields: Mapping[str, Any], label: int, most: int = 40) -> list[dict[str, Any]]:
        """The words and fields that moved the score most; positive effects speak for ``label``."""
        from askance.live.explain import explain

        with self._lock:
            return explain(self, fields, label, most)

    # --- the whole of it ---------------------------------------------------------------------------------

    def dump(self) -> bytes:
        """All of it, for ``load``; equal models give equal bytes."""
        with self._lock:
            return self._dump()

    def _dump(self) -> bytes:
        with tempfile.TemporaryDirectory(prefix="askance-") as folder:
            path = Path(folder) / "model"
            self.clf.save(path)
            classifier = path.read_bytes()
        kept = self.features.to_dict()
        scaling = {name: array.tolist() for name, array in kept["scaling"].items()}
        document = {
            "format": FORMAT,
            "model": self.model.document(),
            "features": {**kept, "scaling": scaling},
            "exploring": self.exploring.to_dict(),
            "calibration": self.calibration.to_dict(),
            "watch": self.watch.to_dict(),
            "version": self.version,
        }
        head = json.dumps(document, sort_keys=True).encode()
        return len(head).to_bytes(8, "big") + head + classifier

    @classmethod
    def load(cls, content: bytes, model: Model, most_fields: int = 10_000) -> Learner:
        """What ``dump`` gave."""
        import askance

        length = int.from_bytes(content[:8], "big")
        document = json.loads(content[8 : 8 + length])
        if document["format"] != FORMAT or document["model"] != model.document():
            raise ValueError("the checkpoint belongs to other settings")
        new = cls(model, Asking(), most_fields)
        with tempfile.TemporaryDirectory(prefix="askance-") as folder:
            path = Path(folder) / "model"
            path.write_bytes(content[8 + length :])
            try:
                new.clf = askance.load(path)
            except ModelFileError:
                raise ValueError("its model is damaged, or of another version of askance") from None
        new.features = RowFeatures.from_dict(document["features"])
        new.exploring = Exploring.from_dict(document["exploring"])
        new.calibration = Calibration.from_dict(document["calibration"])
        new.watch = Watch.from_dict(document["watch"])
        new.version = document["version"]
        return new

    def digest(self) -> str:
        """A hash of all of it."""
        return hashlib.sha256(self.dump()).hexdigest()


def pack(content: bytes) -> bytes:
    """A dump, smaller: most weights are zero."""
    return zlib.compress(content, 1)


def unpack(content: bytes) -> bytes:
    return zlib.decompress(content)
