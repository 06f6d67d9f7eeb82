"""What a committee counts for its report: how good it is, and what its labels were spent on.

Every event is counted by its predicted class and ask bin, every bought answer by these two and its class. From these
counts ``askance.quality`` estimates, in the same whole numbers (see ``bins``). An answer stands for (1 - p) / p
events of its group that were not asked: its unasked weight. A late answer counts in the group of its event, by what was
predicted then.

A given label came with a probability that nobody knows. It is no evidence of how good the committee is on the stream,
and is counted apart.
"""

from __future__ import annotations

import numpy as np

from askance.evaluate.quality.bins import RAREST, SQUARE_SHIFT, UNIT, ask_bin_of
from askance.learner.auto.layout import cell_at, group_at, n_classes, view_counts, view_head, view_report_counts

LARGEST_UNASKED = 2.0 ** (RAREST + 1) - 1.0
SQUARES_PER_UNIT = 2.0**SQUARE_SHIFT

CLEARLY = 1.0  # a margin of the usual size
COLD = 20.0  # answers per class, after which the cold start is over even if a class was never seen


def count_event(state, predicted, probability, is_asked):
    """Count an event of the stream, asked or not."""
    counts = view_report_counts(state)
    group = group_at(predicted, ask_bin_of(probability))
    counts.events[group] += 1.0
    if is_asked:
        counts.asked[group] += 1.0


def count_bought(state, answer, predicted, weight, sign):
    """Count an answer bought with probability p = 1 / weight; ``sign`` -1 takes one back.

    In ask bin h, the count grows by 1, the unasked weight by o = 2^-h (1 - p) / p, the squares by o^2: whole units."""
    counts = view_report_counts(state)
    ask_bin = ask_bin_of(1.0 / weight)
    unasked = np.rint(min(max(weight - 1.0, 0.0), LARGEST_UNASKED) * 0.5**ask_bin * UNIT)
    cell = cell_at(n_classes(state), answer, predicted, ask_bin)
    counts.answers[cell] += sign
    counts.unasked[cell] += sign * unasked
    counts.squares[cell] += sign * np.floor(unasked * unasked / SQUARES_PER_UNIT)


def predicted_then(state, predicted):
    """The class that was predicted when the event came, if it was noted, else ``predicted``. Clears the note."""
    head = view_head(state)
    then = abs(int(head.predicted_then))
    head.predicted_then = 0.0
    return then - 1 if then > 0 else predicted


def is_correction(state):
    """Whether the answer replaces an earlier one, and is thus no further label."""
    return view_head(state).predicted_then < 0.0


def count_given(state, answer, predicted):
    """Count a given label."""
    view_report_counts(state).given[n_classes(state) * answer + predicted] += 1.0
    view_head(state).given += 1.0


def count_reason(state, prediction, members_disagree):
    """Count why this label was bought. Call it before the answer itself is counted."""
    head, counts = view_head(state), view_counts(state)
    classes = counts.answers.size
    missing = 0
    for k in range(classes):
        missing += counts.answers[k] == 0.0
    if missing > 0 and head.learned < COLD * classes:
        head.cold_start += 1.0
    elif members_disagree:
        head.disagreed += 1.0
    elif abs(prediction.margin) < CLEARLY:
        head.undecided += 1.0
    else:
        head.clear += 1.0
