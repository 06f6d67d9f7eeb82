"""Write events as lines of Vowpal Wabbit's text format."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from askance.atomic import atomic_write
from askance.data.encoding.encoder import Cells
from askance.data.encoding.kinds import SAMPLE_ROWS, TEXT, words
from askance.data.encoding.rows import FieldError, RowFeatures, flatten
from askance.data.formats.stream import Stream
from askance.errors import InvalidInput

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
    yield from _lines_of_fields(_rows_of(X), fields)


def _lines_of_columns(X: Any, namespace: str) -> Iterator[str]:
    for start, stop in zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True):
        columns, values = X.indices[start:stop].tolist(), X.data[start:stop].astype(np.float64)
        if not np.isfinite(values).all():
            raise InvalidInput("X has values that are not finite; leave them out.")
        yield write_numbered(columns, values.tolist(), namespace)


def _rows_of(X: Any) -> Sequence[Mapping[str, Any]]:
    if not isinstance(X, list | tuple):
        import narwhals as nw

        try:
            return list(nw.from_native(X, eager_only=True).iter_rows(named=True))
        except TypeError:
            raise InvalidInput(
                f"X must be an array, a sparse matrix, a table, a list of dicts or of texts, got {type(X).__name__}."
            ) from None
    for row in X:
        if not isinstance(row, Mapping | str):
            raise InvalidInput(f"each event must be a dict or a text, got {type(row).__name__}.")
    return [{"text": row} if isinstance(row, str) else row for row in X]


def _lines_of_fields(rows: Sequence[Mapping[str, Any]], fields: Mapping[str, str] | None) -> Iterator[str]:
    features = RowFeatures(fields, raw=True)
    features.guess_kinds([flatten(row) for row in rows[:SAMPLE_ROWS]])
    for number, row in enumerate(rows):
        try:
            yield write_fields(features, row)
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


# --- one line ----------------------------------------------------------------------------------------------


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
