"""Data sets of Hugging Face's ``datasets`` as events."""

import importlib

import numpy as np
import pytest

import askance
from askance.errors import InvalidInput

pytest.importorskip("datasets.arrow_dataset", reason="Hugging Face's datasets is not installed")
datasets = importlib.import_module("datasets")

ROWS = {
    "text": ["win a prize", "lunch on friday", "a prize for you", "see you friday"] * 30,
    "size": np.random.default_rng(0).normal(500, 100, 120).tolist(),
    "label": [1, 0] * 60,
}


@pytest.fixture
def mails():
    return datasets.Dataset.from_dict(ROWS)


def play(X, y):
    return askance.make("SOAL-diag", random_state=0).run(X, y)


def test_a_data_set_is_played_as_the_same_rows_in_a_frame_are(mails):
    import pandas as pd

    frame = pd.DataFrame(ROWS)
    one, other = play(mails, "label"), play(frame, "label")
    np.testing.assert_array_equal(one.margin, other.margin)
    np.testing.assert_array_equal(one.asked, other.asked)
    assert one.asked.sum() > 0


def test_its_own_order_selection_and_format_hold(mails):
    shuffled = mails.shuffle(seed=1).select(range(50)).with_format("numpy")
    rows = [dict(zip(ROWS, values, strict=True)) for values in zip(*ROWS.values(), strict=True)]
    order = mails.add_column("place", list(range(120))).shuffle(seed=1)["place"][:50]
    one, other = play(shuffled, "label"), play([rows[place] for place in order], "label")
    np.testing.assert_array_equal(one.margin, other.margin)


def test_labels_may_be_given_beside_it_and_it_is_predicted(mails):
    clf = askance.make("PAA-I", random_state=0)
    clf.run(mails.remove_columns("label"), np.array(ROWS["label"]))
    assert clf.fields_ == {"text": "text", "size": "number"}
    assert (clf.predict(mails.remove_columns("label")) == ROWS["label"]).mean() > 0.9


def test_several_splits_and_streamed_ones_are_refused_in_a_sentence(mails):
    with pytest.raises(InvalidInput, match=r"several splits, train, test; pass one of them, such as X\['train'\]"):
        play(datasets.DatasetDict({"train": mails, "test": mails}), "label")
    with pytest.raises(InvalidInput, match="X is streamed"):
        play(mails.to_iterable_dataset(), "label")
