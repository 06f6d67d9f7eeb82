"""Workers of a cluster of Ray or Dask, or of one that they start on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any

from askance.engines.local import cores, one_thread
from askance.errors import InvalidParameter
from askance.extras import how_to_install


def call(work: Callable[..., Any], *arguments: Any) -> Any:
    """Do some work in a worker, on one thread."""
    with one_thread():
        return work(*arguments)


def new_future() -> Future[Any]:
    """A future that is under way."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    return future


def copy_outcome(done: Any, future: Future[Any], error: BaseException | None) -> None:
    """Settle a future as another one ended, with ``error`` if that failed."""
    if error is None:
        future.set_result(done.result())
    else:
        future.set_exception(error)


def not_installed(name: str, package: str) -> InvalidParameter:
    """The error for an engine whose package is missing."""
    return InvalidParameter(f"the engine {name} needs {package}: {how_to_install(name)}.")


def cannot_connect(package: str, address: str | None, error: BaseException) -> InvalidParameter:
    """The error for a cluster that does not answer."""
    where = f"start {package} on this machine" if address is None else f"connect to {package} at {address!r}"
    reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return InvalidParameter(f"cannot {where}: {reason}")


# --- Ray -------------------------------------------------------------------------------------------------


class RayEngine:
    """Tasks of Ray, each on one processor. Ray itself does the work of a killed worker again."""

    is_remote = True

    def __init__(self, count: int | None = None, address: str | None = None) -> None:
        try:
            import ray
        except ImportError:
            raise not_installed("ray", "Ray") from None
        self._ray = ray
        self._address = address
        self._count = count
        self._remote: Any = None
        self._under_way: set[Any] = set()
        errors = ray.exceptions
        self.losses: tuple[type[BaseException], ...] = (
            errors.WorkerCrashedError, errors.NodeDiedError, errors.ObjectLostError, errors.OutOfMemoryError,
        )  # fmt: skip
        self.count = count or 1

    @property
    def is_running(self) -> bool:
        """Whether this program is connected to a cluster."""
        return bool(self._ray.is_initialized())

    def start(self) -> None:
        """Connect to the cluster, or start one here."""
        global _is_ours
        if not self.is_running:
            # What people have set counts; otherwise nothing is sent home, and a cluster of this machine alone has no
            # need of a token in the home directory.
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": True}
            try:
                if self._address is None:
                    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
                    self._ray.init(num_cpus=self._count or cores(), include_dashboard=False, **quiet)
                else:
                    self._ray.init(address=self._address, **quiet)
            except (ConnectionError, RuntimeError, ValueError, OSError) as error:
                raise cannot_connect("Ray", self._address, error) from None
            _is_ours = True
        self.count = self._count or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self._remote = self._ray.remote(num_cpus=1, max_retries=3)(call)

    def put(self, value: Any) -> Any:
        """Put the value into the object store."""
        return self._ray.put(value)

    def free(self, handle: Any) -> None:
        """Nothing: Ray forgets what nobody refers to."""

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Begin a task."""
        if self._remote is None or not self.is_running:
            self.start()
        result = new_future()
        failed = self._ray.exceptions.RayTaskError

        def take(done: Future[Any]) -> None:
            self._under_way.discard(task)
            error = done.exception()  # what the work raised, rather than Ray's account of it
            copy_outcome(done, result, error.cause if isinstance(error, failed) else error)

        task = self._remote.remote(work, *arguments)
        self._under_way.add(task)
        task.future().add_done_callback(take)
        return result

    def kill(self) -> None:
        """Cancel the tasks, and end Ray if it was started here. The program itself may go on with one of its own."""
        global _is_ours
        for task in list(self._under_way):
            self._ray.cancel(task, force=True)
        if _is_ours:
            self._ray.shutdown()
            _is_ours = False
        self._remote = None


_is_ours = False  # whether this module has started Ray, or connected to it


# --- Dask ------------------------------------------------------------------------------------------------


class DaskEngine:
    """Tasks of Dask. Its scheduler gives the work of a killed worker to another."""

    is_remote = True

    def __init__(self, count: int | None = None, address: str | None = None) -> None:
        try:
            import distributed
        except ImportError:
            raise not_installed("dask", "Dask") from None
        self._dask = distributed
        self._address = address
        self._count = count
        self._under_way: set[Any] = set()
        self._sent: dict[str, tuple[Any, Any]] = {}
        self.losses: tuple[type[BaseException], ...] = (distributed.KilledWorker, CancelledError)
        self.count = count or 1

    @property
    def is_running(self) -> bool:
        """Whether this program is connected to a cluster."""
        return self._client() is not None

    def _client(self) -> Any:
        """The connection: one that was made here before or, without an address, that of the program itself."""
        client = _ours.get(self._address)
        if client is None and self._address is None:
            with suppress(ValueError):
                client = self._dask.default_client()
        return client if client is not None and client.status == "running" else None

    def start(self) -> None:
        """Connect to the cluster, or start one here."""
        client = self._client()
        if client is None:
            try:
                if self._address is None:
                    client = self._dask.Client(
                        n_workers=self._count or cores(), threads_per_worker=1, dashboard_address=None
                    )
                else:
                    client = self._dask.Client(self._address, timeout=10)
            except (OSError, TimeoutError, ValueError) as error:
                raise cannot_connect("Dask", self._address, error) from None
            _ours[self._address] = client
        self.count = self._count or max(1, sum(client.nthreads().values()))

    def put(self, value: Any) -> Any:
        """Send the value to every worker."""
        [handle] = self._client().scatter([value], broadcast=True, hash=False)  # of a bare tuple, it makes several
        self._sent[handle.key] = value, handle
        return handle

    def free(self, handle: Any) -> None:
        """Let the workers forget the value."""
        _, sent = self._sent.pop(handle.key)
        sent.release()

    def _present(self, argument: Any) -> Any:
        """An argument of some work; a value that was lost with all workers that had it is sent once more."""
        key = getattr(argument, "key", None)
        if not isinstance(argument, self._dask.Future) or key not in self._sent:
            return argument
        value, sent = self._sent[key]
        if sent.status != "finished":
            [sent] = self._client().scatter([value], broadcast=True, hash=False)
            self._sent[key] = value, sent
        return sent

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Begin a task."""
        if not self.is_running:
            self.start()
        result = new_future()
        task = self._client().submit(call, work, *map(self._present, arguments), pure=False)
        self._under_way.add(task)

        def take(done: Any) -> None:
            self._under_way.discard(done)
            error = None if done.status == "finished" else self._error_of(done)
            copy_outcome(done, result, error)

        task.add_done_callback(take)
        return result

    @staticmethod
    def _error_of(done: Any) -> BaseException:
        try:
            return done.exception() or CancelledError()
        except CancelledError as error:
            return error

    def kill(self) -> None:
        """Cancel the tasks, and disconnect if it was connected here; workers that were started here end with it."""
        client = self._client()
        if client is not None:
            client.cancel(list(self._under_way))
            if _ours.pop(self._address, None) is client:
                client.close()


_ours: dict[str | None, Any] = {}  # the connections that were made here, by address
