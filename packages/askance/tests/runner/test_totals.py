"""Totals in constant memory say what the whole trace says."""

from itertools import pairwise

import numpy as np
import pytest

import askance
from askance.runner.totals import MOST_BINS, AccuracyCurve, Totals


@pytest.mark.parametrize("name", ["PAA-I", "UOAL-entropy", "MPAA-I"])
def test_the_totals_of_pieces_equal_the_summary_of_the_whole(name):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3 if name == "MPAA-I" else 2, 900)
    X = rng.normal(size=(900, 4)) + y[:, None]
    expected = askance.make(name, random_state=0).run(X, y).summary()
    clf = askance.make(name, classes=np.unique(y), random_state=0)
    totals = Totals(np.unique(y), None if name == "MPAA-I" else 1)
    for part in np.array_split(np.arange(900), [1, 2, 500, 500, 899]):
        if len(part):
            totals.add(clf.run(X[part], y[part]))
    found = totals.summary()
    for metric in set(expected) - {"seconds", "weighted_loss"}:
        assert found[metric] == pytest.approx(expected[metric], rel=1e-12), metric
    assert found["majority"] == pytest.approx(np.bincount(y).max() / 900)


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1_000, 100_000])
@pytest.mark.parametrize("piece", [1_000, 7_777])
def test_the_course_is_the_share_of_right_predictions_piece_by_piece(n, piece):
    right = np.random.default_rng(0).random(n) < np.linspace(0.2, 1.0, n)
    course = AccuracyCurve()
    for start in range(0, n, piece):
        course.add(right[start : start + piece])
    size = 1
    while MOST_BINS * size < n:
        size *= 2
    starts = list(range(0, n, size))
    if n > 1 and n - starts[-1] < size / 2:
        starts.pop()
    expected = [right[start:stop].mean() for start, stop in pairwise([*starts, n])]
    assert course.shares(MOST_BINS) == pytest.approx(expected)
    few = course.shares(4)
    assert (n > 0) <= len(few) <= 4
    if n > 1_000:
        assert few == sorted(few)  # it gets better


@pytest.mark.parametrize("n", [5, 33, 65, 129, 1_025, 4_097, 50_000])
@pytest.mark.parametrize("most", [4, 20, 32])
def test_the_pieces_of_a_course_are_equal_but_for_the_last_and_that_is_no_crumb(n, most):
    course = AccuracyCurve()
    course.add(np.arange(n) < n - 1)  # only the last event is wrong
    pieces = course.pieces(most)
    assert pieces[0].first == 1
    assert pieces[-1].last == n
    assert all(after.first == before.last + 1 for before, after in pairwise(pieces))
    sizes = [piece.last - piece.first + 1 for piece in pieces]
    assert len(set(sizes[:-1])) == 1
    assert sizes[0] / 2 <= sizes[-1] < sizes[0] * 3 / 2
    assert pieces[-1].share == pytest.approx(1.0 - 1.0 / sizes[-1])
    assert len(pieces) <= most
