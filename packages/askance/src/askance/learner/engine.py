"""A model that has begun: what it has learned, its compiled rules, and how it runs, asks and learns over encoded rows.

It knows nothing of tables, names and labels of users but the classes: a ``Reader`` reads those, and the classifier has
the parameters. It is what files, pickles and copies of a classifier keep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np

from askance.engines import WorkerEngine
from askance.errors import ConflictingAnswer, InvalidParameter, ModelFileError
from askance.evaluate.calibration.windowed import keep_margins
from askance.learner.budget import Budget
from askance.learner.budget_state import Constraint, is_budget_state
from askance.learner.compiled import Combination, CompiledLearner, RuleSettings
from askance.learner.delayed_updates import DelayedUpdates, Piece
from askance.learner.events import Events, SparseEvents, in_pieces, read_one
from askance.learner.group import Decisions, Exploring
from askance.learner.labels import MISSING, encode_one
from askance.learner.loop import (
    MISTAKES,
    NOT_GIVEN,
    SEEN,
    UNLABELED,
    Block,
    BudgetState,
    Record,
)
from askance.learner.model_fields import MODEL_FIELDS, no_labels_asked
from askance.learner.progress import ProgressBar
from askance.learner.shared_seed import warn_of_shared_seed
from askance.learner.state import State
from askance.learner.tickets import PendingEvent, Tickets
from askance.learner.trace import Decision, Trace

NO_TIMES = np.empty(0)


class Engine:
    """The state of a model, and the compiled functions that move it.

    Parameters
    ----------
    settings : RuleSettings
        The parameters that its rules come from. ``follow`` takes others.
    classes : ndarray
        The labels there are, sorted.
    n_features : int
        How wide events are.
    rng : numpy.random.Generator
        Where the random numbers come from.
    """

    compiled: CompiledLearner
    """The rules, compiled; there once ``follow`` was called."""
    recent: np.ndarray
    """The latest answers, on which probabilities rest."""
    budget_state: BudgetState
    """Events seen, labels asked, mistakes; and what the budget remembers."""
    tickets: Tickets
    """The questions that wait for their answers."""

    def __init__(self, settings: RuleSettings, classes: np.ndarray, n_features: int, rng: np.random.Generator) -> None:
        rules = settings.combine()
        rules.update.kernels(len(classes))  # these two raise where the rule does not suit the classes
        rules.update.parameters_for(classes)
        self.settings, self.classes, self.n_features, self.rng = settings, classes, n_features, rng
        self.state: State = rules.update.start(n_features + bool(rules.intercept), len(classes))
        self.constraints: list[Constraint] = rules.budget.constraints_key()
        self._layout = _layout(rules, len(classes))
        for field in MODEL_FIELDS:
            setattr(self, field.attribute, field.begin(self, rules))
        self._single_event = _allocate_single()

    def follow(self, settings: RuleSettings) -> None:
        """Compile the rules again if a parameter has changed: it takes effect with the next call."""
        if "compiled" in self.__dict__ and self.compiled.is_made_from(settings):
            return
        rules = settings.combine()
        if _layout(rules, len(self.classes)) != self._layout:
            raise InvalidParameter(
                "the update rule, its per_class, sketch_size and buffer_size, whether Probit's decay is below 1, "
                "and the intercept cannot be changed once learning has begun; fit starts again, and "
                "sklearn.base.clone gives a fresh copy."
            )
        settings.check_pending_limits()
        self.compiled = CompiledLearner(rules, self.classes, self.n_features)
        self.compiled.remember_source(settings)
        self.settings = settings

    def refresh_budget_state(self) -> None:
        """Replace the budget state if the budget has changed."""
        constraints = self.compiled.constraints_key
        if constraints is not self.constraints:
            kept = self.budget_state_for(self.compiled.budget, constraints)
            self.budget_state = self.budget_state._replace(budget=kept)
            self.constraints = constraints

    def budget_state_for(self, budget: Budget, constraints: list[Constraint]) -> np.ndarray:
        """The state for a budget with these constraints. If they are new, what the old state knows is carried over."""
        if constraints == self.constraints:
            return self.budget_state.budget
        return budget.budget_state(self.budget_state.budget, self.constraints)

    # --- a stream whose labels are known -------------------------------------------------------------------

    def run(
        self,
        events: Events,
        truth: np.ndarray,
        times: np.ndarray,
        seed: Any = None,
        bar: ProgressBar | None = None,
        workers: int | WorkerEngine | None = None,
    ) -> Trace:
        """Predict, ask, and learn from what was asked; ``truth`` has class indices, MISSING where there is none."""
        self.refresh_budget_state()
        compiled, n = self.compiled, events.n_events
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
        uniforms = self.rng.random(n) if is_complete else np.zeros(n)
        if not is_complete:
            uniforms[is_labeled] = self.rng.random(int(is_labeled.sum()))
        warn_of_shared_seed(truth, uniforms, seed)
        blocks = events.blocks(compiled.preparation)
        pieces = (
            Piece(
                block,
                times[which] if len(times) else times,
                uniforms[which],
                answers[which],
                record if which == slice(0, n) else Record(*(array[which] for array in record)),
            )
            for which, block in (blocks if bar is None else in_pieces(blocks, bar.events_at_once(n)))
        )
        seconds = self._run_pieces(pieces, bar) if workers is None else DelayedUpdates(self, workers).run(pieces, bar)
        if workers is None and self.state.scores.size == 1:
            bought = np.flatnonzero(record.asked)
            keep_margins(self.recent, record.margin[bought], truth[bought], record.probability[bought])
        self._expire()
        return Trace(
            classes=self.classes,
            predicted_index=record.predicted,
            truth_index=truth,
            margin=record.margin,
            variance=record.variance,
            probability=record.probability,
            asked=record.asked,
            audit=record.audit,
            seconds=seconds,
            margin_is_signed=self.state.scores.size == 1,
            probabilistic=compiled.probabilistic,
        )

    def _run_pieces(self, pieces: Iterator[Piece], bar: ProgressBar | None) -> float:
        """Run pieces of a stream one event after the other, and return the seconds of the loop."""
        compiled, seconds = self.compiled, 0.0
        for piece in pieces:
            began = perf_counter()
            compiled.play(
                compiled.parameters, self.state, self.recent, self.budget_state, piece.block, piece.times,
                piece.uniforms, piece.answers, compiled.weighted, piece.record,
            )  # fmt: skip
            seconds += perf_counter() - began
            if bar is not None:
                bar.advance(len(piece), int(np.count_nonzero(piece.record.asked)))
        return seconds

    # --- single events -------------------------------------------------------------------------------------

    def ask(self, block: Block, when: np.ndarray, explore: float | None = None) -> Decision:
        """Decide on the only event of a block, whose answer may come later."""
        self.refresh_budget_state()
        compiled = self.compiled
        record, uniform, answer = self._single_event
        parameters = compiled.parameters
        if explore is not None:
            parameters = parameters._replace(explore=explore)
        uniform[0] = self.rng.random()
        compiled.play(
            parameters, self.state, self.recent, self.budget_state, block, when, uniform, answer,
            compiled.weighted, record,
        )  # fmt: skip
        predicted, asked, chance = record.predicted.item(), record.asked.item(), record.probability.item()
        ticket = None
        if asked:
            event = PendingEvent.after(block, predicted, chance)
            ticket = self.tickets.issue(int(self.budget_state.counts[SEEN]), event, self.settings.max_pending)
        self._expire()
        weight = 1.0 / chance if chance > 0.0 else 0.0
        label, audit = self.classes.item(predicted), record.audit.item()
        return Decision(label, record.margin.item(), chance, asked, weight, ticket, audit)

    def ask_batch(self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray) -> Callable[..., Decisions]:
        """``ask`` for the rows of a CSR matrix, checked and prepared together.

        Each call, with the times of some rows, how they are explored and which of them were asked about, is for as many
        rows as there are times, from the first on that had no turn yet. Nothing is kept for their answers. Until the
        last one nothing else may change a parameter of the classifier, or widen it."""
        self.refresh_budget_state()
        compiled = self.compiled
        n_rows = len(starts) - 1
        if n_rows == 1:
            blocks = [(slice(0, 1), read_one((columns, values), self.n_features, compiled.preparation))]
        else:
            events = SparseEvents(starts, columns, values, self.n_features, n_rows)
            blocks = list(events.blocks(compiled.preparation))
        done = 0

        def ask_next(times: np.ndarray, exploring: Exploring, were_asked: np.ndarray) -> Decisions:
            nonlocal done
            first, done = done, done + len(times)
            decisions = _room_for_decisions(len(times), self.state.scores.size)
            uniforms, answers = self.rng.random(len(times)), np.full(len(times), NOT_GIVEN, np.int32)
            for which, block in blocks:
                low, high = max(first, which.start), min(done, which.stop)
                if low >= high:
                    continue
                part = slice(low - first, high - first)
                rows = block.starts[low - which.start : high - which.start + 1]
                record = Record(*(array[part] for array in decisions.record))
                compiled.play_group(
                    compiled.parameters, self.state, self.recent, self.budget_state, block._replace(starts=rows),
                    times[part] if compiled.budget.reads_time else NO_TIMES, uniforms[part], answers[part],
                    compiled.weighted, were_asked[part], exploring,
                    Decisions(record, decisions.scores[part], decisions.explored[part]),
                )  # fmt: skip
            return decisions

        return ask_next

    def tell(self, block: Block, answer: int, weight: float) -> None:
        """Learn the answer to the only event of a block."""
        self.budget_state.counts[MISTAKES] += self._learn_one(block, answer, weight)

    def tell_ticket(self, ticket: int, y: Any, replace: bool) -> None:
        """Learn the answer to a ticket, once; another answer only if it is to replace the first."""
        self.tickets.check_number(ticket)
        self._expire()
        answer = encode_one(y, self.classes)
        update, event = self.compiled.update, self.tickets.open.get(ticket)
        is_correction = event is None
        if event is None:
            if ticket not in self.tickets.answered:
                raise self.tickets.unknown(ticket)
            event, before = self.tickets.answered[ticket]
            if answer == before:
                return
            if not replace:
                raise ConflictingAnswer(
                    f"ticket {ticket} was answered {self.classes.item(before)!r} before; "
                    f"replace=True makes it {self.classes.item(answer)!r}."
                )
            self.budget_state.counts[MISTAKES] -= event.predicted != before
            self._take_back(event, before)
        update.recall(self.state, event.predicted, is_correction)
        self._learn_one(event.block, answer, 1.0 / event.probability)
        update.recall(self.state, None)
        self.budget_state.counts[MISTAKES] += event.predicted != answer
        self.tickets.close(ticket, answer, self.settings.max_pending)

    def _take_back(self, event: PendingEvent, answer: int) -> None:
        """Leave an answer that is corrected out of what the rule reports."""
        if event.columns.size:
            self.compiled.update.take_back(self.state, answer, event.predicted, event.probability)

    def _learn_one(self, block: Block, answer: int, weight: float) -> int:
        """Returns how many mistakes that were."""
        compiled = self.compiled
        importances = np.array([weight], np.float64)
        weights = importances if compiled.weighted else np.ones(1)
        answers = np.array([answer], np.int32)
        return int(
            compiled.learn_labeled(
                compiled.parameters.update, self.state, self.recent, block, answers, weights, importances
            )
        )

    def _expire(self) -> None:
        """Drop the tickets that are too old by now."""
        if self.settings.max_pending_age is not None:
            self.tickets.expire(int(self.budget_state.counts[SEEN]) - self.settings.max_pending_age)

    # --- given labels, and what is predicted -------------------------------------------------------------------

    def learn_given(self, events: Events, answers: np.ndarray, weights: np.ndarray) -> None:
        """Learn from given labels; ask nothing, and leave the budget and the random numbers alone."""
        compiled = self.compiled
        for which, block in events.blocks(compiled.preparation):
            compiled.learn_given(
                compiled.parameters.update, self.state, self.recent, block, answers[which], weights[which],
                weights[which],
            )  # fmt: skip

    def scores_of(self, events: Events) -> tuple[np.ndarray, np.ndarray]:
        """The predicted class and the scores of each event."""
        compiled = self.compiled
        predicted = np.empty(events.n_events, np.int32)
        scores = np.empty((events.n_events, max(2, self.state.scores.size)))
        for which, block in events.blocks(compiled.preparation):
            compiled.predict_block(compiled.parameters.update, self.state, block, predicted[which], scores[which])
        return predicted, scores

    def widen(self, n_features: int, rules: Combination) -> None:
        """Add features, of which nothing has been learned yet."""
        kept = np.arange(self.n_features)
        if rules.intercept:
            kept = np.append(kept, n_features)
        self.state = rules.update.widen(self.state, kept, n_features + bool(rules.intercept), len(self.classes))
        if rules.intercept:
            self.tickets.move(kept)
        self.n_features = n_features
        self.__dict__.pop("compiled", None)

    # --- pickles and copies ------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("compiled", "_single_event")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._single_event = _allocate_single()
        self.state = _writable(self.state)
        for field in MODEL_FIELDS:
            kept = self.__dict__.get(field.attribute)
            fresh = field.begin(self, self.settings.combine()) if kept is None else _writable(kept)
            setattr(self, field.attribute, fresh)
        if len(self.budget_state.asked_by_class) < len(self.classes):  # labels were not counted by class
            self.budget_state = self.budget_state._replace(asked_by_class=no_labels_asked(self))
        if not is_budget_state(self.budget_state.budget, len(self.constraints)):
            raise ModelFileError(
                "this pickle is of an earlier askance, whose budget kept other numbers; train it again, and "
                "keep it by save, whose files later versions read."
            )


def _layout(rules: Combination, n_classes: int) -> tuple[Any, ...]:
    """What of the rules cannot change once there is a state."""
    return (*rules.update.layout(n_classes), bool(rules.intercept))


def _room_for_decisions(n_rows: int, n_scores: int) -> Decisions:
    """Arrays for what is decided on so many events."""
    decided = np.empty(n_rows, np.bool_), np.empty(n_rows, np.bool_)
    record = Record(np.empty(n_rows, np.int32), np.empty(n_rows), np.empty(0), np.empty(n_rows), *decided)
    return Decisions(record, np.empty((n_rows, n_scores)), np.empty(n_rows))


def _writable(value: Any) -> Any:
    """An array, or a copy if it is read-only, as when joblib maps it from a file; of a tuple of arrays, each."""
    if isinstance(value, tuple):
        return type(value)(*map(_writable, value))
    return np.array(value) if isinstance(value, np.ndarray) and not value.flags.writeable else value


def _allocate_single() -> tuple[Record, np.ndarray, np.ndarray]:
    """Arrays for one event: its record, its random number, and its answer, which is not given yet."""
    decided = np.empty(1, np.bool_), np.empty(1, np.bool_)
    record = Record(np.empty(1, np.int32), np.empty(1), np.empty(0), np.empty(1), *decided)
    return record, np.empty(1), np.array([NOT_GIVEN], np.int32)


def not_fitted_yet(
    sentence: str = "this ActiveClassifier has not seen any event yet; call run, ask, partial_fit or fit first.",
) -> Exception:
    """The error for a question to a classifier that has not begun."""
    from sklearn.exceptions import NotFittedError

    return NotFittedError(sentence)
