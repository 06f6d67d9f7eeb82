"""Raw events: the same rows give the same decisions, whatever form they come in."""

import csv
import datetime as dt
import json
import random
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import askance
from askance.data.encoding.table import flat_row
from askance.errors import DataWarning, InvalidInput, InvalidParameter
from askance.learner.state import room_for
from askance.runner import Model, run_file
from askance.runner.algorithm_spec import AlgorithmSpec

ALGORITHM, BITS = "SOAL-diag", 10
LETTERS = "abcdé ß'中"


def make(**more):
    return askance.make(ALGORITHM, **{"intercept": True, "random_state": 0} | more)


def mails(n, seed=1):
    """Mixed rows with gaps, and their labels."""
    rng = random.Random(seed)
    rows, labels = [], []
    for i in range(n):
        is_spam = rng.random() < 0.5
        words = (
            ["win", "prize", "now", "free"] if is_spam and rng.random() < 0.8 else ["lunch", "meeting", "notes", "hi"]
        )
        rows.append({
            "size": None if rng.random() < 0.1 else round(rng.gauss(3 if is_spam else 1, 1), 2),
            "links": rng.randrange(5),
            "is_known": None if rng.random() < 0.1 else rng.random() < (0.3 if is_spam else 0.7),
            "country": rng.choice(["NO", "PE", "DE", None]),
            "text": " ".join(rng.choice(words) for _ in range(5)),
            "sent": None if rng.random() < 0.1 else dt.datetime(2024, 3, 1, 12, 5) + dt.timedelta(hours=i),
        })  # fmt: skip
        labels.append("spam" if is_spam else "ham")
    return rows, labels


def written(value):
    """A value as CSV has it."""
    return "" if value is None else value.isoformat(" ") if isinstance(value, dt.datetime) else str(value)


def write_csv(path, rows, labels):
    with path.open("w", newline="") as file:
        lines = csv.writer(file, quoting=csv.QUOTE_ALL)
        lines.writerow([*rows[0], "label"])
        lines.writerows([*map(written, row.values()), label] for row, label in zip(rows, labels, strict=True))


def write_jsonl(path, rows, labels):
    with path.open("w") as file:
        for row, label in zip(rows, labels, strict=True):
            file.write(json.dumps({**row, "label": label}, default=written) + "\n")


def write_parquet(path, rows, labels):
    pa.parquet.write_table(as_arrow(rows).append_column("label", pa.array(labels)), path)


def write_feather(path, rows, labels):
    table = as_arrow(rows).append_column("label", pa.array(labels))
    pa.feather.write_feather(table, path, chunksize=37)  # pieces that end where no batch does


WRITERS = {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet, "feather": write_feather}


def play_file(form, rows, labels, folder):
    """What ``askance run`` decides about a file."""
    path = folder / f"rows.{form}"
    WRITERS[form](path, rows, labels)
    run_file(path, AlgorithmSpec(ALGORITHM), trace=folder / "trace.npz", label="label")
    with np.load(folder / "trace.npz") as trace:
        return trace["margin"], trace["asked"]


def as_arrow(rows):
    return pa.table({name: pa.array([row[name] for row in rows]) for name in rows[0]})


FORMS = {
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda rows: pd.DataFrame(rows).convert_dtypes(),
    "pandas, categories": lambda rows: pd.DataFrame(rows).astype({"country": "category"}),
    "polars": lambda rows: pl.DataFrame(rows, infer_schema_length=None),
    "arrow": as_arrow,
    "record batch": lambda rows: as_arrow(rows).to_batches()[0],
    "dicts": lambda rows: rows,
    "tuple of dicts": tuple,
}


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    rows, labels = mails(1300)
    return rows, labels, play_file("csv", rows, labels, tmp_path_factory.mktemp("csv"))


@pytest.mark.parametrize("form", ["parquet", "feather", "jsonl"])
def test_files_of_every_format_give_the_same_decisions(form, stream, tmp_path):
    rows, labels, expected = stream
    margin, asked = play_file(form, rows, labels, tmp_path)
    assert np.array_equal(margin, expected[0])
    assert np.array_equal(asked, expected[1])


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_raw_events_gives_the_decisions_of_the_csv_file(form, stream):
    rows, labels, expected = stream
    clf = make()
    trace = clf.run(FORMS[form](rows), labels)
    assert np.array_equal(trace.margin, expected[0])
    assert np.array_equal(trace.asked, expected[1])
    kinds = {"size": "number", "links": "number", "is_known": "number"}
    assert clf.fields_ == kinds | {"country": "category", "text": "text", "sent": "date"}


