"""A stream of events as its readers see it: batches of rows, one after the other, in constant memory."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from askance.data.encoding.data_warnings import FirstEvents, find_warnings
from askance.data.encoding.kinds import IGNORE, TIME, format_names
from askance.data.formats.buffer import Buffer
from askance.data.formats.labels import Labels
from askance.data.formats.pieces import CopiedSource, ParsedRows, TextPiece, cut_input, cut_lines
from askance.data.formats.read_options import ReadOptions
from askance.data.formats.source import Input, Source
from askance.errors import BadLine, InvalidInput

BATCH_ENTRIES = 1 << 21  # non-zeros after which a batch ends, however few its rows: long rows take constant memory, too
SHOWN_BAD_LINES = 5
NOT_COPIED = {
    "_open_part",
    "_buffer",
    "_lines",
    "_keeper",
    "_kept_earlier",
    "_file",
    "_arrow",
    "first_values",
    "source",
}
"""What a copy of a stream for another process does without."""
FORMATS_WITH_NAMES = {"table", "rows", "parquet"}
"""The formats of rows with named fields, which an encoder reads alike; as they are called in a model."""


class Batch(NamedTuple):
    """Some rows of a stream, in order."""

    X: Any
    """A CSR matrix with float64 values and sorted int32 columns; as wide as the columns known so far."""
    y: np.ndarray | None
    """The labels, one per row; None for a stream without any. An object array, with None, where some are missing."""
    first_row: int
    """The number of the first row in the stream, from 0."""
    times: np.ndarray | None = None
    """When each row came, in seconds, if there is a field of the kind ``time``."""
    origins: Mapping[str, np.ndarray] = {}
    """Where each row comes from, with ``origins=True``: ``file`` (of a folder), ``line`` and ``id``, if it has them."""
    rows: Sequence[Mapping[str, Any]] = ()
    """With ``keep_rows=True``, the fields of each row, by name; empty where features are numbered."""
    weights: np.ndarray | None = None
    """The importance of each row, where the format has one (vw)."""

    def to_width(self, width: int) -> Any:
        """X with more columns, all empty, as a model wants it that has been widened. Shares the memory of X."""
        from askance.data.encoding.assemble import csr

        return csr(self.X.indptr, self.X.indices, self.X.data, max(width, self.X.shape[1]))


Rows = tuple[Any, np.ndarray | None, np.ndarray | None]
"""X, y and the times of some rows."""


class Field(NamedTuple):
    """What a stream has to say about one of its fields."""

    name: str
    kind: str
    """number, category, text, date, ignore, time, label; or sparse, for numbered features."""


class Stream(ABC):
    """Rows of one format. Iterate over it for batches; files can be read again, pipes only once.

    Attributes
    ----------
    name : str
        The name of the file or folder; ``-`` for the standard input.
    fields : list of Field
        What the fields are.
    rows_read : int
        How many rows were handed out since reading began.
    bad_lines : int
        How many lines were left out (with ``skip_bad_lines``).
    bad_line_examples : list of str
        What was wrong with the first few of them.
    first_values : dict
        The values of the fields in the first rows, the label's included, as they are written; empty where events have
        numbers for features.
    """

    unit = "line"
    kept_as: ClassVar[str] = ""
    """The format of lines that are kept in quarantine."""
    _keeper: Any = None
    _buffer: Buffer
    _share_of_pieces: float | None = None
    _kept_earlier: str | None = None
    has_lines: ClassVar[bool] = False
    """Whether rows have line numbers."""
    rows_are_lines: ClassVar[bool] = False
    """Whether files can be cut into pieces at every line end."""
    parses_without_lock: ClassVar[bool] = False
    """Whether threads can parse pieces side by side: compiled code does, Python does not."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        options.check()
        self.source: Any = source
        self.options = options
        self._state = options.state
        self.name = source.name
        self.missing = options.missing_values()
        self.labels = Labels(
            options.labels,
            options.classes,
            is_lenient=options.frozen,
            missing=self.missing,
            separator=options.label_separator,
        )
        self.rows_read = 0
        self.bad_lines = 0
        self.bad_line_examples: list[str] = []
        self.first_values: dict[str, list[Any]] = {}
        self._file_index = -1
        self._has_begun = False
        self._open_part: Any = None
        self._kept_rows: list[Mapping[str, Any]] = []
        self._kept_weights: np.ndarray | None = None

    # --- what each format provides -----------------------------------------------------------------------

    @property
    @abstractmethod
    def fields(self) -> list[Field]:
        """What the fields are."""

    @abstractmethod
    def _rows(self) -> Iterator[Rows]:
        """The parts of ``Batch`` that are read. Opens, reads and closes the files of the source."""

    @abstractmethod
    def _restart(self) -> None:
        """Go back to the beginning, also with what was learned from the rows."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """What was learned from the rows so far, for ``open_stream(..., state=)``: JSON and arrays."""

    @property
    def promoted(self) -> list[tuple[str, str, str]]:
        """The fields that got a wider kind while they were read, each with the kind before and the kind after."""
        return []

    @property
    def warnings(self) -> list[str]:
        """What a user should know of the rows read so far, each in a sentence."""
        return []

    def _how_to_read(self) -> dict[str, Any]:
        """What must be known to read lines that are kept in quarantine."""
        return {}

    def _id_field(self) -> str | None:
        """The field with the id of a row, if there is one."""
        return None

    # --- what the formats provide that can be cut into pieces (see ``pieces``) ----------------------------

    def pieces(self) -> Iterator[Any] | None:
        """The pieces that the files are cut into; None if they cannot be."""
        can_be_cut = self.rows_are_lines and self.source.can_be_read_again
        return self._cut_lines() if can_be_cut else None

    def parse(self, piece: Any, content: Any, first_line: int = 1) -> ParsedRows:
        """Parse a piece with the fields as they are, or let it change them; its numbers are not scaled yet."""
        raise NotImplementedError

    def scale(self, rows: Any) -> Any:
        """Scale what ``parse`` has made of the next piece: a CSR matrix."""
        raise NotImplementedError

    def fields_state(self) -> dict[str, Any]:
        """``state`` without the statistics that every row moves, and that ``parse`` does not read."""
        return {name: value for name, value in self.state().items() if name not in ("scaling", "width")}

    def finish_piece(self, file_index: int, parsed: ParsedRows, lines_before: int) -> Rows:
        """The rows of the next piece, which was parsed here or elsewhere, with ``lines_before`` it in its file."""
        if self.origins is not None:
            self.origins.add(file_index, parsed.lines + lines_before, parsed.ids)
        return self.scale(parsed.rows), parsed.y, parsed.times

    def _cut_lines(self) -> Iterator[TextPiece]:
        for file_index in range(len(self.source)):
            path = self.source.stored_path(file_index)
            if path is not None:
                start = self._open_text(file_index).offset
                self.close()
                yield from cut_lines(file_index, path, start, os.path.getsize(path))
            else:
                with closing(self.source.open(file_index)) as part:
                    yield from cut_input(file_index, part)

    def note_share(self, share: float) -> None:
        """Set how much of the source was read, from 0 to 1, where the open file does not show it."""
        self._share_of_pieces = share

    def _hold(self, content: bytes, file_index: int, first_line: int) -> Buffer:
        """Some lines of one of the files."""
        buffer = Buffer.of(content, self.source.names[file_index], self.unit)
        buffer.line, self._file_index, self._buffer = first_line, file_index, buffer
        return buffer

    def _take_origins(self, first_line: int) -> tuple[np.ndarray, list[Any]]:
        """Where the rows that were parsed come from, with lines counted from 1 in the piece."""
        if self.origins is None:
            return np.zeros(0, np.int64), []
        lines, ids = self.origins.drain()
        return lines - (first_line - 1), ids

    def __getstate__(self) -> dict[str, Any]:
        """A copy for another process: without open files, and strict with bad lines."""
        kept = {name: value for name, value in vars(self).items() if name not in NOT_COPIED}
        options = replace(self.options, skip_bad_lines=False, quarantine=None, state=None)
        return kept | {
            "source": CopiedSource(self.name, list(self.source.names)),
            "options": options,
            "_open_part": None,
            "first_values": {},
        }

    # --- what all have in common -------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Batch]:
        return self.batches_of(self._rows)

    def batches_of(self, rows_of: Callable[[], Iterator[Rows]]) -> Iterator[Batch]:
        """Start over, and hand out the rows that a function gives as batches."""
        self._share_of_pieces = None
        if self._has_begun:
            self.close()
            self.rows_read = self.bad_lines = 0
            self.bad_line_examples = []
            self._restart()
        self._has_begun = True
        if self.origins is not None:
            self.origins.forget()
        self._kept_rows = []
        with ExitStack() as stack:
            if self.options.quarantine is not None:
                from askance.data.formats.quarantine import keep_bad_lines, read_earlier

                head = {"format": self.kept_as, **self._how_to_read()}
                if self._kept_earlier is None:  # what a first pass kept is kept by the second again
                    self._kept_earlier = read_earlier(self.options.quarantine, head)
                keeper = keep_bad_lines(self.options.quarantine, head, self._kept_earlier)
                self._keeper = stack.enter_context(keeper)
            for X, y, times in rows_of():
                origins = self.origins.take() if self.origins is not None else {}
                rows, self._kept_rows = self._kept_rows, []
                batch = Batch(X, y, self.rows_read, times, origins, rows, self._kept_weights)
                self.rows_read += X.shape[0]
                yield batch

    def refuse_no_columns(self) -> None:
        """Say why there is nothing to learn from."""
        ignored = [field.name for field in self.fields if field.kind in (IGNORE, TIME)]
        if not ignored:
            raise InvalidInput(f"the rows of {self.name!r} have no features at all, so that nothing can be learned.")
        are = "is" if len(ignored) == 1 else "are"
        raise InvalidInput(
            f"{self.name!r} has no field to learn from: {format_names(ignored)} {are} ignored, as a field is that is "
            "called id, is empty in all of the first rows, or was said to be; say what a field is, such as "
            f"{format_names(ignored[:1])}=category."
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file that is open."""
        if self._open_part is not None:
            self._open_part.close()
            self._open_part = None

    def _open_text(self, file_index: int) -> Buffer:
        """Go on with one of the files, read as lines."""
        self.close()
        self._file_index, self._open_part = file_index, self.source.open(file_index)
        return Buffer(self._open_part)

    def _open_each_text(self) -> Iterator[Buffer]:
        """The files one after the other, read as lines; the first one is open already."""
        for file_index in range(len(self.source)):
            if file_index:
                self._buffer = self._open_text(file_index)
            yield self._buffer
        self.close()

    @cached_property
    def origins(self) -> Origins | None:
        """Where rows come from, with ``origins=True``."""
        return Origins(self.source.names, self.has_lines, self._id_field()) if self.options.origins else None

    def _rows_per_batch(self, width: int) -> int:
        """How many rows of so many numbers a batch may have so that its memory stays small."""
        return max(1, min(self.options.batch_rows, BATCH_ENTRIES // max(1, width)))

    def share_read(self) -> float | None:
        """How much of the source was read, from 0 to 1, for a progress bar; None where that cannot be known."""
        if self._share_of_pieces is not None:
            return self._share_of_pieces
        part = self._open_part
        inside = part.share_read() if isinstance(part, Input) else None
        if inside is None:
            return 1.0 if part is None and self._has_begun else None
        return (self._file_index + inside) / len(self.source)

    def _check_format(self, state: Mapping[str, Any], own: str, what: str) -> None:
        """Refuse a model of another format, unless the rows of both have named fields."""
        trained = state.get("format")
        if trained != own and not {trained, own} <= FORMATS_WITH_NAMES:
            raise InvalidInput(f"the model was trained on {trained!r} data, but {self.name!r} {what}.")

    def refuse(self, error: BadLine) -> None:
        """Raise the error, or count the line, and keep it, where bad ones are to be left out."""
        if not self.options.leaves_out_bad_lines:
            raise error
        if self._keeper is not None:
            self._keeper.add_error(error)
        self.bad_lines += 1
        if len(self.bad_line_examples) < SHOWN_BAD_LINES:
            self.bad_line_examples.append(str(error))


def warnings_of(stream: Stream) -> list[str]:
    """What a user should know of the data of a stream before trusting what is learned from them."""
    label = next((field.name for field in stream.fields if field.kind == "label"), None)
    found = find_warnings(
        FirstEvents(
            kinds={field.name: field.kind for field in stream.fields if field.kind != "label"},
            values=stream.first_values,
            labels=stream.first_values.get(label, []) if label is not None else [],
            missing=stream.missing,
            missing_labels=stream.labels.is_missing,
            giving=lambda name, kind: f"--field {name}={kind}",
        )
    )
    return found + stream.warnings


# --- where rows come from --------------------------------------------------------------------------------

FILE, LINE, ID = "file", "line", "id"


class Origins:
    """Gathers where the rows of a batch come from: the file if there are several, the line, and the field with the id.

    >>> origins = Origins(["mail.csv"], has_lines=True, id_field="id")
    >>> origins.add(0, [2, 3], ["m1", None])
    >>> origins.take()
    {'line': array([2, 3]), 'id': array(['m1', None], dtype=object)}
    """

    def __init__(self, files: Sequence[str], has_lines: bool, id_field: str | None) -> None:
        self._files = list(files)
        self.id_field = id_field
        is_there = {
            FILE: len(files) > 1 and (has_lines or id_field is not None),
            LINE: has_lines,
            ID: id_field is not None,
        }
        self.names = tuple(name for name, wanted in is_there.items() if wanted)
        """The columns there are, in order."""
        self.forget()

    def forget(self) -> None:
        """Begin a batch."""
        self._counts: list[tuple[int, int]] = []
        self._lines: list[np.ndarray] = []
        self._ids: list[Any] = []

    def add(self, file_index: int, lines: Sequence[int] | np.ndarray, ids: Sequence[Any]) -> None:
        """Some more rows, of the file with this index."""
        self._counts.append((file_index, max(len(lines), len(ids))))
        self._lines.append(np.asarray(lines, np.int64))
        self._ids += ids

    def drain(self) -> tuple[np.ndarray, list[Any]]:
        """The lines and the ids of the rows added since the last time, for rows of one file."""
        lines, ids = np.concatenate([np.zeros(0, np.int64), *self._lines]), self._ids
        self.forget()
        return lines, ids

    def take(self) -> dict[str, np.ndarray]:
        """The columns for the rows added since the last time."""
        if not self.names:
            return {}
        ids = np.empty(len(self._ids), object)
        ids[:] = self._ids
        columns = {
            FILE: np.repeat(
                np.array([self._files[file_index] for file_index, _ in self._counts], object),
                [n for _, n in self._counts],
            ),
            LINE: np.concatenate([np.zeros(0, np.int64), *self._lines]),
            ID: ids,
        }
        self.forget()
        return {name: columns[name] for name in self.names}
