"""Score, decide, learn: the one loop that plays a stream, and its two short relatives.

A combination of rules fills fourteen slots. The functions below that only raise are those slots: their signatures
and docstrings are the contract for whoever writes a rule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from askance.learner.pacing import Pace, Sums, to_be_reckoned
from askance.learner.sparse import LOOK_AHEAD, fetch_events_to_come
from askance.learner.state import Event, Score, State, Tally

# --- the slots -------------------------------------------------------------------------------------------


def margin(parameters: np.ndarray, state: State, event: Event) -> Score:
    """Update rule: predict. With more than one weight vector also fill ``state.scores``."""
    raise NotImplementedError


def score(parameters: np.ndarray, state: State, event: Event) -> Score:
    """Update rule: as ``margin``, with the variance (where the query rule reads one)."""
    raise NotImplementedError


def learn(parameters: np.ndarray, state: State, event: Event, answer: int, said: Score, weight: float) -> None:
    """Update rule: move the model, given the class index of the answer and what the model says of the event.

    The variance is not said; a rule that needs it computes it."""
    raise NotImplementedError


def forget(parameters: np.ndarray, state: State, event: Event) -> None:
    """Update rule: let go of a little of what was learned about this event's features, before an answer to it."""
    raise NotImplementedError


def forget_nothing(parameters: np.ndarray, state: State, event: Event) -> None:
    """Stands in for a rule that does not forget."""


def note(state: State, event: Event, said: Score, chance: float, is_asked: bool) -> None:
    """Update rule: keep what it will report of an event of the stream, which is asked with this probability."""
    raise NotImplementedError


def note_nothing(state: State, event: Event, said: Score, chance: float, is_asked: bool) -> None:
    """Stands in for a rule that reports nothing."""


def probability(parameters: np.ndarray, margin: float, variance: float, squared_length: float, tally: Tally) -> float:
    """Query rule: the probability of asking, in [0, 1]."""
    raise NotImplementedError


def length(event: Event) -> float:
    """Query rule: ||x||^2 for a rule that reads it, else ``unread_length``."""
    raise NotImplementedError


def unread_length(event: Event) -> float:
    """Stands in for ||x||^2 where nobody reads it."""
    return 0.0


def score_and_length(parameters: np.ndarray, state: State, event: Event) -> tuple[Score, float]:
    """Update rule: ``score``, with the ``length`` that the query rule reads; ``one_after_the_other`` unless the update
    rule has a kernel that finds both in one pass."""
    raise NotImplementedError


def one_after_the_other(parameters: np.ndarray, state: State, event: Event) -> tuple[Score, float]:
    """Stands in for a kernel that does both at once."""
    return score(parameters, state, event), length(event)


def resume(parameters: np.ndarray, account: np.ndarray) -> tuple[Pace, Sums]:
    """Budget: the pace at which the last call ended."""
    raise NotImplementedError


def suspend(account: np.ndarray, pace: Pace, sums: Sums) -> None:
    """Budget: keep what the next call needs."""
    raise NotImplementedError


def reckon(parameters: np.ndarray, account: np.ndarray, sums: Sums, tally: Tally, time: float) -> Pace:
    """Budget: how many labels may be asked for, and how eagerly, as things stand."""
    raise NotImplementedError


def is_due(pace: Pace, seen: int, times: np.ndarray, t: int) -> bool:
    """Budget: whether the pace must be reckoned anew for event t of these times, the ``seen``-th of all."""
    raise NotImplementedError


def tune(parameters: Parameters, scale: float) -> None:
    """Budget: make the scales of the query rule so many times as large as they are by themselves."""
    raise NotImplementedError


def steer(chance: float, scale: float) -> float:
    """Budget: the probability of a query rule that has no scales, as if it had one so many times as large."""
    raise NotImplementedError


# --- the loops -------------------------------------------------------------------------------------------


class Parameters(NamedTuple):
    """The hyper-parameters of a combination, as its kernels see them."""

    update: np.ndarray
    query: np.ndarray
    """Those of the query rule, with its scales as the budget has tuned them."""
    scales: np.ndarray
    """The scales as the user gave them: what ``query`` begins with."""
    budget: np.ndarray
    explore: float
    """The least probability of asking for an event, where the budget allows one at all."""


class Account(NamedTuple):
    """What has been decided so far, and what the budget makes of it. It goes on from call to call."""

    counts: np.ndarray
    """Events seen, labels asked for, and wrong predictions among the answers."""
    budget: np.ndarray
    """Whatever the budget keeps."""


class Block(NamedTuple):
    """Events in a row: event t is ``columns[starts[t]:starts[t + 1]]`` with the values beside them."""

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray


def event_at(block: Block, t: int, table_is_large: bool) -> Event:
    """Event t of a block. Its bounds are unsigned, and so is every index made from them: numba then need not test for
    negative ones."""
    start, stop = np.uint64(block.starts[t]), np.uint64(block.starts[t + 1])
    has_followers = bool(table_is_large and stop + LOOK_AHEAD <= np.uint64(block.columns.size))
    event = Event(block.columns, block.values, start, stop, has_followers)
    if table_is_large:
        fetch_events_to_come(event)
    return event


