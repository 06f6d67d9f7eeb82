"""A package that is not installed: one sentence says what to install, before anything is played or written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.cli.here import here

from askance.extras import how_to_install

Askance = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def askance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Askance:
    """The command in a folder with a small stream; ``without`` names a package that cannot be imported."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.4, 1, -1)
    np.savez(tmp_path / "events.npz", X=rng.normal(size=(300, 5)) + y[:, None], y=y)

    def run(*words: str, without: str) -> subprocess.CompletedProcess[str]:
        for name in {without, *(name for name in sys.modules if name.startswith(f"{without}."))}:
            monkeypatch.setitem(sys.modules, name, None)
        return here(*words, cwd=tmp_path)

    return run


QUICK = ["-a", "PAA-I:C=1", "--permutations", "1", "--search-permutations", "1", "--ratios", "0.1", "--workers", "1"]


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "events.npz", *QUICK, "--results", "r.jsonl", "--plot", "p.png"],
        ["compare", "events.npz", *QUICK, "--results", "r.jsonl", "--report", "r.html", "--plot", "p.svg"],
        ["run", "events.npz", "--save", "m.model", "--curve", "c.png"],
        ["run", "events.npz", "--save", "m.model", "--curve", "c.csv", "--curve", "c.svg"],
        ["reproduce", "paper4-fig7", "--only", "german", "--permutations", "1", "--workers", "1", "--out", "out"],
    ],
    ids=lambda words: " ".join(words[:1] + words[-2:]),
)
def test_plots_without_matplotlib_are_refused_before_the_work(
    askance: Askance, tmp_path: Path, words: list[str]
) -> None:
    before = sorted(os.listdir(tmp_path))
    result = askance(*words, without="matplotlib")
    sentence = f"plots need matplotlib; install it with: {how_to_install('plots')}."
    assert result.stderr == f"askance {words[0]}: {sentence}\n"
    assert result.returncode == 2
    assert result.stdout == ""  # nothing was played
    assert sorted(os.listdir(tmp_path)) == before


def test_what_draws_nothing_needs_no_matplotlib(askance: Askance, tmp_path: Path) -> None:
    compared = askance("compare", "events.npz", *QUICK, "--report", "r.html", "--fresh", without="matplotlib")
    assert compared.returncode == 0, compared.stderr
    assert "</svg>" in (tmp_path / "r.html").read_text()
    played = askance("run", "events.npz", "--curve", "c.csv", "--curve", "c.json", without="matplotlib")
    assert played.returncode == 0, played.stderr
    assert (tmp_path / "c.csv").read_text().startswith("events,labels,balanced_accuracy\n")


@pytest.mark.parametrize(
    "words",
    [
        ["init", "--classes", "ham,spam", "--config", "new.toml"],
        ["serve", "--port", "0"],
        ["token", "create", "ana"],
        ["import", "events.jsonl"],
        ["export"],
        ["rebuild"],
        ["doctor"],
    ],
    ids=lambda words: words[0],
)
def test_a_postgresql_store_without_psycopg_is_one_sentence(askance: Askance, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "askance.toml").write_text('classes = ["ham", "spam"]\n')
    (tmp_path / "events.jsonl").write_text('{"text": "hello", "label": "ham"}\n')
    result = askance(*words, "--store", "postgresql://nobody@127.0.0.1:1/nothing", without="psycopg")
    assert result.stderr == (
        f"askance {words[0]}: a PostgreSQL store needs the package psycopg; install it with: "
        f"{how_to_install('postgres')}.\n"
    )
    assert result.returncode == 2
    assert result.stdout == ""
    assert not (tmp_path / "new.toml").exists()
