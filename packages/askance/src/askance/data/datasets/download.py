"""Download a file: whole, checked, or not at all."""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO

from askance.data.datasets.folders import write_whole
from askance.errors import DatasetError

TIMEOUT = 30.0  # seconds without a byte
CHUNK = 1 << 18
Report = Callable[[int, int | None], None]
"""Called with the bytes received so far and, where the server says, the bytes in all."""


def download(url: str, path: Path, checksum: str = "", report: Report | None = None) -> None:
    """Fetch ``url`` into ``path``, which appears complete and checked, or not at all.

    Parameters
    ----------
    url : str
        Where to fetch it.
    path : Path
        Where to put it; folders are made.
    checksum : str
        ``sha256:...`` or ``md5:...``; empty if none is known, in which case only the length is checked.
    report : callable, optional
        Told how far it is.

    Raises
    ------
    DatasetError
        One sentence: the server did not answer, refused, broke off, or sent something else.
    """
    request = urllib.request.Request(url, headers={"User-Agent": "askance"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            length = answer.headers.get("Content-Length")
            expected = int(length) if length and length.isdigit() else None
            write_whole(path, lambda file: _receive(answer, file, url, expected, checksum, report))
    except urllib.error.HTTPError as error:
        raise DatasetError(f"{url} answered {error.code} {error.reason}") from None
    except urllib.error.URLError as error:
        raise DatasetError(f"{url} cannot be reached ({error.reason})") from None
    except (TimeoutError, http.client.HTTPException, ConnectionError) as error:
        raise DatasetError(f"{url} broke off ({error or type(error).__name__})") from None


def _receive(
    answer: http.client.HTTPResponse,
    file: IO[bytes],
    url: str,
    expected: int | None,
    checksum: str,
    report: Report | None,
) -> None:
    digest = _digest(checksum)
    received = 0
    while chunk := answer.read(CHUNK):
        file.write(chunk)
        digest.update(chunk)
        received += len(chunk)
        if report is not None:
            report(received, expected)
    if expected is not None and received != expected:
        raise DatasetError(f"{url} broke off after {received:,} of {expected:,} bytes")
    if checksum and digest.hexdigest() != checksum.partition(":")[2]:
        raise DatasetError(f"{url} sent something else than expected (checksum {digest.hexdigest()[:12]}...)")


def has_checksum(path: str | os.PathLike[str], checksum: str) -> bool:
    """Whether a file has this checksum; any file has an empty one."""
    if not checksum:
        return True
    digest = _digest(checksum)
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest() == checksum.partition(":")[2]


def _digest(checksum: str) -> hashlib._Hash:
    # MD5 is what the sites publish; it guards against accidents here, not against malice.
    return hashlib.new(checksum.partition(":")[0] or "sha256", usedforsecurity=False)
