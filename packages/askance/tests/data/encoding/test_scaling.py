"""Running standardisation: what a second pass over the past would give."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from askance.data.encoding.scaling import RunningStandardisation
from askance.errors import InvalidInput

tables = hnp.arrays(
    float, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=st.floats(-1e3, 1e3).map(lambda x: round(x, 3))
)


def two_pass(values):
    """The last value, standardised by all of them."""
    spread = np.std(values)
    return (values[-1] - np.mean(values)) / spread if len(set(values.tolist())) > 1 else 0.0


@settings(max_examples=100, deadline=None)
@given(tables)
def test_each_value_is_standardised_by_those_before_it_and_itself(table):
    scaling = RunningStandardisation()
    features = np.tile(np.arange(table.shape[1]), len(table))
    found = scaling.apply(features, table.ravel()).reshape(table.shape)
    for row in range(len(table)):
        for column in range(table.shape[1]):
            expected = two_pass(table[: row + 1, column])
            assert found[row, column] == pytest.approx(expected, rel=1e-6, abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(tables, st.data())
def test_sparse_rows_are_standardised_as_dense_ones(table, data):
    import scipy.sparse as sp

    table = np.where(hnp_mask(table, data), table, 0.0)
    dense, sparse = RunningStandardisation(), RunningStandardisation()
    sparse.widen(table.shape[1])
    features = np.tile(np.arange(table.shape[1]), len(table))
    expected = dense.apply(features, table.ravel()).reshape(table.shape)
    S = sp.csr_matrix(table)
    starts, columns, values = sparse.apply_to_rows(S.indptr, S.indices, S.data)
    np.testing.assert_array_equal(sp.csr_matrix((values, columns, starts), table.shape).toarray(), expected)


def hnp_mask(table, data):
    return data.draw(hnp.arrays(bool, table.shape))


def test_columns_that_are_no_features_stay_as_they_are():
    scaling = RunningStandardisation()
    scaling.widen(1)
    _, columns, values = scaling.apply_to_rows(
        np.array([0, 2, 4], np.int32), np.array([0, 5, 0, 7], np.int32), np.array([1.0, 9.0, 3.0, 8.0])
    )
    assert columns.tolist() == [5, 0, 7]
    assert values.tolist() == [9.0, 1.0, 8.0]


def test_any_division_into_calls_gives_the_same_bits():
    values = np.random.default_rng(0).normal(size=100) * 1e5 + 7e7
    whole = RunningStandardisation().apply(np.zeros(100, int), values)
    scaling = RunningStandardisation()
    parts = [scaling.apply(np.zeros(len(part), int), part) for part in np.array_split(values, 7)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_a_constant_feature_is_zero_and_values_are_bounded():
    assert RunningStandardisation().apply(np.zeros(50, int), np.full(50, 0.1)).tolist() == [0.0] * 50
    outlier = RunningStandardisation().apply(np.zeros(50, int), [0.0] * 49 + [1e100])
    assert outlier[-1] == pytest.approx(7.0)
    assert np.isfinite(RunningStandardisation().apply(np.zeros(4, int), [1e150, -1e150, 1e150, -1e150])).all()


def test_the_state_survives_json():
    scaling = RunningStandardisation()
    scaling.apply([0, 1, 0, 1], [1.0, 2.0, 3.5, 1e-300])
    kept = json.loads(json.dumps({name: array.tolist() for name, array in scaling.to_dict().items()}))
    again = RunningStandardisation.from_dict(kept)
    np.testing.assert_array_equal(again.apply([0, 1, 2], [5.0, 6.0, 7.0]), scaling.apply([0, 1, 2], [5.0, 6.0, 7.0]))


@pytest.mark.parametrize(
    "kept",
    [{}, {"counts": [1.0], "means": [1.0], "squares": [1.0, 2.0]}, {"counts": "x", "means": [1.0], "squares": [1.0]},
     {"counts": [float("nan")], "means": [1.0], "squares": [1.0]}],
)  # fmt: skip
def test_a_damaged_state_is_refused(kept):
    with pytest.raises(InvalidInput, match="running standardisation"):
        RunningStandardisation.from_dict(kept)


def test_values_that_are_only_looked_at_become_what_they_would_become_next():
    rng = np.random.default_rng(0)
    scaling = RunningStandardisation()
    for _ in range(50):
        features, values = rng.permutation(5), rng.normal(3.0, 2.0, 5)
        kept = scaling.to_dict()
        expected = scaling.as_next(features, values)
        assert all(np.array_equal(kept[name], array) for name, array in scaling.to_dict().items())
        assert np.array_equal(scaling.apply(features, values), expected)
        assert np.array_equal(scaling.as_known(features, values), expected)
