"""Where a committee keeps its numbers: names for the parts of ``state.extra`` and of its parameters.

``state.extra`` holds, one after the other, a ``HEAD``; the ``ClassCounts``; the ``ReportCounts``; the ``TrustCounts``;
a ``MEMBER`` for each member; a ``COVARIANCE`` for each full covariance (see ``covariance``); what the curved members
keep (see ``fourier``), who come last among the members; and what the signal of changed events keeps, if there is one
(see ``event_signal``). The parameters are ``SETTINGS``, then a ``RULE`` for each member.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from askance.evaluate.quality.bins import ASK_BINS
from askance.learner.state import declare_record

LATELY, SUMS = 32, 3  # asked events that are remembered, and numbers of each
HEAD = declare_record(
    "watched",  # t: the events watched
    "is_centred",  # 1 if the features are few enough to be centred, else 0
    "is_modest",  # 1 if the constant is a small one, else 0
    "mean_squared_length",  # the mean of ||x||^2
    "mean_present",  # the mean number of features of an event
    "learned",  # the answers learned
    "leader",  # the leading member
    "leads_since",  # the answer since which it leads
    "predicted_then",  # 1 + the class that was predicted when the event of the next answer came; 0 if it is the one
    # predicted now; negative if the answer is a correction
    "cold_start",  # how many of the answers learned were bought in the cold start;
    "disagreed",  # of the others, for events on which members disagreed,
    "undecided",  # for undecided ones,
    "clear",  # for clear ones;
    "given",  # and how many were given
    "surprise",  # S: the evidence for a change of the world
    "alarms",  # how many changes were found
    "last_alarm",  # the answer that raised the last alarm
    "mean_chance",  # the mean ask probability of recent events
    "remembered",  # how many asked events were remembered so far,
    ("asked_lately", SUMS * LATELY),  # and the sums u_j of the latest (see ``asking``)
)
MEMBER = declare_record(
    "loss",  # L_i
    "usual_size",  # s_i: the usual size of its margins
    "vote",  # v_i
)
SETTINGS = declare_record(
    "objective",  # its place in ``classes.OBJECTIVES``
    "ratio",  # rho
    "sharpness",
    "importance",
    "balancing",
    "predicted_part",  # a
    "midway",
    "curves",  # D: the features of the curved view
    "reaction",  # how far an alarm takes the members back
    "event_reaction",  # how far changed events take their covariances back; 0: nobody watches for changed events
    "unbiasing",
    "rare_side",
    "variety",
)
RULE = declare_record(
    "view_number",  # which view of events it has (see ``views``)
    "kind",  # which update rule it has (see ``members``)
    ("own", 3),  # the parameters of this rule
)
HEAD_SIZE, MEMBER_SIZE = HEAD.itemsize // 8, MEMBER.itemsize // 8  # numbers
SETTINGS_SIZE, RULE_SIZE = SETTINGS.itemsize // 8, RULE.itemsize // 8
MARGIN_BINS = 8


class ClassCounts(NamedTuple):
    """What is counted of the classes, a number for each (see ``classes``)."""

    answers: np.ndarray
    """n_k: recent answers."""
    predicted: np.ndarray
    """q_k: the share of the recent predictions."""
    margins: np.ndarray
    """M_k: the sum of the answers' margins, each times its u."""
    weights: np.ndarray
    """U_k: the sum of u."""
    squares: np.ndarray
    """Q_k: the sum of u^2."""


class ReportCounts(NamedTuple):
    """What is counted for the report (see ``report_counts``), by group, by cell, or by true and predicted class."""

    events: np.ndarray
    """By group: the events."""
    asked: np.ndarray
    """By group: those of them that were asked."""
    answers: np.ndarray
    """By cell: the bought answers."""
    unasked: np.ndarray
    """By cell: the sum of their unasked weights."""
    squares: np.ndarray
    """By cell: the sum of the squares of these."""
    given: np.ndarray
    """By true class, then predicted class: the given answers."""


class TrustCounts(NamedTuple):
    """How often predictions were wrong, by predicted class, then margin bin (see ``change``)."""

    answers: np.ndarray
    """n: recent answers."""
    mistakes: np.ndarray
    """k: those of them that were not as predicted."""


def group_at(predicted, ask_bin):
    """The place of a group: a predicted class and an ask bin."""
    return ASK_BINS * predicted + ask_bin


def cell_at(classes, truth, predicted, ask_bin):
    """The place of a cell: a true class and a group."""
    return ASK_BINS * classes * truth + group_at(predicted, ask_bin)


def n_classes(state):
    return max(2, state.scores.size)


def n_members(state):
    """The members of this state: where there are many features, the curved ones are left out."""
    return state.variances.size // state.scores.size


def n_flat(state):
    """Those that are not curved: they have two numbers for each feature in the table, before the two statistics."""
    return (state.table.shape[1] - 2) // 2


def view_settings(parameters):
    return parameters[:SETTINGS_SIZE].view(SETTINGS)[0]


def view_rule(parameters, member):
    first = SETTINGS_SIZE + RULE_SIZE * member
    return parameters[first : first + RULE_SIZE].view(RULE)[0]


def view_head(state):
    return state.extra[:HEAD_SIZE].view(HEAD)[0]


def view_counts(state):
    classes = n_classes(state)
    first = HEAD_SIZE
    second, third, fourth, fifth = first + classes, first + 2 * classes, first + 3 * classes, first + 4 * classes
    return ClassCounts(
        state.extra[first:second],
        state.extra[second:third],
        state.extra[third:fourth],
        state.extra[fourth:fifth],
        state.extra[fifth : fifth + classes],
    )


def view_report_counts(state):
    classes = n_classes(state)
    groups, cells = ASK_BINS * classes, ASK_BINS * classes * classes
    events = HEAD_SIZE + 5 * classes
    asked, answers = events + groups, events + 2 * groups
    unasked, squares, given = answers + cells, answers + 2 * cells, answers + 3 * cells
    return ReportCounts(
        state.extra[events:asked],
        state.extra[asked:answers],
        state.extra[answers:unasked],
        state.extra[unasked:squares],
        state.extra[squares:given],
        state.extra[given : given + classes * classes],
    )


def trust_at(classes):
    """Where the ``TrustCounts`` begin in ``state.extra``."""
    groups, cells = ASK_BINS * classes, ASK_BINS * classes * classes
    return HEAD_SIZE + 5 * classes + 2 * groups + 3 * cells + classes * classes


def view_trust(state):
    classes = n_classes(state)
    answers = trust_at(classes)
    mistakes = answers + MARGIN_BINS * classes
    return TrustCounts(state.extra[answers:mistakes], state.extra[mistakes : mistakes + MARGIN_BINS * classes])


def members_at(classes):
    """Where the members' records begin in ``state.extra``."""
    return trust_at(classes) + 2 * MARGIN_BINS * classes


def covariances_at(classes, members):
    """Where the records of the full covariances begin in ``state.extra``."""
    return members_at(classes) + MEMBER_SIZE * members


def view_member(state, member):
    first = members_at(n_classes(state)) + MEMBER_SIZE * member
    return state.extra[first : first + MEMBER_SIZE].view(MEMBER)[0]
