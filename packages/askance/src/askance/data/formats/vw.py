"""Vowpal Wabbit's text format: one event per line,

    [label [importance]] [tag]|namespace[:weight] feature[:value] ... |namespace ...

The tag touches the first bar or begins with ``'``. A feature without a value has 1; the weight of a namespace is a
factor of its features' values. ``name:word`` is an indicator of the word, ``:value`` a feature without a name. Columns
are those that ``vw -b hash_bits`` has:

    column = murmur3(feature, seed=murmur3(namespace)) mod 2^hash_bits

where a name of digits alone stands for its number, added to the seed.

By the first rows, features whose value is written, and not
1, are numbers: up to 1000 of them are standardised as they run, an absent one being a zero. All others, and numbers if
there are more, are treated as words are: those of one namespace are divided by their length. ``raw`` leaves everything
as it is. A label that is absent is missing; the tag is the row's id. Importances are in ``batch.weights``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from askance.atomic import atomic_write
from askance.data.encoding.assemble import csr, rows_of
from askance.data.encoding.encoder import Cells
from askance.data.encoding.hashing import Hasher, hash_of
from askance.data.encoding.kinds import LARGEST, SAMPLE_ROWS, TEXT, number_in, why_not_a_number, words
from askance.data.encoding.rows import FieldError, RowFeatures, flatten
from askance.data.encoding.scaling import AS_IT_IS, STANDARDISED, WIDEST_TABLE, SparseScaling
from askance.data.encoding.table import is_raw, read_raw
from askance.data.formats.buffer import Buffer, format_token
from askance.data.formats.labels import as_array
from askance.data.formats.read_options import ReadOptions
from askance.data.formats.source import Source
from askance.data.formats.stream import BATCH_ENTRIES, Field, Rows, Stream
from askance.errors import BadLine, InvalidInput

# --- lines -----------------------------------------------------------------------------------------------

MOST_KNOWN = 1 << 19  # names whose columns are remembered
WORD = 1 << 32
DIGITS = 32  # the last ones of a number, which alone decide what is left of it modulo 2^32
NO_BAR = "there is no | before the features."


class LineError(ValueError):
    """What is wrong with a line, and at which of its columns, counted from 1."""

    def __init__(self, reason: str, column: int | None = None) -> None:
        super().__init__(reason)
        self.column = column


class Head(NamedTuple):
    """What stands before the features."""

    label: str | None
    importance: float
    tag: str


class Features(NamedTuple):
    """The features of a line, in its order."""

    columns: list[int]
    values: list[float]
    namespaces: list[int]
    """The number of each one's namespace in the line, from 0."""
    numbers: list[int]
    """The columns whose value is written and is not 1."""


def split_line(line: bytes) -> tuple[bytes, bytes]:
    """What stands before the first bar, and what after it."""
    head, bar, rest = line.partition(b"|")
    if not bar:
        raise LineError(NO_BAR)
    return head, rest


def read_head(head: bytes, *, third_is_tag: bool = False) -> Head:
    """Label, importance and tag of a line; with ``third_is_tag``, a third word is the tag, however it is written.

    >>> read_head(b"1 2.5 'mail7"), read_head(b"-1 "), read_head(b"mail8")
    (Head(label='1', importance=2.5, tag='mail7'), Head(label='-1', importance=1.0, tag=''), \
Head(label=None, importance=1.0, tag='mail8'))
    """
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LineError("it is not UTF-8 text.", error.start + 1) from None
    _, _, after_tab = text.partition("\t")  # before which Vowpal Wabbit reads nothing
    found = (after_tab if after_tab.strip() else text).split()
    tag = ""
    if found and (found[-1].startswith("'") or not text[-1].isspace() or (third_is_tag and len(found) == 3)):
        tag = found.pop().removeprefix("'")
    if len(found) > 3:
        raise LineError(f"{len(found)} words stand before the features, but a line has a label, an importance, a tag.")
    if len(found) == 3:
        if number_in(found[2]) is not None:
            raise LineError(f"the initial prediction {found[2]!r} is not supported; write a tag as '{found[2]}.")
        tag = found.pop()
    if found and ":" in found[0]:
        raise LineError(f"the label {found[0][:40]!r} has costs or actions; a label here is one class.")
    importance = 1.0
    if len(found) > 1:
        number = number_in(found[1])
        if number is None or number < 0.0:
            raise LineError(f"the importance {found[1][:40]!r} is not a number of 0 or more.")
        importance = number
    return Head(found[0] if found else None, importance, tag)


