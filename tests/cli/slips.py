"""What the command line says to a slip."""

from __future__ import annotations

from pathlib import Path

import pytest

from askance.cli import main


def complaint(
    words: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> str:
    """The one sentence, with exit code 2 and nothing on standard output. A process of its own, as the other tests of
    commands have, would take two seconds for each of many."""
    monkeypatch.chdir(folder)
    try:
        code = main(words)
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    said = capfd.readouterr()
    assert said.out == ""
    assert len(said.err.strip().splitlines()) == 1
    return said.err
