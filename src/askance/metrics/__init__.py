"""How well a stream was predicted, and how many labels that took.

Every function is a pure function over arrays with one entry per event. All events count: each was predicted
before its label could be asked for, so these are the cumulative, one-step-ahead figures the papers report.

:func:`summarise` gives all of them at once and is what ``Trace.summary`` returns.
"""

from askance.metrics.counts import (
    Counts,
    accuracy,
    balanced_accuracy,
    confusion_matrix,
    cost,
    count,
    f1,
    labels_used,
    macro_f1,
    macro_precision,
    macro_recall,
    mistakes,
    precision,
    query_ratio,
    recall,
    sensitivity,
    specificity,
    weighted_sum,
)
from askance.metrics.curves import Curve, curve
from askance.metrics.probability import calibration_error, nlp, weighted_loss
from askance.metrics.ranking import auc
from askance.metrics.summary import summarise

__all__ = [
    "Counts",
    "Curve",
    "accuracy",
    "auc",
    "balanced_accuracy",
    "calibration_error",
    "confusion_matrix",
    "cost",
    "count",
    "curve",
    "f1",
    "labels_used",
    "macro_f1",
    "macro_precision",
    "macro_recall",
    "mistakes",
    "nlp",
    "precision",
    "query_ratio",
    "recall",
    "sensitivity",
    "specificity",
    "summarise",
    "weighted_loss",
    "weighted_sum",
]