def cells(kind):
    """A column of a kind, as Python values; None where one is missing."""
    values = {
        "whole": st.integers(-(2**40), 2**40),
        "number": st.floats(-1e9, 1e9, allow_subnormal=False),
        "truth": st.booleans(),
        "word": st.sampled_from(["red", "green", "light blue", "7up", "Ærø"]),
        "text": st.text(LETTERS, min_size=1, max_size=40).map(str.strip).filter(bool).map(lambda text: f"so {text} z"),
        "date": st.datetimes(dt.datetime(1990, 1, 1), dt.datetime(2040, 1, 1)).map(lambda t: t.replace(microsecond=0)),
    }[kind]
    return st.lists(st.one_of(values, values, values, st.none()), min_size=30, max_size=30)


@st.composite
def tables(draw):
    """Rows with fields of several kinds, in any order, and labels."""
    kinds = draw(
        st.lists(st.sampled_from(["whole", "number", "truth", "word", "text", "date"]), min_size=1, max_size=6)
    )
    columns = {f"{kind} {place}": draw(cells(kind)) for place, kind in enumerate(kinds)}
    for name, column in columns.items():
        fewest = 2 if name.startswith("date") else 1  # of fewer, a file of text cannot know that they are dates
        assume(sum(value is not None for value in column) >= fewest)
    labels = draw(st.lists(st.sampled_from(["no", "yes"]), min_size=30, max_size=30))
    assume(len(set(labels)) == 2)
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)], labels


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables())
def test_the_same_rows_give_the_same_decisions_by_every_way(tmp_path_factory, table):
    rows, labels = table
    folder = tmp_path_factory.mktemp("rows")
    margin, asked = play_file("csv", rows, labels, folder)
    for form in ("jsonl", "parquet", "feather"):
        other, also_asked = play_file(form, rows, labels, folder)
        assert np.array_equal(other, margin), form
        assert np.array_equal(also_asked, asked), form
    for form in ("pandas", "pandas, nullable", "polars", "arrow", "dicts"):
        trace = make().run(FORMS[form](rows), labels)
        assert np.array_equal(trace.margin, margin), form
        assert np.array_equal(trace.asked, asked), form


@pytest.mark.parametrize("sizes", [[1300], [1000, 300], [10, 500, 3, 700, 87], [1] * 40 + [1260]])
@pytest.mark.parametrize("form", ["pandas", "dicts"])
def test_batches_give_the_decisions_of_one_run(stream, sizes, form):
    rows, labels, expected = stream
    ends = np.cumsum(sizes)
    clf = make()
    trace = clf.run(
        (FORMS[form](rows[end - size : end]), labels[end - size : end]) for size, end in zip(sizes, ends, strict=True)
    )
    assert np.array_equal(trace.margin, expected[0])
    assert np.array_equal(trace.asked, expected[1])


@pytest.mark.parametrize("form", ["pandas", "dicts", "polars"])
def test_the_labels_of_batches_may_be_in_a_column_of_theirs(stream, form):
    rows, labels, expected = stream
    told = [{**row, "label": label} for row, label in zip(rows, labels, strict=True)]
    trace = make().run((FORMS[form](told[i : i + 200]) for i in range(0, len(told), 200)), "label")
    assert np.array_equal(trace.margin, expected[0])
    assert np.array_equal(trace.asked, expected[1])


def test_batches_of_arrays_give_the_decisions_of_one_run():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 4)), rng.integers(0, 2, 500)
    expected = askance.make("PAA-I", random_state=0).run(X, y)
    trace = askance.make("PAA-I", random_state=0).run((X[i : i + 7], y[i : i + 7]) for i in range(0, 500, 7))
    assert np.array_equal(trace.margin, expected.margin)
    assert trace.classes.tolist() == [0, 1]


def test_run_equals_a_loop_of_ask_and_tell_where_the_kinds_are_given():
    rows, labels = mails(300)
    fields = {"size": "number", "links": "number", "is_known": "number", "sent": "date", "country": "category"}
    fields |= {"text": "text"}
    whole, by_event, by_ticket = (make(fields=fields, classes=["ham", "spam"]) for _ in range(3))
    trace = whole.run(rows, labels)
    for number, (row, label) in enumerate(zip(rows, labels, strict=True)):
        expected = by_event.decision_function([row])[0] if number else None
        one, other = by_event.ask(row), by_ticket.ask(pd.DataFrame([row]).iloc[0].to_dict())
        assert one.margin == other.margin == trace.margin[number]
        assert expected in (None, one.margin)
        assert one.asked == trace.asked[number]
        if one.asked:
            by_event.tell(row, label, weight=one.weight)
            by_ticket.tell(ticket=other.ticket, y=label)
    assert np.array_equal(by_event.coef_, whole.coef_)
    assert np.array_equal(by_ticket.coef_, whole.coef_)


