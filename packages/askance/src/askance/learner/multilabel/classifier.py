"""The classifier for label sets: run, ask, tell, partial_fit, predict, for K labels at once."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from inspect import signature
from typing import Any, Self

import numpy as np

from askance.errors import InvalidInput, InvalidType, ModelFileError
from askance.learner.budget import Budget
from askance.learner.compiled import check_explore
from askance.learner.engine import not_fitted_yet
from askance.learner.events import Preparation
from askance.learner.files import LABEL_SETS, describe, from_bytes, read, revive, save, to_bytes
from askance.learner.labels import MISSING
from askance.learner.make import settings_of
from askance.learner.multilabel.label_sets import (
    MultiLabelTrace,
    check_labels,
    read_answers,
    read_label_sets,
    read_set,
    sets_of,
    unknown_label,
)
from askance.learner.multilabel.model_per_label import ModelPerLabel
from askance.learner.multilabel.questions import (
    EventReader,
    Interleaved,
    Marked,
    QuestionEvents,
    QuestionLayout,
    QuestionLearner,
    keeps_numbers_by_feature,
)
from askance.learner.presets import is_auto
from askance.learner.rule import QueryRule, UpdateRule
from askance.learner.trace import Decision

OWN = ("intercept", "label_separator", "normalize", "n_features")
"""Parameters that neither the learner nor the reader has."""
OF_LEARNER = ("query", "budget", "random_state", "explore", "max_pending", "max_pending_age")


class MultiLabelClassifier:
    """Online active learning of label sets: each label of an event is predicted, and asked for where it is doubtful.

    One model per label, all of them played in one loop on one budget, which counts answers: whether an event has a
    label is one question. ``run`` equals chunks, and a loop of ``ask`` and ``tell``, bit for bit.

    Parameters
    ----------
    update : UpdateRule, optional
        How each label is learned: any rule with one weight vector for two classes.
    query : QueryRule, optional
        The probability of asking a question.
    budget : int, float or Budget, optional
        How many answers may be bought: a number, a share of all questions, or a budget.
    labels : list, optional
        The labels there are; those of the first ``run``, ``fit`` or ``partial_fit`` unless given.
    label_separator : str, optional
        What separates the labels of an event in a text, such as ";".
    normalize, intercept, n_features, random_state, explore, max_pending, max_pending_age, fields, na_values
        As for ``ActiveClassifier``. ``max_pending`` and ``max_pending_age`` count questions.

    Attributes
    ----------
    labels_ : tuple
        The labels, in the order of the columns of what is predicted.

    Examples
    --------
    >>> import askance
    >>> clf = askance.make_multilabel("D-ADA", labels=["ball", "vote"], random_state=0)
    >>> texts, sets = ["a goal", "a ballot", "the goal of the ballot"], [{"ball"}, {"vote"}, {"ball", "vote"}]
    >>> trace = clf.run(texts * 40, sets * 40)
    >>> clf.predict_sets(["another goal"])
    [{'ball'}]
    """

    def __init__(
        self,
        update: UpdateRule | None = None,
        query: QueryRule | None = None,
        budget: float | Budget | None = None,
        labels: Any = None,
        label_separator: str | None = None,
        normalize: str | None = None,
        intercept: bool = False,
        n_features: int | None = None,
        random_state: int | np.random.Generator | None = None,
        explore: float = 0.0,
        max_pending: int = 10_000,
        max_pending_age: int | None = None,
        fields: Mapping[str, str] | None = None,
        na_values: Any = None,
    ) -> None:
        self.update = update
        self.query = query
        self.budget = budget
        self.labels = labels
        self.label_separator = label_separator
        self.normalize = normalize
        self.intercept = intercept
        self.n_features = n_features
        self.random_state = random_state
        self.explore = explore
        self.max_pending = max_pending
        self.max_pending_age = max_pending_age
        self.fields = fields
        self.na_values = na_values

    labels_: tuple[Any, ...]
    _reader: EventReader
    _learner: QuestionLearner

    # --- parameters ----------------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name (scikit-learn's contract)."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name (scikit-learn's contract); once learning has begun, only the budget."""
        if self._has_begun and params.keys() - {"budget"}:
            raise InvalidInput(
                "once learning has begun, only the budget can be changed; make another classifier for the rest."
            )
        for name, value in params.items():
            if name not in signature(type(self)).parameters:
                raise InvalidInput(f"{type(self).__name__} has no parameter {name!r}.")
            setattr(self, name, value)
        return self

    def _check_rules(self) -> None:
        """Raise if the parameters cannot work, before the first event."""
        if self.labels is not None:
            check_labels(self.labels)
        if self.label_separator is not None and (not isinstance(self.label_separator, str) or not self.label_separator):
            raise InvalidType(f'label_separator is a text such as ";", got {self.label_separator!r}.')
        self._new_reader()._check_rules()
        self._new_learner(1)._check_rules()

    def _new_reader(self) -> EventReader:
        return EventReader(
            budget=self.budget, classes=[False, True], normalize=self.normalize, n_features=self.n_features,
            random_state=0, fields=self.fields, na_values=self.na_values,
        )  # fmt: skip

    def _new_learner(self, n_labels: int) -> QuestionLearner:
        rule = self.update
        if rule is not None and not self._is_interleaved:
            rule = ModelPerLabel(rule, n_labels)
        return QuestionLearner(
            update=rule, query=self.query, budget=self.budget, classes=[False, True],
            random_state=self.random_state, explore=self.explore, max_pending=self.max_pending,
            max_pending_age=self.max_pending_age,
        )  # fmt: skip

    def parts(self) -> tuple[QuestionLearner, QuestionLayout, Preparation]:
        """What plays the questions about the labels that were named, for a program that encodes events itself: a new
        learner, what questions look like, and what is done to an event before."""
        labels = self._labels_for_one()
        return self._new_learner(len(labels)), self._layout(labels), Preparation(self.normalize == "l2", -1)

    # --- how it begins -------------------------------------------------------------------------------------

    @property
    def _has_begun(self) -> bool:
        """Whether it has seen an event."""
        return hasattr(self, "labels_")

    def _reader_now(self) -> EventReader:
        """Reads events; a new one before the first event, which ``_keep`` makes that of the model."""
        if self._has_begun:
            return self._reader
        self._check_rules()
        return self._new_reader()

    def _learner_for(self, labels: tuple[Any, ...]) -> QuestionLearner:
        """Learns these labels; a new one before the first event, which ``_keep`` makes that of the model."""
        if not self._has_begun:
            return self._new_learner(len(labels))
        self._reader.budget = self._learner.budget = self.budget  # which may have been changed
        return self._learner

    def _keep(self, reader: EventReader, learner: QuestionLearner, labels: tuple[Any, ...]) -> None:
        self._reader, self._learner, self.labels_ = reader, learner, labels

    def _known_labels(self) -> tuple[Any, ...] | None:
        if self._has_begun:
            return self.labels_
        return None if self.labels is None else check_labels(self.labels)

    def _labels_for_one(self) -> tuple[Any, ...]:
        labels = self._known_labels()
        if labels is None:
            raise InvalidInput(
                "the labels are not known before the first label set; name them when making the classifier, for "
                'example labels=["sports", "politics"].'
            )
        return labels

    @property
    def _is_interleaved(self) -> bool:
        return not isinstance(self.update, UpdateRule) or keeps_numbers_by_feature(self.update)

    def _layout(self, labels: tuple[Any, ...]) -> QuestionLayout:
        return (Interleaved if self._is_interleaved else Marked)(len(labels), self.intercept)

    def _read(self, X: Any, Y: Any) -> tuple[QuestionEvents, np.ndarray, QuestionLearner, np.ndarray | None]:
        """Check events and label sets, and begin if these are the first. If a check fails, nothing has begun."""
        reader = self._reader_now()
        opened, sets, n_events = reader.open(X, Y)
        labels, answers = read_label_sets(sets, self._known_labels(), self.label_separator)
        if len(answers) != n_events:
            raise InvalidInput(f"X has {n_events:,} events and Y {len(answers):,} label sets; each event needs one.")
        if not n_events and not self._has_begun:
            raise InvalidInput("X has no events.")
        events = reader.take(opened, Y)
        learner = self._learner_for(labels)
        questions = QuestionEvents(events, reader.n_features_in_, self._layout(labels), reader.preparation)
        learner.make_room(questions.width)
        self._keep(reader, learner, labels)
        return questions, answers.ravel(), learner, events.times

    # --- playing a stream ----------------------------------------------------------------------------------

    def run(self, X: Any, Y: Any, times: Any = None) -> MultiLabelTrace:
        """Play a stream whose label sets are known: predict, ask, and learn from what was asked.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_events, n_features), table, list of dicts or list of texts
            Once begun with arrays, later ones are as wide; ``widen`` makes room for more.
        Y : matrix of shape (n_events, n_labels), or list with a set per event, or the name of a column of X
            A matrix (array, sparse matrix, table) has 1 for a label that the event has and 0 for one that it has not,
            and NaN where that is not known. In a list, each event has a set, list or tuple of labels, a text in which
            ``label_separator`` stands between them, a dict such as ``{"sports": True, "politics": False}`` where other
            labels are not known, or None where nothing is. What is not known is predicted, and nothing else.
        times : array-like of shape (n_events,), optional
            When each event came; budgets by time need it, unless a field has the kind "time".
        """
        questions, answers, learner, told = self._read(X, Y)
        when = told if times is None else times
        if learner.reads_time and when is not None:
            when = np.repeat(np.asarray(when), len(self.labels_))
        return MultiLabelTrace(self.labels_, learner.run(questions, answers, when if learner.reads_time else None))

    def ask(self, x: Any, time: Any = None, explore: float | None = None) -> dict[Any, Decision]:
        """Predict one event and decide, label by label, whether it is worth asking for: a ``Decision`` for each label.

        ``Decision.label`` says whether the label is predicted; its ticket is that question's own.
        """
        explore = explore if explore is None else check_explore(explore)
        labels = self._labels_for_one()
        reader, learner = self._reader_now(), self._learner_for(labels)
        block, when = reader.take_one(x, time)
        layout = self._layout(labels)
        learner.make_room(layout.width(reader.n_features_in_))
        self._keep(reader, learner, labels)
        decisions = learner.ask_all(layout.questions(block), when, [explore] * len(labels))
        return dict(zip(labels, decisions, strict=True))

    def tell(
        self, x: Any = None, y: Any = None, weight: Any = 1.0, *, ticket: int | None = None, replace: bool = False
    ) -> Self:
        """Learn answers, whenever they come: one to a ticket, or some or all of those to an event given once more.

        Parameters
        ----------
        x : an event, as for ``ask``
        y : dict, set of labels, or bool
            For an event: a dict such as ``{"sports": True, "politics": False}``, in which labels may be missing, or a
            set, list or separated text of all labels that it has. For a ticket: whether the event has the label.
        weight : float, or dict of a number per label
            ``Decision.weight``, for rules that are weighted.
        ticket : int, optional
            ``Decision.ticket`` of one question, in place of ``x`` and ``weight``.
        replace : bool, default False
            Whether this answer may correct an earlier one to the same ticket.
        """
        if (x is None) == (ticket is None):
            raise InvalidType("tell needs the event x or a ticket, and not both.")
        if ticket is not None:
            if not isinstance(y, bool | np.bool_):
                raise InvalidType(f"the answer to a ticket is True or False, got {y!r}.")
            if not self._has_begun:
                raise not_fitted_yet("there are no tickets before the first event.")
            self._learner.tell(ticket=ticket, y=bool(y), replace=replace)
            return self
        labels = self._labels_for_one()
        answers = self._answers_of_one(y, labels)
        weights = self._weights_of_one(weight, labels)
        reader, learner = self._reader_now(), self._learner_for(labels)
        block = reader.take_answered(x)
        layout = self._layout(labels)
        learner.make_room(layout.width(reader.n_features_in_))
        self._keep(reader, learner, labels)
        learner.tell_some(layout.questions(block), answers, weights)
        return self

    def _answers_of_one(self, y: Any, labels: tuple[Any, ...]) -> np.ndarray:
        if not isinstance(y, Mapping):
            found = read_set(y, "y", self.label_separator)
            if found is None:
                raise InvalidType("tell needs the answers y: a dict of True and False by label, or the set of labels.")
            y = {label: label in found for label in labels} | dict.fromkeys(found, True)
        answers = np.full(len(labels), MISSING, np.int32)
        for label, answer in read_answers(y, "y").items():
            if label not in labels:
                raise unknown_label(label, "y", labels)
            if answer is not None:
                answers[labels.index(label)] = int(answer)
        return answers

    @staticmethod
    def _weights_of_one(weight: Any, labels: tuple[Any, ...]) -> np.ndarray:
        given = [weight.get(label, 1.0) for label in labels] if isinstance(weight, Mapping) else [weight] * len(labels)
        for number in given:
            if isinstance(number, bool) or not isinstance(number, int | float) or not 0.0 <= number < np.inf:
                raise InvalidInput(f"weight must be a finite number of 0 or more, got {number!r}.")
        return np.array(given, np.float64)

    @property
    def pending(self) -> list[int]:
        """The tickets that wait for an answer, oldest first."""
        return self._learner.pending if self._has_begun else []

    def forget(self, ticket: int) -> Self:
        """Stop waiting for an answer that will not come."""
        if not self._has_begun:
            raise not_fitted_yet("there are no tickets before the first event.")
        self._learner.forget(ticket)
        return self

    @property
    def n_features_in_(self) -> int:
        """How many features the events have."""
        if not self._has_begun:
            raise AttributeError("n_features_in_ exists once the classifier has seen an event.")
        return self._reader.n_features_in_

    @property
    def events_seen_(self) -> int:
        """How many questions were decided on."""
        return self._learner.events_seen_ if self._has_begun else 0

    @property
    def labels_asked_(self) -> int:
        """How many answers were asked for."""
        return self._learner.labels_asked_ if self._has_begun else 0

    def widen(self, n_features: int) -> Self:
        """Add features, of which nothing has been learned yet, for streams whose width shows only as they flow."""
        if not self._has_begun:
            raise not_fitted_yet("there is nothing to widen before the first event; give n_features= instead.")
        width = self._layout(self.labels_).width(n_features)
        self._reader.widen(n_features)
        self._learner.make_room(width)
        return self

    # --- learning and predicting ---------------------------------------------------------------------------

    def partial_fit(self, X: Any, Y: Any) -> Self:
        """Learn from given label sets; ask nothing. What is not known of a set is left out."""
        questions, answers, learner, _ = self._read(X, Y)
        learner.learn_given(questions, answers)
        return self

    def fit(self, X: Any, Y: Any) -> Self:
        """Forget everything, then learn from the given label sets once, in order."""
        fresh = type(self)(**self.get_params()).partial_fit(X, Y)
        self._keep(fresh._reader, fresh._learner, fresh.labels_)
        return self

    def _questions_about(self, X: Any) -> QuestionEvents:
        if not self._has_begun:
            raise not_fitted_yet("this MultiLabelClassifier has not seen any event yet; call run, ask or fit first.")
        events = self._reader.transform(X)
        return QuestionEvents(events, self._reader.n_features_in_, self._layout(self.labels_), self._reader.preparation)

    def _rows(self, array: np.ndarray) -> np.ndarray:
        return array.reshape(-1, len(self.labels_), *array.shape[1:])

    def predict(self, X: Any) -> np.ndarray:
        """Whether each event has each label: a matrix of 0 and 1 with a column per label."""
        questions = self._questions_about(X)
        predicted, _ = self._learner.scores(questions)
        return self._rows(predicted).astype(np.int64)

    def predict_sets(self, X: Any) -> list[set[Any]]:
        """The predicted labels of each event."""
        return sets_of(self.predict(X) == 1, self.labels_)

    def decision_function(self, X: Any) -> np.ndarray:
        """How far each event lies towards each label."""
        questions = self._questions_about(X)
        return self._rows(self._learner.decision_function(questions))

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability that an event has a label, calibrated on the last 512 answers about all labels together."""
        questions = self._questions_about(X)
        return self._rows(self._learner.predict_proba(questions)[:, 1])

    @property
    def coef_(self) -> np.ndarray:
        """The weights, a row per label, the constant's left out; of ``auto`` those of each label's leader."""
        return self._weights()[int(self.intercept) :].T

    @property
    def intercept_(self) -> np.ndarray:
        """The weights of the constant, zero without one, less the threshold of rules that have one."""
        constant = self._weights()[0] if self.intercept else np.zeros(len(self.labels_))
        return constant + self._learner.intercept_

    def _weights(self) -> np.ndarray:
        if not self._has_begun:
            raise AttributeError("coef_ and intercept_ exist once the classifier has seen an event.")
        return self._layout(self.labels_).weights(self._learner.coef_)

    def report(self) -> dict[Any, Any]:
        """The report on each label (``auto``): who leads, since when, how good it is."""
        if not hasattr(self.update, "report"):
            raise InvalidInput(f"{type(self.update).__name__} has no report; auto has one for each label.")
        if not self._has_begun:
            raise not_fitted_yet("there is nothing to report before the first event.")
        return dict(zip(self.labels_, self._learner.reports(), strict=True))

    # --- files ---------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that ``MultiLabelClassifier.load`` reads: no pickle, versioned, checked."""
        save_label_sets(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MultiLabelClassifier:
        """Read a classifier that ``save``, or ``askance run --save``, wrote. It goes on where the saved one stood."""
        return read_label_set_model(path)[0]


def parameters_for_sets(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an algorithm that learns label sets: the objective of ``auto`` is then F1, for most labels of
    most events are a clear no, and a wrong yes costs as much as a wrong no."""
    is_open = is_auto(name) and not parameters.keys() & {"objective", "costs"}
    return {**({"objective": "f1"} if is_open else {}), **parameters}


def make_multilabel(
    name: str, *, labels: Any = None, label_separator: str | None = None, **parameters: Any
) -> MultiLabelClassifier:
    """A classifier of label sets by the name of its algorithm, which learns each label.

    Parameters
    ----------
    name : str
        A name or alias of ``askance.algorithms()`` for two classes, such as "D-ADA" or "PAA-I", or "auto".
    labels, label_separator
        As for ``MultiLabelClassifier``.
    **parameters
        As for ``make``; the objective of "auto" is "f1" unless given.

    Examples
    --------
    >>> import askance
    >>> clf = askance.make_multilabel("PAA-I", labels=["a", "b"], budget=100, random_state=0)
    >>> sorted(label for label, decision in clf.ask([1.0, 0.0]).items() if decision.asked)
    ['a', 'b']
    """
    if "classes" in parameters:
        raise InvalidType("the classes of each label are yes and no; name the labels with labels=.")
    settings = settings_of(name, parameters_for_sets(name, parameters))
    clf = MultiLabelClassifier(labels=labels, label_separator=label_separator, **settings)
    clf._check_rules()
    return clf


# --- files: model files with two more arrays, label_sets and reader --------------------------------------


def save_label_sets(clf: MultiLabelClassifier, path: str | os.PathLike[str], **more: np.ndarray) -> None:
    """Write a classifier to a file, whole or not at all, with more arrays that are to be kept with it."""
    if not clf._has_begun:
        raise not_fitted_yet("there is nothing to save before the first event.")
    document = {"labels": describe(list(clf.labels_)), **{name: getattr(clf, name) for name in OWN}}
    save(
        clf._learner,
        path,
        label_sets=np.frombuffer(json.dumps(document).encode(), np.uint8),
        reader=np.frombuffer(to_bytes(clf._reader), np.uint8),
        **more,
    )


def read_label_set_model(path: str | os.PathLike[str]) -> tuple[MultiLabelClassifier, dict[str, np.ndarray]]:
    """The classifier of a file, and all arrays that are kept there."""
    learner, arrays = read(path, QuestionLearner)
    try:
        document = json.loads(arrays[LABEL_SETS].tobytes())
        reader, _ = from_bytes(arrays["reader"].tobytes(), str(path), EventReader)
        clf = _restore(document, learner, reader)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ModelFileError(f"{str(path)!r} is not a model this version can read ({error}).") from None
    if clf is None:
        raise ModelFileError(f"{str(path)!r}: its model is too narrow for its labels.")
    return clf, arrays


def _restore(document: dict[str, Any], learner: QuestionLearner, reader: EventReader) -> MultiLabelClassifier | None:
    """The classifier of its parts; None if the learner has less room than the labels need."""
    labels = check_labels(revive(document.pop("labels")).tolist())
    update = learner.update.update if isinstance(learner.update, ModelPerLabel) else learner.update
    clf = MultiLabelClassifier(
        update=update, labels=labels, fields=reader.fields, na_values=reader.na_values, **document,
        **{name: getattr(learner, name) for name in OF_LEARNER},
    )  # fmt: skip
    clf._check_rules()
    if learner.n_features_in_ < clf._layout(labels).width(reader.n_features_in_):
        return None
    clf._keep(reader, learner, labels)
    return clf
