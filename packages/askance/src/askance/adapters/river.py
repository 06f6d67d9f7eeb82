"""river: our classifiers in its loops, and its classifiers under our query rules and budgets.

The extra ``river`` installs it.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from askance.adapters.scored import (
    ForeignModel,
    ModelScore,
    ScoredEngine,
    ScoredStream,
    check_query,
    log_probabilities,
    margin_of,
)
from askance.errors import InvalidInput, InvalidParameter, InvalidType
from askance.extras import how_to_install
from askance.learner.budget import Budget
from askance.learner.classifier import StreamClassifier, parameters_of
from askance.learner.estimator import ActiveClassifier
from askance.learner.rule import QueryRule
from askance.learner.trace import Decision, Trace

try:
    from river import base
    from river.active.base import ActiveLearningClassifier
except ImportError:
    raise ImportError(f"askance.adapters.river needs river: {how_to_install('river')}.") from None

__all__ = ["QuerySampler", "RiverActiveClassifier", "RiverClassifier"]

# --- our classifiers in river ------------------------------------------------------------------------------


def fresh_classifier(classifier: Any, seed: Any = None) -> StreamClassifier:
    """A copy that has learned nothing, and does without scikit-learn's checks of every event. Its classes are False and
    True, as river has them, unless it names others."""
    if not isinstance(classifier, ActiveClassifier):
        raise InvalidType(
            f'classifier must be one of ours, such as askance.make("PAA-I"), got {type(classifier).__name__}; '
            "QuerySampler takes river's classifiers."
        )
    fresh = StreamClassifier(**parameters_of(clone(classifier)))
    if fresh.classes is None:
        fresh.classes = list(BOOLEAN)
    if seed is not None:
        fresh.random_state = seed
    fresh._check_rules()
    return fresh


def probabilities_of(clf: StreamClassifier, x: Mapping[Any, Any]) -> dict[Any, float]:
    """The probability of each class; equal ones before the first event."""
    labels = list(clf.classes_.tolist() if clf._has_begun else np.unique(clf.classes).tolist())
    if not clf._has_begun:
        return dict.fromkeys(labels, 1.0 / len(labels))
    return dict(zip(labels, clf.predict_proba([name_by_words(x)])[0].tolist(), strict=True))


def name_by_words(x: Any) -> dict[str, Any]:
    """The event with names that are words: river's may be anything, such as numbers."""
    if not isinstance(x, Mapping):
        raise InvalidInput(f"an event of river is a dict of features, got a {type(x).__name__}.")
    return {name if isinstance(name, str) else str(name): value for name, value in x.items()}


