"""Who of a company's people gets in, and as what; from ``[oidc]``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from askance.errors import InvalidParameter
from askance_live.access import ROLES
from askance_live.problems import StartError

OWN_MACHINE: Final = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class OidcSettings:
    """``[oidc]``: the provider, and who of its people may do what."""

    issuer: str
    client_id: str
    client_secret_file: str = ""
    """Empty: a public client, which PKCE alone protects."""
    label: str = "Log in with your company account"
    scopes: tuple[str, ...] = ("openid", "email", "profile")
    allowed_domains: tuple[str, ...] = ()
    """Of verified email addresses; empty: any."""
    groups_claim: str = "groups"
    roles: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By role, the groups that have it."""
    default_role: str = ""
    """Of whoever is in none of these groups; empty: they do not get in."""

    def secret(self) -> str:
        """The client's secret, from its file."""
        if not self.client_secret_file:
            return ""
        try:
            return Path(self.client_secret_file).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise StartError(f"cannot read {self.client_secret_file!r}: {error}.") from None


def read_oidc(table: dict[str, Any], folder: Path) -> OidcSettings | None:
    """``[oidc]`` of the settings, checked; None where there is none."""
    if not table:
        return None
    known = OidcSettings.__dataclass_fields__
    if unknown := [name for name in table if name not in known]:
        raise InvalidParameter(f"there is no setting oidc.{unknown[0]}; there are: {', '.join(known)}.")
    values: dict[str, Any] = {}
    for name, value in table.items():
        if name == "roles":
            values[name] = _roles(value)
        elif name in ("scopes", "allowed_domains"):
            values[name] = _texts(value, f"oidc.{name}")
        elif not isinstance(value, str):
            raise InvalidParameter(f"oidc.{name} must be a text in quotes, got {value!r}.")
        else:
            values[name] = value
    for name in ("issuer", "client_id"):
        if not values.get(name):
            raise InvalidParameter(f"[oidc] needs {name}.")
    check_url(values["issuer"], "oidc.issuer")
    if values.get("default_role", "") not in ("", *ROLES):
        raise InvalidParameter(f"oidc.default_role must be one of {', '.join(ROLES)}; got {values['default_role']!r}.")
    if not values.get("roles") and not values.get("default_role"):
        raise InvalidParameter("[oidc] needs roles or default_role, or nobody would get in.")
    if values.get("client_secret_file"):
        values["client_secret_file"] = str(folder / values["client_secret_file"])
    return OidcSettings(**values)


def _texts(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise InvalidParameter(f"{name} must be a list of texts, got {value!r}.")
    return tuple(value)


def _roles(value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict) or not value.keys() <= ROLES.keys():
        raise InvalidParameter(f"oidc.roles must be a table of {', '.join(ROLES)}, each a list of groups.")
    return {role: _texts(groups, f"oidc.roles.{role}") for role, groups in value.items()}


def check_url(url: Any, name: str) -> None:
    """Refuse an address that is not of TLS; plain HTTP is for this machine only."""
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        is_fine = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in OWN_MACHINE)
        is_fine = is_fine and bool(parts.hostname) and parts.username is None
    except ValueError:
        is_fine = False
    if not is_fine:
        raise InvalidParameter(f"{name} must be an address such as 'https://login.example.org', got {url!r}.")
