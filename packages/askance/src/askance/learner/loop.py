"""Score, decide, learn: the one loop that plays a stream, and its three short relatives.

A combination of rules fills nineteen slots. The functions below that only raise are these slots: their signatures and
docstrings are the contract for whoever writes a rule. For an event with the query rule's probability p, ``play`` asks
with

    max(floor, h p_s)

where the budget sets the scale s, the thinning h and the floor (see ``pacing``), and the floor is ``explore`` at least.
Before that, the budget sees the prediction: ``may_be_asked`` says whether it allows a label for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from askance.evaluate.calibration.windowed import keep_answer
from askance.learner.pacing import Pace, Sums, expire_pace
from askance.learner.sparse import LOOK_AHEAD, fetch_events_to_come
from askance.learner.state import Event, Score, State, Tally

# --- the slots -------------------------------------------------------------------------------------------


def margin(parameters: np.ndarray, state: State, event: Event) -> Score:
    """Update rule: predict. With more than one weight vector also fill ``state.scores``."""
    raise NotImplementedError


def score(parameters: np.ndarray, state: State, event: Event) -> Score:
    """Update rule: as ``margin``, with the variance, if the query rule reads it."""
    raise NotImplementedError


def learn(parameters: np.ndarray, state: State, event: Event, answer: int, prediction: Score, weight: float) -> None:
    """Update rule: move the model, given the class index of the answer and the model's prediction.

    The prediction comes without its variance; a rule that needs it computes it."""
    raise NotImplementedError


def watch(parameters: np.ndarray, state: State, event: Event) -> None:
    """Update rule: let an event of the stream, or one that comes with its label, enter what the rule knows of events
    without labels, before it is scored."""
    raise NotImplementedError


def watch_nothing(parameters: np.ndarray, state: State, event: Event) -> None:
    """Stands in for a rule that learns from labels alone, and for events that were watched before."""


def forget(parameters: np.ndarray, state: State, event: Event) -> None:
    """Update rule: forget a little of what was learned about this event's features, before learning its answer."""
    raise NotImplementedError


def forget_nothing(parameters: np.ndarray, state: State, event: Event) -> None:
    """Stands in for a rule that does not forget."""


def observe(state: State, event: Event, prediction: Score, chance: float, is_asked: bool) -> None:
    """Update rule: note an event of the stream for the report; it was asked with probability ``chance``."""
    raise NotImplementedError


def observe_nothing(state: State, event: Event, prediction: Score, chance: float, is_asked: bool) -> None:
    """Stands in for a rule that reports nothing."""


def has_features(event: Event) -> bool:
    """Update rule: whether there is something to learn from: ``has_any_feature``, unless the rule's events begin with
    an entry that is none."""
    raise NotImplementedError


def has_any_feature(event: Event) -> bool:
    """Whether the event has a feature."""
    return bool(event.stop > event.start)


def probability(parameters: np.ndarray, margin: float, variance: float, squared_length: float, tally: Tally) -> float:
    """Query rule: the probability of asking, in [0, 1]."""
    raise NotImplementedError


def length(event: Event) -> float:
    """Query rule: ||x||^2 if the rule reads it, else ``unread_length``."""
    raise NotImplementedError


def unread_length(event: Event) -> float:
    """Stands in for ||x||^2 where nobody reads it."""
    return 0.0


def score_and_length(parameters: np.ndarray, state: State, event: Event) -> tuple[Score, float]:
    """Update rule: ``score`` and the ``length`` that the query rule reads. It is ``score_then_length`` unless the
    update rule has a kernel that computes both in one pass."""
    raise NotImplementedError


def score_then_length(parameters: np.ndarray, state: State, event: Event) -> tuple[Score, float]:
    """Stands in for a kernel that does both at once."""
    return score(parameters, state, event), length(event)


def predict_event(parameters: np.ndarray, state: State, event: Event, record: Record, t: int) -> Score:
    """The ``margin`` of event t: ``predict_now`` or, if events are scored side by side, ``recall_prediction``."""
    raise NotImplementedError


def predict_now(parameters: np.ndarray, state: State, event: Event, record: Record, t: int) -> Score:
    """Predict the event by the model as it is."""
    return margin(parameters, state, event)


def score_event(parameters: np.ndarray, state: State, event: Event, record: Record, t: int) -> tuple[Score, float]:
    """``score_and_length`` of event t: ``score_now`` or, if events are scored side by side, ``recall_score``."""
    raise NotImplementedError


