"""The estimates of a stream that goes on: a few additions per event and per answer, in any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from askance.errors import InvalidInput, InvalidParameter
from askance.learner.octaves import octave_of
from askance.quality.anytime import Walk
from askance.quality.bins import as_score, odds, probability_bin, score_key
from askance.quality.formats import FORMAT, upgraded
from askance.quality.ledger import PROBABILITY_UNIT, Ledger, Settings
from askance.quality.recent import Filing, Recent
from askance.quality.result import Estimate, Quality
from askance.quality.tally import Tally


@dataclass(slots=True)
class Asked:
    """An asked event, remembered for its answer."""

    number: int
    probability: float
    guess: float
    """What was predicted of it for the limits at all times."""
    filing: Filing
    truth: int = -1


def number_of(value: Any, name: str) -> float:
    """A plain float, or a sentence."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be a number, got {value!r}.") from None


class Monitor:
    """Watches how well events are predicted, from the answers there are.

    Every event is told to it as it comes, with the prediction and the probability of being asked; an answer is told
    whenever it comes, and is judged by the prediction of its own event. Both take constant time and memory.

    Parameters
    ----------
    classes : list of labels
        Two or more; with two, scores and probabilities point to the second.
    positive : label, optional
        The class that precision, recall and the like are about. Default: the second of two. With three or more
        and none named, they are averages over the classes.
    window : int, default 10_000
        How many of the last events ``recent`` is about.
    anytime : bool, default False
        Whether the intervals of ``overall`` hold at all times at once. Those of ``recent`` never do.
    alpha_p, c_p : float
        As in ``Trace.summary``.
    level : float, default 0.95
        The confidence of the intervals.
    keep : int, default 100_000
        How many asked events are remembered for their answers, or for corrections; the oldest is forgotten first.

    Examples
    --------
    >>> monitor = Monitor(classes=["ham", "spam"], window=1000)
    >>> for number in range(2000):
    ...     ticket = monitor.event("ham", probability=0.5, asked=number % 2 == 0)
    ...     if number % 2 == 0:
    ...         counted = monitor.answer(ticket, "spam" if number % 20 == 0 else "ham")
    >>> print(monitor.accuracy)
    0.900 [0.885, 0.912]
    >>> print(monitor.recent.accuracy)
    0.900 [0.878, 0.918]
    """

    def __init__(
        self,
        classes: Any,
        *,
        positive: Any = None,
        window: int = 10_000,
        anytime: bool = False,
        alpha_p: float = 0.5,
        c_p: float = 0.9,
        level: float = 0.95,
        keep: int = 100_000,
    ) -> None:
        self.settings = Settings.of(classes, positive, alpha_p, c_p, level)
        for name, value in (("window", window), ("keep", keep)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise InvalidParameter(f"{name} must be a whole number of events, 1 or more, got {value!r}.")
        self.positive, self.window, self.keep = positive, int(window), int(keep)
        self.events = 0
        self._index = {label: place for place, label in enumerate(self.settings.classes.tolist())}
        self._ledger = Ledger(self.settings)
        self._recent = Recent(window)
        self._walk = Walk(len(self.settings.classes)) if anytime else None
        self._open: dict[int, Asked] = {}  # by ticket

    def event(
        self,
        predicted: Any,
        probability: float,
        asked: bool,
        *,
        score: float | None = None,
        probability_positive: float | None = None,
        ticket: int | None = None,
    ) -> int:
        """Count an event as it comes; returns its ticket, the number of the event from 1 on unless one is given.

        ``probability`` is the one it was asked with, 0 if it could not be. ``score`` (a signed margin) is needed for
        the area under the ROC curve, ``probability_positive`` for that and for the calibration error; give the same for
        all events.
        """
        column = self._class(predicted, "predicted")
        probability = number_of(probability, "probability")
        score = None if score is None else number_of(score, "score")
        if probability_positive is not None:
            probability_positive = number_of(probability_positive, "probability_positive")
        if not 0.0 <= probability <= 1.0:
            raise InvalidInput(f"probability must be in [0, 1], got {probability!r}.")
        if asked and probability == 0.0:
            raise InvalidInput("an event that is asked has a probability above 0; give the one it was drawn with.")
        ticket = self.events + 1 if ticket is None else ticket
        if self._is_open(ticket):
            raise InvalidInput(f"ticket {ticket!r} was already given to another event; use a new number for each.")
        chance_bin, chance_units = -1, 0
        if len(self._index) == 2 and probability_positive is not None:
            if not 0.0 <= probability_positive <= 1.0:
                raise InvalidInput(f"probability_positive must be in [0, 1], got {probability_positive!r}.")
            chance_bin = probability_bin(probability_positive)
            chance_units = round(probability_positive * PROBABILITY_UNIT)
            score = as_score(probability_positive)
        if score is not None and not abs(score) < float("inf"):
            raise InvalidInput(f"score must be a finite number, got {score!r}.")
        key = 0 if score is None else score_key(score)
        h = octave_of(probability)
        weight = odds(probability, h)
        filing = Filing(column, key, h, weight, chance_bin, chance_units, int(score is not None), int(bool(asked)))

        ledger, number = self._ledger, self.events
        ledger.tally.add_event(ledger.place(column, key), h, asked)
        ledger.scored += score is not None
        if chance_bin >= 0:
            ledger.by_probability.add_event(chance_bin, h, asked)
            ledger.expected[chance_bin] += chance_units
            ledger.probable += 1
        self._recent.add(number, filing)
        guess = self._walk.event(column, probability, asked) if self._walk is not None else 0.0
        self.events += 1
        if asked:
            self._open[ticket] = Asked(number, probability, guess, filing)
            if len(self._open) > self.keep:
                del self._open[next(iter(self._open))]
        return ticket

    def answer(self, ticket: int, label: Any, *, replace: bool = False) -> bool:
        """Count the answer to an event; returns whether it counts.

        A label of an event that was not asked, or was forgotten (see ``keep``), does not: nobody knows how likely it
        was to come. ``replace`` corrects an earlier answer.
        """
        truth = self._class(label, "label")
        if not self._is_open(ticket):
            return False
        event = self._open[ticket]
        before = event.truth
        if before == truth:
            return True  # said once more
        if before >= 0:
            if not replace:
                raise InvalidInput(
                    f"ticket {ticket!r} was already answered {self.settings.classes.tolist()[before]!r}; "
                    f"pass replace=True to correct it."
                )
            self._count(event, before, -1)
        self._count(event, truth, 1)
        self._recent.answer(event.number, self.events, truth)
        event.truth = truth
        return True

    def _count(self, event: Asked, truth: int, sign: int) -> None:
        """Add an answer, or take it back."""
        filing, ledger = event.filing, self._ledger
        ledger.tally.add_answer(truth, ledger.place(filing.said, filing.key), filing.octave, filing.odds, sign)
        if filing.chance_bin >= 0:
            ledger.by_probability.add_answer(truth, filing.chance_bin, filing.octave, filing.odds, sign)
        if self._walk is not None:
            self._walk.answer(filing.said, event.probability, event.guess, truth != filing.said, float(sign))

    def _is_open(self, ticket: Any) -> bool:
        try:
            return ticket in self._open
        except TypeError:
            raise InvalidInput(
                f"ticket must be a number or a text that names the event, got {ticket!r}; give one to each event."
            ) from None

    def _class(self, label: Any, name: str) -> int:
        try:
            return self._index[label]
        except (KeyError, TypeError):
            raise InvalidInput(
                f"{name} is {label!r}, which is not one of the classes "
                f"{', '.join(repr(known) for known in list(self._index)[:10])}."
            ) from None

    @property
    def overall(self) -> Quality:
        """The estimates for all events so far."""
        return self._ledger.quality(self._walk)

    @property
    def recent(self) -> Quality:
        """The estimates for the last ``window`` events, answers that came since included."""
        return self._recent.ledger(self.settings, self.events).quality()

    def __getattr__(self, name: str) -> Estimate:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.overall, name)

    def to_dict(self) -> dict[str, Any]:
        """Everything, in plain numbers and lists, ready for JSON; the labels must be too."""
        settings, ledger = self.settings, self._ledger
        return {
            "format": FORMAT,
            "classes": settings.classes.tolist(),
            "positive": self.positive.item() if isinstance(self.positive, np.generic) else self.positive,
            "window": self.window,
            "anytime": self._walk is not None,
            "alpha_p": settings.alpha_p,
            "c_p": settings.c_p,
            "level": settings.level,
            "keep": self.keep,
            "events": self.events,
            "tally": ledger.tally.to_dict(),
            "by_probability": ledger.by_probability.to_dict(),
            "expected": ledger.expected.tolist(),
            "top": ledger.top,
            "scored": ledger.scored,
            "probable": ledger.probable,
            "recent": self._recent.to_list(self.events),
            "walk": None if self._walk is None else self._walk.to_dict(),
            "open": [
                [ticket, event.number, event.probability, event.guess, list(event.filing._replace(truth=event.truth))]
                for ticket, event in self._open.items()
            ],
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> Monitor:
        """The monitor that ``to_dict`` described."""
        if not isinstance(state, dict) or state.get("format") not in (1, FORMAT):
            raise InvalidInput("this is not the state of a monitor, or one of a newer version; nothing was loaded.")
        try:
            return cls._restored(state if state["format"] == FORMAT else upgraded(state))
        except (KeyError, TypeError, ValueError, IndexError) as reason:
            raise InvalidInput(f"the state of the monitor is damaged ({reason!r}); nothing was loaded.") from None

    @classmethod
    def _restored(cls, state: dict[str, Any]) -> Monitor:
        names = ("positive", "window", "anytime", "alpha_p", "c_p", "level", "keep")
        monitor = cls(state["classes"], **{name: state[name] for name in names})
        ledger = monitor._ledger
        shapes = ledger.tally.shape, ledger.by_probability.shape
        ledger.tally = Tally.from_dict(state["tally"])
        ledger.by_probability = Tally.from_dict(state["by_probability"])
        if (ledger.tally.shape, ledger.by_probability.shape) != shapes:
            raise ValueError("the counts do not fit the classes")
        monitor.events = state["events"]
        if monitor.events != int(ledger.tally.events.sum()):
            raise ValueError(f"{monitor.events} events, but {int(ledger.tally.events.sum())} were filed")
        ledger.expected[:] = state["expected"]
        ledger.top = state["top"]
        ledger.scored, ledger.probable = state["scored"], state["probable"]
        monitor._recent = Recent.from_list(state["window"], state["recent"])
        if state["walk"] is not None:
            monitor._walk = Walk.from_dict(state["walk"])
        for ticket, number, probability, guess, filing in state["open"]:
            filed = Filing(*filing)
            monitor._open[ticket] = Asked(number, probability, guess, filed, filed.truth)
        return monitor
