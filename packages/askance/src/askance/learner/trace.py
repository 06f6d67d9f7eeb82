"""What came of a stream: the decision for one event, the trace of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from askance.errors import InvalidInput
from askance.extras import how_to_install
from askance.plural import format_count

if TYPE_CHECKING:
    from askance.evaluate.metrics import Curve


class Decision(NamedTuple):
    """What was decided for one event."""

    label: Any
    """The predicted label."""
    margin: float
    """w.x, or the best score minus the second best."""
    probability: float
    """The ask probability of this event."""
    asked: bool
    """Whether its label is wanted."""
    weight: float
    """1 / probability, the importance weight of an answer; 0 where the event could not be asked."""
    ticket: int | None = None
    """The number under which the answer is given, however late: that of the event, from 1. None: not asked."""
    audit: bool = False
    """Whether it was asked as part of the uniform sample that ``explore`` draws."""


@dataclass(frozen=True, eq=False)
class Trace:
    """What was decided for each event of a stream, in order."""

    classes: np.ndarray
    """The labels there are, sorted."""
    predicted_index: np.ndarray
    """The predicted class of each event, as an index into ``classes``."""
    truth_index: np.ndarray
    """The true class of each event, as an index into ``classes``; -1 for an event without a label."""
    margin: np.ndarray
    """w.x, or the best score minus the second best."""
    variance: np.ndarray
    """The variance of the margin; empty where the combination computes none, and 0 once the budget is spent, unless
    the rule's probabilities need it."""
    probability: np.ndarray
    """The probability with which the event could be asked."""
    asked: np.ndarray
    """Whether the label was bought."""
    audit: np.ndarray
    """Which of the labels bought belong to the uniform sample that ``explore`` draws."""
    seconds: float
    """The time the loop took, input checks left out."""
    margin_is_signed: bool = True
    """Whether the margin's sign tells the class; with a weight vector per class it is never negative."""
    probabilistic: bool = False
    """Whether Phi(margin / sqrt(variance + 1)) is the probability of the second class."""

    @classmethod
    def join(cls, traces: Sequence[Trace]) -> Trace:
        """One trace of several that follow each other."""
        if len(traces) == 1:
            return traces[0]
        names = ("predicted_index", "truth_index", "margin", "variance", "probability", "asked", "audit")
        arrays: dict[str, Any] = {name: np.concatenate([getattr(trace, name) for trace in traces]) for name in names}
        return replace(traces[0], seconds=sum(trace.seconds for trace in traces), **arrays)

    def __len__(self) -> int:
        return len(self.asked)

    def __repr__(self) -> str:
        return f"Trace({format_count(len(self), 'event')}, {format_count(int(self.asked.sum()), 'label')} bought)"

    @cached_property
    def predicted(self) -> np.ndarray:
        """The predicted label of each event."""
        return self.classes.take(self.predicted_index)

    @cached_property
    def truth(self) -> np.ndarray:
        """The true label of each event; an object array, with None, where some have no label."""
        if self.is_labeled.all():
            return self.classes.take(self.truth_index)
        labels = self.classes.astype(object).take(self.truth_index)
        labels[~self.is_labeled] = None
        return labels

    @cached_property
    def is_labeled(self) -> np.ndarray:
        """Which events have a label; the others were predicted, and nothing else."""
        return self.truth_index >= 0

    @cached_property
    def labeled(self) -> Trace:
        """The events that have a label: what metrics are about."""
        if self.is_labeled.all():
            return self
        names = ("predicted_index", "truth_index", "margin", "probability", "asked", "audit")
        parts = {name: getattr(self, name)[self.is_labeled] for name in names}
        variance = self.variance[self.is_labeled] if self.variance.size else self.variance
        return replace(self, variance=variance, **parts)

    @cached_property
    def probability_positive(self) -> np.ndarray | None:
        """P(second class | x) as each event came, where the model has one."""
        if not self.probabilistic:
            return None
        from scipy.special import ndtr

        return np.asarray(ndtr(self.margin / np.sqrt(self.variance + 1.0)))

    @property
    def signed_margin(self) -> np.ndarray:
        """The margin, for two classes negative where the first of them is predicted."""
        if self.margin_is_signed:
            return self.margin
        return np.where(self.predicted_index == 1, self.margin, -self.margin)

    def summary(
        self, positive: Any = None, alpha_p: float = 0.5, c_p: float = 0.9, costs: Any = None
    ) -> dict[str, float | int]:
        """The metrics of the whole stream, every event counted by the prediction made when it came.

        Events without a label count nowhere but in ``unlabeled``, which is there if there are any.

        Parameters
        ----------
        positive : label, optional
            The class that precision, recall, F1, sum and cost are about; the second of two unless given.
        alpha_p : float, default 0.5
            The weight of sensitivity in ``sum``; specificity has the rest.
        c_p : float, default 0.9
            The cost of a missed positive in ``cost``; a false alarm costs the rest.
        costs : optional
            What each mistake costs in ``cost``, in place of ``c_p``: see ``askance.evaluate.costs``.
        """
        from askance.evaluate.metrics.summary import position_of, summarise_trace, weights_for

        weights = weights_for(alpha_p, c_p, costs, self.classes)
        known = self.labeled
        found = summarise_trace(known, position_of(positive, self.classes), weights)
        return found if known is self else {**found, "unlabeled": len(self) - len(known)}

    def curve(self, metric: str = "accuracy", **options: Any) -> Curve:
        """A metric as the stream goes on: cumulative or over a ``window``, over events or over labels.

        Events without a label are left out.
        The options are those of ``askance.evaluate.metrics.curve``.
        """
        from askance.evaluate.metrics import curve

        known = self.labeled
        return curve(known.truth, known.predicted, known.asked, classes=self.classes, metric=metric, **options)

    def to_frame(self) -> Any:
        """A pandas table with a row per event: truth, predicted, margin, probability, asked and audit."""
        try:
            import pandas  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            raise InvalidInput(
                "a trace becomes a table through pandas, which is missing: pip install pandas."
            ) from None
        names = ("truth", "predicted", "margin", "probability", "asked", "audit")
        return pandas.DataFrame({name: getattr(self, name) for name in names})

    def plot(self, metric: str = "accuracy", ax: Any = None, **options: Any) -> Any:
        """Draw a metric as the stream goes on, with matplotlib; returns the axes.

        Parameters
        ----------
        metric : str, default "accuracy"
        ax : matplotlib axes, optional
            Where to draw; a new figure unless given.
        **options
            As for ``curve``.
        """
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                raise InvalidInput(f"drawing needs matplotlib: {how_to_install('plots')}.") from None
            ax = pyplot.subplots()[1]
        drawn = self.curve(metric, **options)
        ax.plot(drawn.events, drawn.values)
        ax.set_xlabel(f"events ({int(self.asked.sum()):,} labels bought)")
        ax.set_ylabel(metric)
        return ax

    def _repr_html_(self) -> str:
        """The trace in a notebook: how many events and labels, and how good the predictions were."""
        known = self.labeled
        rows = [("events", f"{len(self):,}"), ("labels bought", f"{int(self.asked.sum()):,}")]
        if len(known):
            rows.append(("accuracy", f"{float(np.mean(known.predicted_index == known.truth_index)):.1%}"))
            for place, label in enumerate(self.classes.tolist()):
                of_class = known.truth_index == place
                if of_class.any():
                    share = float(np.mean(known.predicted_index[of_class] == place))
                    rows.append((f"recall of {label}", f"{share:.1%}"))
        cells = "".join(f"<tr><th>{escape(name)}</th><td>{value}</td></tr>" for name, value in rows)
        return f"<table>{cells}</table>"
