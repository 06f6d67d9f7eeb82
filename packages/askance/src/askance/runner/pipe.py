"""Events in, decisions out, one line of JSON each; answers are learned whenever they come.

A line is one of

    an event     {"id": "m1", "text": "Win a prize", "size": 1200}     any fields; ``id`` comes back with the decision
    an answer    {"ticket": 17, "label": "spam"}                       to the event that was asked under this ticket
                 {"id": "m1", "label": "spam"}                         or to the latest asked event with this id

An event may carry its label, as a recorded stream does: it is learned at once if the event is asked, and otherwise not
read. An answer whose label is null, or a word for a missing one, closes the ticket unanswered; ``"replace": true``
corrects an earlier answer. A decision has ``widened`` if a field got a wider kind with its event. Lines that cannot be
used may be kept in a file, which can be sent through a pipe again as it is.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from askance.data.encoding.assemble import csr
from askance.data.encoding.kinds import seconds_in
from askance.data.encoding.rows import FieldError, RowFeatures, flatten
from askance.data.formats.buffer import BYTE_ORDER_MARK
from askance.data.formats.jsonl import FORMAT, read_object
from askance.data.formats.labels import Labels
from askance.data.formats.quarantine import MARK, Keeper, raw_of, text_of
from askance.errors import AskanceError, ConflictingAnswer, InvalidInput
from askance.learner.budget import as_budget
from askance.learner.labels import distinct_labels
from askance.learner.state import room_for
from askance.pending import Pending
from askance.runner.algorithm_spec import AlgorithmSpec
from askance.runner.model import Model

MOST_ASKED = 20_000  # asked events whose ids are kept
MOST_RECENT = 100_000  # events after which an id may come again
ID, TICKET, LABEL, REPLACE = "id", "ticket", "label", "replace"
ANSWER = {ID, TICKET, LABEL, REPLACE}


class Pipe:
    """Decides on events and learns answers, one line at a time.

    Parameters
    ----------
    classes : sequence of str
        All labels.
    spec : AlgorithmSpec, optional
        The algorithm, its parameters and the budget.
    features : mapping, optional
        Kinds of fields, by name. The kinds of the others are found from their first values.
    raw : bool, default False
        Scale nothing.
    label : str, default "label"
        The field with the label, in events that carry one.
    time_field : str, optional
        The field with the time of an event, in seconds or as ISO 8601 text, for budgets by time. Default: the clock.
    na_values : list, optional
        Words and numbers that count as missing, besides the usual words.

    Examples
    --------
    >>> pipe = Pipe(["ham", "spam"], AlgorithmSpec("PA", intercept=False))
    >>> decision = pipe.answer(b'{"id": 7, "text": "Win a prize"}')
    >>> decision["id"], decision["asked"], decision["ticket"]
    (7, True, 1)
    >>> pipe.answer(b'{"ticket": 1, "label": "ham"}')
    {'ticket': 1, 'id': 7, 'label': 'ham', 'learned': True}
    >>> pipe.answer(b'{"text": "a prize to win"}')["label"]
    'ham'
    """

    def __init__(
        self,
        classes: Sequence[str],
        spec: AlgorithmSpec | None = None,
        *,
        features: Mapping[str, str] | None = None,
        raw: bool = False,
        label: str = LABEL,
        time_field: str | None = None,
        na_values: Any = None,
    ) -> None:
        self._features = RowFeatures(features, raw=raw, na_values=na_values)
        self._labels = Labels(classes=classes, missing=self._features.missing)
        self._labels.settle(classes)
        values = sorted({self._labels.of(text) for text in classes})
        self._spec = spec or AlgorithmSpec()
        self._clf = self._spec.make(values, n_features=1)
        self.about: dict[str, Any] = self._spec.about()
        self._ids: Pending[int, Any] = Pending()
        self._begin(label, time_field)

    @classmethod
    def of(cls, model: Model, label: str | None = None, time_field: str | None = None, na_values: Any = None) -> Pipe:
        """Resume a model that was saved by a pipe, or by running a file with named fields."""
        model.refuse_label_sets()
        kept = model.stream
        if "fields" not in kept:
            raise InvalidInput(
                f"the model was trained on {kept.get('format')} data, whose features have numbers, not names; a pipe "
                "needs a model of JSON rows or of a table with names."
            )
        new = cls.__new__(cls)
        new._clf = model.classifier
        new._features = RowFeatures.from_dict(kept)
        new._features.missing = new._features.missing.with_more(na_values)
        new._labels = Labels(kept.get("labels"), new._clf.classes_.tolist(), missing=new._features.missing)
        new._labels.settle(str(value) for value in new._clf.classes_.tolist())
        new.about = {name: value for name, value in model.about.items() if name != "asked"}
        new._ids = Pending({int(ticket): event_id for ticket, event_id, *_ in model.about.get("asked", [])})
        new._begin(label or kept.get("label") or LABEL, time_field)
        return new

    def _begin(self, label: str, time_field: str | None) -> None:
        self._label, self._time_field = label, time_field
        self._tickets = {_key(event_id): ticket for ticket, event_id in self._ids.items() if event_id is not None}
        self._classes = set(np.asarray(self._clf.classes if self._clf.classes is not None else []).tolist())
        self._classes |= set(self._clf.classes_.tolist() if self._clf._has_begun else [])
        self.lines = self.events = self.asked = self.answers = self.bad_lines = self.duplicates = 0
        self.recent: RecentIds | None = None
        """Ids of the latest events; an event with one of them is not taken again. None: ids may come again."""
        self.keeper: Keeper | None = None
        """Keeps the lines that cannot be used."""
        self._is_kept = False  # whether the lines come out of such a file

    @property
    def classifier(self) -> Any:
        """The learner."""
        return self._clf

    def model(self) -> Model:
        """The model, to be saved and gone on with."""
        asked = [[ticket, event_id] for ticket, event_id in self._ids.items()]
        stream = {"format": FORMAT, "labels": self._labels.kind, **self._features.to_dict()} | {"label": self._label}
        return Model(self._clf, stream, self.about | {"asked": asked})

    def answer(self, line: bytes, where: str | None = None) -> dict[str, Any] | None:
        """The reply to a line; None to an empty one, and to an event that came before. The reply to a line that cannot
        be used has ``error``, which says where it is: by its number, unless given."""
        self.lines += 1
        self._where = where
        named: dict[str, Any] = {}
        try:
            if self._is_kept and line.strip():
                line = raw_of(line, "-", self.lines)
            whole = read_object(line.removeprefix(BYTE_ORDER_MARK) if self.lines == 1 else line)
            if whole is None:
                return None
            if self.lines == 1 and whole.items() >= MARK.items():
                self._is_kept = True
                return None
            named = _name_event(_check_id(whole.get(ID)))
            row = flatten(whole)
            if row.get(TICKET) is not None:
                named = {TICKET: row[TICKET]} | named
            if TICKET in row or (row.keys() <= ANSWER | {self._label} and ID in row and row.keys() - {ID}):
                return self._learn_answer(row)
            return self._decide(row)
        except (AskanceError, ValueError, LookupError) as error:
            return self.refuse(_reason(error), named, line, getattr(error.__cause__ or error, "field", None))

    def refuse_long_line(self) -> dict[str, Any]:
        """The reply to a line that was too long to be read."""
        self.lines += 1
        self._where = None
        return self.refuse("it is longer than 64 MiB.")

    def refuse(
        self, reason: str, named: Mapping[str, Any] | None = None, raw: bytes | None = None, field: str | None = None
    ) -> dict[str, Any]:
        """The reply that says why the current line, which names an id or a ticket, cannot be used.

        It carries the line itself, unless a quarantine keeps it: what cannot be taken is not lost.
        """
        self.bad_lines += 1
        where = {"error": f"line {self.lines}: {reason}", "line": self.lines}
        reply = {**(named or {}), **(where if self._where is None else {"error": f"{self._where}: {reason}"})}
        if self.keeper is not None:
            self.keeper.add("-", self.lines, field, reason, raw)
        elif raw is not None:
            reply["raw"] = text_of(raw.rstrip(b"\r\n"))
        return reply

    # --- events ------------------------------------------------------------------------------------------

    def _decide(self, row: dict[str, Any]) -> dict[str, Any] | None:
        event_id = row.pop(ID, None)
        if self.recent is not None and event_id is not None and _key(event_id) in self.recent:
            self.duplicates += 1
            return None
        written = row.pop(self._label, None)
        truth = None if self._labels.is_missing(written) else self._read_label(written)
        when = self._time(row)
        before = len(self._features.encoder.promoted)
        event = self._features.row(row)
        widened = self._features.encoder.promoted[before:]
        self._make_room()
        likely = self._probabilities(event)
        decision = self._clf.ask(event, time=when)
        self.events += 1
        if self.recent is not None and event_id is not None:
            self.recent.add(_key(event_id))
        reply = {**_name_event(event_id), "label": decision.label, "margin": decision.margin, **likely}
        reply |= {"probability_of_asking": decision.probability, "asked": decision.asked}
        if widened:
            reply["widened"] = {name: now for name, _, now in widened}
        if decision.asked:
            self.asked += 1
            reply |= {"ticket": decision.ticket, "audit": decision.audit}
            self._remember(decision.ticket, event_id)
            if truth is not None and decision.ticket is not None:
                reply["learned"] = self._learn(decision.ticket, truth, replace=False)
        return reply

    def _make_room(self) -> None:
        """Widen the model to the columns that the fields have by now."""
        width = max(1, self._features.encoder.width)
        if not self._clf._has_begun:
            self._clf.n_features = room_for(width)
        elif self._clf.n_features_in_ < width:
            self._clf.widen(room_for(width))

    def _probabilities(self, event: tuple[np.ndarray, np.ndarray]) -> dict[str, Any]:
        """The probability of each class; before the first event all are equally likely."""
        if not self._clf._has_begun:
            classes = distinct_labels(self._clf.classes, "classes").tolist()
            return {"probabilities": {str(name): 1.0 / len(classes) for name in classes}}
        columns, values = event
        row = csr(np.array([0, len(columns)], np.int32), columns, values, self._clf.n_features_in_)
        shares = self._clf.predict_proba(row)[0].tolist()
        return {"probabilities": {str(name): p for name, p in zip(self._clf.classes_.tolist(), shares, strict=True)}}

    def _time(self, row: dict[str, Any]) -> float | None:
        """The time of the event, whose field is taken out: it is no feature."""
        written = row.pop(self._time_field, None) if self._time_field is not None else None
        if not as_budget(self._clf.budget).reads_time:
            return None
        if self._time_field is None:
            return time.time()
        if written is None:
            raise FieldError(self._time_field, "the time is missing, and the budget needs it.")
        try:
            return seconds_in(written)
        except ValueError as error:
            raise FieldError(self._time_field, str(error)) from None

    # --- answers -----------------------------------------------------------------------------------------

    def _learn_answer(self, row: dict[str, Any]) -> dict[str, Any]:
        event_id, ticket = row.get(ID), row.get(TICKET)
        if ticket is None:
            ticket = self._tickets.get(_key(event_id))
            if ticket is None:
                raise InvalidInput(f"no event with the id {event_id!r} was asked, or too long ago.")
        elif isinstance(ticket, bool) or not isinstance(ticket, int):
            raise InvalidInput(f"a ticket is a whole number, got {ticket!r}.")
        of_ticket = self._ids.get(ticket)
        if event_id is not None and of_ticket is not None and _key(event_id) != _key(of_ticket):
            raise InvalidInput(f"ticket {ticket} is that of the id {of_ticket!r}, not of {event_id!r}.")
        event_id = event_id if event_id is not None else of_ticket
        name = self._label if self._label in row else LABEL
        if name not in row:
            raise InvalidInput("the answer has no label.")
        reply = {"ticket": ticket, **_name_event(event_id)}
        if self._labels.is_missing(row[name]):
            self._clf.forget(ticket)
            return reply | {"label": None, "learned": False}
        label = self._read_label(row[name])
        return reply | {"label": label, "learned": self._learn(ticket, label, bool(row.get(REPLACE)))}

    def _read_label(self, value: Any) -> Any:
        label = self._labels.of(value)
        if label not in self._classes:
            known = ", ".join(repr(name) for name in sorted(self._classes)[:10])
            raise InvalidInput(f"the label {value!r} is not one of the classes {known}.")
        return label

    def _learn(self, ticket: int, label: Any, replace: bool) -> bool:
        """Let the classifier learn an answer; returns whether it was new."""
        before = self._clf._answer_to(ticket)
        if before not in (None, label) and not replace:
            raise ConflictingAnswer(
                f'ticket {ticket} was answered {before!r} before; {{"replace": true}} makes it {label!r}.'
            )
        self._clf.tell(ticket=ticket, y=label, replace=replace)
        is_news = bool(before != label)
        self.answers += is_news
        return is_news

    def _remember(self, ticket: int | None, event_id: Any) -> None:
        if ticket is None:
            return
        if event_id is not None:
            self._tickets[_key(event_id)] = ticket
        for oldest, other in self._ids.add(ticket, event_id, MOST_ASKED).items():
            if self._tickets.get(_key(other)) == oldest:
                del self._tickets[_key(other)]


def _key(event_id: Any) -> str:
    """An id as a key: 1 and "1" are different ids."""
    return json.dumps(event_id)


def _check_id(event_id: Any) -> Any:
    """The id of a line; raises if it could be mistaken for a feature, or for another id."""
    if event_id is None or (isinstance(event_id, str | int | float) and not isinstance(event_id, bool)):
        return event_id
    raise InvalidInput(f"an id is text or a number, got {json.dumps(event_id)[:40]}.")


def _name_event(event_id: Any) -> dict[str, Any]:
    """What a reply has of the event's id; nothing where it has none."""
    return {} if event_id is None else {ID: event_id}


