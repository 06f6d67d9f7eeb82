"""Entries into rows."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from askance.compile import specialise
from askance.data.encoding.assemble import rows_of, sort_row, word_counts


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9), st.integers(-3, 3)), max_size=80))
def test_entries_in_any_order_become_a_matrix(entries):
    rows, columns, values = (
        np.array([entry[k] for entry in entries], dtype) for k, dtype in enumerate((np.int32, np.int32, float))
    )
    starts, found, numbers = rows_of(rows, columns, values, 7)
    expected = sp.coo_matrix((values, (rows, columns)), (7, 10)).toarray()
    np.testing.assert_array_equal(sp.csr_matrix((numbers, found, starts), (7, 10)).toarray(), expected)
    assert (numbers != 0).all()
    for row in range(7):
        assert (np.diff(found[starts[row] : starts[row + 1]]) > 0).all()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 50), max_size=400))
def test_sorting_is_stable(numbers):
    columns = np.array(numbers, np.int32)
    values = np.arange(len(numbers), dtype=float)
    expected = np.argsort(columns, kind="stable")
    sorted_columns = columns.copy()
    specialise(sort_row)(sorted_columns, values, 0, len(numbers), np.empty_like(columns), np.empty(len(numbers)))
    np.testing.assert_array_equal(sorted_columns, columns[expected])
    np.testing.assert_array_equal(values, expected)


def test_sorting_a_long_row_is_stable():
    rng = np.random.default_rng(0)
    for size in (25, 48, 49, 1000):
        columns = rng.integers(0, size // 5, size).astype(np.int32)
        expected = np.argsort(columns, kind="stable")
        values = np.arange(size, dtype=float)
        specialise(sort_row)(columns, values, 0, size, np.empty_like(columns), np.empty(size))
        np.testing.assert_array_equal(values, expected)


def test_words_are_counted_text_by_text():
    starts, columns, values = word_counts(np.array([0, 3, 3, 5]), np.array([7, 2, 7, 1, 1], np.int32), False)
    assert starts.tolist() == [0, 2, 2, 3]
    assert columns.tolist() == [2, 7, 1]
    assert values.tolist() == [1.0, 2.0, 2.0]
    _, _, values = word_counts(np.array([0, 2]), np.array([3, 4], np.int32), True)
    np.testing.assert_allclose(values, np.sqrt(0.5))
