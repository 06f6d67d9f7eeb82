"""Has the world changed? A signal when the mistakes, judged by bought labels, become more frequent.

A change detector wants a plain series of right and wrong. The bought labels are none: events the model was unsure about
were asked more often, and as it learns they become other events. So an answer that came with ask probability p is
passed on with probability ``rate`` / p only. What passes is a fair sample of all events, each with the same probability
``rate``, and any detector for a mean is used as its book says. With ``explore`` in the classifier, ``rate`` is that
share; the answers marked ``audit`` are just such a sample, and are taken as they are.

The detector is Page and Hinkley's, thirty lines, here. Any other with river's two names, ``update(x)`` and
``drift_detected``, can be used in its place, such as ``river.drift.ADWIN()`` (the extra ``drift``); river
brings some 10 MB and takes a second to import, which a signal that is always on should not cost.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from askance.errors import InvalidInput, InvalidParameter
from askance.evaluate.metrics.arrays import is_number


class Detector(Protocol):
    """What is asked of a detector; those of river have it."""

    drift_detected: bool

    def update(self, x: float) -> Any:
        """Take in the next value."""


class PageHinkley:
    """Page's test for an increase of a mean, in Hinkley's form.

    The sum of x - mean - ``delta`` falls as long as nothing changes; an alarm is its rise by ``threshold`` above its
    lowest point. After an alarm everything starts anew.

    Parameters
    ----------
    delta : float, default 0.15
        Increases smaller than this are tolerated.
    threshold : float, default 30.0
        How far the sum must rise. Larger: fewer false alarms, and later ones. What to expect of the defaults depends on
        the share of mistakes; docs/quality.md has the figures.
    min_instances : int, default 30
        Values before the first alarm.
    forget : float, default 1.0
        What remains of the sum with each value. Below 1 the sum cannot fall below -delta / (1 - forget); once it is
        there, nothing pulls it down any more, and false alarms become frequent (with 0.9999, after some 5,000 values).
    scaled : bool, default True
        Whether delta and threshold are in standard deviations of right and wrong, sqrt(mean (1 - mean)), so that the
        same numbers serve a model that errs once in fifty events and one that errs once in three.

    Notes
    -----
    E. S. Page, "Continuous Inspection Schemes", Biometrika 41 (1954). Unscaled and with ``forget=0.9999`` it
    is ``river.drift.PageHinkley`` with ``mode="up"``.

    Examples
    --------
    >>> detector = PageHinkley()
    >>> for place, wrong in enumerate([0, 0, 0, 0, 1] * 20 + [0, 1, 1] * 30):
    ...     detector.update(wrong)
    ...     if detector.drift_detected:
    ...         print(f"alarm at value {place}, the change was at 100")
    alarm at value 138, the change was at 100
    """

    def __init__(
        self,
        delta: float = 0.15,
        threshold: float = 30.0,
        min_instances: int = 30,
        forget: float = 1.0,
        scaled: bool = True,
    ) -> None:
        are_numbers = all(map(is_number, (delta, threshold, min_instances, forget)))
        if not are_numbers or delta < 0.0 or threshold <= 0.0 or min_instances < 1 or not 0.0 < forget <= 1.0:
            raise InvalidParameter(
                f"delta must be 0 or more, threshold positive, min_instances 1 or more and forget in (0, 1], "
                f"got {delta!r}, {threshold!r}, {min_instances!r} and {forget!r}."
            )
        self.delta, self.threshold, self.min_instances, self.forget = delta, threshold, min_instances, forget
        self.scaled = scaled
        self.restart()

    def restart(self) -> None:
        self.drift_detected = False
        self.values, self.mean, self.sum, self.lowest = 0, 0.0, 0.0, float("inf")

    def update(self, x: float) -> None:
        """Take in the next value; ``drift_detected`` then says whether this one was an alarm."""
        if self.drift_detected:
            self.restart()
        self.values += 1
        self.mean += (x - self.mean) / self.values
        unit = 1.0
        if self.scaled:
            share = (self.mean * self.values + 1.0) / (self.values + 2.0)
            unit = math.sqrt(share * (1.0 - share))
        self.sum = self.forget * self.sum + (x - self.mean) / unit - self.delta
        self.lowest = min(self.lowest, self.sum)
        self.drift_detected = self.values >= self.min_instances and self.sum - self.lowest > self.threshold


class DriftSignal:
    """Passes a fair sample of the answers on to a detector, and notes its alarms.

    Parameters
    ----------
    rate : float in (0, 1]
        The share of all events the sample is to hold; ``explore`` of the classifier, where it has one. Events asked
        with less than this are under-represented.
    detector : Detector, optional
        :class:`PageHinkley` unless given.
    random_state : int, default 0

    Examples
    --------
    >>> signal, found = DriftSignal(rate=0.5), []
    >>> for event in range(4000):
    ...     if signal.answer(wrong=event % 10 < (1 if event < 2000 else 4), probability=1.0):
    ...         found.append(event)
    >>> len(found), 2000 < found[0] < 2200
    (1, True)
    """

    def __init__(self, rate: float, detector: Detector | None = None, random_state: int = 0) -> None:
        if not is_number(rate) or not 0.0 < rate <= 1.0:
            raise InvalidParameter(f"rate must be in (0, 1], the share of events to sample, got {rate!r}.")
        self.rate, self.random_state = rate, random_state
        self.detector: Detector = PageHinkley() if detector is None else detector
        self.answers = 0
        self.sampled = 0
        self.alarms = 0

    def answer(self, wrong: bool, probability: float, audit: bool | None = None) -> bool:
        """Take in an answer: whether the prediction was wrong, and the probability it was asked with.

        ``audit`` says whether it belongs to the random sample already, where the classifier knows. Returns whether
        this answer raised an alarm.
        """
        if not is_number(probability) or not 0.0 < probability <= 1.0:
            raise InvalidInput(f"probability must be in (0, 1], got {probability!r}.")
        taken = uniform_of(self.random_state, self.answers) * probability < self.rate if audit is None else bool(audit)
        self.answers += 1
        if not taken:
            return False
        self.sampled += 1
        self.detector.update(float(wrong))
        self.alarms += bool(self.detector.drift_detected)
        return bool(self.detector.drift_detected)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON, for the detector that is built in."""
        if not isinstance(self.detector, PageHinkley):
            raise InvalidInput(
                "only the state of the built-in detector can be saved; save the other one by its own means."
            )
        return {
            "rate": self.rate,
            "random_state": self.random_state,
            "answers": self.answers,
            "sampled": self.sampled,
            "alarms": self.alarms,
            "detector": {k: (None if v == float("inf") else v) for k, v in vars(self.detector).items()},
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> DriftSignal:
        """The signal that ``to_dict`` described."""
        signal = cls(state["rate"], random_state=state["random_state"])
        signal.answers, signal.sampled, signal.alarms = state["answers"], state["sampled"], state["alarms"]
        for name, value in state["detector"].items():
            setattr(signal.detector, name, float("inf") if value is None else value)
        return signal


def alarms(trace: Any, rate: float, detector: Detector | None = None, random_state: int = 0) -> list[int]:
    """The events of a trace whose answers raised an alarm; audits are used where the trace has them.

    Examples
    --------
    >>> import askance
    >>> from askance.data.generators import abrupt
    >>> stream = abrupt(20_000, angle=180)
    >>> trace = askance.make("PAA-I", delta=0.1, explore=0.05, random_state=0).run(stream.X, stream.y)
    >>> found = alarms(trace, rate=0.05)
    >>> len(found), 10_000 < found[0] < 11_500
    (1, True)
    """
    signal = DriftSignal(rate, detector, random_state)
    audit = np.asarray(trace.audit)
    use_audit = bool(audit.any())
    found = []
    for event in np.flatnonzero(trace.asked).tolist():
        wrong = bool(trace.predicted_index[event] != trace.truth_index[event])
        if signal.answer(wrong, float(trace.probability[event]), bool(audit[event]) if use_audit else None):
            found.append(event)
    return found


def uniform_of(seed: int, number: int) -> float:
    """A uniform number that depends on the two alone (splitmix64), so that a saved signal goes on as it would have."""
    mask = (1 << 64) - 1
    z = (seed * 0xD1342543DE82EF95 + (number + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return ((z ^ (z >> 31)) >> 11) * 2.0**-53
