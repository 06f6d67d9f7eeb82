"""Reading ahead: the same batches, one of them early, and nothing else."""

import pytest

from askance.runner.shared_reading import read_ahead


def counted(n_batches, read, error=None):
    for number in range(n_batches):
        read.append(number)
        yield number
    if error is not None:
        raise error


def test_no_more_than_one_batch_is_read_ahead():
    read = []
    batches = read_ahead(counted(10, read))
    assert [next(batches), next(batches)] == [0, 1]
    batches.close()
    assert read == [0, 1, 2]


def test_an_error_comes_in_its_place():
    batches = read_ahead(counted(2, [], ValueError("line 3")))
    assert [next(batches), next(batches)] == [0, 1]
    with pytest.raises(ValueError, match="line 3"):
        next(batches)
