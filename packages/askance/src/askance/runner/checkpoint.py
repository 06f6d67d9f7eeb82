"""A model that is saved on the way, with the position in the files that it has come to; and how a run resumes it.

What is saved is the model after a piece of the files (see ``stream.pieces``). A run that resumes it reads the pieces
that follow and comes to exactly the same model: a piece ends a round.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from askance.data.formats.source import Source
from askance.errors import InvalidParameter
from askance.runner.algorithm_spec import AlgorithmSpec
from askance.runner.model import Model
from askance.runner.shared_reading import Position, SharedReader
from askance.runner.sources import find_by_name
from askance.runner.stream_runner import StreamRunner


class Checkpoint:
    """Saves the model of a run every so many events, and finds it again.

    Parameters
    ----------
    path : path or None
        Where the model is saved.
    every : int or None
        Save after so many events.
    source
        The files that are read.
    in_rounds : bool
        Whether answers are learned at the end of a round.
    spec : AlgorithmSpec
        The algorithm.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        every: int | None,
        source: Any,
        in_rounds: bool,
        spec: AlgorithmSpec,
    ) -> None:
        if every is not None and path is None:
            raise InvalidParameter("a model that is saved on the way needs a file: name it with --save.")
        self.path, self.every, self._source, self._spec = path, every, source, spec
        self._in_rounds = in_rounds
        self.position: Position | None = None
        """Where the run begins; None at the beginning of the files."""
        self._saved_at = 0

    def add(self, runner: StreamRunner, reader: SharedReader) -> None:
        """A batch was run: save the model if it is time."""
        if self.every is None or self.path is None or runner.totals is None:
            return
        if runner.totals.events - self._saved_at >= self.every:
            self._saved_at = runner.totals.events
            model = runner.model()
            self.mark(model, reader)
            model.save(self.path)

    def mark(self, model: Model, reader: SharedReader) -> None:
        """Write down in the model how far the files were run, if the run may be resumed."""
        if self.every is None:
            return
        position = reader.position
        files = sizes_of(self._source)[: position.place + 1]
        model.about["position"] = {**position._asdict(), "files": files, "in_rounds": self._in_rounds}

    def find(self, given: Model | None) -> Model | None:
        """The model to resume, at ``position``; the one that is given if no run was interrupted."""
        if self.path is None or self.every is None:
            raise InvalidParameter("--continue goes on with what --save and --save-every have saved: name both again.")
        if not Path(self.path).exists():
            return given
        model = Model.load(self.path)
        kept = model.about.get("position")
        if not isinstance(kept, Mapping):
            raise InvalidParameter(
                f"the model in {str(self.path)!r} was not saved on the way through files; go on with --load, or name "
                "another file to save to."
            )
        self._check(model, kept, is_new=given is None)
        self.position = Position(kept["pieces"], kept["place"], kept["lines"])
        return model

    def _check(self, model: Model, kept: Mapping[str, Any], is_new: bool) -> None:
        """Refuse to resume with other files, or in another way."""
        done, now = kept["files"], sizes_of(self._source)
        for before, after in zip(done, [*now, *([None] * len(done))], strict=False):
            if after is None or list(before) != list(after):
                has = "is not there now" if after is None else f"is {after[0]!r} with {after[1]:,} bytes now"
                raise InvalidParameter(
                    f"the model in {str(self.path)!r} has run {before[0]!r} with {before[1]:,} bytes, in whose "
                    f"place {has}; go on with the same files in the same order."
                )
        about = json.loads(json.dumps(self._spec.about(), default=str))
        if is_new and any(model.about.get(name) != value for name, value in about.items()):
            raise InvalidParameter(
                f"the model in {str(self.path)!r} is of {model.about.get('algorithm')} with other parameters; go on "
                "with the same command."
            )
        if bool(kept.get("in_rounds")) != self._in_rounds:
            how = "in rounds" if kept.get("in_rounds") else "at once"
            raise InvalidParameter(f"the model in {str(self.path)!r} has learned its answers {how}; go on like that.")


def sizes_of(source: Any) -> list[list[Any]]:
    """The files of a source, in order, each by its name, without its folder, and with its size."""
    files = Source(find_by_name(source))
    return [[os.path.basename(name), files.size_of(place)] for place, name in enumerate(files.names)]