class Namespaces:
    """From the names of features to columns, as Vowpal Wabbit hashes them.

    Parameters
    ----------
    bits : int
        There are ``2**bits`` columns.

    Examples
    --------
    >>> Namespaces(18).read(b"f 13:0.5 prize |sender shop").columns
    [34888, 205568, 17688]
    """

    def __init__(self, bits: int) -> None:
        self.mask = int(Hasher(bits).mask)
        self._known: dict[tuple[int, bytes], int] = {}

    def hash(self, name: bytes, seed: int) -> int:
        """The 32-bit hash of a name."""
        key = seed, name
        found = self._known.get(key)
        if found is None:
            found = (int(name[-DIGITS:]) + seed) % WORD if name.isdigit() else hash_of(name, seed)
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[key] = found
        return found

    def read(self, rest: bytes) -> Features:
        """The features that stand after the first bar."""
        features = Features([], [], [], [])
        for namespace, section in enumerate(rest.split(b"|")):
            tokens = section.split()
            seed, weight = 0, 1.0
            if section[:1].strip():  # the name of a namespace touches the bar
                name, colon, written = tokens[0].partition(b":")
                if not name:
                    raise LineError(f"the namespace {format_token(tokens[0])} has no name.")
                seed = self.hash(name, 0)
                weight = _number(tokens[0], written) if colon else 1.0
                del tokens[0]
            self._add(features, tokens, namespace, seed, weight)
        return features

    def _add(self, features: Features, tokens: list[bytes], namespace: int, seed: int, weight: float) -> None:
        without_name = 0
        for token in tokens:
            name, colon, written = token.partition(b":")
            value = weight
            column = self.hash(name, seed) if name else seed
            if colon:
                number = _as_float(token, written)
                if number is None:  # a word, whose indicator no weight changes
                    column, value = self.hash(written, column), 1.0
                else:
                    value = number * weight
                    if not name:
                        column = seed + without_name
                        without_name += 1
                    if value != value:  # missing
                        continue
                    if abs(value) > LARGEST:
                        raise LineError(
                            f"the value of {format_token(token)} is too large (beyond 1e150): "
                            "sums of its squares overflow."
                        )
                    if number != 1.0:
                        features.numbers.append(column & self.mask)
            if value != 0.0:
                features.columns.append(column & self.mask)
                features.values.append(value)
                features.namespaces.append(namespace)


def _as_float(token: bytes, written: bytes) -> float | None:
    """The value after the colon; NaN if it is missing, None if it is a word."""
    try:
        value = float(written)
    except ValueError:
        if not written:
            raise LineError(f"there is no value after the colon of {format_token(token)}.") from None
        return None
    if b"_" in written:  # which Python reads in numbers
        return None
    if abs(value) == float("inf"):
        raise LineError("the value " + why_not_a_number(written.decode()))
    return value


def _number(token: bytes, written: bytes) -> float:
    number = number_in(written.decode("utf-8", "replace"))
    if number is None:
        raise LineError(f"the weight of the namespace {format_token(token)} is not a number.")
    return number


FORMAT = "vw"


