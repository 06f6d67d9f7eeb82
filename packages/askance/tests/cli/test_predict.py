"""``askance predict`` as a user meets it: what a saved model says of new files."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.here import complaint, here

import askance

KINDS = {"size": "number", "sender": "category", "text": "text", "sent": "date"}


def mails(n: int, seed: int = 0) -> list[dict[str, Any]]:
    """Mails with a text, a category, a date and gaps."""
    rng = np.random.default_rng(seed)
    found = []
    for k in range(n):
        is_spam = rng.random() < 0.4
        words = rng.choice(["win", "prize", "now", "free"] if is_spam else ["lunch", "friday", "report", "now"], 3)
        size = None if k % 9 == 4 else round(rng.normal(3.0 if is_spam else 1.0), 6)
        sent = f"2026-05-{k % 28 + 1:02} {k % 24:02}:10"
        sender = str(rng.choice(["shop", "friend", ""]))
        label = "spam" if is_spam else "ham"
        found.append({"size": size, "sender": sender, "text": " ".join(words), "sent": sent, "label": label})
    return found


def write(path: Path, rows: list[dict[str, Any]], leave_out: tuple[str, ...] = ()) -> Path:
    """Write rows as the name of the file says."""
    rows = [{name: value for name, value in row.items() if name not in leave_out} for row in rows]
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".parquet":
        pa = pytest.importorskip("pyarrow")
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".arff":
        head = [f"@attribute {name} {'numeric' if name == 'size' else 'string'}" for name in rows[0]]
        lines = (
            ",".join("?" if v is None else f"'{v}'" if isinstance(v, str) else str(v) for v in row.values())
            for row in rows
        )
        path.write_text("\n".join(["@relation mail", *head, "@data", *lines]) + "\n")
    else:
        file = io.StringIO()
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(rows)
        path.write_text(file.getvalue())
    return path


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of the command line, one of Python, and new mails."""
    folder = tmp_path_factory.mktemp("predict")
    write(folder / "mail.csv", mails(300))
    for name in ("new.csv", "new.tsv", "new.jsonl", "new.arff"):
        write(folder / name, mails(80, seed=1), leave_out=("label",))
    result = here("run", "mail.csv", "-a", "PAA-I", "--save", "cli.model", cwd=folder)
    assert result.returncode == 0, result.stderr
    rows = [{name: value for name, value in row.items() if name != "label"} for row in mails(300)]
    clf = askance.make("PAA-I", random_state=0, fields=KINDS).fit(rows, [row["label"] for row in mails(300)])
    clf.save(folder / "python.model")
    return folder


@pytest.mark.parametrize("model", ["cli.model", "python.model"])
@pytest.mark.parametrize("name", ["new.csv", "new.tsv", "new.jsonl", "new.arff", "new.parquet"])
def test_predictions_of_any_file_are_those_of_python_bit_for_bit(folder: Path, name: str, model: str) -> None:
    rows = [{key: value for key, value in row.items() if key != "label"} for row in mails(80, seed=1)]
    if name == "new.parquet":
        write(folder / name, rows)
    before = (folder / model).read_bytes()
    result = here("predict", name, "--load", model, cwd=folder)
    assert result.returncode == 0, result.stderr
    assert result.stderr == "askance predict: 80 events predicted.\n"
    found, clf = table(result.stdout), askance.load(folder / model)
    assert [row["label"] for row in found] == clf.predict(rows).tolist()
    assert [float(row["margin"]) for row in found] == clf.decision_function(rows).tolist()
    chances = [[float(row[f"probability of {label}"]) for label in ("ham", "spam")] for row in found]
    assert chances == clf.predict_proba(rows).tolist()
    assert [int(row["event"]) for row in found] == list(range(1, 81))
    if name in ("new.csv", "new.tsv"):
        assert [int(row["line"]) for row in found] == list(range(2, 82))
    assert (folder / model).read_bytes() == before


