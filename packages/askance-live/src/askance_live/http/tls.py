"""TLS by the service itself: a certificate and its key, taken up again when they are renewed."""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
import stat
from datetime import UTC, datetime
from typing import NamedTuple

from askance_live.clock import DAY, iso, span
from askance_live.problems import StartError

LOOK = 10.0  # seconds between looks whether the files are others
SOON = 14 * DAY  # before the end of a certificate

log = logging.getLogger("askance")


class TlsFiles(NamedTuple):
    """Where the certificate, with those that vouch for it, and its key are, in PEM."""

    certificate: str
    key: str

    def stamp(self) -> tuple[int, ...]:
        """Another one when the files are others."""
        return tuple(value for path in self for value in _identity(path))


def _identity(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_ino, found.st_size


def make_context(files: TlsFiles) -> ssl.SSLContext:
    """What the service shows to clients; TLS 1.2 or later."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _load(context, files)
    return context


def _load(context: ssl.SSLContext, files: TlsFiles) -> None:
    for path in files:
        try:
            with open(path, "rb"):
                pass
        except OSError as error:
            raise StartError(f"cannot read {path!r}: {error.strerror}.") from None
    try:
        context.load_cert_chain(*files, password=lambda: b"")  # one with a password would wait for somebody to type it
    except (ssl.SSLError, ValueError) as error:
        reason = getattr(error, "reason", None) or str(error)
        raise StartError(
            f"{files.certificate!r} and {files.key!r} are no certificate with its key, both in PEM and without a "
            f"password ({reason})."
        ) from None


def end_of(files: TlsFiles) -> float:
    """When the certificate ends, in seconds since 1970; 0 where it has ended. By a handshake within this process."""
    server, client = make_context(files), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # it need not be known who vouches for it
    client.load_verify_locations(files.certificate)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    one = client.wrap_bio(to_client, to_server)
    other = server.wrap_bio(to_server, to_client, server_side=True)
    for side in (one, other, one):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue  # it is the other's turn
        except ssl.SSLCertVerificationError:
            return 0.0
    found = one.getpeercert()
    return float(ssl.cert_time_to_seconds(str(found["notAfter"]))) if found else 0.0


def examine_tls(files: TlsFiles, now: float) -> list[str]:
    """What is wrong with a certificate and its key, in sentences."""
    try:
        end = end_of(files)
    except StartError as error:
        return [str(error)]
    except (ssl.SSLError, ValueError) as error:
        return [f"{files.certificate!r} cannot be used ({error}); make another certificate."]
    findings = []
    if not end:
        findings.append(f"the certificate {files.certificate!r} has ended or does not hold yet; renew it.")
    elif end - now < SOON:
        findings.append(f"the certificate {files.certificate!r} ends at {iso(end)}, in {span(end - now)}; renew it.")
    if (mode := stat.S_IMODE(os.stat(files.key).st_mode)) & 0o007:
        findings.append(f"the key {files.key!r} can be read by anybody (mode {mode:o}); chmod 600 it.")
    return findings


async def follow_files(context: ssl.SSLContext, files: TlsFiles) -> None:
    """Take up a renewed certificate without a restart; one that is broken is told, and the old one kept."""
    known = files.stamp()
    while True:
        await asyncio.sleep(LOOK)
        if (found := files.stamp()) == known:
            continue
        known = found
        try:
            make_context(files)  # both fit together
            _load(context, files)
        except StartError as error:
            log.warning("the certificate is still the old one: %s", error)
        else:
            log.info("the certificate was renewed at %s", datetime.now(UTC).isoformat(timespec="seconds"))
