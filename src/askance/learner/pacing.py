"""Holding a rate: how a paced budget steers the probability of asking.

A budget that is spread over the stream (a share of the events, so many labels a day) keeps an account for each of its
promises, and never asks for more than may have been asked for by now: that is the promise, and it holds whatever the
query rule says. Everything else serves to stay away from that edge, so that each event keeps a chance and
1 / probability stays a correct weight:

1. The wanted share of the events, w. For a share r of the events, w = r (credit / LEAD)^2, where the credit is what
   may have been asked for minus what was. With LEAD labels in hand w is r itself; a burst of questions lowers it at
   once, a lull raises it, up to MOST_HASTE times r. For n labels a period, w = labels left / events to come, this one
   among them, up to MOST_HASTE times what an even share would be. The events to come are those that the periods before
   brought at this time, scaled by how busy this one has been, so that a nightly lull costs nothing; in the first
   period, as many as came lately.
2. The query rule's own scale is steered until its mean probability is w. Every scaled rule of the papers has the form
   p = scale / (scale + distance), so that a scale s times as large multiplies the odds of asking by s:

        p_s = s p / (1 - p + s p).

   Where a rule has such scales (delta, b, delta_pos and delta_neg), they are multiplied; the p of one that has none is
   put into this formula, which needs no knowledge of the rule.
   For the events since it was reckoned last, s is multiplied by about exp(GAIN sum (w - p_s)), by no less than some
   0.066: it moves by a tenth for each label by which the probabilities are off, and faster while there are few.
3. Where the scale has no more hold, since the rule asks with certainty whatever its scale (an untrained model; the
   unsure events of SOAL and D-ADA-I), what remains too much is thinned out evenly: p_s times ROOM w over the recent
   mean of p_s, where that is below 1. The scale then moves no further down, but up, as if only the events that the rule
   would not ask had come, and takes over again when the rule begins to tell events apart.
4. No chance falls below a twentieth of w, so that no answer stands for more than 20 / w events, and at most a
   twentieth of the labels are bought at random for it.

All this is reckoned anew every few events, a label's worth of them or, where labels are frequent, up to four, so that
it costs little; with budgets by time, up to eight, but for no more than a sixteenth of the events that a period is
still to bring, and whenever a 24th part of one is over.
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
TIME, INTERVAL, TURN = 11, 12, 13
"""The time at which it was reckoned last, the recent mean time between two events, and when a part of a period ends."""
STEERING = 14  # numbers, then for each promise:
NUMBER, BEFORE, CARRIED, KNOWN = 0, 1, 2, 3
"""Which period it is, the labels asked before it and those carried over into it, and how many periods went before.
For a share: the events before it was promised, and the labels asked by then."""
PART, COME, BUSY, REST = 4, 5, 6, 7
"""Which part of the period it is; how many events the parts before it brought, and how many times as many as usual; and
how many those after it usually bring."""
SLOTS = 24  # parts of a period
NOW, USUALLY = 8, 8 + SLOTS  # events in each part of this period, and in the recent ones
PERIODIC = 8 + 2 * SLOTS  # numbers
NO_PART = -1.0  # of a period that has seen no event

FEW_AT_ONCE, MOST_AT_ONCE, FEW_LABELS, SHARE_OF_CREDIT, SHARE_OF_ASKED = 40.0, 128.0, 4.0, 0.5, 0.1
"""Between two reckonings come a label's worth of events, at most the second; where that is less than the first, more
come, up to so many labels' worth, or these shares of the credit and of the labels asked so far, if that is less."""
FEW_BY_TIME, FEW_LABELS_BY_TIME = 64.0, 8.0
"""The same with budgets by time: their reckoning takes longer, and is less urgent."""
LEAD = 10.0  # labels in hand when all is well
PAID_BACK = 0.04  # of the income goes into paying back the burst
GAIN, LARGEST_STEP = 0.1, 2.3  # of the logarithm of the scale; the latter, down
EARLY, EARLY_GAIN = 4.0, 1.5  # while there are few events and labels, both look back less and move faster
MEMORY = 16.0  # labels' worth of events that the recent means look back on
ARRIVALS = 100.0  # events that the mean time between two looks back on
ROOM = 1.5  # how far the recent mean may exceed the wanted share before questions are thinned out
LEAST_SHARE = 0.05
LEAST_HOLD = 0.1  # of the wanted share: below it the scale does not move down
MOST_HASTE = 16.0
ENOUGH = 30.0  # events, to tell how busy a period is
SHARE_AT_ONCE = 1.0 / 16.0  # of the events that a period is still to bring: for so long its pace may stand
BLIND = 10.0  # how many times as many events as came are expected where nothing else is known
LAST_MOMENT = 0.999  # of a period, with room for rounding
LEAST_WANTED = 1e-9  # above 0: whether anything is asked is for the ceiling to say
RANGE = 1e12  # of the scale, either way
NEVER = 1 << 62  # more than will ever be counted
LARGEST = 1e300  # of a rule's own scale when it was multiplied


