"""The classifier without scikit-learn: what it learns from given labels, predicts, explains and tells of itself."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import Any, ClassVar, Self

import numpy as np

from askance.errors import InvalidInput, InvalidParameter, InvalidType
from askance.evaluate.calibration.windowed import calibrate
from askance.learner.base import learned_attributes, length_of, not_fitted_yet, parameters_of
from askance.learner.budget_state import StreamPace, move_time, stream_pace
from askance.learner.events import MOST_FEATURES
from askance.learner.labels import encode_one
from askance.learner.loop import ASKED
from askance.learner.raw import as_several
from askance.learner.run_stream import PlayingClassifier


class AvailableIf:
    """A method that only those have for whom a check holds, as by scikit-learn's ``available_if``."""

    def __init__(self, check: Callable[[Any], bool], method: Callable[..., Any]) -> None:
        self._check, self._method = check, method
        self.__doc__ = method.__doc__

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        if owner is None:
            return self._method
        if not self._check(owner):
            raise AttributeError(f"this {type(owner).__name__} has no attribute {self._method.__name__!r}")
        return MethodType(self._method, owner)


def available_if(check: Callable[[Any], bool]) -> Callable[[Callable[..., Any]], Any]:
    """Hide the method below from those for whom the check does not hold."""
    return partial(AvailableIf, check)


def _model_reports(self: StreamClassifier) -> bool:
    return hasattr(self._rules().update, "report")


