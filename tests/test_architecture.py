"""The arrows between the folders point one way."""

import ast
from pathlib import Path

import pytest

import askance

SOURCE = Path(askance.__file__).parent
ORDER = [
    "errors", "beside", "learner", "metrics", "quality", "drift", "calibration", "features", "stream", "datasets",
    "playing", "experiments", "live", "cli",
]  # fmt: skip
"""Who may import whom: at import time a folder, or a file, knows only those before it."""
FACES = ["__init__", "__main__", "budgets", "queries", "updates"]
"""What users import: names from elsewhere, gathered."""


def imports_of(path):
    """The askance modules that a file imports when it is itself imported (not those inside functions)."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module == "askance":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("askance."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("askance."))


def files_of(name):
    """The files of a folder, or the one of this name."""
    return [SOURCE / f"{name}.py"] if (SOURCE / f"{name}.py").exists() else sorted((SOURCE / name).rglob("*.py"))


def test_everything_has_its_place_in_the_order():
    parts = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert parts == {*ORDER, *FACES}


@pytest.mark.parametrize("name", ORDER)
def test_nothing_imports_from_what_stands_above_it(name):
    assert files_of(name)
    for path in files_of(name):
        above = set(imports_of(path)) & set(ORDER[ORDER.index(name) + 1 :])
        assert not above, f"{path.relative_to(SOURCE)} imports {above}"


def test_only_one_file_calls_numba():
    users = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        and any("numba" in name for name in [getattr(node, "module", None) or "", *(a.name for a in node.names)])
    }
    assert users == {"learner/compile.py"}
