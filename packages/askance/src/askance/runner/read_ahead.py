"""Read the next batch of a stream while the last one is played: compiled parsers and loops hold no lock."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def read_ahead(batches: Iterator[T]) -> Generator[T]:
    """The same batches in the same order, each read by another thread while the one before it is in use.

    An error in reading comes when the batches before it were used. Closing it waits for the batch that is being read.

    >>> list(read_ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    with ThreadPoolExecutor(1, thread_name_prefix="askance-reader") as reader:
        ahead = reader.submit(next, batches, None)
        while (batch := ahead.result()) is not None:
            ahead = reader.submit(next, batches, None)
            yield batch