def score_now(parameters: np.ndarray, state: State, event: Event, record: Record, t: int) -> tuple[Score, float]:
    """Score the event by the model as it is."""
    return score_and_length(parameters, state, event)


def note_answer(recent: np.ndarray, scores: np.ndarray, margin: float, answer: int, weight: float) -> None:
    """Keep an answer for the probabilities of classes, with the scores from before it is learned: ``keep_answer``, or
    with one score ``leave_answer``, for the record has what is needed."""
    raise NotImplementedError


def leave_answer(recent: np.ndarray, scores: np.ndarray, margin: float, answer: int, weight: float) -> None:
    """Stands in where answers are kept after the loop."""


def resume(parameters: np.ndarray, budget_state: np.ndarray) -> tuple[Pace, Sums]:
    """Budget: the pace and the sums with which the last call ended."""
    raise NotImplementedError


def suspend(budget_state: np.ndarray, pace: Pace, sums: Sums) -> None:
    """Budget: keep what the next call needs."""
    raise NotImplementedError


def update_pace(parameters: np.ndarray, budget_state: np.ndarray, sums: Sums, tally: Tally, time: float) -> Pace:
    """Budget: the pace of the next few events, from the sums over those since the last update."""
    raise NotImplementedError


def needs_update(pace: Pace, seen: int, times: np.ndarray, t: int) -> bool:
    """Budget: whether the pace needs an update at event t of the block, the ``seen``-th of all, at ``times[t]``."""
    raise NotImplementedError


def scale_query(parameters: Parameters, scale: float) -> None:
    """Budget: set the scales of the query rule to ``scale`` times the user's."""
    raise NotImplementedError


def scale_probability(chance: float, scale: float) -> float:
    """Budget: p_s for a query rule without scales: its probability with the odds multiplied by ``scale``."""
    raise NotImplementedError


# --- the loops -------------------------------------------------------------------------------------------


class Parameters(NamedTuple):
    """The hyper-parameters of a combination, as its kernels see them."""

    update: np.ndarray
    query: np.ndarray
    """Those of the query rule; it begins with the scales, as the budget has multiplied them."""
    scales: np.ndarray
    """The scales as the user gave them."""
    budget: np.ndarray
    class_ceilings: np.ndarray
    """How many labels may ever be asked of the events predicted as each class; empty without such a limit."""
    explore: float
    """The least ask probability of every event, as long as the budget allows a label at all."""


SEEN, ASKED, MISTAKES = 0, 1, 2  # places in BudgetState.counts
COUNTS = np.dtype([("seen", np.int64), ("asked", np.int64), ("mistakes", np.int64)])  # their names in files
NO_COUNTS = np.zeros(0, np.int64)


class BudgetState(NamedTuple):
    """The counts so far and the budget's own state, kept from call to call."""

    counts: np.ndarray
    """Events seen, labels asked, and wrong predictions among the answers: a ``Tally`` as an array."""
    budget: np.ndarray
    """What the budget itself keeps (see ``pacing``)."""
    asked_by_class: np.ndarray = NO_COUNTS
    """Labels asked of the events that were predicted as each class."""


class Block(NamedTuple):
    """Events in a row: event t is ``columns[starts[t]:starts[t + 1]]`` with the values beside them."""

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray


def event_at(block: Block, t: int, table_is_large: bool) -> Event:
    """Event t of a block. Its bounds, and so all indices made from them, are unsigned: numba then need not test for
    negative ones."""
    start, stop = np.uint64(block.starts[t]), np.uint64(block.starts[t + 1])
    has_followers = bool(table_is_large and stop + LOOK_AHEAD <= np.uint64(block.columns.size))
    event = Event(block.columns, block.values, start, stop, has_followers)
    if table_is_large:
        fetch_events_to_come(event)
    return event


class Record(NamedTuple):
    """What was decided: one entry per event. ``variance`` is empty if nobody reads it."""

    predicted: np.ndarray
    margin: np.ndarray
    variance: np.ndarray
    probability: np.ndarray
    asked: np.ndarray
    audit: np.ndarray


