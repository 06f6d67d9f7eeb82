"""Where data sets lie on this machine, and how their files are read and written.

Two places, in this order: the folder that the environment variable ``ASKANCE_DATA`` names, with a file ``name.npz`` or
``name.jsonl.gz`` for each set; and the cache, which ``askance data get`` fills.

An ``.npz`` has ``data``, ``indices``, ``indptr``, ``shape`` (CSR, columns from 0) or ``X`` (dense), and ``y``; a
``.jsonl.gz`` has a JSON object a line, with at least ``text`` and ``y``.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from askance.atomic import atomic_write
from askance.compile import cache_directory
from askance.data.datasets.registry import Entry
from askance.errors import DatasetError


@dataclass
class Content:
    """What a file holds: rows or texts, labels, and whatever else is there for each row."""

    X: Any
    """CSR matrix or 2-D array; None for texts."""
    y: np.ndarray
    texts: list[str] | None = None
    extra: dict[str, Any] = field(default_factory=dict)


def cache_folder() -> Path:
    """Where downloaded sets are kept, beside the compiled kernels."""
    return cache_directory().parent / "data"


def local_folder() -> Path | None:
    """The folder that ``ASKANCE_DATA`` names, if it names one."""
    named = os.environ.get("ASKANCE_DATA")
    return Path(named).expanduser() if named else None


def path_of(entry: Entry) -> Path | None:
    """The file of a set on this machine; None if there is none."""
    for folder in (local_folder(), cache_folder()):
        if folder is not None and (folder / entry.file_name).is_file():
            return folder / entry.file_name
    return None


# --- reading ---------------------------------------------------------------------------------------------


def read(path: Path) -> Content:
    """What is in a file of a data set."""
    try:
        return _read_texts(path) if path.name.endswith(".jsonl.gz") else _read_arrays(path)
    except DatasetError:
        raise
    except Exception as error:  # whatever a damaged file makes a parser say
        raise DatasetError(
            f"{str(path)!r} cannot be read ({type(error).__name__}: {str(error).rstrip('.')}); remove it and get "
            "it again."
        ) from None


def _read_arrays(path: Path) -> Content:
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    names = ("data", "indices", "indptr", "shape") if "indptr" in arrays else ("X",)
    for name in (*names, "y"):
        if name not in arrays:
            raise DatasetError(f"{str(path)!r} has no array {name!r}; a data set has {', '.join(names)} and y.")
    if "indptr" in arrays:
        from scipy.sparse import csr_matrix

        parts = arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"]
        X: Any = csr_matrix(parts, shape=tuple(int(n) for n in arrays["shape"]))
        X.check_format(full_check=True)
    else:
        X = arrays["X"]
    if X.ndim != 2 or X.shape[0] != len(arrays["y"]):
        raise DatasetError(f"{str(path)!r} has {len(arrays['y']):,} labels for rows of shape {X.shape}.")
    extra = {name: array for name, array in arrays.items() if name not in (*names, "y")}
    return Content(X, arrays["y"], None, extra)


def _read_texts(path: Path) -> Content:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or "text" not in row or "y" not in row:
            raise DatasetError(f"line {number} of {str(path)!r} has no 'text' or no 'y'.")
    others = [name for name in (rows[0] if rows else {}) if name not in ("text", "y")]
    extra = {name: np.array([row.get(name) for row in rows]) for name in others}
    return Content(None, np.array([row["y"] for row in rows]), [row["text"] for row in rows], extra)


# --- writing ---------------------------------------------------------------------------------------------


def write(content: Content, path: Path) -> None:
    """Write a set to a file, which appears complete or not at all."""
    from scipy.sparse import issparse

    def write_to(file: IO[bytes]) -> None:
        if content.texts is not None:
            with gzip.open(file, "wt", encoding="utf-8") as lines:
                for text, label in zip(content.texts, content.y.tolist(), strict=True):
                    lines.write(json.dumps({"text": text, "y": label}) + "\n")
        elif issparse(content.X):
            X = content.X
            np.savez_compressed(
                file, data=X.data.astype(np.float32), indices=X.indices.astype(np.int32),
                indptr=X.indptr.astype(np.int64), shape=np.array(X.shape), y=content.y, **content.extra,
            )  # fmt: skip
        else:
            np.savez_compressed(file, X=content.X, y=content.y, **content.extra)

    write_whole(path, write_to)


def write_whole(path: Path, write_to: Callable[[IO[bytes]], None]) -> None:
    """Write a file, and the folder it is in; it appears complete or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as name, open(name, "wb") as file:
        write_to(file)


def fingerprint(content: Content) -> str:
    """A name for the rows, their order and their labels, however they are stored.

    Two files with the same fingerprint give the same numbers in every experiment. Values count in single precision, the
    precision in which sets are kept.
    """
    digest = hashlib.sha256()
    if content.texts is not None:
        for text in content.texts:
            digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    else:
        from scipy.sparse import csr_matrix

        X = csr_matrix(content.X, dtype=np.float32)
        X.sum_duplicates()
        X.eliminate_zeros()
        digest.update(repr(tuple(int(n) for n in X.shape)).encode())
        for array, kind in ((X.data, "<f4"), (X.indices, "<i4"), (X.indptr, "<i8")):
            digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())
    digest.update(np.ascontiguousarray(content.y, dtype="<i4").tobytes())
    return digest.hexdigest()
