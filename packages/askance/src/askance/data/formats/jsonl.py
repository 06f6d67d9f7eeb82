"""JSON Lines: one object per line, its fields numbers, text, lists of words, or nested. A file that is one array of
objects becomes such lines first.

``data.encoding.rows`` has what the fields become. The label is the field called ``label``, ``y``, ``class``
or ``target`` among those of the first rows; a stream may also have none. ``NaN``, which Python writes though JSON has
no such word, is null; ``Infinity`` makes a line bad.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from askance.data.encoding.encoder import Cells
from askance.data.encoding.kinds import LABEL_NAMES, SAMPLE_ROWS, find_label, format_names
from askance.data.encoding.rows import FieldError, flatten
from askance.data.formats.buffer import BYTE_ORDER_MARK, Buffer
from askance.data.formats.named_fields import RowStream
from askance.data.formats.pieces import ParsedRows
from askance.data.formats.read_options import ReadOptions
from askance.data.formats.source import NOT_UTF8, Converted, Input, Source
from askance.errors import BadLine, InvalidInput, InvalidParameter

FORMAT = "rows"


class JsonlStream(RowStream):
    """The rows of JSON Lines files."""

    format, what = FORMAT, "JSON rows"
    has_lines = True
    rows_are_lines = True
    kept_as = "jsonl"

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(Converted(source, objects_of_array, "object"), options)
        if isinstance(options.label, int) and options.label is not False:
            raise InvalidParameter(f"the fields of JSON rows have names; the number {options.label} is none.")
        self._label = options.label if isinstance(options.label, str) else None
        if options.label is None and options.state is not None:
            self._label = options.state.get("label")
        self._buffer = self._open_text(0)
        self._look_at_first_rows()

    def _restart(self) -> None:
        super()._restart()
        self._buffer = self._open_text(0)

    def _look_at_first_rows(self) -> None:
        """Settle what the label is, and the kinds of the fields of the first rows."""
        content = self._buffer.first_lines(SAMPLE_ROWS)
        names, rows = self._first_rows(content)
        if self._label is None and self.options.label is not False:
            self._label = find_label(names) if self._state is None else self._unknown_label(names, self._state)
            names, rows = self._first_rows(content)  # now with what is below the label's field left whole
        self.names = names
        if isinstance(self.options.label, str) and rows and self._label not in names:
            raise InvalidParameter(
                f"none of the first rows of {self.name!r} has a field {self._label!r} to be the label; "
                f"there are: {format_names(names)}."
            )
        self._keep_first_values(rows)
        labels = [row.pop(self._label, None) for row in rows] if self._label is not None else []
        self.labels.settle_by_values(labels)
        if self._state is None:
            self._features.guess_kinds(rows)
        elif rows and (self.options.frozen or self._state.get("format") != self.format):
            self._check_any_is_known(names)
        self._first = self._features.to_dict()

    def _first_rows(self, content: bytes) -> tuple[list[str], list[dict[str, Any]]]:
        """The names of the fields of the first rows, and those rows without the bad ones."""
        rows = []
        for _, line in Buffer.of(content, self.name).lines():
            try:
                row = self._read_row(line)
            except ValueError:
                continue
            if row is not None:
                rows.append(row)
        return list(dict.fromkeys(name for row in rows for name in row)), rows

    def _read_row(self, line: bytes | BadLine) -> dict[str, Any] | None:
        """The flattened fields of a line, but a list or an object that is the label as it is: nothing that is below
        the label's field is a feature. Where labels are no sets, an empty one is none."""
        row = read_object(line)
        if row is None:
            return None
        are_sets = self.options.label_separator is not None
        if self._label is not None:
            fields: Collection[str] = (self._label,)
        elif are_sets and self.options.label is not False:
            fields = [name for name in row if name.strip().lower() in LABEL_NAMES]
        else:
            fields = ()
        whole = {name: value for name in fields if (value := take_nested(row, name)) is not None}
        return flatten(row) | {name: value for name, value in whole.items() if value or are_sets}

    def _begin_file(self, buffer: Buffer) -> None:
        self._lines = buffer.lines()

    def _read_some(self, buffer: Buffer, cells: Cells, labels: list[Any]) -> bool:
        for number, line in self._lines:
            self._take_line(number, line, cells, labels)
            return True
        return False

    def _take_line(self, number: int, line: bytes | BadLine, cells: Cells, labels: list[Any]) -> None:
        """Add the row of a line to a batch, unless it is empty or bad."""
        named = None if self.origins is None else self.origins.id_field
        try:
            row = self._read_row(line)
            if row is None:
                return
            known = None if named is None else row.get(named)
            label = None if self._label is None else self._label_of(row.pop(self._label, None))
            self._add(cells, row)
        except ValueError as error:
            bad = _explain(error, self._buffer, number)
            bad.field = error.field if isinstance(error, FieldError) else None
            bad.raw = line if isinstance(line, bytes) else None
            self.refuse(bad)
            return
        labels.append(label)
        if self.options.keep_rows:
            self._kept_rows.append(row)
        if self.origins is not None:
            self.origins.add(self._file_index, (number,), () if named is None else (known,))

    def parse(self, piece: Any, content: bytes, first_line: int = 1) -> ParsedRows:
        buffer = self._hold(content, piece.file_index, first_line)
        cells, labels = Cells(), list[Any]()
        for number, line in buffer.lines():
            self._take_line(number, line, cells, labels)
        return self._finish_piece(cells, self._label_array(labels), first_line, buffer.line - first_line)


def _constant(word: str) -> None:
    """What a word stands for that JSON does not have."""
    if word != "NaN":
        raise ValueError(f"{word} cannot be learned from; leave the value out or write null if it is missing.")