def fresh_account(n_promises: int) -> np.ndarray:
    """The account before the first event."""
    account = np.zeros(STEERING + PERIODIC * n_promises)
    account[[SCALE, THINNED, MEAN]] = 1.0
    account[[TIME, INTERVAL]] = np.nan
    account[TURN] = inf
    account[STEERING + NUMBER :: PERIODIC] = np.nan
    account[STEERING + PART :: PERIODIC] = NO_PART
    return account


def is_an_account(account: np.ndarray, n_promises: int) -> bool:
    """Whether it has the numbers that one of so many promises has, or none, where the budget sets no pace."""
    return account.size in (0, STEERING + PERIODIC * n_promises)


def carry_over(account: np.ndarray, promises: list[list[float]], old: np.ndarray, before: list[list[float]]) -> None:
    """A budget was changed: what the old account knows of the stream, of periods of the same length, and of a share
    that is promised still, is kept. Another share counts from the change on."""
    if not len(old):
        return
    known = [SCALE, EVENTS, MEAN, HOLD, LAST]
    if any(promise[PERIOD] > 0.0 for promise in promises):  # else nobody keeps the clock from now on
        known += [TIME, INTERVAL]
    account[known] = old[known]
    old_pages = old[STEERING:].reshape(-1, PERIODIC)
    for promise, page in zip(promises, account[STEERING:].reshape(-1, PERIODIC), strict=True):
        # Of several that are as much alike, the one that carried the least over: no promise grows by a change.
        alike = [(likeness(promise, earlier), -old_pages[j, CARRIED], j) for j, earlier in enumerate(before)]
        how_much, _, best = max(alike, default=(0, 0.0, 0))
        if how_much > 0:
            page[:] = old_pages[best]
            if not promise[CARRY]:
                page[CARRIED] = 0.0


def likeness(promise: list[float], earlier: list[float]) -> int:
    """How much of what is known of an earlier promise holds for this one; 0 for nothing at all."""
    if promise[PERIOD] > 0.0:
        return int(promise[PERIOD] == earlier[PERIOD]) * (1 + (promise[CARRY] == earlier[CARRY]) + (promise == earlier))
    return int(promise[SHARE] > 0.0 and promise == earlier)


class Rhythm(NamedTuple):
    """What a paced budget makes of the stream."""

    time: float
    """The latest time when it was reckoned last, up to MOST_AT_ONCE events ago; NaN where the budget reads no time."""
    interval: float
    """The recent mean time between two events; NaN before the second."""
    wanted: float
    """w: the share of the events that it would have asked now."""


def rhythm(account: np.ndarray) -> Rhythm | None:
    """What an account knows of the stream; None where the budget sets no pace."""
    return Rhythm(*account[[TIME, INTERVAL, WANTED]].tolist()) if len(account) >= STEERING else None


class Pace(NamedTuple):
    """What a budget says of the next few events."""

    ceiling: int
    """How many labels may have been asked for in all."""
    scale: float
    """s: what the odds of asking are multiplied by."""
    thinned: float
    """What the probability is multiplied by after that."""
    least: float
    """The least probability there must be."""
    until: int
    """The event at which the pace is reckoned anew."""
    turn: float
    """The time at which it is, at the latest."""


class Sums(NamedTuple):
    """Of the events since the pace was reckoned: their p_s, and their p_s (1 - p_s)."""

    chance: float
    hold: float


# --- budgets that set a limit and no pace ------------------------------------------------------------------


def keep_limit(parameters, account):
    return Pace(as_count(parameters[0]), 1.0, 1.0, 0.0, NEVER, inf), Sums(0.0, 0.0)


def keep_nothing(account, pace, sums):
    return None


def never(pace, seen, times, t):
    return False


def same_limit(parameters, account, sums, tally, time):
    """Fills its slot: it is never due."""
    pace, _ = keep_limit(parameters, account)
    return pace


