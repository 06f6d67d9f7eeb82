"""Holding a rate: how a paced budget steers the probability of asking.

A budget that is spread over the stream (a share of the events, so many labels a day) keeps an account for each of its
promises, and never asks for more than may have been asked for by now: that is the promise, and it holds whatever the
query rule says. Everything else serves to stay away from that edge, so that each event keeps a chance and
1 / probability stays a correct weight:

1. The wanted share of the events, w. For a share r of the events, w = r (credit / LEAD)^2, where the credit is what
   may have been asked for minus what was. With LEAD labels in hand w is r itself; a burst of questions lowers it at
   once, a lull raises it, up to MOST_HASTE times r. For n labels a period, w = labels left / events to come, where the
   events to come are those that the periods before brought at this time, scaled by how busy this one has been, so that
   a nightly lull costs nothing; in the first period, as many as came lately.
2. The query rule's own scale is steered until its mean probability is w. Every scaled rule of the papers has the form
   p = scale / (scale + distance), so that a scale s times as large multiplies the odds of asking by s:

        p_s = s p / (1 - p + s p).

   This is exact for delta, b, delta_pos and delta_neg, needs no knowledge of the rule, and so serves every other one.
   For the events since it was reckoned last, s is multiplied by 1 + GAIN sum (w - p_s), though by no less than a tenth:
   it moves by a tenth for each label by which the probabilities are off, and faster while few labels were bought.
3. Where the scale has no more hold, since the rule asks with certainty whatever its scale (an untrained model; the
   unsure events of SOAL and D-ADA-I), what remains too much is thinned out evenly: p_s times ROOM w over the recent
   mean of p_s, where that is below 1. The scale then moves no further down, and takes over again when the rule begins
   to tell events apart.
4. No chance falls below a twentieth of w, so that no answer stands for more than 20 / w events, and at most a
   twentieth of the labels are bought at random for it.

All this is reckoned anew every few events, a label's worth of them, so that it costs next to nothing; with budgets
by time, at every event.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from askance.learner.compile import on_its_own

# A budget is a few promises, one after the other in its parameters:
LIMIT, SHARE, BURST, PERIOD, CARRY = 0, 1, 2, 3, 4
"""Labels in all or a period; or the share of events, and how far ahead of it one may be at first; seconds of a period;
whether what a period left over is kept."""
PROMISE = 5  # numbers each

# What it keeps account of, from call to call:
CEILING, SCALE, THINNED, NEXT, SUM, HOLD_SUM = 0, 1, 2, 3, 4, 5
"""A ``Pace`` and the sums that go with it."""
LAST, WANTED, EVENTS, MEAN, HOLD = 6, 7, 8, 9, 10
"""The event at which it was reckoned last; w; events steered; recent means of p_s and of p_s (1 - p_s)."""
TIME, INTERVAL = 11, 12  # the last event's time, and the recent mean time between two
STEERING = 13  # numbers, then for each promise:
NUMBER, BEFORE, CARRIED, KNOWN = 0, 1, 2, 3
"""Which period it is, the labels asked before it and those carried over into it, and how many periods went before.
For a share: the events before it was promised, and the labels asked by then."""
SLOTS = 24  # parts of a period
NOW, USUALLY = 4, 4 + SLOTS  # events in each part of this period, and in the recent ones
PERIODIC = 4 + 2 * SLOTS  # numbers

WORTH, MOST_AT_ONCE = 1.0, 128.0  # labels, and at most as many events, between two reckonings
LEAD = 10.0  # labels in hand when all is well
PAID_BACK = 0.04  # of the income goes into paying back the burst
GAIN, LARGEST_STEP = 0.1, 0.9
EARLY, EARLY_GAIN = 4.0, 1.5  # while there are few events and labels, both look back less and move faster
MEMORY = 16.0  # labels' worth of events that the recent means look back on
ARRIVALS = 100.0  # events that the mean time between two looks back on
ROOM = 1.5  # how far the recent mean may exceed the wanted share before questions are thinned out
LEAST_SHARE = 0.05
LEAST_HOLD = 0.1  # of the wanted share: below it the scale does not move down
MOST_HASTE = 16.0
ENOUGH = 30.0  # events, to tell how busy a period is
BLIND = 10.0  # how many times as many events as came are expected where nothing else is known
LAST_MOMENT = 0.999  # of a period, with room for rounding
LEAST_WANTED = 1e-9  # above 0: whether anything is asked is for the ceiling to say
RANGE = 1e12  # of the scale, either way


def fresh_account(n_promises: int) -> np.ndarray:
    """The account before the first event."""
    account = np.zeros(STEERING + PERIODIC * n_promises)
    account[[SCALE, THINNED, MEAN]] = 1.0
    account[[TIME, INTERVAL]] = np.nan
    account[STEERING + NUMBER :: PERIODIC] = np.nan
    return account


def carry_over(account: np.ndarray, promises: list[list[float]], old: np.ndarray, before: list[list[float]]) -> None:
    """A budget was changed: what the old account knows of the stream, of periods of the same length, and of a share
    that is promised still, is kept. Another share counts from the change on."""
    if not len(old):
        return
    account[[SCALE, EVENTS, MEAN, HOLD, TIME, INTERVAL]] = old[[SCALE, EVENTS, MEAN, HOLD, TIME, INTERVAL]]
    for i, promise in enumerate(promises):
        for j, earlier in enumerate(before):
            is_same_share = promise[SHARE] > 0.0 and promise == earlier
            if promise[PERIOD] == earlier[PERIOD] > 0.0 or is_same_share:
                new, known = STEERING + PERIODIC * i, STEERING + PERIODIC * j
                account[new : new + PERIODIC] = old[known : known + PERIODIC]


class Rhythm(NamedTuple):
    """What a paced budget makes of the stream."""

    time: float
    """Of the last event; NaN where the budget reads no time."""
    interval: float
    """The recent mean time between two events; NaN before the second."""
    wanted: float
    """w: the share of the events that it would have asked now."""


def rhythm(account: np.ndarray) -> Rhythm | None:
    """What an account knows of the stream; None where the budget sets no pace."""
    return Rhythm(*account[[TIME, INTERVAL, WANTED]].tolist()) if len(account) >= STEERING else None


class Pace(NamedTuple):
    """What a budget says of the next few events."""

    ceiling: float
    """How many labels may have been asked for in all."""
    scale: float
    """s: what the odds of asking are multiplied by."""
    thinned: float
    """What the probability is multiplied by after that."""
    least: float
    """The least probability there must be."""
    until: float
    """The event at which the pace is reckoned anew."""


class Sums(NamedTuple):
    """Of the events since the pace was reckoned: their p_s, and their p_s (1 - p_s)."""

    chance: float
    hold: float


# --- budgets that set a limit and no pace ------------------------------------------------------------------


def keep_limit(parameters, account):
    return Pace(parameters[0], 1.0, 1.0, 0.0, inf), Sums(0.0, 0.0)


def keep_nothing(account, pace, sums):
    return None


def as_it_is(chance, scale):
    return chance


def same_limit(parameters, account, sums, tally, time):
    return Pace(parameters[0], 1.0, 1.0, 0.0, inf)


# --- budgets that set a pace -----------------------------------------------------------------------------


def resume(parameters, account):
    """The pace at which the last call ended."""
    return pace_of(account), Sums(account[SUM], account[HOLD_SUM])


def pace_of(account):
    return Pace(account[CEILING], account[SCALE], account[THINNED], LEAST_SHARE * account[WANTED], account[NEXT])


def suspend(account, pace, sums):
    """Keep the sums for the next call; the pace is kept whenever it is reckoned."""
    account[SUM] = sums.chance
    account[HOLD_SUM] = sums.hold


def scaled(chance, scale):
    """The probability whose odds are ``scale`` times as large."""
    return scale * chance / (1.0 - chance + scale * chance)


@on_its_own
def by_events(parameters, account, sums, tally, time):
    """The pace of the next few events."""
    adjust(account, sums, tally)
    income = reckon(parameters, account, tally)
    return keep_for_a_while(account, tally, income)


@on_its_own
def by_time(parameters, account, sums, tally, time):
    """The pace of this event, which came at this time."""
    adjust(account, sums, tally)
    note_time(account, time)
    reckon(parameters, account, tally)
    account[NEXT] = tally.seen + 1.0
    return pace_of(account)


def keep_for_a_while(account, tally, income):
    """The pace in the account, for the events that bring in about a label."""
    account[NEXT] = tally.seen + min(MOST_AT_ONCE, max(1.0, np.floor(WORTH / max(income, account[WANTED]))))
    return pace_of(account)


# --- how much may be asked -------------------------------------------------------------------------------


def reckon(parameters, account, tally):
    """Settle w and the ceiling by all promises; return the smallest share promised."""
    wanted = inf
    income = 1.0
    ceiling = inf
    for number in range(parameters.size // PROMISE):
        promise = parameters[number * PROMISE : (number + 1) * PROMISE]
        first = STEERING + number * PERIODIC
        period = account[first : first + PERIODIC]
        if promise[SHARE] > 0.0:
            allowed = allowed_of_share(promise, period, tally)
            income = min(income, promise[SHARE])
            wanted = min(wanted, promise[SHARE] * haste((allowed - tally.asked) * (1.0 / LEAD)))
        elif promise[PERIOD] > 0.0:
            turn_page(promise, period, account[TIME], tally)
            allowed = period[BEFORE] + promise[LIMIT] + period[CARRIED]
            elapsed = account[TIME] / promise[PERIOD] - period[NUMBER]
            come, to_come = events_of_period(period, elapsed, promise[PERIOD] / account[INTERVAL])
            even = (promise[LIMIT] + period[CARRIED]) / (come + to_come)
            wanted = min(wanted, min(MOST_HASTE * even, (allowed - tally.asked) / (1.0 + to_come)))
        else:
            allowed = promise[LIMIT]
        ceiling = min(ceiling, np.floor(allowed))
    settle(account, wanted, ceiling)
    return income


def settle(account, wanted, ceiling):
    """Put w and the ceiling into the account, and thin out what the scale has no hold of."""
    wanted = max(LEAST_WANTED, min(1.0, wanted))
    account[WANTED] = wanted
    account[CEILING] = ceiling
    account[THINNED] = ROOM * wanted / account[MEAN] if ROOM * wanted < account[MEAN] else 1.0


def allowed_of_share(promise, since, tally):
    """What the events since the promise was made brought in, with the burst lent at first."""
    if since[NUMBER] != since[NUMBER]:  # this is the first
        since[NUMBER] = tally.seen - 1.0
        since[BEFORE] = tally.asked
    accrued = promise[SHARE] * (tally.seen - since[NUMBER])
    return since[BEFORE] + max(accrued, promise[BURST] + (1.0 - PAID_BACK) * accrued)


def haste(ratio):
    """(credit / lead)^2 for their ratio, bounded."""
    ratio = max(0.0, ratio)
    return min(MOST_HASTE, ratio * ratio)


def note_time(account, time):
    """Move the clock on; it never goes back. Keeps the mean time between events."""
    last = account[TIME]
    if last != last:  # the first event
        account[TIME] = time
        return
    step = max(0.0, time - last)
    mean = account[INTERVAL]
    account[TIME] = last + step
    account[INTERVAL] = step if mean != mean else mean + (step - mean) / min(account[EVENTS] + 1.0, ARRIVALS)


def turn_page(promise, period, time, tally):
    """Begin a new period when its time has come; without carrying over, what the last one left is gone."""
    number = np.floor(time / promise[PERIOD])
    last = period[NUMBER]
    if number <= last:
        return
    if last == last:
        if promise[CARRY] > 0.0:
            left = promise[LIMIT] + period[CARRIED] - (tally.asked - period[BEFORE])
            period[CARRIED] = left + promise[LIMIT] * (number - last - 1.0)
        if period[KNOWN] == 0.0:
            fill_in(period)
        for slot in range(SLOTS):
            new = period[NOW + slot]
            period[USUALLY + slot] = 0.5 * (period[USUALLY + slot] + new) if period[KNOWN] > 0.0 else new
            period[NOW + slot] = 0.0
        period[KNOWN] += 1.0
    period[NUMBER] = number
    period[BEFORE] = tally.asked


def fill_in(period):
    """The first period may have begun before the stream did: its parts without events are taken to be like the rest."""
    begun = 0
    while begun < SLOTS - 1 and period[NOW + begun] == 0.0:
        begun += 1
    come = 0.0
    for slot in range(begun, SLOTS):
        come += period[NOW + slot]
    for slot in range(begun):
        period[NOW + slot] = come / (SLOTS - begun)


def events_of_period(period, elapsed, lately):
    """Count this event; return how many events the period brought so far, and how many it is still to bring.

    ``elapsed`` is the share of the period that is over, ``lately`` what a whole one would bring at the present pace."""
    here = int(SLOTS * min(LAST_MOMENT, max(0.0, elapsed)))
    period[NOW + here] += 1.0
    come = 0.0
    usually_come = 0.0
    for slot in range(here):
        come += period[NOW + slot]
        usually_come += period[USUALLY + slot]
    busy = (come + ENOUGH) / (usually_come + ENOUGH)
    come += period[NOW + here]
    if period[KNOWN] > 0.0:
        to_come = max(0.0, period[USUALLY + here] - period[NOW + here] / busy)
        for slot in range(here + 1, SLOTS):
            to_come += period[USUALLY + slot]
        return come, busy * to_come
    to_come = (1.0 - elapsed) * lately
    if not to_come < inf:  # the first events of all, or many at once: who knows
        to_come = BLIND * (come + BLIND)
    return come, to_come


# --- how it is spread ------------------------------------------------------------------------------------


def adjust(account, sums, tally):
    """Move the scale and the recent means by what the last events showed."""
    lately = tally.seen - account[LAST]
    account[LAST] = tally.seen
    if sums.chance == 0.0:  # nothing could be asked
        return
    wanted = account[WANTED]
    account[EVENTS] += lately
    weight = wanted * (1.0 / MEMORY)
    if weight * account[EVENTS] < EARLY:  # at first, means of the later part of the stream so far
        weight = EARLY / (account[EVENTS] + (EARLY - 1.0) * lately)
    account[MEAN] += weight * (sums.chance - lately * account[MEAN])
    account[HOLD] += weight * (sums.hold - lately * account[HOLD])
    gain = max(GAIN, EARLY_GAIN / (1.0 + tally.asked))
    too_few = lately * wanted - sums.chance
    if too_few > 0.0 or account[HOLD] > LEAST_HOLD * wanted:
        account[SCALE] = min(RANGE, max(1.0 / RANGE, account[SCALE] * (1.0 + max(-LARGEST_STEP, gain * too_few))))
