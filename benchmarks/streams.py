"""The streams the benchmarks play: a real one with short rows, a generated one with long rows, images.

Real data is looked for in the folder named by the environment variable ``ASKANCE_DATA``. Without it the
measurements that need it are skipped, and say so.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

URL_FEATURES = 3_200_000
URL_EVENTS = 100_000
URL_DRAWS_PER_EVENT = 131  # some columns are drawn twice in a row; about 115 different ones remain
COMMON_COLUMNS = 20_000


class DataMissingError(RuntimeError):
    """A measurement needs real data that is not on this machine."""


@dataclass(frozen=True)
class Stream:
    """Events in playing order, as CSR with int32 columns and float64 values, and labels -1/+1."""

    name: str
    X: sp.csr_matrix
    y: np.ndarray

    @property
    def n_events(self) -> int:
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    @property
    def nonzeros_per_event(self) -> float:
        return self.X.nnz / self.X.shape[0]

    def first(self, n_events: int) -> "Stream":
        return Stream(self.name, self.X[:n_events], self.y[:n_events])


def data_file(name: str) -> Path:
    """The path of a real data file, or a DataMissingError that says what to do."""
    folder = os.environ.get("ASKANCE_DATA")
    if not folder:
        raise DataMissingError(f"needs {name}: set ASKANCE_DATA to the folder that holds it")
    path = Path(folder) / name
    if not path.exists():
        raise DataMissingError(f"needs {name}, which the folder ASKANCE_DATA names does not hold")
    return path


def csr(values, columns, row_starts, shape) -> sp.csr_matrix:
    """A CSR matrix with sorted int32 columns and float64 values, as the fused loops expect it."""
    matrix = sp.csr_matrix((values.astype(np.float64), columns.astype(np.int32), row_starts), shape=shape)
    matrix.sort_indices()
    matrix.indptr = matrix.indptr.astype(np.int32)
    return matrix


def w8a(repeats: int = 10, seed: int = 0) -> Stream:
    """w8a (64,700 x 300, about 12 non-zeros a row) in a random order, played ``repeats`` times over."""
    stored = np.load(data_file("w8a.npz"))
    X = csr(stored["data"], stored["indices"], stored["indptr"], tuple(stored["shape"]))
    order = np.random.default_rng(seed).permutation(X.shape[0])
    X, y = X[order], stored["y"][order]
    if repeats > 1:
        X, y = sp.vstack([X] * repeats, format="csr"), np.tile(y, repeats)
    return Stream("w8a", csr(X.data, X.indices, X.indptr, X.shape), y)


def real_set(name: str) -> tuple[sp.csr_matrix, np.ndarray]:
    """A real set in its own order: sparse ones as they are, dense ones standardised."""
    stored = np.load(data_file(f"{name}.npz"))
    if "indptr" in stored:
        X = csr(stored["data"], stored["indices"], stored["indptr"], tuple(stored["shape"]))
    else:
        dense = stored["X"].astype(np.float64)
        spread = dense.std(axis=0)
        X = sp.csr_matrix((dense - dense.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
        X = csr(X.data, X.indices, X.indptr, X.shape)
    return X, stored["y"].astype(np.int64)


def sets_at_hand(names: Iterable[str]) -> Iterator[tuple[str, sp.csr_matrix, np.ndarray]]:
    """Real sets of two classes, -1 and 1, with their names; one that is not there is told on stderr, and left out."""
    for name in names:
        try:
            X, y = real_set(name)
        except DataMissingError as reason:
            print(reason, file=sys.stderr)
        else:
            yield name, X, np.where(y > 0, 1, -1)


def url_like(n_events: int = URL_EVENTS, n_features: int = URL_FEATURES, seed: int = 0) -> Stream:
    """A stand-in for the URL reputation stream: about 115 of 3.2 million features in each event.

    How often a column occurs follows Zipf's law, with the ranks scattered over the columns, so that the
    frequent ones do not sit side by side. One value in ten is a number in (0, 1), the rest are 1. A hidden
    sparse linear model, every tenth of the 20,000 commonest columns, gives the labels, a third of them
    positive; noise turns some of them round.
    """
    rng = np.random.default_rng(seed)
    # The density of rank r is proportional to 1/r, whose distribution function is a logarithm.
    uniform = rng.random((n_events, URL_DRAWS_PER_EVENT))
    ranks = np.minimum(np.exp(uniform * np.log(n_features)).astype(np.int64) - 1, n_features - 1)
    column_of_rank = rng.permutation(n_features).astype(np.int32)
    columns = column_of_rank[ranks]
    columns.sort(axis=1)
    is_new = np.ones(columns.shape, dtype=bool)
    is_new[:, 1:] = columns[:, 1:] != columns[:, :-1]
    row_starts = np.zeros(n_events + 1, dtype=np.int32)
    np.cumsum(is_new.sum(axis=1), out=row_starts[1:])
    columns = columns[is_new]

    values = np.ones(len(columns))
    is_real = rng.random(len(columns)) < 0.1
    values[is_real] = rng.uniform(0.05, 1.0, is_real.sum())
    X = csr(values, columns, row_starts, (n_events, n_features))

    hidden = np.zeros(n_features)
    hidden[column_of_rank[:COMMON_COLUMNS:10]] = rng.standard_normal(len(range(0, COMMON_COLUMNS, 10)))
    truth = X @ hidden
    truth += 0.2 * truth.std() * rng.standard_normal(n_events)
    y = np.where(truth > np.quantile(truth, 2 / 3), 1, -1).astype(np.int8)
    return Stream("URL-like", X, y)


def cifar() -> tuple[np.ndarray, np.ndarray]:
    """The first 10,000 CIFAR-10 training images, d = 3072, float64; class 0 (+1) against the rest (-1)."""
    parts = [np.load(data_file(f"cifar10_part{part}.npz")) for part in (1, 2)]
    X = np.concatenate([part["X"] for part in parts]).astype(np.float64)
    y = np.concatenate([part["y"] for part in parts])
    return X, np.where(y == 0, 1, -1).astype(np.int8)


def dense_random(n_events: int, n_features: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Dense Gaussian events of length about one, with labels from a noisy linear model."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_events, n_features)) / np.sqrt(n_features)
    truth = X @ rng.standard_normal(n_features) + 0.3 * rng.standard_normal(n_events)
    return X, np.where(truth > 0, 1, -1).astype(np.int8)
