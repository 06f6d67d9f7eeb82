"""``askance run`` as a user meets it."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import signal
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.here import complaint, here
from tests.cli.test_command_line import heed_ctrl_c, in_a_terminal
from tests.patience import PATIENCE, wait_until

import askance
from askance.data import open_stream
from askance.evaluate import metrics

ROWS = 3_000


def run(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """``askance run``, in a process of its own where it matters."""
    if not options.keys() - {"cwd"}:
        return here("run", *words, **options)
    return subprocess.run(
        [sys.executable, "-m", "askance", "run", *words], capture_output=True, text=True, timeout=PATIENCE, **options
    )


def found(*words: str, **options: Any) -> dict[str, Any]:
    """The result of a run as JSON."""
    result = run(*words, "--json", **options)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


def mail(n: int, seed: int = 0) -> list[str]:
    """Lines of a table with a number, a category and a text."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        is_spam = rng.random() < 0.3
        size = rng.normal(1500 if is_spam else 900, 300)
        words = rng.choice(
            ["win", "prize", "now", "free", "deal"] if is_spam else ["lunch", "friday", "report", "plan"], 4
        )
        sender = rng.choice(["shop", "bank"] if is_spam else ["friend", "work", "shop"])
        lines.append(f"{size:.1f},{sender},{' '.join(words)} {rng.integers(99)},{'spam' if is_spam else 'ham'}")
    return lines