class HashedScaling:
    """What is done to the values of hashed features; numbers have columns of their own, before the hashed ones."""

    def __init__(self, bits: int, raw: bool, frozen: bool = False) -> None:
        self.bits, self.frozen = bits, frozen
        self._numbers = np.zeros(0, np.int64)
        self._scaling = SparseScaling(raw, frozen)

    @property
    def how(self) -> str:
        """What is done, in words."""
        return "numbers standardised, others to unit length" if self._scaling.how == STANDARDISED else self._scaling.how

    @property
    def is_settled(self) -> bool:
        """Whether it is known what to do."""
        return self._scaling.is_settled

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self._numbers) + 2**self.bits

    def settle(self, rows: Sequence[Features]) -> None:
        """Decide, by the first rows, which features are numbers, and what to do."""
        if self.is_settled:
            return
        numbers = np.unique(np.array([column for row in rows for column in row.numbers], np.int64))
        if 0 < len(numbers) <= WIDEST_TABLE:
            self._numbers = numbers
            self._scaling.settle(np.zeros(1), len(numbers))
        else:
            self._scaling.settle(np.ones(1), 1)

    def restart(self) -> None:
        """Forget the statistics, but not what is to be done."""
        self._scaling.restart()

    def matrix(self, rows: Sequence[Features], as_next: bool = False) -> Any:
        """Rows as a CSR matrix, scaled; with ``as_next``, each as if it came next, and nothing is remembered of it."""
        lengths = [len(row.columns) for row in rows]
        at = np.repeat(np.arange(len(rows), dtype=np.int32), lengths)
        columns, values, namespaces = (
            np.array([item for row in rows for item in row[part]], kind)
            for part, kind in ((0, np.int64), (1, np.float64), (2, np.int64))
        )
        is_number = np.zeros(len(columns), np.bool_)
        if len(self._numbers):
            index = np.searchsorted(self._numbers, columns)
            is_number = self._numbers[np.minimum(index, len(self._numbers) - 1)] == columns
            columns = np.where(is_number, index, columns + len(self._numbers))
        if self._scaling.how != AS_IT_IS and len(values):
            begins = (np.diff(at, prepend=at[0]) != 0) | (np.diff(namespaces, prepend=namespaces[0]) != 0)
            group = np.cumsum(begins)  # those of a namespace of a row stand side by side
            lengths_of = np.sqrt(np.bincount(group[~is_number], values[~is_number] ** 2, int(group[-1]) + 1))
            values = np.where(is_number, values, values / np.where(is_number, 1.0, lengths_of[group]))
        arrays = rows_of(at, columns.astype(np.int32), values, len(rows))
        if self._scaling.how != STANDARDISED:
            return csr(*arrays, self.width)
        self._scaling.frozen = self.frozen or as_next
        return self._scaling.matrix(*arrays, self.width)

    @property
    def n_standardised(self) -> int:
        """How many features are standardised, each of which every row then has."""
        return self._scaling.n_standardised

    def to_dict(self) -> dict[str, Any]:
        """All it knows, for ``from_dict``."""
        return {"hash_bits": self.bits, "numbers": self._numbers.tolist(), **self._scaling.to_dict()}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any], frozen: bool = False) -> HashedScaling:
        """What ``to_dict`` gave, also after a way through JSON."""
        try:
            new = cls(Namespaces(kept["hash_bits"]).mask.bit_length(), False, frozen)
            new._numbers = np.array(kept["numbers"], np.int64).reshape(-1)
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"this is no saved state of a stream of vw lines: {error!r}.") from None
        new._scaling = SparseScaling.from_dict(kept, frozen)
        is_sorted = bool((np.diff(new._numbers, prepend=-1) > 0).all())
        if not is_sorted or new._numbers.max(initial=0) >= 2**new.bits:
            raise InvalidInput("the saved state of a stream of vw lines is damaged: its numbers are no columns.")
        return new


class VwStream(Stream):
    """The rows of files in Vowpal Wabbit's text format."""

    has_lines = True
    kept_as = "vw"

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        self._has_labels = options.label is not False
        self._scaling = HashedScaling(options.hash_bits, options.raw)
        state = options.state
        if state is not None:
            self._check_format(state, FORMAT, "has lines of Vowpal Wabbit")
            self._scaling = HashedScaling.from_dict(state, options.frozen)
            self.labels.kind = self.labels.kind or state.get("labels")
        self._namespaces = Namespaces(self._scaling.bits)
        self._weighted_rows = 0
        self._buffer = self._open_text(0)
        self._look_at_first_rows()

    @property
    def fields(self) -> list[Field]:
        """One entry that stands for all features, and the label."""
        label = [Field("label", "label")] if self._has_labels else []
        return [*label, Field(f"hashed features, {self._scaling.how}", "sparse")]

    def state(self) -> dict[str, Any]:
        return {"format": FORMAT, "labels": self.labels.kind, **self._scaling.to_dict()}

    def _id_field(self) -> str | None:
        return "tag"

    def _restart(self) -> None:
        self._scaling.restart()
        self._weighted_rows = 0
        self._buffer = self._open_text(0)

    def _look_at_first_rows(self) -> None:
        """Settle what the labels are and how to scale, by the first lines."""
        heads, rows = [], []
        for _, line in Buffer.of(self._buffer.first_lines(SAMPLE_ROWS), self.name).lines():
            if isinstance(line, bytes) and line.strip():
                try:
                    head, features = self.read(line)
                except LineError:
                    continue
                heads.append(head)
                rows.append(features)
        self.labels.settle(head.label for head in heads)
        self._scaling.settle(rows)

    def read(self, line: bytes) -> tuple[Head, Features]:
        """What stands in a line."""
        head, rest = split_line(line)
        return read_head(head), self._namespaces.read(rest)

    def _rows(self) -> Iterator[Rows]:
        rows: list[Features] = []
        labels: list[Any] = []
        weights: list[float] = []
        entries, most_rows = 0, self._rows_per_batch(self._scaling.n_standardised)
        for buffer in self._open_each_text():
            for number, line in buffer.lines():
                if isinstance(line, bytes) and not line.strip():
                    continue
                try:
                    if isinstance(line, BadLine):
                        raise line
                    head, features = self.read(line)
                    label = None if head.label is None or not self._has_labels else self.labels.of(head.label)
                except ValueError as error:
                    self._refuse(error, number, line)
                    continue
                rows.append(features)
                labels.append(label)
                weights.append(head.importance)
                entries += len(features.columns)
                if self.origins is not None:
                    self.origins.add(self._file_index, (number,), (head.tag or None,))
                if len(rows) >= most_rows or entries >= BATCH_ENTRIES:
                    yield self._finish(rows, labels, weights)
                    rows, labels, weights, entries = [], [], [], 0
        if rows:
            yield self._finish(rows, labels, weights)

    def _finish(self, rows: list[Features], labels: list[Any], weights: list[float]) -> Rows:
        self._kept_weights = np.array(weights)
        self._weighted_rows += int((self._kept_weights != 1.0).sum())
        return self._scaling.matrix(rows), as_array(labels, self.labels.kind) if self._has_labels else None, None

    def _refuse(self, error: ValueError, number: int, line: bytes | BadLine) -> None:
        if not isinstance(error, BadLine):
            column = getattr(error, "column", None)
            error = self._buffer.bad_line(number, None if column is None else f"column {column}", str(error))
            error.raw = line if isinstance(line, bytes) else None
        self.refuse(error)

    @property
    def warnings(self) -> list[str]:
        """What a user should know of the importances."""
        if not self._weighted_rows:
            return []
        return [
            f"{self._weighted_rows:,} events of {self.name!r} have an importance other than 1, which only counts where "
            "given labels are learned (partial_fit, with batch.weights as sample_weight); here every event counts once."
        ]


