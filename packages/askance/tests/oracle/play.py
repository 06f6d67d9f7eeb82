"""The stream: predict, ask or not, learn. One uniform number per event, whatever happens."""

from dataclasses import dataclass

import numpy as np

from .queries import Event
from .updates import PerClass, sign


@dataclass
class Result:
    predicted: np.ndarray  # labels
    margin: np.ndarray
    variance: np.ndarray  # NaN where the rule has none
    probability: np.ndarray
    asked: np.ndarray
    slack: np.ndarray  # how far the margins were from a value at which rounding decides
    coef: np.ndarray  # one row, or one per class; without the intercept
    intercept: np.ndarray


def prepare(X, normalize=None, intercept=False):
    """Unit rows, then a constant column, where asked for."""
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    if normalize == "l2":
        length = np.sqrt((X**2).sum(axis=1, keepdims=True))
        X = np.divide(X, length, out=np.zeros_like(X), where=length > 0)
    return np.column_stack([X, np.ones(len(X))]) if intercept else X


def slack_of(update, x, p, moved):
    """Distance to the nearest tie: between the signs, between classes, between learning and not.

    Scores of weights that never moved are zero in any order of summation, which is no tie.
    """
    touched = (moved & (x != 0)).any(axis=1)
    if not touched.any():
        return np.inf
    gaps = [abs(abs(p) - jump) for jump in update.jumps]
    if not isinstance(update, PerClass):
        return min(abs(p), *gaps, np.inf)
    scores = update.scores(x)
    pairs = [(i, j) for i in np.flatnonzero(touched) for j in range(len(scores)) if i != j]
    return min(gaps + [abs(scores[i] - scores[j]) for i, j in pairs])


def play(update, query, X, y, classes, seed, budget=None):
    """`query` is a function of an Event; labels are encoded -1, +1 or by index, as the rule likes them."""
    per_class = isinstance(update, PerClass)
    code = {label: i if per_class else 2 * i - 1 for i, label in enumerate(classes)}
    decode = {number: label for label, number in code.items()}
    rows, labels_asked, mistakes, moved = [], 0, 0, update.weights() != 0
    uniforms = np.random.default_rng(seed).random(len(X))
    for t, (x, label, u) in enumerate(zip(X, y, uniforms, strict=True), start=1):
        p, v = update.margin(x), update.variance(x)
        predicted = int(np.argmax(update.scores(x))) if per_class else sign(p)
        probability, slack = 0.0, slack_of(update, x, p, moved)
        if x.any() and (budget is None or labels_asked < budget):
            probability = query(Event(p, v, x @ x, t, mistakes))
        asked = u < probability
        if asked:
            labels_asked += 1
            mistakes += predicted != code[label]
            before = update.weights().copy()
            update.update(x, code[label], weight=1 / probability)
            moved |= update.weights() != before
        rows.append((decode[predicted], p, v, probability, asked, slack))
    coef = update.weights()
    return Result(*map(np.array, zip(*rows, strict=True)), coef=coef, intercept=np.full(len(coef), -update.threshold))
