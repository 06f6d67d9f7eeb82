"""What a file has, without running it: its fields, its labels, and what looks wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from askance.data import Stream
from askance.data.formats.labels import refuse_quantities
from askance.data.formats.read_options import ReadOptions, change
from askance.data.formats.stream import warnings_of
from askance.errors import InvalidInput
from askance.runner.sources import open_source
from askance.runner.stream_runner import known_labels

MOST_LABELS = 10_000  # different ones that are counted; with more it is no field of classes
EXAMPLES = 3


@dataclass(frozen=True)
class FieldReport:
    """A field as its first values are."""

    name: str
    kind: str
    missing: float | None
    """The share of the first rows that lack it; None where that is not known."""
    examples: list[str]
    """Some different values."""


@dataclass(frozen=True)
class FileReport:
    """What a file looks like."""

    name: str
    events: int
    unlabeled: int
    bad_lines: int
    bad_line_examples: list[str]
    columns: int
    fields: list[FieldReport]
    first_rows: int
    """How many rows tell of the fields; 0 where events have numbers for features."""
    labels: dict[str, int]
    """How many events have each label, the most frequent first."""
    warnings: list[str]
    obstacle: str | None
    """Why ``askance run`` would refuse it; None if it would run."""

    def as_json(self) -> dict[str, Any]:
        """The report as plain values, for programs."""
        return asdict(self)


def check_file(source: Any, reading: ReadOptions | None = None, **changes: Any) -> FileReport:
    """Read a file to its end, and tell what was seen.

    Parameters
    ----------
    source
        Anything ``open_stream`` reads, or a name that ``askance data list`` shows.
    reading : ReadOptions, optional
        How to read it. Lines that cannot be read are counted.
    **changes
        Single ``ReadOptions``, in the place of those of ``reading``.

    Examples
    --------
    >>> import io
    >>> report = check_file(io.BytesIO(b"size,sender,label\\n1,shop,spam\\n,friend,ham\\n3,shop,Spam\\n"))
    >>> [(field.name, field.kind, field.missing) for field in report.fields][:2]
    [('size', 'number', 0.3333333333333333), ('sender', 'category', 0.0)]
    >>> report.labels, report.warnings
    ({'spam': 1, 'ham': 1, 'Spam': 1}, ["The labels 'spam' and 'Spam' look like one and count as two classes; if they \
are one, mend the data."])
    """
    counts: Counter[Any] = Counter()
    unlabeled = columns = 0
    reading = change(reading or ReadOptions(), **changes)
    with open_source(source, reading, skip_bad_lines=True) as stream:
        for batch in stream:
            columns = max(columns, batch.X.shape[1])
            known = np.zeros(0) if batch.y is None else known_labels(batch.y)
            unlabeled += batch.X.shape[0] - len(known)
            if len(counts) <= MOST_LABELS:
                counts.update(known.tolist())
        return FileReport(
            stream.name,
            stream.rows_read,
            unlabeled,
            stream.bad_lines,
            stream.bad_line_examples,
            columns,
            [_report(stream, field.name, field.kind) for field in stream.fields],
            max(map(len, stream.first_values.values()), default=0),
            {str(label): count for label, count in counts.most_common()},
            warnings_of(stream),
            _obstacle(stream, counts, reading.classes),
        )


def _report(stream: Stream, name: str, kind: str) -> FieldReport:
    values = stream.first_values.get(name)
    if not values:
        return FieldReport(name, kind, None, [])
    missing = stream.labels.is_missing if kind == "label" else stream.missing.covers
    present = [str(value) for value in values if not missing(value)]
    share = (len(values) - len(present)) / len(values)
    return FieldReport(name, kind, share, list(dict.fromkeys(present))[:EXAMPLES])


def _obstacle(stream: Stream, counts: Counter[Any], classes: Sequence[Any] | None) -> str | None:
    """Why the file could not be run."""
    if not stream.rows_read:
        return f"{stream.name!r} has no events."
    if not counts:
        return f"{stream.name!r} has no labels; name the field they are in with --label."
    if classes is not None:
        return None
    if len(counts) < 2:
        return f"{stream.name!r} has only one class, {str(next(iter(counts)))!r}; learning needs two or more."
    try:
        refuse_quantities(np.array(sorted(counts)), counts.total(), stream.name)
    except InvalidInput as error:
        return str(error)
    return None
