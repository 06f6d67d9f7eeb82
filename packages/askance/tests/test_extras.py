"""How a missing package is installed depends on how askance was."""

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from askance import extras
from askance.extras import how_to_install, requirement

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "packages" / "askance"
EXTRAS = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]["optional-dependencies"]


class Installed:
    """A distribution whose installer wrote this file, or none."""

    def __init__(self, origin):
        self.origin = origin

    def read_text(self, name):
        assert name == "direct_url.json"
        return None if self.origin is None else json.dumps(self.origin)


def install(monkeypatch, origin):
    monkeypatch.setattr(extras, "distribution", lambda name: Installed(origin))


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'askance[live]'"),
        ({"url": "file:///ana/my%20clone/askance", "dir_info": {}}, "pip install '/ana/my clone/askance-live'"),
        ({"url": "file:///src/askance", "dir_info": {"editable": True}}, "pip install -e '/src/askance-live'"),
        (
            {"url": "file:///tmp/askance-1.whl", "archive_info": {}},
            "pip install 'askance[live] @ file:///tmp/askance-1.whl'",
        ),
        (
            {
                "url": "https://host/askance.git",
                "vcs_info": {"vcs": "git", "commit_id": "abc"},
                "subdirectory": "packages/askance",
            },
            "pip install 'askance-live @ git+https://host/askance.git@abc#subdirectory=packages/askance-live'",
        ),
    ],
    ids=["index", "folder", "editable", "archive", "git"],
)
def test_the_command_is_that_of_the_installation(monkeypatch, origin, command):
    install(monkeypatch, origin)
    assert how_to_install("live") == command


def test_in_a_folder_an_extra_of_the_library_is_one_of_its_folder(monkeypatch):
    install(monkeypatch, {"url": "file:///src/askance", "dir_info": {"editable": True}})
    assert how_to_install("plots") == "pip install -e '/src/askance[plots]'"
    assert how_to_install("postgres") == "pip install -e '/src/askance-live[postgres]'"


def test_in_a_repository_an_extra_is_one_of_the_folder_that_has_the_package(monkeypatch):
    vcs = {"vcs": "git", "commit_id": "abc"}
    install(monkeypatch, {"url": "https://host/a.git", "vcs_info": vcs, "subdirectory": "packages/askance"})
    assert how_to_install("plots") == (
        "pip install 'askance[plots] @ git+https://host/a.git@abc#subdirectory=packages/askance'"
    )
    assert how_to_install("oidc") == (
        "pip install 'askance-live[oidc] @ git+https://host/a.git@abc#subdirectory=packages/askance-live'"
    )
    assert requirement("mlflow").endswith("@abc#subdirectory=packages/askance")


def test_without_an_installation_it_is_the_folder_that_is_imported_from(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(extras, "distribution", missing)
    assert how_to_install("live") == f"pip install -e '{ROOT}/packages/askance-live'"
    monkeypatch.setattr(extras, "SOURCE", Path("/usr/lib/python3/dist-packages/askance"))
    assert how_to_install("live") == "pip install 'askance[live]'"


def test_a_requirement_leads_back_to_where_askance_came_from(monkeypatch):
    install(monkeypatch, None)
    assert requirement("mlflow", "1.2") == "askance[mlflow]==1.2"
    install(monkeypatch, {"url": "file:///src/a", "dir_info": {"editable": True}})
    assert requirement("mlflow", "1.2") == "askance[mlflow] @ file:///src/a"


@pytest.mark.prove
def test_the_command_for_a_clone_is_one_that_pip_understands(tmp_path):
    """A clone at a place with a blank in its name; nothing is installed."""
    clone = tmp_path / "my clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    projects = [f"{clone}/packages/askance", f"{clone}/packages/askance-live[postgres]"]
    words = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--quiet", *projects]
    subprocess.run(words, check=True, timeout=600)


def test_only_one_file_of_the_package_knows_the_command():
    said = [path for path in ROOT.glob("packages/*/src/**/*.py") if re.search(r"askance\[\w", path.read_text())]
    assert [path.name for path in said] == ["extras.py"]


def test_every_extra_that_is_proposed_is_declared():
    used = {
        extra
        for path in ROOT.glob("packages/*/src/**/*.py")
        for extra in re.findall(r"how_to_install\(['\"](\w+)['\"]\)", path.read_text())
    }
    assert used >= {"live", "mlflow", "onnx", "parquet", "plots", "postgres"}
    assert used <= set(EXTRAS)


def test_the_documents_propose_what_works_where_askance_is_on_no_index():
    documents = [ROOT / "README.md", *(path for path in (ROOT / "docs").rglob("*") if path.is_file())]
    named = {
        path: re.findall(r"(?<!packages/)askance\[[^\]]*\]", path.read_text(errors="ignore")) for path in documents
    }
    assert {path.name: found for path, found in named.items() if found} == {}


def test_importing_the_package_imports_nothing_heavy():
    heavy = "{'numpy', 'numba', 'scipy', 'sklearn', 'pandas', 'rich'}"
    code = f"import sys, askance; print(sorted({heavy} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
