"""Tickets: asked events that wait for their answers, and the answers that came.

An answer may come at once, days later, out of order, twice, or never. A ticket keeps what it will need under the
event's number: the features as the model saw them, the prediction, and the ask probability. Open and answered tickets
are each kept as ``pending`` says.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from askance.errors import UnknownTicket
from askance.learner.loop import Block
from askance.pending import Pending


class PendingEvent(NamedTuple):
    """An asked event without an answer."""

    columns: np.ndarray
    values: np.ndarray
    predicted: int
    probability: float

    @classmethod
    def after(cls, block: Block, predicted: int, probability: float) -> PendingEvent:
        """The only event of a block, after it was predicted. Its arrays are not copied: nobody else may use them."""
        start, stop = block.starts.tolist()
        columns, values = block.columns[start:stop], block.values[start:stop]
        if 2 * (stop - start) < len(block.columns):  # a slice would keep much unused memory alive
            columns, values = columns.copy(), values.copy()
        return cls(columns, values, predicted, probability)

    @property
    def block(self) -> Block:
        return Block(np.array([0, len(self.columns)], np.int32), self.columns, self.values)

    def move_columns(self, kept: np.ndarray) -> PendingEvent:
        """The same event, with column i moved to ``kept[i]``."""
        return self._replace(columns=kept[self.columns].astype(np.uint32))


class AnsweredEvent(NamedTuple):
    """The answer to a ticket, with the event, which a correction needs."""

    event: PendingEvent
    answer: int


class Tickets:
    """Open and answered tickets by the event's number, oldest first."""

    def __init__(self) -> None:
        self.open: Pending[int, PendingEvent] = Pending()
        self.answered: Pending[int, AnsweredEvent] = Pending()
        self._by_age: list[int] = []  # a heap of the answered numbers, some of them dropped since

    def issue(self, number: int, event: PendingEvent, most: int) -> int | None:
        """Keep an asked event, and drop the oldest beyond ``most``. Returns its ticket, None if nothing is kept."""
        if most == 0:
            return None
        self.open.add(number, event, most)
        return number

    def expire(self, number: int) -> None:
        """Drop all tickets up to this number, open or answered."""
        while self.open and (oldest := next(iter(self.open))) <= number:
            del self.open[oldest]
        while self._by_age and self._by_age[0] <= number:
            self.answered.pop(heapq.heappop(self._by_age), None)

    def close(self, number: int, answer: int, most: int) -> None:
        """Record the answer to an open ticket, or another answer to an answered one."""
        event = self.open.pop(number) if number in self.open else self.answered.pop(number).event
        self._keep_answer(number, event, answer, most)

    def _keep_answer(self, number: int, event: PendingEvent, answer: int, most: int) -> None:
        self.answered.add(number, AnsweredEvent(event, answer), most)
        heapq.heappush(self._by_age, number)
        if len(self._by_age) > 2 * len(self.answered) + 16:
            self._by_age = sorted(self.answered)

    def forget(self, number: int) -> None:
        """Drop an open ticket: no answer will come."""
        self.check_number(number)
        if self.open.pop(number, None) is None:
            raise self.unknown(number)

    def check_number(self, number: object) -> None:
        """Raise if this cannot be a ticket at all."""
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise self.unknown(number)

    def unknown(self, number: object) -> UnknownTicket:
        """The error for a ticket that is not open."""
        if isinstance(number, int | np.integer) and number in self.answered:
            return UnknownTicket(f"ticket {number!r} has its answer already.")
        return UnknownTicket(
            f"there is no open ticket {number!r}: it was never given out, was forgotten, or was dropped because too "
            "many were waiting (max_pending) or it was too old (max_pending_age)."
        )

    def move(self, kept: np.ndarray) -> None:
        """Move column i of every event to ``kept[i]``."""
        for number, event in self.open.items():
            self.open[number] = event.move_columns(kept)
        for number, (event, answer) in self.answered.items():
            self.answered[number] = AnsweredEvent(event.move_columns(kept), answer)

    # --- as arrays, for files ----------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """All tickets in a few arrays."""
        everything = list(self._all())
        events = [event for _, event, _ in everything]
        nothing: list[np.ndarray] = [np.empty(0)]
        return {
            "ticket_numbers": np.array([number for number, _, _ in everything], np.int64),
            "ticket_answers": np.array([answer for _, _, answer in everything], np.int64),
            "ticket_predicted": np.array([event.predicted for event in events], np.int64),
            "ticket_probability": np.array([event.probability for event in events], np.float64),
            "ticket_starts": np.cumsum([0, *(len(event.columns) for event in events)], dtype=np.int64),
            "ticket_columns": np.concatenate([event.columns for event in events] or nothing).astype(np.int32),
            "ticket_values": np.concatenate([event.values for event in events] or nothing).astype(np.float64),
        }

    @classmethod
    def of(cls, arrays: dict[str, np.ndarray]) -> Self:
        """The tickets that ``arrays`` described."""
        tickets = cls()
        starts = arrays["ticket_starts"]
        for i, number in enumerate(arrays["ticket_numbers"].tolist()):
            which = slice(starts[i], starts[i + 1])
            event = PendingEvent(
                arrays["ticket_columns"][which].astype(np.uint32),
                arrays["ticket_values"][which].copy(),
                int(arrays["ticket_predicted"][i]),
                float(arrays["ticket_probability"][i]),
            )
            answer = int(arrays["ticket_answers"][i])
            if answer < 0:
                tickets.open[number] = event
            else:
                tickets._keep_answer(number, event, answer, most=len(starts))
        return tickets

    def _all(self) -> Iterator[tuple[int, PendingEvent, int]]:
        for number, event in self.open.items():
            yield number, event, -1
        for number, (event, answer) in self.answered.items():
            yield number, event, answer
