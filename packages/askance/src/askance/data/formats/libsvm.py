"""LIBSVM / SVMlight files: one event per line, ``label index:value index:value ...``.

Blank lines and whatever follows ``#`` are left out, a ``qid:`` is ignored, indices may come in any order, and values of
an index that occurs twice are added. Indices count from 1 unless one of the first rows has an index 0 (or
``zero_based`` says so). A value such as ``nan`` is as if it were not there; a label such as ``?`` is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from askance.compile import specialise
from askance.data.encoding.assemble import merge_row, sort_row
from askance.data.encoding.kinds import LARGEST, SAMPLE_ROWS, why_not_a_number
from askance.data.encoding.scaling import SparseScaling
from askance.data.formats.buffer import NEWLINE, RETURN, Buffer, format_token
from askance.data.formats.cells import stands_for_missing
from askance.data.formats.labels import FULL, LabelTable, find_label
from askance.data.formats.numbers import HARD, NOT_A_NUMBER, NUMBER, ZERO, Tables, read_number, tables
from askance.data.formats.pieces import ParsedRows, count_lines
from askance.data.formats.read_options import ReadOptions
from askance.data.formats.source import Source
from askance.data.formats.stream import BATCH_ENTRIES, Field, Stream
from askance.data.formats.stream import Rows as Parts
from askance.data.missing import USUAL, WORDS
from askance.errors import BadLine

# --- the compiled parser of lines ------------------------------------------------------------------------

SPACE, TAB, COMMENT, COLON = 32, 9, 35, 58
LETTER_Q, LETTER_I, LETTER_D = 113, 105, 100
LARGEST_INDEX = 2**31 - 3  # one more column than this, and an intercept, still are 32-bit numbers

# Why the parser stopped. It is then at the beginning of a line.
MORE_NEEDED, BATCH_FULL, ENTRIES_FULL, LABELS_FULL, HARD_NUMBER = 0, 1, 2, 3, 4
NO_LABEL, NO_COLON, BAD_INDEX, LARGE_INDEX, INDEX_ZERO, BAD_VALUE, LARGE_VALUE = 10, 11, 12, 13, 14, 15, 16


class Rows(NamedTuple):
    """Room for the rows of a batch."""

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    labels: np.ndarray
    """The number of each row's label."""
    lines: np.ndarray
    """The number of each row's line."""
    spare_columns: np.ndarray
    spare_values: np.ndarray


class ParserStop(NamedTuple):
    """Where the parser stopped, and why."""

    why: int
    position: int
    line: int
    n_rows: int
    n_entries: int
    width: int
    where: int
    """The position of what is wrong."""


def begins_query(data: np.ndarray, i: int) -> bool:
    """Whether ``qid:`` stands at ``data[i]``."""
    return (
        data[i] == LETTER_Q and data[i + 1] == LETTER_I and data[i + 2] == LETTER_D and data[i + 3] == COLON
    )  # fmt: skip


