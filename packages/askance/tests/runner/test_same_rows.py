"""A saved model is a model everywhere: the same rows mean the same from files of every format and from Python."""

import csv
import json
import random

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import askance
from askance.errors import InvalidInput
from askance.runner import Model, run_file
from askance.runner.algorithm_spec import AlgorithmSpec
from askance.runner.pipe import Pipe
from askance.runner.predict import Predictor


def write_regions(path, n=400):
    """A table whose label is decided by a category, one value of which is a word for a missing one."""
    rng = random.Random(3)
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["region", "note", "label"])
        for _ in range(n):
            region = rng.choice(["NA", "EU"])
            note = rng.choice(["NULL", "a word or two"])
            lines.writerow([region, note, "yes" if region == "NA" else "no"])
    return path


def predicted(model, path):
    with Predictor(model, str(path)) as predictor:
        return [str(label) for found in predictor for label in found.columns["label"]], predictor.right


@pytest.mark.filterwarnings("ignore::askance.errors.DataWarning")
def test_the_words_that_pandas_takes_for_missing_mean_the_same_in_a_file(tmp_path):
    path, saved = write_regions(tmp_path / "regions.csv"), str(tmp_path / "saved.model")
    table = pd.read_csv(path)
    y = table.pop("label")
    assert table["region"].isna().any()
    run_file(str(path), save=saved)
    assert np.mean(askance.load(saved).predict(table) == y) == 1.0
    clf = askance.make("SOAL-diag", random_state=0)
    clf.run(table, y)
    clf.save(saved)
    labels, _ = predicted(Model.load(saved), path)
    assert labels == y.tolist() == clf.predict(table).tolist()
    assert clf.explain({"region": "NA"}) == clf.explain({"region": None})


# --- true and false --------------------------------------------------------------------------------------


def mails(n=300, seed=1):
    """Rows of a number, a truth value, a category and a text, with gaps."""
    rng = random.Random(seed)
    rows = []
    for i in range(n):
        is_spam = rng.random() < 0.5
        words = ["win", "prize", "now"] if is_spam and rng.random() < 0.8 else ["lunch", "notes", "hi"]
        rows.append({
            "id": i,
            "size": None if i % 17 == 3 else round(rng.gauss(3 if is_spam else 1, 1), 2),
            "is_known": None if i % 19 == 4 else rng.random() < (0.3 if is_spam else 0.7),
            "country": rng.choice(["NO", "PE", "NA", None]),
            "text": " ".join(rng.choice(words) for _ in range(5)),
            "label": int(is_spam),
        })  # fmt: skip
    return rows


def write(path, rows):
    """The rows in the format that the name of the file tells."""
    if path.suffix == ".csv":
        pd.DataFrame(rows, dtype=object).to_csv(path, index=False)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    else:
        table = pa.Table.from_pylist(rows)
        (pa.parquet.write_table if path.suffix == ".parquet" else pa.feather.write_feather)(table, path)
    return str(path)


def model_of(way, rows, folder):
    """A model that saw some rows, whichever way, as a file."""
    saved = str(folder / f"{way}.model")
    if way in FORMATS:
        run_file(write(folder / f"rows.{way}", rows), SPEC, save=saved)
    elif way == "pipe":
        pipe = Pipe(["0", "1"], SPEC)
        for row in rows:
            pipe.answer(json.dumps(row).encode())
        pipe.model().save(saved)
    else:
        clf = askance.make("SOAL-diag", classes=[0, 1], intercept=True, random_state=0)
        events = [{name: value for name, value in row.items() if name != "label"} for row in rows]
        labels = [row["label"] for row in rows]
        if way == "ask":
            for event, label in zip(events, labels, strict=True):
                if clf.ask(event).asked:
                    clf.tell(event, label)
        else:
            clf.run(events if way == "dicts" else pd.DataFrame(events), labels)
        clf.save(saved)
    return saved


FORMATS = ("csv", "jsonl", "json", "parquet", "feather")
SPEC = AlgorithmSpec("SOAL-diag", random_state=0)


@pytest.mark.parametrize("way", [*FORMATS, "pipe", "ask", "dicts", "frame"])
def test_true_and_false_are_the_same_numbers_in_every_file_whatever_the_model_comes_from(way, tmp_path):
    rows = mails()
    model = Model.load(model_of(way, rows, tmp_path))
    found = [predicted(model, write(tmp_path / f"new.{form}", rows))[0] for form in FORMATS]
    assert len(set(map(tuple, found))) == 1
    as_words = [{**row, "is_known": None if row["is_known"] is None else str(row["is_known"])} for row in rows]
    assert askance.load(tmp_path / f"{way}.model").predict(as_words).astype(str).tolist() == found[0]


# --- a model goes on in another format -------------------------------------------------------------------


def decisions(clf):
    return clf.events_seen_, clf.labels_asked_, clf.coef_.tolist()


@pytest.mark.parametrize("first", [*FORMATS, "pipe", "ask", "dicts", "frame"])
def test_a_model_goes_on_in_every_format_as_if_all_rows_had_come_in_one(first, tmp_path):
    rows = mails()
    half = model_of(first, rows[:150], tmp_path)
    if first in ("pipe", "ask"):  # which learn what a field is from its first value
        expected = {str(decisions(played_on(half, form, rows[150:], tmp_path))) for form in FORMATS}
        assert len(expected) == 1
        return
    (tmp_path / "whole").mkdir()
    whole = decisions(askance.load(model_of(first, rows, tmp_path / "whole")))
    for form in FORMATS:
        assert decisions(played_on(half, form, rows[150:], tmp_path)) == whole, form


def played_on(saved, form, rows, folder):
    """The classifier of a model after more rows, which come in a file of some format."""
    model = Model.load(saved)
    return run_file(write(folder / f"more.{form}", rows), model=model).model.classifier


def test_a_model_saved_in_python_finds_the_label_in_a_file_and_compares(tmp_path):
    rows = mails()
    model = Model.load(model_of("frame", rows, tmp_path))
    for form in FORMATS:
        with Predictor(model, write(tmp_path / f"new.{form}", rows)) as predictor:
            list(predictor)
        assert predictor.labeled == len(rows), form
        assert predictor.left_out == []


def test_a_field_that_only_the_second_format_has_is_learned_from_its_first_value_on(tmp_path):
    rows = mails()
    more = [{**row, "colour": "red" if row["label"] else "blue"} for row in rows[150:]]
    half = model_of("jsonl", rows[:150], tmp_path)
    found = [played_on(half, form, more, tmp_path) for form in ("csv", "jsonl", "parquet")]
    assert found[0].fields_["colour"] == "category"
    assert len({str(decisions(clf)) for clf in found}) == 1


def test_rows_of_which_the_model_knows_no_field_are_refused_in_a_sentence(tmp_path):
    rows = mails()
    half = model_of("csv", rows[:150], tmp_path)
    other = [{"shape": "round", "weight": 3.5, "label": row["label"]} for row in rows]
    for form in FORMATS:
        with pytest.raises(InvalidInput, match="model learned from|none of which is a field|are not those the model"):
            played_on(half, form, other, tmp_path)


@pytest.mark.parametrize("form", FORMATS)
def test_a_model_of_named_fields_refuses_numbered_ones(form, tmp_path):
    saved = model_of(form, mails(), tmp_path)
    lines = tmp_path / "rows.libsvm"
    lines.write_text("1 1:0.5\n0 2:1\n")
    with pytest.raises(
        InvalidInput, match="the model was trained on '(table|rows|parquet)' data, but 'rows.libsvm' is"
    ):
        run_file(str(lines), model=Model.load(saved))
