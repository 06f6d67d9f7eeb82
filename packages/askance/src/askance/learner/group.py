"""Events that are decided on together: each as ``ask`` decides it, all in one compiled call.

What ``ask`` is told anew for every event, how much it is explored, follows here from the events before it:

    cold     explore_t = levels[w], w the questions that wait for an answer, one more after each that is asked
    warm     explore_t = min(1, share m_t),     m_{t+1} = m_t + (p_t - m_t) / memory   while p_t > 0

with p_t the ask probability of event t. m is the recent mean of it, so that a ``share`` of all questions is a random
sample.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from askance.learner.loop import ASKED, Block, BudgetState, Parameters, Record, play
from askance.learner.state import State

NOT_KNOWN = -1  # in place of whether an event was asked about: it has just come


class Exploring(NamedTuple):
    """How much the next event is explored; the numbers move with every event."""

    levels: np.ndarray
    """By the number of questions that wait, the last also for more; empty: the share of questions counts."""
    waiting: np.ndarray
    """How many questions wait, in an array of one."""
    mean: np.ndarray
    """m, in an array of one."""
    share: float
    memory: float


class Decisions(NamedTuple):
    """What was decided for some events: one entry each."""

    record: Record
    scores: np.ndarray
    """A row for each: the scores of the weight vectors."""
    explored: np.ndarray
    """How much each was explored."""


def play_group(
    parameters: Parameters,
    state: State,
    recent: np.ndarray,
    budget_state: BudgetState,
    block: Block,
    times: np.ndarray,
    uniforms: np.ndarray,
    answers: np.ndarray,
    weighted: bool,
    were_asked: np.ndarray,
    exploring: Exploring,
    decisions: Decisions,
) -> None:
    """``play`` for each event of a block by itself, explored as much as those before it say.

    ``were_asked`` says which events of an old stream were asked about, or NOT_KNOWN: budgets go by that. Their labels
    count for the class that is predicted now.
    """
    record = decisions.record
    for t in range(block.starts.size - 1):
        if exploring.levels.size > 0:
            place = min(max(exploring.waiting[0], 0), exploring.levels.size - 1)
            explore = exploring.levels[place]
        else:
            explore = min(1.0, exploring.share * exploring.mean[0])
        one = slice(t, t + 1)
        play(
            Parameters(
                parameters.update, parameters.query, parameters.scales, parameters.budget, parameters.class_ceilings,
                explore,
            ),
            state, recent, budget_state,
            Block(block.starts[t : t + 2], block.columns, block.values),
            times[one], uniforms[one], answers[one], weighted,
            Record(
                record.predicted[one], record.margin[one], record.variance, record.probability[one], record.asked[one],
                record.audit[one],
            ),
        )  # fmt: skip
        decisions.explored[t] = explore
        for vector in range(state.scores.size):
            decisions.scores[t, vector] = state.scores[vector]
        if exploring.levels.size > 0:
            exploring.waiting[0] += record.asked[t]
        elif record.probability[t] > 0.0:
            exploring.mean[0] += (record.probability[t] - exploring.mean[0]) / exploring.memory
        if were_asked[t] != NOT_KNOWN:
            correction = were_asked[t] - record.asked[t]
            budget_state.counts[ASKED] += correction
            budget_state.asked_by_class[record.predicted[t]] += correction
