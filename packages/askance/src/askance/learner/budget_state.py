"""What a paced budget keeps: the constraints it consists of, and the array of its state, whose numbers have names.

The letters are those of ``askance.learner.pacing``, which steers by these numbers. Here is what happens to them between
two runs: a budget begins, another takes its place, the clock is set.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from askance.learner.state import declare_record


class Constraint(NamedTuple):
    """One constraint of a budget; its parameters are its constraints, one after the other."""

    limit: float = inf
    """n: the labels in all, or per period."""
    share: float = 0.0
    """r: the share of the events; 0 if it is none."""
    burst: float = 0.0
    """b: how many labels may be asked ahead of the share at the beginning."""
    period: float = 0.0
    """The seconds of a period; 0 if there is none."""
    carry: float = 0.0
    """1 if the labels that a period leaves over are carried over, else 0."""
    front_load: float = 0.0
    """1 if the burst is spent at once while answers surprise, else 0."""


CONSTRAINT = declare_record(*Constraint._fields)
SLOTS = 24  # parts of a period
STEERING = declare_record(
    "ceiling",  # floor(A)
    "scale",  # s
    "thinning",  # h
    "next_update_event",  # the event of the next update
    "chance_sum",  # the sum of p_s since the last update
    "variance_sum",  # the sum of p_s (1 - p_s) since the last update
    "updated",  # the event of the last update
    "wanted",  # w
    "steered",  # N: the events that were steered
    "mean_chance",  # M
    "mean_variance",  # V
    "time",  # the latest time at the last update
    "interval",  # d: the recent mean time between two events
    "next_update_time",  # when the next part of a period begins
)
"""What the budget state begins with. For each constraint follows:"""
PERIOD = declare_record(
    "begun",  # i, the number of the period; for a share t_0, the events before it was set
    "asked_before",  # a_0
    "carried",  # c
    "known",  # how many periods went before this one
    "part",  # j, the part of the period
    "events_so_far",  # the events in the parts before j: sum_{i<j} e_i
    "busy",  # B
    "expected_rest",  # the usual events of the parts after j: sum_{i>j} u_i
    ("now", SLOTS),  # e_j: events in each part of this period
    ("usually", SLOTS),  # u_j: events in each part, usually
)
CONSTRAINT_SIZE = CONSTRAINT.itemsize // 8  # numbers
STEERING_SIZE, PERIOD_SIZE = STEERING.itemsize // 8, PERIOD.itemsize // 8
NO_PART = -1.0  # j of a period that has seen no event


def view_steering(budget_state):
    """The first numbers of a budget state by their names."""
    return budget_state[:STEERING_SIZE].view(STEERING)[0]


def view_period(budget_state, i):
    """What a budget state has for constraint i."""
    first = STEERING_SIZE + PERIOD_SIZE * i
    return budget_state[first : first + PERIOD_SIZE].view(PERIOD)[0]


def view_constraint(parameters, i):
    """Constraint i among the parameters of a budget."""
    return parameters[CONSTRAINT_SIZE * i : CONSTRAINT_SIZE * (i + 1)].view(CONSTRAINT)[0]


def count_constraints(parameters):
    return parameters.size // CONSTRAINT_SIZE


def fresh_budget_state(n_constraints: int) -> np.ndarray:
    """The budget state before the first event: s = h = M = 1, and no time known."""
    budget_state = np.zeros(STEERING_SIZE + PERIOD_SIZE * n_constraints)
    steering = view_steering(budget_state)
    steering.scale = steering.thinning = steering.mean_chance = 1.0
    steering.time = steering.interval = np.nan
    steering.next_update_time = inf
    for i in range(n_constraints):
        period = view_period(budget_state, i)
        period.begun = np.nan
        period.part = NO_PART
    return budget_state


def name_budget_state(budget_state: np.ndarray) -> np.ndarray:
    """The same numbers as a record, all by their names: what a model file keeps. Empty if the budget sets no pace."""
    if not budget_state.size:
        return budget_state
    n_constraints = (budget_state.size - STEERING_SIZE) // PERIOD_SIZE
    return budget_state.view([("steering", STEERING.descr), ("constraints", PERIOD.descr, (n_constraints,))])


def restore_by_name(target: np.ndarray, kept: np.ndarray) -> None:
    """Set the numbers of a record to those of the same names in another; those that it lacks stay as they are."""
    if target.shape != kept.shape:
        raise ValueError(f"a budget state of shape {kept.shape}, where {target.shape} belongs")
    if target.dtype.names is None:
        target[...] = kept
        return
    for name in target.dtype.names:
        if name in (kept.dtype.names or ()):
            restore_by_name(target[name], kept[name])


def is_budget_state(budget_state: np.ndarray, n_constraints: int) -> bool:
    """Whether the array has the size of a state with so many constraints, or is empty, as for a budget without a
    pace."""
    return budget_state.size in (0, STEERING_SIZE + PERIOD_SIZE * n_constraints)


def carry_over(
    budget_state: np.ndarray, constraints: list[Constraint], old: np.ndarray, before: list[Constraint]
) -> None:
    """Keep what still holds when a budget replaces another.

    That is what the old state knows of the stream, of periods of the same length, and of a share that stays the same.
    A new share counts from the change on."""
    if not len(old):
        return
    known = ["scale", "steered", "mean_chance", "mean_variance", "updated"]
    if any(constraint.period > 0.0 for constraint in constraints):  # else nobody advances the clock from now on
        known += ["time", "interval"]
    steering, old_steering = view_steering(budget_state), view_steering(old)
    for name in known:
        steering[name] = old_steering[name]
    periods, old_periods = (array[STEERING_SIZE:].view(PERIOD) for array in (budget_state, old))
    for i, constraint in enumerate(constraints):
        # Of equally similar ones, the one that carried the fewest labels over: a change must not allow more.
        similar = [(similarity(constraint, earlier), -old_periods[j].carried, j) for j, earlier in enumerate(before)]
        how_similar, _, best = max(similar, default=(0, 0.0, 0))
        if how_similar > 0:
            periods[i] = old_periods[best]
            if not constraint.carry:
                periods[i].carried = 0.0


def similarity(constraint: Constraint, earlier: Constraint) -> int:
    """How much of an earlier constraint's state holds for this one: 0 for nothing, 3 for everything."""
    if constraint.period > 0.0:
        return int(constraint.period == earlier.period) * (
            1 + (constraint.carry == earlier.carry) + (constraint == earlier)
        )
    return int(constraint.share > 0.0 and constraint == earlier)


