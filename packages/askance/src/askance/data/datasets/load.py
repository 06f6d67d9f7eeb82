"""Load a data set by name, or a task that a paper made of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from askance.data.datasets import folders
from askance.data.datasets.fetch import check, missing
from askance.data.datasets.folders import Content
from askance.data.datasets.registry import Entry, find
from askance.errors import DatasetError, InvalidParameter

# --- tasks that the papers made of public sets -----------------------------------------------------------


def one_against_the_rest(content: Content, name: str, label: str) -> Content:
    """One class of several as +1, all others as -1."""
    known = np.unique(content.y)
    if len(known) < 3 or label not in {str(one) for one in known.tolist()}:
        there = ", ".join(str(one) for one in known[:30].tolist())
        raise InvalidParameter(f"{name} has no class {label!r} to set against others; its classes are {there}.")
    y = np.where(content.y == int(label), 1, -1).astype(np.int8)
    return Content(content.X, y, content.texts, content.extra)


def _select(content: Content, rows: np.ndarray, y: np.ndarray) -> Content:
    texts = None if content.texts is None else [content.texts[row] for row in rows.tolist()]
    X = None if content.X is None else content.X[rows]
    return Content(X, y, texts)


def binary(parts: list[Content], options: dict[str, Any]) -> Content:
    """Some classes as +1, some others (all others unless ``negative`` lists them) as -1; the rest is left out."""
    content = parts[0]
    positive = np.isin(content.y, options["positive"])
    negative = np.isin(content.y, options["negative"]) if "negative" in options else ~positive
    rows = np.flatnonzero(positive | negative)
    return _select(content, rows, np.where(positive[rows], 1, -1).astype(np.int8))


def first_rows(parts: list[Content], options: dict[str, Any]) -> Content:
    """The first rows only: where a file is training and test set together, and a paper uses the former."""
    rows = np.arange(options["rows"])
    return _select(parts[0], rows, parts[0].y[rows])


def join_parts(parts: list[Content], options: dict[str, Any]) -> Content:
    """Several sets, one after the other."""
    rows = [part.X for part in parts]
    X = sp.vstack(rows, format="csr") if sp.issparse(rows[0]) else np.concatenate(rows)
    return Content(X, np.concatenate([part.y for part in parts]))


def interleave(parts: list[Content], options: dict[str, Any]) -> Content:
    """Columns of category codes become one column per category, behind the others."""
    content, codes = parts[0], options["categories"]
    X = sp.csc_matrix(content.X)
    kept = [column for column in range(X.shape[1]) if column not in codes]
    blocks: list[Any] = [X[:, kept]]
    for column in codes:
        code = np.asarray(X[:, [column]].todense()).ravel().astype(int)
        ones = np.ones(len(code))
        n_categories = len(content.extra.get(f"cat{column}", ())) or int(code.max()) + 1
        blocks.append(sp.csr_matrix((ones, (np.arange(len(code)), code)), shape=(len(code), n_categories)))
    return Content(sp.hstack(blocks, format="csr"), content.y)


TASKS: dict[str, Callable[[list[Content], dict[str, Any]], Content]] = {
    "binary": binary,
    "first rows": first_rows,
    "joined": join_parts,
    "spread out": interleave,
}


TEXT_BITS = 18
"""Words of texts are hashed into 2^18 columns."""


@dataclass(frozen=True)
class Dataset:
    """Rows and labels, in the order of the source. Nothing is scaled, shuffled or left out."""

    name: str
    X: Any
    """A CSR matrix or a two-dimensional array of float64; for texts, counts of hashed words."""
    y: np.ndarray
    """-1 and +1 for two classes, 0 to k-1 for more."""
    entry: Entry
    """Where it comes from."""
    texts: list[str] | None = None
    extra: dict[str, Any] | None = None
    """Other columns of the file, such as times."""

    def __repr__(self) -> str:
        rows, columns = self.X.shape
        return f"Dataset({self.name!r}, {rows:,} x {columns:,}, {len(np.unique(self.y))} classes)"


def load_dataset(name: str) -> Dataset:
    """A data set by its name in the registry, from the folder ``ASKANCE_DATA`` names or from the cache.

    Parameters
    ----------
    name : str
        A name that ``askance data list`` shows; or ``set:k`` for class ``k`` of a set with several classes against all
        the others, such as ``letter:7``.

    Raises
    ------
    DatasetError
        The set is not on this machine; the message says where to get it and where to put it.
    """
    base, colon, label = name.partition(":")
    entry = find(base)
    content = content_of(entry)
    if colon:
        content = one_against_the_rest(content, base, label)
    return Dataset(name, _rows(content), content.y, entry, content.texts, content.extra)


def available(name: str) -> bool:
    """Whether a set, or what a task is made of, is on this machine."""
    entry = find(name.partition(":")[0])
    if entry.is_task:
        return all(available(part) for part in entry.parts)
    return folders.path_of(entry) is not None


def content_of(entry: Entry) -> folders.Content:
    """What a set or task holds, checked against the registry."""
    if entry.is_task:
        parts = [content_of(find(part)) for part in entry.parts]
        content = TASKS[entry.options["make"]](parts, entry.options)
    else:
        path = folders.path_of(entry)
        if path is None:
            raise DatasetError(missing(entry))
        content = folders.read(path)
    try:
        check(entry, content)
    except DatasetError as error:
        raise DatasetError(f"{error}; the file is not the one the registry means.") from None
    return content


def _rows(content: folders.Content) -> Any:
    if content.texts is not None:
        from sklearn.feature_extraction.text import HashingVectorizer

        words = HashingVectorizer(n_features=2**TEXT_BITS, norm=None, alternate_sign=False, dtype=np.float64)
        return words.transform(content.texts)
    X = content.X
    if sp.issparse(X):
        return X.astype(np.float64)
    if X.size > 4_000_000 and np.count_nonzero(X) < X.size // 3:  # digits on a black ground
        return sp.csr_matrix(X, dtype=np.float64)
    return X.astype(np.float64)