NOT_GIVEN = -1  # in place of an answer's class index: the label may be asked, but comes later, or never
UNLABELED = -2  # nobody knows the label: the event is predicted, and nothing else happens
CACHE_BYTES = 1 << 21  # about where fetching ahead begins to pay; below, the hints may cost a sixth of the speed


def is_large(state: State) -> bool:
    """Whether the table is too large for the nearer caches."""
    return state.table.size * 8 >= CACHE_BYTES


def drop_variance(prediction: Score) -> Score:
    """The prediction as ``learn`` sees it. A late answer finds no variance, so one that comes at once must not."""
    return Score(prediction.predicted, prediction.margin, 0.0)


def may_be_asked(parameters: Parameters, budget_state: BudgetState, prediction: Score) -> bool:
    """Whether the budget allows a label for an event with this prediction, if it allows one at all."""
    ceilings = parameters.class_ceilings
    if ceilings.size == 0:
        return True
    return bool(budget_state.asked_by_class[prediction.predicted] < ceilings[prediction.predicted])


def play(
    parameters: Parameters,
    state: State,
    recent: np.ndarray,
    budget_state: BudgetState,
    block: Block,
    times: np.ndarray,
    uniforms: np.ndarray,
    answers: np.ndarray,
    weighted: bool,
    record: Record,
) -> None:
    """Predict every event, ask for some labels, and learn from the answers.

    Event t is asked if ``uniforms[t]`` is below its ask probability, and is an audit if that is below ``explore`` too.
    An event without features is asked as an audit only, for no rule could learn from it. One whose prediction the
    budget allows no label for is not asked. An unlabeled event is predicted and recorded, and changes nothing else.
    ``times`` is empty unless the budget reads it. Nothing of ``recent``, the latest answers, is read.
    """
    table_is_large = is_large(state)
    keeps_variance = record.variance.size > 0
    explore = parameters.explore
    counts = budget_state.counts
    seen, asked, mistakes = counts[SEEN], counts[ASKED], counts[MISTAKES]
    pace, sums = resume(parameters.budget, budget_state.budget)
    floor = max(explore, pace.floor)
    scale_query(parameters, pace.scale)
    for t in range(block.starts.size - 1):
        event = event_at(block, t, table_is_large)
        if answers[t] == UNLABELED:
            prediction = predict_event(parameters.update, state, event, record, t)
            record.predicted[t] = prediction.predicted
            record.margin[t] = prediction.margin
            record.probability[t] = 0.0
            record.asked[t] = False
            record.audit[t] = False
            if keeps_variance:
                record.variance[t] = prediction.variance
            continue
        seen += 1
        tally = Tally(seen, asked, mistakes)
        if needs_update(pace, seen, times, t):
            pace = update_pace(parameters.budget, budget_state.budget, sums, tally, times[t] if times.size > 0 else 0.0)
            sums = Sums(0.0, 0.0)
            floor = max(explore, pace.floor)
            scale_query(parameters, pace.scale)
        chance = 0.0
        if asked < pace.ceiling:
            watch(parameters.update, state, event)
            prediction, squared_length = score_event(parameters.update, state, event, record, t)
            if not may_be_asked(parameters, budget_state, prediction):
                chance = 0.0
            elif has_features(event):
                chance = probability(parameters.query, prediction.margin, prediction.variance, squared_length, tally)
                chance = min(1.0, max(0.0, chance))  # a user's rule may return anything
                chance = max(floor, scale_probability(chance, pace.scale))
                sums = Sums(sums.chance + chance, sums.variance + chance * (1.0 - chance))
                chance = max(floor, chance * pace.thinning)
            else:
                chance = explore
        else:
            prediction = predict_event(parameters.update, state, event, record, t)
        is_asked = uniforms[t] < chance
        record.predicted[t] = prediction.predicted
        record.margin[t] = prediction.margin
        record.probability[t] = chance
        record.asked[t] = is_asked
        record.audit[t] = is_asked and uniforms[t] < explore
        if keeps_variance:
            record.variance[t] = prediction.variance
        observe(state, event, prediction, chance, is_asked)
        if is_asked:
            asked += 1
            budget_state.asked_by_class[prediction.predicted] += 1
            if asked >= pace.ceiling:
                pace = expire_pace(pace)
            if answers[t] != NOT_GIVEN:
                mistakes += prediction.predicted != answers[t]
                note_answer(recent, state.scores, prediction.margin, answers[t], -chance)
                if has_features(event):
                    weight = 1.0 / chance if weighted else 1.0
                    forget(parameters.update, state, event)
                    learn(parameters.update, state, event, answers[t], drop_variance(prediction), weight)
    counts[SEEN], counts[ASKED], counts[MISTAKES] = seen, asked, mistakes
    suspend(budget_state.budget, pace, sums)


