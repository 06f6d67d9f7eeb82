"""Versions that are named in several places agree."""

import re
from pathlib import Path

import askance
from askance.deprecation import GONE_WITH

ROOT = Path(__file__).parents[1]


def release(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")[:2]))


def test_old_names_go_with_the_release_after_this_one() -> None:
    major, minor = release(askance.__version__)
    assert release(GONE_WITH) == (major, minor + 1)


def test_the_changelog_promises_the_same() -> None:
    promised = re.findall(r"go(?:es)? with (\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert set(promised) == {GONE_WITH}
