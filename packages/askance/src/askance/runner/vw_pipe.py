"""Lines as ``vw --active`` reads and answers them, one at a time.

    an event     'm7|text win a prize            no label: it is predicted
    the reply    -0.412000 m7                    prediction and tag; nobody needs the label
                 -0.412000 m7 2.6874...          ... or it is asked for, with this importance, 1 / (ask probability)
    an answer    1 2.6874... m7 |text win a prize

An answer is known by its features, and by its tag where several events have the same. It is learned as the event was
when it came, with the importance it was asked with. A labeled line to which there was no question is a given label, and
counts with its own importance. The prediction is the margin, above 0 for the second of two classes; of several classes,
it is the label. A line that cannot be used is answered with ``nan`` and its tag, in two words, which clients skip.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from math import isclose
from typing import Any

from askance.data.formats.jsonl import read_object
from askance.data.formats.labels import Labels
from askance.data.formats.quarantine import MARK, Keeper, raw_of
from askance.data.formats.vw import FORMAT, Features, HashedScaling, Head, Namespaces, read_head, split_line
from askance.errors import AskanceError, InvalidInput, UnknownTicket
from askance.learner.budget import as_budget
from askance.pending import Pending
from askance.runner.algorithm_spec import AlgorithmSpec
from askance.runner.model import Model

MOST_ASKED = 20_000  # asked events that are known again
SAME = 1e-4  # relative difference of importances: clients may round them
KEY_BYTES = 12


class VwPipe:
    """Decides on events and learns answers, as Vowpal Wabbit's active learning does.

    Parameters
    ----------
    classes : sequence of str
        All labels.
    spec : AlgorithmSpec, optional
        The algorithm, its parameters and the budget.
    raw : bool, default False
        Scale nothing; otherwise the features of a namespace have unit length.

    Examples
    --------
    >>> pipe = VwPipe(["-1", "1"], AlgorithmSpec("PA", intercept=False))
    >>> pipe.answer(b"'m7|text win a prize")
    b'0.000000 m7 1.0'
    >>> pipe.answer(b"1 1.0 m7 |text win a prize"), pipe.answer(b"|text win")
    (b'0.000000 m7', b'0.577350  1.0')
    """

    def __init__(
        self, classes: Sequence[str], spec: AlgorithmSpec | None = None, *, raw: bool = False, hash_bits: int = 18
    ) -> None:
        self._labels = Labels(classes=classes)
        self._labels.settle(classes)
        self._scaling = HashedScaling(hash_bits, raw)
        self._scaling.settle([])
        spec = spec or AlgorithmSpec()
        self._clf = spec.make(sorted({self._labels.of(text) for text in classes}), n_features=self._scaling.width)
        self._about: dict[str, Any] = spec.about()
        self._begin([])

    @classmethod
    def of(cls, model: Model) -> VwPipe:
        """Resume a model that was saved by such a pipe, or by running lines of Vowpal Wabbit."""
        model.refuse_label_sets()
        kept = model.stream
        if kept.get("format") != FORMAT:
            raise InvalidInput(
                f"the model was trained on {kept.get('format')!r} data, but the lines are Vowpal Wabbit's; run some "
                "with askance run first."
            )
        new = cls.__new__(cls)
        new._clf = model.classifier
        new._scaling = HashedScaling.from_dict(kept)
        new._labels = Labels(kept.get("labels"), new._clf.classes_.tolist())
        new._labels.settle(str(value) for value in new._clf.classes_.tolist())
        new._about = {name: value for name, value in model.about.items() if name != "asked"}
        new._begin(model.about.get("asked", []))
        return new

    def _begin(self, asked: Sequence[Sequence[Any]]) -> None:
        self._namespaces = Namespaces(self._scaling.bits)
        classes = self._clf.classes_ if self._clf._has_begun else self._clf.classes
        self._classes = set(classes.tolist() if hasattr(classes, "tolist") else classes)
        self._asked: Pending[int, tuple[str, str, float]] = Pending()
        self._tickets: dict[str, list[int]] = {}
        for ticket, key, tag, weight in asked:
            self._remember(int(ticket), str(key), str(tag), float(weight))
        self.lines = self.events = self.asked = self.answers = self.bad_lines = 0
        self._is_kept = False  # whether the lines come out of a file of bad ones
        self.keeper: Keeper | None = None
        """Keeps the lines that cannot be used."""
        self.complain: Callable[[str], None] = lambda sentence: None
        """Called with the reason when a line cannot be used."""

    def model(self) -> Model:
        """The model, to be saved and gone on with."""
        stream = {"format": FORMAT, "labels": self._labels.kind, **self._scaling.to_dict()}
        asked = [[ticket, *known] for ticket, known in self._asked.items()]
        return Model(self._clf, stream, self._about | {"asked": asked})

    def answer(self, line: bytes | None) -> bytes | None:
        """The reply to a line, without its end; None to an empty one. None is a line that was too long."""
        self.lines += 1
        if line is None:
            return self._refuse("it is longer than 64 MiB.", "", None)
        line = line.strip(b"\0 \t\r\n")  # some clients greet with zeros
        if not line:
            return None
        head = Head(None, 1.0, "")
        try:
            if self._is_kept:
                line = raw_of(line, "-", self.lines)
            elif self.lines == 1 and line.startswith(b"{") and (read_object(line) or {}).items() >= MARK.items():
                self._is_kept = True
                return None
            before, rest = split_line(line)
            head = read_head(before, third_is_tag=True)
            features = self._namespaces.read(rest)
            if head.label is None:
                predicted, weight = self._decide(head.tag, _key(rest), features)
                return f"{predicted} {head.tag}{weight}".encode()
            return f"{self._learn(head, _key(rest), features)} {head.tag}".encode()
        except (AskanceError, ValueError, LookupError) as error:
            return self._refuse(str(error), head.tag, line)

    def _refuse(self, reason: str, tag: str, raw: bytes | None) -> bytes:
        self.bad_lines += 1
        self.complain(f"line {self.lines}: {reason}")
        if self.keeper is not None:
            self.keeper.add("-", self.lines, None, reason, raw)
        return f"nan {tag}".encode()

    # --- events ------------------------------------------------------------------------------------------

    def _decide(self, tag: str, key: str, features: Features) -> tuple[str, str]:
        """The prediction, and the importance as it is written; empty if the label is not wanted."""
        X = self._scaling.matrix([features])
        when = time.time() if as_budget(self._clf.budget).reads_time else None
        decision = self._clf.ask((X.indices, X.data), time=when)
        self.events += 1
        predicted = f"{decision.margin:.6f}" if len(self._classes) == 2 else str(decision.label)
        if not decision.asked or decision.ticket is None:
            return predicted, ""
        self.asked += 1
        self._remember(decision.ticket, key, tag, decision.weight)
        return predicted, f" {decision.weight!r}"

    def _predict(self, X: Any) -> str:
        if not self._clf._has_begun:
            return "0.000000" if len(self._classes) == 2 else str(min(self._classes))
        if len(self._classes) > 2:
            return str(self._clf.predict(X)[0])
        return f"{self._clf.decision_function(X)[0]:.6f}"

    # --- answers -----------------------------------------------------------------------------------------

    def _learn(self, head: Head, key: str, features: Features) -> str:
        label = self._labels.of(head.label)
        if label not in self._classes:
            known = ", ".join(repr(name) for name in sorted(self._classes)[:10])
            raise InvalidInput(f"the label {head.label!r} is not one of the classes {known}.")
        ticket = self._find(key, head)
        predicted = self._predict(self._scaling.matrix([features], as_next=True))
        if ticket is None or not self._learn_answer(ticket, label):
            X = self._scaling.matrix([features])
            self._clf.tell((X.indices, X.data), label, weight=head.importance)
        self.answers += 1
        return predicted

    def _learn_answer(self, ticket: int, label: Any) -> bool:
        """Let the classifier learn the answer to a question; False if it no longer waits for one."""
        self._drop(ticket, self._asked.pop(ticket)[0])
        try:
            self._clf.tell(ticket=ticket, y=label)
        except UnknownTicket:
            return False
        return True

    def _find(self, key: str, head: Head) -> int | None:
        """The question that a line answers: of those with its features, the oldest with its tag, else the oldest."""
        waiting = [ticket for ticket in self._tickets.get(key, ()) if self._fits(ticket, head.importance)]
        same = [ticket for ticket in waiting if self._asked[ticket][1] == head.tag]
        return next(iter(same or waiting), None)

    def _fits(self, ticket: int, importance: float) -> bool:
        """Whether an answer has the importance of the question, or says nothing of it."""
        return importance == 1.0 or isclose(importance, self._asked[ticket][2], rel_tol=SAME)

    def _remember(self, ticket: int, key: str, tag: str, weight: float) -> None:
        self._tickets.setdefault(key, []).append(ticket)
        for oldest, (other, *_) in self._asked.add(ticket, (key, tag, weight), MOST_ASKED).items():
            self._drop(oldest, other)

    def _drop(self, ticket: int, key: str) -> None:
        self._tickets[key].remove(ticket)
        if not self._tickets[key]:
            del self._tickets[key]


def _key(rest: bytes) -> str:
    """By what features are known again."""
    return hashlib.blake2b(rest.strip(), digest_size=KEY_BYTES).hexdigest()
