"""CSV and TSV files: cells separated by commas, tabs, semicolons or bars, with or without a line of names.

Which of them separates, and whether the first line has names, is detected in the first lines unless given. Fields
without names are called by their number, from 0. The label is the field called ``label``, ``y``, ``class`` or
``target``, else the last one. Empty cells, and words such as ``NA``, ``nan`` and ``?`` (``data.missing`` has them
all), are missing numbers and missing labels. A decimal comma is read as a point.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from askance.data.encoding.kind_evidence import VALUES_TO_SETTLE
from askance.data.encoding.kinds import (
    IGNORE,
    IGNORED_NAMES,
    NUMBER,
    SAMPLE_ROWS,
    THOUSANDS,
    are_booleans,
    find_label,
    find_notation,
    format_names,
    has_a_comma,
    last_name,
    looks_like_a_number,
    refuse_thousands,
)
from askance.data.formats.buffer import Buffer, FilePart
from askance.data.formats.cells import (
    NONE,
    Dialect,
    Refuse,
    Split,
    count_sample_rows,
    csv_line,
    first_row,
    ignore,
    sample_of,
    split,
)
from askance.data.formats.delimited import DelimitedStream, Wrong
from askance.data.formats.named_fields import names_in
from askance.data.formats.pieces import PIECE_BYTES, TextPiece
from askance.data.formats.read_options import ReadOptions
from askance.data.formats.source import Source
from askance.data.missing import USUAL, MissingValues
from askance.errors import BadLine, InvalidInput, InvalidParameter

DELIMITERS = (",", "\t", ";", "|")
ROWS_FOR_DELIMITER = 50
ROWS_FOR_NAMES = 100
ROWS_AT_ONCE = 1000
NO_NAMES = ("", "unnamed: 0")  # as a data frame writes its index, and as it writes one that it has read back
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_COMMA_AS_DELIMITER = re.compile(rb"(?<![0-9]),|,(?![0-9])")


class CsvStream(DelimitedStream):
    """The rows of CSV files."""

    usual_delimiter: ClassVar[str | None] = None
    """What separates cells, unless an option says; None: it is detected."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        header, quote = options.header, '"' if options.quote is None else options.quote
        delimiter = self.usual_delimiter if options.delimiter is None else options.delimiter
        quote_byte = _byte("quote", quote) if quote else NONE
        content = self._buffer.first_lines(SAMPLE_ROWS + 1)
        if delimiter is None:
            delimiter = _find_delimiter(content, quote_byte)
        self.dialect = Dialect(_byte("delimiter", delimiter), quote_byte)
        if self.dialect.delimiter == quote_byte:
            raise InvalidParameter(f"delimiter and quote cannot both be {delimiter!r}.")
        first = self._first_row(Buffer.of(content, self.name), ignore if options.leaves_out_bad_lines else self.refuse)
        if not first:
            raise InvalidInput(f"{self.name!r} has no rows.")
        is_cut = not self._buffer.holds_only(content)
        sample = sample_of(content, self.name, self.dialect, len(first), is_cut)
        # Cells of many lines, within quotes, may leave few rows to judge by: then the kinds may still change.
        is_enough = not is_cut or len(sample) > min(VALUES_TO_SETTLE, count_sample_rows(len(first)) - 1)
        if header is None and self._state is not None:
            names = [name for name in names_in(self._state) if not name.isdigit()]
            header = None if set(names).isdisjoint(first) else True
        self.has_names = _has_names(sample, self.missing) if header is None else bool(header)
        if self.has_names:
            self._refuse_junk(content, first)
        self._header = first if self.has_names else None
        self.names = _distinct(first) if self.has_names else [str(column) for column in range(len(first))]
        rows = sample[1:] if self.has_names else sample
        if self._header is not None and self._state is None:
            self._refuse_second_label(self._header)
        self.truth_columns = tuple(self._with_truths(rows))
        self.comma_columns = tuple(self._with_commas(rows))
        self._settle({self.names[column]: IGNORE for column in self._row_numbers(rows)}, rows, is_enough)

    def _how_to_read(self) -> dict[str, Any]:
        head: dict[str, Any] = {"delimiter": chr(self.dialect.delimiter), "header": self.has_names}
        return head | ({"names": csv_line(self._header, self.dialect)} if self._header is not None else {})

    def _refuse_junk(self, content: bytes, first: Sequence[str]) -> None:
        """Say that a file is no text, or of another encoding, by its first row: its names would be unreadable."""
        if CONTROL.search("".join(first)):
            raise InvalidInput(
                f"{self.name!r} is no text: its first line has control characters; is it compressed, encrypted or of "
                "another format?"
            )
        line = content.splitlines()[0] if content else b""
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidInput(
                f"{self.name!r} is not UTF-8 text: byte {error.start + 1} of its first line belongs to another "
                "encoding, or to no text at all; say which, such as --encoding latin-1."
            ) from None

    def _refuse_second_label(self, header: Sequence[str]) -> None:
        """Refuse two columns with the name of the label, unless the kind of the other one is given."""
        label, given = self._find_label(), self.options.features or {}
        called = header[label].strip().lower() if label >= 0 else ""
        for column, name in enumerate(header):
            if column != label and called and name.strip().lower() == called and self.names[column] not in given:
                one, other = sorted((label + 1, column + 1))
                raise InvalidInput(
                    f"{self.name!r} has two columns called {called!r}, {one} and {other}, and one of them may "
                    "give the answer away; rename or remove one, or say what the other is, such as "
                    f"{self.names[column]!r} to be ignored."
                )

    def _row_numbers(self, sample: Sequence[Sequence[str]]) -> Iterator[int]:
        """The columns without a name that count the rows: the index of a data frame, which says nothing of an event."""
        for column, name in enumerate(self._header or ()):
            cells = [row[column] for row in sample]
            if name.strip().lower() in NO_NAMES and len(cells) > 1 and _count_up(cells):
                yield column

    def _with_commas(self, sample: Sequence[Sequence[str]]) -> Iterator[int]:
        """The fields whose numbers have a decimal comma; refuses those with separators between thousands."""
        label, given = self._find_label(), self.options.features or {}
        for column, name in enumerate(self.names):
            found = find_notation([row[column] for row in sample], self.missing) if column != label else None
            if found is None or given.get(name, NUMBER) != NUMBER:
                continue
            how, example = found
            if how == THOUSANDS:
                refuse_thousands(f"{self.name!r} has", example, self._describe_column(column))
            yield column

    def _with_truths(self, sample: Sequence[Sequence[str]]) -> Iterator[int]:
        """The fields of which every value is true or false, unless they are to be something else than numbers."""
        label, given = self._find_label(), self.options.features or {}
        for column, name in enumerate(self.names):
            usual = NUMBER if last_name(name) not in IGNORED_NAMES and self._state is None else ""
            cells = (row[column] for row in sample)
            if column != label and given.get(name, usual) == NUMBER and are_booleans(cells, self.missing):
                yield column

    def _begin_file(self, buffer: Buffer) -> None:
        """Leave the names out: where the first file of a folder has them, each has the same."""
        if self._header is None:
            self._refuse_names(buffer)
            return
        found = self._first_row(buffer, self.refuse)
        if found and found != self._header:
            raise InvalidInput(
                f"{buffer.name!r} cannot follow {self.source.names[0]!r}: its columns are not those of "
                f"{self.source.names[0]!r}, {format_names(self._header)}, but {format_names(found)}; "
                "every file of a folder begins with the same line of names."
            )

    def pieces(self) -> Iterator[TextPiece] | None:
        """Whole rows; a row may have several lines."""
        paths = [self.source.stored_path(file_index) for file_index in range(len(self.source))]
        return None if None in paths else self._cut(paths)

    def _cut(self, paths: list[str]) -> Iterator[TextPiece]:
        for file_index, path in enumerate(paths):
            buffer = self._open_text(file_index)
            self._begin_file(buffer)
            start, skipped = buffer.offset, buffer.line - 1
            self.close()
            with open(path, "rb") as file:
                size = file.seek(0, 2)
                while start < size:
                    stop = self._end_of_rows(file, start, size)
                    yield TextPiece(file_index, path, start, stop, skipped_lines=skipped)
                    start = stop

    def _end_of_rows(self, file: Any, start: int, size: int) -> int:
        """Where a piece ends that begins at ``start``: after a whole row."""
        file.seek(start)
        window = file.read(PIECE_BYTES)
        if start + len(window) >= size:
            return size
        end = window.rfind(b"\n") + 1
        if end and (self.dialect.quote == NONE or window.find(self.dialect.quote, 0, end) < 0):
            return start + end
        file.seek(start)  # line ends may be inside of quotes: only the splitter knows
        buffer = Buffer(FilePart(file, self.name), is_beginning=False)
        while buffer.offset < PIECE_BYTES:
            if split(buffer, self.dialect, len(self.names), ROWS_AT_ONCE, ignore) is None:
                return size
        return start + buffer.offset

    def _refuse_names(self, buffer: Buffer) -> None:
        """Say that a file begins with names where the first one of the folder does not."""
        content = buffer.first_lines(SAMPLE_ROWS) if self._file_index else b""
        sample = sample_of(content, buffer.name, self.dialect, len(self.names)) if content else []
        if (
            sample
            and _has_names(sample, self.missing)
            and any(not looks_like_a_number(sample[0][column]) for column in self._columns[NUMBER])
        ):
            raise InvalidInput(
                f"{buffer.name!r} begins with a line of names, {format_names(sample[0])}, but {self.source.names[0]!r} "
                "does not; either every file of a folder begins with the same line of names, or none does."
            )

    def _check_text(self, rows: Split, wrong: dict[int, Wrong]) -> None:
        """Refuse also a line of names among the rows, as files have that were put together: it would become a class."""
        super()._check_text(rows, wrong)
        if self._header is None:
            return
        lengths = [len(name.encode()) for name in self._header]
        for row in np.flatnonzero((rows.stops - rows.starts == lengths).all(axis=1)).tolist():
            if [rows.text(row, column) for column in range(len(lengths))] == self._header:
                wrong.setdefault(row, Wrong(max(self._label_index, 0), "the line repeats the names of the columns."))

    def _first_row(self, buffer: Buffer, refuse: Refuse) -> list[str]:
        """The first row that can be split."""
        while True:
            try:
                return first_row(buffer, self.dialect)
            except BadLine as error:
                refuse(error)
                buffer.skip_line()


