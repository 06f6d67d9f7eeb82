"""The look-up of the installed packages fails when something is known of one, and says when it could not be done."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parents[1] / ".ci" / "vulnerabilities.py"
KNOWN = {"name": "rich", "version": "15.0.0", "vulns": []}
SKIPPED = {"name": "askance", "skip_reason": "Dependency not found on PyPI and could not be audited: askance (0.1.0)"}
WEAK = {"name": "starlette", "version": "1.0.0", "vulns": [{"id": "CVE-2026-48710", "fix_versions": ["1.0.1"]}]}


@pytest.fixture
def check():
    if not PATH.exists():
        pytest.skip("not a checkout: .ci is not part of the source distribution")
    spec = importlib.util.spec_from_file_location("check", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def as_command(stdout="", stderr="", code=0):
    """A program that reports this, as pip-audit would."""
    program = f"import sys; sys.stdout.write({stdout!r}); sys.stderr.write({stderr!r}); sys.exit({code})"
    return [sys.executable, "-c", program]


def test_a_known_vulnerability_fails_and_is_named(check, capsys):
    assert check.main(as_command(json.dumps({"dependencies": [KNOWN, SKIPPED, WEAK]}), code=1)) == 1
    assert "starlette 1.0.0: CVE-2026-48710 (fixed in 1.0.1)" in capsys.readouterr().out


def test_packages_without_a_weakness_pass_and_those_not_looked_up_are_named(check, capsys):
    assert check.main(as_command(json.dumps({"dependencies": [KNOWN, SKIPPED]}))) == 0
    assert capsys.readouterr().out == "vulnerabilities: none known in 1 packages; not looked up: askance.\n"


@pytest.mark.parametrize(
    "command",
    [
        as_command(json.dumps({"dependencies": [SKIPPED]})),  # pip-audit ends well when its database knows nothing
        as_command(stderr="requests.exceptions.ConnectionError: Failed to resolve 'api.osv.dev'", code=1),
    ],
    ids=["nothing found there", "not there"],
)
def test_a_database_out_of_reach_is_said_in_a_line_and_fails_nothing(check, capsys, command):
    assert check.main(command) == 0
    said = capsys.readouterr().out
    assert "could not be reached" in said
    assert said.count("\n") == 1


def test_an_audit_that_goes_wrong_otherwise_fails(check):
    assert check.main(as_command(stderr="usage: pip-audit [-h]", code=2)) == 2
