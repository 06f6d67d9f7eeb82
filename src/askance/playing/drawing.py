"""A metric as the stream goes on, for streams of any length in constant memory."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Self

import numpy as np

from askance.errors import InvalidParameter
from askance.learner.trace import Trace
from askance.metrics.curves import OVER, Curve, curve_of_cells, refuse_metric


@dataclass(frozen=True)
class Drawing:
    """Which curve is wanted; the words are those of ``askance.metrics.curve``."""

    metric: str = "accuracy"
    over: str = OVER[0]
    window: int | None = None

    def check(self) -> None:
        """Refuse what cannot be drawn of any stream, before anything is played."""
        refuse_metric(self.metric, 1)
        if self.over not in OVER:
            raise InvalidParameter(f"a curve goes over events or labels, not {self.over!r}.")
        if self.window is not None and self.window < 1:
            raise InvalidParameter(f"the window of a curve is 1 event or more, got {self.window}.")


class Recorder:
    """Keeps five bytes an event in temporary files, from which the curve is drawn at the end."""

    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        self._n_classes = self._events = 0

    def __enter__(self) -> Self:
        self._cells: IO[bytes] = tempfile.TemporaryFile(prefix="askance-")
        self._asked: IO[bytes] = tempfile.TemporaryFile(prefix="askance-")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._cells.close()
        self._asked.close()

    def add(self, trace: Trace, positive_index: int | None) -> None:
        """The next events."""
        refuse_metric(self.drawing.metric, positive_index)
        self._n_classes = len(trace.classes)
        cells = trace.truth_index.astype(np.int32) * self._n_classes + trace.predicted_index
        self._cells.write(cells.astype(np.int32).tobytes())
        self._asked.write(trace.asked.astype(np.bool_).tobytes())
        self._events += len(trace)

    def curve(self, positive_index: int | None, alpha_p: float, c_p: float) -> Curve:
        """The curve of all of them."""
        wish = self.drawing
        return curve_of_cells(
            self._array(self._cells, np.int32),
            self._array(self._asked, np.bool_),
            self._n_classes,
            wish.metric,
            positive_index,
            alpha_p,
            c_p,
            window=wish.window,
            over=wish.over,
        )

    def _array(self, file: IO[bytes], dtype: Any) -> np.ndarray:
        file.flush()
        return np.memmap(file, dtype, mode="r", shape=(self._events,)) if self._events else np.zeros(0, dtype)
