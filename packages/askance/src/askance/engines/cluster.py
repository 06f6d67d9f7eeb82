"""What the engines of clusters have in common."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from askance.engines.local import one_thread
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
