"""What the service asks of a database: SQL with ``?`` for values, one writer, many readers, errors with a meaning."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from askance.errors import AskanceError

Row = tuple[Any, ...]

PATIENCE = 10.0  # seconds for which a request waits for a store that is away, such as a server that restarts
PAUSE = 0.2  # seconds between two tries
KEYS_AT_ONCE = 500  # in one query; a store takes no more than some thousand values


class StoreError(AskanceError, OSError):
    """The store cannot do what was asked just now."""


class StoreBusy(StoreError):
    """Somebody else holds the store, or it cannot be reached: nothing was changed, try again later."""


class StoreAway(StoreBusy):
    """The store cannot be reached, or was lost before the commit: nothing was changed, and it may be back soon."""


class Overtaken(StoreAway):
    """Another process has written since memory was read: nothing was changed, and it must be read again."""


class StoreFull(StoreError):
    """There is no room left: nothing was changed."""


class CommitUnknown(StoreError):
    """The connection broke while the transaction was being committed: only a look into the store tells the outcome."""


class Session(ABC):
    """A connection, inside a transaction or just reading."""

    @abstractmethod
    def execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Run a statement; how many rows it changed."""

    @abstractmethod
    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement for many rows of values."""

    @abstractmethod
    def all(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Every row of a query."""

    @abstractmethod
    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """The rows of a query one after the other, in constant memory."""

    def one(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """The first row of a query, if there is one."""
        rows = self.all(sql, values)
        return rows[0] if rows else None

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The first value of the first row, or None."""
        row = self.one(sql, values)
        return row[0] if row else None

    def select_in(self, sql: str, keys: Iterable[Any]) -> list[Row]:
        """The rows of a query whose ``{}`` stands for a list of keys."""
        keys = list(keys)
        rows = []
        for first in range(0, len(keys), KEYS_AT_ONCE):
            part = keys[first : first + KEYS_AT_ONCE]
            rows += self.all(sql.format(", ".join("?" * len(part))), part)
        return rows


class Database(ABC):
    """A store that is open. Write transactions belong to one thread; any thread may read."""

    place: str
    """Where it is, for people: no password."""

    words: ClassVar[dict[str, str]]
    """What the types of columns are called here."""

    @abstractmethod
    def write(self) -> AbstractContextManager[Session]:
        """A transaction that is committed, and safe on disk, when the block ends well, and rolled back otherwise."""

    @abstractmethod
    def read(self) -> AbstractContextManager[Session]:
        """A consistent look at what is committed."""

    @abstractmethod
    def own(self) -> None:
        """Become the one service that works on this store; refuse if there is another."""

    def try_own(self) -> bool:
        """``own``, without waiting; whether there is no other."""
        raise NotImplementedError(f"{self.place!r} has one process, and nobody waits for it.")

    def is_owned(self) -> bool:
        """Whether some process works on this store."""
        raise NotImplementedError(f"{self.place!r} has one process, and nobody waits for it.")

    def backend(self) -> int:
        """The server's process that works for the one that writes; 0 where there is none."""
        return 0

    @abstractmethod
    def disown(self) -> None:
        """Let another service work on it."""

    @abstractmethod
    def is_small(self) -> bool:
        """Whether a start has the time to read all of it."""

    @abstractmethod
    def note_group(self, name: str, number: int) -> None:
        """Say beside the store of this name that the transaction with this number is committed."""

    @abstractmethod
    def known_group(self, name: str) -> int | None:
        """The last transaction of the store of this name that is said, beside it, to be committed; None where nothing
        is known of it."""

    @abstractmethod
    def version(self, session: Session) -> int:
        """The version of its tables; 0 where there are none yet."""

    @abstractmethod
    def room(self) -> int | None:
        """Free bytes where the store is kept, if that can be known."""

    @abstractmethod
    def recover(self) -> None:
        """Get ready to try again after a failure."""

    @abstractmethod
    def backup(self, target: str) -> None:
        """Write a consistent copy while the service goes on."""

    @abstractmethod
    def check(self) -> list[str]:
        """What is wrong with the store, in sentences; nothing if all is well."""

    @abstractmethod
    def discard(self) -> None:
        """Remove what was created by opening it, since it could not be filled; an attempt to come may go on with it."""

    @abstractmethod
    def close(self) -> None:
        """Let go of it."""
