"""Fields that the label page shows as links, images, sound or rich text; from ``[display]``.

The service itself fetches nothing: the browser of whoever labels does, and only from the hosts that are named.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from typing import Any

from askance.errors import InvalidParameter

HOST = re.compile(r"https?://[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?(?::[0-9]{1,5})?")
FETCHED = {"images": "image_hosts", "audio": "audio_hosts"}
"""What a browser fetches, and from where."""


@dataclass(frozen=True)
class Display:
    """Names of fields, and hosts such as ``https://images.example.org``."""

    links: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    image_hosts: tuple[str, ...] = ()
    audio: tuple[str, ...] = ()
    audio_hosts: tuple[str, ...] = ()
    rich_text: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """What the page needs of it."""
        hosts = {name: [host.lower() for host in getattr(self, name)] for name in FETCHED.values()}
        return {**asdict(self), **hosts}


def read_display(table: dict[str, Any]) -> Display:
    """``[display]`` of the settings, checked."""
    known = sorted(field.name for field in fields(Display))
    if unknown := [name for name in table if name not in known]:
        raise InvalidParameter(f"there is no setting display.{unknown[0]}; there are: {', '.join(known)}.")
    display = Display(**{name: _texts(table[name], name) for name in table})
    for kind, hosts in FETCHED.items():
        named = getattr(display, hosts)
        for host in named:
            if not HOST.fullmatch(host):
                raise InvalidParameter(
                    f"display.{hosts} must name hosts such as 'https://{kind}.example.org', without a path, "
                    f"got {host!r}."
                )
        if getattr(display, kind) and not named:
            raise InvalidParameter(
                f"display.{kind} needs display.{hosts}, the hosts from which {kind} may come, such as "
                f'["https://{kind}.example.org"].'
            )
    return display


def _texts(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise InvalidParameter(f"display.{name} must be a list of texts, got {value!r}.")
    return tuple(value)
