"""The unit file of the documentation: systemd understands every line, and would start what there is."""

import shutil
import subprocess
from pathlib import Path

import pytest

from askance.cli import all_commands

UNIT = Path(__file__).parents[4] / "docs" / "systemd" / "askance.service"


def test_systemd_takes_the_unit_as_it_is(tmp_path):
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text().replace("/opt/askance/bin/askance", shutil.which("true") or "/bin/true"))
    found = subprocess.run([program, "verify", "--man=no", str(copy)], capture_output=True, text=True, check=False)
    assert (found.returncode, [line for line in found.stderr.splitlines() if UNIT.name in line]) == (0, [])


def test_what_it_starts_is_a_command():
    (line,) = (line for line in UNIT.read_text().splitlines() if line.startswith("ExecStart="))
    assert line.split()[1] in all_commands()
