"""A scikit-learn classifier as the model of a stream: what it must have, its scores, and its rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from askance.adapters.scored import (
    LARGEST,
    ModelScore,
    log_probabilities,
    margin_of,
)
from askance.data.encoding.table import RawRows, is_table, no_label
from askance.errors import InvalidInput, InvalidParameter, InvalidType
from askance.learner.labels import encode_one
from askance.learner.raw import as_several


class EstimatorModel:
    """A scikit-learn classifier as the model of a stream. Rows are matrices of one row, or lists of one event."""

    def __init__(self, estimator: Any, is_fitted: bool) -> None:
        self.estimator = estimator
        self.classes = np.empty(0)
        self.has_learned = is_fitted

    def begin(self, classes: np.ndarray) -> None:
        known = getattr(self.estimator, "classes_", None) if self.has_learned else None
        if known is not None and not np.array_equal(np.asarray(known), classes):
            raise InvalidInput(
                f"{type(self.estimator).__name__} was fitted to the classes {np.asarray(known).tolist()}, and these "
                f"are {classes.tolist()}; name the same ones, or wrap one that is not fitted."
            )
        self.classes = classes

    def score(self, row: Any) -> ModelScore:
        """What the estimator predicts, and how clearly. Before it has learned anything, it is the first class."""
        if not self.has_learned:
            return ModelScore(0, 0.0, np.zeros(len(self.classes)))
        predicted = encode_one(self.predict(row).item(), self.classes)
        scores = self.scores(row)[0]
        return ModelScore(predicted, margin_of(scores), scores)

    def predict(self, rows: Any) -> np.ndarray:
        """The labels that the estimator predicts."""
        with np.errstate(all="ignore"), in_a_sentence(self.estimator, rows):
            return np.asarray(self.estimator.predict(rows))

    def scores(self, rows: Any) -> np.ndarray:
        """A row for each event: the score of the second of two classes, or of each of more."""
        source = "decision_function" if hasattr(self.estimator, "decision_function") else "predict_proba"
        with np.errstate(all="ignore"), in_a_sentence(self.estimator, rows):
            scores = np.asarray(getattr(self.estimator, source)(rows), np.float64)
        if source == "predict_proba":
            scores = log_probabilities(scores)
        scores = scores.reshape(-1, 1) if scores.ndim == 1 else scores
        if len(self.classes) == 2 and scores.shape[1] == 2:
            scores = scores[:, 1:] - scores[:, :1]
        if scores.shape[1] != (1 if len(self.classes) == 2 else len(self.classes)):
            raise InvalidInput(
                f"{source} of {type(self.estimator).__name__} gives {scores.shape[1]} numbers for each event, and "
                f"there are {len(self.classes)} classes; name the classes that it knows with classes=."
            )
        scores = np.clip(scores, -LARGEST, LARGEST)
        return np.where(np.isnan(scores).any(axis=1, keepdims=True), 0.0, scores)  # no number: all classes alike

    def learn(self, row: Any, answer: int, weight: float) -> None:
        self.learn_many(row, self.classes[answer : answer + 1], None if weight == 1.0 else np.array([weight]))

    def learn_many(self, rows: Any, labels: np.ndarray, weights: np.ndarray | None) -> None:
        """Learn labels in one call."""
        options: dict[str, Any] = {} if weights is None else {"sample_weight": weights}
        if not self.has_learned:
            options["classes"] = self.classes
        with in_a_sentence(self.estimator, rows):
            self.estimator.partial_fit(rows, labels, **options)
        self.has_learned = True


@contextmanager
def in_a_sentence(estimator: Any, rows: Any) -> Iterator[None]:
    """Say what an estimator of numbers cannot take."""
    try:
        yield
    except ValueError as error:
        kind, said = type(estimator).__name__, str(error)
        if said.startswith("could not convert string to float"):
            raise InvalidInput(
                f"{kind} learns from numbers, and X has words such as {said.partition(': ')[2]}; turn them into "
                "numbers, or use askance.make, which takes words."
            ) from None
        if (
            said.startswith("Expected 2D array")
            and isinstance(rows, list | tuple)
            and isinstance(rows[0], str | Mapping)
        ):
            found = "texts" if isinstance(rows[0], str) else "dicts"
            raise InvalidInput(
                f"{kind} learns from rows of numbers, and X has {found}; pass a table or an array, or use "
                "askance.make, which takes them."
            ) from None
        raise


# --- what comes in -----------------------------------------------------------------------------------------


def check_estimator(estimator: Any, weighted: Any) -> None:
    """Refuse what cannot learn event by event, or has no scores."""
    kind = type(estimator).__name__
    if isinstance(estimator, type):
        raise InvalidType(f"wrap takes an estimator, got the class {estimator.__name__}; write {estimator.__name__}().")
    if not hasattr(estimator, "partial_fit"):
        hint = (
            "askance.adapters.river.QuerySampler takes river's models"
            if hasattr(estimator, "learn_one")
            else "wrap one that learns event by event, such as sklearn.linear_model.SGDClassifier()"
        )
        raise InvalidType(f"{kind} has no partial_fit; {hint}.")
    if not hasattr(estimator, "predict"):
        raise InvalidType(f"{kind} has no predict; wrap a classifier.")
    check_scores(estimator)
    if not isinstance(weighted, bool | np.bool_):
        raise InvalidType(f"weighted must be True or False, got {weighted!r}.")
    if weighted:
        check_takes_weights(estimator)


def check_scores(estimator: Any) -> None:
    """Refuse a classifier without scores."""
    if not hasattr(estimator, "decision_function") and not hasattr(estimator, "predict_proba"):
        raise InvalidType(
            f"{type(estimator).__name__} has neither decision_function nor predict_proba, from which a query rule "
            "tells how sure it is."
        )


def check_takes_weights(estimator: Any) -> None:
    """Refuse weights for an estimator that takes none."""
    parameters = inspect.signature(estimator.partial_fit).parameters.values()
    if not any(known.name == "sample_weight" or known.kind is known.VAR_KEYWORD for known in parameters):
        raise InvalidParameter(
            f"partial_fit of {type(estimator).__name__} takes no sample_weight; leave weights out, and weighted=False."
        )


def has_been_fitted(estimator: Any) -> bool:
    """Whether an estimator has learned something already."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    except TypeError:  # not made by scikit-learn
        return hasattr(estimator, "classes_")
    return True