def test_the_encoder_is_saved_with_the_model_and_goes_on(tmp_path):
    rows, labels = mails(1200)
    whole = make(fields={"links": "category"})
    expected = whole.run(rows, labels)
    clf = make(fields={"links": "category"})
    clf.run(rows[:1000], labels[:1000])
    clf.save(tmp_path / "m.model")
    again = askance.load(tmp_path / "m.model")
    assert again.fields_ == clf.fields_
    assert again.fields_["links"] == "category"
    assert again.get_params()["fields"] == {"links": "category"}
    assert np.array_equal(again.decision_function(rows[:50]), clf.decision_function(pd.DataFrame(rows[:50])))
    assert np.array_equal(again.run(rows[1000:], labels[1000:]).margin, expected.margin[1000:])


def test_a_model_that_askance_run_saved_takes_raw_events(stream, tmp_path):
    rows, labels, _ = stream
    write_csv(tmp_path / "m.csv", rows, labels)
    run_file(tmp_path / "m.csv", AlgorithmSpec(ALGORITHM), save=tmp_path / "m.model", hash_bits=BITS)
    clf = askance.load(tmp_path / "m.model")
    assert (clf.predict(pd.DataFrame(rows)) == np.array(labels)).mean() > 0.8
    new, new_labels = mails(40, seed=2)
    write_csv(tmp_path / "new.csv", new, new_labels)
    run_file(tmp_path / "new.csv", model=Model.load(tmp_path / "m.model"), trace=tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz") as trace:
        assert np.array_equal(clf.run(new, new_labels).margin, trace["margin"])


def test_new_fields_and_categories_grow_the_model():
    clf = make(classes=["a", "b"])
    assert clf.ask({"size": 1.0}).asked
    assert clf.n_features_in_ == 1
    clf.ask({"size": 2.0, "from": {"country": "NO", "tags": ["x", "y"]}})
    assert clf.fields_ == {"size": "number", "from.country": "category", "from.tags": "category"}
    assert clf.n_features_in_ == room_for(1 + 2**18)
    with pytest.raises(InvalidInput, match="tell needs|field 'size'"):
        clf.ask({"size": float("inf")})


def test_a_kind_that_few_events_told_gives_way_and_one_that_many_told_holds():
    few, many = make(), make()
    few.fit([{"code": 1}, {"code": 2}, {"code": 3}], ["a", "b", "a"])
    few.partial_fit([{"code": "x9"}], ["b"])
    assert few.fields_ == {"code": "category"}
    many.fit([{"code": i} for i in range(1000)], ["a", "b"] * 500)
    with pytest.raises(InvalidInput, match=r"row 1 of X, field 'code': 'x9' is not a number"):
        many.partial_fit([{"code": 5}, {"code": "x9"}], ["b", "a"])


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("big", [2**60 + 1, 2**63 + 1])
def test_whole_numbers_beyond_the_exact_ones_are_the_nearest_float(form, big):
    labels = ["a", "b"] * 50 + ["b", "a"] * 50
    played = askance.make("PAA-I", random_state=0).run(form({"big": np.array([big, 1] * 100, np.uint64)}), labels)
    nearest = askance.make("PAA-I", random_state=0).run([{"big": float(big)}, {"big": 1.0}] * 100, labels)
    assert np.array_equal(played.margin, nearest.margin)


def test_texts_are_events():
    texts = ["win a prize", "lunch on Friday", "win now", "notes of lunch"] * 5
    clf = askance.make("PAA-I", random_state=0).fit(texts, ["spam", "ham"] * 10)
    assert clf.fields_ == {"text": "text"}
    assert clf.predict(np.array(["a prize to win", "lunch"])).tolist() == ["spam", "ham"]
    assert clf.predict(pd.Series(["a prize to win", "lunch"])).tolist() == ["spam", "ham"]
    assert clf.ask("win win").label == "spam"
    assert clf.predict([{"text": "win"}]).tolist() == ["spam"]


def test_a_field_tells_the_time_for_a_budget_by_time():
    rows, labels = mails(200)
    rows = [row | {"when": 600.0 * i} for i, row in enumerate(rows)]
    budget = askance.budgets.PerPeriod(5)
    given_apart = make(budget=budget, fields={"when": "ignore"})
    in_a_field = make(budget=budget, fields={"when": "time"})
    one = given_apart.run(rows, labels, times=[row["when"] for row in rows])
    other = in_a_field.run(pd.DataFrame(rows), labels)
    assert np.array_equal(one.asked, other.asked)
    assert in_a_field.ask(rows[-1] | {"when": 150_000.0}).margin is not None
    with pytest.raises(InvalidInput, match="needs the time of each event"):
        make(budget=budget).run(rows, labels)


def test_labels_may_be_a_column_of_the_table():
    rows, labels = mails(100)
    expected = make().run(rows, labels)
    together = [row | {"label": label} for row, label in zip(rows, labels, strict=True)]
    for X in (pd.DataFrame(together), together, pl.DataFrame(together)):
        assert np.array_equal(make().run(X, "label").margin, expected.margin)


@pytest.mark.parametrize("way", ["run", "fit", "batches", "saved"])
def test_a_field_that_was_the_label_is_left_out_of_later_events(way, tmp_path):
    rows, labels = mails(200)
    whole = [{**row, "is_spam": label} for row, label in zip(rows, labels, strict=True)]
    table, clf = FORMS["pandas"](whole), make()
    if way == "batches":
        clf.run((whole[part], "is_spam") for part in (slice(0, 90), slice(90, None)))
    else:
        (clf.fit if way == "fit" else clf.run)(table, "is_spam")
    if way == "saved":
        clf.save(tmp_path / "mail.model")
        clf = askance.load(tmp_path / "mail.model")
    fields, known = clf.fields_, clf.predict(rows)
    for events in (whole, table, FORMS["polars"](whole)):
        assert np.array_equal(clf.predict(events), known)
        assert clf.score(events, "is_spam") == np.mean(known == labels)
        assert np.array_equal(clf.predict_proba(events), clf.predict_proba(rows))
    assert clf.explain(whole[0]) == clf.explain(table[:1]) == clf.explain(rows[0])
    for event in (whole[0], table[:1], table.iloc[1]):
        clf.ask(event)
    clf.run(whole[:50], labels[:50])
    assert clf.fields_ == fields
    assert "is_spam" not in fields


def test_events_without_a_label_do_not_count_in_a_score():
    rows, labels = mails(60)
    clf = make().fit(rows, labels)
    known = clf.predict(rows) == labels
    for gap in (None, np.nan, "?"):
        assert clf.score(rows, [gap if n % 3 else label for n, label in enumerate(labels)]) == known[::3].mean()
    weights = np.arange(60.0)
    half = [label if n % 2 else None for n, label in enumerate(labels)]
    assert clf.score(rows, half, weights) == pytest.approx(np.average(known[1::2], weights=weights[1::2]))
    with pytest.raises(InvalidInput, match="no label that is known"):
        clf.score(rows, [None] * 60)
    numbers = askance.make("PAA-I", random_state=0).fit(np.eye(4), [0, 1, 0, 1])
    assert numbers.score(np.eye(4), [0.0, 1.0, np.nan, np.nan]) == numbers.score(np.eye(4)[:2], [0, 1])
    with pytest.raises(InvalidInput, match="X has no named columns; pass the labels"):
        numbers.score(np.eye(4), "label")


def test_dicts_without_a_known_field_are_warned_of():
    clf = make().fit(*mails(60))
    with pytest.warns(DataWarning, match="X has the fields foo, none of which is a field of the model; it knows"):
        clf.predict([{"foo": 1}] * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        clf.predict([{"foo": 1}, mails(1)[0][0], {}])


def test_an_error_leaves_the_model_as_it_was():
    rows, labels = mails(1100)
    clf, untouched = make(), make()
    for one in (clf, untouched):
        one.run(rows[:1000], labels[:1000])
    bad = [*rows[1000:1050], rows[0] | {"size": "huge", "new": "field"}]
    for wrong in (bad, pd.DataFrame(bad).drop(columns="new")):
        with pytest.raises(InvalidInput, match=r"row 50 of X, field 'size': 'huge' is not a number"):
            clf.run(wrong, labels[1000:1051])
    with pytest.raises(InvalidInput, match=r"y\[1\] is 'eggs'"):
        clf.run(rows[1000:1002], ["ham", "eggs"])
    assert clf.fields_ == untouched.fields_
    assert np.array_equal(clf.run(rows[1000:], labels[1000:]).margin, untouched.run(rows[1000:], labels[1000:]).margin)


def table_of(**columns):
    return pd.DataFrame(columns)


def of_arrays(clf):
    return clf.fit([[1.0], [2.0]], ["x", "y"])


def of_dicts(clf):
    return clf.fit([{"a": 1}, {"a": 2}], ["x", "y"])


def of_tables(clf):
    return clf.fit(table_of(a=[1, 2]), ["x", "y"])


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda clf: clf.run([{"a": 1}, {"a": 2}], ["x"]), "X has 2 events and y has 1 label; each event needs one"),
        (lambda clf: clf.run(pd.DataFrame(index=[0, 1]), ["x", "y"]), "X has no columns"),
        (lambda clf: clf.run(pd.DataFrame({"a": []}), []), "X has no events"),
        (lambda clf: clf.run(table_of(a=[1, 2]), "label"), "X has no column 'label' to be the label; there are: a"),
        (lambda clf: clf.run([{"a": 1}, {"a": 2}], "label"), "X has no column 'label' to be the label; there are: a"),
        (lambda clf: clf.run(table_of(label=["x", "y"]), "label"), "no column beside the label 'label'"),
        (lambda clf: clf.run(table_of(id=[1, 2]), ["x", "y"]), "X has no field to learn from: id is ignored"),
        (lambda clf: clf.run(table_of(a=[1, np.inf]), ["x", "y"]), "row 1 of X, field 'a': 'inf' is not finite"),
        (lambda clf: clf.run([{"a": 1}, 7], ["x", "y"]), "row 1 of X is 7; each event is a dict of fields, or a text"),
        (lambda clf: clf.run({"a": 1}, ["x"]), "there is only one class, 'x'"),
        (lambda clf: clf.run({"a": [1, 2], "b": ["c", "d"]}, ["x", "y"]), "X is a dict of columns; pass a table"),
        (lambda clf: of_dicts(clf).run(table_of(b=[1], y=["x"]), "y"), "none of which is a field of the model"),
        (lambda clf: clf.run([{"a": 1}]), "y is missing; pass the labels, or an iterator of batches"),
        (lambda clf: clf.run(iter([])), "there are no batches to run"),
        (lambda clf: clf.run(iter([7])), "each batch is a pair"),
        (lambda clf: clf.run(pl.LazyFrame({"a": [1, 2]}), ["x", "y"]), "has no rows before it is computed"),
        (lambda clf: clf.ask({"a": 1}), "the classes are not known before the first label"),
        (lambda clf: clf.ask(table_of(a=[1, 2])), "one event is a table of one row, got 2 rows"),
        (lambda clf: of_arrays(clf).run([{"a": 1}], ["x"]), "began with arrays of 1 features"),
        (lambda clf: of_arrays(clf).ask("text"), "began with arrays of 1 features"),
        (lambda clf: of_dicts(clf).predict([[1.0]]), "instead of an array"),
        (lambda clf: of_dicts(clf).ask([1.0, 2.0]), "pass one event, as a dict"),
        (lambda clf: of_dicts(clf).predict(table_of(b=[1])), "none of which is a field"),
        (lambda clf: of_dicts(clf).predict(["text"]), "X has texts, but the events of the model have the fields a"),
        (lambda clf: of_tables(clf).predict(table_of(b=[1])), "X has no column a, which the first table had, and"),
        (lambda clf: of_tables(clf).run(table_of(b=[1], y=["x"]), "y"), "X has no column a, which"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_told_in_a_sentence(act, sentence):
    clf = make()
    with pytest.raises(ValueError, match=sentence):
        act(clf)


def test_fields_must_be_kinds_by_name():
    with pytest.raises(InvalidParameter, match="the kind of field 'zip' must be one of number, category"):
        make(fields={"zip": "categories"})
    with pytest.raises(InvalidParameter, match="fields maps names to kinds"):
        make(fields=["zip"])
    with pytest.raises(InvalidInput, match="tell answers an event that was asked"):
        make(classes=["a", "b"]).tell({"a": 1}, "a")


def test_fields_are_a_parameter_like_others():
    clf = make(fields={"zip": "category"})
    rows = [{"zip": 8000 + i % 3, "size": i} for i in range(40)]
    clf.fit(rows, ["a", "b"] * 20)
    assert clf.fields_ == {"zip": "category", "size": "number"}
    fresh = clone(clf)
    assert fresh.fields == {"zip": "category"}
    assert not hasattr(fresh, "fields_")
    clf.fit([[1.0], [2.0]], ["a", "b"])  # forgets everything
    assert not hasattr(clf, "fields_")


def test_an_array_is_read_by_the_columns_of_the_first_table():
    table = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [3.0, 1.0, 0.0]})
    clf = make().fit(table, ["x", "y", "x"])
    with pytest.warns(UserWarning, match="valid feature names"):
        assert np.array_equal(clf.decision_function(table.to_numpy()), clf.decision_function(table))
    assert clf.feature_names_in_.tolist() == ["a", "b"]


