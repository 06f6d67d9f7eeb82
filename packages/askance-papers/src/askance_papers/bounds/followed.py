"""One play of a stream, with all that the theorems speak of."""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from askance.compare.table import Table
from askance.learner.make import settings_of

SOFTNESS = (0.01, 0.1, 1.0, 10.0, 100.0)
HARD = 1e6


@dataclass(frozen=True)
class Followed:
    """What happened, event by event, and how far the weights were from some fixed ones.

    The names are those of the papers' letters in words: M is ``wrong``, Z ``asked``, L ``unsure``.
    """

    X: np.ndarray
    y: np.ndarray
    """-1 and +1."""
    margin: np.ndarray
    variance: np.ndarray
    asked: np.ndarray
    last: np.ndarray
    """The weights at the end."""
    farthest: np.ndarray
    """max over t of ||w_t - w||^2, for each comparator w."""
    farthest_weight: np.ndarray
    """max over t and i of (w_ti - w_i)^2, for each comparator w."""

    @property
    def wrong(self) -> np.ndarray:
        return np.where(self.margin >= 0.0, 1, -1) != self.y

    def all_wrong(self) -> Followed:
        """The same events, with a mistake at each."""
        return dataclasses.replace(self, margin=-self.y.astype(float))

    @property
    def unsure(self) -> np.ndarray:
        """Right, but with a margin below one."""
        return ~self.wrong & (np.abs(self.margin) < 1.0)

    @property
    def learned(self) -> np.ndarray:
        """Asked, with a hinge loss above zero."""
        return self.asked & (self.y * self.margin < 1.0)

    def trace_of_inverse(self, gamma: float, until: int | None = None) -> float:
        """Tr(S^-1) of a full covariance: d, and ||x||^2 / gamma for each answer with a loss."""
        rows = self.X[:until][self.learned[:until]]
        return float(self.X.shape[1] + (rows**2).sum() / gamma)

    def log_determinant_of_inverse(self, gamma: float) -> float:
        """ln |S^-1| of a full covariance: of I, and x x^T / gamma for each answer with a loss."""
        rows = self.X[self.learned]
        return float(np.linalg.slogdet(np.eye(self.X.shape[1]) + rows.T @ rows / gamma)[1])


def follow(
    table: Table, name: str, seed: int, comparators: np.ndarray, needs_path: bool, **parameters: Any
) -> Followed:
    """Play a stream; if its path is needed, learn the same answers once more and look at the weights after each."""
    from sklearn.base import clone

    from askance.learner.estimator import ActiveClassifier

    query = parameters.pop("query", None)
    settings = settings_of(name, parameters) | ({"query": query} if query else {})
    clf = ActiveClassifier(**settings, classes=[0, 1], random_state=seed)
    X, y = dense(table)
    answers = (y > 0).astype(int)
    trace = clf.run(X, answers)
    farthest, farthest_weight = (comparators**2).sum(axis=1), (comparators**2).max(axis=1)  # w_1 = 0
    variance = trace.variance if trace.variance.size else np.full(len(y), np.nan)
    played = Followed(X, y, trace.margin, variance, trace.asked, clf.coef_[0], farthest, farthest_weight)
    if needs_path:
        again = clone(clf)
        for t in np.flatnonzero(played.learned):
            gaps = (comparators - again.partial_fit(X[t : t + 1], answers[t : t + 1]).coef_[0]) ** 2
            np.maximum(farthest, gaps.sum(axis=1), out=farthest)
            np.maximum(farthest_weight, gaps.max(axis=1), out=farthest_weight)
    return played


def dense(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """The events with their zeros, without those that have nothing else, and labels -1 and +1."""
    X = np.asarray(table.X.toarray() if hasattr(table.X, "toarray") else table.X, dtype=float)
    some = X.any(axis=1)
    return X[some], np.where(np.asarray(table.y) == table.positive, 1, -1)[some]


def batch_solutions(table: Table, rho: float = 1.0) -> np.ndarray:
    """Comparators: the batch hinge solutions of several softness parameters, positives weighed by rho, one a row; the
    last is the hardest, scaled to a least margin of one if it separates the classes, else zero."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    X, y = dense(table)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for softness in (*SOFTNESS, HARD):
            machine = LinearSVC(
                loss="hinge", C=softness, fit_intercept=False, class_weight={1: rho, -1: 1.0}, max_iter=5000,
                random_state=0,
            )  # fmt: skip
            rows.append(machine.fit(X, y).coef_[0])
    least = float((y * (X @ rows[-1])).min())
    rows[-1] = rows[-1] / least if least > 0.0 else np.zeros(X.shape[1])
    return np.array(rows)