class StreamPace(NamedTuple):
    """What a paced budget knows of the stream."""

    time: float
    """The latest time at the last update, up to MOST_AT_ONCE events ago; NaN if the budget reads no time."""
    interval: float
    """d: the recent mean time between two events; NaN before the second."""
    wanted: float
    """w: the share of the events that it wants to ask now."""


def stream_pace(budget_state: np.ndarray) -> StreamPace | None:
    """What a budget state knows of the stream; None if the budget sets no pace."""
    if len(budget_state) < STEERING_SIZE:
        return None
    steering = view_steering(budget_state)
    return StreamPace(float(steering.time), float(steering.interval), float(steering.wanted))


def move_time(
    budget_state: np.ndarray, constraints: list[Constraint], time: float, asked: dict[float, int], total: int
) -> None:
    """Set the clock: the stream goes on from ``time``.

    ``total`` labels were asked in all. ``asked`` maps the length of a period to the labels asked in the one that
    ``time`` lies in. The usual course of a period stays known."""
    steering = view_steering(budget_state)
    steering.time = steering.interval = np.nan
    steering.next_update_event = 0.0  # the next event updates everything else
    for i, constraint in enumerate(constraints):
        if constraint.period > 0.0:
            period = view_period(budget_state, i)
            period.begun = np.floor(time / constraint.period)
            period.asked_before = total - asked.get(constraint.period, 0)
            period.carried = 0.0
            period.part = NO_PART
            period.now[:] = 0.0
