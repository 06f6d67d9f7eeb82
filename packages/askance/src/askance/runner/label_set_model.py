"""A classifier of label sets with what is known of the stream it comes from, in one file, as ``Model`` has it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from askance.data.encoding.rows import RowFeatures
from askance.errors import ModelFileError
from askance.learner.multilabel import MultiLabelClassifier
from askance.learner.multilabel.files import read_label_set_model, save_label_sets
from askance.runner.model import check_can_be_written, encoder_of, pack_stream, unpack_stream

USUAL_SEPARATOR = ";"
"""Between labels, for a model that was made of sets."""


@dataclass
class LabelSetModel:
    """A classifier with the state of its stream, which the next stream goes on from.

    Parameters
    ----------
    classifier : MultiLabelClassifier
    stream : mapping
        ``Stream.state()``: fields, columns and running statistics.
    about : dict
        The algorithm's name and parameters.
    """

    classifier: MultiLabelClassifier
    stream: Mapping[str, Any]
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if "fields" in self.stream:  # so that in Python it takes raw events
            self.classifier._reader._features = RowFeatures.from_dict(self.stream)

    @property
    def separator(self) -> str:
        """What stands between the labels of an event."""
        return self.classifier.label_separator or USUAL_SEPARATOR

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write both to one file, atomically."""
        check_can_be_written(path)
        encoder = encoder_of(self.classifier._reader)
        save_label_sets(self.classifier, Path(path), stream=pack_stream(self.stream, self.about, encoder))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LabelSetModel:
        """Read what ``save`` wrote, or a model of raw events that was saved in Python."""
        classifier, arrays = read_label_set_model(path)
        encoder = encoder_of(classifier._reader)
        if "stream" in arrays:
            return cls(classifier, *unpack_stream(arrays["stream"], encoder, path))
        if not encoder:
            raise ModelFileError(
                f"{str(path)!r} holds a classifier, but not how events become its columns; only a model of "
                "a file, or of tables, dicts or texts in Python, can go on with a stream."
            )
        about = {"algorithm": type(classifier.update).__name__, "parameters": {}}
        return cls(classifier, {"format": "rows", "labels": "text"} | encoder, about)
