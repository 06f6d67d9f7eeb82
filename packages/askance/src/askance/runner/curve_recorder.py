"""The curve of a metric over a stream of any length, in constant memory."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Self

import numpy as np

from askance.errors import InvalidParameter
from askance.evaluate.metrics.curves import OVER, Curve, curve_of_cells, refuse_metric
from askance.evaluate.metrics.register import USUAL_WEIGHTS, Weights
from askance.learner.trace import Trace


@dataclass(frozen=True)
class CurveSpec:
    """Which curve to compute; the parameters are those of ``askance.evaluate.metrics.curve``."""

    metric: str = "accuracy"
    over: str = OVER[0]
    window: int | None = None

    def check(self) -> None:
        """Raise if no stream can have this curve, before anything is run."""
        refuse_metric(self.metric, 1)
        if self.over not in OVER:
            raise InvalidParameter(f"a curve goes over events or labels, not {self.over!r}.")
        if self.window is not None and self.window < 1:
            raise InvalidParameter(f"the window of a curve is 1 event or more, got {self.window}.")


class Recorder:
    """Keeps five bytes per event in temporary files, and computes the curve from them at the end."""

    def __init__(self, curve_spec: CurveSpec) -> None:
        self.curve_spec = curve_spec
        self._n_classes = self._events = 0

    def __enter__(self) -> Self:
        self._cells: IO[bytes] = tempfile.TemporaryFile(prefix="askance-")
        self._asked: IO[bytes] = tempfile.TemporaryFile(prefix="askance-")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._cells.close()
        self._asked.close()

    def add(self, trace: Trace, positive_index: int | None, weights: Weights = USUAL_WEIGHTS) -> None:
        """Record the next events; those without a label are left out."""
        trace = trace.labeled
        refuse_metric(self.curve_spec.metric, positive_index, weights)
        self._n_classes = len(trace.classes)
        cells = trace.truth_index.astype(np.int32) * self._n_classes + trace.predicted_index
        self._cells.write(cells.astype(np.int32).tobytes())
        self._asked.write(trace.asked.astype(np.bool_).tobytes())
        self._events += len(trace)

    def curve(self, positive_index: int | None, weights: Weights) -> Curve:
        """The curve of all recorded events."""
        spec = self.curve_spec
        return curve_of_cells(
            self._array(self._cells, np.int32),
            self._array(self._asked, np.bool_),
            self._n_classes,
            spec.metric,
            positive_index,
            weights,
            window=spec.window,
            over=spec.over,
        )

    def _array(self, file: IO[bytes], dtype: Any) -> np.ndarray:
        file.flush()
        return np.memmap(file, dtype, mode="r", shape=(self._events,)) if self._events else np.zeros(0, dtype)