class TsvStream(CsvStream):
    """The rows of TSV files."""

    usual_delimiter = "\t"


def _byte(name: str, value: str) -> int:
    if not isinstance(value, str) or len(value) != 1 or not value.isascii() or value in "\r\n\0":
        raise InvalidParameter(f"{name} must be a single ASCII character, got {value!r}.")
    return ord(value)


def _find_delimiter(content: bytes, quote: int) -> str:
    """The candidate that divides the most rows into the same number of cells, and into the most cells."""
    best, chosen, semicolons = (0.0, 1), ",", False
    for candidate in DELIMITERS:
        buffer = Buffer.of(content, "sample")
        dialect = Dialect(ord(candidate), quote)
        counts: Counter[int] = Counter()
        try:
            while counts.total() < ROWS_FOR_DELIMITER and (row := first_row(buffer, dialect)):
                counts[len(row)] += 1
        except ValueError:  # a bad line: what was seen before it must do
            pass
        if counts:
            cells, rows = counts.most_common(1)[0]
            score = (rows / counts.total() if cells > 1 else 0.0), cells
            semicolons |= candidate == ";" and score[0] == 1.0
            if score > best:
                best, chosen = score, candidate
    if chosen == "," and semicolons and not _COMMA_AS_DELIMITER.search(content):
        return ";"  # numbers with decimal commas
    return chosen


