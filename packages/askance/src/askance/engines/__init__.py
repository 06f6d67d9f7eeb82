"""Engines: where work is done side by side, in processes of this machine, on a Ray cluster or on a Dask one.

An engine starts workers, or finds them, and takes work: a function and its arguments. What comes of the work must not
depend on the worker that does it; then it is the same for every engine and any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol

from askance.errors import InvalidParameter

ENGINES = ("local", "ray", "dask")


class WorkerEngine(Protocol):
    """What every engine does."""

    count: int
    """How many workers there are. On a cluster, unless the user said it, known once the engine has started."""
    is_remote: bool
    """Whether workers may be on other machines, with another version of this package."""
    losses: tuple[type[BaseException], ...]
    """The errors by which a future says that its worker was killed: the work may be submitted again."""

    @property
    def is_running(self) -> bool:
        """Whether there are workers that could begin at once."""

    def start(self) -> None:
        """Start the workers, or find those of an earlier start."""

    def put(self, value: Any) -> Any:
        """A handle of a large value. Work that is submitted with the handle as an argument gets the value."""

    def free(self, handle: Any) -> None:
        """Forget a value."""

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Begin some work. Starts workers again if the last ones were killed."""

    def kill(self) -> None:
        """Stop the work under way."""


def make_engine(name: str = "local", workers: int | None = None, address: str | None = None) -> WorkerEngine:
    """The engine of this name.

    Parameters
    ----------
    name : {"local", "ray", "dask"}
        ``local``: processes of this machine. The others need the extra of that name.
    workers : int, optional
        How many work side by side. Default: one per processor, of this machine or of the cluster.
    address : str, optional
        Of a cluster that is running, such as ``ray://head:10001`` or ``tcp://scheduler:8786``. Without one, Ray and
        Dask start workers on this machine, or use what this program is connected to.
    """
    if name not in ENGINES:
        raise InvalidParameter(f"engine must be one of {', '.join(ENGINES)}, got {name!r}.")
    if workers is not None and workers < 1:
        raise InvalidParameter(f"workers must be 1 or more, got {workers}.")
    if name == "local":
        from askance.engines.local import LocalEngine

        if address is not None:
            raise InvalidParameter(f"the local engine has no address, got {address!r}; choose the engine ray or dask.")
        return LocalEngine(workers)
    if name == "ray":
        from askance.engines.clusters import RayEngine

        return RayEngine(workers, address)
    from askance.engines.clusters import DaskEngine

    return DaskEngine(workers, address)
