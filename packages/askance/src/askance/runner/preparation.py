"""Describe in words what is done to the values of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from askance.data import Stream
from askance.data.encoding.kinds import CATEGORY, DATE, NUMBER, TEXT
from askance.data.encoding.scaling import AS_IT_IS, STANDARDISED, TO_UNIT_LENGTH

DONE = (
    (NUMBER, "number", "numbers", "standardised by running statistics", "not scaled"),
    (TEXT, "text", "texts", "hashed, to unit length", "hashed"),
    (CATEGORY, "category", "categories", "hashed", "hashed"),
    (DATE, "date", "dates", "as weekday and hour, hashed", "as weekday and hour, hashed"),
)
SPARSE = {AS_IT_IS: "not scaled", STANDARDISED: "standardised by running statistics", TO_UNIT_LENGTH: "to unit length"}


def describe_preparation(stream: Stream, clf: Any) -> str:
    """A description of what the stream and the classifier do to the values."""
    done = list(_fields(stream))
    if clf.normalize or stream.state().get("sparse_rows") == TO_UNIT_LENGTH:
        done.append("events to unit length")
    if clf.intercept:
        done.append("intercept")
    return "; ".join(done) or "nothing"


def _fields(stream: Stream) -> Iterator[str]:
    is_raw = bool(stream.state().get("raw"))
    for field in stream.fields:
        if field.kind == "sparse":
            how = field.name.rsplit(", ", 1)[-1]
            yield f"numbered features {SPARSE.get(how, how)}"
    for kind, one, many, how, raw in DONE:
        count = sum(field.kind == kind for field in stream.fields)
        if count:
            yield f"{count} {one if count == 1 else many} {raw if is_raw else how}"
