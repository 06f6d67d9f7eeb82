"""From the files that the official sources offer to rows and labels.

One reader per format, named in the registry. Labels become -1 and +1 for two classes, 0 to k-1 for more, in the
order of the source's labels unless the registry says which is which.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from askance.data.datasets.folders import Content
from askance.data.datasets.registry import Entry
from askance.errors import DatasetError


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
    place = {label: at for at, label in enumerate(known)}
    y = np.array([place[label] for label in found.tolist()], dtype=np.int32)
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