class RiverClassifier(base.Classifier):
    """One of our classifiers as a classifier of river: it predicts dicts, learns every label it is given, and asks for
    none.

    Fields may be numbers, words, texts and dates, as everywhere here; river's transformers can stand before it.

    Parameters
    ----------
    classifier : ActiveClassifier
        Such as ``askance.make("SOAL-diag")``. Its classes are False and True unless it names others. It is copied.

    Examples
    --------
    >>> import askance
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from askance.adapters.river import RiverClassifier
    >>> model = preprocessing.StandardScaler() | RiverClassifier(askance.make("PAA-I"))
    >>> accuracy = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> accuracy.get() > 0.8
    True
    """

    def __init__(self, classifier: ActiveClassifier) -> None:
        self.classifier = classifier
        self._clf = fresh_classifier(classifier)

    @property
    def _multiclass(self) -> bool:
        return len(self._clf.classes) > 2

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn a label. ``w`` is its weight, for rules that are weighted."""
        self._clf.partial_fit([name_by_words(x)], [y], sample_weight=None if w == 1.0 else [w])

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """The probability of each class."""
        return probabilities_of(self._clf, x)

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """The predicted label; None before the first event."""
        return self._clf.predict([name_by_words(x)]).tolist()[0] if self._clf._has_begun else None

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from askance.learner.make import make

        yield {"classifier": make("PAA-I")}


# --- classifiers that ask ----------------------------------------------------------------------------------


class AskingClassifier(ActiveLearningClassifier):
    """What our active classifiers have in common in river: predictions come with whether the label is wanted."""

    classifier: Any
    _asked: EventTickets

    @property
    def _decides(self) -> Any:
        """What decides: an object with ``ask``, ``tell`` and tickets."""
        raise NotImplementedError

    @property
    def _open(self) -> Mapping[int, Any]:
        return self._decides._tickets.open

    def _ask_event(self, x: dict[Any, Any], time: Any, explore: float | None, **kwargs: Any) -> Decision:
        raise NotImplementedError

    def _learn_given(self, x: dict[Any, Any], y: Any, **kwargs: Any) -> None:
        raise NotImplementedError

    def _ask_for_label(self, x: dict[Any, Any], y_pred: Any) -> bool:
        return self.ask(x).asked

    def ask(
        self, x: dict[Any, Any], time: float | datetime | None = None, explore: float | None = None, **kwargs: Any
    ) -> Decision:
        """Predict an event and decide whether its label is wanted; the ``Decision`` has its ticket."""
        return self._ask_event(x, time, explore, **kwargs)

    def tell(self, ticket: int, y: Any, *, replace: bool = False) -> None:
        """Learn the answer to a ticket, whenever it comes."""
        self._decides.tell(ticket=ticket, y=y, replace=replace)

    def forget(self, ticket: int) -> None:
        """Stop waiting for an answer that will not come."""
        self._decides.forget(ticket)

    @property
    def pending(self) -> list[int]:
        """The tickets that wait for an answer, oldest first."""
        return list(self._open)

    @property
    def events_seen_(self) -> int:
        """How many events were decided on."""
        return int(self._decides.events_seen_)

    @property
    def labels_asked_(self) -> int:
        """For how many events the label was asked."""
        return int(self._decides.labels_asked_)

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> tuple[Any, bool]:  # type: ignore[override]
        """The predicted label, None as long as no class is known, and whether the label is wanted.

        Every call is an event of the stream, and takes a random number; so is every call of ``predict_proba_one``."""
        decision = self._ask_for_river(x, **kwargs)
        return decision.label, decision.asked

    def _ask_for_river(self, x: dict[Any, Any], **kwargs: Any) -> Decision:
        """``ask``; ``learn_one`` then finds the ticket by the event."""
        decision = self.ask(x, **kwargs)
        if decision.ticket is not None:
            self._asked.add(x, decision.ticket, self._open)
        return decision

    def learn_one(self, x: dict[Any, Any], y: Any, **kwargs: Any) -> None:
        """Learn a label: the answer to the question about this event, now or later, or one that nobody asked for."""
        ticket = None if kwargs else self._asked.take(x, self._open)
        if ticket is None:
            self._learn_given(x, y, **kwargs)
        else:
            self.tell(ticket, y)


class RiverActiveClassifier(AskingClassifier):
    """One of our classifiers as an active classifier of river.

    Parameters
    ----------
    classifier : ActiveClassifier
        Such as ``askance.make("auto", budget=0.1)``. Its classes are False and True unless it names others. It is
        copied.
    seed : int, optional
        In place of the classifier's ``random_state``.

    Examples
    --------
    >>> import askance
    >>> from river import datasets
    >>> from askance.adapters.river import RiverActiveClassifier
    >>> model = RiverActiveClassifier(askance.make("SOAL-diag", budget=0.1), seed=0)
    >>> for x, y in datasets.Phishing():
    ...     label, is_wanted = model.predict_one(x)
    ...     if is_wanted:
    ...         model.learn_one(x, y)
    >>> model.labels_asked_, model.events_seen_
    (125, 1250)
    """

    def __init__(self, classifier: ActiveClassifier, seed: int | None = None) -> None:
        super().__init__(classifier, seed)  # type: ignore[arg-type]
        self._clf = fresh_classifier(classifier, seed)
        self._asked = EventTickets()

    @property
    def _decides(self) -> StreamClassifier:
        return self._clf

    @property
    def _wrapped_model(self) -> Any:
        return RiverClassifier(self.classifier)

    def _ask_event(self, x: dict[Any, Any], time: Any, explore: float | None, **kwargs: Any) -> Decision:
        return self._clf.ask(name_by_words(x), time, explore)

    def _learn_given(self, x: dict[Any, Any], y: Any, w: float = 1.0, **kwargs: Any) -> None:
        self._clf.partial_fit([name_by_words(x)], [y], sample_weight=None if w == 1.0 else [w])

    def predict_proba_one(  # type: ignore[override]
        self, x: dict[Any, Any], **kwargs: Any
    ) -> tuple[dict[Any, float], bool]:
        """The probability of each class, and whether the label is wanted."""
        decision = self._ask_for_river(x, **kwargs)
        return probabilities_of(self._clf, x), decision.asked

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from askance.learner.make import make

        yield {"classifier": make("SOAL-diag", budget=0.2)}


# --- river's classifiers under our rules -------------------------------------------------------------------


class QuerySampler(AskingClassifier):
    """Any classifier of river under our query rules and budgets.

    Decisions, weights and tickets are as with our own classifiers: event t takes the t-th random number. The margin is
    the logarithm of the odds by ``predict_proba_one``; with more than two classes, that of the likeliest to the second.

    Parameters
    ----------
    classifier : river classifier, or pipeline
        It learns in place, as in river's samplers.
    query : QueryRule, optional
        The probability of asking, by the margin; ``askance.queries.Margin()`` unless given.
    budget : None, int, float or Budget
        How many labels may be bought.
    classes : list, optional
        The labels there are. Unless given: False and True for a binary classifier, and for others those that come.
    explore : float, default 0.0
        The least ask probability of every event.
    weighted : bool, default False
        Whether a bought answer is learned with ``w`` = 1 / ask probability.
    max_pending : int, default 10000
        How many asked events are kept for their answers.
    max_pending_age : int, optional
        After how many further events a pending one is dropped.
    seed : int, optional
        Where the random numbers of the decisions come from.

    Examples
    --------
    >>> from river import datasets, evaluate, linear_model, metrics, preprocessing
    >>> from askance.adapters.river import QuerySampler
    >>> model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    >>> model = QuerySampler(model, budget=0.1, seed=0)
    >>> accuracy = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> accuracy.get() > 0.8, model.labels_asked_ <= 125
    (True, True)
    """

    def __init__(
        self,
        classifier: Any,
        query: QueryRule | None = None,
        budget: float | Budget | None = None,
        classes: Any = None,
        explore: float = 0.0,
        weighted: bool = False,
        max_pending: int = 10_000,
        max_pending_age: int | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(classifier, seed)
        self.query = query
        self.budget = budget
        self.classes = classes
        self.explore = explore
        self.weighted = weighted
        self.max_pending = max_pending
        self.max_pending_age = max_pending_age
        kind = type(classifier).__name__
        if isinstance(classifier, type) or not hasattr(classifier, "learn_one"):
            raise InvalidType(f"QuerySampler takes a classifier of river, got {classifier!r}.")
        check_query(query, kind)
        if not isinstance(weighted, bool):
            raise InvalidType(f"weighted must be True or False, got {weighted!r}.")
        if weighted and not takes_weights(classifier):
            raise InvalidParameter(f"learn_one of {kind} takes no weight w; leave weighted out.")
        is_open = classes is None and bool(getattr(classifier, "_multiclass", False))
        named_classes = list(BOOLEAN) if classes is None and not is_open else classes
        self._stream = (OpenStream if is_open else ScoredStream)(
            RiverModel(classifier, is_open),
            ForeignModel(weighted=weighted, score_per_class=False),
            query=query,
            budget=budget,
            classes=named_classes,
            random_state=seed,
            explore=explore,
            max_pending=max_pending,
            max_pending_age=max_pending_age,
        )
        self._stream._check_rules()
        self._asked = EventTickets()

    @property
    def _decides(self) -> ScoredStream:
        return self._stream

    @property
    def _model(self) -> RiverModel:
        assert isinstance(self._stream.model, RiverModel)
        return self._stream.model

    def _ask_event(self, x: dict[Any, Any], time: Any, explore: float | None, **kwargs: Any) -> Decision:
        self._model.options = kwargs
        try:
            return self._stream.ask_row(x, time, explore)
        finally:
            self._model.options = {}

    def tell(self, ticket: int, y: Any, *, replace: bool = False) -> None:
        """Learn the answer to a ticket, whenever it comes."""
        self._meet(y)
        super().tell(ticket, y, replace=replace)

    def _learn_given(self, x: dict[Any, Any], y: Any, **kwargs: Any) -> None:
        """Learn a label that nobody asked for: the budget and the random numbers are left alone."""
        self._meet(y)
        self.classifier.learn_one(x, y, **kwargs)

    def _meet(self, y: Any) -> None:
        if isinstance(self._stream, OpenStream):
            if y is None:
                raise InvalidInput("the label is None, which stands for a missing one; learn only answers that came.")
            if not self._stream._has_begun:
                self._stream._begin(self._stream._classes_for_one(), 1)
            self._stream.meet(y)

    def predict_proba_one(  # type: ignore[override]
        self, x: dict[Any, Any], **kwargs: Any
    ) -> tuple[dict[Any, float], bool]:
        """The classifier's probability of each class, and whether the label is wanted."""
        decision = self._ask_for_river(x, **kwargs)
        return self._model.probabilities, decision.asked

    def run(self, dataset: Iterable[tuple[dict[Any, Any], Any]], times: Any = None) -> Trace:
        """Play a stream of pairs (x, y) whose labels are known, and return its ``Trace``; the classes must be named."""
        if isinstance(self._stream, OpenStream):
            raise InvalidInput("a trace needs the classes before the first event; name them with classes=[...].")
        rows, labels = [], []
        for x, y, *_ in dataset:
            rows.append(x)
            labels.append(y)
        return self._stream.run_rows(rows.__getitem__, len(rows), labels, times)

    def clone(self, new_params: Any = None, include_attributes: bool = False) -> Self:
        """A fresh copy with the same parameters."""
        if include_attributes:
            raise InvalidType("a QuerySampler is copied with what it has learned by copy.deepcopy.")
        copied: Self = super().clone(new_params)
        return copied

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import linear_model, tree

        yield {"classifier": linear_model.LogisticRegression(), "budget": 0.2}
        yield {"classifier": tree.HoeffdingTreeClassifier()}


