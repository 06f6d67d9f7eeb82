"""What a measured number follows from, as a name: the code that plays and measures, and the libraries below it.

A result may be used again as long as all of that is what it was. The code is found by reading imports: from the module
that plays to whatever it imports within the package, at the top of a file or inside a function. What cannot change a
number is left out: comments, layout, docstrings, imports for type checkers only, and the modules that none of these
imports, such as the command line. How files are read and scaled need not be there either: the data themselves, as they
are played, are part of a result's key.
"""

from __future__ import annotations

import ast
import functools
import gc
import hashlib
import importlib.metadata
import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parent.parent
LIBRARIES = ("numpy", "scipy", "numba", "llvmlite")
"""They shuffle, sum and compile: another version of one may round, or draw, otherwise."""


def digest_code(*modules: str, package: Path = PACKAGE) -> str:
    """A name for the code of these modules and of all that they import within the package.

    Parameters
    ----------
    *modules : str
        Such as ``askance.compare.play``.
    package : Path
        The folder of the package.
    """
    digest = hashlib.blake2b(digest_size=12)
    for path, source in sorted(follow_imports(modules, package).items()):
        digest.update(f"{_name_of(path)} {source.meaning}\n".encode())
    return digest.hexdigest()


def library_versions() -> dict[str, str]:
    """The versions of the libraries that take part."""
    return {name: importlib.metadata.version(name) for name in LIBRARIES}


def describe_code(*modules: str) -> str:
    """A name for the code of these modules and for the libraries below it: what they compute is the same wherever the
    name is."""
    return json.dumps([digest_code(*modules), library_versions()])


class SourceFile(NamedTuple):
    """What matters of a file of Python code."""

    meaning: str
    """A digest of its syntax tree without docstrings."""
    imports: tuple[str, ...]
    """The modules it may import: of ``from a import b`` both ``a`` and ``a.b``, which may be one."""


def follow_imports(modules: tuple[str, ...], package: Path = PACKAGE) -> dict[Path, SourceFile]:
    """The files of these modules and of all that they import within the package, directly or not."""
    found: dict[Path, SourceFile] = {}
    ahead = list(modules)
    while ahead:
        for path in _files_of(ahead.pop(), package):
            if path not in found:
                found[path] = _read(path, path.stat().st_mtime_ns)
                ahead += found[path].imports
    return found


def _files_of(module: str, package: Path) -> Iterator[Path]:
    """The file of a module of the package, or of one that goes with it, such as ``askance_papers``."""
    first, *rest = module.split(".")
    if not rest:  # the package's own __init__ gathers public names and computes nothing
        return
    if first == package.name:
        place = package.joinpath(*rest)
    elif first.startswith(f"{package.name}_") and (found := importlib.util.find_spec(first)) and found.origin:
        place = Path(found.origin).parent.joinpath(*rest)
    else:
        return
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file():
            yield path


def _name_of(path: Path) -> str:
    """The path of a file from its package on, which is the same wherever the package is installed."""
    outside = path.parent
    while (outside / "__init__.py").exists():
        outside = outside.parent
    return path.relative_to(outside).as_posix()


@functools.lru_cache(maxsize=1000)
def _read(path: Path, changed: int) -> SourceFile:
    """Read a file; ``changed``, when it was last written, is there for the cache."""
    tree = _parse(path.read_bytes())
    imports: list[str] = []
    _strip(tree, imports)
    return SourceFile(hashlib.blake2b(ast.dump(tree).encode(), digest_size=16).hexdigest(), tuple(imports))


def _parse(source: bytes) -> ast.AST:
    """Parse Python code while no garbage is collected.

    CPython 3.11 counts how deep it is within a tree in one place for the whole process: where a collected object's
    finalizer parses, too (a traceback that is formatted does), it ends in "AST constructor recursion depth mismatch".
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(source)
    finally:
        if collecting:
            gc.enable()


def _strip(node: ast.AST, imports: list[str]) -> None:
    """Take docstrings, and what is for type checkers only, out of a syntax tree; note what it imports."""
    if isinstance(node, ast.Import):
        imports += [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module:
        imports += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    body = getattr(node, "body", None)
    if isinstance(body, list):
        node.body = [child for child in body if not _is_mute(child)]  # type: ignore[attr-defined]
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            _strip(child, imports)


def _is_mute(node: ast.AST) -> bool:
    """Whether a statement does nothing when it is run: a docstring, or imports for type checkers."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
