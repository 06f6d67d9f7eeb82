"""``askance reproduce`` as a user meets it, on a small stand-in for a real set."""

import csv
import json
from functools import partial

import numpy as np
import pytest
from tests.cli.here import here

from askance_papers import experiments


@pytest.fixture
def askance(tmp_path, monkeypatch):
    """The command, with a made-up german (1,000 rows) as the only data set."""
    monkeypatch.setenv("ASKANCE_DATA", str(tmp_path / "sets"))
    monkeypatch.setenv("ASKANCE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "sets").mkdir()
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], [700, 300])
    np.savez(tmp_path / "sets" / "german.npz", X=rng.integers(0, 9, size=(1000, 24)) + (y > 0)[:, None], y=y)
    monkeypatch.delenv("ASKANCE_CACHE_DIR")  # compiled code may be shared; no set is in the cache under this name

    return partial(here, "reproduce")


def test_the_list_is_complete(askance):
    result = askance("--list")
    assert result.returncode == 0
    assert all(key in result.stdout for key in experiments())
    assert "(w8a)" in result.stdout
    rows = json.loads(askance("--list", "--json").stdout)
    assert [row["key"] for row in rows] == list(experiments())
    assert all(row["protocol"] for row in rows)
    without = {row["key"] for row in rows if not row["datasets"]}  # they make their own stream
    assert without == {"paper5-fig1", "paper5-fig2", "paper5-example1", "paper5-example2"}


def test_a_figure_is_played_shown_and_written(askance, tmp_path):
    pytest.importorskip("matplotlib", reason="figures need matplotlib, the extra 'plots'")
    out = tmp_path / "out"
    result = askance("paper4-fig7", "--only", "german", "--permutations", "2", "--workers", "1", "--out", str(out))
    assert result.returncode == 0, result.stderr
    assert "paper4-fig7: sum over the learning rate" in result.stdout
    assert "german (scaling: l2)" in result.stdout
    assert "65.8" in result.stdout  # the paper's number stands beside ours
    assert result.stderr == ""
    with (out / "paper4-fig7" / "paper4-fig7.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 9 * 4
    again = askance(
        "paper4-fig7", "--only", "german", "--permutations", "2", "--workers", "1", "--out", str(out), "--json"
    )
    (played,) = json.loads(again.stdout)
    assert [row["mean"] for row in played["rows"]] == pytest.approx([float(row["mean"]) for row in rows])
    assert played["experiment"] == "paper4-fig7"
    assert (out / "paper4-fig7" / "paper4-fig7-sum.png").stat().st_size > 1000
    assert "</svg>" in (out / "paper4-fig7" / "paper4-fig7-sum.svg").read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["paper4-tabel2"], "there is no experiment 'paper4-tabel2'; did you mean 'paper4-table2'?"),
        (["paper4-fig7", "--only", "letter"], "paper4-fig7 has no data set 'letter'; it has w8a, german."),
        (
            ["paper4-fig7", "paper4-table2", "--only", "nix"],
            "none of the 2 experiments has a data set 'nix'; they have w8a, german.",
        ),
        (["paper4-fig7", "--only", "german", "--permutations", "0"], "must be a whole number, 1 or more"),
    ],
)
def test_what_goes_wrong_is_one_line_and_exit_code_2(askance, words, sentence):
    result = askance(*words)
    assert result.returncode == 2
    assert sentence in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_without_data_there_is_a_sentence_that_says_what_to_do(askance):
    result = askance("paper1-table2")
    assert result.returncode == 2
    assert "run 'askance data get svmguide1 mushrooms a8a'" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_without_an_experiment_the_list_is_shown(askance):
    result = askance()
    assert result.returncode == 2
    assert "name an experiment" in result.stderr


def test_a_key_that_another_begins_with_is_played_by_itself():
    from askance_papers import experiments
    from askance_papers.cli.reproduce import choose

    assert [experiment.key for experiment in choose(["paper4-fig6", "paper4-fig6-cost"])] == [
        "paper4-fig6", "paper4-fig6-cost",
    ]  # fmt: skip
    assert all([experiment.key for experiment in choose([key])] == [key] for key in experiments())
    assert {experiment.paper for experiment in choose(["paper3"])} == {3}
