"""The formats that streams come in: each is declared here, once, with its endings, its options and its reader.

Readers are imported when a file is opened, so that the command line can name the formats at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from askance.data.formats.batch import Stream
    from askance.data.formats.read_options import ReadOptions
    from askance.data.formats.source import Source

OPTIONS_OF_FORMATS = ("header", "delimiter", "quote", "zero_based", "encoding", "na_values")
"""The options of reading that mean something for some formats only."""


class FileFormat(NamedTuple):
    """How files of one format are known and read."""

    suffixes: tuple[str, ...]
    holds: str
    """What such a file has in it, for the docs."""
    read: Callable[[Source, ReadOptions], Stream]
    options: tuple[str, ...] = ()
    """The ``OPTIONS_OF_FORMATS`` that mean something for it."""


def read_csv(place: Source, options: ReadOptions) -> Stream:
    from askance.data.formats.csv import CsvStream

    return CsvStream(place, options)


def read_tsv(place: Source, options: ReadOptions) -> Stream:
    return read_csv(place, options if options.delimiter is not None else replace(options, delimiter="\t"))


def read_libsvm(place: Source, options: ReadOptions) -> Stream:
    from askance.data.formats.libsvm import LibsvmStream

    return LibsvmStream(place, options)


def read_jsonl(place: Source, options: ReadOptions) -> Stream:
    from askance.data.formats.json_array import objects_of_array
    from askance.data.formats.jsonl import JsonlStream
    from askance.data.formats.source import Converted

    return JsonlStream(Converted(place, objects_of_array, "object"), options)


def read_arff(place: Source, options: ReadOptions) -> Stream:
    from askance.data.formats.arff import ArffStream

    return ArffStream(place, options)


def read_npz(place: Source, options: ReadOptions) -> Stream:
    from askance.data.formats.npz import open_npz

    return open_npz(place, options)


def read_parquet(place: Source, options: ReadOptions) -> Stream:
    from askance.data.formats.parquet import ParquetStream

    return ParquetStream(place, options)


def read_feather(place: Source, options: ReadOptions) -> Stream:
    from askance.data.formats.parquet import FeatherStream

    return FeatherStream(place, options)


def read_vw(place: Source, options: ReadOptions) -> Stream:
    from askance.data.formats.vw import VwStream

    return VwStream(place, options)


OF_TABLES = ("header", "delimiter", "quote", "encoding", "na_values")
NEEDS_PYARROW = "needs the extra `parquet`"
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