def write(path: Path, lines: list[str], head: str = "size,sender,text,label") -> str:
    path.write_text("\n".join([head, *lines] if head else lines) + "\n")
    return str(path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return Path(write(tmp_path / "mail.csv", mail(ROWS)))


# What comes out


def test_a_closing_table_says_what_was_done_and_what_it_bought(file: Path) -> None:
    result = run(str(file))
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""  # no bar where nobody looks
    assert "mail.csv: 3,000 events" in result.stdout
    assert "ham, spam" in result.stdout
    said = " ".join(result.stdout.split())
    assert "auto (objective=balanced), about 5% of the events, at most 40 labels ahead at the start" in said
    assert "1 number standardised by running statistics; 1 text hashed, to unit length; 1 category hashed" in said
    assert "labels bought" in said
    course = r"accuracy [\d.]+%; always .*% recall ham [\d.]+%, spam [\d.]+% accuracy over time"
    assert re.search(rf"labels bought [^%]*% of the events\) balanced accuracy [\d.]+% {course}", said)
    again = run(str(file), "-a", "AUTO").stdout
    assert again.split("\ntime ")[0] == result.stdout.split("\ntime ")[0]


def test_of_many_classes_the_recall_of_the_weakest_is_shown(tmp_path: Path) -> None:
    rows = [f"{k},{-k},c{k:02}" for k in range(12)] * 40
    path = write(tmp_path / "many.csv", rows, "a,b,label")
    recalls = found(path, "-a", "MPAA-I")["recalls"]
    assert list(recalls) == [f"c{k:02}" for k in range(12)]
    weakest = sorted(recalls, key=recalls.__getitem__)[0]
    said = " ".join(run(path, "-a", "MPAA-I").stdout.split())
    assert re.search(rf"recall the weakest of 12 classes: .*{weakest} [\d.]+%", said)


def test_json_equals_the_library(file: Path) -> None:
    shown = found(str(file), "-a", "PAA-I:C=0.5", "--set", "delta=2", "--seed", "7")
    clf = askance.make("PAA-I", C=0.5, delta=2, intercept=True, random_state=7)
    traces = [clf.run(batch.X, batch.y) for batch in open_stream(file)]
    assert shown["labels"] == sum(int(trace.asked.sum()) for trace in traces)
    assert shown["mistakes"] == sum(int((trace.predicted != trace.truth).sum()) for trace in traces)
    assert shown["algorithm"] == "PAA-I"
    assert shown["parameters"] == {"C": 0.5, "delta": 2}
    assert shown["classes"] == ["ham", "spam"]
    assert shown["f1"] == pytest.approx(traces[0].summary()["f1"])
    assert shown["auc"] == pytest.approx(traces[0].summary()["auc"])
    assert (shown["alpha_p"], shown["c_p"]) == (0.5, 0.9)
    small = found(str(file), "-a", "paa-i")
    assert (small["algorithm"], small["parameters"]) == ("PAA-I", {"C": 1.0, "delta": 1.0})


def test_auto_says_of_itself_who_leads_and_how_good_it_is(file: Path) -> None:
    result = run(str(file), "-a", "auto", "--rate", "0.05")
    assert result.returncode == 0, result.stderr
    said = " ".join(result.stdout.split())
    assert "auto (objective=balanced), about 5% of the events, at most 40 labels ahead at the start" in said
    assert "of 12 are heard; " in said
    assert re.search(r"by its labels balanced accuracy about \d+\.\d+%, with 95% confidence", said)
    assert "labels went to" in said
    assert "leads 12 learners" in found(str(file), "-a", "auto:objective=f1", "--budget", "100")["description"]
    assert "description" not in found(str(file), "-a", "PAA-I")


def test_auto_gets_its_objective_and_costs_from_the_command_line(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(3_000) < 0.2).astype(int)
    np.savez(tmp_path / "events.npz", X=rng.normal(size=(3_000, 4)) + y[:, None], y=y)
    words = [str(tmp_path / "events.npz"), "-a", "auto", "--rate", "0.05", "--seed", "1"]
    by_cost, by_accuracy = found(*words, "--costs", "fn=20,fp=1"), found(*words, "--objective", "accuracy")
    assert by_cost["parameters"] == {"objective": "cost", "costs": {"fn": 20.0, "fp": 1.0}}
    assert by_accuracy["parameters"] == {"objective": "accuracy"}
    assert by_cost["recall"] > by_accuracy["recall"] + 0.1
    assert by_accuracy["accuracy"] > by_cost["accuracy"]
    other = found(*words, "--costs", "fn=20,fp=1", "--positive", "0")  # the costs are about the class that is named
    assert other["recall"] > 0.9 > found(*words, "--costs", "fn=1,fp=20", "--positive", "0")["recall"]
    assert "is about the second class" in run(*words, "--objective", "f1", "--positive", "0").stderr
    said = " ".join(run(*words, "--costs", "fn=20,fp=1").stdout.split())
    assert "auto (objective=cost, fn=20, fp=1)" in said
    assert re.search(r"of the events\) cost of mistakes [\d,.]+, .* accuracy", said)  # what is optimized comes first
    said = " ".join(run(*words, "--objective", "accuracy").stdout.split())
    assert re.search(r"of the events\) accuracy .* by its labels accuracy", said)
    said = " ".join(run(*words, "--objective", "f1").stdout.split())
    assert re.search(r"of the events\) F1, class 1 .* by its labels F1", said)


def test_costs_of_two_kinds_are_summed(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(1_000) < 0.2).astype(int)
    np.savez(tmp_path / "events.npz", X=rng.normal(size=(1_000, 4)) + y[:, None], y=y)
    words = [str(tmp_path / "events.npz"), "--rate", "0.1", "--seed", "1", "--costs", "fn=20,fp=2"]
    for positive in ("1", "0"):
        shown = found(*words, "--positive", positive)
        missed = (1 - shown["recall"]) * (y == int(positive)).sum()
        alarms = shown["mistakes"] - missed
        assert shown["cost"] == pytest.approx(10 * missed + alarms)  # in units of the cheaper mistake


def test_costs_of_pairs_of_classes_decide_and_are_summed(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 2_000)
    X = rng.normal(size=(2_000, 3)) + np.eye(3)[y]
    np.savez(tmp_path / "events.npz", X=X, y=np.array(["fraud", "ok", "spam"])[y])
    words = [str(tmp_path / "events.npz"), "-a", "D-ADA", "--rate", "0.2"]
    blind, costly = found(*words), found(*words, "--costs", "fraud:ok=20,fraud:spam=20")
    assert costly["recalls"]["fraud"] > blind["recalls"]["fraud"] + 0.2
    assert costly["mistakes"] < costly["cost"]
    assert "cost" not in blind
    shown = " ".join(run(*words, "--costs", "fraud:ok=20").stdout.split())
    assert "fraud:ok=20" in shown
    assert "cost of mistakes" in shown


def test_auto_with_raw_is_the_library_s(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(5.0, 3.0, size=(500, 3)), np.arange(500) % 2
    np.savez(tmp_path / "numbers.npz", X=X, y=y)
    shown = found(str(tmp_path / "numbers.npz"), "-a", "auto", "--rate", "0.1", "--raw")
    trace = askance.make("auto", budget=0.1, classes=[0, 1], random_state=0).run(X, y)
    assert (shown["labels"], shown["mistakes"]) == (int(trace.asked.sum()), int((trace.predicted != y).sum()))
    assert shown["preparation"] == "3 numbers not scaled"


def test_raw_is_the_paper_pure(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    y = np.where(rng.random(500) < 0.5, 1, -1)
    X = 5.0 + rng.normal(size=(500, 3)) + y[:, None]
    np.savez(tmp_path / "events.npz", X=X, y=y)
    shown = found(str(tmp_path / "events.npz"), "-a", "PAA-I", "--raw")
    trace = askance.make("PAA-I", random_state=0).run(X, y)
    assert (shown["labels"], shown["mistakes"]) == (int(trace.asked.sum()), int((trace.predicted != y).sum()))
    assert shown["preparation"] == "3 numbers not scaled"
    scaled = found(str(tmp_path / "events.npz"), "-a", "PAA-I", "--scale", "l2", "--no-intercept")
    assert scaled["preparation"] == "3 numbers not scaled; events to unit length"


def test_budget_and_rate_are_kept_and_explore_is_counted(file: Path) -> None:
    assert found(str(file), "-a", "PA", "--budget", "50")["labels"] == 50
    shown = found(str(file), "--rate", "0.1", "--explore", "0.03")
    assert 200 < shown["labels"] <= 300 + 40
    assert 0 < shown["audits"] < shown["labels"]
    both = found(str(file), "--rate", "0.1", "--budget", "60")
    assert both["labels"] == 60


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_labels_a_day_are_counted_by_the_time_in_a_field(tmp_path: Path, kind: str) -> None:
    rows = [(n, f"2026-05-{1 + n // 500:02}T{n % 500 // 21:02}:00:00Z", "ab"[n % 2]) for n in range(2_000)]
    path = tmp_path / f"events.{kind}"
    if kind == "csv":
        write(path, [f"{x},{at},{label}" for x, at, label in rows], "x,at,label")
    elif kind == "jsonl":
        write(path, [json.dumps({"x": x, "at": at, "label": label}) for x, at, label in rows], "")
    else:
        parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow, the extra 'parquet'")
        arrow = pytest.importorskip("pyarrow")
        columns = dict(zip(("x", "at", "label"), map(list, zip(*rows, strict=True)), strict=True))
        columns["at"] = [datetime.fromisoformat(at) for at in columns["at"]]
        parquet.write_table(arrow.table(columns), path)
    trace = tmp_path / "trace.npz"
    shown = found(str(path), "-a", "PA", "--per-day", "20", "--time-field", "at", "--trace", str(trace))
    asked = read_trace(trace)["asked"]
    for day in range(4):
        assert 10 <= asked[500 * day : 500 * (day + 1)].sum() <= 20
    assert shown["preparation"] == "1 number standardised by running statistics; intercept"


def test_the_positive_class_can_be_named(file: Path) -> None:
    spam, ham = found(str(file)), found(str(file), "--positive", "ham")
    assert (spam["positive"], ham["positive"]) == ("spam", "ham")
    assert spam["sensitivity"] == ham["specificity"]


def test_many_classes_and_the_name_of_a_field(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [f"{k + rng.normal() / 5:.3f},{(k * k) % 5 + rng.normal() / 5:.3f},c{k}" for k in rng.integers(0, 4, 800)]
    shown = found(write(tmp_path / "x.csv", rows, "a,b,kind"), "--label", "kind", "--rate", "0.3")
    assert shown["algorithm"] == "auto"
    assert shown["classes"] == ["c0", "c1", "c2", "c3"]
    assert shown["positive"] is None
    assert shown["accuracy"] > 0.6


def test_standard_input_and_a_file_give_the_same(file: Path) -> None:
    with file.open("rb") as source:
        piped = found("-", stdin=source)
    from_file = found(str(file))
    for name in ("labels", "mistakes", "course"):
        assert piped[name] == from_file[name]
    assert piped["source"] == "-"


def test_a_class_that_turns_up_late_is_not_missed(tmp_path: Path) -> None:
    rows = [f"{n % 7},{n % 3},{'a' if n % 2 else 'b'}" for n in range(9_000)] + ["1,1,c"] * 20
    path = write(tmp_path / "late.csv", rows, "x,z,label")
    shown = found(path)
    assert shown["classes"] == ["a", "b", "c"]
    assert shown["events"] == 9_020
    assert "A class turned up late" in run(path).stdout
    assert found(path, "--classes", "a,b,c")["mistakes"] == shown["mistakes"]
    with open(path, "rb") as source:
        piped = run("-", stdin=source)
    assert piped.returncode == 2
    assert (
        "event 9,001 of '-' has the label 'c', which is not one of the classes a, b (name all classes" in piped.stderr
    )


def test_bad_lines_and_missing_labels_are_counted(tmp_path: Path) -> None:
    rows = ["1,2,a", "2,1,b"] * 300
    rows[100], rows[200] = "what,2,a", "1,2,"
    path = write(tmp_path / "x.csv", rows, "p,q,label")
    said = run(path).stderr
    assert "line 102 of 'x.csv', column 1 ('p'): 'what' is not a number. --skip-bad-lines leaves such" in said
    shown = found(path, "--skip-bad-lines")
    assert (shown["bad_lines"], shown["unlabeled"], shown["events"]) == (1, 1, 598)
    said = run(path, "--skip-bad-lines").stdout
    assert "1 line could not be read and was left out; the first: line 102" in said
    assert "1 more event, predicted but never asked" in said


def test_the_number_of_events_without_a_label_is_told_and_an_estimate_that_is_too_wide_is_not_given(
    tmp_path: Path,
) -> None:
    rows = [f"{n % 7},{n % 5},{('nan', 'a', 'b')[n % 3]}" for n in range(90)]
    said = " ".join(run(write(tmp_path / "x.csv", rows, "p,q,label"), "-a", "auto", "--budget", "6").stdout.split())
    assert "without a label 30 more events, predicted but never asked" in said
    assert "classes a, b" in said
    assert re.search(r"by its labels balanced accuracy: too early to say \(.*%\); .*--explore 0.01", said)


def test_a_model_can_play_a_file_in_which_no_event_has_a_label(tmp_path: Path) -> None:
    model = str(tmp_path / "x.model")
    rows = [f"{n % 7},{n % 5},{'ab'[n % 2]}" for n in range(60)]
    run(write(tmp_path / "x.csv", rows, "p,q,label"), "-a", "PAA-I", "--save", model)
    said = " ".join(run(write(tmp_path / "y.csv", ["1,2,", "2,3,"], "p,q,label"), "--load", model).stdout.split())
    assert "y.csv: 0 events, 2 columns without a label 2 more events" in said
    assert "nan" not in said
    assert "'y.csv' has no label: 'q' is a field that the model learns from; 'askance predict' takes such" in (
        complaint("run", write(tmp_path / "y.csv", ["1,2", "2,3"], "p,q"), "--load", model, cwd=tmp_path)
    )


def test_bad_lines_are_kept_and_played_again_where_the_model_can_take_them(tmp_path: Path) -> None:
    rows = [f"{k % 7},2,{'ab'[k % 2]}" for k in range(1200)] + [f"w{k % 3},2,a" for k in range(30)] + ["1,2"]
    path = write(tmp_path / "x.csv", rows, "p,q,label")
    assert "--quarantine FILE.jsonl keeps them in a file" in run(path).stderr
    bad, model = str(tmp_path / "bad.jsonl"), str(tmp_path / "x.model")
    shown = found(path, "--quarantine", bad, "--save", model)
    assert (shown["bad_lines"], shown["events"]) == (11, 1220)
    assert shown["widened"] == [{"field": "p", "before": "number", "now": "category"}]
    head, *lines = [json.loads(line) for line in Path(bad).read_text().splitlines()]
    assert (head["format"], head["names"], len(lines)) == ("csv", "p,q,label", 11)
    assert lines[0] == {
        "file": "x.csv", "line": 1202, "field": "p", "reason": "'w0' is not a number.", "raw": "w0,2,a",
    }  # fmt: skip
    again = found(bad, "--load", model, "--skip-bad-lines")
    assert (again["events"], again["bad_lines"], again["model"]["events"]) == (10, 1, 1230)
    assert "The field 'p' was a number at first and became a category." in run(path, "--quarantine", bad).stdout
    assert "--quarantine would overwrite" in run(path, "--quarantine", path).stderr


# Curves


def test_a_curve_is_that_of_the_trace(file: Path, tmp_path: Path) -> None:
    curve, trace = tmp_path / "curve.csv", tmp_path / "trace.npz"
    words = ["--over", "labels", "--metric", "f1", "--window", "300", "--rate", "0.1"]
    shown = found(str(file), "--curve", str(curve), "--trace", str(trace), *words)
    columns = read_trace(trace)
    drawn = metrics.curve(
        columns["truth"], columns["predicted"], columns["asked"],
        classes=["ham", "spam"], metric="f1", window=300, over="labels",
    )  # fmt: skip
    head, *rows = csv.reader(curve.open())
    assert head == ["events", "labels", "f1"]
    assert [[int(a), int(b), float(c)] for a, b, c in rows] == [
        list(row) for row in zip(drawn.events.tolist(), drawn.labels.tolist(), drawn.values.tolist(), strict=True)
    ]
    assert shown["curve"]["labels"] == drawn.labels.tolist()
    assert shown["curve"]["over"] == "labels"


def test_curves_can_be_looked_at(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib, the extra 'plots'")
    names = [str(tmp_path / f"curve.{suffix}") for suffix in ("png", "svg", "json")]
    result = run(str(file), *(word for name in names for word in ("--curve", name)))
    assert result.returncode == 0, result.stderr
    assert Path(names[0]).read_bytes().startswith(b"\x89PNG")
    assert "events" in Path(names[1]).read_text()
    assert json.loads(Path(names[2]).read_text())["metric"] == "balanced_accuracy"  # what auto optimizes
    run(str(file), "-a", "PAA-I", "--curve", names[2])
    assert json.loads(Path(names[2]).read_text())["metric"] == "accuracy"


def test_the_weights_of_sum_and_cost_can_be_given(file: Path) -> None:
    plain, other = found(str(file)), found(str(file), "--alpha-p", "0.8", "--c-p", "0.5")
    assert (plain["alpha_p"], plain["c_p"], other["alpha_p"], other["c_p"]) == (0.5, 0.9, 0.8, 0.5)
    assert other["sum"] == pytest.approx(0.8 * other["sensitivity"] + 0.2 * other["specificity"])
    assert other["cost"] == pytest.approx(0.5 * other["mistakes"])
    said = " ".join(run(str(file), "--c-p", "0.5").stdout.split())
    assert "0.5 for a missed positive, 0.5 for a false alarm" in said
    assert "sensitivity weighs" not in said


# Traces


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "jsonl", "npz", "parquet"])
def test_a_trace_has_every_decision(file: Path, tmp_path: Path, suffix: str) -> None:
    if suffix == "parquet":
        pytest.importorskip("pyarrow", reason="needs pyarrow, the extra 'parquet'")
    path = tmp_path / f"trace.{suffix}"
    shown = found(str(file), "--trace", str(path), "--rate", "0.2")
    columns = read_trace(path)
    assert list(columns) == ["event", "line", "truth", "predicted", "margin", "probability", "asked", "audit"]
    assert columns["event"].tolist() == list(range(1, ROWS + 1))
    assert columns["line"].astype(int).tolist() == list(range(2, ROWS + 2))
    assert int(columns["asked"].sum()) == shown["labels"]
    assert int((columns["truth"] != columns["predicted"]).sum()) == shown["mistakes"]
    assert set(columns["truth"].tolist()) == {"ham", "spam"}
    assert sorted(name.name for name in tmp_path.iterdir()) == sorted(["mail.csv", path.name])  # nothing left over


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "npz", "parquet"])
def test_a_trace_has_the_id_of_every_event_and_the_file_of_a_folder(tmp_path: Path, suffix: str) -> None:
    if suffix == "parquet":
        pytest.importorskip("pyarrow", reason="needs pyarrow, the extra 'parquet'")
    folder = tmp_path / "days"
    folder.mkdir()
    write(folder / "1.csv", ["a,1,x", "b,2,y", "no label,3,"], "id,size,label")
    write(folder / "2.csv", ["a much longer id,1,x"], "id,size,label")
    path = tmp_path / f"trace.{suffix}"
    found(str(folder), "--trace", str(path))
    columns = read_trace(path)
    assert list(columns)[:4] == ["event", "file", "line", "id"]
    assert columns["file"].tolist() == ["1.csv", "1.csv", "1.csv", "2.csv"]
    assert columns["line"].astype(int).tolist() == [2, 3, 4, 2]
    assert columns["id"].tolist() == ["a", "b", "no label", "a much longer id"]
    assert columns["event"].astype(int).tolist() == [1, 2, 0, 3]
    assert [label or None for label in columns["truth"].tolist()] == ["x", "y", None, "x"]


def read_trace(path: Path) -> dict[str, np.ndarray]:
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files if name != "classes"}
    if path.suffix == ".parquet":
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(path)
        return {name: np.array(table[name].to_pylist()) for name in table.column_names}
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}
    import gzip

    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as file:
        head, *rows = csv.reader(file)
    columns = {name: np.array([row[k] for row in rows]) for k, name in enumerate(head)}
    numbers = {name: columns[name].astype(float) for name in ("event", "margin", "probability", "asked", "audit")}
    return columns | numbers


