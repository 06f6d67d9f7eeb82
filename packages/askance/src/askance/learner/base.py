"""The base class of the classifier: its parts, how they are put together, and how they begin.

``RawActiveClassifier`` lets raw events in, ``AskTellClassifier`` adds ``ask`` and ``tell``, ``PlayingClassifier`` whole
streams, ``StreamClassifier`` what is predicted and told of it, and ``ActiveClassifier`` scikit-learn's contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from inspect import signature
from typing import Any

import numpy as np

from askance.errors import InvalidInput, InvalidParameter, ModelFileError
from askance.learner.budget import Budget
from askance.learner.budget_state import Constraint, is_budget_state
from askance.learner.compiled import Combination, CompiledLearner, combine
from askance.learner.events import MOST_FEATURES, Events, Preparation, fill_gaps, read_events
from askance.learner.labels import MISSING, check_kinds, distinct_known_labels, distinct_labels, encode, select_known
from askance.learner.loop import NOT_GIVEN, Block, BudgetState, Record
from askance.learner.model_fields import MODEL_FIELDS, no_labels_asked
from askance.learner.one_event import read_one, width_of_one
from askance.learner.rule import QueryRule, UpdateRule
from askance.learner.state import State
from askance.learner.tickets import Tickets
from askance.plural import format_count

BEGUN_WITH = (
    "_state", "_initial_layout", "_rng", "_constraints", "_single_event", "_compiled", "_features", "classes_",
    "n_features_in_", "feature_names_in_",
)  # fmt: skip
"""What a model is made of before it has any of its ``MODEL_FIELDS``."""

NO_TIMES = np.empty(0)


class BaseActiveClassifier:
    """The parts behind an ``ActiveClassifier``. It checks all input before it changes anything."""

    classes_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray
    _state: State
    _recent: np.ndarray
    _initial_layout: tuple[Any, ...]
    _budget_state: BudgetState
    _constraints: list[Constraint]
    _tickets: Tickets
    _rng: np.random.Generator
    _single_event: tuple[Record, np.ndarray, np.ndarray]
    _compiled: CompiledLearner

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

    # --- the rules, checked and compiled -------------------------------------------------------------------

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
        self._check_pending_limits()
        if self.classes is not None:
            classes = distinct_labels(self.classes, "classes")
            _check_number(classes)
            rules.update.kernels(len(classes))
            self._check_order_of_costs(rules.update.costs, classes)
            rules.update.parameters_for(classes)
        if not isinstance(self.random_state, np.random.RandomState):  # making a generator would use it up
            self._generator()

    def _check_order_of_costs(self, costs: Any, classes: np.ndarray) -> None:
        """Refuse a matrix beside classes that were named in another order than that of its rows."""
        named = [] if isinstance(self.classes, set | frozenset) else list(self.classes)
        if isinstance(costs, list | tuple) and named and named != classes.tolist():
            raise InvalidParameter(
                f"the rows of costs are in the order {', '.join(map(str, classes.tolist()))}, and classes= names them "
                'in another; write the costs by name, such as costs={"fraud": {"ok": 9}}.'
            )

    def _check_pending_limits(self) -> None:
        for name, least in (("max_pending", 0), ("max_pending_age", 1)):
            value = getattr(self, name)
            is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least
            if not is_whole and not (name == "max_pending_age" and value is None):
                raise InvalidParameter(f"{name} must be a whole number of {least} or more, got {value!r}.")

    def _rule_settings(self) -> tuple[Any, ...]:
        rules = self.update, self.query, self.budget, self.normalize, self.intercept, self.explore
        return *rules, self.max_pending, self.max_pending_age

    def _rules(self) -> Combination:
        return combine(*self._rule_settings()[:6])

    def _compiled_learner(self) -> CompiledLearner:
        """The compiled combination. A changed parameter takes effect with the next call."""
        compiled: CompiledLearner | None = self.__dict__.get("_compiled")
        if compiled is None or not compiled.is_made_from(self._rule_settings()):
            rules = self._rules()
            if self._layout(rules, len(self.classes_)) != self._initial_layout:
                raise InvalidParameter(
                    "the update rule, its per_class, sketch_size and buffer_size, whether Probit's decay is below 1, "
                    "and the intercept cannot be changed once learning has begun; fit starts again, and "
                    "sklearn.base.clone gives a fresh copy."
                )
            self._check_pending_limits()
            compiled = self._compiled = CompiledLearner(rules, self.classes_, self.n_features_in_)
            compiled.remember_source(self._rule_settings())
        return compiled

    def _refresh_budget_state(self, compiled: CompiledLearner) -> None:
        """Replace the budget state if the budget has changed."""
        if compiled.constraints_key is not self._constraints:
            self._budget_state = self._budget_state._replace(
                budget=self._budget_state_for(compiled.budget, compiled.constraints_key)
            )
            self._constraints = compiled.constraints_key

    def _budget_state_for(self, budget: Budget, constraints_key: list[Constraint]) -> np.ndarray:
        """The state for a budget with these constraints. If they are new, what the old state knows is carried over."""
        return (
            self._budget_state.budget
            if constraints_key == self._constraints
            else budget.budget_state(self._budget_state.budget, self._constraints)
        )

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
        self._check_rules()
        rules = self._rules()
        rules.update.kernels(len(classes))
        rules.update.parameters_for(classes)
        state = rules.update.start(n_features + bool(self.intercept), len(classes))
        self._initial_layout = self._layout(rules, len(classes))
        self._rng = self._generator()
        self._state = state
        self._constraints = rules.budget.constraints_key()
        self.classes_ = classes
        self.n_features_in_ = n_features
        for field in MODEL_FIELDS:
            setattr(self, field.attribute, field.begin(self))
        self._single_event = _allocate_single()

    # --- what comes in -------------------------------------------------------------------------------------

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

    def _read(self, X: Any, y: Any, classes: Any = None, may_be_unlabeled: bool = False) -> tuple[Events, np.ndarray]:
        """Check events and labels, and begin if this is the first call. If a check fails, nothing has changed.

        Returns the events, and the class index of each label, MISSING where there is none."""
        is_first = not hasattr(self, "_state")
        had_names = hasattr(self, "feature_names_in_")
        had_width = hasattr(self, "n_features_in_")
        check_kinds(y, "y")
        n_events, n_labels = length_of(X), length_of(y)
        if n_events is not None and n_labels not in (None, n_events) and getattr(X, "ndim", 2) == 2:
            raise unequal_lengths(n_events, n_labels)
        labels, is_known = select_known(y, getattr(self, "classes_", self.classes if classes is None else classes))
        if not is_first and isinstance(X, list | tuple) and not X:  # which does not tell its width
            X = np.empty((0, self.n_features_in_))
        try:
            if is_known is None:
                X, labels = self._check_rows_and_labels(X, y, reset=is_first)
            else:
                X, labels = self._check_rows(X, reset=is_first), np.asarray(labels)
            events = read_events(X)
            known, answers = self._answers(labels, is_known, classes, may_be_unlabeled)
            if is_first:
                self._begin(known, X.shape[1])
        except BaseException:
            if is_first and not had_width and hasattr(self, "n_features_in_"):
                del self.n_features_in_
            if is_first and not had_names and hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            raise
        return events, answers

    def _answers(
        self, labels: np.ndarray, is_known: np.ndarray | None, classes: Any, may_be_unlabeled: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """The classes, and the index among them of the label of each event, MISSING where there is none."""
        known = self._known_classes(labels, classes)
        answers = encode(labels, known)
        if is_known is not None:
            answers = _with_gaps(answers, is_known)
        if not may_be_unlabeled and (place := _first_missing(answers)) is not None:
            raise InvalidInput(
                f"the label y[{place}] is missing; leave such events out to learn from the others, or use run, "
                "which predicts them and goes on."
            )
        return known, answers

    def _known_classes(self, y: np.ndarray, classes: Any) -> np.ndarray:
        """The classes: those known already, else ``classes``, else the classifier's parameter, else those in ``y``."""
        if hasattr(self, "classes_"):
            if classes is not None and not np.array_equal(distinct_labels(classes, "classes"), self.classes_):
                raise InvalidInput(f"classes={classes!r} differs from the classes at first, {self.classes_.tolist()}.")
            return self.classes_
        if classes is not None:
            return distinct_labels(classes, "classes")
        if self.classes is not None:
            return distinct_labels(self.classes, "classes")
        found = distinct_known_labels(y, "y")
        if not len(found):
            raise InvalidInput("y has no label that is known; name the classes with classes=.")
        is_continuous = y.dtype.kind == "f" and 2 * len(found) > len(y)  # few values that come back may be labels
        if is_continuous:
            from sklearn.utils.multiclass import check_classification_targets

            try:
                check_classification_targets(y)
            except ValueError:  # the first words are scikit-learn's
                raise InvalidInput(
                    f"Unknown label type: y has {len(found)} different numbers, such as {found[0]:.6g}, which look "
                    "like a quantity rather than classes; round them to few values, or pass other labels."
                ) from None
        return found

    def _times(self, times: Any) -> np.ndarray:
        """The times of the events in seconds; empty if the budget reads none."""
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
            if when.dtype.kind == "O" and when.ndim == 1:
                when = np.array([seconds_of(moment) for moment in when.tolist()])
            if when.dtype.kind == "M":  # dates, whatever their unit
                when = np.where(np.isnat(when), np.nan, when.astype("datetime64[us]").astype(np.float64) / 1e6)
            when = np.ascontiguousarray(when, np.float64)
        except (TypeError, ValueError):
            got = repr(times) if len(repr(times)) <= 80 else f"{repr(times)[:76]} ..."
            raise InvalidInput(f"the times of events are numbers of seconds, or datetimes, got {got}.") from None
        if when.ndim != 1:
            raise InvalidInput(f"the times of events are a flat list, one per event, got shape {when.shape}.")
        if not np.isfinite(when).all():
            place = int(np.flatnonzero(~np.isfinite(when))[0])
            raise InvalidInput(
                f"the time of event {place} is {when[place]}; each needs a finite number of seconds, or a datetime."
            )
        return when

    def _one_event(self, x: Any) -> tuple[CompiledLearner, Block]:
        """One event of any form as a block; begins if it is the first."""
        if not hasattr(self, "_state"):
            self._begin_with_one(x)
        if hasattr(x, "columns"):  # a row of a table with names
            self._check_names(x, reset=False)
        compiled = self._compiled_learner()
        return compiled, read_one(x, self.n_features_in_, compiled.preparation)

    def _classes_for_one(self) -> np.ndarray:
        """The classes, for an event or a label that comes alone."""
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
            self._check_names(x, reset=True)

    # --- what is read out, and how it is kept --------------------------------------------------------------

    def _predict_scores(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        if not hasattr(self, "_state"):
            raise not_fitted_yet()
        return self._scores_of(read_events(self._check_rows(X, reset=False)))

    def _scores_of(self, events: Events) -> tuple[np.ndarray, np.ndarray]:
        """The predicted class and the scores of each event."""
        compiled = self._compiled_learner()
        predicted = np.empty(events.n_events, np.int32)
        scores = np.empty((events.n_events, max(2, self._state.scores.size)))
        for which, block in events.blocks(compiled.preparation):
            compiled.predict_block(compiled.parameters.update, self._state, block, predicted[which], scores[which])
        return predicted, scores

    def _coefficients(self) -> np.ndarray:
        if not hasattr(self, "_state"):
            raise AttributeError("coef_ and intercept_ exist once the classifier has seen an event.")
        return self._rules().update.coefficients(self._state)

    @property
    def costs(self) -> Any:
        """What mistakes cost, if the update rule weighs them; else None."""
        return self._rules().update.costs

    @property
    def _has_begun(self) -> bool:
        """Whether it has seen an event, or learned from one."""
        return hasattr(self, "_state")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_compiled", "_single_event")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if hasattr(self, "_state"):
            if "_terms" in state:  # its name up to 0.2
                self._constraints = self.__dict__.pop("_terms")
            self._single_event = _allocate_single()
            self._state = _writable(self._state)
            for field in MODEL_FIELDS:
                kept = hasattr(self, field.attribute)
                setattr(self, field.attribute, _writable(getattr(self, field.attribute)) if kept else field.begin(self))
            if len(self._budget_state.asked_by_class) < len(self.classes_):  # labels were not counted by class
                self._budget_state = self._budget_state._replace(asked_by_class=no_labels_asked(self))
            if not is_budget_state(self._budget_state.budget, len(self._constraints)):
                raise ModelFileError(
                    "this pickle is of an earlier askance, whose budget kept other numbers; train it again, and "
                    "keep it by save, whose files later versions read."
                )


def not_fitted_yet(
    sentence: str = "this ActiveClassifier has not seen any event yet; call run, ask, partial_fit or fit first.",
) -> Exception:
    """The error for a question to a classifier that has not begun."""
    from sklearn.exceptions import NotFittedError

    return NotFittedError(sentence)


def learned_attributes() -> tuple[str, ...]:
    """The attributes that ``fit`` replaces: everything that is not a parameter."""
    return *BEGUN_WITH, *(field.attribute for field in MODEL_FIELDS)


def parameters_of(clf: BaseActiveClassifier) -> dict[str, Any]:
    """The parameters of a classifier by name, as scikit-learn's ``get_params`` finds them."""
    return {name: getattr(clf, name) for name in sorted(signature(type(clf)).parameters)}


def _with_gaps(answers: np.ndarray, is_known: np.ndarray) -> np.ndarray:
    """The answers of all events, MISSING where the label is not known."""
    everywhere = np.full(len(is_known), MISSING, np.int32)
    everywhere[is_known] = answers
    return everywhere


def _first_missing(answers: np.ndarray) -> int | None:
    missing = answers == MISSING
    return int(missing.argmax()) if missing.any() else None


def seconds_of(moment: Any) -> float:
    """Unix seconds of a datetime, in UTC unless it has a time zone, or of a number of seconds."""
    if isinstance(moment, datetime):
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return float(moment)


def unequal_lengths(n_events: int, n_labels: int | None) -> InvalidInput:
    """The error for more labels than events, or fewer."""
    sizes = f"{format_count(n_events, 'event')} and y has {format_count(n_labels or 0, 'label')}"
    return InvalidInput(f"X has {sizes}; each event needs one.")


def length_of(rows: Any) -> int | None:
    """The number of rows, or None if that is not known before they are read."""
    shape = getattr(rows, "shape", ())
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    return len(rows) if isinstance(rows, list | tuple) else None


def _check_number(classes: np.ndarray) -> None:
    if len(classes) == 1:
        raise InvalidInput(
            f"there is only one class, {classes.item(0)!r}; learning needs two or more: name them with classes=."
        )
    if not len(classes):
        raise InvalidInput("there are no classes; name them with classes=.")


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
