"""A classifier with what is known of the stream it comes from, in one file.

The file is a model file as ``clf.save`` writes it. Where events have named fields, their encoder is a part of the
classifier, and ``askance.load`` gives one that takes raw events. One more array in the archive, ``stream``, has as JSON
text what else ``Stream.state()`` gives: the format, the label, how features without names are scaled. ``Model.load``
reads both, also of a classifier of label sets.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from askance.data import Stream
from askance.data.encoding.kinds import CATEGORY, DATE, NUMBER, TEXT
from askance.data.encoding.rows import RowFeatures
from askance.data.encoding.scaling import AS_IT_IS, STANDARDISED, TO_UNIT_LENGTH
from askance.errors import InvalidInput, ModelFileError
from askance.learner.classifier import StreamClassifier
from askance.learner.files import PIPELINE, holds_label_sets, read, save

USUAL_SEPARATOR = ";"
"""Between the labels of an event, for a model that was made of sets."""
LABEL_KINDS = {"i": "int", "u": "int", "f": "float"}
"""What labels are in a stream, by the kind of the array of classes; "text" for others."""
DONE = (
    (NUMBER, "number", "numbers", "standardised by running statistics", "not scaled"),
    (TEXT, "text", "texts", "hashed, to unit length", "hashed"),
    (CATEGORY, "category", "categories", "hashed", "hashed"),
    (DATE, "date", "dates", "as weekday and hour, hashed", "as weekday and hour, hashed"),
)
SPARSE = {AS_IT_IS: "not scaled", STANDARDISED: "standardised by running statistics", TO_UNIT_LENGTH: "to unit length"}


@dataclass
class Model:
    """A classifier with the state of its stream, which the next stream resumes.

    Parameters
    ----------
    classifier : StreamClassifier or MultiLabelClassifier
        The learner: an ``ActiveClassifier`` without scikit-learn's methods, which ``askance.load`` reads with them, or
        one of label sets.
    stream : mapping
        ``Stream.state()``: fields, columns and running statistics.
    about : dict
        What else belongs to it, as JSON: the algorithm's name, the ids of pending events.
    """

    classifier: Any
    stream: Mapping[str, Any]
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if "fields" in self.stream:  # so that in Python it takes raw events
            self.reader._features = RowFeatures.from_dict(self.stream)

    @property
    def has_label_sets(self) -> bool:
        """Whether its events have several labels each."""
        return not isinstance(self.classifier, StreamClassifier)

    @property
    def reader(self) -> StreamClassifier:
        """The part of the classifier that reads raw events."""
        reader: StreamClassifier = self.classifier._reader if self.has_label_sets else self.classifier
        return reader

    def refuse_label_sets(self) -> None:
        """Raise if its events have several labels each, which a pipe cannot answer."""
        if self.has_label_sets:
            raise InvalidInput("the model is one of label sets; askance run and predict take it, a pipe does not.")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write both to one file, atomically."""
        check_can_be_written(path)
        stream = pack_stream(self.stream, self.about, encoder_of(self.reader))
        if self.has_label_sets:
            from askance.learner.multilabel.classifier import save_label_sets

            save_label_sets(self.classifier, Path(path), stream=stream)
        else:
            save(self.classifier, path, stream=stream)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read what ``save`` wrote, or a model of raw events that was saved in Python."""
        classifier: Any
        if has_label_sets := holds_label_sets(path):
            from askance.learner.multilabel.classifier import read_label_set_model

            classifier, arrays = read_label_set_model(path)
        else:
            classifier, arrays = read(path, StreamClassifier)
        if PIPELINE in arrays:
            raise ModelFileError(
                f"{str(path)!r} holds a pipeline with transformers of scikit-learn, which only Python can go on with: "
                "askance.load_pipeline."
            )
        encoder = encoder_of(classifier._reader if has_label_sets else classifier)
        if "stream" in arrays:
            return cls(classifier, *unpack_stream(arrays["stream"], encoder, path))
        if not encoder:
            raise ModelFileError(
                f"{str(path)!r} holds a classifier, but not how events become its columns; only a model of "
                "a file, or of tables, dicts or texts in Python, can go on with a stream."
            )
        update = classifier.update if has_label_sets else classifier._rules().update
        labels = "text" if has_label_sets else LABEL_KINDS.get(classifier.classes_.dtype.kind, "text")
        about = {"algorithm": type(update).__name__, "parameters": {}}
        return cls(classifier, {"format": "rows", "labels": labels} | encoder, about)


def encoder_of(classifier: Any) -> dict[str, Any]:
    """The state of a classifier's encoder of raw events; empty if it has none."""
    return classifier._features.to_dict() if hasattr(classifier, "_features") else {}


def pack_stream(stream: Mapping[str, Any], about: dict[str, Any], encoder: dict[str, Any]) -> np.ndarray:
    """What is known of a stream as an array of bytes, without what the encoder of the model has."""
    kept = {name: value for name, value in stream.items() if name not in encoder}
    return np.frombuffer(json.dumps({"stream": kept, "about": about}, default=_plain).encode(), np.uint8)


def unpack_stream(
    packed: np.ndarray, encoder: dict[str, Any], path: str | os.PathLike[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The stream and what else there is to know, of what ``pack_stream`` made."""
    try:
        document = json.loads(packed.tobytes())
        return document["stream"] | encoder, document["about"]
    except (ValueError, KeyError, TypeError) as error:
        raise ModelFileError(f"{str(path)!r} is not a model this version can read ({error}).") from None


def check_can_be_written(path: str | os.PathLike[str]) -> None:
    """Raise if a file cannot be written: before the work, not after it."""
    target = Path(path)
    if not target.parent.is_dir():
        raise ModelFileError(f"there is no folder {str(target.parent)!r} to write {target.name!r} to.")
    if target.is_dir():
        raise ModelFileError(f"{str(target)!r} is a folder; name a file to write to.")
    if not os.access(target.parent, os.W_OK):
        raise ModelFileError(f"the folder {str(target.parent)!r} cannot be written to.")


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be saved")


def describe_preparation(stream: Stream, clf: Any) -> str:
    """A description of what the stream and the classifier do to the values."""
    done = list(_prepared_fields(stream))
    if clf.normalize or stream.state().get("sparse_rows") == TO_UNIT_LENGTH:
        done.append("events to unit length")
    if clf.intercept:
        done.append("intercept")
    return "; ".join(done) or "nothing"


def _prepared_fields(stream: Stream) -> Iterator[str]:
    is_raw = bool(stream.state().get("raw"))
    for entry in stream.fields:
        if entry.kind == "sparse":
            how = entry.name.rsplit(", ", 1)[-1]
            yield f"numbered features {SPARSE.get(how, how)}"
    for kind, singular, plural, how, raw in DONE:
        count = sum(entry.kind == kind for entry in stream.fields)
        if count:
            yield f"{count} {singular if count == 1 else plural} {raw if is_raw else how}"