# --- write events as such lines ---------------------------------------------------------------------------

SPECIAL = str.maketrans(dict.fromkeys(":| \t\r\n\v\f", "_"))


def write_vw(
    path: str | os.PathLike[str],
    X: Any,
    y: Iterable[Any] | None = None,
    *,
    importance: Iterable[float] | None = None,
    tags: Iterable[Any] | None = None,
    namespace: str = "",
    fields: Mapping[str, str] | None = None,
) -> int:
    """Write events to a file that ``vw`` reads, and ``open_stream`` too; returns how many there are.

    Parameters
    ----------
    path : str or path
        The file, which appears when it is complete.
    X : 2-D array, sparse matrix, table, list of dicts, list of texts, or Stream
        The events. Columns are features by their number. Fields with names are as their kinds say: numbers stand in the
        namespace without a name, every other field in one of its own. A ``Stream``, opened with ``raw=True`` and
        ``keep_rows=True``, has the labels, and the ids as tags, itself.
    y : labels, optional
        None for one that is missing.
    importance : numbers, optional
        The importance of each label, 1 unless given; such as ``trace.weight`` of bought labels.
    tags : words, optional
        The tag of each event.
    namespace : str, optional
        The namespace of numbered features.
    fields : dict, optional
        Kinds of fields by name; the others are guessed from the first 1000 rows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "mail.vw")
    ...     rows = [{"size": 1200, "text": "Win a prize"}, {"size": 350, "text": "Lunch on Friday?"}]
    ...     n_events = write_vw(path, rows, ["1", "-1"], tags=["m1", "m2"])
    ...     print(path.read_text(), end="")
    1 'm1| size:1200.0 |text win a prize
    -1 'm2| size:350.0 |text lunch on friday
    """
    if isinstance(X, Stream):
        lines = _lines_of_stream(X, namespace)
    else:
        lines = _lines(_features_of(X, fields, namespace), y, importance, tags)
    written = 0
    with atomic_write(Path(path)) as name, open(name, "w", encoding="utf-8", errors="surrogatepass") as file:
        for line in lines:
            file.write(line + "\n")
            written += 1
    return written


def _lines(features: Iterable[str], y: Any, importance: Any, tags: Any) -> Iterator[str]:
    columns = (repeat(None) if column is None else column for column in (y, importance, tags))
    features = list(features)
    y, importance, tags = (column if isinstance(column, repeat) else list(column) for column in columns)
    for name, column in (("y", y), ("importance", importance), ("tags", tags)):
        if isinstance(column, list) and len(column) != len(features):
            raise InvalidInput(f"there are {len(features):,} events, but {name} has {len(column):,} entries.")
    for line, label, weight, tag in zip(features, y, importance, tags, strict=False):
        yield write_head(label if label is None else _label(label), weight, tag) + line


def _label(label: Any) -> Any:
    """A label as a file has it: 1.0 is 1."""
    number = label.item() if isinstance(label, np.generic) else label
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _features_of(X: Any, fields: Mapping[str, str] | None, namespace: str) -> Iterator[str]:
    from scipy.sparse import csr_array, issparse

    if issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "biuf"):
        if X.ndim != 2:
            raise InvalidInput(f"X must have two dimensions, a row for each event, got {X.ndim}.")
        yield from _lines_of_columns(csr_array(X), namespace)
        return
    yield from _lines_of_fields(X, fields)


