"""Experiments that play by themselves keep what was played: a kill in the middle costs one play."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.papers.standins import small, stand_in

from askance_papers import experiments, find, run

OWN = [key for key, experiment in experiments().items() if experiment.play is not None]
SCRIPT = """
import os, signal
from pathlib import Path
from tests.papers.standins import stand_in
from askance_papers import find, run

folder = Path({folder!r})

def die_in_the_middle(*_):
    path = folder / "plays.jsonl"
    if path.exists() and path.read_bytes().count(b"\\n") >= {lines}:
        os.kill(os.getpid(), signal.SIGKILL)

run(find({key!r}), quick=True, folder=folder, load=stand_in, report=die_in_the_middle)
"""


def test_some_experiments_play_by_themselves():
    assert {"paper4-fig1", "paper4-fig2", "paper5-table1", "paper5-fig3", "paper5-fig6"} <= set(OWN)


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal that Windows does not know")
@pytest.mark.parametrize(
    ("key", "lines"),
    [
        ("paper5-table1", 9),
        pytest.param("paper4-fig1", 4, marks=pytest.mark.prove),
        pytest.param("paper5-fig3", 1, marks=pytest.mark.prove),
    ],
)
def test_a_killed_experiment_goes_on_and_ends_with_the_same_numbers(key, lines, tmp_path):
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    script = SCRIPT.format(folder=str(killed), key=key, lines=lines)
    done = subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parents[2])
    assert done.returncode == -signal.SIGKILL
    before = (killed / "plays.jsonl").read_bytes()
    assert before.count(b"\n") == lines

    resumed = run(find(key), quick=True, folder=killed, load=stand_in)
    undisturbed = run(find(key), quick=True, folder=whole, load=stand_in)
    assert resumed.cells == undisturbed.cells
    after = (killed / "plays.jsonl").read_bytes()
    assert set(before.splitlines()) <= set(after.splitlines())
    assert sorted(after.splitlines()) == sorted((whole / "plays.jsonl").read_bytes().splitlines())  # nothing twice


@pytest.mark.parametrize("key", OWN)
def test_what_was_played_is_not_played_again(key, tmp_path):
    experiment = small(find(key))
    first = run(experiment, permutations=1, folder=tmp_path, load=stand_in)
    content = (tmp_path / "plays.jsonl").read_bytes()
    again = run(experiment, permutations=1, folder=tmp_path, load=stand_in)
    assert again.cells == first.cells
    assert (tmp_path / "plays.jsonl").read_bytes() == content
    lines = content.splitlines()
    assert len(set(lines)) == len(lines)


def test_other_data_are_played(tmp_path):
    experiment = small(find("paper5-fig3"))

    def changed(name):
        dataset = stand_in(name)
        dataset.y[-1] = -dataset.y[-1]
        return dataset

    run(experiment, folder=tmp_path, load=stand_in)
    run(experiment, folder=tmp_path, load=changed)
    assert (tmp_path / "plays.jsonl").read_bytes().count(b"\n") == 2