def learn_labeled(
    parameters: np.ndarray,
    state: State,
    recent: np.ndarray,
    block: Block,
    answers: np.ndarray,
    weights: np.ndarray,
    importances: np.ndarray,
) -> int:
    """Learn given labels; ask nothing. Returns how many of them the model predicted wrongly before.

    ``weights`` count for the update rule, ``importances`` for the probabilities of classes: a rule that is not weighted
    learns an answer once, however improbable its question was."""
    table_is_large = is_large(state)
    mistakes = 0
    for t in range(block.starts.size - 1):
        event = event_at(block, t, table_is_large)
        if weights[t] > 0.0:
            watch(parameters, state, event)
            prediction = margin(parameters, state, event)
            mistakes += prediction.predicted != answers[t]
            keep_answer(recent, state.scores, prediction.margin, answers[t], importances[t])
            if has_features(event):
                forget(parameters, state, event)
                learn(parameters, state, event, answers[t], drop_variance(prediction), weights[t])
    return mistakes


def predict_block(
    parameters: np.ndarray, state: State, block: Block, predicted: np.ndarray, scores: np.ndarray
) -> None:
    """Predict only. ``scores`` gets one row per event: the score of each weight vector, or margin and variance."""
    table_is_large = is_large(state)
    for t in range(block.starts.size - 1):
        event = event_at(block, t, table_is_large)
        prediction = margin(parameters, state, event)
        predicted[t] = prediction.predicted
        if state.scores.size > 1:
            for vector in range(state.scores.size):
                scores[t, vector] = state.scores[vector]
        else:
            scores[t, 0] = prediction.margin
            scores[t, 1] = prediction.variance


# --- events that were scored side by side ------------------------------------------------------------------

ONLY_PREDICTED = -1.0  # in place of ||x||^2, which is never negative


def score_block(
    parameters: np.ndarray, state: State, block: Block, answers: np.ndarray, is_spent: bool, record: Record
) -> None:
    """Score events for ``play`` to decide on: the model stays as it is, so that any number of workers can do it.

    ``record.probability`` gets ||x||^2, or ONLY_PREDICTED for an event of which ``play`` is expected to want the margin
    alone: it has no label, or the budget is spent."""
    table_is_large = is_large(state)
    keeps_variance = record.variance.size > 0
    for t in range(block.starts.size - 1):
        event = event_at(block, t, table_is_large)
        if is_spent or answers[t] == UNLABELED:
            prediction, squared_length = margin(parameters, state, event), ONLY_PREDICTED
        else:
            prediction, squared_length = score_and_length(parameters, state, event)
        record.predicted[t] = prediction.predicted
        record.margin[t] = prediction.margin
        record.probability[t] = squared_length
        if keeps_variance:
            record.variance[t] = prediction.variance


def read_score(record: Record, t: int) -> Score:
    """The score of event t that ``score_block`` has left in the record."""
    variance = record.variance[t] if record.variance.size > 0 else 0.0
    return as_one_type(Score(record.predicted[t], record.margin[t], variance))


def as_one_type(prediction: Score) -> Score:
    """The same score; numba wants every way out of a function to give the same types."""
    return Score(np.int64(prediction.predicted), prediction.margin, prediction.variance)  # type: ignore[arg-type]


def recall_prediction(parameters: np.ndarray, state: State, event: Event, record: Record, t: int) -> Score:
    """The margin that ``score_block`` found. If it did not expect that the margin alone would do, it is found now."""
    if record.probability[t] == ONLY_PREDICTED:
        return read_score(record, t)
    return as_one_type(margin(parameters, state, event))


def recall_score(parameters: np.ndarray, state: State, event: Event, record: Record, t: int) -> tuple[Score, float]:
    """The score and ||x||^2 that ``score_block`` found. If it did not expect them to be wanted, they are found now."""
    if record.probability[t] == ONLY_PREDICTED:
        prediction, squared_length = score_and_length(parameters, state, event)
        return as_one_type(prediction), squared_length
    return read_score(record, t), record.probability[t]
