"""``askance compare`` as a user meets it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.cli.here import complaint, here
from tests.cli.test_command_line import in_a_terminal
from tests.patience import PATIENCE

QUICK = ["--permutations", "3", "--search-permutations", "1", "--ratios", "0.05,0.2", "--workers", "1"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(1_500) < 0.4, 1, -1)
    X = rng.normal(size=(1_500, 5)) + 0.8 * y[:, None]
    np.savez(tmp_path / "events.npz", X=X, y=y)
    return tmp_path / "events.npz"


def run(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return here("compare", *words, cwd=cwd)


def test_a_table_of_means_and_one_of_ranks(file: Path, tmp_path: Path) -> None:
    result = run(str(file), "-a", "PAA-I:C=0.1", "-a", "RPA-I", "-a", "SOL-diag:eta=1,gamma=1", *QUICK, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "events: 1,500 events, 6 features, 2 classes" in result.stdout
    assert "5 %" in result.stdout
    assert "all labels" in result.stdout
    assert "mean rank" in result.stdout
    assert "=: not significantly different, paired t-test p >= 0.05." in result.stdout
    assert "*" in result.stdout  # the best is marked even where nothing is bold
    assert result.stderr == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["events.npz"]  # nothing that was not asked for


def test_json_has_everything(file: Path) -> None:
    result = run(str(file), "-a", "PAA-I", "-a", "RPA-I", "--grid", "none", *QUICK, "--json")
    found = json.loads(result.stdout)
    assert found["settings"]["preparation"] == "standard + intercept"
    assert len(found["records"]) == 2 * 2 * 3  # RPA-I, named already, is no twin that plays again
    for line in found["lines"]:
        assert line["reached"]
        assert line["ratio"] == pytest.approx(line["target"], rel=0.05)
    assert {row["candidate"] for row in found["ranking"]} == {"PAA-I", "RPA-I"}


def test_auto_takes_part_at_the_rate_of_the_others(file: Path, tmp_path: Path) -> None:
    words = ["-a", "auto", "-a", "auto:objective=accuracy", "-a", "RPA-I", "--grid", "none", "--no-twins", *QUICK]
    result = run(str(file), *words, "--report", str(tmp_path / "r.html"), "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    for line in found["lines"]:
        assert line["reached"]
        assert line["ratio"] == pytest.approx(line["target"], rel=0.05)
    rates = {c["candidate"]: c["parameters"] for c in found["choices"] if c["target"] == 0.2}
    assert 0.15 < rates["auto"]["rate"] < 0.25
    assert rates["auto:objective=accuracy"]["objective"] == "accuracy"
    assert "objective = accuracy" in (tmp_path / "r.html").read_text()
    shown = run(str(file), "-a", "auto", "-a", "RPA-I", "--budgets", "100", "--permutations", "2", "--workers", "1")
    assert shown.returncode == 0, shown.stderr
    assert "scaling: standard + intercept." in shown.stdout


@pytest.mark.parametrize(
    ("words", "objectives", "first"),
    [
        ([], {"balanced"}, "auto and auto-random optimize this metric, balanced accuracy (objective=balanced)."),
        (["--metric", "mistakes"], {"accuracy"}, "optimize this metric, mistakes (objective=accuracy)."),
        (["--metric", "cost", "--c-p", "0.75"], {"cost"}, "optimize this metric, cost (objective=cost)."),
        (
            ["--metric", "f1", "--positive", "-1"],
            {None},
            "(objective=balanced), not F1, for which they have no objective.",
        ),
        (
            ["--metric", "auc"],
            {None},
            "optimize balanced accuracy (objective=balanced), not AUC, for which they have no",
        ),
        (["-a", "auto:objective=f1"], {"f1"}, "optimize F1 (objective=f1), not balanced accuracy."),
    ],
)
def test_auto_optimizes_what_it_is_compared_by_or_the_difference_is_said_first(
    file: Path, tmp_path: Path, words: list[str], objectives: set[str], first: str
) -> None:
    name = [] if "-a" in words else ["-a", "auto"]
    play = ["--ratios", "0.2", "--permutations", "2", "--workers", "1", "--results", str(tmp_path / "kept.jsonl")]
    found = json.loads(run(str(file), *name, *words, *play, "--report", str(tmp_path / "r.html"), "--json").stdout)
    assert {choice["parameters"].get("objective") for choice in found["choices"]} == objectives
    for choice in found["choices"]:
        assert choice["parameters"].get("costs", [[0, 0.25], [0.75, 0]]) == [[0, 0.25], [0.75, 0]]
    findings = (tmp_path / "r.html").read_text().partition('<ul class="findings">')[2].partition("</li>")[0]
    assert first in findings
    shown = run(str(file), *name, *words, *play).stdout.splitlines()
    assert first in " ".join(" ".join(shown[1:4]).split())
    assert shown[1].startswith("Compared by ")


def test_beside_each_algorithm_plays_its_twin_with_the_same_parameters(file: Path) -> None:
    words = ["-a", "PAA-I:C=0.1", "-a", "OA3-diag:eta=1,gamma=1", "-a", "SOL-diag", "--grid", "none", *QUICK, "--json"]
    result = here("compare", str(file), *words)
    assert result.returncode == 0, result.stderr
    names = list(dict.fromkeys(line["candidate"] for line in json.loads(result.stdout)["lines"]))
    assert names == [
        "PAA-I:C=0.1", "RPA-I:C=0.1", "OA3-diag:eta=1,gamma=1", "OA3-diag-random:eta=1,gamma=1", "SOL-diag",
    ]  # fmt: skip


def test_report_and_plots_are_written(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="plots need matplotlib, the extra 'plots'")
    names = [str(tmp_path / name) for name in ("r.html", "p.png", "p.svg")]
    result = run(
        str(file), "-a", "PAA-I", "--grid", "none", *QUICK, "--report", names[0], "--plot", names[1], "--plot", names[2]
    )
    assert result.returncode == 0, result.stderr
    assert [name for name in names if os.path.getsize(name) > 1_000] == names
    assert f"Written: {names[0]}" in result.stdout.replace("\n", "")


def test_budgets_and_a_named_class(file: Path) -> None:
    words = ["--budgets", "20,100", "--positive", "-1", "--permutations", "2", "--workers", "1", "--json"]
    result = run(str(file), "-a", "OA3-diag:rho=imbalance,eta=1,gamma=1,delta_pos=1,delta_neg=1", *words)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["settings"]["positive"] == "-1"
    assert {record["target"] for record in found["records"]} == {20, 100}
    assert max(record["labels"] for record in found["records"]) <= 100


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere.libsvm"], "there is no file 'nowhere.libsvm'"),
        (["events.npz", "-a", "PAX"], "there is no algorithm 'PAX'"),
        (["events.npz", "-a", "PAA-I:C=many"], "is not understood; write an algorithm such as"),
        (["events.npz", "-a", "PAA-I:eta=1"], "PAA-I has no parameter 'eta'"),
        (["events.npz", "-a", "PAA-I:delta=1"], "delta of PAA-I:delta=1 is what sets the ratio"),
        (["events.npz", "--ratios", "5"], "must be shares in (0, 1], such as 5%,10% or 0.05,0.1, got '5'"),
        (["events.npz", "--budgets", "x"], "must be numbers of labels"),
        (["events.npz", "--ratios", "0.1", "--budgets", "5"], "not allowed with argument"),
        (["events.npz", "--metric", "beauty"], "there is no metric 'beauty'"),
        (["events.npz", "--metric", "nlp"], "nlp is measured on probabilities, and auto has none"),
        (["events.npz", "-a", "UOAL-entropy", "-a", "D-ADA", "--metric", "weighted_loss"], "and D-ADA has none"),
        (["three.csv", "--metric", "auc"], "auc is for two classes, and three has 3"),
        (["three.csv", "--metric", "sum"], "sum is about one class, and three has 3"),
        (["events.npz", "--metric", "seconds"], "there is no metric 'seconds'; choose by one of accuracy"),
        (["events.npz", "--results", "no/such/r.jsonl"], "there is no folder 'no/such' to write r.jsonl to"),
        (["events.npz", "--positive", "7"], "events has no class '7'; its classes are -1, 1"),
        (["events.npz", "--report", "no/such/r.html"], "there is no folder"),
        (["events.npz", "--plot", "p.gif"], "the plot 'p.gif' must end in .png or .svg."),
        (["events.npz", "--plot", "p.html"], "the plot 'p.html' must end in .png or .svg."),
        (["events.npz", "--report", "r.png"], "the report 'r.png' must end in .html."),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(file: Path, words: list[str], sentence: str) -> None:
    (file.parent / "three.csv").write_text("x,label\n" + "1,a\n2,b\n3,c\n" * 9)
    assert sentence in complaint("compare", *words, cwd=file.parent)
    assert not (file.parent / "no").exists()


def test_fields_and_classes_mean_what_they_mean_for_run(tmp_path: Path) -> None:
    rows = [f"{1000 + k % 3},{('NA', 'DE')[k % 3 == 1]}" for k in range(120)]
    (tmp_path / "x.csv").write_text("\n".join(["zip,label", *rows]) + "\n")
    words = ["x.csv", "-a", "PAA-I:C=1", "--ratios", "0.2", "--permutations", "2", "--workers", "1", "--json"]
    result = here("compare", *words, "--field", "zip=category", "--classes", "DE,NA", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    settings = json.loads(result.stdout)["settings"]
    assert (settings["classes"], settings["features"]) == (["DE", "NA"], 4)
    said = complaint("compare", *words, "--classes", "DE,FR", cwd=tmp_path)
    assert "only one class" in said  # NA, which nobody named, is a missing label


def test_what_was_left_out_is_said(tmp_path: Path) -> None:
    (tmp_path / "some.csv").write_text("x,label\n" + "1,a\n2,b\n3,\n" * 20 + "1,2,3,a\n")
    words = ["some.csv", "-a", "PAA-I:C=1", "--ratios", "0.2", "--permutations", "2", "--skip-bad-lines"]
    result = run(*words, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "some: 40 events" in result.stdout
    assert "1 line could not be read and was left out." in result.stdout
    assert "20 events had no label and were left out." in result.stdout


def test_help_names_the_default_algorithms_and_the_metrics() -> None:
    from askance.cli.compare import MANY_CLASSES, TWO_CLASSES
    from askance.evaluate.metrics.register import comparable
    from askance.runner import algorithm_spec

    said = " ".join(run("--help").stdout.split())
    assert ", ".join(TWO_CLASSES) in said
    assert ", ".join(MANY_CLASSES) in said
    assert algorithm_spec.USUAL_ALGORITHM in TWO_CLASSES  # what run plays by itself is among them
    assert algorithm_spec.USUAL_ALGORITHM in MANY_CLASSES
    assert all(name in said for name in comparable())


def test_one_permutation_has_no_spread_and_no_test(file: Path) -> None:
    words = [str(file), "-a", "PAA-I", "-a", "RPA-I", "--grid", "none", *QUICK, "--permutations", "1"]
    shown = run(*words).stdout
    assert "balanced accuracy, one permutation" in shown
    assert "±" not in shown
    assert "t-test" not in shown
    assert {line["std"] for line in json.loads(run(*words, "--json").stdout)["lines"]} == {None}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--results", "events.npz"], "--results would overwrite 'events.npz', which is the FILE that is read"),
        (["--results", "link.jsonl", "--fresh"], "--results would overwrite 'link.jsonl'"),
        (["--plot", "./drawn.svg"], "--plot would overwrite 'drawn.svg'"),
        (["--report", "s.svg", "--plot", "s.svg"], "--report and --plot are the same file, 's.svg'"),
        (["--plot", "s.svg", "--plot", "../{}/s.svg"], "two --plot options are the same file"),
        (["--results", "notes.txt", "--fresh"], "'notes.txt' is there and is not a results file"),
    ],
)
def test_no_output_destroys_a_file(file: Path, words: list[str], sentence: str) -> None:
    os.link(file, file.parent / "drawn.svg")
    (file.parent / "link.jsonl").symlink_to(file)
    (file.parent / "notes.txt").write_text("mine\n")
    before = {path.name: path.read_bytes() for path in file.parent.iterdir()}
    result = run("events.npz", *(word.format(file.parent.name) for word in words), *QUICK, cwd=file.parent)
    assert result.returncode == 2
    assert sentence in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert {path.name: path.read_bytes() for path in file.parent.iterdir()} == before


def test_the_same_command_again_takes_what_was_played(file: Path, tmp_path: Path) -> None:
    kept = str(tmp_path / "kept.jsonl")
    words = [str(file), "-a", "PAA-I", "--grid", "none", *QUICK, "--results", kept, "--json"]
    first = json.loads(run(*words).stdout)
    size = os.path.getsize(kept)
    again = json.loads(run(*words).stdout)
    assert again["records"] == first["records"]
    assert os.path.getsize(kept) == size
    fresh = json.loads(run(*words, "--fresh").stdout)
    assert [row["f1"] for row in fresh["records"]] == [row["f1"] for row in first["records"]]
    assert [row["seconds"] for row in fresh["records"]] != [row["seconds"] for row in first["records"]]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal")
def test_on_a_terminal_there_is_a_bar_and_an_interrupt_loses_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(60_000) < 0.4, 1, -1)
    np.savez(tmp_path / "large.npz", X=rng.normal(size=(60_000, 20)) + 0.3 * y[:, None], y=y)
    kept = tmp_path / "kept.jsonl"
    words = ["compare", str(tmp_path / "large.npz"), "-a", "PAA-I", "-a", "SOAL-diag", "--results", str(kept)]
    process, output = in_a_terminal(*words, columns=110)
    seen = b""
    for piece in output:
        seen += piece
        if process.poll() is None and kept.exists() and kept.read_bytes().count(b"\n") > 30 and b"left" in seen:
            os.killpg(process.pid, signal.SIGINT)
            break
    for piece in output:
        seen += piece
    assert process.wait(PATIENCE) == 130
    text = seen.decode(errors="replace")
    assert "plays" in text
    assert "askance compare: stopped; the same command goes on where it ended; what was played is kept in" in text
    assert "Traceback" not in text, text.partition("Traceback")[2]
