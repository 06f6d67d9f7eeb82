"""What a classifier is made of: its parts, how they are put together, and how they begin.

``ActiveClassifier`` adds the methods that people call.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_feature_names, validate_data

from askance.errors import InvalidInput, InvalidParameter, ModelFileError
from askance.learner.budget import Budget
from askance.learner.events import MOST_FEATURES, Events, Preparation, read_events
from askance.learner.labels import check_kinds, distinct_labels, encode
from askance.learner.loop import NOT_GIVEN, Account, Block, Record
from askance.learner.machine import Combination, Machine, combine
from askance.learner.one_event import read_one, width_of_one
from askance.learner.pacing import is_an_account
from askance.learner.rule import QueryRule, UpdateRule
from askance.learner.state import State
from askance.learner.tickets import Tickets

LEARNED = (
    "_state", "_begun_with", "_rng", "_account", "_terms", "_tickets", "_single", "_assembled",
    "classes_", "n_features_in_", "feature_names_in_",
)  # fmt: skip
"""The attributes that ``fit`` replaces: everything that is not a parameter."""

NO_TIMES = np.empty(0)


class Workings(ClassifierMixin, BaseEstimator):
    """The parts behind an ``ActiveClassifier``. Nothing of it changes before what was given is found well."""

    update: UpdateRule | None
    query: QueryRule | None
    budget: int | Budget | None
    classes: Any
    normalize: str | None
    intercept: bool
    n_features: int | None
    random_state: int | np.random.Generator | None
    explore: float
    keep: int
    keep_for: int | None

    classes_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray
    _state: State
    _begun_with: tuple[Any, ...]
    _account: Account
    _terms: list[list[float]]
    _tickets: Tickets
    _rng: np.random.Generator
    _single: tuple[Record, np.ndarray, np.ndarray]
    _assembled: Machine

    # --- the rules, checked and compiled -------------------------------------------------------------------

    def check_rules(self) -> None:
        """Refuse parameters that cannot work, before the first event."""
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
        self._check_store()
        if self.classes is not None:
            classes = distinct_labels(self.classes, "classes")
            _check_number(classes)
            rules.update.kernels(len(classes))
        if not isinstance(self.random_state, np.random.RandomState):  # making a generator would use it up
            self._generator()

    def _check_store(self) -> None:
        for name, least in (("keep", 0), ("keep_for", 1)):
            value = getattr(self, name)
            is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least
            if not is_whole and not (name == "keep_for" and value is None):
                raise InvalidParameter(f"{name} must be a whole number of {least} or more, got {value!r}.")

    def _given(self) -> tuple[Any, ...]:
        rules = self.update, self.query, self.budget, self.normalize, self.intercept, self.explore
        return *rules, self.keep, self.keep_for

    def _rules(self) -> Combination:
        return combine(*self._given()[:6])

    def _machine(self) -> Machine:
        """The compiled combination. Parameters changed meanwhile take effect with the next call."""
        machine: Machine | None = self.__dict__.get("_assembled")
        if machine is None or not machine.is_made_from(self._given()):
            rules = self._rules()
            if self._layout(rules, len(self.classes_)) != self._begun_with:
                raise InvalidParameter(
                    "the update rule, its per_class and sketch_size, and the intercept cannot be changed once learning "
                    "has begun; fit starts again, and sklearn.base.clone gives a fresh copy."
                )
            self._check_store()
            machine = self._assembled = Machine(rules, len(self.classes_), self.n_features_in_)
            machine.remember(self._given())
        return machine

    def _open_account(self, machine: Machine) -> None:
        """Open another account where the budget is another than before."""
        if machine.terms is not self._terms:
            self._account = self._account._replace(budget=self._account_for(machine.budget, machine.terms))
            self._terms = machine.terms

    def _account_for(self, budget: Budget, terms: list[list[float]]) -> np.ndarray:
        """The account of a budget with these terms: another than before keeps what the old one knows."""
        return self._account.budget if terms == self._terms else budget.account(self._account.budget, self._terms)

    @staticmethod
    def _layout(rules: Combination, n_classes: int) -> tuple[Any, ...]:
        return (*rules.update.layout(n_classes), bool(rules.intercept))

    # --- how it begins -------------------------------------------------------------------------------------

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
        """Make the state of a model that has learned nothing."""
        _check_number(classes)
        if self.n_features is not None and n_features != self.n_features:
            raise InvalidInput(
                f"X has {n_features} features, but this classifier was made with n_features={self.n_features}."
            )
        self.check_rules()
        rules = self._rules()
        rules.update.kernels(len(classes))
        state = rules.update.start(n_features + bool(self.intercept), len(classes))
        self._begun_with = self._layout(rules, len(classes))
        self._rng = self._generator()
        self._state = state
        self._account = Account(np.zeros(3, np.int64), rules.budget.account())
        self._terms = rules.budget.terms()
        self._tickets = Tickets()
        self._single = _room_for_one()
        self.classes_ = classes
        self.n_features_in_ = n_features

    # --- what comes in -------------------------------------------------------------------------------------

    def _read(self, X: Any, y: Any, classes: Any = None) -> tuple[Events, np.ndarray]:
        """Check events and labels; begin if this is the first time. Nothing changes before all is found well."""
        is_first = not hasattr(self, "_state")
        had_names = hasattr(self, "feature_names_in_")
        had_width = hasattr(self, "n_features_in_")
        check_kinds(y, "y")
        n_events, n_labels = length_of(X), length_of(y)
        if None not in (n_events, n_labels) and n_events != n_labels and getattr(X, "ndim", 2) == 2:
            raise InvalidInput(f"X has {n_events:,} events and y has {n_labels:,} labels; each event needs one.")
        try:
            X, y = validate_data(
                self, X, y, reset=is_first, accept_sparse="csr", dtype="numeric", ensure_all_finite=False,
                multi_output=False, y_numeric=False,
            )  # fmt: skip
            events = read_events(X)
            known = self._known_classes(y, classes)
            answers = encode(y, known)
            if is_first:
                self._begin(known, X.shape[1])
        except BaseException:
            if is_first and not had_width and hasattr(self, "n_features_in_"):
                del self.n_features_in_
            if is_first and not had_names and hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            raise
        return events, answers

    def _known_classes(self, y: np.ndarray, classes: Any) -> np.ndarray:
        """The classes, from wherever they are said first."""
        if hasattr(self, "classes_"):
            if classes is not None and not np.array_equal(distinct_labels(classes, "classes"), self.classes_):
                raise InvalidInput(f"classes={classes!r} differs from the classes at first, {self.classes_.tolist()}.")
            return self.classes_
        if classes is not None:
            return distinct_labels(classes, "classes")
        if self.classes is not None:
            return distinct_labels(self.classes, "classes")
        found = distinct_labels(y, "y")
        is_continuous = y.dtype.kind == "f" and 2 * len(found) > len(y)  # few values that come back may be labels
        if is_continuous:
            check_classification_targets(y)
        return found

    def _times(self, times: Any) -> np.ndarray:
        """The times of the events, where the budget reads them."""
        if not isinstance(self.budget, Budget) or not self.budget.reads_time:
            return NO_TIMES
        if times is None:
            raise InvalidInput(
                f"{self.budget!r} needs the time of each event: run(X, y, times=...), ask(x, time=...), in seconds."
            )
        try:
            when = np.asarray(times)
            if when.dtype.kind == "b":
                raise TypeError
            if when.dtype.kind == "M":  # dates, whatever their unit
                when = np.where(np.isnat(when), np.nan, when.astype("datetime64[us]").astype(np.float64) / 1e6)
            when = np.ascontiguousarray(when, np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(f"the times of events are numbers of seconds, got {times!r}.") from None
        if when.ndim != 1 or not np.isfinite(when).all():
            raise InvalidInput("the times of events are finite numbers of seconds, one per event.")
        return when

    def _one_event(self, x: Any) -> tuple[Machine, Block]:
        """One event as a block, whatever form it comes in; begins if it is the first."""
        if not hasattr(self, "_state"):
            self._begin_with_one(x)
        if hasattr(x, "columns"):  # a row of a table with names
            _check_feature_names(self, x, reset=False)
        machine = self._machine()
        return machine, read_one(x, self.n_features_in_, machine.preparation)

    def _classes_for_one(self) -> np.ndarray:
        """The classes, where an event or a label comes alone."""
        if hasattr(self, "classes_"):
            return self.classes_
        if self.classes is None:
            raise InvalidInput(
                "the classes are not known before the first label; name them when making the classifier, "
                'for example classes=["ham", "spam"].'
            )
        return distinct_labels(self.classes, "classes")

    def _begin_with_one(self, x: Any) -> None:
        classes = self._classes_for_one()
        n_features = self.n_features or width_of_one(x)
        read_one(x, n_features, Preparation(normalise=False, intercept=-1))
        self._begin(classes, n_features)
        if hasattr(x, "columns"):
            _check_feature_names(self, x, reset=True)

    # --- what is read out, and how it is kept --------------------------------------------------------------

    def _look(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        if not hasattr(self, "_state"):
            raise NotFittedError(
                "this ActiveClassifier has not seen any event yet; call run, ask, partial_fit or fit first."
            )
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype="numeric", ensure_all_finite=False)
        events = read_events(X)
        machine = self._machine()
        predicted = np.empty(events.n_events, np.int32)
        scores = np.empty((events.n_events, max(2, self._state.scores.size)))
        for which, block in events.blocks(machine.preparation):
            machine.look(machine.parameters.update, self._state, block, predicted[which], scores[which])
        return predicted, scores

    def _coefficients(self) -> np.ndarray:
        if not hasattr(self, "_state"):
            raise AttributeError("coef_ and intercept_ exist once the classifier has seen an event.")
        return self._rules().update.coefficients(self._state)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    def __getstate__(self) -> dict[str, Any]:
        kept = super().__getstate__()
        return {name: value for name, value in kept.items() if name not in ("_assembled", "_single")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "_state"):
            self._single = _room_for_one()
            self._state = State(*(_writable(array) for array in self._state))
            self._account = Account(*(_writable(array) for array in self._account))
            if not is_an_account(self._account.budget, len(self._terms)):
                raise ModelFileError("this pickle is of an earlier askance, which kept other accounts; train it again.")


def length_of(rows: Any) -> int | None:
    """How many rows there are, where that can be told so early."""
    if getattr(rows, "shape", ()):
        return int(rows.shape[0])
    return len(rows) if isinstance(rows, list | tuple) else None


def _check_number(classes: np.ndarray) -> None:
    if len(classes) == 1:
        raise InvalidInput(
            f"there is only one class, {classes.item(0)!r}; learning needs two or more: name them with classes=."
        )
    if not len(classes):
        raise InvalidInput("there are no classes; name them with classes=.")


def _writable(array: np.ndarray) -> np.ndarray:
    """The array, or a copy where it cannot be written, as when joblib maps it from a file."""
    return array if array.flags.writeable else np.array(array)


def _room_for_one() -> tuple[Record, np.ndarray, np.ndarray]:
    """For one event: what is decided, its random number, and its answer, which is not there yet."""
    decided = np.empty(1, np.bool_), np.empty(1, np.bool_)
    record = Record(np.empty(1, np.int32), np.empty(1), np.empty(0), np.empty(1), *decided)
    return record, np.empty(1), np.array([NOT_GIVEN], np.int32)
