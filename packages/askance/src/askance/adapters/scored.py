"""The stream of a model that lives elsewhere: it is scored and taught there, and asked for here.

Query rule, budget, random numbers, tickets and traces are those of our own classifiers: the one loop plays every event.
Only the update rule is a stand-in. It predicts what the other model has said of the event in hand, and learns nothing;
the other model learns instead.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_y, check_is_fitted

from askance.data.encoding.table import RawRows, is_table, no_label
from askance.errors import IncompatibleRules, InvalidInput, InvalidParameter, InvalidType
from askance.learner.classifier import StreamClassifier
from askance.learner.delayed_updates import Piece
from askance.learner.engine import Engine, not_fitted_yet
from askance.learner.labels import encode_one
from askance.learner.loop import Block
from askance.learner.progress import ProgressBar
from askance.learner.reader import as_several
from askance.learner.rule import Kernels, QueryRule, UpdateRule
from askance.learner.state import Event, Score, State
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
    return Score(int(state.extra[PREDICTED]), state.extra[MARGIN], 0.0)


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


class RowsInHand:
    """The events of a model that lives elsewhere: the one that is asked or told about, those of a run, and those that
    wait for an answer."""

    def __init__(self) -> None:
        self.row: Any = None
        self.row_at: Callable[[int], Any] = lambda place: None
        self.waiting: dict[int, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"waiting": self.waiting}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        self.waiting = state["waiting"]


class ScoredEngine(Engine):
    """Decides for a model that lives elsewhere: it scores each event right before the loop decides on it."""

    model: ExternalModel
    rows: RowsInHand
    unused: Any
    """Where the random numbers stood before the run that is under way."""

    def join(self, model: ExternalModel, rows: RowsInHand) -> None:
        """Work for this model."""
        self.model, self.rows = model, rows
        self.unused = self.rng.bit_generator.state

    def _run_pieces(self, pieces: Iterator[Piece], bar: ProgressBar | None) -> float:
        began, place, weighted = perf_counter(), 0, self.compiled.weighted
        for piece in pieces:
            for t in range(len(piece)):
                row = self.rows.row_at(place)
                self.hold(row)
                event = piece.part(t, t + 1)
                super()._run_pieces(iter((event,)), bar)
                if event.record.asked[0]:
                    weight = 1.0 / event.record.probability.item() if weighted else 1.0
                    self.model.learn(row, event.answers.item(), weight)
                place += 1
        return perf_counter() - began

    def tell_ticket(self, ticket: int, y: Any, replace: bool) -> None:
        self.rows.row = self.rows.waiting.get(ticket)
        super().tell_ticket(ticket, y, replace)
        self._drop_rows()

    def _learn_one(self, block: Block, answer: int, weight: float) -> int:
        row, self.rows.row = self.rows.row, None
        self.hold(row)
        given = weight if self.compiled.weighted else 1.0
        if given > 0.0:
            self.model.learn(row, answer, given)
        return super()._learn_one(block, answer, weight)

    def hold(self, row: Any) -> None:
        """Have the event scored, and keep what the model says of it where the loop finds it."""
        score = self.model.score(row)
        self.state.extra[PREDICTED], self.state.extra[MARGIN] = score.predicted, score.margin
        self.state.scores[:] = score.scores if self.state.scores.size > 1 else score.margin

    def keep_row(self, ticket: int, row: Any) -> None:
        """Keep an event for its answer."""
        self.rows.waiting[ticket] = copy.deepcopy(row)
        self._drop_rows()

    def _drop_rows(self) -> None:
        """Drop the events whose tickets are no longer kept, now and then."""
        rows, tickets = self.rows, self.tickets
        if len(rows.waiting) > 2 * (len(tickets.open) + len(tickets.answered)) + 16:
            kept = tickets.open.keys() | tickets.answered.keys()
            rows.waiting = {ticket: row for ticket, row in rows.waiting.items() if ticket in kept}


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

    _engine_kind: ClassVar = ScoredEngine
    _engine: ScoredEngine

    def __init__(self, model: ExternalModel, update: ForeignModel, **parameters: Any) -> None:
        super().__init__(update=update, n_features=1, **parameters)
        self.model = model
        self._rows = RowsInHand()

    # --- run, ask, tell -------------------------------------------------------------------------------------

    def run_rows(
        self, row_at: Callable[[int], Any], n_rows: int, y: Any, times: Any = None, bar: ProgressBar | None = None
    ) -> Trace:
        """Play events whose labels are known; ``row_at`` gives the event at a place.

        Each is scored alone and answered before the next one, as by ``ask`` and ``tell``, so that the bits are the
        same. If the model fails at an event, those before it have been played, and the random numbers of the others are
        not used up."""
        seen = self.events_seen_
        if self._has_begun:
            self._engine.unused = self._engine.rng.bit_generator.state
        self._rows.row_at = row_at
        try:
            return self._run(events(n_rows), y, times, None, bar)
        except BaseException:
            if self._has_begun:
                rng = self._engine.rng
                rng.bit_generator.state = self._engine.unused
                rng.random(self.events_seen_ - seen)
            raise
        finally:
            self._rows.row_at = lambda place: None

    def _check_label_array(self, y: Any) -> np.ndarray:
        return _check_y(y, multi_output=False, y_numeric=False, estimator=self)

    def read_labels(self, n_rows: int, y: Any, classes: Any = None) -> np.ndarray:
        """The class indices of the labels of so many events; begins if they are the first."""
        if y is None:  # the words are those that scikit-learn's own tests want
            raise InvalidInput("learning requires y to be passed, but the target y is None.")
        return self._reader.read(events(n_rows), y, classes)[1]

    def _begin(self, classes: np.ndarray, n_features: int) -> None:
        super()._begin(classes, n_features)
        self._engine.join(self.model, self._rows)
        self.model.begin(self.classes_)

    def ask_row(self, row: Any, time: float | datetime | None = None, explore: float | None = None) -> Decision:
        """``ask`` for an event as the model wants it."""
        if not self._has_begun:
            self._begin(self._classes_for_one(), 1)
        self._engine.hold(row)
        decision = self.ask(EVENT, time, explore)
        if decision.ticket is not None:
            self._engine.keep_row(decision.ticket, row)
        return decision

    def tell_row(self, row: Any, y: Any, weight: float = 1.0) -> Self:
        """``tell`` for an event as the model wants it."""
        self._rows.row = row
        return self.tell(EVENT, y, weight)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if isinstance(self._rows, dict):  # a pickle from before there were engines
            waiting, self._rows = self._rows, RowsInHand()
            self._rows.waiting = waiting
            if self._has_begun:
                self._engine.join(self.model, self._rows)

    def check_begun(self) -> None:
        """Raise before the first event."""
        if not self._has_begun:
            raise not_fitted_yet("this classifier has not seen any event yet; call run, ask, partial_fit or fit first.")


# --- a scikit-learn classifier as the model of a stream --------------------------------------------------


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
