"""The real sets the tests play: those that scikit-learn brings along, anywhere; the others from the folder that the
environment variable ASKANCE_DATA names."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine


@cache
def _read(path):
    with np.load(path) as file:
        if "indptr" in file:
            X = sp.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
            return X.astype(np.float64), file["y"].astype(int)
        return file["X"].astype(np.float64), file["y"].astype(int)


SHIPPED = {"breast_cancer": load_breast_cancer, "digits": load_digits, "iris": load_iris, "wine": load_wine}


@cache
def _shipped(name):
    X, y = SHIPPED[name](return_X_y=True)
    return X.astype(np.float64), 2 * y - 1 if len(np.unique(y)) == 2 else y


def load(name):
    """X (CSR or 2-D array, float64) and y (-1 and +1, or 0 to k-1); skips the test without the file."""
    if name in SHIPPED:
        return _shipped(name)
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