def _lines_of_columns(X: Any, namespace: str) -> Iterator[str]:
    for start, stop in zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True):
        columns, values = X.indices[start:stop].tolist(), X.data[start:stop].astype(np.float64)
        if not np.isfinite(values).all():
            raise InvalidInput("X has values that are not finite; leave them out.")
        yield write_numbered(columns, values.tolist(), namespace)


def _lines_of_fields(X: Any, fields: Mapping[str, str] | None) -> Iterator[str]:
    if not (is_raw(X) or isinstance(X, list | tuple)):
        raise InvalidInput(
            f"X must be an array, a sparse matrix, a table, a list of dicts or of texts, got {type(X).__name__}."
        )
    events = read_raw(X)
    features = RowFeatures(fields, raw=True)
    features.guess_kinds(list(events.rows(SAMPLE_ROWS)))
    rows = events.rows()
    for number in range(events.n_events):
        try:
            yield write_fields(features, next(rows))
        except FieldError as error:
            raise InvalidInput(f"row {number}, {error}") from None


def _lines_of_stream(stream: Stream, namespace: str) -> Iterator[str]:
    if not stream.options.raw:
        raise InvalidInput("a stream to be written must be opened with raw=True, which leaves its values as they are.")
    for batch in stream:
        rows: Iterable[str]
        if batch.rows:
            features = RowFeatures.from_dict(stream.state())
            rows = (write_fields(features, row) for row in batch.rows)
        elif "fields" in stream.state():
            raise InvalidInput("a stream of named fields must be opened with keep_rows=True to be written.")
        else:
            rows = _lines_of_columns(batch.X, namespace)
        yield from _lines(rows, batch.y, batch.weights, batch.origins.get("id"))


# --- write one line ----------------------------------------------------------------------------------------------


def plain_name(name: Any) -> str:
    """A name with ``_`` in place of what a line cannot have in names: bars, colons and blanks.

    >>> plain_name("to: me")
    'to__me'
    """
    return str(name).translate(SPECIAL)


def write_head(label: Any = None, importance: float | None = None, tag: Any = None) -> str:
    """Label, importance and tag, as they stand before the first bar."""
    if label is None and importance not in (None, 1.0):
        raise InvalidInput("an importance stands after a label, which is missing.")
    parts = [] if label is None else [plain_name(label)]
    if importance not in (None, 1.0):
        parts.append(repr(float(importance or 0.0)))
    if tag is not None and tag != "":
        return " ".join([*parts, "'" + plain_name(tag)])
    return " ".join(parts) + (" " if parts else "")


def write_numbered(columns: Iterable[int], values: Iterable[float], namespace: str = "") -> str:
    """Features that have numbers for names.

    >>> write_numbered([0, 7], [1.0, 2.5])
    '| 0 7:2.5'
    """
    pairs = (_with_value(str(column), value) for column, value in zip(columns, values, strict=True))
    return " ".join([f"|{plain_name(namespace)}", *pairs])


def _with_value(name: str, value: float) -> str:
    return name if value == 1.0 else f"{name}:{value!r}"


def write_fields(features: RowFeatures, row: Mapping[str, Any]) -> str:
    """Named fields as their kinds say: numbers in the namespace without a name, every other field in one of its own.

    >>> features = RowFeatures({"size": "number", "text": "text"})
    >>> write_fields(features, {"size": 1200, "text": "Win a prize", "sender": "a shop"})
    '| size:1200.0 |text win a prize |sender a_shop'
    """
    cells = Cells()
    flat = flatten(row)
    features.add(cells, flat)
    plan = features.plan_transform(flat)
    found = [" ".join(["|", *(_with_value(_not_digits(name), value) for name, value in plan.numbers)])]
    for name, kind, value in plan.others:
        if kind == TEXT:
            inside = words(features.text_of(name, value))
        else:
            several = value if isinstance(value, list | tuple) else (value,)
            inside = [features.category_of(name, one) or "missing" for one in several]
        if inside:
            found.append(" ".join([f"|{_not_digits(name)}", *map(_not_digits, inside)]))
    return " ".join(found[1:] if found[0] == "|" and len(found) > 1 else found)


def _not_digits(name: str) -> str:
    """A plain name; one of digits alone, which would be the number of a column, has ``_`` before it."""
    plain = plain_name(name)
    return f"_{plain}" if plain.isdigit() else plain
