"""The arrows between the folders point one way."""

import ast
from pathlib import Path

import askance

SOURCE = Path(askance.__file__).parent
ORDER = [
    "errors", "learner", "metrics", "quality", "drift", "calibration", "features", "stream", "datasets", "playing",
    "experiments", "live", "cli",
]  # fmt: skip
"""Who may import whom: at import time a folder knows only those before it."""


def imports_of(path):
    """The askance modules that a file imports when it is itself imported (not those inside functions)."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("askance."):
            yield node.module.split(".")[1]
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("askance."))


def test_no_folder_imports_from_one_that_stands_above_it():
    for place, folder in enumerate(ORDER):
        for path in (SOURCE / folder).rglob("*.py"):
            above = set(imports_of(path)) & set(ORDER[place + 1 :])
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
