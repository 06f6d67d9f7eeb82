"""Honest figures from bought labels alone: accuracy and the like of a stream of which few labels are known.

The labels that were bought are no fair sample: events the model was unsure about were asked more often. As every event
carries the probability with which it was asked, each figure can be estimated for *all* events nevertheless, with an
interval. :func:`estimate` does it for a trace, :class:`Monitor` as the stream goes on.
"""

from askance.metrics.probability import calibration_error
from askance.quality.arrays import estimate, estimate_columns
from askance.quality.monitor import Monitor
from askance.quality.result import Estimate, Quality

__all__ = ["Estimate", "Monitor", "Quality", "calibration_error", "estimate", "estimate_columns"]
