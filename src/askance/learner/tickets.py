"""Asked events that wait for their answers, and the answers that came.

An answer may come at once, days later, out of order, twice, or never. What it will need is kept under the event's
number: its features as the model saw them, what was predicted, and with which probability it was asked. The store is
bounded: the oldest ticket is dropped first, and so is, of as many answered ones, the oldest.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from askance.errors import UnknownTicket
from askance.learner.loop import Block


class Waiting(NamedTuple):
    """An asked event without an answer."""

    columns: np.ndarray
    values: np.ndarray
    predicted: int
    probability: float

    @classmethod
    def after(cls, block: Block, predicted: int, probability: float) -> Waiting:
        """The one event of a block, which is the event's own, once it was decided."""
        size = block.starts[1]
        columns, values = block.columns[:size], block.values[:size]
        if 2 * size < len(block.columns):  # it would keep much empty room alive
            columns, values = columns.copy(), values.copy()
        return cls(columns, values, predicted, probability)

    @property
    def block(self) -> Block:
        return Block(np.array([0, len(self.columns)], np.int32), self.columns, self.values)

    def moved(self, kept: np.ndarray) -> Waiting:
        """The same event where column i is now ``kept[i]``."""
        return self._replace(columns=kept[self.columns].astype(np.uint32))


class Answered(NamedTuple):
    """The answer a ticket got, with the event, which a correction needs."""

    event: Waiting
    answer: int


class Tickets:
    """Open and answered tickets by the event's number, oldest first."""

    def __init__(self) -> None:
        self.open: dict[int, Waiting] = {}
        self.answered: dict[int, Answered] = {}
        self._by_age: list[int] = []  # a heap of the numbers answered, and of some dropped since

    def issue(self, number: int, event: Waiting, most: int) -> int | None:
        """Keep an asked event; what is now too much is dropped. None: it cannot be kept."""
        if most == 0:
            return None
        self.open[number] = event
        while len(self.open) > most:
            del self.open[next(iter(self.open))]
        return number

    def expire(self, number: int) -> None:
        """Drop what is open or answered and as old as this event or older."""
        while self.open and (oldest := next(iter(self.open))) <= number:
            del self.open[oldest]
        while self._by_age and self._by_age[0] <= number:
            self.answered.pop(heapq.heappop(self._by_age), None)

    def close(self, number: int, answer: int, most: int) -> None:
        """An open or already answered ticket has this answer now."""
        event = self.open.pop(number) if number in self.open else self.answered.pop(number).event
        self._keep_answer(number, event, answer)
        while len(self.answered) > most:
            del self.answered[next(iter(self.answered))]

    def _keep_answer(self, number: int, event: Waiting, answer: int) -> None:
        self.answered[number] = Answered(event, answer)
        heapq.heappush(self._by_age, number)
        if len(self._by_age) > 2 * len(self.answered) + 16:
            self._by_age = sorted(self.answered)

    def forget(self, number: int) -> None:
        """No answer will come."""
        self.known(number)
        if self.open.pop(number, None) is None:
            raise self.unknown(number)

    def known(self, number: object) -> None:
        """Refuse what cannot be a ticket at all."""
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise self.unknown(number)

    def unknown(self, number: object) -> UnknownTicket:
        """The error for a ticket that is not open."""
        if isinstance(number, int | np.integer) and number in self.answered:
            return UnknownTicket(f"ticket {number!r} has its answer already.")
        return UnknownTicket(
            f"there is no open ticket {number!r}: it was never given out, was forgotten, or was dropped because too "
            "many were waiting (keep) or it was too old (keep_for)."
        )

    def move(self, kept: np.ndarray) -> None:
        """The features have new places: column i is now ``kept[i]``."""
        for number, event in self.open.items():
            self.open[number] = event.moved(kept)
        for number, (event, answer) in self.answered.items():
            self.answered[number] = Answered(event.moved(kept), answer)

    # --- as arrays, for files ----------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything, in a few arrays."""
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
            event = Waiting(
                arrays["ticket_columns"][which].astype(np.uint32),
                arrays["ticket_values"][which].copy(),
                int(arrays["ticket_predicted"][i]),
                float(arrays["ticket_probability"][i]),
            )
            answer = int(arrays["ticket_answers"][i])
            if answer < 0:
                tickets.open[number] = event
            else:
                tickets._keep_answer(number, event, answer)
        return tickets

    def _all(self) -> Iterator[tuple[int, Waiting, int]]:
        for number, event in self.open.items():
            yield number, event, -1
        for number, (event, answer) in self.answered.items():
            yield number, event, answer
