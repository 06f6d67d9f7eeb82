"""The model of the service, a pure function of its settings and of what came in, in order.

Two things move it: an event (``decide``), which moves the running statistics of the features and takes one number of
each random source, whatever becomes of it; and an answer (``learn``). The clock, the queue and the store have no
part in it: the same sequence gives the same model, bit for bit, in one process or over ten restarts. It belongs to
one thread.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from askance.errors import AskanceError, InvalidInput
from askance.features.assemble import csr
from askance.features.encoder import Cells
from askance.features.rows import FieldError, RowFeatures, flatten
from askance.live.asking import AskingRule
from askance.live.calibration import Calibration
from askance.live.config import Asking, Model
from askance.quality.monitor import Monitor

SPARE_COLUMNS = 16  # so that not every new field of numbers copies the model
FORMAT = 2
WINDOW = 2_000  # events of the recent quality
KEEP = 20_000  # asked events whose answers still count for the quality


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


class Learner:
    """Predicts, decides what is asked, learns."""

    def __init__(self, model: Model, asking: Asking, most_fields: int = 10_000) -> None:
        import askance

        self.model = model
        self.classes = list(model.classes)
        self.most_fields = most_fields
        self.features = RowFeatures(model.fields, hash_bits=model.hash_bits, ngrams=model.ngrams)
        parameters = {"intercept": True, **model.parameters}
        self.clf: Any = askance.make(
            model.algorithm, classes=self.classes, n_features=SPARE_COLUMNS, random_state=model.seed, **parameters
        )
        self.clf.check_rules()
        self.asking = AskingRule(asking, len(self.classes), model.seed)
        self.calibration = Calibration()
        self.monitor = Monitor(self.classes, window=WINDOW, keep=KEEP)
        self.version = 0
        """The number of the last answer learned."""

    # --- events ------------------------------------------------------------------------------------------

    def decide(self, events: Sequence[tuple[Mapping[str, Any], float]], after: int) -> list[Decided | AskanceError]:
        """Predict events, given as (fields, time of receipt), in order, and decide which are asked about.

        An event whose fields cannot be used gives its error, and leaves no trace; the others are numbered in the log
        from ``after`` + 1 on.
        """
        cells = Cells()
        outcomes: list[Decided | AskanceError | None] = []
        times = []
        for fields, time in events:
            try:
                self._add(cells, flatten(fields))
            except (FieldError, AskanceError) as error:
                outcomes.append(error if isinstance(error, AskanceError) else InvalidInput(str(error)))
                continue
            outcomes.append(None)
            times.append(time)
        decisions = iter(self._decide(cells, times, after))
        return [next(decisions) if outcome is None else outcome for outcome in outcomes]

    def _add(self, cells: Cells, flat: dict[str, Any]) -> None:
        """Add a row to others; one that cannot be used changes nothing, not even the list of fields."""
        known = self.features.kinds
        if all(name in known for name in flat):
            self.features.add(cells, flat)
            return
        before = len(known)
        if len(known.keys() | flat.keys()) > self.most_fields:
            raise InvalidInput(
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

    def _decide(self, cells: Cells, times: list[float], after: int) -> list[Decided]:
        if not cells.n_rows:
            return []
        starts, columns, values = self.features.encoder.rows(cells)
        self._widen()
        bounds = starts.tolist()
        given = []
        for row, time in enumerate(times):
            start, stop = bounds[row], bounds[row + 1]
            decision = self.clf.ask((columns[start:stop], values[start:stop]))
            self._forget(decision)
            given.append((decision, self.asking.decide(decision.asked, decision.probability, time)))
        scores = self._scores(starts, columns, values)
        place = {label: index for index, label in enumerate(self.classes)}
        decided = [
            Decided(place[decision.label], self._chances(row), row, *choice)
            for row, (decision, choice) in zip(scores, given, strict=True)
        ]
        for seq, item in enumerate(decided, after + 1):
            label, positive = self.classes[item.predicted], item.probabilities[1] if self._two else None
            self.monitor.event(label, item.probability, item.asked, probability_positive=positive, ticket=seq)
        return decided

    @property
    def _two(self) -> bool:
        return len(self.classes) == 2

    def _forget(self, decision: Any) -> None:
        """The service keeps what waits for an answer itself."""
        ticket = getattr(decision, "ticket", None)
        if ticket is not None:
            self.clf.forget(ticket)

    def _widen(self) -> None:
        width = self.features.encoder.width
        if not hasattr(self.clf, "n_features_in_"):
            if width > self.clf.n_features:
                self.clf.n_features = width + SPARE_COLUMNS
        elif width > self.clf.n_features_in_:
            self.clf.widen(width + SPARE_COLUMNS)

    def _scores(self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray) -> list[list[float]]:
        """A score for the second of two classes, or one for each of several."""
        X = csr(starts, columns, values, self.clf.n_features_in_)
        scores = self.clf.decision_function(X)
        if hasattr(self.clf, "predict_proba") and len(self.classes) == 2:
            scores = 1.7 * scores  # a probit's spread as a logistic one's
        return np.atleast_2d(scores.T).T.tolist() if scores.ndim == 1 else scores.tolist()

    def _chances(self, scores: list[float]) -> list[float]:
        return self.calibration.probabilities(scores)

    # --- answers -----------------------------------------------------------------------------------------

    def learn(self, event: int, fields: Mapping[str, Any], label: int, scores: list[float], weight: float) -> None:
        """Learn the answer to an event; ``scores`` and ``weight`` = 1 / probability are those of when it came."""
        columns, values = self._encode(fields)
        self.clf.tell((columns, values), self.classes[label], weight=weight)
        self.calibration.learn(scores, label, weight)
        self.asking.learned(label)
        self.monitor.answer(event, self.classes[label], replace=True)

    def _encode(self, fields: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
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
        """What the model says of an event now; nothing changes."""
        try:
            columns, values = self._encode(fields)
        except FieldError as error:
            raise InvalidInput(str(error)) from None
        if not hasattr(self.clf, "n_features_in_"):
            return 0, [1.0 / len(self.classes)] * len(self.classes)
        scores = self._scores(np.array([0, len(columns)], np.int32), columns, values)[0]
        chances = self._chances(scores)
        best = int(scores[0] >= 0.0) if len(scores) == 1 else max(range(len(scores)), key=scores.__getitem__)
        return best, chances

    def explain(self, fields: Mapping[str, Any], label: int, most: int = 40) -> list[dict[str, Any]]:
        """The words and fields that moved the score most; positive effects speak for ``label``."""
        from askance.live.explain import explain

        return explain(self, fields, label, most)

    # --- the whole of it ---------------------------------------------------------------------------------

    def dump(self) -> bytes:
        """All of it, for ``load``; equal models give equal bytes."""
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
            "asking": self.asking.to_dict(),
            "calibration": self.calibration.to_dict(),
            "monitor": self.monitor.to_dict(),
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
            new.clf = askance.load(path)
        new.features = RowFeatures.from_dict(document["features"])
        new.asking = AskingRule.from_dict(document["asking"])
        new.calibration = Calibration.from_dict(document["calibration"])
        new.monitor = Monitor.from_dict(document["monitor"])
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