def leave_scales(parameters, scale):
    return None


def as_it_is(chance, scale):
    return chance


# --- budgets that set a pace -----------------------------------------------------------------------------


def resume(parameters, account):
    """The pace at which the last call ended."""
    return pace_of(account), Sums(account[SUM], account[HOLD_SUM])


def pace_of(account):
    least = LEAST_SHARE * account[WANTED]
    ceiling, until = as_count(account[CEILING]), as_count(account[NEXT])
    return Pace(ceiling, account[SCALE], account[THINNED], least, until, account[TURN])


def as_count(number):
    """A number that may be infinite, for comparing with counts: as floats, these would have to be converted."""
    return int(min(NEVER, number))


def suspend(account, pace, sums):
    """Keep the sums for the next call; the rest of the pace is kept whenever it is reckoned."""
    account[NEXT] = pace.until
    account[SUM] = sums.chance
    account[HOLD_SUM] = sums.hold


def to_be_reckoned(pace):
    """The same pace, until the next event: there may be more to ask for by then."""
    return Pace(pace.ceiling, pace.scale, pace.thinned, pace.least, 0, pace.turn)


def after_events(pace, seen, times, t):
    return seen >= pace.until


def after_events_or_time(pace, seen, times, t):
    return (seen >= pace.until) | (times[t] >= pace.turn)  # one test of both takes less time than two tests


def multiply_scales(parameters, scale):
    for i in range(parameters.scales.size):
        parameters.query[i] = min(LARGEST, max(1.0 / LARGEST, scale * parameters.scales[i]))


def scaled(chance, scale):
    """The probability whose odds are ``scale`` times as large."""
    return scale * chance / (1.0 - chance + scale * chance)


@on_its_own
def by_events(parameters, account, sums, tally, time):
    """The pace of the next few events."""
    adjust(account, sums, tally)
    income, longest = reckon(parameters, account, tally)
    return keep_for_a_while(account, tally, income, longest)


@on_its_own
def by_time(parameters, account, sums, tally, time):
    """The pace of the next few events, of which the first came at this time."""
    lately = tally.seen - account[LAST]
    adjust(account, sums, tally)
    count_unnoted(parameters, account, lately - 1.0)
    note_time(account, time, lately)
    income, longest = reckon(parameters, account, tally)
    return keep_for_a_while(account, tally, income, longest, FEW_BY_TIME, FEW_LABELS_BY_TIME)


def keep_for_a_while(account, tally, income, longest, few=FEW_AT_ONCE, few_labels=FEW_LABELS):
    """The pace in the account, for the events that bring in a label or, if those are few, a few labels, but at most for
    as many as ``longest``."""
    worth = 1.0 / max(income, account[WANTED])
    labels = min(few_labels, min(SHARE_OF_CREDIT * (account[CEILING] - tally.asked), SHARE_OF_ASKED * tally.asked))
    worth = max(worth, min(few, labels * worth))
    account[NEXT] = tally.seen + max(1.0, np.floor(min(longest, worth)))
    return pace_of(account)


# --- how much may be asked -------------------------------------------------------------------------------


