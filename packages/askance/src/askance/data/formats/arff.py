"""ARFF files, as Weka writes them: a head that declares the attributes, then rows, dense or sparse.

Numeric attributes are numbers, nominal ones categories whose values are declared, and strings (and dates) are guessed.
``?`` is a missing value, and so are words such as ``nan`` unless they are declared. In a sparse row,
``{1 0.5, 7 red}``, an attribute that is left out is a zero, or the first of its declared values. Sparse rows are scaled
as those of LIBSVM files are: as a table where at most 1000 attributes are numeric and their values differ, a zero being
a value like any other; otherwise each is divided by its length.
The label is the attribute called ``class``, ``label``, ``y`` or ``target``, else the last one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from askance.compile import specialise
from askance.data.encoding.assemble import unit_rows
from askance.data.encoding.encoder import Cells
from askance.data.encoding.kinds import (
    CATEGORY,
    IGNORE,
    IGNORED_NAMES,
    NUMBER,
    SAMPLE_ROWS,
    format_names,
    guess,
    last_name,
    number_in,
    why_not_a_number,
)
from askance.data.encoding.scaling import AS_IT_IS, STANDARDISED, TO_UNIT_LENGTH, choose_scaling
from askance.data.formats.buffer import Buffer
from askance.data.formats.cells import APOSTROPHE, BACKSLASH, COMMA, PERCENT, QUOTE, Dialect, sample_of
from askance.data.formats.delimited import DelimitedStream
from askance.data.formats.read_options import ReadOptions
from askance.data.formats.source import NOT_UTF8, Source
from askance.data.formats.stream import Rows
from askance.errors import BadLine, InvalidInput

DIALECT = Dialect(COMMA, QUOTE, APOSTROPHE, BACKSLASH, PERCENT, is_multiline=False)

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s'\"{{}}]\S*)\s*(.*)", re.IGNORECASE | re.DOTALL)
_VALUE = re.compile(rf"\s*({_QUOTED}|[^,'\"\s{{}}](?:[^,{{}}]*[^,\s{{}}])?)\s*(?:,|$)")
_ENTRY = re.compile(rf"\s*([0-9]+)\s+({_QUOTED}|[^,'\"\s{{}}](?:[^,{{}}]*[^,\s{{}}])?)\s*(?:,|$)")
Head = dict[str, str | list[str]]
OTHER = "other"
LONGEST_INDEX = 9  # digits
NUMERIC = ("numeric", "real", "integer")
OTHERS = ("string", "date")
UNKNOWN = "?"  # ARFF's own word for a missing value, also where it is declared as one


class ArffStream(DelimitedStream):
    """The rows of ARFF files."""

    dialect = DIALECT
    kept_as = "arff"

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        head = _read_head(self._buffer)
        self._head: Head | None = head
        self._types = head
        self.names = list(head)
        self.declared = {name: values for name, values in head.items() if isinstance(values, list)}
        content = self._buffer.first_lines(SAMPLE_ROWS)
        self._is_sparse = _begins_sparse(content)
        known = {name: CATEGORY if isinstance(kind, list) else kind for name, kind in head.items() if kind != OTHER}
        known |= {name: IGNORE for name in head if last_name(name) in IGNORED_NAMES}
        if self._is_sparse:
            self.format = "sparse table"
            sample: list[list[str]] = []
            values = _values_by_index(content)
            known |= {name: guess(name, values.get(index, [])) for index, name in enumerate(head) if name not in known}
            self._how = self._choose_scaling(content, known)
            self._features.encoder.raw = self._how != STANDARDISED
        else:
            sample = sample_of(content, self.name, DIALECT, len(head))
        label = self._find_label()
        if label >= 0 and self.names[label] in self.declared:
            self.labels.classes |= frozenset(self.declared[self.names[label]]) - {UNKNOWN}
            self.labels.settle(self.declared[self.names[label]])
        elif label >= 0 and self._is_sparse:
            self.labels.settle(entries.get(label, "0") for entries in _sample(content))
        self._settle(known, sample)
        self._zeros = {name: values[0] for name, values in self.declared.items() if self._kind(name) == CATEGORY}
        if self._features.time_field is not None:
            self._zeros[self._features.time_field] = "0"

    def _declared_words(self) -> dict[str, list[str]]:
        words = super()._declared_words()
        return {name: rest for name, found in words.items() if (rest := [word for word in found if word != UNKNOWN])}

    def _choose_scaling(self, content: bytes, kinds: Mapping[str, str]) -> str:
        """How sparse rows are scaled: as the model has it, as the user wants it, or by the first rows."""
        if self._state is not None:
            return str(self._state.get("sparse_rows", TO_UNIT_LENGTH))
        if self.options.raw:
            return AS_IT_IS
        given = dict(kinds) | dict(self.options.features or {})
        label = self._find_label()
        numeric = {index for index, name in enumerate(self.names) if index != label and given.get(name) == NUMBER}
        texts = (text for entries in _sample(content) for index, text in entries.items() if index in numeric)
        values = [number for text in texts if (number := number_in(text)) is not None]
        return choose_scaling(np.array(values), len(numeric))

    def state(self) -> dict[str, Any]:
        return super().state() | ({"sparse_rows": self._how} if self._is_sparse else {})

    def _how_to_read(self) -> dict[str, Any]:
        lines = [f"@attribute {_in_quotes(name)} {_kind_declared(kind)}" for name, kind in self._types.items()]
        return {"names": "\n".join(["@relation kept", *lines, "@data"])}

    def _begin_file(self, buffer: Buffer) -> None:
        """Read the head of a file; those of a folder must declare the same."""
        head, self._head = self._head or _read_head(buffer), None  # the first one was read when the stream was opened
        if head != self._types:
            raise InvalidInput(f"{buffer.name!r} does not declare the same attributes as {self.source.names[0]!r}.")
        self._lines = buffer.lines()

    # --- sparse rows -------------------------------------------------------------------------------------

    def _read_some(self, buffer: Buffer, cells: Cells, labels: list[Any]) -> bool:
        if not self._is_sparse:
            return super()._read_some(buffer, cells, labels)
        for line, text in self._lines:
            try:
                if isinstance(text, BadLine):
                    raise text
                number = self._add_sparse(line, text, cells)
            except ValueError as error:
                column, reason = error.args if len(error.args) == 2 else (None, str(error))
                bad = error if isinstance(error, BadLine) else buffer.bad_line(line, column, reason)
                bad.raw = text if isinstance(text, bytes) else None
                self.refuse(bad)
                continue
            if number is not None:
                labels.append(np.array([number], np.int32))
                return True
        return False

    def _add_sparse(self, line: int, text: bytes, cells: Cells) -> int | None:
        """Add one row; returns the number of its label, or None for a line without a row."""
        entries = _sparse_entries(text)
        if entries is None:
            return None
        row = self._fields_of(entries)
        plan = self._features.plan(row)
        if plan.error is not None:
            name, reason = plan.error.field, plan.error.reason
            is_number = self._kind(name) == NUMBER
            raise ValueError(self._attribute(name), why_not_a_number(row[name]) if is_number else reason)
        zero = "" if self._label is None else self.declared.get(self._label, ["0"])[0]
        label = entries.get(self._label_index, zero)
        number = self.labels.number_of(label.encode("utf-8"))
        self.labels.understand(None if self._label is None else self.declared.get(self._label))
        if self._label is not None and number in self.labels.wrong:
            raise ValueError(self._attribute(self._label), self.labels.wrong[number])
        if self._how == STANDARDISED:  # a number that is left out is a zero; only NaN is missing
            slots = self._encoder.slots
            numbers = np.zeros((1, len(slots)))
            numbers[0, [slots[name] for name in row.keys() & slots.keys()]] = np.nan
            numbers[0, [slots[name] for name, _ in plan.numbers]] = [value for _, value in plan.numbers]
            cells.add_numbers(cells.n_rows, np.arange(len(slots)), numbers)
            plan.numbers = []
        self._features.fill(cells, plan)
        if self.origins is not None:
            named = self.origins.id_field
            ids = [entries.get(self.names.index(named))] if named is not None else []
            self.origins.add(self._file_index, [line], ids)
        return number

    def _fields_of(self, entries: Mapping[int, str]) -> dict[str, str]:
        """The fields of a sparse row that are learned from, with those it leaves out that are no numbers."""
        row = dict(self._zeros)
        for index, value in entries.items():
            if index >= len(self.names):
                raise ValueError(f"there is no attribute {index}; {len(self.names)} are declared, from 0.")
            name = self.names[index]
            if index == self._label_index or name not in self._encoder.kinds:
                continue
            allowed = self.declared.get(name) if self._kind(name) == CATEGORY else None
            if allowed is not None and value not in allowed and not self.missing.covers(value):
                raise ValueError(self._attribute(name), f"{value[:40]!r} is not one of its declared values.")
            row[name] = value
        return row

    def _attribute(self, name: str) -> str:
        return f"attribute {self.names.index(name)} ({format_names([name])!r})"

    def _finish(self, cells: Cells, y: np.ndarray | None) -> Rows:
        X, y, times = super()._finish(cells, y)
        if self._is_sparse and self._how == TO_UNIT_LENGTH:
            specialise(unit_rows)(X.indptr, X.data)
        return X, y, times


# --- the head --------------------------------------------------------------------------------------------


def _read_head(buffer: Buffer) -> Head:
    """The attributes, each with its kind or its declared values; the buffer is then at the first row."""
    head: Head = {}
    while True:
        line = buffer.line
        text = buffer.take_line()
        if text is None:
            raise InvalidInput(f"{buffer.name!r} is no ARFF file: it has no @data line.")
        try:
            declaration = text.decode("utf-8").strip()
        except UnicodeDecodeError:
            raise buffer.bad_line(line, None, NOT_UTF8) from None
        word = declaration.split(None, 1)[0].lower() if declaration else ""
        if word == "@attribute":
            try:
                name, kind = _attribute(declaration)
            except ValueError as error:
                raise buffer.bad_line(line, None, str(error)) from None
            if name in head:
                raise buffer.bad_line(line, None, f"the attribute {name!r} is declared twice.")
            head[name] = kind
        elif word == "@data":
            if not head:
                raise buffer.bad_line(line, None, "the data begins, but no attribute was declared.")
            return head
        elif word and word != "@relation" and not word.startswith("%"):
            raise buffer.bad_line(line, None, f"{declaration[:40]!r} stands before @data, and is no declaration.")


def _attribute(declaration: str) -> tuple[str, str | list[str]]:
    parts = _ATTRIBUTE.fullmatch(declaration)
    if parts is None:
        raise ValueError("it declares no attribute that can be read.")
    name, kind = _plain(parts[1]), parts[2].strip()
    if kind.startswith("{"):
        if not kind.endswith("}"):
            raise ValueError(f"the values of {name!r} are not closed with a brace.")
        values, position = [], 1
        while position < len(kind) - 1:
            value = _VALUE.match(kind, position, len(kind) - 1)
            if value is None:
                raise ValueError(f"the values of {name!r} cannot be read from {kind[position:][:20]!r} on.")
            values.append(_plain(value[1]))
            position = value.end()
        if not values:
            raise ValueError(f"the attribute {name!r} is declared without values.")
        return name, values
    word = kind.split(None, 1)[0].lower() if kind else ""
    if word not in (*NUMERIC, *OTHERS):
        raise ValueError(f"the attribute {name!r} is of a type that cannot be read: {kind[:40]!r}.")
    return name, NUMBER if word in NUMERIC else OTHER


def _in_quotes(text: str) -> str:
    """A name or value in quotes."""
    return "'" + re.sub(r"([\\'])", r"\\\1", text) + "'"


def _kind_declared(kind: str | list[str]) -> str:
    """What an attribute is, as a file declares it."""
    if isinstance(kind, list):
        return "{" + ",".join(map(_in_quotes, kind)) + "}"
    return "numeric" if kind == NUMBER else "string"


def _plain(token: str) -> str:
    """A name or value without its quotes."""
    return re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL) if token[0] in "'\"" else token


# --- sparse lines ----------------------------------------------------------------------------------------


def _sparse_entries(line: bytes) -> dict[int, str] | None:
    """The entries of a sparse row; None for an empty line or a comment."""
    try:
        text = line.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise ValueError(NOT_UTF8) from None
    if not text or text.startswith("%"):
        return None
    if "\0" in text:
        raise ValueError("it contains a zero byte, which no text does.")
    if not (text.startswith("{") and text.endswith("}")):
        raise ValueError("it is no sparse row as those before it are: { index value, index value }.")
    entries: dict[int, str] = {}
    position, last = 1, len(text) - 1
    last = len(text[:last].rstrip())
    while position < last:
        entry = _ENTRY.match(text, position, last)
        if entry is None or len(entry[1]) > LONGEST_INDEX:
            raise ValueError(f"there is no 'index value' at {text[position:last][:20]!r}.")
        if int(entry[1]) in entries:
            raise ValueError(f"attribute {int(entry[1])} occurs twice.")
        entries[int(entry[1])] = _plain(entry[2])
        position = entry.end()
    return entries


def _sample(content: bytes) -> Iterator[dict[int, str]]:
    for line in content.splitlines():
        try:
            entries = _sparse_entries(line)
        except ValueError:
            continue
        if entries is not None:
            yield entries


def _begins_sparse(content: bytes) -> bool:
    rows = (line.strip() for line in content.splitlines())
    return next((line.startswith(b"{") for line in rows if line and not line.startswith(b"%")), False)


def _values_by_index(content: bytes) -> dict[int, list[str]]:
    """What the attributes have in some rows, by their numbers; nothing where a value is missing."""
    values: dict[int, list[str]] = {}
    for entries in _sample(content):
        for index, value in entries.items():
            if value != UNKNOWN:
                values.setdefault(index, []).append(value)
    return values