# --- a classifier of river as the model of a stream ------------------------------------------------------

BOOLEAN = False, True  # the classes of river's own binary classifiers


class RiverModel:
    """A classifier of river as the model of a stream."""

    def __init__(self, classifier: Any, is_open: bool) -> None:
        self.classifier = classifier
        self.is_open = is_open
        self.classes: list[Any] = []
        self.probabilities: dict[Any, float] = {}
        self.options: dict[str, Any] = {}

    def begin(self, classes: np.ndarray) -> None:
        self.classes = classes.tolist()

    def score(self, row: dict[Any, Any]) -> ModelScore:
        """The likeliest class, and by how much: with margin 0 as long as fewer than two classes are known to it."""
        try:
            self.probabilities = dict(self.classifier.predict_proba_one(row, **self.options))
        except NotImplementedError:
            raise InvalidType(
                f"{type(self.classifier).__name__} has no predict_proba_one, which tells a query rule how sure it is."
            ) from None
        found = self.probabilities
        if not found:
            return ModelScore(0, 0.0)
        best = max(found, key=lambda label: found[label])
        if best not in self.classes and self.is_open:
            self.classes.append(best)
        elif best not in self.classes:
            raise InvalidInput(
                f"{type(self.classifier).__name__} predicts {best!r}, which is not one of the classes "
                f"{', '.join(map(repr, self.classes[:10]))}."
            )
        margin = 0.0
        if len(found) > 1:
            is_signed = len(self.classes) == 2 and set(found) <= set(self.classes)
            labels = self.classes if is_signed else list(found)
            margin = margin_of(log_probabilities([found[label] for label in labels]))
            margin = margin if is_signed else abs(margin)
        return ModelScore(self.classes.index(best), margin)

    def learn(self, row: dict[Any, Any], answer: int, weight: float) -> None:
        options = {} if weight == 1.0 else {"w": weight}
        self.classifier.learn_one(row, self.classes[answer], **options)