def test_explain_names_the_fields_and_words_that_moved_the_score():
    rows, labels = mails(400)
    clf = make().fit(rows, labels)
    row = rows[0] | {"text": "win a prize", "size": 9.0}
    found = clf.explain(row, "spam")
    assert found == clf.explain(pd.DataFrame([row]), "spam")
    pushes = dict(found)
    assert pushes["win"] > 0
    assert pushes["size=9"] > 0
    assert [abs(push) for _, push in found] == sorted((abs(push) for _, push in found), reverse=True)
    assert dict(clf.explain(row, "ham"))["win"] == -pushes["win"]
    assert clf.predict([row]).tolist() == ["spam"]
    assert clf.explain(row) == found
    assert clf.explain({"never": "seen"}) == []


def test_explain_says_which_value_of_a_field_pushed():
    rows = [
        {
            "shop": ("Oslo", None)[k % 2],
            "sent": f"2026-05-0{1 + k % 2}T1{k % 2}:00",
            "big": k % 2 == 0,
            "price": k % 2 + 0.5,
        }
        for k in range(40)
    ]
    clf = make(fields={"sent": "date", "shop": "category"}).fit(rows, [k % 2 for k in range(40)])
    assert {name for name, _ in clf.explain(rows[0])} == {
        "shop=Oslo", "sent=Friday", "sent=10 h", "big=true", "price=0.5",
    }  # fmt: skip
    assert "shop missing" in dict(clf.explain(rows[1]))
    mails = [{"subject": "you won", "body": "you can claim it"}, {"subject": "lunch", "body": "see you there"}] * 20
    both = make(fields=dict.fromkeys(mails[0], "text")).fit(mails, [0, 1] * 20)
    assert {"subject: won", "body: claim"} <= dict(both.explain(mails[0])).keys()


