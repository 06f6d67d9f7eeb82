"""Get a data set from its official source into the cache."""

from __future__ import annotations

import bz2
import csv
import gzip
import hashlib
import http.client
import io
import lzma
import os
import tarfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from askance.data.datasets import folders
from askance.data.datasets.folders import Content, write_whole
from askance.data.datasets.registry import Entry, RemoteFile, find
from askance.errors import DatasetError

# --- from files to rows and labels -----------------------------------------------------------------------
# One reader per format, named in the registry. Labels become -1 and +1 for two classes, 0 to k-1 for more, in the
# order of the source's labels unless the registry says which is which.


def convert(entry: Entry, paths: Sequence[Path]) -> Content:
    """Read downloaded files in the format the registry names, and check that they are what they should be."""
    try:
        content = FORMATS[entry.format](entry, paths)
    except DatasetError:
        raise
    except Exception as error:  # whatever an unexpected file makes a parser say
        names = " and ".join(path.name for path in paths)
        raise DatasetError(
            f"{names} cannot be read as {entry.format} ({type(error).__name__}: {str(error).rstrip('.')})"
        ) from None
    check(entry, content)
    return content


def check(entry: Entry, content: Content) -> None:
    """Refuse content whose size or classes are not those of the registry."""
    rows = len(content.y)
    columns = 0 if content.X is None else int(content.X.shape[1])
    if (rows, columns) != (entry.rows, entry.columns):
        raise DatasetError(
            f"{entry.name} should have {entry.rows:,} rows and {entry.columns:,} columns, "
            f"but this has {rows:,} and {columns:,}"
        )
    counts = tuple(np.unique(content.y, return_counts=True)[1].tolist())
    if entry.counts and counts != entry.counts:
        raise DatasetError(f"{entry.name} should have {entry.counts} rows of its classes, but this has {counts}")


# --- labels ----------------------------------------------------------------------------------------------


def labels_of(raw: Sequence[str], options: dict[str, Any]) -> np.ndarray:
    """The source's labels, as strings, to ours.

    ``positive`` or ``negative`` names one of two classes; ``labels`` lists all in our order.
    """
    found = np.array([label.strip() for label in raw])
    if "positive" in options:
        return np.where(found == options["positive"], 1, -1).astype(np.int8)
    if "negative" in options:
        return np.where(found == options["negative"], -1, 1).astype(np.int8)
    known = options.get("labels") or _sort_labels(set(found.tolist()))
    code = {label: at for at, label in enumerate(known)}
    y = np.array([code[label] for label in found.tolist()], dtype=np.int32)
    return np.where(y == 1, 1, -1).astype(np.int8) if len(known) == 2 else y


def _sort_labels(labels: set[str]) -> list[str]:
    try:
        return sorted(labels, key=float)
    except ValueError:
        return sorted(labels)


# --- files within files ----------------------------------------------------------------------------------


def open_file(path: Path, member: str = "") -> IO[bytes]:
    """A file to read from, or a member of an archive, unpacked on the way."""
    name = path.name.lower()
    if name.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            found = [inside for inside in archive.namelist() if inside.endswith(member)]
            if not found:
                raise DatasetError(f"{path.name} has no {member}")
            return io.BytesIO(archive.read(found[0]))
    if name.endswith((".tar.gz", ".tgz")):
        with tarfile.open(path) as archive:
            for inside in archive:
                if inside.isfile() and inside.name.endswith(member):
                    file = archive.extractfile(inside)
                    assert file is not None
                    return io.BytesIO(file.read())
        raise DatasetError(f"{path.name} has no {member}")
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    return openers.get(path.suffix.lower(), open)(path, "rb")


def open_files(entry: Entry, paths: Sequence[Path]) -> Iterator[IO[bytes]]:
    """The files of a set, or the members of its archive that the registry lists, in order."""
    members = entry.options.get("members", [""] * len(paths))
    for path, member in zip(list(paths) * (len(members) if len(paths) == 1 else 1), members, strict=True):
        yield open_file(path, member)


# --- formats ---------------------------------------------------------------------------------------------


def read_libsvm(entry: Entry, paths: Sequence[Path]) -> Content:
    """LIBSVM / SVMlight text, several files one after the other; columns from 1."""
    from sklearn.datasets import load_svmlight_file

    parts = [load_svmlight_file(file, n_features=entry.columns, zero_based=False) for file in open_files(entry, paths)]
    X = sp.vstack([part[0] for part in parts], format="csr")
    y = labels_of([f"{label:g}" for part in parts for label in part[1]], entry.options)
    if "times" in entry.options:  # a scaling to undo: x was (whole number) / times - add
        X.data = np.rint((X.data + entry.options["add"]) * entry.options["times"])
    return Content(X.toarray().astype(np.float32) if entry.kind == "dense" else X, y)


