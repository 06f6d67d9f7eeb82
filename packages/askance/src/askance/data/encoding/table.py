"""Raw events in the forms that programs have them: tables of pandas, polars or Arrow, dictionaries, texts.

Whatever the form, a value becomes what JSON could have given: numbers stay numbers, dates and times become ISO text,
and what is missing becomes None or NaN. From there on, events go the way of the rows of a file: a table as a Parquet
file does, dictionaries as JSON lines do.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, time, timedelta
from os import PathLike
from os.path import isfile
from typing import Any

import numpy as np

from askance.data.encoding.kinds import DateText, format_names
from askance.data.encoding.rows import PLAIN, FieldError, flatten
from askance.data.missing import is_missing
from askance.errors import InvalidInput

TEXT_FIELD = "text"
"""The field of events that are texts and nothing else."""

ONE_EVENT = str, bytes, Mapping
"""What one raw event is, if it is no row of a table."""

FILE_NAME = re.compile(r"\S{1,200}\.[A-Za-z0-9]{1,8}")
"""What may be the name of a file: a single word with an ending."""

MICROSECOND = timedelta(microseconds=1)


# --- one value, one row ----------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A value as one that JSON could have given; times of day and durations are numbers of microseconds.

    >>> from datetime import datetime
    >>> plain(datetime(2026, 5, 1, 10, 3)), plain(np.float32(0.5)), plain((np.int8(1), np.datetime64("NaT")))
    ('2026-05-01 10:03:00', 0.5, [1, None])
    """
    if value.__class__ in PLAIN:
        return value
    if isinstance(value, np.datetime64 | np.timedelta64):
        kind = "datetime64" if isinstance(value, np.datetime64) else "timedelta64"
        return plain(value.astype(f"{kind}[us]").item())
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.item() if isinstance(value, np.generic) else value.tolist())
    if isinstance(value, set | frozenset):  # whose order differs from process to process
        return sorted((plain(inner) for inner in value), key=str)
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, str):
        return "".join(value)  # a text of another class, such as a member of an enumeration
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if is_missing(value):
        return None
    if isinstance(value, time):
        value = timedelta(hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond)
    if isinstance(value, timedelta):
        return value / MICROSECOND
    if isinstance(value, date | int | float):
        return DateText(value) if isinstance(value, date) else value
    try:
        return float(value)  # decimals, fractions
    except (TypeError, ValueError, OverflowError):
        if str(value) == object.__repr__(value):  # an address, no value
            raise ValueError(
                f"nothing can be learned from a value of type {type(value).__name__}; pass a number, a text or a date."
            ) from None
        return str(value)


def flat_row(row: Mapping[Any, Any]) -> dict[str, Any]:
    """The fields of an event by their full names, with plain values."""
    if all(value.__class__ in PLAIN for value in row.values()):
        return flatten(row)
    fields = {}
    for key, value in row.items():
        try:
            fields[key] = plain(value)
        except RecursionError:
            raise FieldError(str(key), "it is nested too deeply, or contains itself.") from None
        except ValueError as error:
            raise FieldError(str(key), str(error)) from None
    return flatten(fields)


# --- many events -----------------------------------------------------------------------------------------


class RawEvents(ABC):
    """Some events in order, as rows or as columns."""

    n_events: int
    names: tuple[str, ...] | None = None
    """The columns of a table; None for events that each have fields of their own."""
    numbers: Mapping[str, np.ndarray] = {}
    """The columns that hold numbers, as float64, NaN where one is missing."""
    has_names = False
    """Whether the columns were called by text, rather than by number."""
    dates: frozenset[str] = frozenset()
    """The columns that hold dates and times."""
    are_texts = False
    """Whether each event is a text and nothing else."""

    @abstractmethod
    def rows(self, stop: int | None = None, without: Iterable[str] = ()) -> Iterator[dict[str, Any]]:
        """The fields of each event, up to one of them, some columns left out. A FieldError for a row that has none."""

    def arrange(self, names: Sequence[str]) -> None:
        """Put the columns of a table into this order."""
        raise NotImplementedError("only a table has an order")

    @abstractmethod
    def pop(self, name: str) -> list[Any]:
        """Take a field out of all events, such as the label, and return its values."""

    @abstractmethod
    def leave_out(self, name: str) -> None:
        """Take a field out of the events that have it."""

    @abstractmethod
    def top_names(self) -> Iterator[str]:
        """The names of the fields, those inside others not among them, one event after the other."""


