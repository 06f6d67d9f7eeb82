"""Events in, decisions out, one line of JSON each; answers are learned whenever they come.

A line is one of

    an event     {"id": "m1", "text": "Win a prize", "size": 1200}     any fields; ``id`` comes back with the decision
    an answer    {"ticket": 17, "label": "spam"}                       to the event that was asked under this ticket
                 {"id": "m1", "label": "spam"}                         or to the latest asked event with this id

An event may carry its label, as a recorded stream does: it is learned at once if the event is asked, and otherwise not
looked at. An answer whose label is null closes the ticket unanswered; ``"replace": true`` corrects an earlier answer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from askance.errors import AskanceError, InvalidInput
from askance.features.rows import FieldError, RowFeatures, flatten
from askance.features.times import seconds_in
from askance.learner.budget import as_budget
from askance.playing.choice import Choice, room_for
from askance.playing.model import Model
from askance.stream.jsonl import FORMAT, read_object
from askance.stream.labels import Labels

MOST_ASKED = 20_000  # asked events whose ids are remembered
ID, TICKET, LABEL, REPLACE = "id", "ticket", "label", "replace"
ANSWER = {ID, TICKET, LABEL, REPLACE}


class Pipe:
    """Answers lines.

    Parameters
    ----------
    classes : sequence of str
        The labels there are.
    choice : Choice, optional
        The algorithm, its parameters and the budget.
    features : mapping, optional
        Kinds of fields, by name; the others are told by their first value.
    raw : bool, default False
        Scale nothing.
    label : str, default "label"
        The field with the label, in events that carry one.
    time_field : str, optional
        The field with the time of an event, in seconds or as ISO 8601 text, for budgets by time. Default: the clock.

    Examples
    --------
    >>> pipe = Pipe(["ham", "spam"], Choice("PA", intercept=False))
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
        choice: Choice | None = None,
        *,
        features: Mapping[str, str] | None = None,
        raw: bool = False,
        label: str = LABEL,
        time_field: str | None = None,
    ) -> None:
        self._labels = Labels()
        self._labels.settle(classes)
        values = sorted({self._labels.of(text) for text in classes})
        self._choice = choice or Choice()
        self._clf = self._choice.make(values, n_features=1)
        self._features = RowFeatures(features, raw=raw)
        self._about: dict[str, Any] = self._choice.about(len(values))
        self._asked: dict[int, list[Any]] = {}
        self._begin(label, time_field)

    @classmethod
    def of(cls, model: Model, label: str | None = None, time_field: str | None = None) -> Pipe:
        """Go on with a model that was saved by a pipe, or by playing a file with named fields."""
        kept = model.stream
        if "fields" not in kept:
            raise InvalidInput(
                f"the model was trained on {kept.get('format')} data, whose features have numbers, not names; a pipe "
                "needs a model of JSON rows or of a table with names."
            )
        new = cls.__new__(cls)
        new._clf = model.classifier
        new._features = RowFeatures.from_dict(kept)
        new._labels = Labels(kept.get("labels"))
        new._labels.settle(str(value) for value in new._clf.classes_.tolist())
        new._about = {name: value for name, value in model.about.items() if name != "asked"}
        new._asked = {int(ticket): [known, answer] for ticket, known, answer in model.about.get("asked", [])}
        new._begin(label or kept.get("label") or LABEL, time_field)
        return new

    def _begin(self, label: str, time_field: str | None) -> None:
        self._label, self._time_field = label, time_field
        self._tickets = {_key(known): ticket for ticket, (known, _) in self._asked.items() if known is not None}
        self._classes = set(np.asarray(self._clf.classes if self._clf.classes is not None else []).tolist())
        self._classes |= set(self._clf.classes_.tolist() if self._clf.__sklearn_is_fitted__() else [])
        self.lines = self.events = self.asked = self.answers = self.bad_lines = 0

    @property
    def classifier(self) -> Any:
        """The learner."""
        return self._clf

    def model(self) -> Model:
        """What can be saved, and gone on with."""
        asked = [[ticket, known, answer] for ticket, (known, answer) in self._asked.items()]
        stream = {"format": FORMAT, "label": self._label, "labels": self._labels.kind, **self._features.to_dict()}
        return Model(self._clf, stream, self._about | {"asked": asked})

    def answer(self, line: bytes) -> dict[str, Any] | None:
        """What to say to a line; None to an empty one. A line that cannot be used gets an object with ``error``."""
        self.lines += 1
        named: dict[str, Any] = {}
        try:
            whole = read_object(line)
            if whole is None:
                return None
            named = _named(_checked_id(whole.get(ID)))
            row = flatten(whole)
            if row.get(TICKET) is not None:
                named = {TICKET: row[TICKET]} | named
            if TICKET in row or (row.keys() <= ANSWER | {self._label} and ID in row and row.keys() - {ID}):
                return self._answered(row)
            return self._decided(row)
        except (AskanceError, ValueError, LookupError) as error:
            return self.refuse(_reason(error), named)

    def refuse_long_line(self) -> dict[str, Any]:
        """What to say to a line that was too long to be read."""
        self.lines += 1
        return self.refuse("it is longer than 64 MiB.")

    def refuse(self, reason: str, named: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The object that says why the current line, which names an id or a ticket, cannot be used."""
        self.bad_lines += 1
        return {**(named or {}), "error": f"line {self.lines}: {reason}", "line": self.lines}

    # --- events ------------------------------------------------------------------------------------------

    def _decided(self, row: dict[str, Any]) -> dict[str, Any]:
        known = row.pop(ID, None)
        truth = self._known_label(row.pop(self._label)) if row.get(self._label) is not None else None
        row.pop(self._label, None)
        when = self._time(row)
        event = self._features.row(row)
        self._make_room()
        likely = self._probabilities(event)
        decision = self._clf.ask(event, time=when)
        self.events += 1
        said = {**_named(known), "label": decision.label, "margin": decision.margin, **likely}
        said |= {"probability_of_asking": decision.probability, "asked": decision.asked}
        if decision.asked:
            self.asked += 1
            said |= {"ticket": decision.ticket, "audit": decision.audit}
            self._remember(decision.ticket, known)
            if truth is not None and decision.ticket is not None:
                said["learned"] = self._learn(decision.ticket, truth, replace=False)
        return said

    def _make_room(self) -> None:
        """As many columns as the fields have by now."""
        width = max(1, self._features.encoder.width)
        if not self._clf.__sklearn_is_fitted__():
            self._clf.set_params(n_features=room_for(width))
        elif self._clf.n_features_in_ < width:
            self._clf.widen(room_for(width))

    def _probabilities(self, event: tuple[np.ndarray, np.ndarray]) -> dict[str, Any]:
        """The probability of each class, where the model has one."""
        if not hasattr(self._clf, "predict_proba") or not self._clf.__sklearn_is_fitted__():
            return {}
        from scipy.sparse import csr_matrix

        columns, values = event
        row = csr_matrix((values, columns, [0, len(columns)]), shape=(1, self._clf.n_features_in_))
        shares = self._clf.predict_proba(row)[0].tolist()
        return {"probabilities": {str(name): p for name, p in zip(self._clf.classes_.tolist(), shares, strict=True)}}

    def _time(self, row: dict[str, Any]) -> float | None:
        """When the event came; the field is no feature."""
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

    def _answered(self, row: dict[str, Any]) -> dict[str, Any]:
        known, ticket = row.get(ID), row.get(TICKET)
        if ticket is None:
            ticket = self._tickets.get(_key(known))
            if ticket is None:
                raise InvalidInput(f"no event with the id {known!r} was asked, or too long ago.")
        elif isinstance(ticket, bool) or not isinstance(ticket, int):
            raise InvalidInput(f"a ticket is a whole number, got {ticket!r}.")
        of_ticket = self._asked.get(ticket, [None])[0]
        if known is not None and of_ticket is not None and _key(known) != _key(of_ticket):
            raise InvalidInput(f"ticket {ticket} is that of the id {of_ticket!r}, not of {known!r}.")
        known = known if known is not None else of_ticket
        name = self._label if self._label in row else LABEL
        if name not in row:
            raise InvalidInput("the answer has no label.")
        said = {"ticket": ticket, **_named(known)}
        if row[name] is None:
            self._clf.forget(ticket)
            return said | {"label": None, "learned": False}
        label = self._known_label(row[name])
        return said | {"label": label, "learned": self._learn(ticket, label, bool(row.get(REPLACE)))}

    def _known_label(self, value: Any) -> Any:
        label = self._labels.of(value)
        if label not in self._classes:
            known = ", ".join(repr(name) for name in sorted(self._classes)[:10])
            raise InvalidInput(f"the label {value!r} is not one of the classes {known}.")
        return label

    def _learn(self, ticket: int, label: Any, replace: bool) -> bool:
        """Tell the learner; whether that was news."""
        self._clf.tell(ticket=ticket, y=label, replace=replace)
        entry = self._asked.setdefault(ticket, [None, None])
        is_news = entry[1] != label
        entry[1] = label
        self.answers += is_news
        return is_news

    def _remember(self, ticket: int | None, known: Any) -> None:
        if ticket is None:
            return
        self._asked[ticket] = [known, None]
        if known is not None:
            self._tickets[_key(known)] = ticket
        if len(self._asked) > MOST_ASKED:
            oldest = next(iter(self._asked))
            key = _key(self._asked.pop(oldest)[0])
            if self._tickets.get(key) == oldest:
                del self._tickets[key]


def _key(known: Any) -> str:
    """An id as a key: 1 and "1" are different ids."""
    return json.dumps(known)


def _checked_id(known: Any) -> Any:
    """The id of a line; refuses what could not be told from a feature, or from another id."""
    if known is None or (isinstance(known, str | int | float) and not isinstance(known, bool)):
        return known
    raise InvalidInput(f"an id is text or a number, got {json.dumps(known)[:40]}.")


def _named(known: Any) -> dict[str, Any]:
    return {} if known is None else {ID: known}


def _reason(error: Exception) -> str:
    """Why a line cannot be used, in a sentence."""
    if isinstance(error, json.JSONDecodeError):
        ends = error.pos >= len(error.doc.rstrip())
        what = "it ends too early" if ends else f"{error.msg[0].lower()}{error.msg[1:]} at column {error.pos + 1}"
        return f"it is not valid JSON: {what}."
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text at byte {error.start + 1}."
    if "integer string conversion" in str(error):
        return "it contains a number with thousands of digits."
    return str(error)
