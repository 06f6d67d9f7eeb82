"""A labeled table of events, and how it is scaled.

A :class:`Table` is a CSR matrix with class numbers beside it, in the form the stream loop plays without a copy; wide
dense data stay dense where that is much smaller.

``load`` reads one from a file or by the name of a data set. Nothing else in the experiments reads data.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from askance.data.formats.labels import refuse_quantities
from askance.data.formats.read_options import ReadOptions, change
from askance.errors import InvalidInput, InvalidParameter
from askance.learner.labels import MISSING, distinct_known_labels, encode, select_known


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


SCALES = ("auto", "none", "standard", "l2", "minmax")
DENSE_LIMIT = 60_000_000
"""Numbers a sparse table may become when zero is moved elsewhere (720 MB)."""
MOSTLY_NUMBERS, MANY_COLUMNS = 0.2, 1000
"""What ``auto`` takes for a table of numbers: so large a share is not zero, in not more columns than this."""
WIDE = 64  # columns, from which on dense data stay dense if they are large


@dataclass(frozen=True)
class Table:
    """Events and their classes, scaled and ready to be played.

    ``negatives / positives``, under the name ``imbalance``, is the papers' T_n / T_p, the usual choice for ``rho``.
    """

    name: str
    X: Any
    """A CSR matrix of float64 with int32 columns, or a two-dimensional array."""
    y: np.ndarray
    """The class of each event as an index into ``classes``."""
    classes: np.ndarray
    """The labels there are, sorted."""
    preparation: str = "none"
    """What was done to the columns, in words."""
    positive: int | None = 1
    """Which class counts as positive, as an index into ``classes``; None among three or more if none was named."""
    unlabeled: int = 0
    """How many events had no label and were left out."""
    bad_lines: int = 0
    """How many lines could not be read and were left out."""

    @property
    def n_events(self) -> int:
        """How many events there are."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """How many columns there are, the constant included."""
        return int(self.X.shape[1])

    @property
    def positives(self) -> int:
        """T_p: how many events are of the positive class."""
        if self.positive is None:
            raise InvalidParameter(f"{self.name} has {len(self.classes)} classes, none of them named as positive.")
        return int(np.count_nonzero(self.y == self.positive))

    @property
    def negatives(self) -> int:
        """T_n: how many are not."""
        return self.n_events - self.positives

    @property
    def imbalance(self) -> float:
        """T_n / T_p."""
        return self.negatives / max(1, self.positives)

    @cached_property
    def askable(self) -> float:
        """The share of events with any feature: one without is never asked."""
        filled = np.diff(self.X.indptr) > 0 if sp.issparse(self.X) else self.X.any(axis=1)
        return float(np.count_nonzero(filled)) / max(1, self.n_events)

    @cached_property
    def digest(self) -> str:
        """A name for the content."""
        return digest_data(self.X, self.y)

    @classmethod
    def of(
        cls,
        source: Any,
        reading: ReadOptions | None = None,
        *,
        positive: Any = None,
        running: bool = False,
        **changes: Any,
    ) -> Table:
        """A table from a file, the name of a data set, ``(X, y)``, ``(name, X, y)`` or another table.

        Events without a label are left out, and counted.

        Parameters
        ----------
        source
            Where from.
        positive : label, optional
            The positive class; the second of two unless given.
        running : bool, default False
            For files with named fields: scale each as ``askance run`` does, numbers by running statistics, texts to
            length 1. Nothing else is scaled afterwards, then, by ``prepared("auto")``.
        reading : ReadOptions, optional
            How to read a file.
        **changes
            Single ``ReadOptions``, in the place of those of ``reading``.
        """
        if isinstance(source, Table):
            return source
        reading = change(reading or ReadOptions(), **changes)
        if isinstance(source, tuple) and len(source) in (2, 3):
            loaded = Loaded(*source) if len(source) == 3 else Loaded("data", *source)
        else:
            loaded = load(source, running, reading)
        named = [str(label) for label in reading.classes or ()]
        labels, is_known = select_known(loaded.y, named or None)
        name, y = loaded.name, np.asarray(labels)
        n_labels = len(y) if is_known is None else len(is_known)
        classes = distinct_known_labels(y, "y", named)
        foreign = [label for label in classes.tolist() if named and str(label) not in named]
        if foreign:
            raise InvalidInput(
                f"{name} has the label {str(foreign[0])!r}, which is not one of the classes {', '.join(named)}; name "
                "all of them."
            )
        if len(classes) < 2:
            raise InvalidInput(f"{name} has only one class; there is nothing to tell apart.")
        if not named:
            refuse_quantities(classes, len(y), str(name))
        X = as_rows(loaded.X)
        if X.shape[0] != n_labels:
            raise InvalidInput(f"{name} has {X.shape[0]:,} events but {n_labels:,} labels.")
        X, answers = X if is_known is None else X[is_known], encode(y, classes)
        if (has_word := answers == MISSING).any():
            X, answers = X[~has_word], answers[~has_word]
        unlabeled = loaded.unlabeled + n_labels - len(answers)
        at = 1 if len(classes) == 2 else None
        if positive is not None:
            found = np.flatnonzero([label == positive or str(label) == str(positive) for label in classes.tolist()])
            if not len(found):
                known = ", ".join(str(label) for label in classes[:10].tolist())
                raise InvalidParameter(f"{name} has no class {positive!r}; its classes are {known}.")
            at = int(found[0])
        preparation = "running" if loaded.is_scaled else "none"
        return cls(str(name), X, answers, classes, preparation, at, unlabeled, loaded.bad_lines)

    def prepare(self, scale: str = "none", intercept: bool = False) -> Table:
        """This table with its columns scaled and, where wanted, a constant 1 appended.

        Parameters
        ----------
        scale : {"none", "standard", "l2", "minmax", "auto"}
            ``standard``: each column to mean 0 and variance 1; ``minmax``: each to [0, 1]; ``l2``: each event to
            length 1. Statistics are those of the whole table, as in the papers. ``auto``: ``standard`` for tables of
            up to 1000 columns that are mostly numbers, ``l2`` for sparse ones such as words.
        intercept : bool
            Append the constant, after scaling.
        """
        if scale not in SCALES:
            raise InvalidParameter(f"scale must be one of {', '.join(SCALES)}, got {scale!r}.")
        if scale == "auto" and self.preparation == "running":
            scale = "none"
        if scale == "auto":
            filled = self.X.nnz if sp.issparse(self.X) else np.count_nonzero(self.X)
            is_numbers = self.n_features <= MANY_COLUMNS and filled >= MOSTLY_NUMBERS * self.n_events * self.n_features
            scale = "standard" if is_numbers else "l2"
        X = {"none": lambda X: X, "standard": self._standard, "minmax": self._minmax, "l2": _unit_rows}[scale](self.X)
        if intercept:
            X = _with_constant(X)
        done = [word for word in (self.preparation, scale, "intercept" if intercept else "none") if word != "none"]
        return dataclasses.replace(self, X=as_rows(X), preparation=" + ".join(done) or "none")

    def _standard(self, X: Any) -> Any:
        mean, deviation = _mean_and_deviation(X)
        deviation[deviation <= 1e-12 * np.abs(mean)] = 1.0  # constant, up to rounding
        return self._shift(X, mean, deviation)

    def _minmax(self, X: Any) -> Any:
        low, high = (np.asarray(part.todense() if sp.issparse(part) else part).ravel() for part in _range(X))
        low, deviation = low.astype(np.float64), high.astype(np.float64) - low
        deviation[deviation == 0.0] = 1.0
        return self._shift(X, low, deviation)

    def _shift(self, X: Any, zero: np.ndarray, deviation: np.ndarray) -> Any:
        if not sp.issparse(X):
            return (X - zero) / deviation
        if not zero.any():
            return X @ sp.diags_array(1.0 / deviation)
        if X.shape[0] * X.shape[1] > DENSE_LIMIT:
            raise InvalidParameter(
                f"{self.name} is sparse, {X.shape[0]:,} x {X.shape[1]:,}, and moving the zero of its columns would "
                f"make {X.shape[0] * X.shape[1] / 1e6:,.0f} million numbers of it; scale it by l2 or none."
            )
        dense = X.toarray()
        dense -= zero
        dense /= deviation
        return dense


# --- the form that plays ---------------------------------------------------------------------------------


def as_rows(X: Any) -> Any:
    """X as CSR in float64 with sorted int32 columns, or as it is where it is dense, wide and large."""
    if not sp.issparse(X):
        X = np.asarray(X)
        if X.ndim != 2 or X.dtype.kind not in "fiub":
            raise InvalidInput(f"X must be a two-dimensional array of numbers, got {X.dtype} of shape {X.shape}.")
        if X.shape[1] >= WIDE and X.size > 4_000_000 and np.count_nonzero(X) > X.size / 2:
            return np.ascontiguousarray(X)
    rows = sp.csr_matrix(X, dtype=np.float64)
    if rows is X:
        rows = rows.copy()
    if rows.nnz >= 2**31:
        raise InvalidInput(
            f"X has {rows.nnz:,} entries; this command holds the table in memory and stops at 2 billion."
        )
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return sp.csr_matrix(
        (rows.data, rows.indices.astype(np.int32, copy=False), rows.indptr.astype(np.int32, copy=False)),
        shape=rows.shape,
    )


def _mean_and_deviation(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each column, the latter from the differences, which do not cancel."""
    if not sp.issparse(X):
        X = X.astype(np.float64, copy=False)
        return X.mean(axis=0), X.std(axis=0)
    n_events, n_features = X.shape
    mean = np.bincount(X.indices, X.data, n_features) / n_events
    squares = np.bincount(X.indices, (X.data - mean[X.indices]) ** 2, n_features)
    squares += (n_events - np.bincount(X.indices, minlength=n_features)) * mean**2
    return mean, np.sqrt(squares / n_events)


def _range(X: Any) -> tuple[Any, Any]:
    return X.min(axis=0), X.max(axis=0)


def _unit_rows(X: Any) -> Any:
    squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else (X.astype(np.float64) ** 2).sum(axis=1)
    length = np.sqrt(np.asarray(squares, dtype=np.float64).ravel())
    length[length == 0.0] = 1.0
    return sp.diags_array(1.0 / length) @ X if sp.issparse(X) else X / length[:, None]


def _with_constant(X: Any) -> Any:
    ones = np.ones((X.shape[0], 1))
    return sp.hstack([X, sp.csr_matrix(ones)], format="csr") if sp.issparse(X) else np.hstack([X, ones])


def digest_data(*parts: Any) -> str:
    """A name for the content of arrays and CSR matrices."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        arrays = [part.indptr, part.indices, part.data] if sp.issparse(part) else [np.asarray(part)]
        digest.update(repr(part.shape).encode())
        for array in arrays:
            digest.update(repr((array.dtype.str, array.shape)).encode())
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
