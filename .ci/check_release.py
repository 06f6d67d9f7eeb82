"""Whether a version is ready to be released: the package has it, and the changelog tells of it.

python .ci/check_release.py 0.2.0
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def obstacles(version: str, source: str, changelog: str) -> list[str]:
    """What stands against it, a sentence each."""
    found = []
    own = re.search(r'^__version__ = "(.*)"$', source, re.MULTILINE)
    if own is None or own[1] != version:
        found.append(f"src/askance/__init__.py has the version {own[1] if own else 'of nothing'}, not {version}.")
    section = re.search(rf"^## {re.escape(version)}\b.*?\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if section is None or not section[1].strip():
        found.append(f"CHANGELOG.md has nothing under '## {version}'; rename 'Unreleased', and begin a new one.")
    return found


if __name__ == "__main__":
    files = (ROOT / "src/askance/__init__.py", ROOT / "CHANGELOG.md")
    against = obstacles(sys.argv[1], *(path.read_text() for path in files))
    print("\n".join(against) or f"{sys.argv[1]} is ready.")
    sys.exit(bool(against))
