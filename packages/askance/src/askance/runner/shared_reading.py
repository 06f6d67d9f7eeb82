"""Read a stream ahead of the learner: its next batch by a thread, or many pieces by workers.

Workers parse and hash pieces, and here the numbers are scaled, in order.

The batches are those that one process makes of the same pieces, exactly, for any number of workers and any engine.
A worker that is killed loses nothing: its piece is sent once more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, NamedTuple, TypeVar

from askance.data import Batch, Stream
from askance.data.formats import pieces as cutting
from askance.data.formats.pieces import ParsedRows, copy_stream, parse_piece
from askance.data.formats.stream import Rows
from askance.engines import WorkerEngine
from askance.engines.local import ThreadEngine, cores
from askance.errors import AskanceError, InvalidInput, InvalidParameter

T = TypeVar("T")

AHEAD = 3  # pieces for each worker that are under way, or wait for the learner
FEW_PIECES, MANY_PIECES = 3, 6  # fewer are read here; from so many on, threads parse
MOST_LOSSES = 4  # workers in a row that may be killed over one piece


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


class Position(NamedTuple):
    """How much of a stream has been run."""

    pieces: int = 0
    place: int = 0
    lines: int = 0
    """Lines of the file at this place that were run."""


class _Sent(NamedTuple):
    """A piece that is being parsed by a worker."""

    piece: Any
    future: Future[Any]


class SharedReader:
    """The batches of a stream, each of them one piece of its files.

    Parameters
    ----------
    stream : Stream
        What is read. Its files must be such that can be cut: CSV, TSV, JSON Lines, LIBSVM or Parquet.
    engine : WorkerEngine, optional
        Who parses; this process without one.
    position : Position, optional
        Go on from here, with a stream whose state is that of then.
    """

    def __init__(self, stream: Stream, engine: WorkerEngine | None = None, position: Position | None = None) -> None:
        self._stream, self._engine = stream, engine
        self._first = position or Position()
        self.position = self._first
        self._check = versions() if engine is not None and engine.is_remote else None

    def __iter__(self) -> Iterator[Batch]:
        return self._stream.batches_of(self._rows)

    def _rows(self) -> Iterator[Rows]:
        """The rows of piece after piece."""
        stream, sent = self._stream, deque[_Sent]()
        pieces = self._pieces()
        self.position = self._first
        is_over = False
        copy = copy_stream(stream) if self._engine is not None else b""
        try:
            while True:
                while not is_over and len(sent) < self._most_sent:
                    piece = next(pieces, None)
                    is_over = piece is None
                    if piece is not None:
                        sent.append(_Sent(piece, self._submit(copy, piece)))
                if not sent:
                    break
                piece, future = sent.popleft()
                parsed = self._result(copy, piece, future)
                lines = self._lines_before(piece)
                if parsed is None:
                    before = stream.fields_state()
                    parsed = stream.parse(piece, piece.load(), lines + 1)
                    if self._engine is not None and stream.fields_state() != before:
                        copy = copy_stream(stream)
                        for number, (other, old) in enumerate(sent):  # these do not know of the change
                            old.cancel()
                            sent[number] = _Sent(other, self._submit(copy, other))
                rows = stream.finish_piece(piece.file_index, parsed, lines)
                self.position = Position(self.position.pieces + 1, piece.file_index, lines + parsed.n_lines)
                stream.note_share(self._share(piece))
                if rows[0].shape[0]:
                    yield rows
        finally:
            for one in sent:
                one.future.cancel()

    def _pieces(self) -> Iterator[Any]:
        pieces = self._stream.pieces()
        if pieces is None:
            raise InvalidParameter(
                f"{self._stream.name!r} cannot be cut into pieces, as files of CSV, TSV, JSON Lines, LIBSVM or Parquet "
                "can that are no pipe (and CSV and Parquet not compressed); run it without --save-every."
            )
        for _ in range(self._first.pieces):
            next(pieces, None)
        return pieces

    @property
    def _most_sent(self) -> int:
        return 1 if self._engine is None else AHEAD * self._engine.count

    def _submit(self, copy: bytes, piece: Any) -> Future[Any]:
        if self._engine is None:
            here: Future[Any] = Future()
            here.set_result(None)  # it is parsed when its turn comes
            return here
        try:
            return self._engine.submit(parse_for, self._check, copy, piece)
        except self._losses as error:  # a worker was killed just now
            lost: Future[Any] = Future()
            lost.set_exception(error)
            return lost

    def _result(self, copy: bytes, piece: Any, future: Future[Any]) -> ParsedRows | None:
        """What a worker has made of a piece, sent again as long as workers are killed over it."""
        assert self._engine is not None or future.done()
        for _ in range(MOST_LOSSES):
            try:
                found: ParsedRows | None = future.result()
                return found
            except self._losses:
                future = self._submit(copy, piece)
        raise AskanceError(
            f"the worker that read piece {self.position.pieces + 1} of {self._stream.name!r} was killed {MOST_LOSSES} "
            "times; is there enough memory for so many workers?"
        )

    @property
    def _losses(self) -> tuple[type[BaseException], ...]:
        return () if self._engine is None else self._engine.losses

    def _lines_before(self, piece: Any) -> int:
        """How many lines of its file stand before a piece."""
        if self.position.place == piece.file_index and self.position.pieces:
            return self.position.lines
        return int(getattr(piece, "skipped_lines", 0))

    def _share(self, piece: Any) -> float:
        """How much of the stream has been run, by files, and by bytes of the file in hand."""
        size = self._stream.source.size_of(piece.file_index)
        inside = 1.0 if not size or hasattr(piece, "group") else min(1.0, piece.stop / size)
        return float((piece.file_index + inside) / len(self._stream.source))


def versions() -> tuple[str, str]:
    """What must be the same for workers on other machines."""
    import numpy as np

    import askance

    return askance.__version__, np.__version__


def parse_for(check: tuple[str, str] | None, copy: bytes, piece: Any) -> ParsedRows | None:
    """``parse_piece``, by a worker that has the same version of the code."""
    if check is not None and check != versions():
        raise InvalidInput(
            f"a worker has askance {versions()[0]} and NumPy {versions()[1]}, but this process {check[0]} and "
            f"{check[1]}; install the same."
        )
    return parse_piece(copy, piece)


# --- who reads ahead -------------------------------------------------------------------------------------


def parser_threads(stream: Stream, stack: ExitStack) -> WorkerEngine | None:
    """Two threads that parse a large file beside the learner, if they can.

    One thread would read for twice as long as the learner runs, and keep it waiting."""
    if not (stream.parses_without_lock and stream.source.can_be_read_again and cores() > 1):
        return None
    places = range(len(stream.source))
    if any(stream.source.stored_path(place) is None for place in places):  # compressed: the learner would decompress it
        return None
    if sum(map(stream.source.size_of, places)) < MANY_PIECES * cutting.PIECE_BYTES:
        return None
    threads = ThreadEngine(2)
    stack.callback(threads.kill)
    return threads


def share_reading(
    stream: Stream, engine: WorkerEngine | None, position: Position | None, is_cut: bool
) -> SharedReader | None:
    """The reader in pieces, if they must be cut (``is_cut``) or workers can parse them; None to read as usual."""
    if not is_cut and (engine is None or stream.pieces() is None):
        return None
    if engine is not None and stream.pieces() is not None:
        sizes = [stream.source.size_of(place) for place in range(len(stream.source))]
        if sum(sizes) < FEW_PIECES * cutting.PIECE_BYTES and not engine.is_remote:
            engine = None  # processes would start for longer than it takes to parse so little here
        else:
            engine.start()
    return SharedReader(stream, engine, position)