def read_csv(entry: Entry, paths: Sequence[Path]) -> Content:
    """Numbers with the label in one column (the last unless ``label`` says), ``categories`` coded, names kept."""
    options, rows = entry.options, []
    for file in open_files(entry, paths):
        lines = io.TextIOWrapper(file, encoding="utf-8", newline="")
        if options.get("delimiter") == " ":
            found = [line.split() for line in lines if line.strip()]
        else:
            found = [row for row in csv.reader(lines, delimiter=options.get("delimiter", ",")) if row]
        rows += found[1:] if options.get("header") else found
    label = options.get("label", -1)
    y = labels_of([row.pop(label) for row in rows], options)
    extra = {}
    for column in options.get("categories", []):
        names, codes = np.unique([row[column] for row in rows], return_inverse=True)
        extra[f"cat{column}"] = names
        for row, code in zip(rows, codes.tolist(), strict=True):
            row[column] = code
    X = np.array(rows, dtype=np.float32)
    return Content(sp.csr_matrix(X) if entry.kind == "sparse" else X, y, None, extra)


def read_mat(entry: Entry, paths: Sequence[Path]) -> Content:
    """A MATLAB file with ``X`` and ``Y``."""
    from scipy.io import loadmat

    file = loadmat(paths[0])
    y = labels_of([f"{label:g}" for label in np.asarray(file["Y"], dtype=float).ravel()], entry.options)
    return Content(sp.csr_matrix(file["X"], dtype=np.float64), y)


def read_cifar(entry: Entry, paths: Sequence[Path]) -> Content:
    """The binary version of CIFAR-10: records of a label and 3,072 bytes; ``rows`` says from where to where."""
    first, last = entry.options["rows"]
    records = np.frombuffer(open_file(paths[0], entry.options["member"]).read(), np.uint8).reshape(-1, 3073)[first:last]
    return Content(records[:, 1:].copy(), records[:, 0].astype(np.int32))


def read_labeled_texts(entry: Entry, paths: Sequence[Path]) -> Content:
    """A line per text: label, tabulator, text."""
    lines = open_file(paths[0], entry.options.get("member", "")).read().decode("utf-8").splitlines()
    pairs = [line.split("\t", 1) for line in lines if line.strip()]
    return Content(None, labels_of([label for label, _ in pairs], entry.options), [text for _, text in pairs])


FORMATS: dict[str, Callable[[Entry, Sequence[Path]], Content]] = {
    "libsvm": read_libsvm,
    "csv": read_csv,
    "mat": read_mat,
    "cifar": read_cifar,
    "labeled texts": read_labeled_texts,
}


# --- download a file: whole, checked, or not at all ------------------------------------------------------

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


def downloads_folder() -> Path:
    """Where the files of the official sources are kept, as they came."""
    return folders.cache_folder() / "downloads"


def get(name: str, report: Report | None = None) -> list[Path]:
    """Fetch a data set, unless it is on this machine already, and return its file or files.

    Parameters
    ----------
    name : str
        A name of the registry. For a task, what it is made of is fetched.
    report : callable, optional
        Told how far a download is.

    Raises
    ------
    DatasetError
        One sentence that says what went wrong, where to get the set and where to put it.
    """
    entry = find(name)
    if entry.is_task:
        return [path for part in entry.parts for path in get(part, report)]
    present = folders.path_of(entry)
    if present is not None:
        return [present]
    if not entry.can_be_fetched:
        raise DatasetError(missing(entry))
    try:
        paths = [_fetch(source, report) for source in entry.files]
        content = convert(entry, paths)
    except DatasetError as error:
        raise DatasetError(f"{error}. {by_hand(entry)}") from None
    path = folders.cache_folder() / entry.file_name
    folders.write(content, path)
    return [path]


def _fetch(source: RemoteFile, report: Report | None) -> Path:
    path = downloads_folder() / source.file_name
    if path.is_file() and has_checksum(path, source.checksum):
        return path
    download(source.url, path, source.checksum, report)
    return path


def missing(entry: Entry) -> str:
    """One sentence: the set is not here; where to get it and where to put it."""
    if entry.can_be_fetched:
        return f"{entry.name} is not on this machine: run 'askance data get {entry.name}', or {_by_hand(entry)}"
    return (
        f"{entry.name} is not on this machine and has no download that askance could convert: make "
        f"{entry.file_name} from {entry.source}, {entry.page}, and {_put_it()}"
    )


def by_hand(entry: Entry) -> str:
    """One sentence: what to do without a network."""
    sentence = _by_hand(entry)
    return sentence[0].upper() + sentence[1:]


def _by_hand(entry: Entry) -> str:
    urls = " and ".join(source.url for source in entry.files)
    names = " and ".join(source.file_name for source in entry.files)
    return (
        f"get {urls} elsewhere, put {names} into {downloads_folder()}, and run 'askance data get {entry.name}'; "
        f"or, with {entry.file_name} at hand, {_put_it()}"
    )


def _put_it() -> str:
    folder = folders.local_folder()
    where = f"{folder}, the folder that ASKANCE_DATA names" if folder else "a folder that ASKANCE_DATA names"
    return f"put it into {where}."
