"""Events of any form for several labels: read, encoded and counted as a classifier of one label would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from askance.errors import InvalidInput
from askance.learner.classifier import StreamClassifier
from askance.learner.events import Events, Preparation, read_events
from askance.learner.loop import Block
from askance.learner.multilabel.questions import NO_AND_YES
from askance.learner.reader import length_of


class EventReader(StreamClassifier):
    """A classifier that is never asked: it knows the fields of raw events, and how wide rows are."""

    @property
    def preparation(self) -> Preparation:
        return self._ready().compiled.preparation

    def open(self, X: Any, Y: Any) -> tuple[Any, Any, int]:
        """Several events, as raw ones or as rows, their label sets, and how many events there are."""
        if isinstance(Y, str) and isinstance(X, list | tuple) and all(isinstance(row, Mapping) for row in X):
            Y, name = [row.get(Y) for row in X], Y  # before nested fields are named, and empty ones dropped
            X = [{field: value for field, value in row.items() if field != name} for row in X]
        raw = self._reader.raw_events(X)
        if raw is None:
            if isinstance(Y, str):
                raise InvalidInput(f"X has no column {Y!r} that could hold the labels; pass them as Y.")
            rows = self._check_rows(X, reset=not self._has_begun)
            return rows, Y, length_of(rows) or 0
        return raw, raw.pop(Y) if isinstance(Y, str) else Y, raw.n_events

    def take(self, opened: Any, label: Any) -> Events:
        """The events for the loop. The first ones settle what their fields are, or how wide they are."""
        if hasattr(opened, "shape"):
            events = read_events(opened)
            if not self._has_begun:
                self._begin(NO_AND_YES, opened.shape[1])
            return events
        self._reader.match_fields(opened)
        events = self._reader.take_many(opened, NO_AND_YES)
        self._reader.remember_label(label)
        return events

    def take_one(self, x: Any, time: Any) -> tuple[Block, np.ndarray]:
        """One event that comes now, and its time."""
        return self._reader.read_new(x, time)

    def take_answered(self, x: Any) -> Block:
        """One event that came before."""
        return self._reader.read_again(x)

    def transform(self, X: Any) -> Events:
        """Several events that are only predicted."""
        return self._reader.read_unlabeled(X)