def _reason(error: Exception) -> str:
    """Why a line cannot be used, in one sentence."""
    if isinstance(error, json.JSONDecodeError):
        ends = error.pos >= len(error.doc.rstrip())
        what = "it ends too early" if ends else f"{error.msg[0].lower()}{error.msg[1:]} at column {error.pos + 1}"
        return f"it is not valid JSON: {what}."
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text at byte {error.start + 1}."
    if "integer string conversion" in str(error):
        return "it contains a number with thousands of digits."
    return str(error)


class RecentIds:
    """The latest ids, each by eight bytes of a hash: two of 100,000 have the same with a probability of 3e-10.

    Examples
    --------
    >>> ids = RecentIds()
    >>> ids.add("m1"), ids.add("m2")
    (None, None)
    >>> again = RecentIds(ids.to_text())
    >>> "m1" in again, "m3" in again
    (True, False)
    """

    def __init__(self, text: str = "") -> None:
        self._hashes = dict.fromkeys(np.frombuffer(base64.b64decode(text), np.uint64).tolist())

    def __contains__(self, key: str) -> bool:
        return _hash(key) in self._hashes

    def add(self, key: str) -> None:
        """Keep one more, and forget the oldest beyond so many."""
        self._hashes[_hash(key)] = None
        if len(self._hashes) > MOST_RECENT:
            del self._hashes[next(iter(self._hashes))]

    def to_text(self) -> str:
        """What is kept, in order."""
        return base64.b64encode(np.fromiter(self._hashes, np.uint64).tobytes()).decode()


def _hash(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
