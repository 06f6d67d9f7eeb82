"""Playing a stream from the library."""

import io

import numpy as np
import pytest
import scipy.sparse as sp
from tests.real_data import load

import askance
from askance.errors import InvalidInput
from askance.runner import Progress, run_file
from askance.runner.algorithm_spec import AlgorithmSpec


def lines(n, width):
    """LIBSVM rows, whose width grows as they come."""
    rng = np.random.default_rng(0)
    rows = []
    for k in range(n):
        y = int(rng.integers(0, 2))
        last = 3 + k * (width - 3) // n
        rows.append(f"{y} 1:{y + rng.normal():.3f} 2:{rng.normal():.3f} {last}:{y - 0.5}")
    return ("\n".join(rows) + "\n").encode()


@pytest.mark.parametrize("name", ["PAA-I", "SOAL-diag", "SOAL", "D-ADA", "UOAL-entropy"])
def test_a_stream_that_grows_wider_plays_as_if_its_width_had_been_known(name):
    content, width = lines(600, 40), 40
    X, y = sp.lil_matrix((600, width)), []
    for row, line in enumerate(content.decode().splitlines()):
        label, *pairs = line.split()
        y.append(int(label))
        for pair in pairs:
            column, value = pair.split(":")
            X[row, int(column) - 1] = float(value)
    X = sp.csr_matrix(X)
    outcome = run_file(io.BytesIO(content), AlgorithmSpec(name, intercept=True), batch_rows=50, scale="none")
    expected = askance.make(name, intercept=True, random_state=0).run(X, y)
    assert outcome.totals.labels == int(expected.asked.sum())
    assert outcome.totals.right == int((expected.predicted == expected.truth).sum())
    assert outcome.features == np.flatnonzero(X.getnnz(axis=0))[-1] + 1


def test_progress_is_told_after_every_piece():
    told: list[Progress] = []
    run_file(io.BytesIO(lines(100, 5)), batch_rows=30, progress=told.append)
    assert [progress.events for progress in told] == [30, 60, 90, 100]
    assert all(0.0 <= progress.accuracy <= 1.0 for progress in told)


def test_a_stream_without_labels_is_refused():
    with pytest.raises(InvalidInput, match="'stream' has no labels"):
        run_file(io.BytesIO(b'{"a": 1}\n{"a": 2}\n'))


def test_a_data_set_plays_by_its_name():
    load("w8a")  # skips without it
    outcome = run_file("w8a", AlgorithmSpec("PAA-I", {"delta": 0.1}))
    assert outcome.totals.events == 64_700
    assert outcome.preparation == "numbered features to unit length; intercept"
