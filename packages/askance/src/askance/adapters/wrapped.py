"""Any scikit-learn classifier with ``partial_fit``, under our query rules and budgets."""

from __future__ import annotations

import copy
import os
from contextlib import nullcontext
from datetime import datetime
from typing import Any, NoReturn, Self

import numpy as np
from sklearn.base import clone

from askance.adapters.scored import (
    EstimatorModel,
    ForeignModel,
    ScoredStream,
    check_estimator,
    check_query,
    check_takes_weights,
    has_been_fitted,
    row_of,
    rows_of,
    split_label,
)
from askance.errors import InvalidInput, InvalidType
from askance.evaluate.calibration.windowed import KEPT, calibrate, keep_answer
from askance.learner.budget import Budget
from askance.learner.estimator import Estimator
from askance.learner.progress import ProgressBar
from askance.learner.reader import as_several
from askance.learner.rule import QueryRule
from askance.learner.shards import batches_of, name_label
from askance.learner.trace import Decision, Trace

__all__ = ["WrappedClassifier", "wrap"]

STREAM_PARAMETERS = ("query", "budget", "classes", "random_state", "explore", "max_pending", "max_pending_age")
"""The parameters that the decisions depend on."""


class WrappedClassifier(Estimator):
    """A classifier of scikit-learn that asks: what ``askance.wrap`` makes.

    The estimator predicts and learns; a query rule and a budget decide for which events the label is bought. Decisions,
    weights and tickets are as with our own classifiers: event t takes the t-th random number, and ``run``, any division
    of the stream into calls, and a loop of ``ask`` and ``tell`` give the same, bit for bit, if the estimator itself is
    deterministic. For that every event is scored alone, which takes scikit-learn some 0.1 ms.

    Parameters
    ----------
    estimator : a scikit-learn classifier
        It has ``partial_fit``, and ``decision_function`` or ``predict_proba``. It is copied; if it is fitted, learning
        goes on from there.
    query : QueryRule, optional
        The probability of asking, by the margin: ``askance.queries.Margin()`` unless given. The margin is the
        ``decision_function``, or else the logarithm of the odds by ``predict_proba``; with more than two classes, the
        best score minus the second best. Rules that read variances need one of our own models.
    budget : None, int, float or Budget
        How many labels may be bought.
    classes : array-like, optional
        The labels there are; as for an ``ActiveClassifier``.
    random_state : None, int or numpy.random.Generator
        Where the random numbers of the decisions come from. The estimator has its own.
    explore : float, default 0.0
        The least ask probability of every event.
    weighted : bool, default False
        Whether a bought answer is learned with ``sample_weight`` 1 / ask probability, by which the estimator learns as
        if from all events. Else it is learned once.
    max_pending : int, default 10000
        How many asked events are kept for their answers.
    max_pending_age : int, optional
        After how many further events a pending one is dropped.

    Attributes
    ----------
    estimator_ : estimator
        The copy that learns.
    classes_ : ndarray
        The labels, sorted.
    events_seen_, labels_asked_ : int
        How many events were decided on, and for how many of them the label was asked.
    """

    def __init__(
        self,
        estimator: Any,
        query: QueryRule | None = None,
        budget: float | Budget | None = None,
        classes: Any = None,
        random_state: int | np.random.Generator | None = None,
        explore: float = 0.0,
        weighted: bool = False,
        max_pending: int = 10_000,
        max_pending_age: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.query = query
        self.budget = budget
        self.classes = classes
        self.random_state = random_state
        self.explore = explore
        self.weighted = weighted
        self.max_pending = max_pending
        self.max_pending_age = max_pending_age

    # --- the stream behind it ------------------------------------------------------------------------------

    def _check_rules(self) -> None:
        """Raise if the parameters cannot work, before the first event."""
        self._stream()._check_rules()

    def _stream(self, start_anew: bool = False) -> ScoredStream:
        """What decides, with the parameters as they are now. A changed one takes effect with the next call."""
        check_estimator(self.estimator, self.weighted)
        check_query(self.query, f"a wrapped {type(self.estimator).__name__}")
        parameters = {name: getattr(self, name) for name in STREAM_PARAMETERS}
        stream: ScoredStream | None = None if start_anew else self.__dict__.get("_decides")
        if stream is None:
            is_fitted = not start_anew and has_been_fitted(self.estimator)
            copied = copy.deepcopy(self.estimator) if is_fitted else clone(self.estimator, safe=False)
            model = EstimatorModel(copied, is_fitted)
            if is_fitted and self.classes is None:
                parameters["classes"] = getattr(copied, "classes_", None)
            stream = ScoredStream(model, ForeignModel(weighted=self.weighted), **parameters)
        elif self.classes is None:
            del parameters["classes"]
        for name, value in parameters.items():
            setattr(stream, name, value)
        assert isinstance(stream.update, ForeignModel)
        stream.update.weighted = self.weighted
        return stream

    def _begun(self) -> ScoredStream:
        stream = self._stream()
        stream.check_begun()
        return stream

    def _keep(self, stream: ScoredStream) -> None:
        """Keep the stream of a call that did not fail at the first event."""
        self._decides = stream

    @property
    def _model(self) -> EstimatorModel:
        model = self._decides.model
        assert isinstance(model, EstimatorModel)
        return model

    # --- run, ask, tell -------------------------------------------------------------------------------------

    def run(self, X: Any, y: Any = None, times: Any = None, *, progress: bool = False) -> Trace:
        """Play a stream whose labels are known: predict, ask, and learn from what was asked.

        A second call goes on where the first ended. An event whose label is missing is predicted, and nothing else.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_events, n_features), table, or whatever the estimator takes
            Or, without y, an iterator of batches ``(X, y)`` or ``(X, y, times)``.
        y : array-like of shape (n_events,), or the name of a column
            The labels. The estimator gets only those that are asked for.
        times : array-like of shape (n_events,), optional
            When each event came, for budgets by time.
        progress : bool, default False
            Show a bar.
        """
        X, y = name_label(X, y)
        if y is None:
            traces = [self.run(*batch, progress=progress) for batch in batches_of(X)]
            if not traces:
                raise InvalidInput("there are no batches to run.")
            return Trace.join(traces)
        X, y = split_label(X, y)
        row_at, n_rows = rows_of(X)
        stream = self._stream()
        with ProgressBar(n_rows) if progress else nullcontext() as bar:
            try:
                return stream.run_rows(row_at, n_rows, y, times, bar)
            finally:
                if stream._has_begun:
                    self._keep(stream)

    def ask(self, x: Any, time: float | datetime | None = None, explore: float | None = None) -> Decision:
        """Predict one event and decide whether its label is wanted.

        Parameters
        ----------
        x : 1-D array-like, matrix of one row, or one event of the kind that the estimator takes
        time : float or datetime, optional
            When the event came; budgets by time need it.
        explore : float in [0, 1], optional
            In place of the parameter of that name, for this event.
        """
        row, stream = row_of(x), self._stream()
        decision = stream.ask_row(row, time, explore)
        self._keep(stream)
        return decision

    def tell(
        self, x: Any = None, y: Any = None, weight: float = 1.0, *, ticket: int | None = None, replace: bool = False
    ) -> Self:
        """Learn from an answer, whenever it comes: to a ticket, or to an event given once more.

        Parameters
        ----------
        x : 1-D array-like, matrix of one row, or one event of the kind that the estimator takes
        y : label
        weight : float, default 1.0
            The answer's importance, ``Decision.weight``, for ``weighted=True``.
        ticket : int, optional
            ``Decision.ticket``, in place of ``x`` and ``weight``.
        replace : bool, default False
            Whether this answer may correct an earlier one to the same ticket; it is learned on top.
        """
        stream = self._stream()
        if ticket is not None or x is None:
            stream.tell(x, y, weight, ticket=ticket, replace=replace)
        else:
            stream.tell_row(row_of(x), y, weight)
            self._keep(stream)
        return self

    @property
    def pending(self) -> list[int]:
        """The tickets that wait for an answer, oldest first."""
        return self._decides.pending if hasattr(self, "_decides") else []

    def _answer_to(self, ticket: int) -> Any:
        """The answer that was learned to a ticket; None while there is none, or once it is dropped."""
        return self._stream()._answer_to(ticket)

    def forget(self, ticket: int) -> Self:
        """Stop waiting for an answer that will not come."""
        self._stream().forget(ticket)
        return self

    # --- scikit-learn --------------------------------------------------------------------------------------

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from given labels, all in one call of the estimator; ask nothing, and leave the budget and the random
        numbers alone.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_events, n_features), or whatever the estimator takes
        y : array-like of shape (n_events,), or the name of a column
        classes : array-like, optional
            The labels there are, at the first call; as the parameter of that name.
        sample_weight : array-like of shape (n_events,), optional
            Passed to the estimator.
        """
        return self._learn_given(self._stream(), X, y, classes, sample_weight)

    def fit(self, X: Any, y: Any, **weights: Any) -> Self:
        """Forget everything, then learn from the given labels once, as ``partial_fit`` of a new clone."""
        if unknown := weights.keys() - {"sample_weight"}:
            raise InvalidType(f"fit takes X, y and sample_weight, and knows no {min(unknown)!r}.")
        return self._learn_given(self._stream(start_anew=True), X, y, None, weights.get("sample_weight"))

    def _learn_given(self, stream: ScoredStream, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        X, y = split_label(X, y)
        row_at, n_rows = rows_of(X)
        answers = stream.read_labels(n_rows, y, classes)
        weights = None if sample_weight is None else stream._check_weights(sample_weight, answers)
        if weights is not None:
            check_takes_weights(self.estimator)
        model, known = stream.model, stream.classes_
        assert isinstance(model, EstimatorModel)
        latest = range(max(0, n_rows - KEPT), n_rows)
        before = [model.score(row_at(place)) for place in latest]
        model.learn_many(X, known[answers], weights)
        for place, score in zip(latest, before, strict=True):
            weight = 1.0 if weights is None else float(weights[place])
            if weight > 0.0:
                scores = np.atleast_1d(score.scores if len(known) > 2 else score.margin)
                keep_answer(stream._engine.recent, scores, score.margin, int(answers[place]), weight)
        self._keep(stream)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The predicted labels."""
        self._begun()
        X, _ = as_several(X, None)
        if not self._model.has_learned:
            return self.classes_[np.zeros(rows_of(X)[1], np.intp)]
        return self._model.predict(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """How far each event lies towards the second of two classes, or the score of each of several classes: those of
        the estimator, or the logarithms of its probabilities."""
        self._begun()
        X, _ = as_several(X, None)
        model = self._model
        if not model.has_learned:
            scores = np.zeros((rows_of(X)[1], 1 if len(self.classes_) == 2 else len(self.classes_)))
        else:
            scores = model.scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, calibrated on the last 512 answers, each with its weight 1 / ask probability.

        An estimator that learns from bought labels sees the stream as it was asked, not as it is; so do its own
        probabilities, which are at ``estimator_.predict_proba``."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of ``predict_proba``."""
        decision = self.decision_function(X)
        return calibrate(self._decides._engine.recent).log_probabilities(decision)

    @property
    def estimator_(self) -> Any:
        """The copy of the estimator that learns."""
        if not hasattr(self, "_decides"):
            raise AttributeError("estimator_ exists once the classifier has seen an event.")
        return self._model.estimator

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted."""
        if not hasattr(self, "_decides"):
            raise AttributeError("classes_ exists once the classifier has seen an event.")
        return self._decides.classes_

    @property
    def n_features_in_(self) -> int:
        """The number of features that the estimator has seen."""
        width: int = self.estimator_.n_features_in_
        return width

    @property
    def events_seen_(self) -> int:
        """How many events were decided on."""
        return self._decides.events_seen_ if hasattr(self, "_decides") else 0

    @property
    def labels_asked_(self) -> int:
        """For how many events the label was asked."""
        return self._decides.labels_asked_ if hasattr(self, "_decides") else 0

    def save(self, path: str | os.PathLike[str]) -> NoReturn:
        """Refused: only a pickle could hold a foreign estimator, and a model file of ours holds none."""
        raise InvalidType(
            f"a wrapped {type(self.estimator).__name__} cannot be saved to a model file, which holds no pickle; keep "
            "it with joblib.dump, and load such files only if you trust who wrote them."
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_decides")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        try:
            inner = get_tags(self.estimator)
        except (AttributeError, TypeError):  # not made by scikit-learn
            return tags
        tags.input_tags, tags.classifier_tags = inner.input_tags, inner.classifier_tags
        return tags


def wrap(
    estimator: Any,
    query: QueryRule | None = None,
    budget: float | Budget | None = None,
    *,
    classes: Any = None,
    random_state: int | np.random.Generator | None = None,
    explore: float = 0.0,
    weighted: bool = False,
    max_pending: int = 10_000,
    max_pending_age: int | None = None,
) -> WrappedClassifier:
    """Put a scikit-learn classifier with ``partial_fit`` under a query rule and a budget.

    The parameters are those of ``WrappedClassifier``; wrong ones are refused at once.

    Examples
    --------
    >>> import askance
    >>> from sklearn.linear_model import SGDClassifier
    >>> from askance.data.generators import messages
    >>> stream = messages(2000, random_state=0)
    >>> clf = askance.wrap(SGDClassifier(random_state=0), query=askance.queries.Margin(), budget=0.1, random_state=0)
    >>> trace = clf.run(stream.X, stream.labels)
    >>> len(trace), bool(190 <= trace.asked.sum() <= 200)
    (2000, True)
    """
    clf = WrappedClassifier(
        estimator, query, budget, classes, random_state, explore, weighted, max_pending, max_pending_age
    )
    clf._check_rules()
    return clf