def test_explain_tells_the_columns_of_an_array_and_adds_up_to_the_margin():
    clf = askance.make("PAA-I", normalize="l2", random_state=0).fit([[3.0, 4.0, 0.0], [0.0, -1.0, 1.0]], [0, 1])
    x = np.array([1.0, 2.0, 2.0])
    found = clf.explain(x, 1)
    assert {column for column, _ in found} == {0, 1, 2}
    assert sum(push for _, push in found) == pytest.approx(clf.decision_function([x])[0])
    texts = askance.make("PAA-I", normalize="l2", random_state=0).fit(["a", "b"], ["x", "y"])
    assert sum(push for _, push in texts.explain("b", "y")) == pytest.approx(texts.decision_function(["b"])[0])


@pytest.mark.parametrize(
    ("X", "options", "sentence"),
    [
        ([], {}, "X has no events"),
        (pd.DataFrame(index=range(2)), {}, "X has no columns"),
        (iter([{"a": 1}, {"a": 2}]), {}, "X is an iterator; pass a list of events"),
        (
            pd.DataFrame({"a": [1, 2]}),
            {"fields": {"zip": "category"}},
            "fields names 'zip', but the columns of X",
        ),
    ],
)
def test_what_are_no_events_is_said_in_a_sentence(X, options, sentence):
    with pytest.raises(ValueError, match=sentence) as raised:
        askance.make("PAA-I", **options).run(X, ["p", "q"])
    assert "\n" not in str(raised.value)


