"""How to install an extra: as askance itself was installed, since not every askance came from a package index."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

SOURCE = Path(__file__).parent
SISTERS = {"live": "askance-live", "postgres": "askance-live[postgres]", "oidc": "askance-live[oidc]",
           "papers": "askance-papers"}  # fmt: skip
"""The extras that are packages of the same repository: in a clone each is a folder beside this package's."""


def how_to_install(extra: str) -> str:
    """The command that adds an extra to this installation: from the index, a clone, an archive or a repository."""
    origin = _origin()
    if origin is not None and "vcs_info" in origin and extra in SISTERS:
        return f"pip install '{SISTERS[extra]} @ {_repository(origin, SISTERS[extra].partition('[')[0])}'"
    if origin is None or "dir_info" not in origin:
        return f"pip install '{requirement(extra)}'"
    option = "-e " if origin["dir_info"].get("editable") else ""
    folder = Path(url2pathname(urlsplit(origin["url"]).path))
    place = folder.parent / SISTERS[extra] if extra in SISTERS else f"{folder}[{extra}]"
    return f"pip install {option}'{place}'"


def requirement(extra: str, version: str | None = None) -> str:
    """askance with an extra, as a file of requirements names it; ``version`` counts where it came from an index.

    >>> requirement("live").startswith("askance[live]")
    True
    """
    origin = _origin()
    if origin is None:
        return f"askance[{extra}]" + (f"=={version}" if version else "")
    return f"askance[{extra}] @ {_repository(origin, 'askance') if 'vcs_info' in origin else origin['url']}"


def _repository(origin: dict[str, Any], package: str) -> str:
    """The address of a package in the repository that askance came from, beside askance's own folder there."""
    vcs, folder = origin["vcs_info"], origin.get("subdirectory")
    place = f"#subdirectory={Path(folder).with_name(package).as_posix()}" if folder else ""
    return f"{vcs['vcs']}+{origin['url']}@{vcs['commit_id']}{place}"


def _origin() -> dict[str, Any] | None:
    """What the installer noted of where askance came from (PEP 610); None for a package index. Without an installation
    it is the clone that is imported from."""
    try:
        noted = distribution("askance").read_text("direct_url.json")
    except PackageNotFoundError:
        clone = SOURCE.parents[1]
        return {"url": clone.as_uri(), "dir_info": {"editable": True}} if (clone / "pyproject.toml").exists() else None
    return json.loads(noted) if noted else None
