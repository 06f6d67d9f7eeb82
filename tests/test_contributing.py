"""The tables of CONTRIBUTING.md name every folder and file where things live, and none that is not there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "askance"
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Where things live")[1].split("## A new rule")[0]
TREE, SERVICE = TEXT.split("### The service")
NOT_NAMED = {"__init__.py", "__main__.py", "__pycache__", "py.typed"}


def names_in(table):
    """The paths in the first column; a name without a folder is in that of the name before it."""
    found = []
    for line in table.splitlines():
        folder = ""
        for name in re.findall(r"`([^`]+)`", line.split("|")[1]) if line.startswith("| `") else []:
            folder = name.rpartition("/")[0] if name.rstrip("/").count("/") else folder
            found.append(name if "/" in name else f"{folder}/{name}".lstrip("/"))
    return found


def entries_of(folder):
    return {entry.name + "/" * entry.is_dir() for entry in folder.iterdir() if entry.name not in NOT_NAMED}


@pytest.mark.parametrize(("table", "folder"), [(TREE, PACKAGE), (SERVICE, PACKAGE / "live")])
def test_what_the_tables_name_is_there(table, folder):
    assert [name for name in names_in(table) if not (folder / name).exists()] == []


@pytest.mark.parametrize(
    ("table", "folder", "prefix"),
    [(TREE, PACKAGE, ""), (TREE, PACKAGE / "learner", "learner/"), (SERVICE, PACKAGE / "live", "")],
)
def test_nothing_is_left_out(table, folder, prefix):
    named = {name.removeprefix(prefix) for name in names_in(table) if name.startswith(prefix)}
    in_parts = {name.split("/")[0] + "/" for name in named if "/" in name}
    assert entries_of(folder) - named - in_parts == set()
