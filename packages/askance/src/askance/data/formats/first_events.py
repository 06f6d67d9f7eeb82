"""The first events of a stream, to look for what is wrong with them."""

from __future__ import annotations

from askance.data.encoding.data_warnings import FirstEvents, find_warnings
from askance.data.formats.stream import Stream


def warnings_of(stream: Stream) -> list[str]:
    """What a user should know of the data of a stream before trusting what is learned from them."""
    label = next((field.name for field in stream.fields if field.kind == "label"), None)
    found = find_warnings(
        FirstEvents(
            kinds={field.name: field.kind for field in stream.fields if field.kind != "label"},
            values=stream.first_values,
            labels=stream.first_values.get(label, []) if label is not None else [],
            missing=stream.missing,
            missing_labels=stream.labels.is_missing,
            giving=lambda name, kind: f"--field {name}={kind}",
        )
    )
    return found + stream.warnings
