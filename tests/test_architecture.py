"""The arrows between the folders point one way."""

import ast
from pathlib import Path

import pytest

import askance

SOURCE = Path(askance.__file__).parent
ORDER = [
    "errors", "atomic", "deprecation", "missing", "pending", "plural", "engines", "brokers", "compile", "costs",
    "metrics", "quality", "drift", "calibration", "features", "learner", "budgets", "queries", "updates", "adapters",
    "testing", "stream", "datasets", "playing", "experiments", "live", "cli", "__main__",
]  # fmt: skip
"""Who may import whom: a folder, or a file, knows only those before it."""
FACE = "__init__"
"""The package itself, which finds the public names when they are used."""


def home_of(name):
    """The folder or file that a public name of the package, or a module in it, comes from."""
    return askance._HOMES.get(name, f"askance.{name}").split(".")[1]


def imports_of(path):
    """The parts of askance that a file uses, wherever it imports them: at its top, inside a function, for the types
    only, or as a name of the package."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "askance":
            yield from (home_of(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("askance."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("askance."))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "askance":
            yield home_of(node.attr)


def files_of(name):
    """The files of a folder, or the one of this name."""
    return [SOURCE / f"{name}.py"] if (SOURCE / f"{name}.py").exists() else sorted((SOURCE / name).rglob("*.py"))


def test_everything_has_its_place_in_the_order():
    parts = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert parts == {*ORDER, FACE}


def test_imports_are_seen_wherever_they_stand(tmp_path):
    file = tmp_path / "some.py"
    file.write_text(
        "import askance\nfrom askance.atomic import atomic_write\nif TYPE_CHECKING:\n    import askance.live.engine\n"
        "def f():\n    from askance.cli import main\n    from askance import make, drift\n    askance.load('m')\n"
    )
    assert sorted(imports_of(file)) == ["atomic", "cli", "drift", "learner", "learner", "live"]


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
    assert users == {"compile.py"}