class StreamClassifier(PlayingClassifier):
    """An ``ActiveClassifier`` without scikit-learn: it plays, asks, learns and predicts, and takes the same parameters.

    The commands and the service use it, for scikit-learn takes longer to import than a small file to play. Its events
    are sparse matrices, arrays of numbers, and raw ones.
    """

    _plays_questions: ClassVar[bool] = False
    """Whether its events are questions about the labels of a set (see ``multilabel``)."""

    # --- scikit-learn ------------------------------------------------------------------------------------

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from given labels; ask nothing, and leave the budget and the random numbers alone.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_events, n_features), table, list of dicts or list of texts
        y : array-like of shape (n_events,), or the name of a column
        classes : array-like, optional
            The labels there are, at the first call; as the parameter of that name.
        sample_weight : array-like of shape (n_events,), optional
            Importance of each event, for ``auto``, UOAL, and algorithms made with ``weighted=True``. 0 skips an event
            for every algorithm.
        """
        X, y = as_several(X, y)
        if sample_weight is not None and (length_of(X) or not hasattr(self, "_state")):
            weights = self._check_weights(sample_weight, X)
            if not self._rules().update.weighted and not np.isin(weights, (0.0, 1.0)).all():
                raise self._all_weigh_the_same()
            self._check_classes_left(y, classes, weights)
        events, answers = self._read(X, y, classes)
        compiled = self._compiled_learner()
        if sample_weight is None or not events.n_events:
            weights = np.ones(events.n_events)
        for which, block in events.blocks(compiled.preparation):
            compiled.learn_given(
                compiled.parameters.update, self._state, self._recent, block, answers[which], weights[which],
                weights[which],
            )  # fmt: skip
        return self

    def _all_weigh_the_same(self) -> InvalidInput:
        """The error for weights that the update rule does not take, with what to type."""
        from askance.learner.presets import name_of

        rules = self._rules()
        name, rule = name_of(rules.update, rules.query), type(rules.update.innermost).__name__
        weighted = f"update={rule}(weighted=True)" if name is None else f'askance.make("{name}", weighted=True)'
        return InvalidInput(
            f"{name or rule} learns every answer with the same weight; {weighted} takes sample_weight, or leave it out."
        )

    def _check_classes_left(self, y: Any, classes: Any, weights: np.ndarray) -> None:
        """Refuse to begin with weights that skip all events but those of one class."""
        if hasattr(self, "classes_") or classes is not None or self.classes is not None:
            return
        labels = np.asarray(y)
        if labels.shape == weights.shape and len(set(labels[weights > 0.0].tolist())) < 2:
            raise InvalidInput("sample_weight leaves fewer than two classes to learn from; name them with classes=.")

    def fit(self, X: Any, y: Any, **weights: Any) -> Self:
        """Forget everything, then learn from the given labels once, in order; as ``partial_fit`` of a new clone.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_events, n_features), table, list of dicts or list of texts
        y : array-like of shape (n_events,), or the name of a column
        sample_weight : array-like of shape (n_events,), optional
            Importance of each event, for ``auto``, UOAL, and algorithms made with ``weighted=True``. 0 skips an event
            for every algorithm.

        Notes
        -----
        The signature does not name ``sample_weight``: by that, scikit-learn knows estimators for which a weight of 3
        means the same as three events anywhere in the data. Here events are learned in order, and order matters.
        """
        if unknown := weights.keys() - {"sample_weight"}:
            raise InvalidType(f"fit takes X, y and sample_weight, and knows no {min(unknown)!r}.")
        fresh = type(self)(**parameters_of(self))
        fresh.partial_fit(X, y, sample_weight=weights.get("sample_weight"))
        for name in learned_attributes():
            self.__dict__.pop(name, None)
            if name in fresh.__dict__:
                self.__dict__[name] = fresh.__dict__[name]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The predicted labels."""
        predicted, _ = self._predict_scores(X)
        return self.classes_[predicted]

    def decision_function(self, X: Any) -> np.ndarray:
        """How far each event lies towards the second of two classes, or the score of each of several classes.

        For two classes this is the margin; with one weight vector per class, the difference of their scores; and for
        a rule with probabilities margin / sqrt(variance + 1), which orders events as ``predict_proba`` does.
        """
        _, scores = self._predict_scores(X)
        if len(self.classes_) > 2:
            return scores
        if self._state.scores.size > 1:
            return scores[:, 1] - scores[:, 0]
        return _in_deviations(scores) if self._rules().update.probabilistic else scores[:, 0]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class.

        Scores are calibrated on the last 512 answers, each with its weight 1 / (ask probability). Before the first
        answer all classes are equally likely. ``Probit`` has probabilities of its own.

        The most probable class is the predicted one, except where two classes are weighed: a rule that asks more for a
        missed positive, or ``auto`` with an objective other than "accuracy" (it has "balanced" unless told otherwise),
        predicts a rare class before it is the likelier one.

        Examples
        --------
        >>> import askance
        >>> clf = askance.make("PAA-I", random_state=0).fit([[1.0], [-1.0]] * 50, ["spam", "ham"] * 50)
        >>> clf.predict_proba([[1.0], [-0.2]]).round(2)
        array([[0.02, 0.98],
               [0.68, 0.32]])
        """
        if not self._rules().update.probabilistic:
            return np.exp(self.predict_log_proba(X))
        from scipy.special import ndtr

        decision = self.decision_function(X)
        return np.column_stack([ndtr(-decision), ndtr(decision)])

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of ``predict_proba``."""
        decision, update = self.decision_function(X), self._rules().update
        if not update.probabilistic:
            return calibrate(self._recent, update.moves_threshold).log_probabilities(decision)
        from scipy.special import log_ndtr

        return np.column_stack([log_ndtr(-decision), log_ndtr(decision)])

    def explain(self, x: Any, label: Any = None) -> list[tuple[Any, float]]:
        """What moved the score of one event: fields, and words of texts, each with its push, the strongest first.

        A positive push speaks for ``label``, the predicted one unless given. Words count singly, not in pairs; of an
        event without named fields, the names or the numbers of its columns are told. ``auto`` is explained by the
        member that leads, or, if that is a curved one, by the best of the others.

        Examples
        --------
        >>> import askance
        >>> clf = askance.make("PAA-I", random_state=0).fit(["win a prize", "lunch today"] * 5, ["spam", "ham"] * 5)
        >>> [(word, round(push, 2)) for word, push in clf.explain("win the prize")]
        [('win', 0.2), ('prize', 0.2)]
        """
        if not hasattr(self, "_state"):
            raise not_fitted_yet()
        place = None if label is None else encode_one(label, self.classes_)
        found = [(name, push) for name, push in self._effects(x, place) if push != 0.0]
        return sorted(found, key=lambda effect: -abs(effect[1]))

    @available_if(_model_reports)
    def report(self) -> Any:
        """The report of the model (``make("auto")``): who leads, since when, how good it is."""
        if not hasattr(self, "_state"):
            raise not_fitted_yet("there is nothing to report before the first event.")
        return self._rules().update.report(self._state, self.classes_)  # type: ignore[attr-defined]

    @available_if(_model_reports)
    def describe(self) -> str:
        """The ``report`` in one line."""
        line: str = self.report().one_line()
        return line

    @property
    def coef_(self) -> np.ndarray:
        """The weights, one row per weight vector, the constant's left out."""
        return self._coefficients()[:, : self.n_features_in_]

    @property
    def intercept_(self) -> np.ndarray:
        """The weights of the constant, zero without one, less the threshold of rules that have one."""
        weights = self._coefficients()
        constant = weights[:, -1] if weights.shape[1] > self.n_features_in_ else np.zeros(len(weights))
        return constant - self._rules().update.threshold(self._state)

    @property
    def scores_(self) -> np.ndarray:
        """The scores of the event that was predicted last, one for each weight vector."""
        if not hasattr(self, "_state"):
            raise AttributeError("scores_ exists once the classifier has seen an event.")
        return self._state.scores.copy()

    def _move_time(self, time: float, asked: dict[float, int]) -> Self:
        """Set the clock of the events, such as back if it was ahead: budgets by time go on from ``time``. ``asked``
        maps the length of a period, in seconds, to the labels asked in the one that ``time`` lies in."""
        if hasattr(self, "_budget_state") and self._pace is not None:
            move_time(self._budget_state.budget, self._constraints, time, asked, int(self._budget_state.counts[ASKED]))
        return self

    @property
    def _pace(self) -> StreamPace | None:
        """What a paced budget knows of the stream: the time of its last update, the mean time between two events, and
        the wanted share of the events. None without such a budget, and before the first event."""
        return stream_pace(self._budget_state.budget) if hasattr(self, "_budget_state") else None

    def widen(self, n_features: int) -> Self:
        """Add features, of which nothing has been learned yet. What was learned stays as it is.

        For streams whose width shows only as they flow. Costs a copy of the model: grow by a factor, not one by one.
        """
        if not hasattr(self, "_state"):
            raise not_fitted_yet("there is nothing to widen before the first event; give n_features= instead.")
        if hasattr(self, "feature_names_in_") and not hasattr(self, "_features"):
            raise InvalidInput("a model of named features cannot be widened.")
        if isinstance(n_features, bool) or not isinstance(n_features, int | np.integer) or n_features > MOST_FEATURES:
            raise InvalidParameter(
                f"n_features must be a whole number of at most {MOST_FEATURES:,}, got {n_features!r}."
            )
        if n_features < self.n_features_in_:
            raise InvalidParameter(f"a model of {self.n_features_in_} features cannot be narrowed to {n_features}.")
        update = self._rules().update
        kept = np.arange(self.n_features_in_)
        if self.intercept:
            kept = np.append(kept, n_features)
        width = n_features + bool(self.intercept)
        self._state = update.widen(self._state, kept, width, len(self.classes_))
        if self.intercept:
            self._tickets.move(kept)
        self.n_features_in_ = n_features
        self.__dict__.pop("_compiled", None)
        if self.n_features is not None:
            self.n_features = n_features
        return self

    def inflate_variances(self, share: float = 0.5) -> Self:
        """Make the model unsure of what it learned, so that new answers count more: when the world has changed.

        The weights stay; each variance is taken ``share`` of the way back to what it was before the first answer.
        Query rules that read variances ask more for a while, within the budget. For update rules that keep variances.

        Parameters
        ----------
        share : float in (0, 1], default 0.5
        """
        if not isinstance(share, int | float | np.integer | np.floating) or not 0.0 < share <= 1.0:
            raise InvalidParameter(f"share must be in (0, 1], got {share!r}.")
        if not hasattr(self, "_state"):
            raise not_fitted_yet("there are no variances before the first event.")
        self._rules().update.inflate_variances(self._state, float(share))
        return self

    # --- files -------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that ``askance.load`` reads: no pickle, versioned, checked."""
        from askance.learner.files import save

        save(self, path)


def _in_deviations(margin_and_variance: np.ndarray) -> np.ndarray:
    return margin_and_variance[:, 0] / np.sqrt(margin_and_variance[:, 1] + 1.0)