def test_a_run_that_fails_leaves_the_old_trace_and_model(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", ["1,2,a", "2,1,b"] * 9_000 + ["what,1,a"], "p,q,label")
    trace, model = tmp_path / "t.csv", tmp_path / "m.model"
    trace.write_text("old")
    model.write_text("old")
    result = run(path, "--trace", str(trace), "--save", str(model))
    assert result.returncode == 2
    assert (trace.read_text(), model.read_text()) == ("old", "old")
    assert len(list(tmp_path.iterdir())) == 3


# Models


@pytest.mark.parametrize(
    ("kind", "algorithm"),
    [
        ("csv", ["--rate", "0.1", "--explore", "0.02"]),
        ("jsonl", ["-a", "SOAL-diag:delta=0.1", "--budget", "250"]),
        ("libsvm", ["-a", "UOAL-entropy", "--rate", "0.1"]),
    ],
)
def test_two_files_in_turn_equal_both_as_one(tmp_path: Path, kind: str, algorithm: list[str]) -> None:
    rows, head = mail(ROWS), "size,sender,text,label"
    if kind == "jsonl":
        names = head.split(",")
        rows, head = [json.dumps(dict(zip(names, row.split(","), strict=True))) for row in rows], ""
    if kind == "libsvm":  # the second half brings new columns
        rng, head = np.random.default_rng(0), ""
        rows = [
            f"{n % 2} 1:{n % 2 + rng.normal():.3f} 2:{rng.normal():.3f} {3 + n // 10}:{rng.random():.3f}"
            for n in range(ROWS)
        ]
    paths = {
        name: write(tmp_path / f"{name}.{kind}", part, head)
        for name, part in (("a", rows[:2_000]), ("b", rows[2_000:]), ("ab", rows))
    }
    model = {name: str(tmp_path / f"{name}.model") for name in paths}
    trace = {name: tmp_path / f"{name}.trace.csv" for name in paths}
    first = found(paths["a"], *algorithm, "--save", model["a"], "--trace", str(trace["a"]))
    second = found(paths["b"], "--load", model["a"], "--save", model["b"], "--trace", str(trace["b"]))
    whole = found(paths["ab"], *algorithm, "--save", model["ab"], "--trace", str(trace["ab"]))
    assert first["mistakes"] + second["mistakes"] == whole["mistakes"]
    assert second["model"] == whole["model"] == {"events": ROWS, "labels": whole["labels"]}
    parts = {name: read_trace(path) for name, path in trace.items()}
    for name, column in parts["ab"].items():
        if name != "line":
            assert column.tolist() == [*parts["a"][name].tolist(), *parts["b"][name].tolist()]
    assert np.array_equal(askance.load(model["b"]).coef_, askance.load(model["ab"]).coef_)


def test_a_saved_model_is_one_the_library_loads(file: Path, tmp_path: Path) -> None:
    shown = found(str(file), "--save", str(tmp_path / "m.model"))
    clf = askance.load(tmp_path / "m.model")
    assert clf.events_seen_ == ROWS
    assert clf.labels_asked_ == shown["labels"]
    clf.save(tmp_path / "bare.model")
    again = found(str(file), "--load", str(tmp_path / "bare.model"))  # without what the stream was
    assert again["model"]["events"] == 2 * ROWS
    whole = found(str(file), "--load", str(tmp_path / "m.model"))
    assert [again[name] for name in ("model", "mistakes")] == [whole[name] for name in ("model", "mistakes")]


# Slips


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere.csv"], "there is no file or folder 'nowhere.csv'"),
        (["nowhere"], "there is no file 'nowhere', and there is no data set 'nowhere'"),
        (["mail.csv", "-a", "PAX"], "there is no algorithm 'PAX'"),
        (["mail.csv", "-a", "PAA-I", "--set", "eta=1"], "PAA-I has no parameter 'eta'"),
        (
            ["mail.csv", "-a", "PAA-I:C=many"],
            "'C=many' is not understood; write a parameter and its value, such as C=0.1",
        ),
        (["mail.csv", "--label", "sendr"], "Did you mean 'sender'?"),
        (["mail.csv", "--label", "nothing"], "has no field 'nothing' to be the label; there are: size, sender, text"),
        (["mail.csv", "--field", "size"], "write a field and its kind, such as zip=category"),
        (["mail.csv", "--field", "size=letters"], "must be one of number, category, text, date, ignore, time"),
        (["mail.csv", "--positive", "egg"], "'mail.csv' has no class 'egg'; its classes are ham, spam"),
        (["one.csv"], "'one.csv' has only one class, 'a', in all its events"),
        (["empty.csv"], "'empty.csv' has no events"),
        (
            ["mail.csv", "--rate", "20"],
            "must be a share of the events, such as 5% or 0.05, got '20'; for 20 of 100 events type 20%",
        ),
        (["mail.csv", "--per-day", "5"], "--per-day needs the time of each event: name its field with --time-field"),
        (["mail.csv", "--per-day", "5", "--time-field", "text"], "column 3 ('text')"),
        (["mail.csv", "--budget", "-5"], "must be a whole number, 0 or more, or a share such as 2%, got '-5'"),
        (["mail.csv", "--budget", "1.5"], "must be a whole number, 0 or more, or a share such as 2%, got '1.5'"),
        (["mail.csv", "--classes", "ham"], "must be two labels or more"),
        (["mail.csv", "--curve", "t.xls"], "must end in .csv, .json, .png or .svg"),
        (["mail.csv", "--curve", "no/c.csv"], "there is no folder 'no' to write 'c.csv' to"),
        (["mail.csv", "--curve", "c.csv", "--metric", "beauty"], "there is no curve of 'beauty'; there are accuracy"),
        (["mail.csv", "--window", "9"], "--window is for a curve: name a file for it with --curve"),
        (["mail.csv", "--c-p", "9"], "must be a weight in [0, 1], such as 0.9, got '9'"),
        (
            ["mail.csv", "-a", "PA", "--objective", "f1"],
            "--objective is for auto, not for PA; leave one of the two out",
        ),
        (["mail.csv", "-a", "auto", "--costs", "9"], "must be costs above 0, such as fn=9,fp=1, or fraud:ok=9"),
        (["mail.csv", "-a", "D-ADA", "--costs", "fn=9,spam:ham=2"], "must be costs above 0, such as fn=9,fp=1"),
        (["mail.csv", "-a", "PA", "--costs", "fn=9,fp=1"], "--costs is for auto, D-ADA and D-AMD, not for PA"),
        (["mail.csv", "-a", "D-ADA", "--costs", "spam:good=2"], "costs name 'good', which is not one of the classes"),
        (["mail.csv", "--trace", "t.xls"], "must end in .csv, .jsonl (both also with .gz), .npz or .parquet"),
        (["mail.csv", "--trace", "no/t.csv"], "there is no folder 'no' to write 't.csv' to"),
        (["mail.csv", "--save", "no/m.model"], "there is no folder 'no' to write 'm.model' to"),
        (["mail.csv", "--load", "mail.csv"], "'mail.csv' is not an askance model"),
        (["mail.csv", "--load", "m", "-a", "PA"], "--algorithm cannot be changed with --load"),
        (["mail.csv", "--colour"], "'--colour' is not known here"),
    ],
)
def test_a_slip_gets_one_sentence_and_exit_code_2(file: Path, words: list[str], sentence: str) -> None:
    write(file.parent / "one.csv", ["1,a", "2,a"], "p,label")
    write(file.parent / "empty.csv", [], "p,label")
    assert sentence in complaint("run", *words, cwd=file.parent)


