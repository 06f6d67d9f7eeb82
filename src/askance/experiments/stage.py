"""A table ready to be played: at first in this process, and by several once that is worth starting them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from askance.experiments.memo import Result
from askance.experiments.play import Conditions, Play, Player, play_shared, room_per_worker, warm_up
from askance.experiments.table import Table, share
from askance.experiments.workers import Workers, are_running, one_thread

WORTH_STARTING = 6.0
"""Seconds of work below which starting processes, which import and load for some seconds, gains nothing."""


PREFIX = "askance-table-"


def remove_what_the_killed_left() -> None:
    """Remove shared tables of processes that ended before they could do so themselves."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdigit() and not _is_alive(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, SystemError):  # somebody else's, or a system that does not say
        return True
    return True


class Stage:
    """Where plays are sent.

    Parameters
    ----------
    table, conditions
        What is played.
    workers : int, optional
        Processes that play; with 1 this process does. As many as there are processors unless given.
    algorithms : iterable of str
        What will be played. When processes are started each algorithm is compiled by one of them; the others find the
        machine code on disk.
    has_budget : bool
        Whether plays have a budget, which is compiled in.
    """

    def __init__(
        self,
        table: Table,
        conditions: Conditions,
        workers: int | None,
        algorithms: Iterable[str],
        has_budget: bool,
    ) -> None:
        self._table = table
        self._conditions = conditions
        self._crew = Workers(workers)
        self._algorithms = list(dict.fromkeys(algorithms))
        self._budget = 1 if has_budget else None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._player: Player | None = None
        self._limit: Any = None

    @property
    def workers(self) -> int:
        """How many processes play at the moment."""
        return 1 if self._folder is None else self._crew.count

    def __enter__(self) -> Self:
        self._limit = one_thread()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._limit.restore_original_limits()
        if self._folder is not None:
            if kind is not None:  # interrupted: what is under way is of no use any more
                self._crew.kill()
            self._folder.cleanup()

    def expect(self, seconds: float, starting: Callable[[], None]) -> None:
        """Be told how much work there is left; start processes if it is enough, or if they are there already."""
        if self._folder is not None or self._crew.count == 1:
            return
        if self._player is not None:
            seconds += self._player.last_warm_up * len(set(self._algorithms) - self._player.warmed)
        if seconds > WORTH_STARTING or (seconds > 0.0 and are_running(self._crew.count)):
            starting()
            self._player = None
            self._crew.start()
            self._folder = tempfile.TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-")
            remove_what_the_killed_left()
            share(self._table, Path(self._folder.name))
            arguments = len(self._table.classes), self._budget
            for future in [self._crew.submit(warm_up, algorithm, *arguments) for algorithm in self._algorithms]:
                future.result()

    def play(self, plays: list[Play]) -> Future[list[Result]]:
        """Begin some plays; in this process, play them."""
        if self._folder is not None:
            room = room_per_worker(self._crew.count)
            return self._crew.submit(play_shared, self._folder.name, self._conditions, room, plays)
        if self._player is None:
            self._player = Player(self._table, self._conditions, room_per_worker(1))
        future: Future[list[Result]] = Future()
        try:
            future.set_result([self._player.play(play) for play in plays])
        except Exception as error:
            future.set_exception(error)
        return future
