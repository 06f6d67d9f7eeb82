"""Fields that the label page shows as links or images; from ``[display]``.

The service itself fetches nothing: the browser of whoever labels does, and only from the hosts that are named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from askance.errors import InvalidParameter

HOST = re.compile(r"https?://[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?(?::[0-9]{1,5})?")


@dataclass(frozen=True)
class Display:
    """Names of fields, and hosts of images such as ``https://images.example.org``."""

    links: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    image_hosts: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """What the page needs of it."""
        return {"links": self.links, "images": self.images, "hosts": [host.lower() for host in self.image_hosts]}


def read_display(table: dict[str, Any]) -> Display:
    """``[display]`` of the settings, checked."""
    known = ("links", "images", "image_hosts")
    if unknown := [name for name in table if name not in known]:
        raise InvalidParameter(f"there is no setting display.{unknown[0]}; there are: {', '.join(sorted(known))}.")
    display = Display(**{name: _texts(table[name], name) for name in table})
    for host in display.image_hosts:
        if not HOST.fullmatch(host):
            raise InvalidParameter(
                "display.image_hosts must name hosts such as 'https://images.example.org', without a path, "
                f"got {host!r}."
            )
    if display.images and not display.image_hosts:
        raise InvalidParameter(
            "display.images needs display.image_hosts, the hosts from which images may come, such as "
            '["https://images.example.org"].'
        )
    return display


def _texts(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise InvalidParameter(f"display.{name} must be a list of texts, got {value!r}.")
    return tuple(value)
