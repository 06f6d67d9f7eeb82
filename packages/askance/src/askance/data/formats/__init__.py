"""Readers: from the bytes of files to rows with line numbers, and with an encoder's help to batches of sparse rows.

Each format is declared here once, with its endings, its options and its reader. Readers are imported when a file is
opened, so that the command line can name the formats at once.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from askance.data.formats.quarantine import unwrap
from askance.data.formats.read_options import ReadOptions, change
from askance.data.formats.source import Converted, Source, recode, without_compression
from askance.errors import InvalidInput, InvalidParameter

if TYPE_CHECKING:
    from askance.data.formats.stream import Stream

OPTIONS_OF_FORMATS = ("header", "delimiter", "quote", "zero_based", "encoding", "na_values")
"""The options of reading that mean something for some formats only."""


class FileFormat(NamedTuple):
    """How files of one format are known and read."""

    suffixes: tuple[str, ...]
    holds: str
    """What such a file has in it, for the docs."""
    reader: str
    """What makes its stream of a source and the options: a module of this folder, and a name in it."""
    options: tuple[str, ...] = ()
    """The ``OPTIONS_OF_FORMATS`` that mean something for it."""

    def open(self, source: Source, options: ReadOptions) -> Stream:
        """The rows of some files; imports the reader."""
        module, name = self.reader.split(":")
        make: Callable[[Source, ReadOptions], Stream]
        make = getattr(importlib.import_module(f"{__name__}.{module}"), name)
        return make(source, options)


OF_TABLES = ("header", "delimiter", "quote", "encoding", "na_values")
NEEDS_PYARROW = "needs the extra `parquet`"
FORMATS: dict[str, FileFormat] = {
    "libsvm": FileFormat(
        (".libsvm", ".svmlight", ".svm"),
        "`label index:value ...`; comments, `qid:`, any order of indices; repeated ones are added",
        "libsvm:LibsvmStream",
        ("zero_based", "encoding"),
    ),
    "csv": FileFormat(
        (".csv",),
        "delimiter and line of names are found; quotes may enclose delimiters and line ends",
        "csv:CsvStream",
        OF_TABLES,
    ),
    "tsv": FileFormat((".tsv", ".tab"), "the same, with tabs", "csv:TsvStream", OF_TABLES),
    "jsonl": FileFormat(
        (".jsonl", ".ndjson", ".json"),
        "one object per line, nested as it may be, or one array of objects",
        "jsonl:JsonlStream",
        ("encoding", "na_values"),
    ),
    "arff": FileFormat((".arff",), "Weka's format, dense and sparse", "arff:ArffStream", ("encoding", "na_values")),
    "npz": FileFormat(
        (".npz",),
        "`X` dense, or `data`, `indices`, `indptr`, `shape` of a CSR matrix; labels in `y`",
        "npz:open_npz",
    ),
    "parquet": FileFormat(
        (".parquet", ".pq"), f"columns of a table; {NEEDS_PYARROW}", "parquet:ParquetStream", ("na_values",)
    ),
    "vw": FileFormat(
        (".vw",),
        "Vowpal Wabbit's text; see [its lines](streams.md#lines-of-vowpal-wabbit)",
        "vw:VwStream",
        ("encoding",),
    ),
    "feather": FileFormat(
        (".feather", ".arrow", ".ipc"), f"Arrow's own files; {NEEDS_PYARROW}", "parquet:FeatherStream", ("na_values",)
    ),
}
SUFFIXES = {suffix: name for name, declared in FORMATS.items() for suffix in declared.suffixes}


def list_formats(names: list[str], last: str = "or") -> str:
    """Formats in words.

    >>> list_formats(["csv", "tsv", "jsonl"])
    'csv, tsv or jsonl'
    """
    return f" {last} ".join(filter(None, (", ".join(names[:-1]), names[-1])))


# --- find out the format, and open -----------------------------------------------------------------------

LOOK_AT = 1 << 16  # bytes

LINES = 20
MODEL = b'{"format": "askance model", '  # how askance.learner.files begins what it writes

_VW_HEAD = re.compile(rb"(?:[-+]?[0-9][0-9.]*(?: [0-9][0-9.]*)? )?(?:'[^\s|]*)? ?\|(?=[^\s|]* [^\s|])")
_VW_VALUE = re.compile(rb"\|[^\s|]* (?:[^\s|]+ )*[^\s:|]+:[-+]?[0-9.]+(?= [^\s|]|$)")


def open_stream(source: Any, options: ReadOptions | None = None, **changes: Any) -> Stream:
    """Open a file, a folder or a pipe of events.

    Parameters
    ----------
    source : str, path, list of paths, or object opened in binary mode
        A file; a folder, whose files are read in the order of their names; a list of such paths, which are read in its
        order; or ``"-"``, the standard input. Files compressed with gzip, bzip2 or xz are decompressed on the way.
    options : ReadOptions, optional
        How to read it.
    **changes
        Single ``ReadOptions``, in the place of those of ``options``.

    Examples
    --------
    >>> import io
    >>> stream = open_stream(io.BytesIO(b"+1 1:0.5 3:2\\n-1 2:1\\n"), raw=True)
    >>> for batch in stream:
    ...     print(batch.X.toarray().tolist(), batch.y)
    [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]] [ 1 -1]
    """
    options = change(options or ReadOptions(), **changes)
    files: Source = Source(source)
    if options.encoding is not None:
        files = Converted(files, recode(options.encoding))
    chosen = find_format(files) if options.format is None else options.format
    kept = unwrap(files) if chosen == "jsonl" else None
    if kept is not None:
        files, chosen = kept, str(kept.head.get("format"))
        as_kept = {name: kept.head.get(name) for name in ("header", "delimiter") if getattr(options, name) is None}
        options = change(options, **as_kept)
    if chosen not in FORMATS:
        raise InvalidParameter(f"format must be one of {', '.join(FORMATS)}, got {chosen!r}.")
    for name in OPTIONS_OF_FORMATS:
        if getattr(options, name) is not None and name not in FORMATS[chosen].options:
            meant = [other for other, declared in FORMATS.items() if name in declared.options]
            raise InvalidParameter(f"{name} means nothing for {chosen}; it is for {list_formats(meant, 'and')}.")
    return FORMATS[chosen].open(files, options)


def find_format(source: Source) -> str:
    """The format of a source, by the names of its files, else by the content of the first."""
    found = {name: SUFFIXES.get(os.path.splitext(without_compression(name))[1].lower()) for name in source.names}
    if len(set(found.values())) > 1:
        (one, first), (other, second) = next((a, b) for a in found.items() for b in found.items() if a[1] != b[1])
        raise InvalidInput(
            f"{source.name!r} mixes formats: {one!r} is {first or 'unknown'}, {other!r} {second or 'unknown'}; "
            "name the format if they are all alike."
        )
    return found[source.names[0]] or format_of(source.peek(LINES, LOOK_AT), source.names[0])


def format_of(start: bytes, name: str) -> str:
    """The format that the first bytes of a file are in."""
    if start.startswith(b"PK\x03\x04"):
        return "npz"
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"ARROW1"):
        return "feather"
    if start.startswith(b"\x93NUMPY"):
        raise InvalidInput(f"{name!r} holds a single array; events and labels are read from an .npz file with X and y.")
    if start.startswith(MODEL):
        raise InvalidInput(
            f"{name!r} is a model, not a file of events; askance predict, run and pipe take it after --load, and "
            "askance.load reads it in Python."
        )
    lines = [line.strip() for line in start.removeprefix(b"\xef\xbb\xbf").splitlines()[:LINES]]
    lines = [line for line in lines if line]
    first = lines[0] if lines else b""
    if first.startswith((b"{", b"[")):
        return "jsonl"
    if first.startswith(b"%") or first.lower().startswith((b"@relation", b"@attribute")):
        return "arff"
    if len(start) >= LOOK_AT and len(lines) > 1:
        lines = lines[:-1]  # the last one may be cut off
    if _looks_like_vw(lines):
        return "vw"
    return "libsvm" if _looks_like_libsvm(lines) else "csv"


def _looks_like_vw(lines: list[bytes]) -> bool:
    """Whether all lines have a head of numbers, with or without a tag, and features after bars, some with values."""
    return all(map(_VW_HEAD.match, lines)) and any(map(_VW_VALUE.search, lines))


def _looks_like_libsvm(lines: list[bytes]) -> bool:
    """Whether all lines are a label with features, and some have features."""
    from askance.data.formats.libsvm import FEATURE  # which needs numpy, and help does not

    has_features = False
    for line in lines:
        tokens = line.split(b"#", 1)[0].split()
        if tokens and b":" not in tokens[0]:
            tokens = tokens[1:]
        if not all(FEATURE.fullmatch(token) for token in tokens):
            return False
        has_features |= bool(tokens)
    return has_features
