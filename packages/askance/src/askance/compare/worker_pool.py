"""A pool that plays a table: at first in this process, then by an engine's workers once that is worth it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from askance.compare.play import MODULE, Conditions, Play, TablePlayer, play_shared, room_per_worker, warm_up
from askance.compare.provenance import describe_code
from askance.compare.results_cache import Result
from askance.compare.table import Table
from askance.engines import WorkerEngine
from askance.engines.local import one_thread

WORTH_STARTING = 6.0
"""Seconds of work below which new processes, which import and load for some seconds, gain nothing."""


class WorkerPool:
    """Plays what the scheduler sends.

    Parameters
    ----------
    table, conditions
        What is played, and how.
    key : str
        A name for both.
    engine : WorkerEngine
        Who plays; with one local worker this process does. A cluster plays everything, from the first play on.
    algorithms : iterable of str
        The algorithms that will be played. One of the new processes compiles each of them; the others find the machine
        code on disk.
    has_budget : bool
        Whether plays have a budget, which is compiled in.
    """

    def __init__(
        self,
        table: Table,
        conditions: Conditions,
        key: str,
        engine: WorkerEngine,
        algorithms: Iterable[str],
        has_budget: bool,
    ) -> None:
        self._table = table
        self._conditions = conditions
        self._key = key
        self._engine = engine
        self._algorithms = list(dict.fromkeys(algorithms))
        self._budget = 1 if has_budget else None
        self._code = describe_code(MODULE) if engine.is_remote else None
        self._shared: Any = None
        self._player: TablePlayer | None = None
        self._limit: Any = None

    @property
    def workers(self) -> int:
        """How many processes play now."""
        return 1 if self._shared is None else self._engine.count

    @property
    def losses(self) -> tuple[type[BaseException], ...]:
        """The errors of plays whose worker was killed: they may be sent again."""
        return self._engine.losses

    def __enter__(self) -> Self:
        self._limit = one_thread()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._limit.restore_original_limits()
        if self._shared is not None:
            if kind is not None:  # interrupted: nobody needs the plays under way
                self._engine.kill()
            else:
                self._engine.free(self._shared)

    def expect(self, seconds: float, starting: Callable[[], None]) -> None:
        """Start the processes if ``seconds`` of work are left, and that is enough, or if they are running already."""
        if self._shared is not None or self._engine.count == 1:
            return
        if self._player is not None:
            seconds += self._player.last_warm_up * len(set(self._algorithms) - self._player.warmed)
        if seconds > WORTH_STARTING or (seconds > 0.0 and self._engine.is_running):
            starting()
            self._start()

    def _start(self) -> None:
        self._player = None
        self._engine.start()
        self._shared = self._engine.put(self._table)
        arguments = len(self._table.classes), self._budget
        for future in [self._engine.submit(warm_up, algorithm, *arguments) for algorithm in self._algorithms]:
            with suppress(*self._engine.losses):  # who plays it compiles it then
                future.result()

    def play(self, plays: list[Play]) -> Future[list[Result]]:
        """Send some plays to a process; without processes, play them here."""
        if self._shared is None and self._engine.is_remote:
            self._start()
        if self._shared is not None:
            room = room_per_worker(self._engine.count)
            return self._engine.submit(play_shared, self._shared, self._key, self._code, self._conditions, room, plays)
        if self._player is None:
            self._player = TablePlayer(self._table, self._conditions, room_per_worker(1))
        future: Future[list[Result]] = Future()
        try:
            future.set_result([self._player.play(play) for play in plays])
        except Exception as error:
            future.set_exception(error)
        return future
