"""Workers of a Dask cluster, or of one that Dask starts on this machine."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any

from askance.engines.cluster import call, cannot_connect, copy_outcome, new_future, not_installed
from askance.engines.local import cores


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