def test_an_array_is_refused_where_a_field_is_no_number():
    clf = askance.make("PAA-I").fit(pd.DataFrame({"a": [1.0, 2.0], "s": ["x", "y"]}), ["p", "q"])
    with pytest.raises(ValueError, match="the field 's' of this classifier is no number but a category"):
        clf.predict(np.ones((2, 2)))


def test_a_value_without_a_text_of_its_own_is_refused_by_its_field():
    endless = {}
    endless["b"] = endless
    clf = askance.make("PAA-I").fit([{"a": 1}, {"a": 2}], ["p", "q"])
    for value, sentence in (
        (object(), "field 'a': nothing can be learned from a value of type object"),
        (endless, "field 'a': it is nested too"),
    ):
        with pytest.raises(ValueError, match=sentence):
            clf.predict([{"a": value}])


def test_the_members_of_a_set_have_one_order():
    words = {f"word{place}" for place in range(20)}
    assert flat_row({"s": words}) == {"s": sorted(words)}


def test_the_columns_of_a_table_are_matched_by_name_in_any_order():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(size=200), "city": rng.choice(["Oslo", "Bern"], 200), "text": "a b"})
    y = np.where(table["size"] > 0, "big", "small")
    one, other = (askance.make("PAA-I", random_state=0) for _ in range(2))
    turned = table[["text", "size", "city"]]
    for clf, rest in ((one, table), (other, turned)):
        clf.run(table[:100], y[:100])
        clf.run(rest[100:], y[100:])
        clf.ask(rest[:1])
    assert np.array_equal(one.decision_function(table), other.decision_function(turned))
    with pytest.raises(InvalidInput, match=r"^X has no column city, which the first table had; give it the columns"):
        one.predict(table[["size", "text"]])
    with pytest.raises(InvalidInput, match=r"^X has the column more, which the first table had not; [^\n]*$"):
        one.ask(table[:1].assign(more=1))


