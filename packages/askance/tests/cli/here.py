"""A command line in this process: two seconds less than one of its own, for tests that need neither its terminal nor
its signals. ``tests/cli/test_command_line.py`` runs the real thing."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from subprocess import CompletedProcess

from askance.cli import main


def here(*words: str, cwd: Path | None = None) -> CompletedProcess[str]:
    """What ``askance`` says and returns, in this folder."""
    with (
        contextlib.chdir(cwd or Path.cwd()),
        tempfile.NamedTemporaryFile("w", encoding="utf-8") as out,
        tempfile.NamedTemporaryFile("w", encoding="utf-8") as err,
    ):
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(words)
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else 1
        out.flush()
        err.flush()
        return CompletedProcess(list(words), code, *(Path(file.name).read_text("utf-8") for file in (out, err)))


def complaint(*words: str, cwd: Path) -> str:
    """The one sentence that a slip is answered with, beside exit code 2 and nothing on standard output."""
    result = here(*words, cwd=cwd)
    assert result.returncode == 2
    assert result.stdout == ""
    assert len(result.stderr.strip().splitlines()) == 1
    return result.stderr