def test_a_slip_ends_the_process_with_2_and_without_a_traceback(file: Path) -> None:
    result = run("nowhere.csv", cwd=file.parent, env=os.environ)
    assert result.returncode == 2
    assert result.stderr == "askance run: there is no file or folder 'nowhere.csv'.\n"


def test_a_model_of_other_data_is_refused(file: Path, tmp_path: Path) -> None:
    found(str(file), "--save", str(tmp_path / "m.model"))
    other = write(tmp_path / "x.csv", ["1,2,ham", "2,1,spam"], "p,q,label")
    assert (
        "are not those the model was trained on: size, sender, text"
        in run(other, "--load", str(tmp_path / "m.model")).stderr
    )
    more = write(tmp_path / "y.csv", ["1,shop,win,egg"], "size,sender,text,label")
    result = run(more, "--load", str(tmp_path / "m.model"))
    assert "event 1 of 'y.csv' has the label 'egg', which is not one of the classes ham, spam" in result.stderr


def test_spent_labels_are_remarked_upon(file: Path) -> None:
    model = str(file.parent / "m.model")
    assert "labels were spent by event" in run(str(file), "-a", "PA", "--budget", "50", "--save", model).stdout
    again = run(str(file), "--load", model).stdout
    assert "All 50 labels were spent before this file; --budget with a larger number buys more." in again
    assert "by event 0" not in again
    assert "spent before" not in run(str(file), "--load", model, "--budget", "70").stdout


