"""A river classifier as the model of a stream; classes that are met as they come; tickets by the event itself."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from askance.adapters.scored import (
    ModelScore,
    ScoredStream,
    log_probabilities,
    margin_of,
)
from askance.errors import InvalidInput, InvalidType

BOOLEAN = False, True  # the classes of river's own binary classifiers


class RiverModel:
    """A classifier of river as the model of a stream."""

    def __init__(self, classifier: Any, is_open: bool) -> None:
        self.classifier = classifier
        self.is_open = is_open
        self.classes: list[Any] = []
        self.probabilities: dict[Any, float] = {}
        self.options: dict[str, Any] = {}

    def begin(self, classes: np.ndarray) -> None:
        self.classes = classes.tolist()

    def score(self, row: dict[Any, Any]) -> ModelScore:
        """The likeliest class, and by how much: with margin 0 as long as fewer than two classes are known to it."""
        try:
            self.probabilities = dict(self.classifier.predict_proba_one(row, **self.options))
        except NotImplementedError:
            raise InvalidType(
                f"{type(self.classifier).__name__} has no predict_proba_one, which tells a query rule how sure it is."
            ) from None
        found = self.probabilities
        if not found:
            return ModelScore(0, 0.0)
        best = max(found, key=lambda label: found[label])
        if best not in self.classes and self.is_open:
            self.classes.append(best)
        elif best not in self.classes:
            raise InvalidInput(
                f"{type(self.classifier).__name__} predicts {best!r}, which is not one of the classes "
                f"{', '.join(map(repr, self.classes[:10]))}."
            )
        margin = 0.0
        if len(found) > 1:
            is_signed = len(self.classes) == 2 and set(found) <= set(self.classes)
            labels = self.classes if is_signed else list(found)
            margin = margin_of(log_probabilities([found[label] for label in labels]))
            margin = margin if is_signed else abs(margin)
        return ModelScore(self.classes.index(best), margin)

    def learn(self, row: dict[Any, Any], answer: int, weight: float) -> None:
        options = {} if weight == 1.0 else {"w": weight}
        self.classifier.learn_one(row, self.classes[answer], **options)


class OpenStream(ScoredStream):
    """A stream whose classes are met as they come. The first one is None, which is predicted before any is known."""

    model: RiverModel

    def _classes_for_one(self) -> np.ndarray:
        return self.classes_ if self.has_begun else np.array(BOOLEAN)  # as many as a classifier needs to begin

    def _begin(self, classes: np.ndarray, n_features: int) -> None:
        super()._begin(classes, n_features)
        self._set_classes([None])

    def _hold(self, row: Any) -> None:
        super()._hold(row)
        if len(self.model.classes) > len(self.classes_):  # it knew one before it came here
            self._set_classes(self.model.classes)

    def meet(self, label: Any) -> None:
        """Admit a label that was not known."""
        if label not in self.model.classes:
            self._set_classes([*self.model.classes, label])

    def _set_classes(self, labels: list[Any]) -> None:
        self.classes_ = np.empty(len(labels), object)
        self.classes_[:] = labels
        self.model.classes = labels


def takes_weights(classifier: Any) -> bool:
    """Whether ``learn_one`` takes a weight ``w``."""
    parameters = inspect.signature(classifier.learn_one).parameters.values()
    return any(known.name == "w" or known.kind is known.VAR_KEYWORD for known in parameters)


class EventTickets:
    """Open tickets by the event itself: river gives an event back with its label, and knows no tickets."""

    def __init__(self) -> None:
        self._tickets: dict[Any, deque[int]] = {}
        self._number = 0

    def add(self, x: Mapping[Any, Any], ticket: int, is_open: Mapping[int, Any]) -> None:
        """Note the ticket of an event; drop those that are no longer open, now and then."""
        self._tickets.setdefault(key_of(x), deque()).append(ticket)
        self._number += 1
        if self._number > 2 * len(is_open) + 16:
            kept = {key: deque(n for n in tickets if n in is_open) for key, tickets in self._tickets.items()}
            self._tickets = {key: tickets for key, tickets in kept.items() if tickets}
            self._number = sum(map(len, self._tickets.values()))

    def take(self, x: Mapping[Any, Any], is_open: Mapping[int, Any]) -> int | None:
        """The oldest open ticket of an event; None if it was not asked, or was dropped."""
        key = key_of(x)
        tickets = self._tickets.get(key, deque())
        found = None
        while tickets and found is None:
            ticket = tickets.popleft()
            self._number -= 1
            found = ticket if ticket in is_open else None
        if not tickets:
            self._tickets.pop(key, None)
        return found


def key_of(x: Mapping[Any, Any]) -> Any:
    """The same for events with the same features, in any order."""
    try:
        return hash(frozenset(x.items())), frozenset(x.items())
    except TypeError:  # lists, say
        return repr(sorted(x.items(), key=repr))