def reckon(parameters, account, tally):
    """Count this event and settle w and the ceiling by all promises; return the smallest share of the events that they
    come to, and how many events this may stand for."""
    wanted = inf
    income = 1.0
    ceiling = inf
    longest = MOST_AT_ONCE
    account[TURN] = inf
    for number in range(parameters.size // PROMISE):
        promise = parameters[number * PROMISE : (number + 1) * PROMISE]
        first = STEERING + number * PERIODIC
        period = account[first : first + PERIODIC]
        if promise[SHARE] > 0.0:
            allowed = allowed_of_share(promise, period, tally)
            income = min(income, promise[SHARE])
            wanted = min(wanted, promise[SHARE] * haste((allowed - tally.asked) * (1.0 / LEAD)))
        elif promise[PERIOD] > 0.0:
            time = account[TIME] / promise[PERIOD]
            number_now = np.floor(time)
            if not number_now <= period[NUMBER]:
                turn_page(promise, period, number_now, tally)
            elapsed = time - period[NUMBER]
            part = part_at(elapsed)
            if part != period[PART]:
                turn_part(period, part)
            allowed = period[BEFORE] + promise[LIMIT] + period[CARRIED]
            period[NOW + int(period[PART])] += 1.0
            come, to_come = events_of_period(period, (1.0 - elapsed) * promise[PERIOD], account[INTERVAL])
            even = (promise[LIMIT] + period[CARRIED]) / (come + to_come)
            income = min(income, even)
            wanted = min(wanted, min(MOST_HASTE * even, (allowed - tally.asked) / (1.0 + to_come)))
            longest = min(longest, SHARE_AT_ONCE * to_come)
            account[TURN] = min(account[TURN], end_of_part(promise, period))
        else:
            allowed = promise[LIMIT]
        ceiling = min(ceiling, np.floor(allowed))
    settle(account, wanted, ceiling)
    return income, longest


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


def count_unnoted(parameters, account, number):
    """Count the events since it was reckoned last; they came in the part of the period that it was then."""
    for promise in range(parameters.size // PROMISE):
        first = STEERING + promise * PERIODIC
        if parameters[promise * PROMISE + PERIOD] > 0.0 and account[first + PART] != NO_PART:
            account[first + NOW + int(account[first + PART])] += number


def note_time(account, time, lately):
    """Move the clock on; it never goes back. Keeps the mean time between events, of which so many came."""
    last = account[TIME]
    if last != last:  # the first event
        account[TIME] = time
        return
    step = max(0.0, time - last)
    mean = account[INTERVAL]
    account[TIME] = last + step
    weight = min(1.0, lately / min(account[EVENTS] + 1.0, ARRIVALS))
    account[INTERVAL] = step / lately if mean != mean else mean + weight * (step / lately - mean)


def turn_page(promise, period, number, tally):
    """Begin a new period; without carrying over, what the last one left is gone."""
    last = period[NUMBER]
    if last == last:
        if promise[CARRY] > 0.0:
            left = promise[LIMIT] + period[CARRIED] - (tally.asked - period[BEFORE])
            period[CARRIED] = max(0.0, left) + promise[LIMIT] * (number - last - 1.0)
        if period[KNOWN] == 0.0:
            fill_in(period)
        for slot in range(SLOTS):
            new = period[NOW + slot]
            period[USUALLY + slot] = 0.5 * (period[USUALLY + slot] + new) if period[KNOWN] > 0.0 else new
            period[NOW + slot] = 0.0
        period[KNOWN] += 1.0
    period[NUMBER] = number
    period[BEFORE] = tally.asked
    period[PART] = NO_PART


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


def part_at(elapsed):
    """Which part of a period it is when this share of it is over."""
    return int(SLOTS * min(LAST_MOMENT, max(0.0, elapsed)))


def turn_part(period, part):
    """Begin a new part of the period: add up what those before it brought, and what those after it usually bring."""
    come = 0.0
    usually_come = 0.0
    for slot in range(part):
        come += period[NOW + slot]
        usually_come += period[USUALLY + slot]
    rest = 0.0
    for slot in range(part + 1, SLOTS):
        rest += period[USUALLY + slot]
    period[PART] = part
    period[COME] = come
    period[BUSY] = (come + ENOUGH) / (usually_come + ENOUGH)
    period[REST] = rest


def end_of_part(promise, period):
    """When the part of the period ends; a moment before, so that rounding is no matter."""
    end = promise[PERIOD] * (period[NUMBER] + (period[PART] + 1.0) / SLOTS)
    return end - 1e-14 * abs(end)


def events_of_period(period, left, interval):
    """How many events the period brought so far, this one included, and how many it is still to bring, in the seconds
    that are left of it."""
    here = NOW + int(period[PART])
    come = period[COME] + period[here]
    if period[KNOWN] > 0.0:
        to_come = max(0.0, period[BUSY] * period[here + SLOTS] - period[here]) + period[BUSY] * period[REST]
        return come, to_come
    to_come = left / interval  # as many as come lately
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
    gain = GAIN if tally.asked >= EARLY_GAIN / GAIN else EARLY_GAIN / (1.0 + tally.asked)
    too_few = lately * wanted - sums.chance
    if account[HOLD] <= LEAST_HOLD * wanted:  # then as if only the events that the rule would not ask had come
        too_few = max(too_few, lately * wanted * (1.0 - account[MEAN]))
    account[SCALE] = min(RANGE, max(1.0 / RANGE, account[SCALE] * growth(max(-LARGEST_STEP, gain * too_few))))


def growth(step):
    """(1 + step / 8)^8, close enough to exp(step), which would take longer than all the rest of a reckoning."""
    squared = (1.0 + 0.125 * step) * (1.0 + 0.125 * step)
    return squared * squared * (squared * squared)