class RawRows(RawEvents):
    """Events as dictionaries, or as texts.

    Examples
    --------
    >>> list(RawRows([{"size": 3, "from": {"country": "NO"}}, "you won"]).rows())
    [{'size': 3, 'from.country': 'NO'}, {'text': 'you won'}]
    """

    def __init__(self, rows: Sequence[Any]) -> None:
        self._rows = [_fields_of(row, number) for number, row in enumerate(rows)]
        self.n_events = len(self._rows)
        self.are_texts = len(rows) > 0 and not any(isinstance(row, Mapping) for row in rows)

    def rows(self, stop: int | None = None, without: Iterable[str] = ()) -> Iterator[dict[str, Any]]:
        for row in self._rows[:stop]:
            yield flat_row(row)

    def pop(self, name: str) -> list[Any]:
        if not any(name in row for row in self._rows):
            names = dict.fromkeys(str(field) for row in self._rows[:100] for field in row)
            raise no_label(name, names)
        values = [row.get(name) for row in self._rows]
        self.leave_out(name)
        return values

    def leave_out(self, name: str) -> None:
        self._rows = [
            {key: value for key, value in row.items() if key != name} if name in row else row for row in self._rows
        ]

    def top_names(self) -> Iterator[str]:
        return (str(name) for row in self._rows for name in row)


class TableEvents(RawEvents):
    """Events as the rows of a table with named columns.

    Parameters
    ----------
    columns : mapping
        By name: an array of float64, NaN where a number is missing, or a list of anything else.
    dates : iterable of str
        The columns that hold dates and times.
    whole : mapping
        What the numbers of ``columns`` were before they became floats, if they must be written as text.

    Examples
    --------
    >>> table = TableEvents({"size": np.array([3.0, np.nan]), "city": ["Oslo", None]})
    >>> list(table.rows())
    [{'size': 3.0, 'city': 'Oslo'}, {'size': nan, 'city': None}]
    """

    def __init__(
        self,
        columns: Mapping[str, np.ndarray | list[Any]],
        dates: Iterable[str] = (),
        whole: Mapping[str, Any] | None = None,
    ) -> None:
        if not columns:
            raise InvalidInput("X has no columns, so that there is nothing to learn from.")
        self._columns = dict(columns)
        self._whole = dict(whole or {})
        self.dates = frozenset(dates)
        self._arrange()
        self.n_events = len(next(iter(columns.values())))

    def arrange(self, names: Sequence[str]) -> None:
        self._columns = {name: self._columns[name] for name in names}
        self._arrange()

    def _arrange(self) -> None:
        self.names = tuple(self._columns)
        self.numbers = {name: column for name, column in self._columns.items() if isinstance(column, np.ndarray)}

    def rows(self, stop: int | None = None, without: Iterable[str] = ()) -> Iterator[dict[str, Any]]:
        left_out = set(without)
        names = [name for name in self._columns if name not in left_out]
        columns = [self._values(name)[:stop] for name in names]
        if not columns:
            yield from ({} for _ in range(self.n_events if stop is None else min(stop, self.n_events)))
        for values in zip(*columns, strict=True):
            yield flat_row(dict(zip(names, values, strict=True)))

    def _values(self, name: str) -> list[Any]:
        column = self._columns[name]
        if not isinstance(column, np.ndarray):
            return column
        found = self._whole.get(name, column)
        return list(found.to_list() if hasattr(found, "to_list") else found.tolist())

    def pop(self, name: str) -> list[Any]:
        if name not in self._columns:
            raise no_label(name, self._columns)
        values = self._values(name)
        if len(self._columns) == 1:
            raise InvalidInput(f"X has no column beside the label {name!r}, so that there is nothing to learn from.")
        self.leave_out(name)
        return values

    def leave_out(self, name: str) -> None:
        self._columns.pop(name, None)
        self._arrange()

    def top_names(self) -> Iterator[str]:
        return iter(self._columns)


