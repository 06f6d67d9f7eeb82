"""One event at a time: ask whether its label is wanted, and learn the answer whenever it comes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Self

import numpy as np

from askance.errors import ConflictingAnswer, InvalidInput, InvalidParameter, InvalidType
from askance.learner.base import NO_TIMES
from askance.learner.compiled import CompiledLearner, check_explore
from askance.learner.events import SparseEvents
from askance.learner.group import Decisions, Exploring
from askance.learner.labels import encode_one
from askance.learner.loop import ASKED, MISTAKES, NOT_GIVEN, SEEN, Block, Parameters, Record
from askance.learner.one_event import read_one
from askance.learner.raw import RawActiveClassifier
from askance.learner.tickets import PendingEvent, Tickets
from askance.learner.trace import Decision


class AskTellClassifier(RawActiveClassifier):
    """Decides event by event, and keeps those that wait for an answer."""

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

    def _ask_batch(self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray) -> Callable[..., Decisions]:
        """``ask`` for the rows of a CSR matrix, checked and prepared together.

        Each call, with the times of some rows, how they are explored and which of them were asked about, is for as many
        rows as there are times, from the first on that had no turn yet. Nothing is kept for their answers. Until the
        last one nothing else may change a parameter of this classifier, or widen it."""
        if not hasattr(self, "_state"):
            self._begin(self._classes_for_one(), self.n_features or int(columns.max(initial=0)) + 1)
        compiled = self._compiled_learner()
        self._refresh_budget_state(compiled)
        n_rows = len(starts) - 1
        if n_rows == 1:
            blocks = [(slice(0, 1), read_one((columns, values), self.n_features_in_, compiled.preparation))]
        else:
            events = SparseEvents(starts, columns, values, self.n_features_in_, n_rows)
            blocks = list(events.blocks(compiled.preparation))
        done = 0

        def ask_next(times: np.ndarray, exploring: Exploring, were_asked: np.ndarray) -> Decisions:
            nonlocal done
            first, done = done, done + len(times)
            decisions = _room_for_decisions(len(times), self._state.scores.size)
            uniforms, answers = self._rng.random(len(times)), np.full(len(times), NOT_GIVEN, np.int32)
            for which, block in blocks:
                low, high = max(first, which.start), min(done, which.stop)
                if low >= high:
                    continue
                part = slice(low - first, high - first)
                rows = block.starts[low - which.start : high - which.start + 1]
                record = Record(*(array[part] for array in decisions.record))
                compiled.play_group(
                    compiled.parameters, self._state, self._recent, self._budget_state, block._replace(starts=rows),
                    times[part] if compiled.budget.reads_time else NO_TIMES, uniforms[part], answers[part],
                    compiled.weighted, were_asked[part], exploring,
                    Decisions(record, decisions.scores[part], decisions.explored[part]),
                )  # fmt: skip
            return decisions

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
        self._tickets.check_number(ticket)
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
            self._take_back(compiled, event, before)
        compiled.update.recall(self._state, event.predicted, is_correction)
        self._learn_one(compiled, event.block, answer, 1.0 / event.probability)
        compiled.update.recall(self._state, None)
        self._budget_state.counts[MISTAKES] += event.predicted != answer
        self._tickets.close(ticket, answer, self.max_pending)
        return self

    def _take_back(self, compiled: CompiledLearner, event: PendingEvent, answer: int) -> None:
        """Leave an answer that is corrected out of what the rule reports."""
        if event.columns.size:
            compiled.update.take_back(self._state, answer, event.predicted, event.probability)

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

    def _answer_to(self, ticket: int) -> Any:
        """The answer that was learned to a ticket; None while there is none, or once it is dropped."""
        known = self._tickets.answered.get(ticket) if hasattr(self, "_tickets") else None
        return None if known is None else self.classes_.item(known.answer)

    def forget(self, ticket: int) -> Self:
        """Stop waiting for an answer that will not come."""
        getattr(self, "_tickets", Tickets()).forget(ticket)
        return self

    @property
    def events_seen_(self) -> int:
        """How many events were decided on."""
        return int(self._budget_state.counts[SEEN]) if hasattr(self, "_budget_state") else 0

    @property
    def labels_asked_(self) -> int:
        """For how many events the label was asked."""
        return int(self._budget_state.counts[ASKED]) if hasattr(self, "_budget_state") else 0

    @property
    def _labels_asked_by_class(self) -> list[int]:
        """For how many events predicted as each class the label was asked."""
        return self._budget_state.asked_by_class.tolist() if hasattr(self, "_budget_state") else []

    def _set_labels_asked(self, asked: int) -> Self:
        """Set how many labels were really asked, if that differs from what was decided here, as when a stream is played
        again for which another model asked. Budgets go by this number, those by predicted class by the decisions."""
        if isinstance(asked, bool) or not isinstance(asked, int | np.integer) or not 0 <= asked <= self.events_seen_:
            most = f"{self.events_seen_:,}, the events seen"
            raise InvalidInput(f"the number of labels asked for is a whole one from 0 to {most}, got {asked!r}.")
        self._budget_state.counts[ASKED] = asked
        return self


def _room_for_decisions(n_rows: int, n_scores: int) -> Decisions:
    """Arrays for what is decided on so many events."""
    decided = np.empty(n_rows, np.bool_), np.empty(n_rows, np.bool_)
    record = Record(np.empty(n_rows, np.int32), np.empty(n_rows), np.empty(0), np.empty(n_rows), *decided)
    return Decisions(record, np.empty((n_rows, n_scores)), np.empty(n_rows))