def test_a_share_as_budget_is_a_rate(file: Path) -> None:
    for words in (["-a", "soal_diag"], []):
        by_budget, by_rate = (found(str(file), *words, option, "0.03") for option in ("--budget", "--rate"))
        assert (by_budget["labels"], by_budget["mistakes"]) == (by_rate["labels"], by_rate["mistakes"])
    assert by_budget["algorithm"] == "auto"


# Size and screen


def test_labels_drawn_with_the_seed_of_the_command_are_told_of_in_a_sentence(tmp_path):
    y = np.random.default_rng(0).random(500) < 0.4
    values = np.random.default_rng(1).normal(size=500) + y
    rows = [f"{value:.3f},{'x' if label else 'z'}" for value, label in zip(values, y, strict=True)]
    path = write(tmp_path / "made.csv", rows, "a,label")
    told = run(path, "--rate", "0.1").stderr
    assert told.startswith("askance run: the labels depend on the random numbers that decide which events are asked")
    assert told.count("\n") == 1
    assert run(path, "--rate", "0.1", "--seed", "1").stderr == ""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of the memory from /proc")
@pytest.mark.parametrize("algorithm", ["PAA-I", pytest.param("auto", marks=pytest.mark.prove)])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, algorithm: str) -> None:
    sizes = {}
    for n in (20_000, 400_000):
        rng = np.random.default_rng(1)
        y = rng.random(n) < 0.4
        values = (rng.normal(size=(n, 2)) + y[:, None]).round(3).tolist()
        rows = [f"{a},{b},{'x' if t else 'z'}" for (a, b), t in zip(values, y.tolist(), strict=True)]
        path = write(tmp_path / f"{n}.csv", rows, "a,b,label")
        words = ["run", path, "--algorithm", algorithm, "--json", "--trace", f"{path}.npz"]
        command = f"import sys; from askance.cli import main; main({words!r})"
        command += "; sys.stderr.write(open('/proc/self/status').read().partition('VmHWM:')[2])"
        done = subprocess.run(
            [sys.executable, "-c", command], capture_output=True, text=True, timeout=PATIENCE, check=True
        )
        assert json.loads(done.stdout)["events"] == n
        sizes[n] = int(done.stderr.split()[0]) // 1024
    assert sizes[400_000] < sizes[20_000] + 30, sizes  # megabytes; the larger file alone is 6, its trace 17


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal")
def test_on_a_terminal_there_is_a_bar_with_speed_labels_and_accuracy(tmp_path: Path) -> None:
    path = write(tmp_path / "mail.csv", mail(200) * 50)
    process, output = in_a_terminal("run", path, columns=120)
    seen = b"".join(output).decode(errors="replace")
    assert process.wait(PATIENCE) == 0
    assert "playing" in seen
    assert "labels, accuracy" in seen
    assert "/s" in seen
    assert "auto" in seen


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal")
def test_the_bar_is_on_standard_error_so_that_json_stays_json(tmp_path: Path) -> None:
    import pty

    path = write(tmp_path / "mail.csv", mail(200) * 10)
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-m", "askance", "run", path, "--json"], stdout=subprocess.PIPE, stderr=theirs, text=True
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the terminal is gone when the command has ended
        while part := os.read(ours, 1 << 16):  # read as it comes: a terminal holds a few kilobytes only
            shown += part
    output, _ = done.communicate(timeout=PATIENCE)
    os.close(ours)
    assert b"playing" in shown
    assert json.loads(output)["events"] == 2_000


