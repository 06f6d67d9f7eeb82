"""The scikit-learn face of the learner: run, ask, tell, partial_fit, predict."""

from __future__ import annotations

import os
from time import perf_counter
from typing import Any, Self

import numpy as np
from scipy.special import log_ndtr, ndtr
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight

from askance.errors import ConflictingAnswer, InvalidInput, InvalidParameter, InvalidType
from askance.learner.budget import Budget
from askance.learner.events import MOST_FEATURES
from askance.learner.labels import encode_one
from askance.learner.loop import Block, Record
from askance.learner.machine import Machine, check_explore
from askance.learner.pacing import Rhythm, rhythm
from askance.learner.rule import QueryRule, UpdateRule
from askance.learner.tickets import Tickets, Waiting
from askance.learner.trace import Decision, Trace
from askance.learner.workings import LEARNED, Workings, length_of


def _model_is_probabilistic(self: ActiveClassifier) -> bool:
    return self._rules().update.probabilistic


def _model_reports(self: ActiveClassifier) -> bool:
    return hasattr(self._rules().update, "report")


class ActiveClassifier(Workings):
    """Predict every event of a stream, ask for the labels worth having, and learn from the answers.

    A classifier belongs to one thread at a time; several of them can play in several threads.

    Parameters
    ----------
    update : UpdateRule, optional
        How to learn from an answer; ``PassiveAggressive1()`` unless given.
    query : QueryRule, optional
        The probability of asking; ``Margin()`` unless given.
    budget : None, int or Budget
        How many labels may be bought. None: no limit. An int: that many in all. ``askance.budgets`` has more: a
        share of the events, so many a day, several at once.
    classes : array-like, optional
        The labels there are. A live stream needs them: the first label may come late. Otherwise they are taken from
        the first labels seen by ``run``, ``fit`` or ``partial_fit``.
    normalize : None or "l2"
        Divide each event by its length.
    intercept : bool, default False
        Append a constant 1 to each event (after normalising).
    n_features : int, optional
        The number of features, where the first event may be a pair (columns, values), which does not tell.
    random_state : None, int or numpy.random.Generator
        Where the random numbers come from. Event t takes exactly one, whatever the rules and the size of the calls.
    explore : float, default 0.0
        The least probability of asking for any event, as long as the budget allows a label at all. The events asked
        because of it (``audit``) are a uniform sample of the stream: what an unbiased estimate rests on.
    keep : int, default 10000
        How many asked events wait for their answers, to be told by ticket; the oldest is dropped first.
    keep_for : int, optional
        After how many further events a waiting one is dropped.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted. Of two, the second is the positive one.
    n_features_in_ : int
        The number of features.
    coef_ : ndarray of shape (1 or n_classes, n_features)
        The weights.
    intercept_ : ndarray of shape (1 or n_classes,)
        The weights of the constant; zero without one.
    scores_ : ndarray of shape (1 or n_classes,)
        The scores of the event that was predicted last.
    events_seen_, labels_asked_ : int
        How many events were decided on, and for how many of them the label was asked.

    Examples
    --------
    >>> import askance
    >>> clf = askance.make("PAA-I", classes=["ham", "spam"], n_features=4, random_state=0)
    >>> decision = clf.ask(([0, 2], [1.0, 2.0]))
    >>> decision.label, decision.asked
    ('spam', True)
    >>> clf.tell(([0, 2], [1.0, 2.0]), "ham").predict([[1.0, 0.0, 2.0, 0.0]])
    array(['ham'], dtype='<U4')
    """

    def __init__(
        self,
        update: UpdateRule | None = None,
        query: QueryRule | None = None,
        budget: int | Budget | None = None,
        classes: Any = None,
        normalize: str | None = None,
        intercept: bool = False,
        n_features: int | None = None,
        random_state: int | np.random.Generator | None = None,
        explore: float = 0.0,
        keep: int = 10_000,
        keep_for: int | None = None,
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
        self.keep = keep
        self.keep_for = keep_for

    # --- playing a stream --------------------------------------------------------------------------------

    def run(self, X: Any, y: Any, times: Any = None) -> Trace:
        """Play a stream whose labels are known: predict, ask, and learn from what was asked.

        A second call goes on where the first ended. The result is the same, bit for bit, for any division of the
        stream into calls, and the same as a loop of ``ask`` and, where asked, ``tell``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_events, n_features)
        y : array-like of shape (n_events,)
            The labels. Only those that are asked for are looked at by the learner.
        times : array-like of shape (n_events,), optional
            When each event came, in seconds; budgets by time need it.
        """
        when = self._times(times)
        rows = length_of(X)
        if rows is not None and len(when) not in (0, rows):
            raise InvalidInput(f"there are {len(when)} times for {rows} events.")
        events, answers = self._read(X, y)
        machine = self._machine()
        self._open_account(machine)
        n = events.n_events
        record = Record(
            predicted=np.empty(n, np.int32),
            margin=np.empty(n),
            variance=np.empty(n if machine.keeps_variance else 0),
            probability=np.empty(n),
            asked=np.empty(n, np.bool_),
            audit=np.empty(n, np.bool_),
        )
        uniforms = self._rng.random(n)
        seconds = 0.0
        for which, block in events.blocks(machine.preparation):
            part = record if which == slice(0, n) else Record(*(array[which] for array in record))
            began = perf_counter()
            machine.play(
                machine.parameters, self._state, self._account, block, when[which] if len(when) else when,
                uniforms[which], answers[which], machine.weighted, part,
            )  # fmt: skip
            seconds += perf_counter() - began
        self._expire()
        return Trace(
            classes=self.classes_,
            predicted_index=record.predicted,
            truth_index=answers,
            margin=record.margin,
            variance=record.variance,
            probability=record.probability,
            asked=record.asked,
            audit=record.audit,
            seconds=seconds,
            margin_is_signed=self._state.scores.size == 1,
            probabilistic=machine.probabilistic,
        )

    def ask(self, x: Any, time: float | None = None, explore: float | None = None) -> Decision:
        """Predict one event and decide whether its label is wanted.

        Parameters
        ----------
        x : 1-D array-like, 1-row CSR matrix, or pair (columns, values)
        time : float, optional
            When the event came, in seconds; budgets by time need it.
        explore : float in [0, 1], optional
            In place of the parameter of that name, for this event: a stream may be explored more at some times than at
            others. It may exceed the share that a budget allows, which holds nevertheless.
        """
        when = self._times(None if time is None else [time])
        explore = explore if explore is None else check_explore(explore)
        machine, block = self._one_event(x)
        self._open_account(machine)
        record, uniform, answer = self._single
        parameters = machine.parameters if explore is None else machine.parameters._replace(explore=explore)
        uniform[0] = self._rng.random()
        machine.play(parameters, self._state, self._account, block, when, uniform, answer, machine.weighted, record)
        predicted, asked, chance = record.predicted.item(), record.asked.item(), record.probability.item()
        ticket = None
        if asked:
            ticket = self._tickets.issue(
                int(self._account.counts[0]), Waiting.after(block, predicted, chance), self.keep
            )
        self._expire()
        weight = 1.0 / chance if chance > 0.0 else 0.0
        label, audit = self.classes_.item(predicted), record.audit.item()
        return Decision(label, record.margin.item(), chance, asked, weight, ticket, audit)

    def tell(
        self, x: Any = None, y: Any = None, weight: float = 1.0, *, ticket: int | None = None, replace: bool = False
    ) -> Self:
        """Learn from an answer, whenever it comes: to a ticket, or to an event given once more.

        By ticket, the answer is judged against the prediction made when the event came, counts with the weight it was
        asked with, and is learned once: the same answer again changes nothing, another one is refused unless it is to
        replace the first. A replacement is learned on top, since what was learned cannot be taken back.

        Parameters
        ----------
        x : 1-D array-like, 1-row CSR matrix, or pair (columns, values)
        y : label
        weight : float, default 1.0
            The answer's importance, ``Decision.weight``. Rules that are not weighted learn each answer once,
            whatever its weight.
        ticket : int, optional
            ``Decision.ticket``, in place of ``x`` and ``weight``.
        replace : bool, default False
            Whether this answer may correct an earlier one to the same ticket.
        """
        if (x is None) == (ticket is None):
            raise InvalidType("tell needs the event x or its ticket, and not both.")
        if ticket is not None:
            if weight != 1.0:
                raise InvalidType("a ticket has the weight it was asked with; leave weight out.")
            return self._tell_ticket(ticket, y, replace)
        if not isinstance(weight, int | float | np.integer | np.floating) or not 0.0 <= weight < np.inf:
            raise InvalidParameter(f"weight must be a finite number of 0 or more, got {weight!r}.")
        answer = encode_one(y, self._classes_for_one())
        machine, block = self._one_event(x)
        self._account.counts[2] += self._teach_one(machine, block, answer, weight)
        return self

    def _tell_ticket(self, ticket: int, y: Any, replace: bool) -> Self:
        if not hasattr(self, "_tickets"):
            raise Tickets().unknown(ticket)
        self._tickets.known(ticket)
        self._expire()
        answer = encode_one(y, self.classes_)
        machine = self._machine()  # refuses what cannot work before anything changes
        event = self._tickets.open.get(ticket)
        is_correction = event is None
        if event is None:
            if ticket not in self._tickets.answered:
                raise self._tickets.unknown(ticket)
            event, before = self._tickets.answered[ticket]
            if answer == before:
                return self
            if not replace:
                raise ConflictingAnswer(
                    f"ticket {ticket} was answered {self.classes_.item(before)!r} before; "
                    f"setting 'replace' to true makes it {self.classes_.item(answer)!r}."
                )
            self._account.counts[2] -= event.predicted != before
            if event.block.columns.size:
                machine.update.take_back(self._state, before, event.predicted, event.probability)
        machine.update.recall(self._state, event.predicted, is_correction)
        self._teach_one(machine, event.block, answer, 1.0 / event.probability)
        machine.update.recall(self._state, None)
        self._account.counts[2] += event.predicted != answer
        self._tickets.close(ticket, answer, self.keep)
        return self

    def _teach_one(self, machine: Machine, block: Block, answer: int, weight: float) -> int:
        weights = np.array([weight if machine.weighted else 1.0])
        return int(machine.teach(machine.parameters.update, self._state, block, np.array([answer], np.int32), weights))

    def _expire(self) -> None:
        """Drop the tickets that are too old by now."""
        if self.keep_for is not None:
            self._tickets.expire(self.events_seen_ - self.keep_for)

    @property
    def pending(self) -> list[int]:
        """The tickets that wait for an answer, oldest first."""
        return list(self._tickets.open) if hasattr(self, "_tickets") else []

    def forget(self, ticket: int) -> Self:
        """Stop waiting for an answer that will not come."""
        getattr(self, "_tickets", Tickets()).forget(ticket)
        return self

    # --- scikit-learn ------------------------------------------------------------------------------------

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from given labels; ask nothing, and leave the budget and the random numbers alone.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_events, n_features)
        y : array-like of shape (n_events,)
        classes : array-like, optional
            The labels there are, at the first call; as the parameter of that name.
        sample_weight : array-like of shape (n_events,), optional
            Importance of each event, for update rules that are weighted. 0 skips an event for any rule.
        """
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            update = self._rules().update
            if not update.weighted and not np.isin(weights, (0.0, 1.0)).all():
                raise InvalidInput(
                    f"{type(update).__name__} learns every answer with the same weight; leave sample_weight out, "
                    "or make it with weighted=True."
                )
        events, answers = self._read(X, y, classes)
        machine = self._machine()
        if sample_weight is None:
            weights = np.ones(events.n_events)
        for which, block in events.blocks(machine.preparation):
            machine.give(machine.parameters.update, self._state, block, answers[which], weights[which])
        return self

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything, then learn from the given labels once, in order."""
        fresh = type(self)(**self.get_params(deep=False))
        fresh.partial_fit(X, y)
        for name in LEARNED:
            self.__dict__.pop(name, None)
            if name in fresh.__dict__:
                self.__dict__[name] = fresh.__dict__[name]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The predicted labels."""
        predicted, _ = self._look(X)
        return self.classes_[predicted]

    def decision_function(self, X: Any) -> np.ndarray:
        """How far each event lies towards the second of two classes, or the score of each of several classes.

        For two classes this is the margin; with one weight vector per class, the difference of their scores; and for
        a rule with probabilities margin / sqrt(variance + 1), which orders events as ``predict_proba`` does.
        """
        _, scores = self._look(X)
        if len(self.classes_) > 2:
            return scores
        if self._state.scores.size > 1:
            return scores[:, 1] - scores[:, 0]
        return _in_spreads(scores) if self._rules().update.probabilistic else scores[:, 0]

    @available_if(_model_is_probabilistic)
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class (update rules that have one: ``Probit``)."""
        _, scores = self._look(X)
        z = _in_spreads(scores)
        return np.column_stack([ndtr(-z), ndtr(z)])

    @available_if(_model_is_probabilistic)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of ``predict_proba``."""
        _, scores = self._look(X)
        z = _in_spreads(scores)
        return np.column_stack([log_ndtr(-z), log_ndtr(z)])

    @available_if(_model_reports)
    def report(self) -> Any:
        """What the model says of itself (``make("auto")``): who leads, since when, how good it is."""
        if not hasattr(self, "_state"):
            raise NotFittedError("there is nothing to report before the first event.")
        return self._rules().update.report(self._state, self.classes_)  # type: ignore[attr-defined]

    @available_if(_model_reports)
    def describe(self) -> str:
        """The gist of ``report`` in one line."""
        line: str = self.report().in_a_line()
        return line

    @property
    def coef_(self) -> np.ndarray:
        """The weights, one row per weight vector, the constant's left out."""
        return self._coefficients()[:, : self.n_features_in_]

    @property
    def intercept_(self) -> np.ndarray:
        """The weights of the constant; zero without one."""
        weights = self._coefficients()
        return weights[:, -1] if weights.shape[1] > self.n_features_in_ else np.zeros(len(weights))

    @property
    def scores_(self) -> np.ndarray:
        """The scores of the event that was predicted last, one for each weight vector."""
        if not hasattr(self, "_state"):
            raise AttributeError("scores_ exists once the classifier has seen an event.")
        return self._state.scores.copy()

    @property
    def events_seen_(self) -> int:
        """How many events were decided on."""
        return int(self._account.counts[0]) if hasattr(self, "_account") else 0

    @property
    def labels_asked_(self) -> int:
        """For how many events the label was asked."""
        return int(self._account.counts[1]) if hasattr(self, "_account") else 0

    def recount(self, asked: int) -> Self:
        """Say how many labels were really asked for, where that differs from what was decided here, as when a stream is
        played again that another model asked about: what budgets have left goes by this number."""
        if isinstance(asked, bool) or not isinstance(asked, int | np.integer) or not 0 <= asked <= self.events_seen_:
            most = f"{self.events_seen_:,}, the events seen"
            raise InvalidInput(f"the number of labels asked for is a whole one from 0 to {most}, got {asked!r}.")
        self._account.counts[1] = asked
        return self

    @property
    def rhythm_(self) -> Rhythm | None:
        """What a paced budget makes of the stream: when the last event came, how long one waits for the next, and the
        share of them that should be asked now. None without such a budget, and before the first event."""
        return rhythm(self._account.budget) if hasattr(self, "_account") else None

    def widen(self, n_features: int) -> Self:
        """Make room for more features, which nothing has been learned of yet. What was learned stays as it is.

        For streams whose width shows only as they flow. Costs a copy of the model: grow by a factor, not one by one.
        """
        if not hasattr(self, "_state"):
            raise NotFittedError("there is nothing to widen before the first event; give n_features= instead.")
        if hasattr(self, "feature_names_in_"):
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
        self._tickets.move(kept)
        self.n_features_in_ = n_features
        self.__dict__.pop("_assembled", None)
        if self.n_features is not None:
            self.n_features = n_features
        return self

    def loosen(self, share: float = 0.5) -> Self:
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
            raise NotFittedError("there is nothing to loosen before the first event.")
        self._rules().update.loosen(self._state, float(share))
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that ``askance.load`` reads: no pickle, versioned, checked."""
        from askance.learner.files import save

        save(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = self._rules().update.multiclass is not None
        return tags


def _in_spreads(margin_and_variance: np.ndarray) -> np.ndarray:
    return margin_and_variance[:, 0] / np.sqrt(margin_and_variance[:, 1] + 1.0)
