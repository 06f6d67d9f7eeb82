"""Processes that work side by side, and stay for the next sweep."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple

from askance.errors import InvalidParameter


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def one_thread() -> Any:
    """Keep linear algebra on one thread: processes are the parallelism here, and sums come out the same everywhere."""
    import scipy.linalg  # noqa: F401  # the library whose threads are meant must be there
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    return threadpool_limits(limits=1)


def begin() -> None:
    """What a worker does first: leave Ctrl-C to its parent, keep to one thread, and end when its parent has ended, even
    if that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    one_thread()
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Workers:
    """A number of processes to send work to.

    They are loky's, which start without importing the caller's main module, and end some minutes after they were last
    used, or with this process. The pool is one of our own: joblib's, which scikit-learn uses, does not bear sharing.
    """

    def __init__(self, count: int | None = None) -> None:
        if count is not None and count < 1:
            raise InvalidParameter(f"workers must be 1 or more, got {count}.")
        self.count = cores() if count is None else count
        self._pool: Any = None

    def start(self) -> None:
        """Start the processes, or find those of an earlier sweep."""
        global _kept
        from joblib.externals.loky import ProcessPoolExecutor  # type: ignore[import-untyped]

        if not are_running(self.count):
            if _kept is not None:
                _kept.pool.shutdown(wait=False, kill_workers=True)
            _kept = Kept(ProcessPoolExecutor(self.count, timeout=300, initializer=begin), self.count)
        assert _kept is not None
        self._pool = _kept.pool

    def kill(self) -> None:
        """End the processes together with the work they are at."""
        global _kept
        threading.excepthook = lambda _: None  # the pool's own thread may trip over the processes that are gone
        self._pool.shutdown(wait=True, kill_workers=True)
        threading.excepthook = threading.__excepthook__
        _kept = None

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Begin some work."""
        return self._pool.submit(work, *arguments)


class Kept(NamedTuple):
    """Processes that an earlier sweep started."""

    pool: Any
    size: int


_kept: Kept | None = None


def are_running(count: int) -> bool:
    """Whether so many processes were started before, and are in order."""
    if _kept is None or _kept.size != count:
        return False
    flags = _kept.pool._flags
    return flags.broken is None and not flags.shutdown