def _has_names(sample: Sequence[Sequence[str]], missing: MissingValues = USUAL) -> bool:
    """Whether the first row looks like names rather than values.

    If a cell is a number, it does where numbers are names: it has the name of a label, which does not come again below,
    or its cells are the columns' own numbers. Otherwise it does if it has the name of a label, or a cell above numbers,
    or if none of its cells comes again below.
    """
    if not sample:
        return False
    first, rows = sample[0], sample[1 : 1 + ROWS_FOR_NAMES]
    if any(looks_like_a_number(text) or has_a_comma(text) for text in first) or not any(first):
        return _has_numbers_as_names(first, rows)
    if find_label(first) is not None:
        return True
    for column in range(len(first)):
        below = [row[column] for row in rows if not missing.covers(row[column])]
        if below and not missing.covers(first[column]) and all(map(looks_like_a_number, below)):
            return True
    return not any(row[column] == first[column] for row in rows for column in range(len(first)) if first[column])


def _has_numbers_as_names(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a row with numbers in it is one of names, such as ``0,1,2,label`` or ``2019,2020,city,label``."""
    if len(first) > 2 and list(first) == [str(column) for column in range(len(first))]:
        return True
    name = find_label(first)
    if name is None or not all(text == "" or text.isdigit() or not looks_like_a_number(text) for text in first):
        return False
    below = [row[first.index(name)] for row in rows]
    if name.strip().lower() == "y" and not all(map(looks_like_a_number, below)):  # it may be a yes
        return False
    return bool(below) and name not in below


def _count_up(cells: Sequence[str]) -> bool:
    """Whether each is the whole number after the one before it."""
    if re.fullmatch("[0-9]{1,18}", cells[0]) is None:
        return False
    return all(cell == str(number) for number, cell in enumerate(cells, int(cells[0])))


def _distinct(names: Sequence[str]) -> list[str]:
    """Names that differ: an empty one becomes its number, a second one of a kind gets one."""
    found: dict[str, None] = {}
    copies: dict[str, int] = {}
    for column, name in enumerate(names):
        wanted = name or str(column)
        unique, copy = wanted, copies.get(wanted, 1)
        while unique in found:
            copy += 1
            unique = f"{wanted} ({copy})"
        found[unique], copies[wanted] = None, copy
    return list(found)
