"""The estimates of a whole trace, or of columns, at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from askance.errors import InvalidInput, InvalidParameter
from askance.metrics.arrays import column, numbers
from askance.metrics.counts import class_index
from askance.metrics.probability import probabilities
from askance.quality.anytime import Walk
from askance.quality.bins import Integers, as_scores, many_odds, octaves, probability_bins, score_bins
from askance.quality.ledger import PROBABILITY_UNIT, Ledger, Settings
from askance.quality.result import Quality
from askance.quality.tally import Tally


def estimate(
    trace: Any,
    *,
    window: int | None = None,
    positive: Any = None,
    alpha_p: float = 0.5,
    c_p: float = 0.9,
    level: float = 0.95,
    anytime: bool = False,
) -> Quality:
    """How well a stream was predicted, all events counted, judged by the bought labels alone.

    Parameters
    ----------
    trace : Trace
        What ``run`` returned. The labels of events that were not asked about are not looked at.
    window : int, optional
        Only the last so many events.
    positive, alpha_p, c_p
        As in ``Trace.summary``.
    level : float, default 0.95
        The confidence of the intervals.
    anytime : bool, default False
        Intervals that hold at all times at once: wider, for streams that are watched.

    Examples
    --------
    >>> import askance
    >>> from askance.stream.generators import messages
    >>> stream = messages(2000)
    >>> trace = askance.make("PAA-I", delta=0.5, random_state=0).run(stream.X, stream.labels)
    >>> quality = estimate(trace)
    >>> quality.accuracy.low < trace.summary()["accuracy"] < quality.accuracy.high
    True
    """
    margin = trace.margin
    if not trace.margin_is_signed:
        margin = np.where(trace.predicted_index == 1, margin, -margin) if len(trace.classes) == 2 else None
    return estimate_columns(
        trace.predicted,
        trace.probability,
        trace.asked,
        trace.truth,
        classes=trace.classes,
        score=margin if len(trace.classes) == 2 else None,
        probability_positive=trace.probability_positive,
        window=window,
        positive=positive,
        alpha_p=alpha_p,
        c_p=c_p,
        level=level,
        anytime=anytime,
    )


def estimate_columns(
    predicted: ArrayLike,
    probability: ArrayLike,
    answered: ArrayLike,
    labels: ArrayLike,
    *,
    classes: ArrayLike,
    asked: ArrayLike | None = None,
    score: ArrayLike | None = None,
    probability_positive: ArrayLike | None = None,
    window: int | None = None,
    positive: Any = None,
    alpha_p: float = 0.5,
    c_p: float = 0.9,
    level: float = 0.95,
    anytime: bool = False,
) -> Quality:
    """The same from columns with one entry per event.

    ``answered`` says where there is an answer, which ``labels`` then holds; elsewhere it may hold anything. ``asked``
    matters to ``anytime`` only, where answers are missing: those events were asked, but not (yet) answered.
    ``probability`` is that of being asked, ``score`` (for the area under the ROC curve) points to the second of two
    classes, and so does ``probability_positive`` (for the calibration error; it also orders, if given).

    >>> quality = estimate_columns([1, 1, -1, -1], [1, 1, 1, 1], [True] * 4, [1, -1, -1, -1], classes=[-1, 1])
    >>> quality.accuracy
    Estimate(value=0.75, low=0.75, high=0.75)
    """
    settings = Settings.of(classes, positive, alpha_p, c_p, level)
    said = column("predicted", predicted)
    length = len(said)
    has_answer = column("answered", answered, length).astype(np.bool_)
    ask = checked_probability(probability, length)
    wanted = has_answer if asked is None else has_answer | column("asked", asked, length).astype(np.bool_)
    known = column("labels", labels, length)[has_answer]
    if window is not None and window < 1:
        raise InvalidParameter(f"window must be 1 event or more, got {window!r}; leave it out for all events.")
    if (has_answer & (ask <= 0.0)).any():
        event = int((has_answer & (ask <= 0.0)).argmax())
        raise InvalidInput(
            f"event {event} has an answer but an ask probability of 0; an answer that was not drawn with a known "
            f"probability cannot be used, so mark it as not answered."
        )
    said_index = class_index("predicted", said, settings.classes)
    truth = np.full(length, -1, np.int64)
    truth[has_answer] = class_index("labels", known, settings.classes)
    chance = None if probability_positive is None else probabilities(probability_positive, length)
    order = as_scores(chance) if chance is not None else None if score is None else numbers("score", score, length)
    start = 0 if window is None else max(length - window, 0)
    part = slice(start, None)
    columns = (said_index[part], ask[part], truth[part])
    ledger = fill(settings, *columns, None if order is None else order[part], None if chance is None else chance[part])
    return ledger.quality(walk(settings, *columns, wanted[part]) if anytime else None)


def checked_probability(probability: ArrayLike, length: int) -> np.ndarray:
    ask = numbers("probability", probability, length)
    outside = (ask < 0.0) | (ask > 1.0)
    if outside.any():
        event = int(outside.argmax())
        raise InvalidInput(f"probability must be in [0, 1], got {float(ask[event])!r} at event {event}.")
    return ask


def fill(
    settings: Settings,
    said: Integers,
    ask: np.ndarray,
    truth: Integers,
    score: np.ndarray | None,
    chance: np.ndarray | None,
) -> Ledger:
    """The ledger of whole columns."""
    octave = octaves(ask)
    odds = many_odds(ask, octave)
    place = said * settings.score_bins
    if score is not None and settings.score_bins > 1:
        place = place + score_bins(score)
    chance_bin = None if chance is None else probability_bins(chance)
    chance_units = None if chance is None else np.rint(chance * PROBABILITY_UNIT).astype(np.int64)
    return filed(settings, place, octave, odds, truth, score is not None, chance_bin, chance_units)


def filed(
    settings: Settings,
    place: Integers,
    octave: Integers,
    odds: Integers,
    truth: Integers,
    is_scored: bool,
    chance_bin: Integers | None,
    chance_units: Integers | None,
) -> Ledger:
    ledger = Ledger(settings)
    classes = len(settings.classes)
    ledger.tally = Tally.of((classes, classes * settings.score_bins), place, octave, odds, truth)
    ledger.scored = len(place) if is_scored else 0
    if chance_bin is not None and chance_units is not None and classes == 2:
        ledger.by_probability = Tally.of(ledger.by_probability.shape[:2], chance_bin, octave, odds, truth)
        np.add.at(ledger.expected, chance_bin, chance_units)
        ledger.probable = len(place)
    return ledger


def walk(settings: Settings, said: Integers, ask: np.ndarray, truth: Integers, asked: np.ndarray) -> Walk:
    """The running sums, every answer taken as it came with its event."""
    running = Walk(len(settings.classes))
    rows = zip(said.tolist(), ask.tolist(), truth.tolist(), asked.tolist(), strict=True)
    for column_, probability, answer, is_asked in rows:
        guess = running.event(column_, probability, is_asked)
        if answer >= 0:
            running.answer(column_, probability, guess, answer != column_)
    return running
