"""The metrics. Each is declared here, once: summaries, estimates, curves, comparisons and reports read this table.

To add one, add an entry to ``METRICS``, and a line to the table of metrics in ``docs/compare.md``. What it is computed
from decides where it turns up:

    of_matrix           the confusion matrix                    summaries, curves, comparisons
    of_class            one class against the others            the same; and estimates, if it is ``estimated``
    of_scores           the scores of two classes               summaries, comparisons
    of_probabilities    the probabilities of two classes        the same, for algorithms that have them
    (none)              the stream itself, not its predictions  summaries

What is estimated from bought labels lies between ``smallest`` and ``largest``, and so do the limits of its interval. Of
one class against the others it must fall with both the false alarms and the missed positives, or grow with both: its
limits are taken where both are (``quality.unanswered``). Without a positive class, the interval of an average or of a
function of the matrix is a first-order one (``quality.classes``): it helps where the metric is smooth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

from askance.evaluate.metrics import label_sets
from askance.evaluate.metrics.arrays import Flags, Numbers
from askance.evaluate.metrics.counts import Counts, PerClass, macro
from askance.evaluate.metrics.scores import area, expected_calibration_error, mean_surprise, total_loss


class Weights(NamedTuple):
    """What a user weighs: sensitivity in ``sum``, a missed positive in ``cost`` and ``weighted_loss``."""

    alpha_p: float = 0.5
    c_p: float = 0.9
    costs: Numbers | None = None
    """What each mistake costs in ``cost`` (rows: truth, columns: prediction), in place of ``c_p``."""


USUAL_WEIGHTS = Weights()


@dataclass(frozen=True)
class Metric:
    """A metric: its name, how people write it, its formula, and how it may be used."""

    name: str
    title: str
    of_matrix: Callable[[PerClass], float] | None = None
    of_class: Callable[[Counts, Weights], Any] | None = None
    of_costs: Callable[[PerClass, Numbers], float] | None = None
    """In place of ``of_class``, where the costs of all mistakes are known; it needs no positive class."""
    of_scores: Callable[[Flags, Numbers], float] | None = None
    """Of the events that are of the second class, and a score that is larger for them."""
    of_probabilities: Callable[[Flags, Numbers, Weights], float] | None = None
    """Of the events that are of the second class, and its probability."""
    average: Callable[[Numbers, PerClass], Any] | None = None
    """Of the values of ``of_class`` for each class, along the last axis, where no class is the positive one; there is
    none there otherwise."""
    lower_is_better: bool = False
    smallest: float = 0.0
    largest: float = 1.0
    """The largest value there can be; infinite for what is no share."""
    is_about_positive: bool = False
    """Whether ``of_probabilities`` must see the positive class as the second, since it weighs the two."""
    is_mean: bool = False
    """Whether it is a mean over the events: that of a stream then follows from those of its pieces."""
    is_summarised: bool = True
    """Whether summaries and comparisons have it."""
    in_report: bool = False
    """Whether the report of a comparison shows it beside the metric that was chosen by."""
    estimated: int | None = None
    """Its place in tables of estimates; None if ``askance.quality`` does not estimate it."""

    @property
    def is_counted(self) -> bool:
        """Whether it follows from counts, and therefore costs next to nothing."""
        return self.of_scores is None and self.of_probabilities is None

    @property
    def is_quality(self) -> bool:
        """Whether it says how good predictions are, not what they cost."""
        return self.has_curve or not self.is_counted

    @property
    def has_curve(self) -> bool:
        """Whether there is a curve of it: whether it follows from a confusion matrix."""
        return self.of_matrix is not None or self.of_class is not None

    def is_there(self, positive_index: int | None, weights: Weights) -> bool:
        """Whether a confusion matrix tells it, with this positive class, or none."""
        has_costs = self.of_costs is not None and weights.costs is not None
        return self.has_curve and (has_costs or positive_index is not None or not self.needs_positive)

    @property
    def needs_positive(self) -> bool:
        """Whether there is none without a positive class."""
        return self.of_matrix is None and self.of_class is not None and self.average is None

    def of_classes(self, per_class: PerClass, weights: Weights) -> Any:
        """Its value for all classes together: of the confusion matrix, or the average over the classes."""
        if self.of_matrix is not None:
            return self.of_matrix(per_class)
        assert self.of_class is not None
        assert self.average is not None
        return self.average(self.of_class(per_class.each, weights), per_class)

    def as_share(self, value: float) -> float:
        """Where a value lies between the smallest and the largest; the value itself if there is no largest.

        >>> METRICS["f1"].as_share(0.25), METRICS["mcc"].as_share(0.0), METRICS["cost"].as_share(7.5)
        (0.25, 0.5, 7.5)
        """
        return value if self.largest == inf else (value - self.smallest) / (self.largest - self.smallest)

    @property
    def sign(self) -> float:
        """1.0, or -1.0 if lower values are better: times this, more is better."""
        return -1.0 if self.lower_is_better else 1.0


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("events", "events", largest=inf),
        Metric("labels", "labels", largest=inf, lower_is_better=True),
        Metric("query_ratio", "query ratio"),
        Metric(
            "accuracy",
            "accuracy",
            of_matrix=PerClass.accuracy,
            in_report=True,
            estimated=0,
        ),
        Metric(
            "balanced_accuracy",
            "balanced accuracy",
            of_matrix=PerClass.balanced_accuracy,
            of_class=lambda counts, weights: counts.balanced_accuracy,
            in_report=True,
            estimated=5,
        ),
        Metric(
            "mcc",
            "Matthews correlation",
            of_matrix=PerClass.matthews,
            of_class=lambda counts, weights: counts.matthews,
            smallest=-1.0,
            estimated=10,
        ),
        Metric("mistakes", "mistakes", of_matrix=PerClass.mistakes, lower_is_better=True, largest=inf),
        Metric(
            "precision",
            "precision",
            of_class=lambda counts, weights: counts.precision,
            average=macro,
            in_report=True,
            estimated=1,
        ),
        Metric(
            "recall",
            "recall",
            of_class=lambda counts, weights: counts.recall,
            average=macro,
            in_report=True,
            estimated=2,
        ),
        Metric("sensitivity", "sensitivity", of_class=lambda counts, weights: counts.sensitivity),
        Metric("specificity", "specificity", of_class=lambda counts, weights: counts.specificity, estimated=4),
        Metric(
            "f1",
            "F1",
            of_class=lambda counts, weights: counts.f1,
            average=macro,
            in_report=True,
            estimated=3,
        ),
        Metric("sum", "sum", of_class=lambda counts, weights: counts.sum(weights.alpha_p), estimated=6),
        Metric(
            "cost",
            "cost",
            of_class=lambda counts, weights: counts.cost(weights.c_p),
            of_costs=PerClass.cost,
            lower_is_better=True,
            largest=inf,
            in_report=True,
            estimated=7,
        ),
        Metric("auc", "AUC", of_scores=area, in_report=True, estimated=8),
        Metric(
            "nlp",
            "negative log probability",
            of_probabilities=lambda is_second, probability, weights: mean_surprise(is_second, probability),
            lower_is_better=True,
            largest=inf,
            is_mean=True,
            in_report=True,
        ),
        Metric(
            "weighted_loss",
            "weighted loss",
            of_probabilities=lambda is_second, probability, weights: total_loss(
                is_second, probability, weights.c_p, 1.0 - weights.c_p
            ),
            lower_is_better=True,
            largest=inf,
            is_about_positive=True,
        ),
        Metric(
            "calibration_error",
            "calibration error",
            of_probabilities=lambda is_second, probability, weights: expected_calibration_error(is_second, probability),
            lower_is_better=True,
            is_summarised=False,
            estimated=9,
        ),
        Metric("seconds", "seconds", lower_is_better=True, largest=inf),
    )
}
"""All metrics by name, in the order of summaries."""


def metric_of(name: str) -> Metric:
    """The metric of this name. A name that is not ours, such as that of a paper's figure, is shown as it is, and more
    of it is better."""
    return METRICS.get(name) or Metric(name, name)


def estimated() -> list[Metric]:
    """The metrics that ``askance.quality`` estimates, in the order of tables."""
    return sorted((m for m in METRICS.values() if m.estimated is not None), key=lambda metric: metric.estimated or 0)


def comparable() -> list[str]:
    """The metrics that algorithms can be compared by: how good the predictions are, not what they cost."""
    known = [metric for metric in METRICS.values() if metric.is_quality and metric.is_summarised]
    counted = sorted(metric.name for metric in known if metric.is_counted)
    return [*counted, *(metric.name for metric in known if not metric.is_counted)]


# --- label sets --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LabelSetMetric:
    """A metric of label sets: a function of two matrices with a row per event and a column per label."""

    name: str
    title: str
    formula: Callable[[Any, Any], float]
    lower_is_better: bool = False


LABEL_SET_METRICS = {
    metric.name: metric
    for metric in (
        LabelSetMetric("micro_f1", "micro F1", label_sets.micro_f1),
        LabelSetMetric("macro_f1", "macro F1", label_sets.macro_f1),
        LabelSetMetric("hamming_loss", "Hamming loss", label_sets.hamming_loss, lower_is_better=True),
        LabelSetMetric("subset_accuracy", "subset accuracy", label_sets.subset_accuracy),
    )
}
"""The metrics of streams whose labels are sets."""