_decode = json.JSONDecoder(parse_constant=_constant).decode


def take_nested(row: dict[str, Any], name: str) -> Any:
    """Take the list or the object that a row has at the full name of a field out of it; None if there is neither.

    >>> row = {"meta": {"tags": ["a"], "size": 3}}
    >>> take_nested(row, "meta.tags"), row
    (['a'], {'meta': {'size': 3}})
    """
    if isinstance(row.get(name), list | dict):
        return row.pop(name)
    for dot in (index for index, sign in enumerate(name) if sign == "."):
        below = row.get(name[:dot])
        found = take_nested(below, name[dot + 1 :]) if isinstance(below, dict) else None
        if found is not None:
            return found
    return None


def read_object(line: bytes | BadLine) -> dict[str, Any] | None:
    """The object in a line as it is; None for an empty one, a ValueError for one that is no JSON object."""
    if isinstance(line, BadLine):
        raise line
    if not line.strip():
        return None
    try:
        row = _decode(line.decode("utf-8"))
    except RecursionError:
        raise ValueError("it is nested too deeply.") from None
    if not isinstance(row, dict):
        what = "a list" if isinstance(row, list) else f"{row!r:.40}"
        raise ValueError(f'it is {what}, but each event must be a JSON object such as {{"text": "..."}}.')
    return row


def _explain(error: ValueError, buffer: Buffer, line: int) -> BadLine:
    if isinstance(error, BadLine):
        return error
    if isinstance(error, json.JSONDecodeError):
        reason = "it ends too early" if error.pos >= len(error.doc.rstrip()) else error.msg[0].lower() + error.msg[1:]
        return buffer.bad_line(line, f"column {error.pos + 1}", f"it is not valid JSON: {reason}.")
    if isinstance(error, UnicodeDecodeError):
        return buffer.bad_line(line, f"column {error.start + 1}", NOT_UTF8)
    if isinstance(error, FieldError):
        return buffer.bad_line(line, f"field {format_names([error.field])!r}", error.reason)
    if "integer string conversion" in str(error):
        return buffer.bad_line(line, None, "it contains a number with thousands of digits.")
    return buffer.bad_line(line, None, str(error))


# --- a file that is one array of objects -----------------------------------------------------------------
# The array is split where its commas stand, while it is read, so that a file of any size takes the memory of one piece.
# What stands between the commas is for the reader of lines to judge.

PIECE = 1 << 16
LOOK_AT = 1 << 16
LINES_LOOKED_AT = 20
_INSIDE_TEXT = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_MARK = re.compile(rb'"(?:[^"\\]++|\\.)*+(?P<end>")?|[\[\]{},]', re.DOTALL)
# A line end within an object becomes a tab: as good a blank between values, and as wrong within a text.
_NO_LINE_ENDS = bytes.maketrans(b"\r\n", b"\t\t")
OUTSIDE, BETWEEN = 0, 1  # depths: out of the array, and in it but in none of its objects


def objects_of_array(part: Input) -> Iterator[bytes] | None:
    """The objects of a file that is one array, one a line; None for any other file."""
    return _split(part) if begins_an_array(part.peek(LINES_LOOKED_AT, LOOK_AT)) else None


def begins_an_array(content: bytes) -> bool:
    """Whether a file is one array of objects, or of none; a line that is a list of something else is just a bad line.

    >>> begins_an_array(b'[{"size": 3}, {'), begins_an_array(b"[]"), begins_an_array(b"[1, 2]")
    (True, True, False)
    """
    content = content.removeprefix(BYTE_ORDER_MARK).strip()
    rest = content[1:].lstrip()
    return content.startswith(b"[") and (rest[:1] in (b"{", b"") or rest == b"]")


def _split(part: Input) -> Iterator[bytes]:
    depth, is_in_text, rest = OUTSIDE, False, b""
    while read := part.read(PIECE):
        piece = rest + read.translate(_NO_LINE_ENDS)
        found: list[bytes] = []
        start = at = 0
        if is_in_text:
            at = len(_INSIDE_TEXT.match(piece)[0])  # type: ignore[index]  # nothing at all matches, too
            is_in_text = piece[at : at + 1] != b'"'
            at += not is_in_text
        while not is_in_text and (mark := _MARK.search(piece, at)) is not None:
            at = mark.end()
            match mark[0][:1]:
                case b'"':
                    is_in_text = mark["end"] is None
                case b"[" | b"{":
                    depth += 1
                    if depth == BETWEEN:
                        start = at
                    elif depth == BETWEEN + 1:
                        found.append(piece[start : mark.start()].strip())
                        start = mark.start()
                case b"," if depth == BETWEEN:
                    found += piece[start : mark.start()].strip(), b"\n"
                    start = at
                case b"]" | b"}":
                    depth -= 1
                    if depth == BETWEEN:
                        found.append(piece[start:at])
                        start = at
                    elif depth == OUTSIDE:
                        yield b"".join([*found, piece[start : mark.start()].strip()])
                        _refuse_more(part, piece[at:])
                        return
        end = at if is_in_text else len(piece)  # of a text that goes on, a backslash at the end waits for what follows
        found.append(piece[start:end].strip() if depth == BETWEEN else piece[start:end])
        rest = piece[end:]
        yield b"".join(found)
    raise InvalidInput(f"{part.name!r} is cut off: its JSON array does not end.")


def _refuse_more(part: Input, rest: bytes) -> None:
    while not rest.strip() and (rest := part.read(PIECE)):
        pass
    if rest.strip():
        raise InvalidInput(
            f"{part.name!r} goes on after the end of its JSON array; one array, or one object per line, is needed."
        )
