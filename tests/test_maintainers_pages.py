"""What CONTRIBUTING.md and the architecture page name is there, and every folder has its place in the picture."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = [ROOT / "packages" / name for name in ("askance", "askance-live", "askance-papers")]
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("CONTRIBUTING.md", "docs/architecture.md")}


def is_there(name):
    """Whether a path leads somewhere: from the root, from a package, or from one of its folders."""
    starts = [ROOT, *(place for package in PACKAGES for place in (package / "src", package / "tests"))]
    starts += [folder for package in PACKAGES for folder in (package / "src").glob("*")]
    return any((start / name).exists() for start in starts) or any(
        list(package.glob(f"src/**/{name}")) + list(package.glob(f"tests/**/{name}")) for package in PACKAGES
    )


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_is_named_exists(page):
    named = set(re.findall(r"`([\w./-]+(?:\.py|\.md|/))`", PAGES[page]))
    assert len(named) > 10
    assert [name for name in sorted(named) if not is_there(name)] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_name_of_code_exists(page):
    source = "\n".join(path.read_text() for package in PACKAGES for path in package.glob("src/**/*.py"))
    named = set(re.findall(r"`(_?[A-Za-z]+_\w+|[A-Z][a-z]+[A-Z]\w+|[A-Z]{4,}(?:_[A-Z]+)*)`", PAGES[page]))
    elsewhere = {"ASKANCE_DATA", "LOWEST_TESTS"}
    assert [name for name in sorted(named - elsewhere) if not re.search(rf"\b{name}\b", source)] == []


def test_every_folder_is_in_the_picture():
    picture = PAGES["docs/architecture.md"].split("```text")[1].split("```")[0]
    folders = [path.name for path in (PACKAGES[0] / "src" / "askance").iterdir() if (path / "__init__.py").exists()]
    assert [name for name in folders if not re.search(rf"\b{name}\b", picture)] == []
