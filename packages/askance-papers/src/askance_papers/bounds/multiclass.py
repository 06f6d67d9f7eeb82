"""The theorems for more than two classes: one play with all that they speak of, and their right-hand sides as printed.

A classifier W has a weight vector w^i for each of C classes, and the loss max(0, 1 - (w^y.x - max_(r != y) w^r.x)).
"""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from askance.compare.table import Table
from askance.learner.make import settings_of
from askance_papers.bounds.followed import HARD, SOFTNESS


@dataclass(frozen=True)
class FollowedMany:
    """What happened, event by event, and how far the weights were from some fixed ones."""

    X: np.ndarray
    y: np.ndarray
    """Class indices."""
    wrong: np.ndarray
    margin: np.ndarray
    """p_t: the best score minus the second best."""
    variance: np.ndarray
    asked: np.ndarray
    before: np.ndarray
    """sum_i of ||g_t^(i)||^2 in the inverse of H_(t-1)^(i); zero where nothing was learned."""
    after: np.ndarray
    """The same in the inverse of H_t^(i)."""
    trace: float
    """sum_i of tr(H_T^(i))."""
    farthest_weight: np.ndarray
    """A_2: max over t, i and features of (w_t^i - w^i)^2, for each comparator."""

    def all_wrong(self) -> FollowedMany:
        """The same events, with a mistake at each."""
        return dataclasses.replace(self, wrong=np.ones_like(self.wrong))


def dense_classes(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """The events with their zeros, without those that have nothing else, and their class indices."""
    X = np.asarray(table.X.toarray() if hasattr(table.X, "toarray") else table.X, dtype=float)
    some = X.any(axis=1)
    return X[some], np.asarray(table.y)[some]


def follow_many(
    table: Table, name: str, seed: int, comparators: np.ndarray, needs_path: bool, **parameters: Any
) -> FollowedMany:
    """Play a stream; if its path is needed, learn the same answers once more and look at the weights after each."""
    from sklearn.base import clone

    from askance.learner.estimator import ActiveClassifier

    X, y = dense_classes(table)
    n_classes = len(table.classes)
    clf = ActiveClassifier(**settings_of(name, parameters), classes=list(range(n_classes)), random_state=seed)
    trace = clf.run(X, y)
    wrong = trace.predicted_index != y
    variance = trace.variance if trace.variance.size else np.full(len(y), np.nan)
    played = FollowedMany(
        X, y, wrong, trace.margin, variance, trace.asked, np.zeros(len(y)), np.zeros(len(y)), 0.0,
        (comparators**2).max(axis=(1, 2)),
    )  # fmt: skip
    if not needs_path:
        return played
    again, squares, ridge = clone(clf), np.zeros((n_classes, X.shape[1])), parameters["delta"]
    for t in np.flatnonzero(trace.asked & (wrong | (trace.margin < 1.0))):
        scores = again.decision_function(X[t : t + 1])[0] if again._has_begun else np.zeros(n_classes)
        scores[y[t]] = -np.inf
        both = [y[t], int(np.argmax(scores))]
        played.before[t] = (X[t] ** 2 / (ridge + np.sqrt(squares[both]))).sum()
        squares[both] += X[t] ** 2
        played.after[t] = (X[t] ** 2 / (ridge + np.sqrt(squares[both]))).sum()
        gaps = (comparators - again.partial_fit(X[t : t + 1], y[t : t + 1]).coef_) ** 2
        np.maximum(played.farthest_weight, gaps.max(axis=(1, 2)), out=played.farthest_weight)
    return dataclasses.replace(played, trace=float((ridge + np.sqrt(squares)).sum()))


def solutions_for_many(table: Table, rho: float = 1.0) -> np.ndarray:
    """Comparators: the batch solutions of several softness parameters (Crammer and Singer's machine), the last scaled
    to a least margin of one if it separates the classes, else zero."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    X, y = dense_classes(table)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for softness in (*SOFTNESS, HARD):
            machine = LinearSVC(
                multi_class="crammer_singer", C=softness, fit_intercept=False, max_iter=100, random_state=0
            )
            found.append(machine.fit(X, y).coef_)
    least = float((1.0 - _slack(X, y, found[-1])).min())
    found[-1] = found[-1] / least if least > 0.0 else np.zeros_like(found[-1])
    return np.array(found)


def _slack(X: np.ndarray, y: np.ndarray, W: np.ndarray) -> np.ndarray:
    """1 - (w^y.x - max w^r.x)."""
    scores = X @ W.T
    rows = np.arange(len(y))
    own = scores[rows, y].copy()
    scores[rows, y] = -np.inf
    return np.asarray(1.0 - (own - scores.max(axis=1)))


def hinge_of_many(played: FollowedMany, W: np.ndarray) -> np.ndarray:
    """l_t(W), which the papers call f_t as well."""
    return np.maximum(0.0, _slack(played.X, played.y, W))


def separable(played: FollowedMany, W: np.ndarray, k: int, delta: float) -> float:
    """Paper 1, Theorem 5: R^2 / 2 (delta + 1 / delta + 2) sum ||w^r||^2, for W without any loss."""
    if hinge_of_many(played, W).max() > 1e-9:
        return np.inf
    longest = float((played.X**2).sum(axis=1).max())
    return float(longest / 2.0 * (delta + 1.0 / delta + 2.0) * (W**2).sum())


def discriminative(played: FollowedMany, W: np.ndarray, k: int, b: float, eta: float, is_mirror: bool) -> float:
    """Paper 2, Theorem 2, for MD-ADA and for MD-AMD, b >= 2."""
    share = 1.0 / np.maximum(1.0, (played.X**2).sum(axis=1))  # a_t
    certain = played.margin - eta / 2.0 * share * played.variance <= 0.0  # q_t <= 0
    unsure = ~played.wrong & (played.margin < 1.0)  # L_t
    steps = played.after if is_mirror else played.before
    largest = float((W**2).max())  # A_1
    factor = (
        (played.farthest_weight[k] + (b - 1.0) ** 2 * largest) / (eta * b) if is_mirror else b * largest / (2.0 * eta)
    )
    return float(
        hinge_of_many(played, W)[played.asked].sum()
        + factor * played.trace
        - unsure[certain].sum() / b
        + eta / (2.0 * b) * ((share * steps)[certain].sum() + ((1.0 - share) * steps).sum())
    )
