"""Whether a version is ready to be released: the package has it, and the changelog tells of it.

python .ci/check_release.py 0.2.0
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def obstacles(version: str, sources: dict[str, str], changelog: str) -> list[str]:
    """What stands against it, a sentence each."""
    found = []
    for place, source in sources.items():
        own = re.search(r'^__version__ = "(.*)"$', source, re.MULTILINE)
        if own is not None and own[1] == version:
            continue
        found.append(f"{place} has the version {own[1] if own else 'of nothing'}, not {version}.")
    section = re.search(rf"^## {re.escape(version)}\b.*?\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if section is None or not section[1].strip():
        found.append(f"CHANGELOG.md has nothing under '## {version}'; rename 'Unreleased', and begin a new one.")
    return found


if __name__ == "__main__":
    sources = {
        str(path.relative_to(ROOT)): path.read_text() for path in sorted(ROOT.glob("packages/*/src/*/__init__.py"))
    }
    against = obstacles(sys.argv[1], sources, (ROOT / "CHANGELOG.md").read_text())
    print("\n".join(against) or f"{sys.argv[1]} is ready.")
    sys.exit(bool(against))