def test_the_first_event_is_predicted_as_run_would_and_the_others_as_if_each_came_next(folder: Path) -> None:
    write(folder / "next.csv", mails(40, seed=2))
    write(folder / "turned.csv", mails(40, seed=2)[::-1])
    there = table(here("predict", "next.csv", "--load", "cli.model", cwd=folder).stdout)
    back = table(here("predict", "turned.csv", "--load", "cli.model", cwd=folder).stdout)
    assert [row["margin"] for row in there] == [row["margin"] for row in back[::-1]]
    here("run", "next.csv", "--load", "cli.model", "--trace", "trace.csv", cwd=folder)
    assert table((folder / "trace.csv").read_text())[0]["margin"] == there[0]["margin"]


def test_a_label_is_compared_and_changes_no_prediction(folder: Path) -> None:
    rows = mails(80, seed=1)
    rows[3]["label"] = ""
    rows[5]["label"] = "news"
    write(folder / "labeled.csv", rows)
    result = here("predict", "labeled.csv", "--load", "cli.model", cwd=folder)
    found = table(result.stdout)
    assert found == table(here("predict", "new.csv", "--load", "cli.model", cwd=folder).stdout)
    pairs = [(row["label"], truth["label"]) for row, truth in zip(found, rows, strict=True)]
    right = sum(one == other for one, other in pairs) / 78
    assert result.stderr == f"askance predict: 80 events predicted; right for {right:.1%} of 78 with a label.\n"
    result = here("predict", "labeled.csv", "--load", "python.model", cwd=folder)
    assert re.fullmatch(
        r"askance predict: 80 events predicted; right for [0-9.]+% of 78 with a label\.\n", result.stderr
    )
    result = here("predict", "labeled.csv", "--load", "python.model", "--label", "label", cwd=folder)
    assert "of 78 with a label" in result.stderr


def test_a_prediction_is_explained_as_python_does(folder: Path) -> None:
    result = here("predict", "new.jsonl", "--load", "cli.model", "--json", "--explain", "2", cwd=folder)
    found = [json.loads(line) for line in result.stdout.splitlines()]
    clf = askance.load(folder / "cli.model")
    events = [json.loads(line) for line in (folder / "new.jsonl").read_text().splitlines()]
    for row, event in zip(found, events, strict=True):
        assert [tuple(reason) for reason in row["why"]] == clf.explain(event)[:2]
    rows = table(here("predict", "new.csv", "--load", "cli.model", "--explain", cwd=folder).stdout)
    assert [row["why"].split(" ")[0] for row in rows] == [row["why"][0][0] for row in found]


@pytest.mark.parametrize("how", ["libsvm", "dense.npz", "sparse.npz"])
def test_numbered_features_are_scaled_as_if_each_event_came_next(tmp_path: Path, how: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)).round(3) * (rng.random((200, 4)) < 0.7)
    X[X[:, 0] == 0.0, 0] = 0.5  # a line without label and features is none
    y = (X[:, 0] + X[:, 1] > 0).astype(int)

    def save(name: str, rows: slice, with_labels: bool) -> None:
        part, labels = X[rows], y[rows]
        if how == "libsvm":
            lines = [" ".join(f"{c + 1}:{v}" for c, v in enumerate(row) if v) for row in part.tolist()]
            begin = [f"{label} " if with_labels else "" for label in labels.tolist()]
            (tmp_path / name).write_text("".join(f"{a}{b}\n" for a, b in zip(begin, lines, strict=True)))
            return
        arrays: dict[str, Any] = {"X": part}
        if how == "sparse.npz":
            from scipy.sparse import csr_matrix

            M = csr_matrix(part)
            arrays = {"data": M.data, "indices": M.indices, "indptr": M.indptr, "shape": np.array(M.shape)}
        np.savez(tmp_path / name, **arrays, **({"y": labels} if with_labels else {}))

    suffix = "libsvm" if how == "libsvm" else "npz"
    save(f"old.{suffix}", slice(0, 150), True)
    save(f"new.{suffix}", slice(150, 200), False)
    save(f"labeled.{suffix}", slice(150, 200), True)
    here("run", f"old.{suffix}", "-a", "PAA-I", "--save", "m.model", cwd=tmp_path)
    result = here("predict", f"new.{suffix}", "--load", "m.model", "--explain", cwd=tmp_path)
    assert result.stderr == "askance predict: 50 events predicted.\n"
    again = here("predict", f"labeled.{suffix}", "--load", "m.model", "--explain", cwd=tmp_path)
    assert again.stdout == result.stdout
    assert "of 50 with a label" in again.stderr
    for k, row in enumerate(table(result.stdout)[:5]):
        save(f"one.{suffix}", slice(150 + k, 151 + k), True)
        here("run", f"one.{suffix}", "--load", "m.model", "--trace", "trace.csv", cwd=tmp_path)
        assert table((tmp_path / "trace.csv").read_text())[0]["margin"] == row["margin"]


