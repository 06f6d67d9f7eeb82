"""Events of any form for several labels: read, encoded and counted as a classifier of one label would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from askance.errors import InvalidInput
from askance.learner.base import length_of
from askance.learner.events import Events, Preparation, read_events
from askance.learner.loop import Block
from askance.learner.multilabel.questions import NO_AND_YES
from askance.learner.stream_classifier import StreamClassifier


class EventReader(StreamClassifier):
    """A classifier that is never asked: it knows the fields of raw events, and how wide rows are."""

    @property
    def preparation(self) -> Preparation:
        return self._compiled_learner().preparation

    def open(self, X: Any, Y: Any) -> tuple[Any, Any, int]:
        """Several events, as raw ones or as rows, their label sets, and how many events there are."""
        if isinstance(Y, str) and isinstance(X, list | tuple) and all(isinstance(row, Mapping) for row in X):
            Y, name = [row.get(Y) for row in X], Y  # before nested fields are named, and empty ones dropped
            X = [{field: value for field, value in row.items() if field != name} for row in X]
        raw = self._raw_events(X)
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
        self._match_fields(opened)
        events = self._take_many(opened, NO_AND_YES)
        self._remember_label(label)
        return events

    def take_one(self, x: Any, time: Any) -> tuple[Block, np.ndarray]:
        """One event that comes now, and its time."""
        row = self._raw_event(x)
        if row is None:
            when = self._times(None if time is None else [time])
            return self._one_event(x)[1], when
        _, block, when = self._take_event(row, x, time)
        return block, when

    def take_answered(self, x: Any) -> Block:
        """One event that came before."""
        row = self._raw_event(x)
        return (self._one_event(x) if row is None else self._answered_event(row))[1]

    def transform(self, X: Any) -> Events:
        """Several events that are only predicted."""
        raw = self._raw_events(X)
        if raw is None:
            return read_events(self._check_rows(X, reset=False))
        from askance.data.encoding.columns import transform

        self._match_fields(raw)
        self._check_any_is_known(raw)
        return read_events(self._as_wide_as_the_model(transform(self._features, raw)))