class OpenEngine(ScoredEngine):
    """Its classes are met as they come."""

    model: RiverModel

    def hold(self, row: Any) -> None:
        super().hold(row)
        if len(self.model.classes) > len(self.classes):  # it knew one before it came here
            self.set_classes(self.model.classes)

    def set_classes(self, labels: list[Any]) -> None:
        self.classes = np.empty(len(labels), object)
        self.classes[:] = labels
        self.model.classes = labels
        asked = self.budget_state.asked_by_class
        more = max(0, len(labels) - len(asked))
        self.budget_state = self.budget_state._replace(asked_by_class=np.pad(asked, (0, more)))
        self.__dict__.pop("compiled", None)  # a budget by predicted class has a ceiling for each


class OpenStream(ScoredStream):
    """A stream whose classes are met as they come. The first one is None, which is predicted before any is known."""

    model: RiverModel
    _engine_kind: ClassVar = OpenEngine
    _engine: OpenEngine

    def _classes_for_one(self) -> np.ndarray:
        return self.classes_ if self._has_begun else np.array(BOOLEAN)  # as many as a classifier needs to begin

    def _begin(self, classes: np.ndarray, n_features: int) -> None:
        super()._begin(classes, n_features)
        self._engine.set_classes([None])

    def meet(self, label: Any) -> None:
        """Admit a label that was not known."""
        if label not in self.model.classes:
            self._engine.set_classes([*self.model.classes, label])


