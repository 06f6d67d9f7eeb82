"""The classifier: its parameters, and all that it can do. A ``Reader`` reads what comes in, an ``Engine`` learns it.

``StreamClassifier`` does without scikit-learn, which takes longer to import than a small file to run: the commands and
the service use it. ``estimator`` makes scikit-learn's estimator of it, ``ActiveClassifier``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from datetime import datetime
from functools import partial
from inspect import signature
from itertools import chain
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from askance.data.missing import MissingValues
from askance.engines import WorkerEngine
from askance.errors import InvalidInput, InvalidParameter, InvalidType
from askance.evaluate.calibration.windowed import calibrate
from askance.learner.budget import Budget
from askance.learner.budget_state import StreamPace, move_time, stream_pace
from askance.learner.compiled import Combination, RuleSettings, check_explore
from askance.learner.delayed_updates import check_workers
from askance.learner.engine import NO_TIMES, Engine, not_fitted_yet
from askance.learner.events import MOST_FEATURES, fill_gaps
from askance.learner.group import Decisions
from askance.learner.labels import distinct_labels, encode_one, select_known
from askance.learner.loop import ASKED, SEEN
from askance.learner.progress import ProgressBar
from askance.learner.reader import Reader, as_several, length_of, unequal_lengths
from askance.learner.rule import QueryRule, UpdateRule
from askance.learner.shards import batches_of, name_label
from askance.learner.tickets import Tickets
from askance.learner.trace import Decision, Trace

if TYPE_CHECKING:
    from askance.data.encoding.rows import RowFeatures

LEARNED = ("_engine", "_features", "n_features_in_", "feature_names_in_")
"""The attributes that a classifier gets with its first event, and that ``fit`` replaces."""


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


class StreamClassifier:
    """An ``ActiveClassifier`` without scikit-learn: it runs, asks, learns and predicts, and takes the same parameters.

    Its events are sparse matrices, arrays of numbers, and raw ones. It checks all input before it changes anything.
    """

    _takes_encoded_rows: ClassVar[bool] = True
    """Whether a model of named fields takes sparse rows, which then were encoded by a copy of its encoder."""
    _is_for_label_sets: ClassVar[bool] = False
    """Whether it learns for a ``MultiLabelClassifier``: its events are questions about the labels of a set."""
    _engine_kind: ClassVar[type[Engine]] = Engine

    n_features_in_: int
    feature_names_in_: np.ndarray
    _features: RowFeatures
    _engine: Engine

    def __init__(
        self,
        update: UpdateRule | None = None,
        query: QueryRule | None = None,
        budget: float | Budget | None = None,
        classes: Any = None,
        normalize: str | None = None,
        intercept: bool = False,
        n_features: int | None = None,
        random_state: int | np.random.Generator | None = None,
        explore: float = 0.0,
        max_pending: int = 10_000,
        max_pending_age: int | None = None,
        fields: Mapping[str, Any] | None = None,
        na_values: Any = None,
    ) -> None:
        self.update = update
        self.query = query
        self.budget = budget
        self.classes = classes
        self.normalize = normalize
        self.intercept = intercept
        self.n_features = n_features
        self.random_state = random_state
        self.explore = explore
        self.max_pending = max_pending
        self.max_pending_age = max_pending_age
        self.fields = fields
        self.na_values = na_values

    # --- a stream whose labels are known -------------------------------------------------------------------

    def run(
        self,
        X: Any,
        y: Any = None,
        times: Any = None,
        *,
        workers: int | WorkerEngine | None = None,
        progress: bool = False,
    ) -> Trace:
        """Run a stream whose labels are known: predict, ask, and learn from what was asked.

        A second call goes on where the first ended; one without events changes nothing. The result is the same, bit
        for bit, for any division of the stream into calls, and the same as a loop of ``ask`` and, where asked,
        ``tell``.

        An event whose label is missing (None, NaN, NA, or a word such as "?" that is none of the classes) is predicted,
        as by ``predict``: it is not asked, not counted and not learned. Only the running statistics by which the
        numbers of raw events are standardised take it in.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_events, n_features), table, list of dicts or list of texts
            Or, without y, a list or an iterator of batches ``(X, y)`` or ``(X, y, times)``, which are run one after
            the other; or of functions without arguments that load them, which ``workers`` threads call ahead. With the
            name of a column as y, an iterator of tables or of lists of dicts.
        y : array-like of shape (n_events,), or str
            The labels, or the name of the column that holds them. Only those that are asked for are looked at by the
            learner.
        times : array-like of shape (n_events,), optional
            When each event came, in seconds or as datetimes, which are in UTC unless they have a time zone; budgets by
            time need it, unless a field has the kind "time".
        workers : int or WorkerEngine, optional
            Update the model in rounds: so many threads, or workers of ``askance.engines``, score the
            events of a round, a hundredth of those seen before it, by the model as it was when the round began; its
            answers are learned when it is over. The result is the same, bit for bit, for any number of workers, and the
            same as ``ask`` for each event and ``tell`` for the answers of a round at its end; it is not that of a run
            without workers, which learns at once. The end of a call, or of a batch, ends a round. It pays where scoring
            an event takes long, as with full covariances. ``auto`` scores its events in order, for any number.
        progress : bool, default False
            Show a bar, in a notebook and in a terminal. It changes no decision.

        Notes
        -----
        What the fields of raw events are is found from the first 1000 events, those of the first batches, or of the
        first call if it has fewer. Only in that do calls differ from one call.

        Examples
        --------
        >>> import askance
        >>> clf = askance.make("PAA-I", budget=10, random_state=0)
        >>> trace = clf.run([[1.0, 0.2], [-1.0, 0.1]] * 50, ["spam", "ham"] * 50)
        >>> len(trace), int(trace.asked.sum())
        (100, 10)
        >>> trace.predicted[-2:]
        array(['spam', 'ham'], dtype='<U4')
        """
        X, y = name_label(X, y)
        workers = workers if workers is None else check_workers(workers)
        with ProgressBar(None if y is None else length_of(X)) if progress else nullcontext() as bar:
            if y is None:
                return self._run_batches(X, bar, workers)
            return self._run(X, y, times, None, bar, workers)

    def _run(
        self,
        X: Any,
        y: Any,
        times: Any,
        classes: Any,
        bar: ProgressBar | None,
        workers: int | WorkerEngine | None = None,
    ) -> Trace:
        """Run some events; ``classes`` are those of the whole stream, if they are known."""
        reader = self._reader
        tells_time = times is None and reader.has_time_field()
        when = reader.times(times) if not tells_time else NO_TIMES
        rows = length_of(X)
        if rows is not None and len(when) not in (0, rows):
            raise InvalidInput(f"there are {len(when)} times for {rows} events.")
        events, truth = reader.read(X, y, classes, may_be_unlabeled=True)
        if tells_time:
            when = reader.times(events.times)
        return self._ready().run(events, truth, when, self.random_state, bar, workers)

    def _run_batches(self, batches: Any, bar: ProgressBar | None, workers: int | WorkerEngine | None) -> Trace:
        """Run batches one after the other. What the first ones tell of fields and classes is found before they run."""
        reader, traces = self._reader, list[Trace]()
        waiting = batches_of(batches, workers if isinstance(workers, int) else None)
        first = reader.read_first(waiting)
        try:
            for X, y, times in chain(first.batches, waiting):
                if length_of(X) == 0 and not self._has_begun:
                    continue  # there is nothing yet that could go on
                classes = None if self._has_begun else first.classes
                traces.append(self._run(X, y, times, classes, bar, workers))
        except BaseException:
            if first.raw and not traces:
                reader.unsettle()
            raise
        if first.raw:
            reader.end_first(first)
        if not traces:
            raise InvalidInput("there are no batches to run.")
        return Trace.join(traces)

    # --- one event at a time -------------------------------------------------------------------------------

    def ask(self, x: Any, time: float | datetime | None = None, explore: float | None = None) -> Decision:
        """Predict one event and decide whether its label is wanted.

        Parameters
        ----------
        x : 1-D array-like, 1-row CSR matrix, pair (columns, values), dict, text, or a row of a table
        time : float or datetime, optional
            When the event came, in seconds or as a datetime, in UTC unless it has a time zone; budgets by time need it.
        explore : float in [0, 1], optional
            In place of the parameter of that name, for this event: a stream may be explored more at some times than at
            others. It may exceed the share that a budget allows, which holds nevertheless.

        Examples
        --------
        >>> import askance
        >>> clf = askance.make("PAA-I", classes=["ham", "spam"], random_state=0)
        >>> decision = clf.ask({"text": "you won", "size": 16})
        >>> decision.label, decision.asked, decision.ticket
        ('spam', True, 1)
        """
        explore = explore if explore is None else check_explore(explore)
        block, when = self._reader.read_new(x, time)
        return self._ready().ask(block, when, explore)

    def tell(
        self, x: Any = None, y: Any = None, weight: float = 1.0, *, ticket: int | None = None, replace: bool = False
    ) -> Self:
        """Learn from an answer, whenever it comes: to a ticket, or to an event given once more.

        By ticket, the answer is judged against the prediction made when the event came, counts with the weight it was
        asked with, and is learned once: the same answer again changes nothing, another one is refused unless it is to
        replace the first. A replacement is learned on top, since what was learned cannot be taken back.

        Parameters
        ----------
        x : 1-D array-like, 1-row CSR matrix, pair (columns, values), dict, text, or a row of a table
        y : label
        weight : float, default 1.0
            The answer's importance, ``Decision.weight``. Rules that are not weighted learn each answer once,
            whatever its weight.
        ticket : int, optional
            ``Decision.ticket``, in place of ``x`` and ``weight``.
        replace : bool, default False
            Whether this answer may correct an earlier one to the same ticket.

        Examples
        --------
        >>> import askance
        >>> clf = askance.make("PAA-I", classes=["ham", "spam"], random_state=0)
        >>> decision = clf.ask({"text": "you won", "size": 16})
        >>> clf.tell(ticket=decision.ticket, y="ham").predict([{"text": "you won", "size": 16}])
        array(['ham'], dtype='<U4')
        """
        if (x is None) == (ticket is None):
            raise InvalidType("tell needs the event x or its ticket, and not both.")
        if ticket is not None:
            if weight != 1.0:
                raise InvalidType("a ticket has the weight it was asked with; leave weight out.")
            if not self._has_begun:
                raise Tickets().unknown(ticket)
            self._ready().tell_ticket(ticket, y, replace)
            return self
        if not isinstance(weight, int | float | np.integer | np.floating) or not 0.0 <= weight < np.inf:
            raise InvalidParameter(f"weight must be a finite number of 0 or more, got {weight!r}.")
        answer = encode_one(y, self._classes_for_one())
        block = self._reader.read_again(x)
        self._ready().tell(block, answer, weight)
        return self

    def forget(self, ticket: int) -> Self:
        """Stop waiting for an answer that will not come."""
        self._tickets.forget(ticket)
        return self

    @property
    def pending(self) -> list[int]:
        """The tickets that wait for an answer, oldest first."""
        return list(self._tickets.open)

    @property
    def _tickets(self) -> Tickets:
        return self._engine.tickets if self._has_begun else Tickets()

    # --- given labels --------------------------------------------------------------------------------------

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
        if sample_weight is not None and (length_of(X) or not self._has_begun):
            weights = self._check_weights(sample_weight, X)
            if not self._rules().update.weighted and not np.isin(weights, (0.0, 1.0)).all():
                raise self._all_weigh_the_same()
            self._check_classes_left(y, classes, weights)
        events, answers = self._reader.read(X, y, classes)
        if sample_weight is None or not events.n_events:
            weights = np.ones(events.n_events)
        self._ready().learn_given(events, answers, weights)
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
        if self._has_begun or classes is not None or self.classes is not None:
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
        for name in LEARNED:
            self.__dict__.pop(name, None)
            if name in fresh.__dict__:
                self.__dict__[name] = fresh.__dict__[name]
        return self

    # --- what is predicted ---------------------------------------------------------------------------------

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
        if self._engine.state.scores.size > 1:
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
            return calibrate(self._engine.recent, update.moves_threshold).log_probabilities(decision)
        from scipy.special import log_ndtr

        return np.column_stack([log_ndtr(-decision), log_ndtr(decision)])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of right predictions among the events whose label is known.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_events, n_features), table, list of dicts or list of texts
        y : array-like of shape (n_events,), or the name of a column
            Where a label is missing, the event does not count.
        sample_weight : array-like of shape (n_events,), optional
            How much each event counts.
        """
        X, y = as_several(X, y)
        if isinstance(y, str):
            if not self._has_begun:
                raise not_fitted_yet()
            raw = self._reader.raw_events(X)
            if raw is None:
                raise InvalidInput(f"y is {y!r}, but X has no named columns; pass the labels themselves.")
            X, y = raw, raw.pop(y)
        classes = getattr(self, "classes_", None)
        y = self._reader.missing().blank_labels(y, classes)
        are_numbers = getattr(getattr(y, "dtype", None), "kind", "O") in "biuf"
        labels, is_known = select_known(y if are_numbers or np.ma.isMaskedArray(y) else np.asarray(y, object), classes)
        known: Any = slice(None) if is_known is None else is_known
        if is_known is None:
            labels = y
        elif not is_known.any():
            raise InvalidInput("y has no label that is known, so that nothing can be scored.")
        elif length_of(X) not in (None, len(is_known)):
            raise unequal_lengths(length_of(X) or 0, len(is_known))
        from sklearn.metrics import accuracy_score

        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(accuracy_score(labels, self.predict(X)[known], sample_weight=weights))

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
        if not self._has_begun:
            raise not_fitted_yet()
        index = None if label is None else encode_one(label, self.classes_)
        found = [(name, push) for name, push in self._reader.effects(x, index) if push != 0.0]
        return sorted(found, key=lambda effect: -abs(effect[1]))

    @available_if(_model_reports)
    def report(self) -> Any:
        """The report of the model (``make("auto")``): who leads, since when, how good it is."""
        if not self._has_begun:
            raise not_fitted_yet("there is nothing to report before the first event.")
        return self._rules().update.report(self._engine.state, self.classes_)  # type: ignore[attr-defined]

    @available_if(_model_reports)
    def describe(self) -> str:
        """The ``report`` in one line."""
        line: str = self.report().one_line()
        return line

    def _predict_scores(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        if not self._has_begun:
            raise not_fitted_yet()
        events = self._reader.read_unlabeled(X)
        return self._ready().scores_of(events)

    def _coefficients(self) -> np.ndarray:
        if not self._has_begun:
            raise AttributeError("coef_ and intercept_ exist once the classifier has seen an event.")
        return self._rules().update.coefficients(self._engine.state)

    # --- what it knows of itself ---------------------------------------------------------------------------

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted. Of two, the second is the positive one."""
        if not self._has_begun:
            raise AttributeError("classes_ exists once the classifier has seen an event.")
        return self._engine.classes

    @property
    def fields_(self) -> dict[str, str]:
        """The fields of raw events, each with its kind: number, category, text, date, ignore or time."""
        if not hasattr(self, "_features"):
            raise AttributeError("fields_ exists once the classifier has seen events with named fields.")
        return dict(self._features.kinds)

    @property
    def coef_(self) -> np.ndarray:
        """The weights, one row per weight vector, the constant's left out."""
        return self._coefficients()[:, : self.n_features_in_]

    @property
    def intercept_(self) -> np.ndarray:
        """The weights of the constant, zero without one, less the threshold of rules that have one."""
        weights = self._coefficients()
        constant = weights[:, -1] if weights.shape[1] > self.n_features_in_ else np.zeros(len(weights))
        return constant - self._rules().update.threshold(self._engine.state)

    @property
    def scores_(self) -> np.ndarray:
        """The scores of the event that was predicted last, one for each weight vector."""
        if not self._has_begun:
            raise AttributeError("scores_ exists once the classifier has seen an event.")
        return self._engine.state.scores.copy()

    @property
    def events_seen_(self) -> int:
        """How many events were decided on."""
        return int(self._engine.budget_state.counts[SEEN]) if self._has_begun else 0

    @property
    def labels_asked_(self) -> int:
        """For how many events the label was asked."""
        return int(self._engine.budget_state.counts[ASKED]) if self._has_begun else 0

    @property
    def _labels_asked_by_class(self) -> list[int]:
        """For how many events predicted as each class the label was asked."""
        return self._engine.budget_state.asked_by_class.tolist() if self._has_begun else []

    @property
    def costs(self) -> Any:
        """What mistakes cost, if the update rule weighs them; else None."""
        return self._rules().update.costs

    # --- to change it --------------------------------------------------------------------------------------

    def widen(self, n_features: int) -> Self:
        """Add features, of which nothing has been learned yet. What was learned stays as it is.

        For streams whose width shows only as they flow. Costs a copy of the model: grow by a factor, not one by one.
        """
        if not self._has_begun:
            raise not_fitted_yet("there is nothing to widen before the first event; give n_features= instead.")
        if hasattr(self, "feature_names_in_") and not hasattr(self, "_features"):
            raise InvalidInput("a model of named features cannot be widened.")
        if isinstance(n_features, bool) or not isinstance(n_features, int | np.integer) or n_features > MOST_FEATURES:
            raise InvalidParameter(
                f"n_features must be a whole number of at most {MOST_FEATURES:,}, got {n_features!r}."
            )
        if n_features < self.n_features_in_:
            raise InvalidParameter(f"a model of {self.n_features_in_} features cannot be narrowed to {n_features}.")
        self._engine.widen(n_features, self._rules())
        self.n_features_in_ = n_features
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
        if not self._has_begun:
            raise not_fitted_yet("there are no variances before the first event.")
        self._rules().update.inflate_variances(self._engine.state, float(share))
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that ``askance.load`` reads: no pickle, versioned, checked."""
        from askance.learner.files import save

        save(self, path)

    # --- for the service, the commands and adapters -------------------------------------------------------------

    @property
    def _has_begun(self) -> bool:
        """Whether it has seen an event, or learned from one."""
        return "_engine" in self.__dict__

    def _ask_batch(self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray) -> Callable[..., Decisions]:
        """``ask`` for the rows of a CSR matrix, decided on in one compiled call: see ``Engine.ask_batch``."""
        if not self._has_begun:
            self._begin(self._classes_for_one(), self.n_features or int(columns.max(initial=0)) + 1)
        return self._ready().ask_batch(starts, columns, values)

    def _answer_to(self, ticket: int) -> Any:
        """The answer that was learned to a ticket; None while there is none, or once it is dropped."""
        known = self._tickets.answered.get(ticket)
        return None if known is None else self.classes_.item(known.answer)

    def _set_labels_asked(self, asked: int) -> Self:
        """Set how many labels were really asked, if that differs from what was decided here, as when a stream is run
        again for which another model asked. Budgets go by this number, those by predicted class by the decisions."""
        if isinstance(asked, bool) or not isinstance(asked, int | np.integer) or not 0 <= asked <= self.events_seen_:
            most = f"{self.events_seen_:,}, the events seen"
            raise InvalidInput(f"the number of labels asked for is a whole one from 0 to {most}, got {asked!r}.")
        self._engine.budget_state.counts[ASKED] = asked
        return self

    def _move_time(self, time: float, asked: dict[float, int]) -> Self:
        """Set the clock of the events, such as back if it was ahead: budgets by time go on from ``time``. ``asked``
        maps the length of a period, in seconds, to the labels asked in the one that ``time`` lies in."""
        if self._has_begun and self._pace is not None:
            kept = self._engine.budget_state
            move_time(kept.budget, self._engine.constraints, time, asked, int(kept.counts[ASKED]))
        return self

    @property
    def _pace(self) -> StreamPace | None:
        """What a paced budget knows of the stream: the time of its last update, the mean time between two events, and
        the wanted share of the events. None without such a budget, and before the first event."""
        return stream_pace(self._engine.budget_state.budget) if self._has_begun else None

    # --- parameters, and how it begins -----------------------------------------------------------------------

    def _check_rules(self) -> None:
        """Raise if the parameters cannot work, before the first event."""
        rules = self._rules()
        rules.check()
        if self.n_features is not None and not (
            isinstance(self.n_features, int | np.integer)
            and not isinstance(self.n_features, bool)
            and 0 < self.n_features <= MOST_FEATURES
        ):
            raise InvalidParameter(
                f"n_features must be a whole number from 1 to {MOST_FEATURES:,}, got {self.n_features!r}."
            )
        self._settings().check_pending_limits()
        if self.classes is not None:
            classes = distinct_labels(self.classes, "classes")
            _check_number(classes)
            rules.update.kernels(len(classes))
            self._check_order_of_costs(rules.update.costs, classes)
            rules.update.parameters_for(classes)
        if not isinstance(self.random_state, np.random.RandomState):  # making a generator would use it up
            self._generator()
        if self.fields is not None:
            from askance.data.encoding.embedding import split_embeddings
            from askance.data.encoding.kinds import check_features

            if not isinstance(self.fields, Mapping):
                raise InvalidParameter(
                    f'fields maps names to kinds, such as {{"zip": "category"}}, got {self.fields!r}.'
                )
            check_features(split_embeddings(self.fields)[0])
        MissingValues(self.na_values)

    def _check_order_of_costs(self, costs: Any, classes: np.ndarray) -> None:
        """Refuse a matrix beside classes that were named in another order than that of its rows."""
        named = [] if isinstance(self.classes, set | frozenset) else list(self.classes)
        if isinstance(costs, list | tuple) and named and named != classes.tolist():
            raise InvalidParameter(
                f"the rows of costs are in the order {', '.join(map(str, classes.tolist()))}, and classes= names them "
                'in another; write the costs by name, such as costs={"fraud": {"ok": 9}}.'
            )

    def _settings(self) -> RuleSettings:
        return RuleSettings(
            self.update, self.query, self.budget, self.normalize, self.intercept, self.explore, self.max_pending,
            self.max_pending_age,
        )  # fmt: skip

    def _rules(self) -> Combination:
        return self._settings().combine()

    @property
    def _reader(self) -> Reader:
        return Reader(self)

    def _ready(self) -> Engine:
        """The engine, with its rules compiled for the parameters as they are now."""
        self._engine.follow(self._settings())
        return self._engine

    def _generator(self) -> np.random.Generator:
        if isinstance(self.random_state, np.random.RandomState):  # scikit-learn's tools pass one at times
            return np.random.default_rng(self.random_state.randint(2**31))
        try:
            return np.random.default_rng(self.random_state)
        except (TypeError, ValueError):
            raise InvalidParameter(
                "random_state must be None, a whole number of 0 or more or a numpy Generator, "
                f"got {self.random_state!r}."
            ) from None

    def _begin(self, classes: np.ndarray, n_features: int) -> None:
        """Begin as a model that has learned nothing."""
        _check_number(classes)
        if self.n_features is not None and n_features != self.n_features:
            raise InvalidInput(
                f"X has {n_features} features, but this classifier was made with n_features={self.n_features}."
            )
        self._check_rules()
        self._engine = self._engine_kind(self._settings(), classes, n_features, self._generator())
        self.n_features_in_ = n_features

    def _classes_for_one(self) -> np.ndarray:
        """The classes, for an event or a label that comes alone."""
        if self._has_begun:
            return self.classes_
        if self.classes is None:
            raise InvalidInput(
                "the classes are not known before the first label; name them when making the classifier, "
                'for example classes=["ham", "spam"].'
            )
        return distinct_labels(self.classes, "classes")

    # --- checks of rows and labels, of which scikit-learn's estimator has others -------------------------------

    def _check_rows(self, X: Any, reset: bool) -> Any:
        """Rows of numbers, as wide as those before unless these are the first. scikit-learn's estimator checks more."""
        X = fill_gaps(X) if hasattr(X, "ndim") else np.asarray(X)
        if X.ndim != 2:
            raise InvalidInput(f"X has shape {X.shape}; events are the rows of a matrix.")
        if not reset and X.shape[1] != self.n_features_in_:
            raise InvalidInput(f"X has {X.shape[1]} features, but this classifier has {self.n_features_in_}.")
        return X

    def _check_rows_and_labels(self, X: Any, y: Any, reset: bool) -> tuple[Any, np.ndarray]:
        return self._check_rows(X, reset), self._check_label_array(y)

    def _check_label_array(self, y: Any) -> np.ndarray:
        labels = np.asarray(y)
        if labels.ndim != 1:
            raise InvalidInput(f"y has shape {labels.shape}; each event has one label.")
        return labels

    def _check_weights(self, sample_weight: Any, X: Any) -> np.ndarray:
        weights = np.asarray(sample_weight, np.float64)
        if weights.shape != (length_of(X),) or not (weights >= 0.0).all() or not np.isfinite(weights).all():
            raise InvalidInput("sample_weight has a finite number of 0 or more for each event.")
        return weights

    def _check_names(self, X: Any, reset: bool) -> None:
        """Compare the names of columns with those of the first table, which scikit-learn's estimator keeps."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_state" in state:  # a pickle from before there were engines
            _move_into_engine(self)


def _move_into_engine(clf: StreamClassifier) -> None:
    """Take what an earlier version kept as attributes of a classifier into its engine."""
    kept = clf.__dict__
    engine = clf._engine_kind.__new__(clf._engine_kind)
    names = {"_terms": "constraints", "_initial_layout": "_layout", "classes_": "classes"}
    moved = {names.get(name, name[1:]): kept.pop(name) for name in EARLIER if name in kept}
    engine.__setstate__({**moved, "settings": clf._settings(), "n_features": clf.n_features_in_})
    clf._engine = engine


EARLIER = ("_state", "_recent", "_budget_state", "_tickets", "_rng", "_terms", "_initial_layout", "classes_")


def parameters_of(clf: StreamClassifier) -> dict[str, Any]:
    """The parameters of a classifier by name, as scikit-learn's ``get_params`` finds them."""
    return {name: getattr(clf, name) for name in sorted(signature(type(clf)).parameters)}


def _check_number(classes: np.ndarray) -> None:
    if len(classes) == 1:
        raise InvalidInput(
            f"there is only one class, {classes.item(0)!r}; learning needs two or more: name them with classes=."
        )
    if not len(classes):
        raise InvalidInput("there are no classes; name them with classes=.")


def _in_deviations(margin_and_variance: np.ndarray) -> np.ndarray:
    return margin_and_variance[:, 0] / np.sqrt(margin_and_variance[:, 1] + 1.0)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """``ActiveClassifier`` was here once, and pickles say so."""
        if name != "ActiveClassifier":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from askance.learner.estimator import ActiveClassifier

        return ActiveClassifier
