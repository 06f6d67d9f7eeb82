"""Totals in constant memory say what the whole trace says."""

import numpy as np
import pytest

import askance
from askance.playing.totals import MOST_BINS, Course, Totals


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
    for metric in set(expected) - {"seconds", "auc", "weighted_loss"}:
        assert found[metric] == pytest.approx(expected[metric], rel=1e-12), metric
    assert found["majority"] == pytest.approx(np.bincount(y).max() / 900)


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1_000, 100_000])
@pytest.mark.parametrize("piece", [1_000, 7_777])
def test_the_course_is_the_share_of_right_predictions_piece_by_piece(n, piece):
    right = np.random.default_rng(0).random(n) < np.linspace(0.2, 1.0, n)
    course = Course()
    for start in range(0, n, piece):
        course.add(right[start : start + piece])
    size = 1
    while MOST_BINS * size < n:
        size *= 2
    expected = [right[start : start + size].mean() for start in range(0, n, size)]
    assert course.shares(MOST_BINS) == pytest.approx(expected)
    few = course.shares(4)
    assert len(few) == min(4, len(expected))
    if n > 1_000:
        assert few == sorted(few)  # it gets better
