"""The estimates of a whole trace, or of columns, at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askance.errors import InvalidInput, InvalidParameter, InvalidType
from askance.evaluate.metrics.arrays import column, numbers
from askance.evaluate.metrics.counts import class_index
from askance.evaluate.metrics.scores import calibration_bins, probabilities
from askance.evaluate.quality.anytime import ConfidenceSequence
from askance.evaluate.quality.bins import (
    ASK_BINS,
    Integers,
    as_scores,
    ask_bins_of,
    score_bins,
    score_keys,
    top_exponent,
    unasked_weights,
)
from askance.evaluate.quality.ledger import PROBABILITY_UNIT, EstimateSettings, Ledger
from askance.evaluate.quality.result import Quality
from askance.evaluate.quality.strata import StratumCounts


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
    """How well all events of a stream were predicted, estimated from the bought labels alone.

    Parameters
    ----------
    trace : Trace
        What ``run`` returned. The labels of events that were not asked are not read.
    window : int, optional
        Use the last so many events only.
    positive, alpha_p, c_p
        As in ``Trace.summary``.
    level : float, default 0.95
        The confidence of the intervals.
    anytime : bool, default False
        Intervals that hold at all times at once: wider, for streams that are watched.

    Examples
    --------
    >>> import askance
    >>> from askance.data.generators import messages
    >>> stream = messages(2000)
    >>> trace = askance.make("PAA-I", delta=0.5, random_state=0).run(stream.X, stream.labels)
    >>> quality = estimate(trace)
    >>> quality.accuracy.low < trace.summary()["accuracy"] < quality.accuracy.high
    True
    """
    if not hasattr(trace, "margin_is_signed"):
        raise InvalidType(
            f"estimate takes the trace that run returns, got {type(trace).__name__}; estimate_columns takes columns."
        )
    trace = trace.labeled
    return estimate_columns(
        trace.predicted,
        trace.probability,
        trace.asked,
        trace.truth,
        classes=trace.classes,
        asked=trace.asked,
        score=trace.signed_margin if len(trace.classes) == 2 else None,
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
    """As ``estimate``, from columns with one entry per event.

    ``probability`` is the ask probability. ``answered`` says which events have an answer; ``labels`` holds it there,
    and may hold anything elsewhere. ``asked`` says which events were asked: give it if answers are late or lost, and
    always with ``anytime``. Without it, all asked events are taken to have answers, unless there are fewer than chance
    allows: then the probabilities tell how many of the others were asked too.
    ``score`` (for the area under the ROC curve) is larger for the second of two classes, and so is
    ``probability_positive`` (for the calibration error, and, if given, for the area).

    >>> quality = estimate_columns([1, 1, -1, -1], [1, 1, 1, 1], [True] * 4, [1, -1, -1, -1], classes=[-1, 1])
    >>> quality.accuracy
    Estimate(value=0.75, low=0.75, high=0.75)
    """
    settings = EstimateSettings.of(classes, positive, alpha_p, c_p, level)
    predicted_class = column("predicted", predicted)
    length = len(predicted_class)
    has_answer = column("answered", answered, length).astype(np.bool_)
    ask = check_probability(probability, length)
    wanted = None if asked is None else has_answer | column("asked", asked, length).astype(np.bool_)
    known = column("labels", labels, length)[has_answer]
    if window is not None and (isinstance(window, bool) or not isinstance(window, int | np.integer) or window < 1):
        raise InvalidParameter(f"window must be a whole number of events, 1 or more, got {window!r}.")
    if (has_answer & (ask <= 0.0)).any():
        event = int((has_answer & (ask <= 0.0)).argmax())
        raise InvalidInput(
            f"event {event} has an answer but an ask probability of 0; an answer that was not drawn with a known "
            f"probability cannot be used, so mark it as not answered."
        )
    predicted_index = class_index("predicted", predicted_class, settings.classes)
    truth = np.full(length, -1, np.int64)
    truth[has_answer] = class_index("labels", known, settings.classes)
    chance = None if probability_positive is None else probabilities(probability_positive, length)
    order = as_scores(chance) if chance is not None else None if score is None else finite("score", score, length)
    start = 0 if window is None else max(length - window, 0)
    part = slice(start, None)
    columns = (predicted_index[part], ask[part], truth[part])
    drawn = find_probably_asked(*columns) if wanted is None else wanted[part]
    ledger = fill(
        settings, *columns, drawn, None if order is None else order[part], None if chance is None else chance[part]
    )
    return ledger.quality(sequence(settings, *columns, drawn) if anytime else None)


def find_probably_asked(predicted_class: Integers, ask: np.ndarray, truth: Integers) -> NDArray[np.bool_]:
    """The events with an answer and, if these are too few, as many of the others as were probably asked too.

    If a share r of the answers comes, an event without one was asked with probability

        P(asked | no answer) = p (1 - r) / (1 - p r),        r = answers / sum of p in its group

    Of each group that many are taken, evenly over time; only their number matters.
    """
    answered: NDArray[np.bool_] = truth >= 0
    asked = answered | (ask >= 1.0)
    deviation = float(np.sqrt((ask * (1.0 - ask)).sum()))
    if answered.sum() >= ask.sum() - 3.0 * deviation - 1e-6:
        return asked
    group = predicted_class * ASK_BINS + ask_bins_of(ask)
    expected, found = np.bincount(group, ask), np.bincount(group, answered)
    coming = np.minimum(np.divide(found, expected, out=np.ones_like(expected), where=expected > 0.0), 1.0)[group]
    lost = np.divide(ask * (1.0 - coming), 1.0 - ask * coming, out=np.ones_like(ask), where=ask * coming < 1.0)
    for one in np.unique(group):
        rest = np.flatnonzero((group == one) & ~answered)
        count = np.floor(np.cumsum(lost[rest]) + 0.5)
        asked[rest] = np.diff(count, prepend=0.0) > 0.0
    return asked


def finite(name: str, values: ArrayLike, length: int) -> np.ndarray:
    """A column of finite numbers; raises if one is NaN or infinite."""
    found = numbers(name, values, length)
    if not np.isfinite(found).all():
        event = int((~np.isfinite(found)).argmax())
        raise InvalidInput(f"{name} must be finite, got {float(found[event])!r} at event {event}.")
    return found


def check_probability(probability: ArrayLike, length: int) -> np.ndarray:
    ask = numbers("probability", probability, length)
    outside = (ask < 0.0) | (ask > 1.0)
    if outside.any():
        event = int(outside.argmax())
        raise InvalidInput(f"probability must be in [0, 1], got {float(ask[event])!r} at event {event}.")
    return ask


def fill(
    settings: EstimateSettings,
    predicted_class: Integers,
    ask: np.ndarray,
    truth: Integers,
    asked: NDArray[np.bool_],
    score: np.ndarray | None,
    chance: np.ndarray | None,
) -> Ledger:
    """The ledger of whole columns: compute their bins, then count."""
    ask_bin = ask_bins_of(ask)
    unasked = unasked_weights(ask, ask_bin)
    key = np.zeros(len(predicted_class), np.int64) if score is None else score_keys(score)
    chance_bin = None if chance is None else calibration_bins(chance)
    chance_units = None if chance is None else np.rint(chance * PROBABILITY_UNIT).astype(np.int64)
    return fill_ledger(
        settings, predicted_class, key, ask_bin, unasked, truth, asked, score is not None, chance_bin, chance_units
    )


def fill_ledger(
    settings: EstimateSettings,
    predicted_class: Integers,
    key: Integers,
    ask_bin: Integers,
    unasked: Integers,
    truth: Integers,
    asked: NDArray[np.bool_],
    is_scored: bool,
    chance_bin: Integers | None,
    chance_units: Integers | None,
) -> Ledger:
    """The ledger of events whose bins are known already."""
    ledger = Ledger(settings)
    classes = len(settings.classes)
    place = predicted_class
    if settings.score_bins > 1:
        ledger.top = top_exponent(key)
        place = predicted_class * settings.score_bins + score_bins(key, ledger.top)
    ledger.counts = StratumCounts.of((classes, classes * settings.score_bins), place, ask_bin, unasked, truth, asked)
    ledger.scored = len(place) if is_scored else 0
    if chance_bin is not None and chance_units is not None and classes == 2:
        ledger.by_probability = StratumCounts.of(
            ledger.by_probability.shape[:2], chance_bin, ask_bin, unasked, truth, asked
        )
        np.add.at(ledger.expected, chance_bin, chance_units)
        ledger.probable = len(place)
    return ledger


def sequence(
    settings: EstimateSettings, predicted_class: Integers, ask: np.ndarray, truth: Integers, asked: np.ndarray
) -> ConfidenceSequence:
    """The confidence sequence of whole columns, as if every answer had come with its event."""
    running = ConfidenceSequence(len(settings.classes))
    rows = zip(predicted_class.tolist(), ask.tolist(), truth.tolist(), asked.tolist(), strict=True)
    for column_, probability, answer, is_asked in rows:
        guess = running.event(column_, probability, is_asked)
        if answer >= 0:
            running.answer(column_, probability, guess, answer != column_)
    return running
