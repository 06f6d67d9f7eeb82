"""Threads of this process, for work that holds no lock: compiled parsers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class ThreadEngine:
    """Threads that work side by side; nothing is copied to them, and nothing back."""

    is_remote = False
    is_running = True
    losses: tuple[type[BaseException], ...] = ()

    def __init__(self, count: int) -> None:
        self.count = count
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="askance-reader")

    def start(self) -> None:
        """Nothing to be done: a thread starts with its first work."""

    def put(self, value: Any) -> Any:
        """The value itself."""
        return value

    def free(self, handle: Any) -> None:
        """Nothing to be done."""

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Begin some work."""
        return self._threads.submit(work, *arguments)

    def kill(self) -> None:
        """Let the threads end with the work that they have begun."""
        self._threads.shutdown(cancel_futures=True)