def _fields_of(event: Any, number: int) -> Mapping[Any, Any]:
    """One of several events as its fields."""
    if isinstance(event, Mapping):
        return event
    if isinstance(event, str | bytes) or is_missing(event):
        return {TEXT_FIELD: event}
    raise InvalidInput(f"row {number} of X is {_shorten(event)}; each event is a dict of fields, or a text.")


def no_label(name: str, names: Iterable[str]) -> InvalidInput:
    """The error for a label that no event has."""
    return InvalidInput(f"X has no column {name!r} to be the label; there are: {format_names(names)}.")


def _two_columns(name: str) -> InvalidInput:
    return InvalidInput(f"X has two columns called {name!r}; rename or drop one.")


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


# --- from what a user passes -----------------------------------------------------------------------------


def is_table(X: Any) -> bool:
    """Whether this is a table with named columns, of whatever library."""
    has_names = hasattr(type(X), "columns") or hasattr(type(X), "column_names")  # of a type: it may have to be computed
    if is_hugging_face(X):
        return True
    readable = hasattr(X, "__dataframe__") or hasattr(X, "__arrow_c_stream__") or hasattr(X, "collect")
    return has_names and readable and not _is_array_in_a_frame(X)


def is_hugging_face(X: Any) -> bool:
    """Whether this is a data set of Hugging Face's ``datasets``, alone, several by name, or streamed."""
    return type(X).__module__.partition(".")[0] == "datasets" and hasattr(X, "with_format")


def _arrow_table(X: Any) -> Any:
    """The rows of a Hugging Face data set, in its order, as an Arrow table."""
    if isinstance(X, Mapping):
        raise InvalidInput(
            f"X has several splits, {format_names(map(str, X))}; pass one of them, such as X[{next(iter(X))!r}]."
        )
    if not hasattr(X, "num_rows"):
        raise InvalidInput(
            "X is streamed, and has no length; pass its pieces, an iterator of batches (X, y), or a Dataset."
        )
    return X.with_format("arrow")[:]


def _is_array_in_a_frame(X: Any) -> bool:
    """Whether this is what ``pandas.DataFrame(array)`` gives: numbers without names, which are an array's columns."""
    if hasattr(X, "collect"):  # its columns would have to be computed
        return False
    columns, dtypes = getattr(X, "columns", None), getattr(X, "dtypes", None)
    return (
        getattr(getattr(columns, "dtype", None), "kind", "") in "iu"
        and dtypes is not None
        and len(dtypes) > 0
        and all(getattr(kind, "kind", "O") in "biuf" for kind in dtypes)
    )


def is_raw(X: Any) -> bool:
    """Whether these are several raw events, rather than rows of numbers."""
    if isinstance(X, RawEvents):
        return True
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and len(X) > 0 and (X.dtype.names is not None or isinstance(X[0], ONE_EVENT))
    if is_table(X):
        return True
    if _is_series(X):
        return is_raw(X.to_numpy())
    if _is_arrow_array(X):
        return is_raw(X[: X.null_count + 1].to_pylist())
    return isinstance(X, Sequence | deque) and isinstance(next((x for x in X if x is not None), None), ONE_EVENT)


def is_raw_event(x: Any) -> bool:
    """Whether this is one raw event."""
    return isinstance(x, ONE_EVENT) or is_table(x)


def is_one_event(X: Any) -> bool:
    """Whether this is a dict or a text in a place where several events may stand. Refuses a dict of columns, and the
    name of a file."""
    check_no_file(X)
    if not isinstance(X, ONE_EVENT) or hasattr(X, "shape") or is_table(X):  # SciPy's matrix by keys is a dict
        return False
    if isinstance(X, Mapping) and X:
        columns = [value for value in X.values() if hasattr(value, "__len__") and not isinstance(value, ONE_EVENT)]
        lengths = {len(column) for column in columns}
        if len(columns) == len(X) > 1 and len(lengths) == 1 and lengths.pop() > 1:
            raise InvalidInput(
                "X is a dict of columns; pass a table, such as pandas.DataFrame(X), or a list with a dict for each "
                "event."
            )
    return True


