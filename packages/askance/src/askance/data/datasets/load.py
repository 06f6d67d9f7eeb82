"""Load a data set by name, or a task that a paper made of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from askance.data.datasets import folders
from askance.data.datasets.convert import check
from askance.data.datasets.fetch import missing
from askance.data.datasets.registry import Entry, find
from askance.data.datasets.tasks import TASKS, one_against_the_rest
from askance.errors import DatasetError

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