# Files that must not be lost, memory, words


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["mail.csv", "--trace", "mail.csv"], "--trace would overwrite 'mail.csv', which is the FILE that is read"),
        (["mail.csv", "--save", "./mail.csv"], "--save would overwrite 'mail.csv', which is the FILE that is read"),
        (["mail.csv", "--save", "x.csv", "--trace", "x.csv"], "--save and --trace are the same file, 'x.csv'"),
        (["days", "--trace", "days/1.csv"], "--trace would overwrite 'days/1.csv', which is in the folder 'days'"),
        (["-", "--trace", "mail.csv"], "--trace would overwrite 'mail.csv', which is the standard input"),
        (["mail.csv", "--load", "m.csv", "--trace", "m.csv"], "--trace would overwrite 'm.csv', which is the model"),
    ],
)
def test_no_output_destroys_an_input_or_another_output(file: Path, words: list[str], sentence: str) -> None:
    (file.parent / "days").mkdir()
    os.link(file, file.parent / "days" / "1.csv")
    before = file.read_bytes()
    with file.open() as standard_input:
        result = run(*words, cwd=file.parent, stdin=standard_input)
    assert result.returncode == 2
    assert sentence in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert file.read_bytes() == before
    assert not (file.parent / "x.csv").exists()


def test_more_features_than_the_memory_has_room_for(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="limits of memory are those of Unix")
    (tmp_path / "huge.libsvm").write_text("1 1:1\n-1 2147483645:1\n")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))

    result = run("huge.libsvm", cwd=tmp_path, preexec_fn=limit)
    assert result.returncode == 2
    assert "'huge.libsvm' has 2,147,483,645 features, more than the memory has room for" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_memory_that_ends_anywhere_is_one_sentence() -> None:
    program = (
        "import dataclasses, sys, numpy, askance.cli as cli\n"
        "greedy = dataclasses.replace(cli.all_commands()['run'], run=lambda options: numpy.zeros(2**57).size)\n"
        "cli.all_commands()['run'] = greedy\n"
        "sys.exit(cli.main(['run', 'x.csv']))\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert result.returncode == 2
    assert result.stderr.startswith("askance run: there is not enough memory (unable to allocate 1.00 EiB")
    assert len(result.stderr.strip().splitlines()) == 1


def test_advice_can_be_followed_on_the_command_line_as_in_python(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"size": 1, "y": 0}\n{"size": 2, "y": 1}\n' * 600 + '{"size": "big", "y": 1}\n')
    assert "'big' is not a number; the kind 'category' allows any value." in run("a.jsonl", cwd=tmp_path).stderr
    assert "the kind 'category' allows any value" in run("a.jsonl", "--skip-bad-lines", cwd=tmp_path).stdout
    assert (
        "askance.algorithms() lists all of them, as 'askance algorithms' does in a shell."
        in run("a.jsonl", "-a", "PAX", cwd=tmp_path).stderr
    )
    (tmp_path / "b.csv").write_text("a,y\n1,0\n")
    assert "name the format if they are all alike" in run(str(tmp_path)).stderr


def test_a_limit_per_day_is_said_in_words(tmp_path: Path) -> None:
    lines = [f'{{"at": {at * 600}, "size": {at % 7}, "y": {at % 2}}}' for at in range(300)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    result = run("a.jsonl", "--per-day", "5", "--time-field", "at", cwd=tmp_path)
    assert "(objective=balanced), at most 5 labels a day" in " ".join(result.stdout.split())


def test_a_quantity_is_not_taken_for_classes_unless_they_are_named(tmp_path: Path) -> None:
    numbers = [n / 8 for n in range(80)]
    (tmp_path / "a.csv").write_text("a,price\n" + "".join(f"{n},{n}\n" for n in numbers))
    result = run("a.csv", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr == (
        "askance run: the labels of 'a.csv' are 80 different numbers, such as 0.125, which look like a quantity rather "
        "than classes; is it the right field?\n"
    )
    classes = ",".join(map(str, numbers))
    assert len(found("a.csv", "--classes", classes, cwd=tmp_path)["classes"]) == 80


@pytest.mark.parametrize("kind", ["csv", "jsonl", "libsvm"])
def test_a_late_class_of_another_kind_is_not_missed(tmp_path: Path, kind: str) -> None:
    forms = {"csv": "{0},{1}", "jsonl": '{{"a": {0}, "label": {1}}}', "libsvm": "{1} 1:{0}"}
    word = '"new"' if kind == "jsonl" else "new"
    labels = [*(str(n % 2) for n in range(1_400)), "2.5", *(str(n % 2) for n in range(50)), *[word] * 30]
    rows = [forms[kind].format(n % 3, label) for n, label in enumerate(labels)]
    path = write(tmp_path / f"late.{kind}", rows, "a,label" if kind == "csv" else "")
    shown = found(path)
    assert shown["classes"] == ["0", "1", "2.5", "new"]
    assert shown["events"] == len(rows)
    numbers = write(tmp_path / f"numbers.{kind}", rows[:-30], "a,label" if kind == "csv" else "")
    assert found(numbers)["classes"] == [0.0, 1.0, 2.5]
    with open(path, "rb") as source:
        assert "name all classes if it is one" in run("-", stdin=source).stderr


def test_a_word_after_numbers_is_a_class_if_it_is_named(tmp_path: Path) -> None:
    rows = [f'{{"a": {n % 3}, "label": {n % 2}}}' for n in range(1100)]
    (tmp_path / "a.jsonl").write_text("\n".join([*rows, '{"a": 1, "label": "unknown"}']) + "\n")
    assert found("a.jsonl", "--classes", "0,1,unknown", cwd=tmp_path)["classes"] == ["0", "1", "unknown"]


# Signals and full disks


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_a_run_in_one_sentence_and_leaves_nothing_behind(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    command = [sys.executable, "-m", "askance", "run", "-", "--format", "csv", "--trace", "t.csv", "--save", "m.model"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, preexec_fn=heed_ctrl_c
    ) as process:
        assert process.stdin is not None
        process.stdin.write("\n".join(["size,sender,text,label", *mail(1_500)]) + "\n")
        process.stdin.flush()
        wait_until(lambda: list(tmp_path.iterdir()), "the trace")  # it is begun, and more lines are waited for
        process.send_signal(number)
        assert process.wait(PATIENCE) == code
        assert process.stderr is not None
        assert process.stderr.read() == "askance run: stopped before the end; no file was left half written.\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["--trace=t.csv", "--trace=t.csv.gz", "--trace=t.npz", "--save=m.model"])
def test_a_full_disk_is_told_with_the_name_of_the_file(file: Path, option: str) -> None:
    resource = pytest.importorskip("resource", reason="limits of files are those of Unix")

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))

    result = run(str(file), option, cwd=file.parent, preexec_fn=limit)
    assert result.returncode == 2
    name, what = option.rpartition("=")[2], "trace" if "trace" in option else "model"
    assert f"cannot write the {what} '{name}': File too large." in result.stderr
    assert [path.name for path in file.parent.iterdir()] == ["mail.csv"]
