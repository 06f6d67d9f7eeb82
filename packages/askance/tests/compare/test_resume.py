"""A sweep that was interrupted, even killed, goes on where it ended, with the results it would have had."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.compare.streams import blobs
from tests.compare.test_sweep import bare
from tests.patience import wait_until

from askance.compare import Candidate, Sweep
from askance.errors import InvalidInput

ALGORITHMS = [
    Candidate("PAA-I", {"C": [0.03, 0.1, 0.3, 1.0, 3.0]}),
    Candidate("SOAL-diag", {"eta": [0.1, 1.0]}),
    "RPA-I",
]
SCRIPT = """
import askance.compare.scheduler
askance.compare.scheduler.WORTH_STARTING = -1.0
from tests.compare.test_resume import big
big().run(workers=2, results={path!r})
"""


def big():
    return Sweep(blobs(n_events=30_000), ALGORITHMS, [0.05, 0.1, 0.2], permutations=10, search_permutations=5)


def children(process):
    listed = subprocess.run(["ps", "--ppid", str(process), "-o", "pid="], capture_output=True, text=True)
    return [int(word) for word in listed.stdout.split()]


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True).stdout
    return bool(state.strip()) and not state.startswith("Z")


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal that Windows does not know")
def test_a_killed_sweep_goes_on_and_ends_with_the_same_results(tmp_path):
    path = tmp_path / "results.jsonl"
    process = subprocess.Popen([sys.executable, "-c", SCRIPT.format(path=str(path))], cwd=Path(__file__).parents[2])
    wait_until(
        lambda: process.poll() is not None or (path.exists() and path.read_bytes().count(b"\n") > 60), "a result"
    )
    workers = children(process.pid)
    assert process.poll() is None, "it ended before it could be killed"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = path.read_bytes()
    with path.open("ab") as file:
        file.write(b'{"key": "torn in the mid')  # as a kill in the middle of a write would leave it

    plays = []
    resumed = big().run(plays.append, workers=1, results=path)
    whole = big().run(workers=1, results=tmp_path / "whole.jsonl")
    assert bare(resumed) == bare(whole)
    assert resumed.choices == whole.choices
    lines = path.read_bytes().splitlines(keepends=True)
    assert set(before.splitlines(keepends=True)) <= set(lines)
    assert len(lines) == before.count(b"\n") + plays[-1].done  # what was there and what was missing, no torn line
    assert path.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()

    wait_until(lambda: not any(is_running(worker) for worker in workers), "the end of the workers")


def small(**options):
    return Sweep(blobs(), ["PAA-I"], [0.1], permutations=3, search_permutations=2, **options)


def test_a_finished_sweep_is_not_played_again(tmp_path):
    path = tmp_path / "deep" / "results.jsonl"
    first = small().run(workers=1, results=path)
    content = path.read_bytes()
    plays = []
    again = small().run(plays.append, workers=1, results=path)
    assert plays == []
    assert again.records == first.records  # even the times
    assert path.read_bytes() == content


def test_more_permutations_add_to_what_is_there(tmp_path):
    path = tmp_path / "results.jsonl"
    small(settle=False).run(workers=1, results=path)
    plays = []
    more = Sweep(blobs(), ["PAA-I"], [0.1], permutations=5, search_permutations=2, settle=False)
    more.run(plays.append, workers=1, results=path)
    assert plays[-1].done == 2


@pytest.mark.parametrize("change", [{"seed": 1}, {"positive": "ham"}, {"prepare": "standard"}, {"c_p": 0.7}])
def test_results_of_other_conditions_are_not_taken(change, tmp_path):
    path = tmp_path / "results.jsonl"
    small().run(workers=1, results=path)
    plays = []
    small(**change).run(plays.append, workers=1, results=path)
    assert plays[-1].done >= 3


def test_a_line_is_json_that_names_what_was_played(tmp_path):
    path = tmp_path / "results.jsonl"
    small(everything=True).run(workers=1, results=path)
    entry = json.loads(path.read_text().splitlines()[-1], parse_constant=lambda word: pytest.fail(word))
    assert entry["dataset"] == "blobs"
    assert entry["algorithm"] == "PAA-I"
    assert set(entry["parameters"]) == {"delta"}
    assert entry["role"] in ("play", "choose")
    assert 0.0 < entry["result"]["f1"] < 1.0


def test_foreign_lines_are_left_alone(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text('nonsense\n[1, 2]\n{"key": 1}\n\n')
    results = small().run(workers=1, results=path)
    assert len(results.records) == 3
    assert path.read_text().startswith('nonsense\n[1, 2]\n{"key": 1}\n')


@pytest.mark.skipif(sys.platform == "win32", reason="files are not locked there")
def test_two_runs_do_not_write_one_file(tmp_path):
    path = tmp_path / "results.jsonl"
    import fcntl

    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(InvalidInput, match="is being written by another run"):
            small().run(workers=1, results=path)
