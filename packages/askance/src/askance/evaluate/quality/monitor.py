"""Estimates while the stream goes on: a few additions per event and per answer, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from askance.errors import InvalidInput, InvalidParameter
from askance.evaluate.quality.anytime import ConfidenceSequence
from askance.evaluate.quality.bins import Integers, as_score, ask_bin_of, probability_bin, score_key, unasked_weight
from askance.evaluate.quality.ledger import PROBABILITY_UNIT, EstimateSettings, Ledger
from askance.evaluate.quality.recent import ASKED, FORMAT, EventNumbers, Recent, read_columns, upgrade
from askance.evaluate.quality.result import Estimate, Quality
from askance.evaluate.quality.strata import StratumCounts
from askance.pending import Pending

WORTH_ARRAYS = 8  # events from which on they are counted faster together


@dataclass(slots=True)
class Asked:
    """An asked event, kept for its answer."""

    number: int
    probability: float
    guess: float
    """x_t, the guess of the confidence sequence (see ``anytime``)."""
    event_row: EventNumbers
    truth: int = -1


def number_of(value: Any, name: str) -> float:
    """The value as a float; raises if it is no number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be a number, got {value!r}.") from None


class Monitor:
    """Estimates how well events are predicted while they come, from the answers so far.

    Call ``event`` for every event, with its prediction and ask probability, and ``answer`` whenever an answer comes: it
    is compared with the prediction of its own event. Both take constant time and memory.

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
    max_pending : int, default 100_000
        How many asked events are kept for their answers, or for corrections; the oldest is dropped first.

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
        max_pending: int = 100_000,
    ) -> None:
        self.settings = EstimateSettings.of(classes, positive, alpha_p, c_p, level)
        for name, value in (("window", window), ("max_pending", max_pending)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise InvalidParameter(f"{name} must be a whole number of events, 1 or more, got {value!r}.")
        self.positive, self.window, self.max_pending = positive, int(window), int(max_pending)
        self.events = 0
        self._index = {label: place for place, label in enumerate(self.settings.classes.tolist())}
        self._ledger = Ledger(self.settings)
        self._recent = Recent(window)
        self._sequence = ConfidenceSequence(len(self.settings.classes)) if anytime else None
        self._asked: Pending[int, Asked] = Pending()  # with or without an answer

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
        """Count an event; returns its ticket, which is the number of the event, from 1 on, unless one is given.

        ``probability`` is its ask probability, 0 if it could not be asked. ``score`` (a signed margin) serves the area
        under the ROC curve, ``probability_positive`` that and the calibration error; give the same for all events.
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
        if self._is_kept(ticket):
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
        h = ask_bin_of(probability)
        weight = unasked_weight(probability, h)
        event_row = EventNumbers(
            column, key, h, weight, chance_bin, chance_units, int(score is not None), int(bool(asked))
        )

        ledger, number = self._ledger, self.events
        ledger.counts.add_event(ledger.place(column, key), h, asked)
        ledger.scored += score is not None
        if chance_bin >= 0:
            ledger.by_probability.add_event(chance_bin, h, asked)
            ledger.expected[chance_bin] += chance_units
            ledger.probable += 1
        self._recent.add(number, event_row)
        guess = self._sequence.event(column, probability, asked) if self._sequence is not None else 0.0
        self.events += 1
        if asked:
            self._asked.add(ticket, Asked(number, probability, guess, event_row), self.max_pending)
        return ticket

    def add_events(
        self,
        predicted: Sequence[Any],
        probabilities: Sequence[float],
        asked: Sequence[bool],
        *,
        probabilities_positive: Sequence[float] | None = None,
        first_ticket: int | None = None,
    ) -> None:
        """``event`` for several events with tickets that follow one another: the same counts, in less time."""
        first = self.events + 1 if first_ticket is None else first_ticket
        tickets = range(first, first + len(predicted))
        if len(tickets) >= WORTH_ARRAYS and self._sequence is None and self._asked.keys().isdisjoint(tickets):
            try:
                classes = np.array([self._index[label] for label in predicted], np.int64)
                found = read_columns(classes, probabilities, asked, probabilities_positive, len(self._index))
            except (KeyError, TypeError, ValueError):
                found = None  # one by one they are refused in a sentence
            if found is not None:
                self._add_columns(found, first, probabilities)
                return
        chances: Sequence[float | None] = probabilities_positive or [None] * len(predicted)
        for label, probability, is_asked, chance, ticket in zip(
            predicted, probabilities, asked, chances, tickets, strict=True
        ):
            self.event(label, probability, is_asked, probability_positive=chance, ticket=ticket)

    def _add_columns(self, rows: Integers, first_ticket: int, probabilities: Sequence[float]) -> None:
        """Count events by their ``EventNumbers``, a row each."""
        self._ledger.add_events(rows)
        self._recent.add_rows(self.events, rows)
        for place in np.flatnonzero(rows[:, ASKED]).tolist():
            event_row = EventNumbers(*rows[place].tolist())
            asked = Asked(self.events + place, float(probabilities[place]), 0.0, event_row)
            self._asked.add(first_ticket + place, asked, self.max_pending)
        self.events += len(rows)

    def answer(self, ticket: int, label: Any, *, replace: bool = False) -> bool:
        """Count the answer to an event; returns whether it counts.

        The label of an event that was not asked, or was dropped (see ``max_pending``), does not count: nobody knows how
        likely it was to come. ``replace`` corrects an earlier answer.
        """
        truth = self._class(label, "label")
        if not self._is_kept(ticket):
            return False
        event = self._asked[ticket]
        before = event.truth
        if before == truth:
            return True  # the same answer again
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

    def answer_to(self, ticket: int) -> Any:
        """The answer that was counted for an event; None while there is none, and for one that is not kept."""
        event = self._asked[ticket] if self._is_kept(ticket) else None
        return None if event is None or event.truth < 0 else self.settings.classes.tolist()[event.truth]

    def _count(self, event: Asked, truth: int, sign: int) -> None:
        """Count an answer, or with ``sign`` -1 take it back."""
        event_row, ledger = event.event_row, self._ledger
        ledger.counts.add_answer(
            truth, ledger.place(event_row.predicted_class, event_row.key), event_row.ask_bin, event_row.unasked, sign
        )
        if event_row.chance_bin >= 0:
            ledger.by_probability.add_answer(truth, event_row.chance_bin, event_row.ask_bin, event_row.unasked, sign)
        if self._sequence is not None:
            self._sequence.answer(
                event_row.predicted_class,
                event.probability,
                event.guess,
                truth != event_row.predicted_class,
                float(sign),
            )

    def _is_kept(self, ticket: Any) -> bool:
        try:
            return ticket in self._asked
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
        return self._ledger.quality(self._sequence)

    @property
    def recent(self) -> Quality:
        """The estimates for the last ``window`` events, answers that came since included."""
        return self._recent.ledger(self.settings, self.events).quality()

    def __getattr__(self, name: str) -> Estimate:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.overall, name)

    def to_dict(self) -> dict[str, Any]:
        """The state in plain numbers and lists, ready for JSON; the labels must be so too."""
        settings, ledger = self.settings, self._ledger
        return {
            "format": FORMAT,
            "classes": settings.classes.tolist(),
            "positive": self.positive.item() if isinstance(self.positive, np.generic) else self.positive,
            "window": self.window,
            "anytime": self._sequence is not None,
            "alpha_p": settings.alpha_p,
            "c_p": settings.c_p,
            "level": settings.level,
            "keep": self.max_pending,
            "events": self.events,
            "tally": ledger.counts.to_dict(),
            "by_probability": ledger.by_probability.to_dict(),
            "expected": ledger.expected.tolist(),
            "top": ledger.top,
            "scored": ledger.scored,
            "probable": ledger.probable,
            "recent": self._recent.to_list(self.events),
            "walk": None if self._sequence is None else self._sequence.to_dict(),
            "open": [
                [
                    ticket,
                    event.number,
                    event.probability,
                    event.guess,
                    list(event.event_row._replace(truth=event.truth)),
                ]
                for ticket, event in self._asked.items()
            ],
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> Monitor:
        """The monitor that ``to_dict`` described."""
        if not isinstance(state, dict) or state.get("format") not in (1, FORMAT):
            raise InvalidInput("this is not the state of a monitor, or one of a newer version; nothing was loaded.")
        try:
            return cls._restore(state if state["format"] == FORMAT else upgrade(state))
        except (KeyError, TypeError, ValueError, IndexError) as reason:
            raise InvalidInput(f"the state of the monitor is damaged ({reason!r}); nothing was loaded.") from None

    @classmethod
    def _restore(cls, state: dict[str, Any]) -> Monitor:
        names = ("positive", "window", "anytime", "alpha_p", "c_p", "level")
        monitor = cls(state["classes"], **{name: state[name] for name in names}, max_pending=state["keep"])
        ledger = monitor._ledger
        shapes = ledger.counts.shape, ledger.by_probability.shape
        ledger.counts = StratumCounts.from_dict(state["tally"])
        ledger.by_probability = StratumCounts.from_dict(state["by_probability"])
        if (ledger.counts.shape, ledger.by_probability.shape) != shapes:
            raise ValueError("the counts do not fit the classes")
        monitor.events = state["events"]
        if monitor.events != int(ledger.counts.events.sum()):
            raise ValueError(f"{monitor.events} events, but {int(ledger.counts.events.sum())} were filed")
        ledger.expected[:] = state["expected"]
        ledger.top = state["top"]
        ledger.scored, ledger.probable = state["scored"], state["probable"]
        monitor._recent = Recent.from_list(state["window"], state["recent"])
        if state["walk"] is not None:
            monitor._sequence = ConfidenceSequence.from_dict(state["walk"])
        for ticket, number, probability, guess, event_row in state["open"]:
            row = EventNumbers(*event_row)
            monitor._asked[ticket] = Asked(number, probability, guess, row, row.truth)
        return monitor
