"""The stream of a model that lives elsewhere: it is scored and taught there, and asked for here.

Query rule, budget, random numbers, tickets and traces are those of our own classifiers: the one loop plays every event.
Only the update rule is a stand-in. It predicts what the other model has said of the event in hand, and learns nothing;
the other model learns instead.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils.validation import _check_y

from askance.errors import IncompatibleRules, InvalidInput
from askance.learner.base import not_fitted_yet
from askance.learner.compiled import CompiledLearner
from askance.learner.loop import Block
from askance.learner.progress import ProgressBar
from askance.learner.rule import Kernels, QueryRule, UpdateRule
from askance.learner.sifting import Piece
from askance.learner.state import Event, Score, State
from askance.learner.stream_classifier import StreamClassifier
from askance.learner.trace import Decision, Trace

PREDICTED, MARGIN = 0, 1  # places in ``state.extra``
EVENT = np.zeros(1, np.int64), np.ones(1)
"""What the loop sees of an event: one feature, so that it is none of those from which nothing can be learned."""


def events(number: int) -> csr_matrix:
    """So many of them."""
    return csr_matrix((np.ones(number), np.zeros(number, np.int32), np.arange(number + 1)), (number, 1))


LARGEST = 1e300  # of a margin, which may come as infinite


def recall_score(parameters: np.ndarray, state: State, event: Event) -> Score:
    """What the model has said of the event in hand."""
    return Score(int(state.extra[0]), state.extra[1], 0.0)


def learn_elsewhere(
    parameters: np.ndarray, state: State, event: Event, answer: int, prediction: Score, weight: float
) -> None:
    """The model itself learns."""


@dataclass
class ForeignModel(UpdateRule):
    """Stands in for the update rule of a model that lives elsewhere.

    Parameters
    ----------
    weighted : bool, default False
        Whether the model is given the weight of an answer, 1 / ask probability.
    score_per_class : bool, default True
        Whether, with more than two classes, the scores of all of them are kept, for the probabilities of classes.
    """

    weighted: bool = False
    score_per_class: bool = True

    binary: ClassVar = Kernels(margin=recall_score, learn=learn_elsewhere)
    multiclass: ClassVar = binary
    own_numbers: ClassVar = 2

    @property
    def takes_weights(self) -> bool:
        return True

    def keeps_vector_per_class(self, n_classes: int) -> bool:
        return self.score_per_class and n_classes > 2


class ModelScore(NamedTuple):
    """What a model says of one event."""

    predicted: int
    """The index of the predicted class."""
    margin: float
    """Of two classes, how far it lies towards the second; of more, the best score minus the second best."""
    scores: np.ndarray | float = 0.0
    """With more than two classes, the score of each."""


class ExternalModel(Protocol):
    """A model that lives elsewhere. A row is an event as it wants it."""

    def begin(self, classes: np.ndarray) -> None:
        """Prepare for these classes."""

    def score(self, row: Any) -> ModelScore:
        """Predict an event."""

    def learn(self, row: Any, answer: int, weight: float) -> None:
        """Learn an answer."""


def check_query(query: Any, model: str) -> None:
    """Refuse a query rule that reads what only our own models tell."""
    if not isinstance(query, QueryRule):
        return  # the classifier says so
    read = "the variance of a margin" if query.reads_variance else "the length of an event"
    if query.reads_variance or query.reads_length:
        raise IncompatibleRules(
            f"{type(query).__name__} reads {read}, which {model} does not tell; use a query rule that reads the margin "
            "alone, such as askance.queries.Margin()."
        )


def margin_of(scores: np.ndarray) -> float:
    """The margin by the scores of one event: one score itself, of two the second minus the first, of more the best
    minus the second best. 0, as unsure as can be, where the model gives no number; never infinite."""
    with np.errstate(all="ignore"):
        if scores.size == 1:
            margin = float(scores[0])
        elif scores.size == 2:
            margin = float(scores[1] - scores[0])
        else:
            second, best = np.partition(scores, -2)[-2:].tolist()
            margin = best - second
    return 0.0 if np.isnan(margin) else min(LARGEST, max(-LARGEST, margin))


LEAST_PROBABILITY = float(np.finfo(np.float64).eps)


def log_probabilities(probabilities: Any) -> np.ndarray:
    """log p, with p no less than the machine's epsilon, as in scikit-learn's log loss: the difference of two is the
    logarithm of odds, and a model that is certain has a margin of 36."""
    return np.log(np.maximum(np.asarray(probabilities, np.float64), LEAST_PROBABILITY))


class ScoredStream(StreamClassifier):
    """Decides for a model that lives elsewhere, and has it learn.

    Parameters
    ----------
    model : ExternalModel
        It scores and learns.
    update : ForeignModel
        Stands in for it in the loop.
    **parameters
        The other parameters of a classifier: query, budget, classes, random_state, explore, max_pending,
        max_pending_age.
    """

    def __init__(self, model: ExternalModel, update: ForeignModel, **parameters: Any) -> None:
        super().__init__(update=update, n_features=1, **parameters)
        self.model = model
        self._rows: dict[int, Any] = {}
        self._row: Any = None
        self._row_at: Callable[[int], Any] = lambda place: None

    # --- playing, asking, telling --------------------------------------------------------------------------

    def run_rows(
        self, row_at: Callable[[int], Any], n_rows: int, y: Any, times: Any = None, bar: ProgressBar | None = None
    ) -> Trace:
        """Play events whose labels are known; ``row_at`` gives the event at a place.

        Each is scored alone and answered before the next one, as by ``ask`` and ``tell``, so that the bits are the
        same. If the model fails at an event, those before it have been played, and the random numbers of the others are
        not used up."""
        seen = self.events_seen_
        if self.has_begun:
            self._unused = self._rng.bit_generator.state
        self._row_at = row_at
        try:
            return self._run(events(n_rows), y, times, bar=bar)
        except BaseException:
            if self.has_begun:
                self._rng.bit_generator.state = self._unused
                self._rng.random(self.events_seen_ - seen)
            raise
        finally:
            self._row_at = lambda place: None

    def _check_label_array(self, y: Any) -> np.ndarray:
        return _check_y(y, multi_output=False, y_numeric=False, estimator=self)

    def read_labels(self, n_rows: int, y: Any, classes: Any = None) -> np.ndarray:
        """The class indices of the labels of so many events; begins if they are the first."""
        if y is None:  # the words are those that scikit-learn's own tests want
            raise InvalidInput("learning requires y to be passed, but the target y is None.")
        return self._read(events(n_rows), y, classes)[1]

    def _begin(self, classes: np.ndarray, n_features: int) -> None:
        super()._begin(classes, n_features)
        self._unused = self._rng.bit_generator.state
        self.model.begin(self.classes_)

    def _play(self, compiled: CompiledLearner, pieces: Iterator[Piece], bar: ProgressBar | None) -> float:
        began, place = perf_counter(), 0
        for piece in pieces:
            for t in range(len(piece)):
                row = self._row_at(place)
                self._hold(row)
                event = piece.part(t, t + 1)
                super()._play(compiled, iter((event,)), bar)
                if event.record.asked[0]:
                    weight = 1.0 / event.record.probability.item() if compiled.weighted else 1.0
                    self.model.learn(row, event.answers.item(), weight)
                place += 1
        return perf_counter() - began

    def ask_row(self, row: Any, time: float | datetime | None = None, explore: float | None = None) -> Decision:
        """``ask`` for an event as the model wants it."""
        if not self.has_begun:
            self._begin_with_one(EVENT)
        self._hold(row)
        decision = self.ask(EVENT, time, explore)
        if decision.ticket is not None:
            self._rows[decision.ticket] = copy.deepcopy(row)
            self._drop_rows()
        return decision

    def tell_row(self, row: Any, y: Any, weight: float = 1.0) -> Self:
        """``tell`` for an event as the model wants it."""
        self._row = row
        return self.tell(EVENT, y, weight)

    def _tell_ticket(self, ticket: int, y: Any, replace: bool) -> Self:
        self._row = self._rows.get(ticket)
        super()._tell_ticket(ticket, y, replace)
        self._drop_rows()
        return self

    def _learn_one(self, compiled: CompiledLearner, block: Block, answer: int, weight: float) -> int:
        row, self._row = self._row, None
        self._hold(row)
        given = weight if compiled.weighted else 1.0
        if given > 0.0:
            self.model.learn(row, answer, given)
        return super()._learn_one(compiled, block, answer, weight)

    def _hold(self, row: Any) -> None:
        """Have the event scored, and keep what the model says of it where the loop finds it."""
        score = self.model.score(row)
        self._state.extra[PREDICTED], self._state.extra[MARGIN] = score.predicted, score.margin
        self._state.scores[:] = score.scores if self._state.scores.size > 1 else score.margin

    def _drop_rows(self) -> None:
        """Drop the events whose tickets are no longer kept, now and then."""
        tickets = self._tickets
        if len(self._rows) > 2 * (len(tickets.open) + len(tickets.answered)) + 16:
            kept = tickets.open.keys() | tickets.answered.keys()
            self._rows = {ticket: row for ticket, row in self._rows.items() if ticket in kept}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name not in ("_row_at", "_row")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._row, self._row_at = None, lambda place: None

    def check_begun(self) -> None:
        """Raise before the first event."""
        if not self.has_begun:
            raise not_fitted_yet("this classifier has not seen any event yet; call run, ask, partial_fit or fit first.")
