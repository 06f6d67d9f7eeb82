"""Pacing: how a budget spreads its labels over the stream by steering the ask probability.

A budget that sets a pace (a share of the events, so many labels a period) consists of constraints. It never asks for
more labels than they allow by now, whatever the query rule says. Everything else here serves to stay below that
ceiling, so that every event can be asked and 1 / probability stays a correct weight. The letters:

    t, a        events seen, labels asked                 s       the scale of the odds of asking
    A           labels that may have been asked by now    p, p_s  the query rule's probability; with the scale s
    A - a       the credit                                h       the thinning
    w           the wanted share of the events            M, V    recent means of p_s and of p_s (1 - p_s)

1. **Ceiling and wanted share.** The ceiling is floor(A). For a share r of the events with burst b,

        A = max(r t, b + 0.96 r t),     w = r min(16, ((A - a) / L)^2),     L = LEAD = 10.

   With a credit of L labels w is r itself; a burst of questions lowers it at once, a lull raises it. With
   ``front_load``, what is left of a burst b > L falls to 1/e in ``FRONT_LOAD_EVENTS`` = 40 events, as long as the
   answers are mostly surprises, k of them not as predicted:

        w >= (b - L - a) / FRONT_LOAD_EVENTS min(1, 2 (k + 1) / (a + 2))^4.

   Where predictions are soon right, or a class is so rare that the first answers say little, it is spent as above.
   For n labels a period, c of them carried over more, a_0 asked before it, e events of the period so far and f to come,

        A = a_0 + n + c,     w = min(16 (n + c) / (e + f), (A - a) / (1 + f)).

   f is what earlier periods brought from this time on, times B, how busy this one is: so a nightly lull costs nothing.
   For that, the events of a period are counted in 24 parts j: e_j in this one, u_j usually. In the first period f goes
   by d, the recent mean time between two events. Of several constraints, the smallest A and the smallest w count.
2. **Scale.** The query rule's own scale is steered until the mean of p_s is w. Every scaled rule of the papers has the
   form p = scale / (scale + distance), so that a scale s times as large multiplies the odds of asking by s:

        p_s = s p / (1 - p + s p).

   Where a rule has such scales (delta, b, delta_pos and delta_neg), they are multiplied by s; where it has none, its p
   is put into this formula, which needs no knowledge of the rule. Over the events since the last update,

        s <- s exp(g sum (w - p_s)),     by no less than some 0.066,

   g = 0.1: s moves by a tenth for each label by which the probabilities are off, and faster while there are few.
3. **Thinning.** Some rules ask with certainty whatever their scale (an untrained model; the unsure events of SOAL and
   D-ADA-I): the scale has no effect, and V is small. Then the probability is h p_s with

        h = min(1, 1.5 w / M),

   and the scale moves up only, as if only the events had come that the rule would not ask. It takes over again when the
   rule begins to tell events apart.
4. **Floor.** While a label may be asked at all, no probability falls below w / 20. So no answer stands for more than
   20 / w events, and at most a twentieth of the labels are bought at random for it.

The pace is updated every few events, so that it costs little: after those that bring in one label or, where labels are
frequent, up to four. With budgets by time it is up to eight labels, but no more than a sixteenth of the events to come
in a period, and whenever a 24th part of one is over.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from askance.compile import no_inline
from askance.learner.budget_state import NO_PART, SLOTS, count_constraints, view_constraint, view_period, view_steering

FEW_AT_ONCE, MOST_AT_ONCE, FEW_LABELS, SHARE_OF_CREDIT, SHARE_OF_ASKED = 40.0, 128.0, 4.0, 0.5, 0.1
"""How many events lie between two updates (see ``schedule_update``): K_0, the most, l_0, and the shares of the credit
and of the labels asked."""
FEW_BY_TIME, FEW_LABELS_BY_TIME = 64.0, 8.0
"""K_0 and l_0 of budgets by time, whose update takes longer and is less urgent."""
LEAD = 10.0  # L: the credit, in labels, at which w is r
PAID_BACK = 0.04  # of what a share accrues: it repays the burst
GAIN, LARGEST_STEP = 0.1, 2.3  # g, and how far log s may move down at once
EARLY, EARLY_GAIN = 4.0, 1.5  # with few events and labels the means look back less, and the scale moves faster
MEMORY = 16.0  # labels' worth of events that M and V look back on
ARRIVALS = 100.0  # events that d looks back on
ROOM = 1.5  # M may be so many times w before thinning begins
LEAST_SHARE = 0.05  # of w: the floor
LEAST_VARIANCE = 0.1  # of w: with V below it the scale does not move down
MOST_URGENCY = 16.0  # how many times its even share a constraint may want
ENOUGH = 30.0  # events, to tell how busy a period is
SHARE_AT_ONCE = 1.0 / 16.0  # of the events to come in a period: one pace serves no more than that
BLIND = 10.0  # how many times as many events as came are expected if nothing else is known
FRONT_LOAD_EVENTS = (
    40.0  # events in which the burst of a share falls to 1/e, if half of the answers or more are mistakes
)
LAST_MOMENT = 0.999  # of a period, with room for rounding
LEAST_WANTED = 1e-9  # above 0, for w divides; a spent budget stops at the ceiling
RANGE = 1e12  # s lies between 1 / RANGE and RANGE
NEVER = 1 << 62  # more than will ever be counted
LARGEST = 1e300  # of a query rule's own scale once it is multiplied by s


class Pace(NamedTuple):
    """What a budget says of the next few events."""

    ceiling: int
    """floor(A): how many labels may have been asked in all."""
    scale: float
    """s: what the odds of asking are multiplied by."""
    thinning: float
    """h: what the ask probability is multiplied by after that."""
    floor: float
    """The least ask probability that every event keeps."""
    next_update_event: int
    """The event at which the pace is updated."""
    next_update_time: float
    """The time at which it is updated, at the latest."""


class Sums(NamedTuple):
    """Sums over the events since the last update: of p_s, and of p_s (1 - p_s)."""

    chance: float
    variance: float


# --- budgets that set a limit and no pace ------------------------------------------------------------------


def load_limit(parameters, budget_state):
    """ceiling = n, the smallest, s = h = 1 and no floor; the pace never needs an update."""
    limit = inf
    for i in range(count_constraints(parameters)):
        limit = min(limit, view_constraint(parameters, i).limit)
    return Pace(as_count(limit), 1.0, 1.0, 0.0, NEVER, inf), Sums(0.0, 0.0)


def store_nothing(budget_state, pace, sums):
    return None


def never_due(pace, seen, times, t):
    return False


def unchanged_limit(parameters, budget_state, sums, tally, time):
    """Fill the slot; it is never called."""
    pace, _ = load_limit(parameters, budget_state)
    return pace


def leave_scales(parameters, scale):
    return None


def as_it_is(chance, scale):
    return chance


# --- budgets that set a pace -----------------------------------------------------------------------------


def resume(parameters, budget_state):
    """The pace and the sums with which the last call ended."""
    steering = view_steering(budget_state)
    return pace_of(steering), Sums(steering.chance_sum, steering.variance_sum)


def pace_of(steering):
    """The pace that the budget state describes; floor = LEAST_SHARE w."""
    floor = LEAST_SHARE * steering.wanted
    ceiling, next_update_event = as_count(steering.ceiling), as_count(steering.next_update_event)
    return Pace(ceiling, steering.scale, steering.thinning, floor, next_update_event, steering.next_update_time)


def as_count(number):
    """A whole number from one that may be infinite: counts are compared faster with it than with a float."""
    return int(min(NEVER, number))


def suspend(budget_state, pace, sums):
    """Keep the sums for the next call. Every update stores the rest of the pace by itself."""
    steering = view_steering(budget_state)
    steering.next_update_event = pace.next_update_event
    steering.chance_sum = sums.chance
    steering.variance_sum = sums.variance


def expire_pace(pace):
    """The same pace, to be updated at the next event: the ceiling may be higher by then."""
    return Pace(pace.ceiling, pace.scale, pace.thinning, pace.floor, 0, pace.next_update_time)


def due_after_events(pace, seen, times, t):
    return seen >= pace.next_update_event


def due_after_events_or_time(pace, seen, times, t):
    # one test of both takes less time than two tests
    return (seen >= pace.next_update_event) | (times[t] >= pace.next_update_time)


def multiply_scales(parameters, scale):
    """delta <- s delta for every scale delta of the query rule, which multiplies its odds by s."""
    for i in range(parameters.scales.size):
        parameters.query[i] = min(LARGEST, max(1.0 / LARGEST, scale * parameters.scales[i]))


def scale_chance(chance, scale):
    """p_s = s p / (1 - p + s p), whose odds are s times those of p."""
    return scale * chance / (1.0 - chance + scale * chance)


@no_inline
def pace_by_events(parameters, budget_state, sums, tally, time):
    """Update the pace of a budget that reads no time: first s, M and V, then w, the ceiling and h."""
    steering = view_steering(budget_state)
    adjust(steering, sums, tally)
    income, longest = update_pace(parameters, budget_state, steering, tally)
    return schedule_update(steering, tally, income, longest)


@no_inline
def pace_by_time(parameters, budget_state, sums, tally, time):
    """Update the pace of a budget by time; the event in hand came at ``time``."""
    steering = view_steering(budget_state)
    lately = tally.seen - steering.updated
    adjust(steering, sums, tally)
    count_events(parameters, budget_state, lately - 1.0)
    advance_clock(steering, time, lately)
    income, longest = update_pace(parameters, budget_state, steering, tally)
    return schedule_update(steering, tally, income, longest, FEW_BY_TIME, FEW_LABELS_BY_TIME)


def schedule_update(steering, tally, income, longest, few=FEW_AT_ONCE, few_labels=FEW_LABELS):
    """Say when the next update is: after K events, those of one label, or of l labels if one label takes few events.

        K_1 = 1 / max(income, w),     l = min(l_0, (floor(A) - a) / 2, a / 10),
        K = max(1, floor(min(longest, max(K_1, min(K_0, l K_1)))))

    with K_0 = ``few``, l_0 = ``few_labels``, and ``income`` the smallest even share of the constraints."""
    worth = 1.0 / max(income, steering.wanted)
    labels = min(few_labels, min(SHARE_OF_CREDIT * (steering.ceiling - tally.asked), SHARE_OF_ASKED * tally.asked))
    worth = max(worth, min(few, labels * worth))
    steering.next_update_event = tally.seen + max(1.0, np.floor(min(longest, worth)))
    return pace_of(steering)


# --- how much may be asked -------------------------------------------------------------------------------


def update_pace(parameters, budget_state, steering, tally):
    """Count the event in hand, and set w, the ceiling and h by all constraints.

        share      w = r min(MOST_URGENCY, ((A - a) / L)^2), and see ``front_loaded_share``  even share r
        period     w = min(MOST_URGENCY (n + c) / (e + f), (A - a) / (1 + f))           even share (n + c) / (e + f)

    The smallest w and the smallest floor(A) count. Returns the smallest even share, and for how many events one pace
    may serve: f / 16 at most."""
    wanted = inf
    income = 1.0
    ceiling = inf
    longest = MOST_AT_ONCE
    steering.next_update_time = inf
    for i in range(count_constraints(parameters)):
        constraint, period = view_constraint(parameters, i), view_period(budget_state, i)
        if constraint.share > 0.0:
            allowed = labels_allowed(constraint, period, tally)
            income = min(income, constraint.share)
            urgent = constraint.share * urgency((allowed - tally.asked) * (1.0 / LEAD))
            if constraint.front_load > 0.0:
                urgent = max(urgent, front_loaded_share(constraint, period, tally))
            wanted = min(wanted, urgent)
        elif constraint.period > 0.0:
            time = steering.time / constraint.period
            number = np.floor(time)
            if not number <= period.begun:
                begin_period(constraint, period, number, tally)
            elapsed = time - period.begun
            part = part_at(elapsed)
            if part != period.part:
                begin_part(period, part)
            allowed = period.asked_before + constraint.limit + period.carried
            period.now[int(period.part)] += 1.0
            so_far, to_come = events_of_period(period, (1.0 - elapsed) * constraint.period, steering.interval)
            even = (constraint.limit + period.carried) / (so_far + to_come)
            income = min(income, even)
            wanted = min(wanted, min(MOST_URGENCY * even, (allowed - tally.asked) / (1.0 + to_come)))
            longest = min(longest, SHARE_AT_ONCE * to_come)
            steering.next_update_time = min(steering.next_update_time, end_of_part(constraint, period))
        else:
            allowed = constraint.limit
        ceiling = min(ceiling, np.floor(allowed))
    set_pace(steering, wanted, ceiling)
    return income, longest


def set_pace(steering, wanted, ceiling):
    """Store w, bounded, the ceiling, and h = min(1, ROOM w / M)."""
    wanted = max(LEAST_WANTED, min(1.0, wanted))
    steering.wanted = wanted
    steering.ceiling = ceiling
    steering.thinning = ROOM * wanted / steering.mean_chance if ROOM * wanted < steering.mean_chance else 1.0


def labels_allowed(constraint, since, tally):
    """A = a_0 + max(r n_0, b + (1 - PAID_BACK) r n_0), for the n_0 = t - t_0 events since the share was set.

    The burst b is a loan: it is paid back by PAID_BACK of what accrues."""
    if since.begun != since.begun:  # NaN: this is the first event
        since.begun = tally.seen - 1.0
        since.asked_before = tally.asked
    accrued = constraint.share * (tally.seen - since.begun)
    return since.asked_before + max(accrued, constraint.burst + (1.0 - PAID_BACK) * accrued)


def front_loaded_share(constraint, since, tally):
    """(b - L - a) / FRONT_LOAD_EVENTS min(1, 2 (k + 1) / (a + 2))^4: the share wanted while the burst b is not spent
    down to L, for a labels asked since the share was set and k mistakes so far."""
    left = constraint.burst - LEAD - (tally.asked - since.asked_before)
    surprise = min(1.0, 2.0 * (tally.mistakes + 1.0) / (tally.asked + 2.0))
    return max(0.0, left) / FRONT_LOAD_EVENTS * surprise**4


def urgency(ratio):
    """min(MOST_URGENCY, max(0, ratio)^2), for the ratio (A - a) / L."""
    ratio = max(0.0, ratio)
    return min(MOST_URGENCY, ratio * ratio)


def count_events(parameters, budget_state, number):
    """e_j += number: count the events since the last update in the part j of the period that it was then."""
    for i in range(count_constraints(parameters)):
        period = view_period(budget_state, i)
        if view_constraint(parameters, i).period > 0.0 and period.part != NO_PART:
            period.now[int(period.part)] += number


def advance_clock(steering, time, lately):
    """Move the clock on by ``step``, never back, and update the mean time between two events:

        d += min(1, k / min(N + 1, ARRIVALS)) (step / k - d)

    where k = ``lately`` events came since the last update."""
    last = steering.time
    if last != last:  # NaN: the first event
        steering.time = time
        return
    step = max(0.0, time - last)
    mean = steering.interval
    steering.time = last + step
    weight = min(1.0, lately / min(steering.steered + 1.0, ARRIVALS))
    steering.interval = step / lately if mean != mean else mean + weight * (step / lately - mean)


def begin_period(constraint, period, number, tally):
    """Begin period i, where the last one was i'. With carrying over, and otherwise c = 0,

        c = max(0, n + c - (a - a_0)) + n (i - i' - 1),     u_j = (u_j + e_j) / 2,     e_j = 0,     a_0 = a

    where u_j is e_j itself after the first period."""
    last = period.begun
    if last == last:
        if constraint.carry > 0.0:
            left = constraint.limit + period.carried - (tally.asked - period.asked_before)
            period.carried = max(0.0, left) + constraint.limit * (number - last - 1.0)
        if period.known == 0.0:
            fill_empty_parts(period.now)
        for j in range(SLOTS):
            new = period.now[j]
            period.usually[j] = 0.5 * (period.usually[j] + new) if period.known > 0.0 else new
            period.now[j] = 0.0
        period.known += 1.0
    period.begun = number
    period.asked_before = tally.asked
    period.part = NO_PART


def fill_empty_parts(now):
    """Give the parts before the stream's first event the mean e_j of the others: the first period may have begun before
    the stream did."""
    begun = 0
    while begun < SLOTS - 1 and now[begun] == 0.0:
        begun += 1
    events = 0.0
    for j in range(begun, SLOTS):
        events += now[j]
    for j in range(begun):
        now[j] = events / (SLOTS - begun)


def part_at(elapsed):
    """j = floor(SLOTS elapsed): the part of a period of which this share is over."""
    return int(SLOTS * min(LAST_MOMENT, max(0.0, elapsed)))


def begin_part(period, part):
    """Begin part j of the period: see how busy it has been so far,

        B = (sum_{i<j} e_i + ENOUGH) / (sum_{i<j} u_i + ENOUGH),

    and keep the sums of e_i over the parts before j and of u_i over those after it."""
    events_so_far = 0.0
    usual_so_far = 0.0
    for i in range(part):
        events_so_far += period.now[i]
        usual_so_far += period.usually[i]
    expected_rest = 0.0
    for i in range(part + 1, SLOTS):
        expected_rest += period.usually[i]
    period.part = part
    period.events_so_far = events_so_far
    period.busy = (events_so_far + ENOUGH) / (usual_so_far + ENOUGH)
    period.expected_rest = expected_rest


def end_of_part(constraint, period):
    """T (n + (j + 1) / SLOTS), when part j of the n-th period of length T ends, less a moment for rounding."""
    end = constraint.period * (period.begun + (period.part + 1.0) / SLOTS)
    return end - 1e-14 * abs(end)


def events_of_period(period, left, interval):
    """e, the events of the period so far, the one in hand included, and f, those to come in the ``left`` seconds.

        e = sum_{i<=j} e_i,     f = max(0, B u_j - e_j) + B sum_{i>j} u_i

    In the first period, where no u_j is known, f = left / d."""
    j = int(period.part)
    so_far = period.events_so_far + period.now[j]
    if period.known > 0.0:
        to_come = max(0.0, period.busy * period.usually[j] - period.now[j]) + period.busy * period.expected_rest
        return so_far, to_come
    to_come = left / interval  # at the recent rate
    if not to_come < inf:  # NaN or infinite: the first events of all, or many at the same time
        to_come = BLIND * (so_far + BLIND)
    return so_far, to_come


# --- how the scale is steered ----------------------------------------------------------------------------


def adjust(steering, sums, tally):
    """Update M, V and s by the k events since the last update.

        M += beta (sum p_s - k M),     V += beta (sum p_s (1 - p_s) - k V),     s <- s exp(max(-LARGEST_STEP, g D))
        D = k w - sum p_s,             at least k w (1 - M) where V <= LEAST_VARIANCE w

    beta = w / MEMORY, and EARLY / (N + (EARLY - 1) k) as long as beta N < EARLY, N counting the k events;
    g = max(GAIN, EARLY_GAIN / (1 + a))."""
    lately = tally.seen - steering.updated
    steering.updated = tally.seen
    if sums.chance == 0.0:  # nothing could be asked
        return
    wanted = steering.wanted
    steering.steered += lately
    weight = wanted * (1.0 / MEMORY)
    if weight * steering.steered < EARLY:  # at first, the means are of the later part of the stream so far
        weight = EARLY / (steering.steered + (EARLY - 1.0) * lately)
    steering.mean_chance += weight * (sums.chance - lately * steering.mean_chance)
    steering.mean_variance += weight * (sums.variance - lately * steering.mean_variance)
    gain = GAIN if tally.asked >= EARLY_GAIN / GAIN else EARLY_GAIN / (1.0 + tally.asked)
    too_few = lately * wanted - sums.chance
    # The scale has no effect: as if only the events had come that the rule would not ask.
    if steering.mean_variance <= LEAST_VARIANCE * wanted:
        too_few = max(too_few, lately * wanted * (1.0 - steering.mean_chance))
    steering.scale = min(RANGE, max(1.0 / RANGE, steering.scale * growth(max(-LARGEST_STEP, gain * too_few))))


def growth(step):
    """(1 + step / 8)^8, close enough to exp(step), which would take longer than all the rest of an update."""
    squared = (1.0 + 0.125 * step) * (1.0 + 0.125 * step)
    return squared * squared * (squared * squared)
