"""The classifier's methods: run, ask, tell, partial_fit, predict; scikit-learn's estimator is built on it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from datetime import datetime
from functools import partial
from itertools import chain
from time import perf_counter
from types import MethodType
from typing import Any, Self

import numpy as np

from askance.calibration.windowed import calibrate, keep_margins
from askance.deprecation import warn_renamed
from askance.errors import ConflictingAnswer, InvalidInput, InvalidParameter, InvalidType
from askance.learner.base import NO_TIMES, learned_attributes, length_of, not_fitted_yet, parameters_of
from askance.learner.compiled import CompiledLearner, check_explore
from askance.learner.events import MOST_FEATURES, SparseEvents, in_pieces
from askance.learner.labels import MISSING, distinct_known_labels, encode_one, known_in
from askance.learner.loop import ASKED, MISTAKES, SEEN, UNLABELED, Block, Parameters, Record
from askance.learner.pacing import StreamPace, move_time, stream_pace
from askance.learner.progress import ProgressBar
from askance.learner.raw import RawActiveClassifier
from askance.learner.sifting import Model, Piece, Sifter, check_workers
from askance.learner.tickets import PendingEvent, Tickets
from askance.learner.trace import Decision, Trace


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


class StreamClassifier(RawActiveClassifier):
    """An ``ActiveClassifier`` without scikit-learn: it plays, asks, learns and predicts, and takes the same parameters.

    The commands and the service use it, for scikit-learn takes longer to import than a small file to play. Its events
    are sparse matrices, arrays of numbers, and raw ones.
    """

    # --- playing a stream --------------------------------------------------------------------------------

    def run(
        self, X: Any, y: Any = None, times: Any = None, *, workers: int | None = None, progress: bool = False
    ) -> Trace:
        """Play a stream whose labels are known: predict, ask, and learn from what was asked.

        A second call goes on where the first ended. The result is the same, bit for bit, for any division of the
        stream into calls, and the same as a loop of ``ask`` and, where asked, ``tell``.

        An event whose label is missing (None, NaN, NA, or a word such as "?" that is none of the classes) is predicted,
        as by ``predict``, and nothing else: it is not asked, not counted, and changes no decision.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_events, n_features), table, list of dicts or list of texts
            Or, without y, an iterator of batches ``(X, y)`` or ``(X, y, times)``, which are played one after the other.
        y : array-like of shape (n_events,), or str
            The labels, or the name of the column that holds them. Only those that are asked for are looked at by the
            learner.
        times : array-like of shape (n_events,), optional
            When each event came, in seconds or as datetimes, which are in UTC unless they have a time zone; budgets by
            time need it, unless a field has the kind "time".
        workers : int, optional
            Sift the stream in rounds: so many threads score the events of a round, a hundredth of those seen before it,
            by the model as it was when the round began; its answers are learned when it is over. The result is the
            same, bit for bit, for any number of workers, and the same as ``ask`` for each event and ``tell`` for the
            answers of a round at its end; it is not that of a run without workers, which learns at once. The end of a
            call, or of a batch, ends a round. It pays where scoring an event takes long, as with full covariances.
        progress : bool, default False
            Show a bar, in a notebook and in a terminal. It changes no decision.

        Notes
        -----
        What the fields of raw events are is found from the first 1000 events, those of the first batches, or of the
        first call if it has fewer. Only in that do calls differ from one call.
        """
        workers = workers if workers is None else check_workers(workers)
        with ProgressBar(None if y is None else length_of(X)) if progress else nullcontext() as bar:
            if y is None:
                return self._run_batches(X, bar, workers)
            return self._run(X, y, times, bar=bar, workers=workers)

    def _run(
        self,
        X: Any,
        y: Any,
        times: Any = None,
        classes: Any = None,
        bar: ProgressBar | None = None,
        workers: int | None = None,
    ) -> Trace:
        """Play some events; ``classes`` are those of the whole stream, if they are known."""
        tells_time = times is None and self._has_time_field()
        when = self._times(times) if not tells_time else NO_TIMES
        rows = length_of(X)
        if rows is not None and len(when) not in (0, rows):
            raise InvalidInput(f"there are {len(when)} times for {rows} events.")
        events, truth = self._read(X, y, classes, may_be_unlabeled=True)
        if tells_time:
            when = self._times(events.times)
        compiled = self._compiled_learner()
        if workers is not None:
            compiled.check_can_be_sifted()
        self._refresh_budget_state(compiled)
        n = events.n_events
        is_labeled = truth != MISSING
        is_complete = bool(is_labeled.all())
        answers = truth if is_complete else np.where(is_labeled, truth, np.int32(UNLABELED))
        record = Record(
            predicted=np.empty(n, np.int32),
            margin=np.empty(n),
            variance=np.empty(n if compiled.keeps_variance else 0),
            probability=np.empty(n),
            asked=np.empty(n, np.bool_),
            audit=np.empty(n, np.bool_),
        )
        uniforms = self._rng.random(n) if is_complete else np.zeros(n)
        if not is_complete:
            uniforms[is_labeled] = self._rng.random(int(is_labeled.sum()))
        blocks = events.blocks(compiled.preparation)
        pieces = (
            Piece(
                block,
                when[which] if len(when) else when,
                uniforms[which],
                answers[which],
                record if which == slice(0, n) else Record(*(array[which] for array in record)),
            )
            for which, block in (blocks if bar is None else in_pieces(blocks, bar.events_at_once(n)))
        )
        if workers is None:
            seconds = self._play(compiled, pieces, bar)
        else:
            sifter = Sifter(compiled, Model(self._state, self._recent, self._budget_state), workers)
            seconds = sifter.play(pieces, bar)
        if workers is None and self._state.scores.size == 1:
            bought = np.flatnonzero(record.asked)
            keep_margins(self._recent, record.margin[bought], truth[bought], record.probability[bought])
        self._expire()
        return Trace(
            classes=self.classes_,
            predicted_index=record.predicted,
            truth_index=truth,
            margin=record.margin,
            variance=record.variance,
            probability=record.probability,
            asked=record.asked,
            audit=record.audit,
            seconds=seconds,
            margin_is_signed=self._state.scores.size == 1,
            probabilistic=compiled.probabilistic,
        )

    def _play(self, compiled: CompiledLearner, pieces: Iterator[Piece], bar: ProgressBar | None) -> float:
        """Play pieces of a stream one event after the other, and return the seconds of the loop."""
        seconds = 0.0
        for piece in pieces:
            began = perf_counter()
            compiled.play(
                compiled.parameters, self._state, self._recent, self._budget_state, piece.block, piece.times,
                piece.uniforms, piece.answers, compiled.weighted, piece.record,
            )  # fmt: skip
            seconds += perf_counter() - began
            if bar is not None:
                bar.advance(len(piece), int(np.count_nonzero(piece.record.asked)))
        return seconds

    def _run_batches(self, batches: Any, bar: ProgressBar | None, workers: int | None) -> Trace:
        """Play pieces of a stream one after the other. What the first ones have to tell is found before they play."""
        from askance.features.kinds import SAMPLE_ROWS
        from askance.features.raw import reopen_kinds

        is_new = not hasattr(self, "_state")
        waiting, held, n_events = batches_of(batches), list[Any](), 0
        first: list[Any] = []  # raw events, by which kinds are settled
        label = None
        while is_new and n_events < SAMPLE_ROWS and (piece := next(waiting, None)) is not None:
            X, y, times = piece
            raw = self._raw_events(X)
            if raw is not None:
                if isinstance(y, str):
                    label, y = y, raw.pop(y)
                first.append(raw)
            y = self._missing().blank_labels(y, self.classes)
            held.append((X if raw is None else raw, y, times))
            n_events += length_of(y) or 0
        classes = labels_of(held) if held and self.classes is None else None
        settled = bool(first) and not hasattr(self, "_features")
        if settled:
            self._settle_kinds(first)
            self._remember_label(label)
        traces: list[Trace] = []
        try:
            for X, y, times in chain(held, waiting):
                traces.append(self._run(X, y, times, None if hasattr(self, "_state") else classes, bar, workers))
        except BaseException:
            if settled and not traces:
                for name in ("_features", "feature_names_in_"):
                    self.__dict__.pop(name, None)
            raise
        if settled:
            reopen_kinds(self._features, first)
            self._warn_of_data([(X, y) for X, y, _ in held if X in first])
        if not traces:
            raise InvalidInput("there are no batches to play.")
        return Trace.join(traces)

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
        """
        explore = explore if explore is None else check_explore(explore)
        row = self._raw_event(x)
        if row is None:
            when = self._times(None if time is None else [time])
            compiled, block = self._one_event(x)
        else:
            compiled, block, when = self._take_event(row, x, time)
        self._refresh_budget_state(compiled)
        return self._decide(compiled, block, when, explore)

    def asker(self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray) -> Callable[[float, float], Decision]:
        """``ask`` for the rows of a CSR matrix, checked and prepared together: each call, with time and explore, is for
        the next row. Until the last one nothing else may change a parameter of this classifier, or widen it."""
        if not hasattr(self, "_state"):
            self._begin(self._classes_for_one(), self.n_features or int(columns.max(initial=0)) + 1)
        compiled = self._compiled_learner()
        self._refresh_budget_state(compiled)
        events = SparseEvents(starts, columns, values, self.n_features_in_, len(starts) - 1)
        rows = (
            Block(block.starts[row : row + 2], block.columns, block.values)
            for _, block in events.blocks(compiled.preparation)
            for row in range(len(block.starts) - 1)
        )
        when = np.empty(1) if compiled.budget.reads_time else NO_TIMES

        def ask_next(time: float, explore: float) -> Decision:
            when[:] = time
            return self._decide(compiled, next(rows), when, explore)

        return ask_next

    def _decide(self, compiled: CompiledLearner, block: Block, when: np.ndarray, explore: float | None) -> Decision:
        """Play the only event of a block, whose answer may come later."""
        record, uniform, answer = self._single_event
        parameters = compiled.parameters
        if explore is not None:
            parameters = Parameters(*parameters[:-1], explore)
        uniform[0] = self._rng.random()
        compiled.play(
            parameters, self._state, self._recent, self._budget_state, block, when, uniform, answer,
            compiled.weighted, record,
        )  # fmt: skip
        predicted, asked, chance = record.predicted.item(), record.asked.item(), record.probability.item()
        ticket = None
        if asked:
            ticket = self._tickets.issue(
                int(self._budget_state.counts[SEEN]), PendingEvent.after(block, predicted, chance), self.max_pending
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
        x : 1-D array-like, 1-row CSR matrix, pair (columns, values), dict, text, or a row of a table
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
        row = self._raw_event(x)
        compiled, block = self._one_event(x) if row is None else self._answered_event(row)
        self._budget_state.counts[MISTAKES] += self._learn_one(compiled, block, answer, weight)
        return self

    def _tell_ticket(self, ticket: int, y: Any, replace: bool) -> Self:
        if not hasattr(self, "_tickets"):
            raise Tickets().unknown(ticket)
        self._tickets.known(ticket)
        self._expire()
        answer = encode_one(y, self.classes_)
        compiled = self._compiled_learner()  # refuses what cannot work before anything changes
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
                    f"replace=True makes it {self.classes_.item(answer)!r}."
                )
            self._budget_state.counts[MISTAKES] -= event.predicted != before
            if event.block.columns.size:
                compiled.update.take_back(self._state, before, event.predicted, event.probability)
        compiled.update.recall(self._state, event.predicted, is_correction)
        self._learn_one(compiled, event.block, answer, 1.0 / event.probability)
        compiled.update.recall(self._state, None)
        self._budget_state.counts[MISTAKES] += event.predicted != answer
        self._tickets.close(ticket, answer, self.max_pending)
        return self

    def _learn_one(self, compiled: CompiledLearner, block: Block, answer: int, weight: float) -> int:
        importances = np.array([weight], np.float64)
        weights = importances if compiled.weighted else np.ones(1)
        answers = np.array([answer], np.int32)
        return int(
            compiled.learn_labeled(
                compiled.parameters.update, self._state, self._recent, block, answers, weights, importances
            )
        )

    def _expire(self) -> None:
        """Drop the tickets that are too old by now."""
        if self.max_pending_age is not None:
            self._tickets.expire(self.events_seen_ - self.max_pending_age)

    @property
    def pending(self) -> list[int]:
        """The tickets that wait for an answer, oldest first."""
        return list(self._tickets.open) if hasattr(self, "_tickets") else []

    def answer_to(self, ticket: int) -> Any:
        """The answer that was learned to a ticket; None while there is none, or once it is dropped."""
        known = self._tickets.answered.get(ticket) if hasattr(self, "_tickets") else None
        return None if known is None else self.classes_.item(known.answer)

    def forget(self, ticket: int) -> Self:
        """Stop waiting for an answer that will not come."""
        getattr(self, "_tickets", Tickets()).forget(ticket)
        return self

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
        if sample_weight is not None:
            weights = self._check_weights(sample_weight, X)
            if not self._rules().update.weighted and not np.isin(weights, (0.0, 1.0)).all():
                raise self._all_weigh_the_same()
            self._check_classes_left(y, classes, weights)
        events, answers = self._read(X, y, classes)
        compiled = self._compiled_learner()
        if sample_weight is None:
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
        return int(self._budget_state.counts[SEEN]) if hasattr(self, "_budget_state") else 0

    @property
    def labels_asked_(self) -> int:
        """For how many events the label was asked."""
        return int(self._budget_state.counts[ASKED]) if hasattr(self, "_budget_state") else 0

    def set_labels_asked(self, asked: int) -> Self:
        """Set how many labels were really asked, if that differs from what was decided here, as when a stream is played
        again for which another model asked. Budgets go by this number."""
        if isinstance(asked, bool) or not isinstance(asked, int | np.integer) or not 0 <= asked <= self.events_seen_:
            most = f"{self.events_seen_:,}, the events seen"
            raise InvalidInput(f"the number of labels asked for is a whole one from 0 to {most}, got {asked!r}.")
        self._budget_state.counts[ASKED] = asked
        return self

    def move_time(self, time: float, asked: dict[float, int]) -> Self:
        """Set the clock of the events, such as back if it was ahead: budgets by time go on from ``time``. ``asked``
        maps the length of a period, in seconds, to the labels asked in the one that ``time`` lies in."""
        if hasattr(self, "_budget_state") and self.pace_ is not None:
            move_time(self._budget_state.budget, self._terms, time, asked, int(self._budget_state.counts[ASKED]))
        return self

    @property
    def pace_(self) -> StreamPace | None:
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

    # --- names of 0.1 (see ``deprecation``) --------------------------------------------------------------

    def loosen(self, share: float = 0.5) -> Self:
        """``inflate_variances``, as it was called in 0.1."""
        warn_renamed("loosen", "inflate_variances")
        return self.inflate_variances(share)

    def recount(self, asked: int) -> Self:
        """``set_labels_asked``, as it was called in 0.1."""
        warn_renamed("recount", "set_labels_asked")
        return self.set_labels_asked(asked)

    @property
    def rhythm_(self) -> StreamPace | None:
        """``pace_``, as it was called in 0.1."""
        warn_renamed("rhythm_", "pace_")
        return self.pace_

    # --- files -------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that ``askance.load`` reads: no pickle, versioned, checked."""
        from askance.learner.files import save

        save(self, path)


def batches_of(batches: Any) -> Iterator[list[Any]]:
    """The pieces of a stream, each a list of events, labels and times."""
    is_list = isinstance(batches, list) and all(isinstance(piece, tuple) for piece in batches)
    if not is_list and not (hasattr(batches, "__iter__") and not hasattr(batches, "__len__")):
        raise InvalidInput("y is missing; pass the labels, or an iterator of batches (X, y).")
    for piece in batches:
        if not isinstance(piece, tuple | list) or len(piece) not in (2, 3):
            raise InvalidInput(
                f"each batch is a pair (X, y), or with times (X, y, times), got a {type(piece).__name__}."
            )
        yield [*piece, *([None] * (3 - len(piece)))]


def labels_of(pieces: Sequence[Sequence[Any]]) -> np.ndarray:
    """The different labels in some pieces of a stream."""
    labels = [label for piece in pieces for label in np.asarray(piece[1], dtype=object).tolist()]
    return distinct_known_labels(known_in(labels, None)[0], "y")


def _in_deviations(margin_and_variance: np.ndarray) -> np.ndarray:
    return margin_and_variance[:, 0] / np.sqrt(margin_and_variance[:, 1] + 1.0)
