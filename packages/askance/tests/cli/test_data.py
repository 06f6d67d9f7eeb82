"""``askance data`` as a user meets it, on a machine without a network."""

import json
import subprocess
import sys

import numpy as np
import pytest
from tests.patience import PATIENCE

from askance.data.datasets import entries


@pytest.fixture
def askance(tmp_path, monkeypatch):
    """The command, with a folder of data sets and a cache of its own."""
    monkeypatch.setenv("ASKANCE_DATA", str(tmp_path / "sets"))
    monkeypatch.setenv("ASKANCE_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nothing listens there: no network
    (tmp_path / "sets").mkdir()
    rows = np.tile(np.arange(24), (1000, 1))
    np.savez(tmp_path / "sets" / "german.npz", X=rows, y=np.repeat([-1, 1], [700, 300]))

    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "askance", "data", *words], capture_output=True, text=True, timeout=PATIENCE
        )

    return run


def test_the_list_shows_every_set_and_which_are_here(askance):
    result = askance("list")
    assert result.returncode == 0
    assert all(name in result.stdout for name in entries())
    line = next(line for line in result.stdout.splitlines() if line.startswith("german"))
    assert "1,000" in line
    assert "yes" in line
    assert "1 of them on this machine" in result.stdout


def test_the_list_as_json_has_sources_licences_and_places(askance):
    rows = {row["name"]: row for row in json.loads(askance("list", "--json").stdout)}
    assert rows.keys() == entries().keys()
    assert rows["german"]["available"]
    assert rows["german"]["path"].endswith("german.npz")
    assert not rows["w8a"]["available"]
    assert rows["w8a"]["files"][0]["url"].startswith("https://")
    assert rows["w8a"]["licence"] == "none stated"


def test_a_named_set_is_described(askance):
    result = askance("list", "cifar10", "w8a")
    assert "made of cifar10_part1 and cifar10_part2" in result.stdout
    assert "none stated" in result.stdout
    assert "w8a is not on this machine: run 'askance data get w8a'" in result.stdout


def test_getting_what_is_here_says_where_and_whether_it_is_the_real_one(askance):
    result = askance("get", "german")
    assert result.returncode == 0
    assert "german.npz (the same size and classes, but not exactly the rows" in result.stdout
    rows = json.loads(askance("get", "german", "--json").stdout)
    assert rows[0]["name"] == "german"
    assert rows[0]["same_content"] is False


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["get", "svmguide1"], "cannot be reached"),
        (["get", "spam_corpus"], "no download that askance could convert"),
        (["get", "w9a"], "there is no data set 'w9a'; did you mean 'w8a'?"),
        (["get"], "name a data set to get"),
        (["fetch", "w8a"], "invalid choice"),
    ],
)
def test_what_goes_wrong_is_one_line_and_exit_code_2(askance, words, sentence):
    result = askance(*words)
    assert result.returncode == 2
    assert sentence in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not result.stdout
