"""From a file or the name of a data set to X and y: the one place of the experiments that reads anything."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from askance.data.formats.read_options import ReadOptions, change
from askance.errors import InvalidInput


class Loaded(NamedTuple):
    """What was read."""

    name: str
    X: Any
    y: np.ndarray
    is_scaled: bool = False
    """Whether its fields were scaled as they were read."""
    unlabeled: int = 0
    """Events without a label, which are left out."""
    bad_lines: int = 0
    """Lines that could not be read."""


def load_table(
    source: str | os.PathLike[str], reading: ReadOptions | None = None, **changes: Any
) -> tuple[str, Any, np.ndarray]:
    """Name, X and y of a file or of a data set, nothing scaled.

    Parameters
    ----------
    source : path or str
        Anything ``open_stream`` reads, or a name that ``askance data list`` shows.
    reading : ReadOptions, optional
        How to read a file.
    **changes
        Single ``ReadOptions``, in the place of those of ``reading``.
    """
    return load(source, False, change(reading or ReadOptions(), **changes))[:3]


def load(source: str | os.PathLike[str], running: bool, reading: ReadOptions) -> Loaded:
    """As ``load_table``; with ``running``, fields of files that have any are scaled."""
    path = Path(source)
    if str(source) != "-" and not path.exists():
        return Loaded(*_load_by_name(str(source)))
    name = path.name.split(".")[0] or str(source)
    if path.suffix == ".npz" and reading == ReadOptions():
        return Loaded(name, *_read_npz(path))
    from askance.data import open_stream

    with open_stream(source, reading, raw=True) as stream:
        has_fields = any(field.kind not in ("sparse", "label") for field in stream.fields)
        if not (running and has_fields):
            return _gather(stream, name, is_scaled=False)
        if str(source) == "-":
            raise InvalidInput("the standard input cannot be read twice, as the scaling 'auto' needs; choose another.")
    with open_stream(source, reading, raw=False) as stream:
        return _gather(stream, name, is_scaled=True)


def _load_by_name(name: str) -> tuple[str, Any, np.ndarray]:
    from askance.data.datasets import load_dataset

    if os.sep in name or "." in name:
        raise InvalidInput(f"there is no file {name!r}.")
    dataset = load_dataset(name)
    return dataset.name, dataset.X, dataset.y


def _gather(stream: Any, name: str, is_scaled: bool) -> Loaded:
    """All rows that have a label; without the columns that hashing left empty."""
    rows, labels = [], []
    unlabeled = 0
    for batch in stream:
        if batch.y is None:
            raise InvalidInput(f"{name!r} has no labels; a comparison needs the label of every event.")
        known = np.array([label is not None for label in batch.y]) if batch.y.dtype == object else slice(None)
        unlabeled += len(batch.y) - len(batch.y[known])
        rows.append(batch.X[known])
        labels.append(batch.y[known])
    if not rows:
        raise InvalidInput(f"{name!r} is empty.")
    width = max(part.shape[1] for part in rows)
    if not width:
        stream.refuse_no_columns()
    for part in rows:
        part.resize(part.shape[0], width)
    X = sp.vstack(rows, format="csr")
    used = np.bincount(X.indices, minlength=width) > 0
    if used.mean() < 0.5:
        X = X[:, np.flatnonzero(used)]
    y = np.concatenate(labels)
    return Loaded(name, X, np.array(y.tolist()) if y.dtype == object else y, is_scaled, unlabeled, stream.bad_lines)


def _read_npz(path: Path) -> tuple[Any, np.ndarray]:
    """An ``.npz`` as it is: dense arrays stay dense, in their own type."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in ("X", "y", "data", "indices", "indptr", "shape") if name in file}
    except (ValueError, OSError, zipfile.BadZipFile, EOFError, KeyError) as error:
        raise InvalidInput(f"{str(path)!r} cannot be read: {str(error).rstrip('.')}.") from None
    wanted = ("data", "indices", "indptr", "shape", "y") if "indptr" in arrays else ("X", "y")
    for name in wanted:
        if name not in arrays:
            raise InvalidInput(
                f"{str(path)!r} has no array {name!r}; askance reads data, indices, indptr, shape and y (sparse), "
                "or X and y."
            )
    if "indptr" not in arrays:
        return arrays["X"], arrays["y"]
    try:
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        return sp.csr_matrix(parts, shape=tuple(arrays["shape"].tolist())), arrays["y"]
    except (ValueError, TypeError) as error:
        raise InvalidInput(f"{str(path)!r} is not a CSR matrix: {str(error).rstrip('.')}.") from None
