"""Raw events in the less usual forms that programs have them in: the same decisions as dicts, or a sentence."""

import collections
import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import askance
from askance.errors import DataWarning, InvalidInput

ROWS = [
    {"size": i % 7, "city": ["Oslo", "Bergen", "Bod\u00f8"][i % 3], "sent": dt.date(2026, 5, 1 + i % 28)}
    for i in range(60)
]
LABELS = ["a" if i % 3 else "b" for i in range(60)]
TEXTS = [f"{row['city']} by boat {row['size']}" for row in ROWS]


def make(**more):
    return askance.make("SOAL-diag", classes=["a", "b"], random_state=0, **more)


def margins(events):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of fields that give the answer away
        return make().run(events, LABELS).margin.tolist()


def trained(events):
    clf = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        clf.run(events, LABELS)
    return clf


def structured():
    kinds = [("size", "i8"), ("city", "U10"), ("sent", "datetime64[D]")]
    return np.array([tuple(row.values()) for row in ROWS], kinds)


@pytest.mark.parametrize(
    "events",
    [
        collections.deque(ROWS),
        tuple(ROWS),
        np.array(ROWS, object),
        pa.array(ROWS),
        pa.chunked_array([ROWS[:9], ROWS[9:]]),
    ],
    ids=["deque", "tuple", "objects", "Arrow", "chunks"],
)
def test_dicts_in_any_container_decide_alike(events):
    assert margins(events) == margins(ROWS)


def test_a_structured_array_has_named_fields():
    assert trained(structured()).fields_ == {"size": "number", "city": "category", "sent": "date"}


@pytest.mark.parametrize(
    "events",
    [
        collections.deque(TEXTS), np.array(TEXTS), np.array([text.encode() for text in TEXTS], object), pd.Index(TEXTS),
        [text.encode() for text in TEXTS], pa.array(TEXTS), pa.chunked_array([TEXTS[:9], TEXTS[9:]]), pl.Series(TEXTS),
        pd.Series(TEXTS, dtype="string"), pa.array(TEXTS).dictionary_encode(),
    ],
    ids=["deque", "array", "bytes array", "index", "bytes", "Arrow", "chunks", "polars", "pandas", "dictionary"],
)  # fmt: skip
def test_texts_in_any_container_decide_alike(events):
    assert margins(events) == margins(TEXTS)
    assert margins([None, *TEXTS[1:]]) == margins(pa.array([None, *TEXTS[1:]]))


def test_rows_that_a_table_gives_one_by_one_are_events():
    table = pd.DataFrame(ROWS)
    expected = trained(ROWS).ask(ROWS[0]).margin
    assert trained(table).ask(pl.DataFrame(ROWS).row(0)).margin == expected
    assert trained(table).ask(next(table.itertuples(index=False))).margin == expected
    assert trained(ROWS).ask(next(table.itertuples(index=False))).margin == expected


@pytest.mark.parametrize("event", [None, 3, [ROWS[0]], ("Oslo", 3), np.zeros((40, 40))])
def test_what_is_no_event_is_told_in_one_line(event):
    clf = make()
    clf.ask(ROWS[0])
    with pytest.raises(InvalidInput, match="pass one event, as a dict or a text, got ") as caught:
        clf.ask(event)
    assert "\n" not in str(caught.value)


def test_a_misspelt_field_of_dicts_is_warned_of():
    with pytest.warns(
        DataWarning, match=r"fields names 'citty', which none .* is it misspelt\? They have size, city, sent\."
    ):
        make(fields={"citty": "text"}).run(ROWS, LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(fields={"citty": "ignore", "city": "ignore"}).run(ROWS, LABELS)


def test_what_is_ignored_is_not_warned_of():
    rows = [{**row, "answer": label} for row, label in zip(ROWS, LABELS, strict=True)]
    with pytest.warns(DataWarning, match="'answer' alone gives the answer away"):
        make(fields={"city": "ignore"}).run(rows, LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(fields={"city": "ignore", "answer": "ignore"}).run(rows, LABELS)


def test_the_missing_value_of_pandas_is_one_in_arrays():
    numbers = np.array([[float(i % 7), float(i % 5)] for i in range(60)])
    gaps = np.where(numbers == 3.0, pd.NA, numbers.astype(object))
    expected = make().run(np.where(numbers == 3.0, 0.0, numbers), LABELS).margin.tolist()
    assert make().run(gaps, LABELS).margin.tolist() == expected
    assert make().run(pd.DataFrame(gaps).convert_dtypes(), LABELS).margin.tolist() == expected


# --- one event where several may stand ---------------------------------------------------------------------


def test_one_dict_or_text_is_a_list_of_one():
    clf = trained(ROWS)
    for act in (clf.predict, clf.predict_proba, clf.decision_function):
        assert np.array_equal(act(ROWS[0]), act(ROWS[:1]))
    assert clf.score(ROWS[0], LABELS[0]) == clf.score(ROWS[:1], LABELS[:1])
    texts = make().fit(["win a prize", "lunch today"] * 5, ["a", "b"] * 5)
    assert texts.predict("a prize").tolist() == ["a"]
    assert texts.predict_proba("a prize").shape == (1, 2)


def test_one_label_is_learned_from_one_event_whatever_its_form():
    whole = [{**row, "truth": label} for row, label in zip(ROWS, LABELS, strict=True)]
    expected = make().partial_fit(ROWS[:1], LABELS[:1]).partial_fit(ROWS[1:2], LABELS[1:2])
    single = make().partial_fit(ROWS[0], LABELS[0]).partial_fit(whole[1], "truth")
    assert np.array_equal(single.coef_, expected.coef_)
    played = make().run(ROWS[0], LABELS[0])
    assert len(played) == 1
    assert played.asked.tolist() == make().run(ROWS[:1], LABELS[:1]).asked.tolist()


def test_a_row_of_a_table_is_one_event_wherever_several_may_stand():
    table = pd.DataFrame(ROWS)
    clf, other = trained(table), trained(table)
    row = table.iloc[4]
    assert clf.predict(row).tolist() == clf.predict(table[4:5]).tolist()
    assert clf.predict_proba(row).tolist() == clf.predict_proba(table[4:5]).tolist()
    clf.partial_fit(row, "a")
    other.partial_fit(table[4:5], ["a"])
    assert clf.decision_function(table).tolist() == other.decision_function(table).tolist()
    texts = trained(TEXTS)
    assert texts.predict(pd.Series(TEXTS)).tolist() == texts.predict(TEXTS).tolist()  # a column is several events


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, pa.Table.from_pylist])
def test_a_list_of_tables_is_played_one_after_the_other(form):
    rows = [row | {"label": label} for row, label in zip(ROWS, LABELS, strict=True)]
    parts = [form(rows[:11]), form(rows[11:50]), form(rows[50:])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        assert make().run(parts, "label").margin.tolist() == make().run(form(rows), "label").margin.tolist()
