"""How well a stream was predicted, and how many labels that took.

All events count: each was predicted before its label could be asked for, so these are the cumulative, one-step-ahead
figures the papers report. The metrics are declared in ``register``. :func:`summarise` gives all of them at once and is
what ``Trace.summary`` returns. The other functions are those that scikit-learn does not have.
"""

from askance.evaluate.metrics.counts import (
    Counts,
    cost,
    count,
    labels_used,
    query_ratio,
    specificity,
    weighted_sum,
)
from askance.evaluate.metrics.curves import Curve, curve
from askance.evaluate.metrics.register import METRICS, Metric
from askance.evaluate.metrics.scores import calibration_error, nlp, weighted_loss
from askance.evaluate.metrics.summary import summarise

__all__ = [
    "METRICS",
    "Counts",
    "Curve",
    "Metric",
    "calibration_error",
    "cost",
    "count",
    "curve",
    "labels_used",
    "nlp",
    "query_ratio",
    "specificity",
    "summarise",
    "weighted_loss",
    "weighted_sum",
]