def parse_lines(
    data: np.ndarray,
    position: int,
    stop: int,
    at_end: bool,
    line: int,
    first_index: int,
    has_labels: bool,
    most_rows: int,
    most_entries: int,
    rows: Rows,
    n_rows: int,
    n_entries: int,
    width: int,
    labels: LabelTable,
    powers: Tables,
    missing: np.ndarray,
    solved_at: np.ndarray,
    solved: np.ndarray,
) -> ParserStop:
    """Parse whole lines of ``data[position:stop]`` into rows, until there is no more, or no room, or an error."""
    solution = 0
    while n_rows < most_rows and n_entries < most_entries:
        if position >= stop:
            return ParserStop(MORE_NEEDED, position, line, n_rows, n_entries, width, position)
        i = position
        while data[i] == SPACE or data[i] == TAB:
            i += 1
        is_row = data[i] != NEWLINE and data[i] != RETURN and data[i] != COMMENT
        entry = n_entries
        is_sorted = True
        last_column = -1
        new_width = width
        label_start = label_stop = i
        if is_row and has_labels:
            first = i
            while data[i] > COMMENT and data[i] != COLON:
                i += 1
            while data[i] != SPACE and not TAB <= data[i] <= RETURN and data[i] != COLON and data[i] != COMMENT:
                i += 1
            if data[i] == COLON:
                return ParserStop(NO_LABEL, position, line, n_rows, n_entries, width, first)
            label_start, label_stop = first, i
        elif is_row:  # a label may stand there all the same
            first = i
            while data[i] != SPACE and not TAB <= data[i] <= RETURN and data[i] != COLON and data[i] != COMMENT:
                i += 1
            if data[i] == COLON:
                i = first
        if is_row:
            while True:
                while data[i] == SPACE or data[i] == TAB:
                    i += 1
                first = i
                index: Any = 0
                while True:
                    digit = np.int64(data[i]) - ZERO
                    if digit < 0 or digit > 9:
                        break
                    index = index * 10 + digit
                    i += 1
                    if index > LARGEST_INDEX:
                        return ParserStop(LARGE_INDEX, position, line, n_rows, n_entries, width, first)
                if i == first:
                    if data[i] == NEWLINE or data[i] == RETURN or data[i] == COMMENT:
                        break
                    if begins_query(data, i):
                        while data[i] != SPACE and not TAB <= data[i] <= RETURN and data[i] != COMMENT:
                            i += 1
                        continue
                    return ParserStop(BAD_INDEX, position, line, n_rows, n_entries, width, first)
                if data[i] != COLON:
                    return ParserStop(NO_COLON, position, line, n_rows, n_entries, width, first)
                if index < first_index:
                    return ParserStop(INDEX_ZERO, position, line, n_rows, n_entries, width, first)
                column = index - first_index
                first = i + 1
                value, i, kind = read_number(data, first, powers)
                if kind == NOT_A_NUMBER or not (data[i] == SPACE or TAB <= data[i] <= RETURN or data[i] == COMMENT):
                    i = first
                    while not (data[i] == SPACE or TAB <= data[i] <= RETURN or data[i] == COMMENT):
                        i += 1
                    if not stands_for_missing(data, first, i, missing):
                        return ParserStop(BAD_VALUE, position, line, n_rows, n_entries, width, first)
                    value, kind = 0.0, NUMBER  # as if it were not there
                if kind == HARD:
                    while solution < solved_at.size and solved_at[solution] < first:
                        solution += 1
                    if solution == solved_at.size or solved_at[solution] != first:
                        return ParserStop(HARD_NUMBER, position, line, n_rows, n_entries, width, first)
                    value = solved[solution]
                if not abs(value) <= LARGEST:
                    return ParserStop(LARGE_VALUE, position, line, n_rows, n_entries, width, first)
                new_width = max(new_width, column + 1)
                if value != 0.0:
                    if entry >= rows.columns.size:
                        return ParserStop(ENTRIES_FULL, position, line, n_rows, n_entries, width, first)
                    is_sorted &= column > last_column
                    last_column = column
                    rows.columns[entry] = column
                    rows.values[entry] = value
                    entry += 1
        while data[i] != NEWLINE and data[i] != RETURN:  # a comment
            i += 1
        if i >= stop and not at_end:
            return ParserStop(MORE_NEEDED, position, line, n_rows, n_entries, width, i)
        if i < stop and data[i] == RETURN:
            if i + 1 == stop and not at_end:
                return ParserStop(MORE_NEEDED, position, line, n_rows, n_entries, width, i)
            if i + 1 < stop and data[i + 1] == NEWLINE:
                i += 1
        if is_row:
            if not is_sorted:
                sort_row(rows.columns, rows.values, n_entries, entry, rows.spare_columns, rows.spare_values)
                entry = merge_row(rows.columns, rows.values, n_entries, entry, n_entries)
                for k in range(n_entries, entry):
                    if not abs(rows.values[k]) <= LARGEST:
                        return ParserStop(LARGE_VALUE, position, line, n_rows, n_entries, width, position)
            label = find_label(data, label_start, label_stop, labels)  # only now: the line is whole
            if label == FULL:
                return ParserStop(LABELS_FULL, position, line, n_rows, n_entries, width, label_start)
            rows.labels[n_rows] = label
            rows.lines[n_rows] = line
            n_rows += 1
            n_entries = entry
            width = new_width
            rows.starts[n_rows] = n_entries
        position = min(i + 1, stop)
        line += 1
    return ParserStop(BATCH_FULL, position, line, n_rows, n_entries, width, position)


