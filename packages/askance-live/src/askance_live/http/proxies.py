"""Between a client and the service there may be a proxy: the client's address, the page a request came from, and
whether it was forwarded at all.

Headers that a proxy sets can be set by anybody. So an address is believed of the proxies that the settings name only,
and a request that was forwarded is refused where nobody needs a token.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from askance.errors import InvalidParameter
from askance_live.problems import Problem

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]+)(?::[0-9]{1,5})?")
FORWARDED = frozenset(
    b"forwarded x-forwarded via cdn-loop x-amzn-trace-id x-real-ip x-client-ip x-cluster-client-ip "
    b"x-original-forwarded-for x-original-host x-envoy-external-address true-client-ip "
    b"cf-connecting-ip fastly-client-ip fly-client-ip x-azure-clientip".split()
)
"""Headers by which a proxy says for whom it asks, beside all that begin with X-Forwarded-."""


def read_public_url(text: str) -> tuple[str, str]:
    """The scheme and the host, with its port unless that is the usual one, of the address people use.

    >>> read_public_url("https://Labels.example.org:443/")
    ('https', 'labels.example.org')
    """
    wanted = "server.public_url must be an address such as 'https://labels.example.org'"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise InvalidParameter(f"{wanted}, got {text!r}.") from None
    if parts.scheme not in PORTS or not parts.hostname or parts.username is not None or parts.query or parts.fragment:
        raise InvalidParameter(f"{wanted}, got {text!r}.")
    if parts.path.strip("/"):
        raise InvalidParameter(f"{wanted}, without a path; give the service a host name of its own, got {text!r}.")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return parts.scheme, host if port in (None, PORTS[parts.scheme]) else f"{host}:{port}"


def read_networks(texts: Iterable[Any]) -> list[Network]:
    """Addresses and networks, such as ``127.0.0.1`` and ``10.0.0.0/8``."""
    networks = []
    for text in texts:
        try:
            networks.append(ipaddress.ip_network(text if isinstance(text, str) else ""))
        except ValueError:
            raise InvalidParameter(
                f"server.trusted_proxies must list addresses such as '127.0.0.1' or '10.0.0.0/8', got {text!r}."
            ) from None
    return networks


def read_address(text: str) -> Address | None:
    """An address as a proxy writes it, perhaps with a port; None where it is none.

    >>> [str(read_address(text)) for text in ("10.1.2.3:999", "[2001:db8::1]:80", "::ffff:10.1.2.3", "unknown")]
    ['10.1.2.3', '2001:db8::1', '10.1.2.3', 'None']
    """
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped or address


def host_of(url: bytes) -> str:
    """The host, with its port, of an Origin or a Referer."""
    return url.decode("latin-1").partition("://")[2].partition("/")[0].lower()


def name_of(host: str) -> str:
    """What a Host names, without the port; nothing if it is no name or address with perhaps a port.

    >>> [name_of(host) for host in ("localhost:8017", "[::1]:80", "10.1.2.3", "localhost:80@evil.example", "[::1")]
    ['localhost', '[::1]', '10.1.2.3', '', '']
    """
    found = _HOST.fullmatch(host)
    return found[1] if found else ""


def examine_way(host: str, public_url: str, trusted: Iterable[str], has_tls: bool) -> list[str]:
    """What is wrong with the way to the service, by its settings, in sentences."""
    scheme, public_host = read_public_url(public_url) if public_url else ("", "")
    networks = read_networks(trusted)
    findings = []
    if scheme == "http" and has_tls:
        findings.append("server.public_url says http, but the service speaks TLS (server.tls_cert); write https.")
    elif scheme == "http" and not is_near(public_host.rsplit(":", 1)[0]):
        findings.append(
            f"people reach the service at {public_url!r}, so that tokens and answers travel unencrypted; let the proxy "
            "speak TLS, and write https."
        )
    elif not scheme and not has_tls and not is_near(host):
        findings.append(
            f"the service listens on {host} without TLS, so that tokens and answers travel unencrypted; set "
            "server.tls_cert, or put a proxy in front and set server.public_url."
        )
    if scheme == "https" and not has_tls and not networks:
        findings.append(
            "server.public_url says https, so that a proxy stands in front, but server.trusted_proxies does not name "
            "it: all people seem to come from its address, and the wrong tokens of one count against all; name it."
        )
    if not scheme and (networks or not is_near(host)):
        findings.append(
            "server.public_url is not set, so that links for people and a company's login work only at an address of "
            "this machine; set it to the address that people use."
        )
    findings += [
        f"server.trusted_proxies has {str(network)!r}, so that anybody can claim any address; name the proxies alone."
        for network in networks
        if network.prefixlen == 0
    ]
    return findings


def is_near(host: str) -> bool:
    """Whether a host is this machine."""
    address = read_address(host)
    return host == "localhost" if address is None else address.is_loopback


class Proxies:
    """What the settings say about the way to the service."""

    def __init__(self, host: str, public_url: str, trusted: Iterable[str], has_tls: bool = False) -> None:
        self.has_tls = has_tls
        self.scheme, self.public_host = read_public_url(public_url) if public_url else ("", "")
        self.networks = read_networks(trusted)
        self.expects_some = bool(public_url or self.networks)
        self._local_hosts = {"localhost", "127.0.0.1", "[::1]", host.lower(), f"[{host.lower()}]"}

    def client_address(self, scope: Any) -> str:
        """Who sends a request: behind proxies that are trusted, the last address that is none of theirs."""
        peer: str = (scope.get("client") or ("", 0))[0]
        found = read_address(peer) if self.networks else None
        if found is None or not self._is_trusted(found):
            return peer
        values = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        for text in reversed(b",".join(values).decode("latin-1").split(",")):
            address = read_address(text)
            if address is None:
                break
            found = address
            if not self._is_trusted(address):
                break
        return str(found)

    def _is_trusted(self, address: Address) -> bool:
        return any(address in network for network in self.networks)

    def is_secure(self, headers: Mapping[bytes, bytes]) -> bool:
        """Whether the client came by TLS."""
        if self.scheme:
            return self.scheme == "https"
        return self.has_tls or headers.get(b"x-forwarded-proto", b"").partition(b",")[0].strip().lower() == b"https"

    def check_origin(self, headers: Mapping[bytes, bytes]) -> None:
        """A page of another site must not send requests in the name of whoever looks at it.

        A browser says how a page and an address go together as it sees them (``Sec-Fetch-Site``), which no page can
        forge and no proxy's ``Host`` can confuse. Where it does not, over plain HTTP, the page's origin must be ours.
        """
        site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
        if site is not None:
            is_ours = site in (b"same-origin", b"none")
        else:
            is_ours = origin is None or self._is_our_origin(origin, headers.get(b"host", b""))
        if not is_ours:
            hint = "" if self.scheme else "; if a proxy stands in front, set server.public_url to its address"
            raise Problem("forbidden", f"requests from pages of other sites are not taken{hint}.")

    def _is_our_origin(self, origin: bytes, host: bytes) -> bool:
        asked = host.decode("latin-1").lower()
        if self.scheme and (host_of(origin) == self.public_host or asked == self.public_host):
            return origin.decode("latin-1").lower() == f"{self.scheme}://{self.public_host}"
        return host_of(origin) == asked

    def check_local(self, scope: Any, headers: Mapping[bytes, bytes]) -> None:
        """Where nobody needs a token, only this machine is served: no other host's name, and no proxy's clients."""
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if not self._is_local(host):
            raise Problem(
                "wrong_host",
                f"this service does not answer for the host {host[:100]!r}; to serve others, make tokens with "
                "'askance token create'.",
            )
        if sign := self._sign_of_proxy(scope, headers):
            raise Problem(
                "proxied",
                f"this came through a proxy ({sign}), but the service has no tokens, so that all who reach the proxy "
                "could do everything: make a token with 'askance token create', and set server.public_url.",
            )

    def _sign_of_proxy(self, scope: Any, headers: Mapping[bytes, bytes]) -> str:
        """What shows that a request was forwarded: its sender, a header, what a browser says of its page, or an old
        protocol."""
        peer = read_address((scope.get("client") or ("", 0))[0])
        if peer is not None and not peer.is_loopback:
            return f"it comes from {peer}"
        for name in headers:
            if name in FORWARDED or name.startswith(b"x-forwarded-"):
                return f"it has the header {name.decode('latin-1')}"
        if headers.get(b"sec-fetch-site") == b"same-origin":
            for name in (b"origin", b"referer"):
                if name in headers and not self._is_local(host_of(headers[name])):
                    return f"its page is at {host_of(headers[name])[:100]}"
        return "it is HTTP/1.0" if scope.get("http_version") == "1.0" else ""

    def _is_local(self, host: str) -> bool:
        return name_of(host) in self._local_hosts

    def address(self, scope: Any, headers: Mapping[bytes, bytes]) -> str:
        """Where people reach the service, for links: as the settings say.

        Else as this request came, if it came by a name of this machine: anybody can write any other into ``Host``.
        """
        if self.scheme:
            return f"{self.scheme}://{self.public_host}"
        host = headers.get(b"host", b"").decode("latin-1").lower()
        own = read_address((scope.get("server") or ("", 0))[0])
        if not self._is_local(host) and (own is None or read_address(name_of(host)) != own):
            raise Problem(
                "wrong_host",
                f"links and logins lead to an address that the settings name, which {host[:100]!r} is not; set "
                "server.public_url to the address that people use.",
            )
        return f"{'https' if self.is_secure(headers) else 'http'}://{host}"
