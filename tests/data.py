"""The real sets the tests play, from the folder that the environment variable ASKANCE_DATA names."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp


@cache
def _read(path):
    with np.load(path) as file:
        if "indptr" in file:
            X = sp.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
            return X.astype(np.float64), file["y"].astype(int)
        return file["X"].astype(np.float64), file["y"].astype(int)


def load(name):
    """X (CSR or 2-D array, float64) and y (-1 and +1, or 0 to k-1); skips the test without the file."""
    folder = os.environ.get("ASKANCE_DATA")
    if not folder:
        pytest.skip("the environment variable ASKANCE_DATA names no folder with the benchmark sets")
    path = Path(folder) / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"{path.name} is not in the folder that ASKANCE_DATA names")
    return _read(path)


def sample(name, rows, *, seed=0, columns=None, standardize=False):
    """The first rows of a seeded permutation; `columns` keeps the most used, `standardize` scales them."""
    X, y = load(name)
    if standardize:
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    if columns is not None:
        used = np.asarray((X != 0).sum(axis=0)).ravel()
        X = X[:, np.sort(np.argsort(-used, kind="stable")[:columns])]
    order = np.random.default_rng(seed).permutation(len(y))[:rows]
    return X[order], y[order]
