"""Asked events that wait for their answers: the one policy by which they are kept in memory.

The asking side keeps something under the ticket of a question until the answer comes, and often longer, for
corrections: a classifier the features and the prediction (``learner.tickets``), a monitor the counts that an answer
changes (``quality.monitor``), a pipe the user's id (``runner.pipe``). Answers may never come, so each keeps at most so
many, and drops the oldest first. The service keeps its questions in a table of its store
(``askance_live.questions.queue``): they outlive the process, are leased to people, and expire by value, not by age.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

Ticket = TypeVar("Ticket", bound=Hashable)
Item = TypeVar("Item")


class Pending(dict[Ticket, Item]):
    """What is kept of asked events, by ticket, oldest first.

    Examples
    --------
    >>> pending = Pending()
    >>> for ticket in (1, 2, 3):
    ...     dropped = pending.add(ticket, f"event {ticket}", most=2)
    >>> pending, dropped
    ({2: 'event 2', 3: 'event 3'}, {1: 'event 1'})
    """

    def add(self, ticket: Ticket, item: Item, most: int) -> dict[Ticket, Item]:
        """Keep an item as the newest; returns what was dropped, the oldest beyond ``most``."""
        self.pop(ticket, None)
        self[ticket] = item
        dropped = {}
        while len(self) > most:
            oldest = next(iter(self))
            dropped[oldest] = self.pop(oldest)
        return dropped
