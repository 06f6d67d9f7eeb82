"""The formats that streams come in: each is declared here, once, with its endings, its options and its reader.

Readers are imported when a file is opened, so that the command line can name the formats at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from askance.stream.batch import Settings, Stream
    from askance.stream.source import Source

State = Mapping[str, Any] | None


class FormatOptions(NamedTuple):
    """What a user may say of some formats only; None where nothing was said."""

    header: bool | None
    delimiter: str | None
    quote: str | None
    zero_based: bool | None
    encoding: str | None
    na_values: Any


class FileFormat(NamedTuple):
    """How files of one format are known and read."""

    suffixes: tuple[str, ...]
    holds: str
    """What such a file has in it, for the docs."""
    read: Callable[[Source, Settings, FormatOptions, State], Stream]
    options: tuple[str, ...] = ()
    """Those of the ``FormatOptions`` that mean something for it."""


def read_csv(
    place: Source, settings: Settings, options: FormatOptions, state: State, usual: str | None = None
) -> Stream:
    from askance.stream.csv import CsvStream

    delimiter = usual if options.delimiter is None else options.delimiter
    return CsvStream(place, settings, options.header, delimiter, '"' if options.quote is None else options.quote, state)


def read_tsv(place: Source, settings: Settings, options: FormatOptions, state: State) -> Stream:
    return read_csv(place, settings, options, state, "\t")


def read_libsvm(place: Source, settings: Settings, options: FormatOptions, state: State) -> Stream:
    from askance.stream.libsvm import LibsvmStream

    return LibsvmStream(place, settings, options.zero_based, state)


def read_jsonl(place: Source, settings: Settings, options: FormatOptions, state: State) -> Stream:
    from askance.stream.json_array import objects_of_array
    from askance.stream.jsonl import JsonlStream
    from askance.stream.source import Converted

    return JsonlStream(Converted(place, objects_of_array, "object"), settings, state)


def read_arff(place: Source, settings: Settings, options: FormatOptions, state: State) -> Stream:
    from askance.stream.arff import ArffStream

    return ArffStream(place, settings, state)


def read_npz(place: Source, settings: Settings, options: FormatOptions, state: State) -> Stream:
    from askance.stream.npz import open_npz

    return open_npz(place, settings, state)


def read_parquet(place: Source, settings: Settings, options: FormatOptions, state: State) -> Stream:
    from askance.stream.parquet import ParquetStream

    return ParquetStream(place, settings, state)


def read_feather(place: Source, settings: Settings, options: FormatOptions, state: State) -> Stream:
    from askance.stream.parquet import FeatherStream

    return FeatherStream(place, settings, state)


def read_vw(place: Source, settings: Settings, options: FormatOptions, state: State) -> Stream:
    from askance.stream.vw import VwStream

    return VwStream(place, settings, state)


OF_TABLES = ("header", "delimiter", "quote", "encoding", "na_values")
NEEDS_PYARROW = "needs `pip install 'askance[parquet]'`"
FORMATS: dict[str, FileFormat] = {
    "libsvm": FileFormat(
        (".libsvm", ".svmlight", ".svm"),
        "`label index:value ...`; comments, `qid:`, any order of indices; repeated ones are added",
        read_libsvm,
        ("zero_based", "encoding"),
    ),
    "csv": FileFormat(
        (".csv",),
        "delimiter and line of names are found; quotes may enclose delimiters and line ends",
        read_csv,
        OF_TABLES,
    ),
    "tsv": FileFormat((".tsv", ".tab"), "the same, with tabs", read_tsv, OF_TABLES),
    "jsonl": FileFormat(
        (".jsonl", ".ndjson", ".json"),
        "one object per line, nested as it may be, or one array of objects",
        read_jsonl,
        ("encoding", "na_values"),
    ),
    "arff": FileFormat((".arff",), "Weka's format, dense and sparse", read_arff, ("encoding", "na_values")),
    "npz": FileFormat(
        (".npz",), "`X` dense, or `data`, `indices`, `indptr`, `shape` of a CSR matrix; labels in `y`", read_npz
    ),
    "parquet": FileFormat((".parquet", ".pq"), f"columns of a table; {NEEDS_PYARROW}", read_parquet, ("na_values",)),
    "vw": FileFormat(
        (".vw",),
        "Vowpal Wabbit's text; see [its lines](streams.md#lines-of-vowpal-wabbit)",
        read_vw,
        ("encoding",),
    ),
    "feather": FileFormat(
        (".feather", ".arrow", ".ipc"), f"Arrow's own files; {NEEDS_PYARROW}", read_feather, ("na_values",)
    ),
}
SUFFIXES = {suffix: name for name, declared in FORMATS.items() for suffix in declared.suffixes}


def list_formats(names: list[str], last: str = "or") -> str:
    """Formats in words.

    >>> list_formats(["csv", "tsv", "jsonl"])
    'csv, tsv or jsonl'
    """
    return f" {last} ".join(filter(None, (", ".join(names[:-1]), names[-1])))
