"""A classifier with what is known of the stream it comes from, in one file.

The file is a model file as ``clf.save`` writes it. Where events have named fields, their encoder is a part of the
classifier, and ``askance.load`` gives one that takes raw events. One more array in the archive, ``stream``, has as JSON
text what else ``Stream.state()`` gives: the format, the label, how features without names are scaled. ``Model.load``
reads both.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from askance.data.encoding.rows import RowFeatures
from askance.errors import ModelFileError
from askance.learner.classifier import StreamClassifier
from askance.learner.files import PIPELINE, read, save

LABEL_KINDS = {"i": "int", "u": "int", "f": "float"}
"""What labels are in a stream, by the kind of the array of classes; "text" for others."""


@dataclass
class Model:
    """A classifier with the state of its stream, which the next stream goes on from.

    Parameters
    ----------
    classifier : StreamClassifier
        The learner: an ``ActiveClassifier`` without scikit-learn's methods. ``askance.load`` reads one with them.
    stream : mapping
        ``Stream.state()``: fields, columns and running statistics.
    about : dict
        What else belongs to it, as JSON: the algorithm's name, the ids of pending events.
    """

    classifier: StreamClassifier
    stream: Mapping[str, Any]
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if "fields" in self.stream:
            self.classifier._features = RowFeatures.from_dict(self.stream)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write both to one file, atomically."""
        target = Path(path)
        check_can_be_written(target)
        save(self.classifier, target, stream=pack_stream(self.stream, self.about, encoder_of(self.classifier)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read what ``save`` wrote."""
        classifier, arrays = read(path, StreamClassifier)
        encoder = encoder_of(classifier)
        if "stream" not in arrays and encoder and PIPELINE not in arrays:  # saved in Python, after raw events
            about = {"algorithm": type(classifier._rules().update).__name__, "parameters": {}}
            labels = LABEL_KINDS.get(classifier.classes_.dtype.kind, "text")
            return cls(classifier, {"format": "rows", "labels": labels} | encoder, about)
        if PIPELINE in arrays:
            raise ModelFileError(
                f"{str(path)!r} holds a pipeline with transformers of scikit-learn, which only Python can go on with: "
                "askance.load_pipeline."
            )
        if "stream" not in arrays:
            raise ModelFileError(
                f"{str(path)!r} holds a classifier, but not how events become its columns; only a model of "
                "a file, or of tables, dicts or texts in Python, can go on with a stream."
            )
        return cls(classifier, *unpack_stream(arrays["stream"], encoder, path))


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
