"""Hashing: the same columns for ever."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32
from tests.data.formats import slow

from askance.data.encoding.hashing import Hasher, hash_of
from askance.errors import InvalidParameter

PINNED = {
    ("", 0): 0,
    ("", 1): 0x514E28B7,
    ("", 0xFFFFFFFF): 0x81F16F39,
    ("a", 0): 0x3C2569B2,
    ("abc", 0): 0xB3DD93FA,
    ("hello", 0): 0x248BFA47,
    ("hello, world", 0): 0x149BBB7F,
    ("The quick brown fox jumps over the lazy dog", 0): 0x2E4FF723,
    ("Grüße, мир, 世界", 0): 3818872794,
}


@pytest.mark.parametrize(("text", "seed"), list(PINNED))
def test_hashes_never_change(text, seed):
    assert hash_of(text, seed) == PINNED[text, seed]


def test_columns_never_change():
    hasher = Hasher(18)
    assert hasher.categories("city", ["Oslo", "", "São Paulo"]).tolist() == [83996, 53607, 207606]
    starts, columns = hasher.words("text", [["win", "a", "prize"], [], ["ça"]], 2)
    assert starts.tolist() == [0, 5, 5, 6]
    assert columns.tolist() == [31081, 41569, 103794, 77192, 19572, 246874]


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=40), st.integers(0, 2**32 - 1))
def test_the_hash_is_murmur3_as_scikit_learn_has_it(data, seed):
    assert hash_of(data, seed) == murmurhash3_32(data, seed=seed, positive=True)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=30), max_size=5), st.integers(1, 4))
def test_words_and_their_neighbours_are_hashed_as_text_with_spaces(texts, longest):
    hasher = Hasher(14)
    import re

    words = [re.findall(r"\w+", text.lower()) for text in texts]
    starts, columns = hasher.words("f", words, longest)
    for place, text in enumerate(texts):
        expected = [slow.column_of("f", gram, 14) for gram in slow.ngrams(text, longest)]
        assert sorted(columns[starts[place] : starts[place + 1]].tolist()) == sorted(expected)


def test_the_same_word_in_two_fields_has_two_columns():
    hasher = Hasher()
    assert hasher.categories("a", ["yes"]) != hasher.categories("b", ["yes"])


def test_other_processes_hash_alike():
    code = (
        "from askance.data.encoding.hashing import Hasher; "
        "print(Hasher().categories('city', ['Oslo', 'Lima']).tolist())"
    )
    for hash_seed in ("1", "2"):
        result = subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=False
        )
        assert result.stdout.strip() == str(Hasher().categories("city", ["Oslo", "Lima"]).tolist()), result.stderr


def test_columns_are_spread_evenly():
    columns = Hasher(8).categories("word", [f"value {n}" for n in range(50_000)])
    counts = np.bincount(columns, minlength=256)
    assert counts.min() > 130
    assert counts.max() < 270


@pytest.mark.parametrize("bits", [0, 31, 2.5, True, "18"])
def test_numbers_of_bits_that_cannot_work_are_refused(bits):
    with pytest.raises(InvalidParameter, match="hash_bits must be a whole number from 1 to 30"):
        Hasher(bits)