def test_times_may_be_datetimes_with_or_without_a_zone():
    from datetime import UTC, datetime, timedelta, timezone

    X = np.random.default_rng(0).normal(size=(300, 3))
    y = X[:, 0] > 0
    start = datetime(2026, 5, 1, tzinfo=UTC)
    moments = [start + timedelta(minutes=10 * i) for i in range(300)]
    seconds = [moment.timestamp() for moment in moments]
    there = timezone(timedelta(hours=2))
    forms = [
        seconds, moments, [moment.replace(tzinfo=None) for moment in moments],
        [moment.astimezone(there) for moment in moments], pd.Series(moments), pd.DatetimeIndex(moments),
        np.array(seconds, np.int64).astype("datetime64[s]"),
    ]  # fmt: skip
    budget = askance.budgets.PerPeriod(20, "1d")
    asked = [askance.make("PAA-I", budget=budget, random_state=0).run(X, y, times=times).asked for times in forms]
    for other in asked[1:]:
        assert np.array_equal(asked[0], other)
    clf = askance.make("PAA-I", budget=budget, classes=[False, True], random_state=0)
    for x, label, moment, expected in zip(X, y, moments, asked[0], strict=True):
        decision = clf.ask(x, time=moment.astimezone(there))
        assert decision.asked == expected
        if decision.asked:
            clf.tell(ticket=decision.ticket, y=label)
    with pytest.raises(InvalidInput, match="numbers of seconds, or datetimes, got"):
        clf.ask(X[0], time="noon")


def late_rows(n=1600, first=1200):
    """Rows with fields that are empty until row ``first``, of which one then tells the label."""
    rng = random.Random(3)
    labels = [rng.choice(["ham", "spam"]) for _ in range(n)]
    rows = []
    for i, label in enumerate(labels):
        begun = i >= first
        rows.append({
            "size": rng.gauss(0, 1),
            "flag": (f"seen {label}" if rng.random() < 0.9 else "seen ham") if begun else None,
            "score": (2.0 if label == "spam" else -2.0) + rng.gauss(0, 1) if begun else None,
        })  # fmt: skip
    return rows, labels


def test_a_column_that_is_empty_in_the_first_rows_is_learned_when_it_begins(tmp_path):
    rows, labels = late_rows()
    margin, _ = play_file("csv", rows, labels, tmp_path)
    right = (margin > 0) == (np.array(labels) == "spam")
    assert right[:1200].mean() < 0.6 < 0.8 < right[1300:].mean()
    for form in ("jsonl", "parquet", "feather"):
        other, _ = play_file(form, rows, labels, tmp_path)
        np.testing.assert_allclose(other, margin, rtol=1e-9, atol=1e-12, err_msg=form)  # columns in another order
    for form in ("pandas", "polars", "dicts"):
        clf = make()
        trace = clf.run(FORMS[form](rows), labels)
        np.testing.assert_allclose(trace.margin, margin, rtol=1e-9, atol=1e-12, err_msg=form)
        assert set(clf.fields_) == {"size", "flag", "score"}, form
        assert "ignore" not in clf.fields_.values(), form


