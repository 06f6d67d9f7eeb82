"""A classifier together with what turns raw events into its columns, in one file.

The file is a model file as ``clf.save`` writes it, with one more array in its archive, ``stream``: as JSON text, the
fields, their columns and the running statistics that ``Stream.state()`` gives. ``askance.load`` reads the classifier
of such a file; ``Model.load`` reads both.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from askance.errors import ModelFileError
from askance.learner.files import read, save


@dataclass
class Model:
    """What a stream left behind, and what goes on with the next one.

    Parameters
    ----------
    classifier : ActiveClassifier
        The learner.
    stream : mapping
        ``Stream.state()``: fields, columns and running statistics.
    about : dict
        Whatever else belongs to it, as JSON: the algorithm's name, the ids of open questions.
    """

    classifier: Any
    stream: Mapping[str, Any]
    about: dict[str, Any] = field(default_factory=dict)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write both to one file, whole or not at all."""
        target = Path(path)
        check_can_be_written(target)
        document = json.dumps({"stream": self.stream, "about": self.about}, default=_plain).encode()
        save(self.classifier, target, stream=np.frombuffer(document, np.uint8))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read what ``save`` wrote."""
        classifier, arrays = read(path)
        if "stream" not in arrays:
            raise ModelFileError(
                f"{str(path)!r} holds a classifier, but not how events become its columns; only a model that "
                "askance run or askance pipe saved can go on with a stream."
            )
        try:
            document = json.loads(arrays["stream"].tobytes())
            return cls(classifier, document["stream"], document["about"])
        except (ValueError, KeyError, TypeError) as error:
            raise ModelFileError(f"{str(path)!r} is not a model this version can read ({error}).") from None


def check_can_be_written(path: str | os.PathLike[str]) -> None:
    """Say before the work, not after it, that a file cannot be written."""
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
