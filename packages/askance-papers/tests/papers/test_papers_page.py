"""docs/papers.md knows every experiment, and names none that is not there."""

import re
from pathlib import Path

from askance_papers import experiments

ROOT = Path(__file__).parents[4]
PLACES = (".", "packages/*/src/*", "packages/*")
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


def test_the_page_of_the_papers_names_exactly_the_experiments_that_there_are():
    named = set(re.findall(r"`(paper\d-[a-z]+\d+(?:-cost)?)`", PAGE))
    assert named == set(experiments())


def test_every_rule_that_the_page_names_exists():
    from askance import queries, updates

    named = set(re.findall(r"`([A-Z][A-Za-z0-9]+)(?:\([a-z_=, A-Z]*\))?`", PAGE))
    assert named <= set(updates.__all__) | set(queries.__all__) | {"UOAL", "BOAL"}


def test_every_file_that_the_page_names_exists():
    named = set(re.findall(r"`([a-z_/]+\.py)`", PAGE))
    assert len(named) > 5
    assert [name for name in sorted(named) if not any(list(ROOT.glob(f"{place}/{name}")) for place in PLACES)] == []