@pytest.mark.parametrize("form", ["pandas", "polars", "dicts"])
def test_sample_weight_counts_in_fit_and_score_of_raw_events(form):
    rows, labels = mails(120)
    events, kept = FORMS[form](rows), np.arange(120) < 80
    weights = kept.astype(float)
    weighed = make(weighted=True).fit(events, labels, sample_weight=weights)
    assert np.array_equal(weighed.coef_, make(weighted=True).fit(events, labels, sample_weight=weights.tolist()).coef_)
    assert not np.array_equal(weighed.coef_, make(weighted=True).fit(events, labels).coef_)
    right = weighed.predict(events) == np.array(labels)
    assert weighed.score(events, labels, sample_weight=weights) == pytest.approx(right[kept].mean())
    with pytest.raises(ValueError, match="sample_weight"):
        weighed.fit(events, labels, sample_weight=weights[:-1])


@pytest.mark.parametrize("form", ["frame", "dicts", "batches", "events"])
def test_what_counts_as_missing_is_part_of_the_model(form, tmp_path):
    rows, labels = mails(400)
    odd = [{**row, "size": -999 if row["size"] is None else row["size"], "sent": row["sent"] or "soon"} for row in rows]
    is_odd = [k % 7 == 3 for k in range(400)]
    gaps = [None if gap else label for gap, label in zip(is_odd, labels, strict=True)]
    words = ["not yet" if gap else label for gap, label in zip(is_odd, labels, strict=True)]

    def play_all(clf, rows, labels):
        if form == "events":
            events = [row for row, gap in zip(rows, is_odd, strict=True) if not gap]
            return [clf.ask(row).margin for row in events]
        if form == "batches":
            return clf.run((rows[k : k + 100], labels[k : k + 100]) for k in range(0, 400, 100)).margin
        return clf.run(pd.DataFrame(rows) if form == "frame" else rows, labels).margin

    fields = {"sent": "date"}
    plain = make(fields=fields, classes=["ham", "spam"])
    clf = make(fields=fields, classes=["ham", "spam"], na_values=["not yet", "soon", -999])
    assert np.array_equal(play_all(plain, rows, gaps), play_all(clf, odd, words))
    clf.save(tmp_path / "a.model")
    for again in (askance.load(tmp_path / "a.model"), Model.load(tmp_path / "a.model").classifier):
        assert np.array_equal(again.decision_function(odd[:50]), plain.decision_function(rows[:50]))


def test_labels_that_count_as_missing_are_none_beside_arrays_too():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, 1, 0)
    y[::5] = -1
    trace = make(na_values=-1).run(X, y)
    assert trace.classes.tolist() == [0, 1]
    assert not trace.asked[::5].any()
    with pytest.raises(InvalidInput, match=r"the label y\[0\] is missing"):
        make(na_values=[-1]).fit(X, y)


def odd_rows(n=200):
    """Rows whose field 'verdict' gives the answer away, with amounts of money in another and labels that look alike."""
    labels = ["spam" if k % 3 else "ham" for k in range(n - 1)] + ["Spam"]
    rows = [{"verdict": "bad" if label != "ham" else "good", "price": f"${k}.50"} for k, label in enumerate(labels)]
    return rows, labels


@pytest.mark.parametrize("way", ["run", "fit", "batches"])
def test_what_looks_wrong_is_said_once_in_python_terms(way):
    rows, labels = odd_rows()
    clf = askance.make("PAA-I", random_state=0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        if way == "batches":
            clf.run([(rows[:90], labels[:90]), (rows[90:], labels[90:])])
        else:
            getattr(clf, way)(rows, labels)
        clf.predict(rows)
    sentences = [str(warning.message) for warning in told if warning.category is DataWarning]
    assert [sentence[:25] for sentence in sentences] == [
        "The labels 'spam' and 'Sp", "The field 'verdict' alone", "The field 'price' holds a",
    ]  # fmt: skip
    assert {warning.filename for warning in told if warning.category is DataWarning} == {__file__}
    assert sentences[1].endswith("leave it out with fields={'verdict': \"ignore\"}.")


def test_good_data_are_not_warned_of():
    rows, labels = odd_rows()
    plain = [{"size": float(k * 7 % 11), "colour": ["red", "green", "blue"][k // 7 % 3]} for k in range(len(rows))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        askance.make("PAA-I", random_state=0).run(plain, [label.lower() for label in labels])
