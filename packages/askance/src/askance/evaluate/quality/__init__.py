"""Estimates from bought labels alone: accuracy and the like of a stream of which few labels are known.

Bought labels are no fair sample: events that the model was unsure of were asked more often. But every event has a known
ask probability, so each metric can be estimated for *all* events, with an interval. :func:`estimate` does it for a
trace, :class:`Monitor` as the stream goes on.
"""

from askance.evaluate.metrics.scores import calibration_error
from askance.evaluate.quality.arrays import estimate, estimate_columns
from askance.evaluate.quality.monitor import Monitor
from askance.evaluate.quality.result import Estimate, Quality

__all__ = ["Estimate", "Monitor", "Quality", "calibration_error", "estimate", "estimate_columns"]
