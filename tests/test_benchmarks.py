"""``python -m benchmarks`` where something it needs is missing."""

import os
import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[1]


def test_what_cannot_be_measured_is_left_out_with_its_reason(tmp_path):
    (tmp_path / "msgspec.py").write_text("raise ModuleNotFoundError(\"No module named 'msgspec'\", name='msgspec')\n")
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", "--only", "live", "--output", str(tmp_path / "R.md")],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert result.returncode == 0, result.stderr
    reason = "live: needs msgspec, which 'make bench' installs"
    assert f"skipped {reason}" in result.stdout
    assert f"Skipped: {reason}" in (tmp_path / "R.md").read_text()
