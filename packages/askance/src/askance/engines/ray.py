"""Workers on a Ray cluster, or on one that Ray starts on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from askance.engines.cluster import call, cannot_connect, copy_outcome, new_future, not_installed
from askance.engines.local import cores


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
