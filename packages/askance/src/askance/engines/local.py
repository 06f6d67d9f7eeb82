"""Processes of this machine that work side by side, and stay for the next time."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

# --- threads ---------------------------------------------------------------------------------------------


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


PREFIX = "askance-shared-"


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def one_thread() -> Any:
    """Keep linear algebra on one thread: workers are the parallelism here, and sums come out the same everywhere."""
    import scipy.linalg  # noqa: F401  # the library whose threads are meant must be there
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    return threadpool_limits(limits=1)


# --- in a worker -----------------------------------------------------------------------------------------


def begin() -> None:
    """What a worker does first: leave Ctrl-C to its parent, keep to one thread, and end when its parent has ended, even
    if that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    one_thread()
    allow_to_grow()
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def allow_to_grow() -> None:
    """Keep loky from ending a worker that has grown by 300 MB: it takes what workers keep on purpose, such as permuted
    tables, for a leak. The next one would have to import and to permute everything again."""
    from joblib.externals.loky import process_executor  # type: ignore[import-untyped]

    process_executor._MAX_MEMORY_LEAK_SIZE = inf


class SharedValue(NamedTuple):
    """A value in a file, which every process maps into its memory."""

    path: str


@functools.lru_cache(maxsize=1)
def open_shared(value: SharedValue) -> Any:
    """The value; its arrays are mapped, not copied."""
    from joblib import load  # type: ignore[import-untyped]

    return load(value.path, mmap_mode="r")


def call(work: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with the values that some of the arguments stand for."""
    return work(*(open_shared(each) if isinstance(each, SharedValue) else each for each in arguments))


# --- in the parent ---------------------------------------------------------------------------------------


class LocalEngine:
    """Processes of this machine.

    They are loky's, which start without importing the caller's main module, and end some minutes after they were last
    used, or with this process. The pool is one of our own: joblib's, which scikit-learn uses, does not bear sharing.
    """

    is_remote = False
    losses: tuple[type[BaseException], ...] = (BrokenProcessPool,)

    def __init__(self, count: int | None = None) -> None:
        self.count = cores() if count is None else count

    @property
    def is_running(self) -> bool:
        """Whether so many processes were started before, and are in order."""
        if _running_pool is None or _running_pool.size != self.count:
            return False
        flags = _running_pool.pool._flags
        return flags.broken is None and not flags.shutdown

    def start(self) -> None:
        """Start the processes, or find those of an earlier start."""
        global _running_pool
        from joblib.externals.loky import ProcessPoolExecutor

        if not self.is_running:
            if _running_pool is not None:
                _running_pool.pool.shutdown(wait=False, kill_workers=True)
            _running_pool = RunningPool(ProcessPoolExecutor(self.count, timeout=300, initializer=begin), self.count)

    def put(self, value: Any) -> SharedValue:
        """Write the value to a file that processes map into their memory."""
        from joblib import dump

        remove_orphans()
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        dump(value, folder / "value")
        return SharedValue(str(folder / "value"))

    def free(self, handle: SharedValue) -> None:
        """Remove the file."""
        shutil.rmtree(Path(handle.path).parent, ignore_errors=True)

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Send some work to a process."""
        self.start()
        assert _running_pool is not None
        return _running_pool.pool.submit(call, work, *arguments)

    def kill(self) -> None:
        """End the processes together with the work they are at."""
        global _running_pool
        if _running_pool is None:
            return
        threading.excepthook = lambda _: None  # the pool's own thread may trip over the processes that are gone
        _running_pool.pool.shutdown(wait=True, kill_workers=True)
        threading.excepthook = threading.__excepthook__
        _running_pool = None


class RunningPool(NamedTuple):
    """Processes that were started before."""

    pool: Any
    size: int


_running_pool: RunningPool | None = None


def remove_orphans() -> None:
    """Remove shared values of processes that ended before they could do so themselves."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdigit() and not _is_alive(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, SystemError):  # another user's, or the system does not say
        return True
    return True
