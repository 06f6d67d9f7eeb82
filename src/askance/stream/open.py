"""Open a stream of events: find out its format, and hand it to the reader of that format."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from askance.errors import InvalidInput, InvalidParameter
from askance.stream.batch import BATCH_ROWS, Settings, Stream
from askance.stream.source import Source, without_compression

FORMATS = ("libsvm", "csv", "tsv", "jsonl", "arff", "npz", "parquet")
SUFFIXES = {
    ".libsvm": "libsvm", ".svmlight": "libsvm", ".svm": "libsvm",
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl",
    ".arff": "arff", ".npz": "npz", ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip
LOOK_AT = 1 << 16  # bytes

LINES = 20

_FEATURE = re.compile(rb"[0-9]+:[-+]?[0-9.][0-9.eE+-]*|qid:[^:]*")


def open_stream(
    source: Any,
    *,
    format: str | None = None,
    label: str | int | bool | None = None,
    features: Mapping[str, str] | None = None,
    batch_rows: int = BATCH_ROWS,
    skip_bad_lines: bool = False,
    hash_bits: int = 18,
    ngrams: int = 2,
    raw: bool = False,
    labels: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    zero_based: bool | None = None,
    origins: bool = False,
    state: Mapping[str, Any] | None = None,
) -> Stream:
    """Open a file, a folder or a pipe of events.

    Parameters
    ----------
    source : str, path, or object opened in binary mode
        A file; a folder, whose files are played in the order of their names; or ``"-"``, the standard input. What is
        compressed with gzip, bzip2 or xz is decompressed on the way.
    format : str, optional
        "libsvm", "csv", "tsv", "jsonl", "arff", "npz" or "parquet"; told by the name or the content unless given.
    label : str, int or False, optional
        The field with the label, by name or by number. False: there is none. Else it is the field called ``label``,
        ``y``, ``class`` or ``target``, or the last one of a table.
    features : dict, optional
        Kinds of fields, by name: "number", "category", "text", "date", "ignore" or "time" (when the event came, for
        budgets by time; nothing is learned from it). The others are guessed from the first 1000 lines.
    batch_rows : int, default 8192
        Rows in a batch; a batch with very many values ends earlier. Batches do not change what is learned.
    skip_bad_lines : bool, default False
        Leave out, and count, lines that cannot be read, instead of raising ``BadLine``.
    hash_bits : int, default 18
        Categories and words share ``2**hash_bits`` columns.
    ngrams : int, default 2
        Words of a text are counted singly and with their neighbours, up to so many together.
    raw : bool, default False
        Scale nothing. Otherwise numbers are standardised by running statistics, texts and sparse rows have unit length.
    labels : "int", "float" or "text", optional
        What the labels are; told by the first ones unless given.
    header, delimiter, quote
        Of CSV files: whether the first line has names, what separates cells, and what encloses them ("" for nothing).
    zero_based : bool, optional
        Of LIBSVM files: whether indices count from 0; told by the first lines unless given.
    origins : bool, default False
        Tell in ``batch.origins`` where each row comes from: its line, its ``id``, and of a folder its file.
    state : dict, optional
        What ``Stream.state()`` gave: go on with the same columns and statistics.

    Examples
    --------
    >>> import io
    >>> stream = open_stream(io.BytesIO(b"+1 1:0.5 3:2\\n-1 2:1\\n"), raw=True)
    >>> for batch in stream:
    ...     print(batch.X.toarray().tolist(), batch.y)
    [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]] [ 1 -1]
    """
    place = Source(source)
    chosen = find_format(place) if format is None else format
    if chosen not in FORMATS:
        raise InvalidParameter(f"format must be one of {', '.join(FORMATS)}, got {format!r}.")
    only = {
        "header": (header, ("csv", "tsv")), "delimiter": (delimiter, ("csv", "tsv")), "quote": (quote, ("csv", "tsv")),
        "zero_based": (zero_based, ("libsvm",)),
    }  # fmt: skip
    for name, (value, formats) in only.items():
        if value is not None and chosen not in formats:
            raise InvalidParameter(f"{name} means nothing for {chosen}; it is for {' and '.join(formats)}.")
    settings = Settings(
        label,
        labels,
        dict(features) if features else None,
        batch_rows,
        bool(skip_bad_lines),
        hash_bits,
        ngrams,
        bool(raw),
        bool(origins),
    )
    if chosen in ("csv", "tsv"):
        from askance.stream.csv import CsvStream

        usual = "\t" if chosen == "tsv" else None
        return CsvStream(
            place, settings, header, usual if delimiter is None else delimiter, '"' if quote is None else quote, state
        )
    if chosen == "libsvm":
        from askance.stream.libsvm import LibsvmStream

        return LibsvmStream(place, settings, zero_based, state)
    if chosen == "jsonl":
        from askance.stream.jsonl import JsonlStream

        return JsonlStream(place, settings, state)
    if chosen == "arff":
        from askance.stream.arff import ArffStream

        return ArffStream(place, settings, state)
    if chosen == "npz":
        from askance.stream.npz import open_npz

        return open_npz(place, settings, state)
    from askance.stream.parquet import ParquetStream

    return ParquetStream(place, settings, state)


def find_format(source: Source) -> str:
    """The format of a source, by the names of its files, else by the content of the first."""
    found = {name: SUFFIXES.get(os.path.splitext(without_compression(name))[1].lower()) for name in source.names}
    if len(set(found.values())) > 1:
        (one, first), (other, second) = next((a, b) for a in found.items() for b in found.items() if a[1] != b[1])
        raise InvalidInput(
            f"{source.name!r} mixes formats: {one!r} is {first or 'unknown'}, {other!r} {second or 'unknown'}; "
            "name the format if they are all alike."
        )
    return found[source.names[0]] or format_of(source.look(LINES, LOOK_AT), source.names[0])


def format_of(start: bytes, name: str) -> str:
    """The format that the first bytes of a file are in."""
    if start.startswith(b"PK\x03\x04"):
        return "npz"
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"\x93NUMPY"):
        raise InvalidInput(f"{name!r} holds a single array; events and labels are read from an .npz file with X and y.")
    lines = [line.strip() for line in start.removeprefix(b"\xef\xbb\xbf").splitlines()[:LINES]]
    lines = [line for line in lines if line]
    first = lines[0] if lines else b""
    if first.startswith(b"{"):
        return "jsonl"
    if first.startswith(b"["):
        from askance.stream.jsonl import ARRAY

        raise InvalidInput(ARRAY.format(repr(name)))
    if first.startswith(b"%") or first.lower().startswith((b"@relation", b"@attribute")):
        return "arff"
    if len(start) >= LOOK_AT and len(lines) > 1:
        lines = lines[:-1]  # the last one may be cut off
    return "libsvm" if _looks_like_libsvm(lines) else "csv"


def _looks_like_libsvm(lines: list[bytes]) -> bool:
    """Whether all lines are a label with features, and some have features."""
    has_features = False
    for line in lines:
        tokens = line.split(b"#", 1)[0].split()
        if tokens and b":" not in tokens[0]:
            tokens = tokens[1:]
        if not all(_FEATURE.fullmatch(token) for token in tokens):
            return False
        has_features |= bool(tokens)
    return has_features
