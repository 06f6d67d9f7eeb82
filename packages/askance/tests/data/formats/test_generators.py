"""The generated stream of messages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from askance.data.generators.texts import (
    ADVERTS,
    CAMPAIGNS,
    EVERYDAY,
    LUCK,
    MOST_SENTENCES,
    messages,
    parse,
    pick_early,
)


def test_the_same_seed_gives_the_same_messages_and_another_seed_others() -> None:
    first, again, other = messages(200, 5), messages(200, 5), messages(200, 6)
    assert first.texts == again.texts
    assert (first.X != again.X).nnz == 0
    np.testing.assert_array_equal(first.labels, again.labels)
    assert first.texts != other.texts


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 2**32))
def test_a_longer_stream_begins_with_the_shorter_one(n: int, more: int, seed: int) -> None:
    short, long = messages(n, seed), messages(n + more, seed)
    assert long.texts[:n] == short.texts
    np.testing.assert_array_equal(long.labels[:n], short.labels)
    assert (long.X[:n] != short.X).nnz == 0


def test_labels_are_ham_and_spam_in_the_wanted_proportion() -> None:
    for rate in (0.02, 0.15, 0.5):
        labels = messages(5_000, spam_rate=rate).labels
        assert set(labels) == {"ham", "spam"}
        assert (labels == "spam").mean() == pytest.approx(rate, abs=0.02)


def test_rows_are_hashed_words_of_length_one_in_the_wanted_width() -> None:
    stream = messages(500, n_features=2**12)
    assert stream.X.format == "csr"
    assert stream.X.shape == (500, 2**12)
    np.testing.assert_allclose(stream.X.multiply(stream.X).sum(axis=1), 1.0)


def test_messages_read_like_messages() -> None:
    stream = messages(2_000)
    assert all(text[0].isupper() for text in stream.texts)
    assert not any("{" in text or "|" in text or "  " in text for text in stream.texts)
    assert all(10 <= len(text) <= 400 for text in stream.texts)
    assert len(set(stream.texts)) > 1_800


def test_links_lead_nowhere() -> None:
    words = {word.strip(".,") for text in messages(3_000).texts for word in text.split()}
    links = {word for word in words if "." in word}
    assert links
    assert all(link.lower().endswith((".example", ".3x4mpl3")) for link in links)


def test_no_message_can_run_out_of_luck() -> None:
    blocks = [*EVERYDAY.values(), *CAMPAIGNS.values(), ADVERTS]
    gaps = max(len(sentence.gaps) for block in blocks for sentence in parse(block))
    whole_message, per_sentence = 10, 3
    assert whole_message + MOST_SENTENCES * (per_sentence + gaps) <= LUCK


def test_rare_topics_come_up_but_seldom() -> None:
    picked = [pick_early(range(10), rng) for rng in np.linspace(0, 1, 10_000, endpoint=False)]
    counts = np.bincount(picked)
    assert len(counts) == 10
    assert (np.diff(counts) <= 0).all()
    assert counts[0] > 5 * counts[9] > 0
    assert pick_early("abc", np.nextafter(1.0, 0.0)) == "c"


@pytest.mark.parametrize("seed", [0, 1])
def test_a_linear_model_learns_most_but_not_all(seed: int) -> None:
    stream = messages(12_000, seed)
    model = LogisticRegression(C=30, max_iter=500)

    def accuracy(labels: int) -> float:
        model.fit(stream.X[:labels], stream.labels[:labels])
        return float(model.score(stream.X[10_000:], stream.labels[10_000:]))

    assert 0.965 < accuracy(10_000) < 0.99
    assert accuracy(200) < 0.94


@pytest.mark.parametrize("n", [0, -1])
def test_a_stream_without_messages_is_refused(n: int) -> None:
    with pytest.raises(ValueError, match="n must be 1 message or more"):
        messages(n)


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.5, 20, float("nan")])
def test_a_spam_rate_outside_zero_and_one_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="spam_rate must be between 0 and 1"):
        messages(10, spam_rate=rate)
