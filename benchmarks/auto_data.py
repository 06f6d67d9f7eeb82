"""The real streams on which ``make("auto")`` is measured: text, numbers, images; balanced and rare; two classes, more.

Each is offered in three preparations, to whoever wants them: as it is, every event to unit length, and every feature to
zero mean and unit variance (sparse sets of many columns: unit root mean square), the last with statistics of the whole
set, which a stream does not have: an advantage that the others get and ``auto`` does not.
"""

import gzip
import json
import os
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

PREPARATIONS = ("raw", "l2", "standard")
NATURAL = {"elec2", "ijcnn1", "spam_corpus", "spamassassin"}
"""Streams whose order means something: an "order" of these is another stretch of the stream."""
CHOSEN_ON = (
    "a8a", "w8a", "mushrooms", "spambase", "svmguide1", "magic04", "farm_ads", "reuters_moneyfx", "sms_spam",
    "elec2", "spam_corpus", "satimage", "letter", "usps", "news20_counts", "ijcnn1", "shuttle", "covtype",
)  # fmt: skip
"""The sets on which the constants of ``auto`` were chosen."""
HELD_OUT = (
    "codrna_train", "german", "amazon_alexa", "spamassassin", "mnist", "dna",
)  # fmt: skip
STRETCHES = 5  # of a stream whose order means something, beginning a fifth of it apart; up to 20 lie between them
SMALL_CLASS = 20  # classes with fewer events than this in the whole set are left out


@dataclass(frozen=True, eq=False)
class Stream:
    """Events in playing order, in one preparation."""

    X: sp.csr_matrix
    y: np.ndarray


@cache
def whole(name: str) -> tuple[sp.csr_matrix, np.ndarray]:
    """A set as it lies in the folder that ASKANCE_DATA names."""
    folder = Path(os.environ["ASKANCE_DATA"])
    if (folder / f"{name}.jsonl.gz").exists():
        from sklearn.feature_extraction.text import HashingVectorizer

        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        words = HashingVectorizer(n_features=2**15, alternate_sign=False, norm=None)
        X = words.transform([row["text"] for row in rows])
        y = np.array([row["y"] for row in rows])
    else:
        with np.load(folder / f"{name}.npz") as file:
            if "indptr" in file:
                X = sp.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
            else:
                X = sp.csr_matrix(file["X"].astype(np.float64))
            y = file["y"].astype(int)
    X = X.astype(np.float64).tocsr()
    labels, counts = np.unique(y, return_counts=True)
    kept = np.isin(y, labels[counts >= SMALL_CLASS])
    return X[kept], y[kept]


@cache
def prepared(name: str, preparation: str) -> sp.csr_matrix:
    X, _ = whole(name)
    if preparation == "l2":
        lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        return sp.diags(1.0 / np.where(lengths > 0, lengths, 1.0)) @ X
    if preparation == "standard":
        mean_squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        if X.shape[1] > 1000:
            return (X @ sp.diags(1.0 / np.sqrt(np.where(mean_squares > 0, mean_squares, 1.0)))).tocsr()
        means = np.asarray(X.mean(axis=0)).ravel()
        spread = np.sqrt(np.maximum(mean_squares - means**2, 0.0))
        return sp.csr_matrix((X.toarray() - means) / np.where(spread > 1e-12, spread, 1.0))
    return X


@lru_cache(maxsize=8)
def stream(name: str, preparation: str, order: int, most_events: int) -> Stream:
    """One order of a set, cut to size."""
    _, y = whole(name)
    n = len(y)
    if name in NATURAL:
        place = (order % STRETCHES) / STRETCHES + order // STRETCHES / (4 * STRETCHES)  # between those of before
        first = int(place * max(0, n - most_events))
        rows = np.arange(first, min(n, first + most_events))
    else:
        rows = np.random.default_rng(1000 + order).permutation(n)[:most_events]
    return Stream(sp.csr_matrix(prepared(name, preparation)[rows]), y[rows])


class Played(NamedTuple):
    """What came of a run: two metrics, both in [0, 1], and the labels bought."""

    balanced: float
    accuracy: float
    labels: int


def judge(truth: np.ndarray, predicted: np.ndarray, labels: int) -> Played:
    """Balanced accuracy is the mean over the classes of the share of their events that were predicted."""
    recalls = [np.mean(predicted[truth == label] == label) for label in np.unique(truth)]
    return Played(float(np.mean(recalls)), float(np.mean(predicted == truth)), labels)