def test_ids_are_told_and_bad_lines_left_out_if_that_is_wanted(folder: Path) -> None:
    rows = [{"id": f"m{k}", **row} for k, row in enumerate(mails(30, seed=3))]
    rows[7]["size"] = "many"
    write(folder / "bad.csv", rows)
    said = complaint("predict", "bad.csv", "--load", "cli.model", cwd=folder)
    assert said.startswith("askance predict: line 9 of 'bad.csv', column 2 ('size'): ")
    assert "--skip-bad-lines" in said
    result = here("predict", "bad.csv", "--load", "cli.model", "--skip-bad-lines", cwd=folder)
    assert [row["id"] for row in table(result.stdout)] == [f"m{k}" for k in range(30) if k != 7]
    assert "29 events predicted" in result.stderr
    assert "1 line could not be read and was left out" in result.stderr


def test_a_file_is_written_whole_or_not_at_all(folder: Path) -> None:
    result = here("predict", "new.csv", "--load", "cli.model", "--output", "out.jsonl", cwd=folder)
    assert (result.returncode, result.stdout) == (0, "")
    assert len((folder / "out.jsonl").read_text().splitlines()) == 80
    write(folder / "wrong.csv", [*mails(20), mails(1)[0] | {"size": "many"}])
    complaint("predict", "wrong.csv", "--load", "cli.model", "--output", "none.csv", cwd=folder)
    assert not (folder / "none.csv").exists()


def test_what_cannot_be_predicted_is_said_in_one_sentence(folder: Path) -> None:
    write(folder / "other.csv", [{"size": 1.0, "weather": "fine"}] * 3)
    write(folder / "other.jsonl", [{"weather": "fine"}] * 3)
    (folder / "head.csv").write_text("size,sender,text,sent\n")
    (folder / "rows.libsvm").write_text("1:1\n2:1\n")
    askance.make("PAA-I").fit(np.eye(4), [0, 1, 0, 1]).save(folder / "arrays.model")
    for name, model, sentence in (
        ("other.csv", "cli.model", "'other.csv' does not have the fields sender, text, sent, which the model learned"),
        ("other.jsonl", "cli.model", "the first rows of 'other.jsonl' have the fields weather, none of which is a"),
        ("head.csv", "cli.model", "'head.csv' has no events."),
        ("rows.libsvm", "cli.model", "the model was trained on 'table' data, but 'rows.libsvm' is libsvm."),
        ("new.csv", "arrays.model", "'arrays.model' holds a classifier, but not how events become its columns"),
        ("new.csv", "no.model", "cannot read the model 'no.model'"),
    ):
        assert complaint("predict", name, "--load", model, cwd=folder).startswith(f"askance predict: {sentence}")


def test_what_counts_as_missing_goes_with_the_model(tmp_path: Path) -> None:
    rows = [{**row, "size": row["size"] if row["size"] is not None else -999} for row in mails(300)]
    write(tmp_path / "odd.csv", rows)
    write(tmp_path / "plain.csv", mails(300))
    run = ("run", "odd.csv", "-a", "SOAL-diag", "--na-values", "-999,unknown", "--save", "odd.model")
    assert here(*run, cwd=tmp_path).returncode == 0
    assert here("run", "plain.csv", "-a", "SOAL-diag", "--save", "plain.model", cwd=tmp_path).returncode == 0
    predicted = here("predict", "plain.csv", "--load", "plain.model", cwd=tmp_path).stdout
    assert here("predict", "odd.csv", "--load", "odd.model", cwd=tmp_path).stdout == predicted
    told_now = here("predict", "odd.csv", "--load", "plain.model", "--na-values", "-999", cwd=tmp_path)
    assert told_now.stdout == predicted
