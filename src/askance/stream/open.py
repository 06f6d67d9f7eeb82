"""Open a stream of events: find out its format, and hand it to the reader of that format."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from askance.errors import InvalidInput, InvalidParameter
from askance.missing import WORDS, MissingValues
from askance.stream.batch import BATCH_ROWS, Settings, Stream
from askance.stream.encoding import recode
from askance.stream.formats import FORMATS, SUFFIXES, FormatOptions, list_formats
from askance.stream.quarantine import unwrap
from askance.stream.source import Converted, Source, without_compression

LOOK_AT = 1 << 16  # bytes

LINES = 20
MODEL = b'{"format": "askance model", '  # how askance.learner.files begins what it writes

_MISSING = "|".join(re.escape(word) for word in sorted(WORDS) if word).encode()
_VW_HEAD = re.compile(rb"(?:[-+]?[0-9][0-9.]*(?: [0-9][0-9.]*)? )?(?:'[^\s|]*)? ?\|(?=[^\s|]* [^\s|])")
_VW_VALUE = re.compile(rb"\|[^\s|]* (?:[^\s|]+ )*[^\s:|]+:[-+]?[0-9.]+(?= [^\s|]|$)")
_FEATURE = re.compile(rb"[0-9]+:(?:[-+]?[0-9.][0-9.eE+-]*|" + _MISSING + rb")|qid:[^:]*")


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
    classes: Sequence[Any] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    zero_based: bool | None = None,
    encoding: str | None = None,
    origins: bool = False,
    quarantine: str | os.PathLike[str] | None = None,
    frozen: bool = False,
    keep_rows: bool = False,
    na_values: Any = None,
    label_separator: str | None = None,
    state: Mapping[str, Any] | None = None,
) -> Stream:
    """Open a file, a folder or a pipe of events.

    Parameters
    ----------
    source : str, path, list of paths, or object opened in binary mode
        A file; a folder, whose files are played in the order of their names; a list of such paths, which are played in
        its order; or ``"-"``, the standard input. What is
        compressed with gzip, bzip2 or xz is decompressed on the way.
    format : str, optional
        "libsvm", "csv", "tsv", "jsonl", "arff", "npz", "parquet", "vw" or "feather"; told by the name or the content
        unless given.
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
    classes : sequence of labels, optional
        Labels there are: a word such as "NA", which otherwise stands for a missing label, is a class if named here.
    header, delimiter, quote
        Of CSV files: whether the first line has names, what separates cells, and what encloses them ("" for nothing).
    zero_based : bool, optional
        Of LIBSVM files: whether indices count from 0; told by the first lines unless given.
    encoding : str, optional
        Of text: what it is written in, such as "latin-1"; UTF-8 unless given.
    origins : bool, default False
        Tell in ``batch.origins`` where each row comes from: its line, its ``id``, and of a folder its file.
    quarantine : path, optional
        Write the lines that cannot be read to this file, each with the reason, instead of raising ``BadLine``; such a
        file can be opened as a stream itself.
    frozen : bool, default False
        Only look at the rows, with ``state`` as it is, to predict them: numbers are scaled as if each came next, fields
        that the state does not know are left out, and the label may be missing.
    keep_rows : bool, default False
        Have the fields of each row, as they are read, in ``batch.rows``.
    na_values : str, number, or list of them, optional
        Of rows with named fields: words and numbers that count as missing in every field and in the label, besides the
        usual words (``askance.missing`` has them) and those of ``state``. A number stands for itself however it is
        written.
    label_separator : str, optional
        Labels are sets, written with this between the labels: the label of a row is then that text. A JSON list of
        labels becomes such a text, an empty one the empty text.
    state : dict, optional
        What ``Stream.state()`` gave: go on with the same columns and statistics. Rows with named fields may come in
        another format than those that the state is of.

    Examples
    --------
    >>> import io
    >>> stream = open_stream(io.BytesIO(b"+1 1:0.5 3:2\\n-1 2:1\\n"), raw=True)
    >>> for batch in stream:
    ...     print(batch.X.toarray().tolist(), batch.y)
    [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]] [ 1 -1]
    """
    place: Source = Source(source)
    if encoding is not None:
        place = Converted(place, recode(encoding))
    chosen = find_format(place) if format is None else format
    kept = unwrap(place) if chosen == "jsonl" else None
    if kept is not None:
        place, chosen = kept, str(kept.head.get("format"))
        header = kept.head.get("header") if header is None else header
        delimiter = kept.head.get("delimiter") if delimiter is None else delimiter
    if chosen not in FORMATS:
        raise InvalidParameter(f"format must be one of {', '.join(FORMATS)}, got {chosen!r}.")
    options = FormatOptions(header, delimiter, quote, zero_based, encoding, na_values)
    for name, value in options._asdict().items():
        if value is not None and name not in FORMATS[chosen].options:
            meant = [other for other, declared in FORMATS.items() if name in declared.options]
            raise InvalidParameter(f"{name} means nothing for {chosen}; it is for {list_formats(meant, 'and')}.")
    if header not in (None, True, False):
        raise InvalidParameter(f"header must be True, False, or None to find out, got {header!r}.")
    settings = Settings(
        label,
        labels,
        dict(features) if features else None,
        batch_rows,
        bool(skip_bad_lines) or quarantine is not None,
        hash_bits,
        ngrams,
        bool(raw),
        bool(origins),
        classes,
        None if quarantine is None else os.fspath(quarantine),
        bool(frozen),
        bool(keep_rows),
        MissingValues((state or {}).get("na_values")).with_more(na_values).added,
        label_separator,
    )
    return FORMATS[chosen].read(place, settings, options, state)


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
    has_features = False
    for line in lines:
        tokens = line.split(b"#", 1)[0].split()
        if tokens and b":" not in tokens[0]:
            tokens = tokens[1:]
        if not all(_FEATURE.fullmatch(token) for token in tokens):
            return False
        has_features |= bool(tokens)
    return has_features
