"""A release is stopped where version or changelog are not ready; what is to be cited is complete."""

import importlib.util
import re
from pathlib import Path

import pytest

from askance.learner.presets import PAPERS

ROOT = Path(__file__).parents[1]


@pytest.fixture
def obstacles():
    path = ROOT / ".ci" / "check_release.py"
    if not path.exists():
        pytest.skip("not a checkout: .ci is not part of the source distribution")
    spec = importlib.util.spec_from_file_location("check_release", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.obstacles


def test_a_release_needs_its_version_and_a_section_of_the_changelog(obstacles):
    source, changelog = (
        {"a/__init__.py": '__version__ = "0.2.0"\n'},
        "# Changelog\n\n## Unreleased\n\n## 0.2.0 (May)\n\n- New.\n",
    )
    assert obstacles("0.2.0", source, changelog) == []
    assert obstacles("0.3.0", source, changelog) == [
        "a/__init__.py has the version 0.2.0, not 0.3.0.",
        "CHANGELOG.md has nothing under '## 0.3.0'; rename 'Unreleased', and begin a new one.",
    ]
    assert len(obstacles("0.2.0", source, "## 0.2.0\n\n## 0.1.0\n\n- Old.\n")) == 1


def test_the_citation_names_the_five_papers():
    cited = re.findall(r"^    title: \"?(.*?)\"?$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert [re.sub(r" \(\d+\)$", "", paper.split(": ", 1)[1]) for paper in PAPERS.values()] == cited
