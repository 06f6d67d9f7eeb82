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
as it is. A label that is absent is missing; the tag is the row's id. An importance is told in ``batch.weights``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from askance.data.encoding.assemble import csr, rows_of
from askance.data.encoding.hashing import Hasher, hash_of
from askance.data.encoding.kinds import LARGEST, SAMPLE_ROWS, number_in, why_not_a_number
from askance.data.formats.buffer import Buffer, format_token
from askance.data.formats.labels import as_array
from askance.data.formats.read_options import ReadOptions
from askance.data.formats.source import Source
from askance.data.formats.sparse import AS_IT_IS, STANDARDISED, WIDEST_TABLE, SparseScaling
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
        for place, section in enumerate(rest.split(b"|")):
            tokens = section.split()
            seed, weight = 0, 1.0
            if section[:1].strip():  # the name of a namespace touches the bar
                name, colon, written = tokens[0].partition(b":")
                if not name:
                    raise LineError(f"the namespace {format_token(tokens[0])} has no name.")
                seed = self.hash(name, 0)
                weight = _number(tokens[0], written) if colon else 1.0
                del tokens[0]
            self._add(features, tokens, place, seed, weight)
        return features

    def _add(self, features: Features, tokens: list[bytes], place: int, seed: int, weight: float) -> None:
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
                features.namespaces.append(place)


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
            place = np.searchsorted(self._numbers, columns)
            is_number = self._numbers[np.minimum(place, len(self._numbers) - 1)] == columns
            columns = np.where(is_number, place, columns + len(self._numbers))
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

    def most_rows(self, batch_rows: int) -> int:
        """How many rows a batch may have so that its memory stays small."""
        return self._scaling.most_rows(batch_rows)

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
        """What was learned from the rows so far."""
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
        entries, most_rows = 0, self._scaling.most_rows(self.options.batch_rows)
        for place in range(len(self.source)):
            if place:
                self._buffer = self._open_text(place)
            for number, line in self._buffer.lines():
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
                    self.origins.add(place, (number,), (head.tag or None,))
                if len(rows) >= most_rows or entries >= BATCH_ENTRIES:
                    yield self._finish(rows, labels, weights)
                    rows, labels, weights, entries = [], [], [], 0
        self.close()
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