class Record(NamedTuple):
    """What was decided, an entry per event. ``variance`` is empty where nobody wants it."""

    predicted: np.ndarray
    margin: np.ndarray
    variance: np.ndarray
    probability: np.ndarray
    asked: np.ndarray
    audit: np.ndarray


NOT_GIVEN = -1  # in place of an answer's class index: the label is asked for, but will come later, or never
CACHE_BYTES = 1 << 21  # about where fetching ahead begins to pay; below, the hints may cost a sixth of the speed


def is_large(state: State) -> bool:
    """Whether the table is too large for the nearer caches."""
    return state.table.size * 8 >= CACHE_BYTES


def without_variance(said: Score) -> Score:
    """What ``learn`` sees: an answer that comes later finds no variance, so one that comes at once must not either."""
    return Score(said.predicted, said.margin, 0.0)


def play(
    parameters: Parameters,
    state: State,
    account: Account,
    block: Block,
    times: np.ndarray,
    uniforms: np.ndarray,
    answers: np.ndarray,
    weighted: bool,
    record: Record,
) -> None:
    """Predict every event, ask for some, and learn from the answers that are given.

    Event t owns ``uniforms[t]`` and is asked iff that is below its probability; it is an audit, which every event could
    have become, iff that is below ``explore`` too. An event without features is asked as an audit only: no rule could
    learn from it. ``times`` is empty where no budget wants it.
    """
    table_is_large = is_large(state)
    keeps_variance = record.variance.size > 0
    explore = parameters.explore
    seen, asked, mistakes = account.counts[0], account.counts[1], account.counts[2]
    pace, sums = resume(parameters.budget, account.budget)
    floor = max(explore, pace.least)
    tune(parameters, pace.scale)
    for t in range(block.starts.size - 1):
        event = event_at(block, t, table_is_large)
        seen += 1
        tally = Tally(seen, asked, mistakes)
        if is_due(pace, seen, times, t):
            pace = reckon(parameters.budget, account.budget, sums, tally, times[t] if times.size > 0 else 0.0)
            sums = Sums(0.0, 0.0)
            floor = max(explore, pace.least)
            tune(parameters, pace.scale)
        chance = 0.0
        if asked < pace.ceiling:
            said, squared_length = score_and_length(parameters.update, state, event)
            if event.stop > event.start:
                chance = probability(parameters.query, said.margin, said.variance, squared_length, tally)
                chance = min(1.0, max(0.0, chance))  # whatever a rule may return
                chance = max(floor, steer(chance, pace.scale))
                sums = Sums(sums.chance + chance, sums.hold + chance * (1.0 - chance))
                chance = max(floor, chance * pace.thinned)
            else:
                chance = explore
        else:
            said = margin(parameters.update, state, event)
        is_asked = uniforms[t] < chance
        record.predicted[t] = said.predicted
        record.margin[t] = said.margin
        record.probability[t] = chance
        record.asked[t] = is_asked
        record.audit[t] = is_asked and uniforms[t] < explore
        if keeps_variance:
            record.variance[t] = said.variance
        note(state, event, said, chance, is_asked)
        if is_asked:
            asked += 1
            if asked >= pace.ceiling:
                pace = to_be_reckoned(pace)
            if answers[t] != NOT_GIVEN:
                mistakes += said.predicted != answers[t]
                if event.stop > event.start:
                    weight = 1.0 / chance if weighted else 1.0
                    forget(parameters.update, state, event)
                    learn(parameters.update, state, event, answers[t], without_variance(said), weight)
    account.counts[0], account.counts[1], account.counts[2] = seen, asked, mistakes
    suspend(account.budget, pace, sums)


def teach(parameters: np.ndarray, state: State, block: Block, answers: np.ndarray, weights: np.ndarray) -> int:
    """Learn from given answers; ask nothing. Returns how many of them the model would have got wrong."""
    table_is_large = is_large(state)
    mistakes = 0
    for t in range(block.starts.size - 1):
        event = event_at(block, t, table_is_large)
        if weights[t] > 0.0:
            said = margin(parameters, state, event)
            mistakes += said.predicted != answers[t]
            if event.stop > event.start:
                forget(parameters, state, event)
                learn(parameters, state, event, answers[t], without_variance(said), weights[t])
    return mistakes


def look(parameters: np.ndarray, state: State, block: Block, predicted: np.ndarray, scores: np.ndarray) -> None:
    """Predict only. ``scores`` gets a row per event: the score of each weight vector, or margin and variance."""
    table_is_large = is_large(state)
    for t in range(block.starts.size - 1):
        event = event_at(block, t, table_is_large)
        said = margin(parameters, state, event)
        predicted[t] = said.predicted
        if state.scores.size > 1:
            for vector in range(state.scores.size):
                scores[t, vector] = state.scores[vector]
        else:
            scores[t, 0] = said.margin
            scores[t, 1] = said.variance