FORMAT = "libsvm"
NUMBERS = re.compile(rb":([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)")
LABEL_MISSING = re.compile(rb"\s*[0-9]+:")
MISSING_VALUE = "|".join(re.escape(word) for word in sorted(WORDS) if word).encode()
FEATURE = re.compile(rb"[0-9]+:(?:[-+]?[0-9.][0-9.eE+-]*|" + MISSING_VALUE + rb")|qid:[^:]*")
"""A feature, whose value may be missing, or the number of a query."""
NOTHING_SOLVED = np.zeros(0, np.int64), np.zeros(0)


class LibsvmStream(Stream):
    """The rows of LIBSVM files."""

    has_lines = True
    rows_are_lines = True
    parses_without_lock = True
    kept_as = "libsvm"

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        self._has_labels = options.label is not False
        self._zero_based = options.zero_based
        self._scaling = SparseScaling(options.raw)
        if options.state is not None:
            self._take_state(options.state)
        self._entries = 1 << 16
        self._buffer = self._open_text(0)
        if options.frozen and options.label is None:
            self._has_labels = not LABEL_MISSING.match(self._buffer.first_lines(1))
        self._look_at_first_rows()

    @property
    def fields(self) -> list[Field]:
        """One entry that stands for all numbered features, and the label."""
        counted = "0" if self._zero_based else "1"
        label = [Field("label", "label")] if self._has_labels else []
        return [*label, Field(f"features counted from {counted}, {self._scaling.how}", "sparse")]

    def state(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "zero_based": self._zero_based,
            "labels": self.labels.kind,
            **self._scaling.to_dict(),
        }

    def _take_state(self, state: Mapping[str, Any]) -> None:
        self._check_format(state, FORMAT, "is libsvm")
        self._scaling = SparseScaling.from_dict(state, self.options.frozen)
        self._zero_based = bool(state["zero_based"]) if self._zero_based is None else self._zero_based
        self.labels.kind = self.labels.kind or state["labels"]

    def _restart(self) -> None:
        self._scaling.restart()
        self.labels.forget()
        self._buffer = self._open_text(0)

    def _look_at_first_rows(self) -> None:
        """Settle where counting begins, what the labels are and how to scale, by the first lines."""
        if self._zero_based is not None and self.labels.kind and self._scaling.is_settled:
            return
        batch = RowBuffer(SAMPLE_ROWS, self._entries)
        sample = Buffer.of(self._buffer.first_lines(SAMPLE_ROWS), self.name)
        self._fill(sample, batch, 0, lambda error: None)
        if self._zero_based is None:
            self._zero_based = batch.n_entries > 0 and int(batch.rows.columns[: batch.n_entries].min()) == 0
        self.labels.settle(self.labels.list_labels())
        self.labels.forget()
        self._scaling.settle(batch.rows.values[: batch.n_entries], batch.width - (not self._zero_based))

    def _rows(self) -> Iterator[Parts]:
        most_rows = self._rows_per_batch(self._scaling.n_standardised)
        parsed = RowBuffer(most_rows, self._entries)
        for buffer in self._open_each_text():
            while True:
                before = parsed.n_rows
                self._fill(buffer, parsed, 0 if self._zero_based else 1, self.refuse)
                if self.origins is not None:
                    self.origins.add(self._file_index, parsed.rows.lines[before : parsed.n_rows].copy(), [])
                if not parsed.is_full:
                    break
                yield self._finish(parsed)
                parsed = RowBuffer(most_rows, self._entries)
        if parsed.n_rows:
            yield self._finish(parsed)

    def parse(self, piece: Any, content: bytes, first_line: int = 1) -> ParsedRows:
        buffer = self._hold(content, piece.file_index, first_line)
        row_buffers = [RowBuffer(count_lines(content) + 1, self._entries)]
        self._fill(buffer, row_buffers[0], 0 if self._zero_based else 1, self.refuse)
        while row_buffers[-1].is_full:  # a very long piece
            row_buffers.append(RowBuffer(row_buffers[0].most_rows, self._entries))
            self._fill(buffer, row_buffers[-1], 0 if self._zero_based else 1, self.refuse)
        self._entries = max(1 << 12, row_buffers[0].n_entries + row_buffers[0].n_entries // 4)
        starts, columns, values = row_buffers[0].arrays() if len(row_buffers) == 1 else _join(row_buffers)
        self._scaling.prepare(starts, values)
        labels, lines = (
            np.concatenate([getattr(parsed.rows, name)[: parsed.n_rows] for parsed in row_buffers])
            for name in ("labels", "lines")
        )
        y = self.labels.decode(labels) if self._has_labels else None
        shown_lines = lines - (first_line - 1) if self.origins is not None else lines[:0]
        width = max(parsed.width for parsed in row_buffers)
        return ParsedRows((starts, columns, values, width), y, None, shown_lines, [], buffer.line - first_line)

    def scale(self, rows: Any) -> Any:
        """The rows that ``parse`` gave, standardised if they are to be."""
        return self._scaling.finish(*rows)

    def _finish(self, parsed: RowBuffer) -> Parts:
        self._entries = max(1 << 12, parsed.n_entries + parsed.n_entries // 4)
        X = self._scaling.matrix(*parsed.arrays(), parsed.width)
        return X, self.labels.decode(parsed.rows.labels[: parsed.n_rows]) if self._has_labels else None, None

    def _fill(self, buffer: Buffer, parsed: RowBuffer, first_index: int, refuse: Callable[[BadLine], None]) -> None:
        """Parse until the buffer of rows is full or the file ends."""
        parse = specialise(parse_lines)
        solved = NOTHING_SOLVED
        while not parsed.is_full:
            before = parsed.n_rows
            stop = ParserStop(*parse(
                buffer.data, buffer.position, buffer.stop, buffer.at_end, buffer.line, first_index, self._has_labels,
                parsed.most_rows, BATCH_ENTRIES, parsed.rows, parsed.n_rows, parsed.n_entries, parsed.width,
                self.labels.table, tables(), USUAL.table, *solved,
            ))  # fmt: skip
            buffer.position, buffer.line = stop.position, stop.line
            parsed.n_rows, parsed.n_entries, parsed.width = stop.n_rows, stop.n_entries, stop.width
            self._check_labels(buffer, parsed, before, refuse)
            solved = NOTHING_SOLVED
            if stop.why == MORE_NEEDED:
                if buffer.at_end:
                    return
                self._read_on(buffer, refuse)
            elif stop.why == ENTRIES_FULL:
                parsed.grow()
            elif stop.why == LABELS_FULL:
                self.labels.make_room()
            elif stop.why != BATCH_FULL:
                end = buffer.next_line(stop.position)
                if end < 0:  # perhaps it is only cut off
                    self._read_on(buffer, refuse)
                    continue
                line = buffer.data[stop.position : end].tobytes()
                if stop.why == HARD_NUMBER:
                    solved = _solve(line, stop.position)
                    if stop.where in solved[0]:
                        continue
                bad = _explain(stop, buffer, line)
                bad.raw = line.rstrip(b"\r\n")
                refuse(bad)
                buffer.skip_line()

    @staticmethod
    def _read_on(buffer: Buffer, refuse: Callable[[BadLine], None]) -> None:
        try:
            buffer.refill()
        except BadLine as error:  # longer than a line may be
            refuse(error)
            buffer.skip_line()

    def _check_labels(self, buffer: Buffer, parsed: RowBuffer, first: int, refuse: Callable[[BadLine], None]) -> None:
        """Understand new labels, and leave out rows whose label is not of the right kind."""
        if self.labels.kind is None:
            return
        self.labels.understand()
        if self.labels.wrong and self._has_labels:
            keep = np.ones(parsed.n_rows, np.bool_)
            raw = None
            for row in range(first, parsed.n_rows):
                reason = self.labels.wrong.get(int(parsed.rows.labels[row]))
                if reason:
                    bad = buffer.bad_line(int(parsed.rows.lines[row]), "column 1", reason)
                    raw = buffer.used_lines() if raw is None else raw
                    bad.raw = raw.get(bad.line)
                    refuse(bad)
                    keep[row] = False
            parsed.keep(keep)


class RowBuffer:
    """Rows of a batch in the making."""

    def __init__(self, most_rows: int, most_entries: int) -> None:
        self.most_rows = most_rows
        self.n_rows = self.n_entries = self.width = 0
        self.rows = Rows(
            np.zeros(most_rows + 1, np.int32), np.empty(most_entries, np.int32), np.empty(most_entries),
            np.empty(most_rows, np.int32), np.empty(most_rows, np.int64),
            np.empty(most_entries, np.int32), np.empty(most_entries),
        )  # fmt: skip

    @property
    def is_full(self) -> bool:
        """Whether it is time to hand the batch out."""
        return self.n_rows >= self.most_rows or self.n_entries >= BATCH_ENTRIES

    def grow(self) -> None:
        """Twice the room for entries."""
        kept, size = self.n_entries, 2 * len(self.rows.columns)
        columns, values = np.empty(size, np.int32), np.empty(size)
        columns[:kept], values[:kept] = self.rows.columns[:kept], self.rows.values[:kept]
        self.rows = self.rows._replace(
            columns=columns, values=values, spare_columns=np.empty(size, np.int32), spare_values=np.empty(size)
        )

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the rows begin, columns and values."""
        return (
            self.rows.starts[: self.n_rows + 1],
            self.rows.columns[: self.n_entries],
            self.rows.values[: self.n_entries],
        )

    def keep(self, rows: np.ndarray) -> None:
        """Leave out all other rows."""
        if rows.all():
            return
        starts, columns, values = self.arrays()
        entries = np.repeat(rows, np.diff(starts))
        ends = np.cumsum(np.diff(starts)[rows])
        n_rows, n_entries = int(rows.sum()), int(entries.sum())
        for array, kept in (
            (self.rows.columns, columns[entries]), (self.rows.values, values[entries]),
            (self.rows.labels, self.rows.labels[: self.n_rows][rows]),
            (self.rows.lines, self.rows.lines[: self.n_rows][rows]),
        ):  # fmt: skip
            array[: len(kept)] = kept
        self.rows.starts[1 : n_rows + 1] = ends
        self.n_rows, self.n_entries = n_rows, n_entries


def _join(row_buffers: list[RowBuffer]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows of several row_buffers: where they begin, columns and values."""
    parts = [parsed.arrays() for parsed in row_buffers]
    lengths, columns, values = (
        np.concatenate(arrays) for arrays in zip(*((np.diff(a), b, c) for a, b, c in parts), strict=True)
    )
    return np.append(np.int32(0), np.cumsum(lengths, dtype=np.int32)), columns, values


def _solve(line: bytes, position: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the numbers of a line begin, and what they are, by Python: for those that the parser leaves open."""
    found = [(match.start(1), float(match[1])) for match in NUMBERS.finditer(line) if _is_float(match[1])]
    return np.array([position + at for at, _ in found], np.int64), np.array([value for _, value in found])


def _is_float(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _explain(stop: ParserStop, buffer: Buffer, line: bytes) -> BadLine:
    """The error for a line at which the parser stopped."""
    token = re.split(rb"[\s#]", line[stop.where - stop.position :], maxsplit=1)[0]
    shown = format_token(token)
    reasons = {
        NO_LABEL: f"the line begins with the feature {shown}; a label is missing before it: write ? for one that is "
        "not known.",
        NO_COLON: f"{shown} is no feature; features are written index:value.",
        BAD_INDEX: f"{shown} does not begin with the number of a feature, as index:value does.",
        LARGE_INDEX: f"the feature index in {shown} is larger than {LARGEST_INDEX:,}; hash the features.",
        INDEX_ZERO: "a feature has index 0, but none of the first rows does; zero_based=True counts from 0.",
    }
    reason = reasons.get(stop.why) or "the value " + why_not_a_number(token.decode("utf-8", "backslashreplace"))
    return buffer.bad_line(buffer.line, f"column {stop.where - stop.position + 1}", reason)