def check_no_file(X: Any) -> None:
    """Refuse the name of a file in the place of events."""
    if isinstance(X, PathLike) or (isinstance(X, str) and FILE_NAME.fullmatch(X) and isfile(X)):
        raise InvalidInput(
            f"X is {str(X)!r}, the name of a file; pass its events, such as those of pandas.read_csv, or play it with "
            "'askance run'."
        )


def is_row(x: Any) -> bool:
    """Whether this is a row of a table with the names of its columns, as pandas gives it."""
    return _is_series(x) and hasattr(x, "index") and hasattr(x, "to_dict")


def _is_series(X: Any) -> bool:
    return hasattr(X, "to_numpy") and hasattr(X, "name") and not hasattr(X, "columns")


def _is_arrow_array(X: Any) -> bool:
    return hasattr(X, "to_pylist") and hasattr(X, "null_count") and not hasattr(X, "columns")


def _as_rows(X: Any) -> Sequence[Any]:
    """Events that are no table, one by one."""
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        return [dict(zip(X.dtype.names, row, strict=True)) for row in X]
    if _is_arrow_array(X):
        rows: list[Any] = X.to_pylist()
        return rows
    return list(X.to_list() if _is_series(X) else X)


def read_raw(X: Any) -> RawEvents:
    """Several raw events of any form."""
    if isinstance(X, RawEvents):
        return X
    if not is_table(X):
        return RawRows(_as_rows(X))
    import narwhals as nw

    if is_hugging_face(X):
        X = _arrow_table(X)
    if type(X).__name__ == "RecordBatch":  # what Arrow reads files in, which narwhals does not know
        import pyarrow  # type: ignore[import-untyped,unused-ignore]

        X = pyarrow.Table.from_batches([X])
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        what = type(X).__name__
        raise InvalidInput(f"a {what} has no rows before it is computed; pass what its collect() gives.") from None
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in X.columns]
        raise _two_columns(next(name for name in names if names.count(name) > 1)) from None
    columns: dict[str, np.ndarray | list[Any]] = {}
    dates, whole = [], {}
    for column in frame.iter_columns():
        name, kind = str(column.name), column.dtype
        if name in columns:
            raise _two_columns(name)
        if isinstance(kind, nw.Duration):
            lengths = column.to_numpy()
            columns[name] = np.where(np.isnat(lengths), np.nan, lengths.astype(np.int64).astype(np.float64))
        elif (kind.is_numeric() and not isinstance(kind, nw.Decimal)) or isinstance(kind, nw.Boolean):
            # Arrow casts no whole number to the nearest float, but gives it as it is.
            numbers = column.cast(nw.Float64) if isinstance(kind, nw.Boolean) else column
            columns[name] = np.array(numbers.to_numpy(), np.float64)
            whole[name] = column
        else:
            try:
                columns[name] = column.to_list()
            except ValueError as error:  # such as a time zone that Arrow takes for one, and Python does not
                raise InvalidInput(f"the column {name!r} of X cannot be read: {str(error).rstrip('.')}.") from None
        if isinstance(kind, nw.Datetime | nw.Date):
            dates.append(name)
    table = TableEvents(columns, dates, whole)
    table.has_names = all(isinstance(name, str) for name in frame.columns)
    return table


def read_event(x: Any) -> dict[str, Any]:
    """The fields of one raw event: a dictionary, a text, a row of a table, or a table of one row."""
    if is_row(x):
        x = x.to_dict()
    if is_table(x) or isinstance(x, TableEvents):
        table = read_raw(x)
        if table.n_events != 1:
            raise InvalidInput(f"one event is a table of one row, got {table.n_events:,} rows.")
        rows = table.rows()
    else:
        rows = RawRows([x]).rows()
    try:
        return next(rows)
    except FieldError as error:
        raise InvalidInput(str(error)) from None
