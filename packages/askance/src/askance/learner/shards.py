"""A stream that comes in shards: batches one after the other, or functions that load them, called ahead by threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

from askance.data.encoding.table import check_no_file, is_hugging_face, is_table
from askance.errors import InvalidInput


def name_label(X: Any, y: Any) -> tuple[Any, Any]:
    """Batches ``(X, y)``, and no labels, if X gives batches one by one, or is a list of tables, and y is the name of
    the column of their labels; others as they are, also a data set of Hugging Face, which gives rows."""
    are_tables = isinstance(X, list | tuple) and len(X) > 0 and all(map(is_table, X))
    if isinstance(y, str) and (are_tables or is_iterator(X)) and not is_hugging_face(X):
        return ((batch, y) for batch in X), None
    return X, y


def is_iterator(X: Any) -> bool:
    return hasattr(X, "__iter__") and not hasattr(X, "__len__")


def batches_of(shards: Any, workers: int | None = None) -> Iterator[list[Any]]:
    """The batches of a stream in order, each a list of events, labels and times.

    A shard is a batch ``(X, y)`` or ``(X, y, times)``, or a function without arguments that returns one. With workers,
    so many functions are called ahead, in threads.

    >>> [y for _, y, _ in batches_of([([[1.0]], [0]), lambda: ([[2.0]], [1])], workers=2)]
    [[0], [1]]
    """
    is_sequence = isinstance(shards, Sequence) and all(isinstance(shard, tuple) or callable(shard) for shard in shards)
    check_no_file(shards)
    if not is_sequence and not is_iterator(shards):
        raise InvalidInput("y is missing; pass the labels, or an iterator of batches (X, y).")
    for batch in load_ahead(shards, workers or 1):
        if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
            raise InvalidInput(
                f"each batch is a pair (X, y), or with times (X, y, times), got a {type(batch).__name__}."
            )
        yield [*batch, *([None] * (3 - len(batch)))]


def load_ahead(shards: Iterable[Any], workers: int) -> Iterator[Any]:
    """The shards in order, what functions load in place of them; with one worker, each when its turn comes."""
    waiting: deque[Future[Any]] = deque()
    with ExitStack() as stack:
        threads: ThreadPoolExecutor | None = None
        for shard in shards:
            if workers > 1 and threads is None and callable(shard):
                threads = stack.enter_context(ThreadPoolExecutor(workers, thread_name_prefix="askance-loader"))
                stack.callback(lambda: [future.cancel() for future in waiting])
            waiting.append(_begin(shard, threads))
            if len(waiting) > (workers if threads is not None else 0):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _begin(shard: Any, threads: ThreadPoolExecutor | None) -> Future[Any]:
    """Begin to load a shard; without threads, load it."""
    if threads is not None and callable(shard):
        return threads.submit(shard)
    here: Future[Any] = Future()
    here.set_result(shard() if callable(shard) else shard)
    return here