def takes_weights(classifier: Any) -> bool:
    """Whether ``learn_one`` takes a weight ``w``."""
    parameters = inspect.signature(classifier.learn_one).parameters.values()
    return any(known.name == "w" or known.kind is known.VAR_KEYWORD for known in parameters)


class EventTickets:
    """Open tickets by the event itself: river gives an event back with its label, and knows no tickets."""

    def __init__(self) -> None:
        self._tickets: dict[Any, deque[int]] = {}
        self._number = 0

    def add(self, x: Mapping[Any, Any], ticket: int, is_open: Mapping[int, Any]) -> None:
        """Note the ticket of an event; drop those that are no longer open, now and then."""
        self._tickets.setdefault(key_of(x), deque()).append(ticket)
        self._number += 1
        if self._number > 2 * len(is_open) + 16:
            kept = {key: deque(n for n in tickets if n in is_open) for key, tickets in self._tickets.items()}
            self._tickets = {key: tickets for key, tickets in kept.items() if tickets}
            self._number = sum(map(len, self._tickets.values()))

    def take(self, x: Mapping[Any, Any], is_open: Mapping[int, Any]) -> int | None:
        """The oldest open ticket of an event; None if it was not asked, or was dropped."""
        key = key_of(x)
        tickets = self._tickets.get(key, deque())
        found = None
        while tickets and found is None:
            ticket = tickets.popleft()
            self._number -= 1
            found = ticket if ticket in is_open else None
        if not tickets:
            self._tickets.pop(key, None)
        return found


def key_of(x: Mapping[Any, Any]) -> Any:
    """The same for events with the same features, in any order."""
    try:
        return hash(frozenset(x.items())), frozenset(x.items())
    except TypeError:  # lists, say
        return repr(sorted(x.items(), key=repr))