def split_label(X: Any, y: Any) -> tuple[Any, Any]:
    """The events without their label, and the labels, where ``y`` is the name of the column that holds them."""
    X, y = as_several(X, y)
    if not isinstance(y, str):
        return X, y
    if is_table(X):
        import narwhals as nw

        table = nw.from_native(X, eager_only=True)
        if y not in table.columns:
            raise no_label(y, table.columns)
        return table.drop(y).to_native(), table[y].to_list()
    if isinstance(X, list | tuple) and X and all(isinstance(row, Mapping) for row in X):
        rows = RawRows(X)
        labels = rows.pop(y)
        return [{name: value for name, value in row.items() if name != y} for row in X], labels
    raise InvalidInput(f"y is {y!r}, but X has no named columns; pass the labels themselves.")


def rows_of(X: Any) -> tuple[Callable[[int], Any], int]:
    """How to get the event at a place, as the estimator wants it, and how many there are.

    A row is contiguous, whatever X is: sums over another layout may differ in the last bit."""
    if issparse(X):
        rows = csr_matrix(X)
        return lambda place: rows[place : place + 1], rows.shape[0]
    if isinstance(X, list | tuple) and X and isinstance(X[0], str | Mapping):
        return lambda place: [X[place]], len(X)
    if hasattr(X, "columns"):  # a table
        return lambda place: compact(_safe_indexing(X, slice(place, place + 1))), len(X)
    array = np.asarray(X)
    if array.ndim < 2:
        raise InvalidInput(
            f"X has shape {array.shape}, but each of its rows is an event. Reshape your data: X.reshape(1, -1) is one "
            "event, and so is what ask takes."
        )
    return lambda place: np.ascontiguousarray(array[place : place + 1]), len(array)


def compact(row: Any) -> Any:
    """A row of a table with its cells side by side, wherever pandas has them."""
    return row.copy() if hasattr(row, "copy") else row


def row_of(x: Any) -> Any:
    """One event as the estimator wants it."""
    if issparse(x):
        row = csr_matrix(x.reshape(1, -1) if x.ndim == 1 else x)
    elif isinstance(x, str | Mapping):
        return [x]
    elif hasattr(x, "columns"):
        row = compact(x)
    else:
        array = np.asarray(x)
        row = np.ascontiguousarray(array.reshape(1, -1) if array.ndim == 1 else array)
    if row.shape[0] != 1:
        raise InvalidInput(f"one event is a flat list of numbers or a matrix of one row, got shape {row.shape}.")
    return row
