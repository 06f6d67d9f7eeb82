"""Values whose type says that they are dates: dates in a loop of ask as in run, and in every form with a time zone."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import askance
from askance.errors import InvalidInput
from askance.runner import run_file
from askance.runner.algorithm_spec import AlgorithmSpec

START = dt.datetime(2026, 5, 1, 10, 3)


def make(**more):
    return askance.make("SOAL-diag", classes=["a", "b"], random_state=0, **more)


def letters(n=200):
    """Rows with dates, some of them missing, and labels that the weekday tells."""
    moments = [START + dt.timedelta(hours=7 * i) for i in range(n)]
    rows = [
        {
            "size": float(i * 37 % 11),
            "sent": None if i % 9 == 4 else moment,
            "due": moment.date(),
            "from": {"seen": moment, "city": "Oslo" if i % 2 else "Bergen"},
        }
        for i, moment in enumerate(moments)
    ]
    return rows, ["a" if moment.weekday() < 3 else "b" for moment in moments]


def play_one_by_one(clf, events, labels):
    margins = []
    for event, label in zip(events, labels, strict=True):
        decision = clf.ask(event)
        margins.append(decision.margin)
        if decision.asked:
            clf.tell(event, label)
    return margins


ONE_BY_ONE = {
    "dicts": lambda rows: rows,
    "datetime64": lambda rows: [{**row, "due": np.datetime64(row["due"])} for row in rows],
    "Timestamps": lambda rows: [{**row, "due": pd.Timestamp(row["due"])} for row in rows],
    "rows of pandas": lambda rows: [row for _, row in pd.DataFrame(rows).iterrows()],
    "tables of pandas": lambda rows: [pd.DataFrame([row]) for row in rows],
    "tables of polars": lambda rows: [pl.DataFrame([row]) for row in rows],
    "tables of Arrow": lambda rows: [pa.Table.from_pylist([row]) for row in rows],
}


@pytest.mark.parametrize("form", ONE_BY_ONE)
def test_a_date_is_a_date_in_a_loop_of_ask_as_in_run(form):
    rows, labels = letters()
    events = ONE_BY_ONE[form](rows)
    if form in ("Timestamps", "datetime64"):  # a Timestamp has a time, which a date has not
        rows = [{**row, "due": event["due"]} for row, event in zip(rows, events, strict=True)]
    whole, single = make(), make()
    trace = whole.run(rows, labels)
    margins = play_one_by_one(single, events, labels)
    assert whole.fields_["sent"] == whole.fields_["due"] == whole.fields_["from.seen"] == "date"
    assert single.fields_ == whole.fields_
    assert margins == trace.margin.tolist()
    np.testing.assert_array_equal(single.coef_[:, : whole.n_features_in_], whole.coef_)


def test_a_field_that_begins_late_is_a_date_and_is_saved(tmp_path):
    clf = make()
    rows = [{"size": 1.0, "sent": None}] * 3 + [{"size": 2.0, "sent": START}] * 3
    clf.run(rows[:3], ["a", "b", "a"])
    assert clf.fields_["sent"] == "ignore"
    clf.partial_fit(rows[3:], ["b", "a", "b"])
    assert clf.fields_["sent"] == "date"
    clf.save(tmp_path / "late.model")
    assert askance.load(tmp_path / "late.model").ask(rows[3]).margin == clf.ask(rows[3]).margin


def test_text_that_looks_like_a_date_stays_open_one_by_one():
    clf = make()
    clf.ask({"sent": "2026-05-01", "due": START})
    assert clf.fields_ == {"sent": "category", "due": "date"}
    clf.ask({"sent": "soon", "due": "soon"})  # while few values told, the kind gives way
    assert clf.fields_ == {"sent": "category", "due": "category"}


def in_zone(zone, moments):
    return pa.array(moments, pa.timestamp("us", tz=zone))


@pytest.mark.parametrize("zone", ["UTC", "Europe/Oslo", "+02:00", "-03:00"])
def test_a_time_zone_decides_as_the_file_in_every_form(zone, tmp_path):
    rows, labels = letters(60)
    moments = [row["from"]["seen"] for row in rows]
    table = pa.table({"seen": in_zone(zone, moments), "size": [row["size"] for row in rows]})
    whole = table.append_column("label", pa.array(labels))
    pa.parquet.write_table(whole, tmp_path / "a.parquet")
    pa.feather.write_feather(whole, tmp_path / "a.feather")
    polars = pl.read_parquet(tmp_path / "a.parquet")  # an offset is a zone of its own there
    polars.write_csv(tmp_path / "a.csv", datetime_format="%Y-%m-%dT%H:%M:%S%z")
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row, default=str) + "\n" for row in whole.to_pylist()))
    spec = AlgorithmSpec("SOAL-diag", {}, None, 0.0, None, False, 0)
    weights = {
        name: run_file(tmp_path / name, spec, label="label").model.classifier.coef_.tolist()
        for name in ("a.parquet", "a.feather", "a.csv", "a.jsonl")
    }
    for name, X in {"Arrow": table, "pandas": table.to_pandas(), "dicts": table.to_pylist()}.items():
        clf = make()
        clf.run(X, labels)
        weights[name] = clf.coef_.tolist()
    clf = make()
    clf.run(polars, "label")
    weights["polars"] = clf.coef_.tolist()
    for name, found in weights.items():
        assert found == weights["a.parquet"], name


def test_a_column_that_its_library_cannot_give_is_named():
    table = pa.table({"seen": in_zone("+0200", [START])})
    with pytest.raises(InvalidInput, match=r"^the column 'seen' of X cannot be read: "):
        make().run(table, ["a"])
