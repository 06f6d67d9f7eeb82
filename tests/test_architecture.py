"""The arrows between the folders point one way."""

import ast
from pathlib import Path

import pytest

import askance

SOURCE = Path(askance.__file__).parent
PACKAGES = Path(__file__).parents[1] / "packages"
ORDERS = {
    "": [
        "errors", "extras", "atomic", "pending", "plural", "spreadsheets", "engines", "brokers",
        "compile", "evaluate", "data", "learner", "budgets", "drift", "metrics", "quality", "rules", "queries",
        "updates", "adapters", "testing", "runner", "compare", "cli", "__main__",
    ],
    "evaluate": ["costs", "metrics", "quality", "drift", "calibration"],
    "data": ["missing", "encoding", "generators", "formats", "datasets"],
}  # fmt: skip
"""Who may import whom: of a folder's entries, each knows only those before it."""
CASES = [(folder, name) for folder, order in ORDERS.items() for name in order]


def imports_of(path):
    """The modules of askance that a file uses, wherever it imports them: at its top, inside a function, for the types
    only, or as a name of the package."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "askance":
            yield from (askance._LAZY_IMPORTS.get(alias.name, f"askance.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("askance."):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("askance."))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "askance":
            yield askance._LAZY_IMPORTS.get(node.attr, f"askance.{node.attr}")


def entries_used(path, folder):
    """The entries of a folder that a file uses."""
    above = ["askance", *filter(None, [folder])]
    parts = (module.split(".") for module in imports_of(path))
    return {part[len(above)] for part in parts if part[: len(above)] == above and len(part) > len(above)}


def files_of(folder, name):
    """The files of a folder, or the one of this name."""
    place = SOURCE / folder / name
    return [place.with_suffix(".py")] if place.with_suffix(".py").exists() else sorted(place.rglob("*.py"))


@pytest.mark.parametrize("folder", ORDERS)
def test_everything_has_its_place_in_the_order(folder):
    entries = (SOURCE / folder).iterdir()
    parts = {path.stem for path in entries if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert parts == {*ORDERS[folder], "__init__"}


def test_imports_are_seen_wherever_they_stand(tmp_path):
    file = tmp_path / "some.py"
    file.write_text(
        "import askance\nfrom askance.atomic import atomic_write\nif TYPE_CHECKING:\n    import askance.data.formats\n"
        "def f():\n    from askance.cli import main\n    from askance import make, drift\n    askance.load('m')\n"
    )
    assert entries_used(file, "") == {"atomic", "cli", "drift", "learner", "data"}
    assert entries_used(file, "data") == {"formats"}


@pytest.mark.parametrize(("folder", "name"), CASES)
def test_nothing_imports_from_what_stands_above_it(folder, name):
    files, order = files_of(folder, name), ORDERS[folder]
    assert files
    for path in files:
        above = entries_used(path, folder) & set(order[order.index(name) + 1 :])
        assert not above, f"{path.relative_to(SOURCE)} imports {above}"


@pytest.mark.parametrize("package", ["askance", "askance_live", "askance_papers"])
def test_a_package_imports_none_that_is_built_on_it(package):
    others = {"askance_live", "askance_papers"} - {package}
    files = sorted((PACKAGES / package.replace("_", "-") / "src" / package).rglob("*.py"))
    assert len(files) > 10
    for path in files:
        tops = {
            name.split(".")[0]
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
        }
        assert not tops & others, f"{path} imports {tops & others}"


def test_only_one_file_calls_numba():
    users = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        and any("numba" in name for name in [getattr(node, "module", None) or "", *(a.name for a in node.names)])
    }
    assert users == {"compile.py"}
