"""What update rules, query rules and budgets have in common: named parameters, and kernels that read them.

A rule is a dataclass. Its fields are its hyper-parameters; scikit-learn can read, set and clone them.
Its kernels are ordinary Python functions, compiled when first needed, that see the parameters as a float
vector in the order of the fields.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import inspect
import math
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from askance.errors import IncompatibleRules, InvalidParameter, InvalidType
from askance.evaluate.costs import check_costs, relative_costs
from askance.learner.state import State, fresh_state

Kernel = Callable[..., Any]


# --- parameters ------------------------------------------------------------------------------------------


def parameter(default: Any, requirement: str, is_met: Callable[[float], bool], *, hint: str = "") -> Any:
    """Declare a field with the requirement its value must meet, in words and as a test."""
    return dataclasses.field(default=default, metadata={"requirement": requirement, "is_met": is_met, "hint": hint})


def positive(default: float | None) -> Any:
    """Declare a number that must be above zero. ``None`` as default: taken from the update rule."""
    return parameter(default, "a finite number above 0", lambda value: 0.0 < value < math.inf)


def finite(default: float) -> Any:
    """Declare a number that may be anything but infinite."""
    return parameter(default, "a finite number", lambda value: abs(value) < math.inf)


def share(default: float, *, hint: str = "") -> Any:
    """Declare a number in (0, 1]. The hint is for whoever gave a whole number above one."""
    return parameter(default, "in (0, 1]", lambda value: 0.0 < value <= 1.0, hint=hint)


def whole(default: int, *, least: int) -> Any:
    """Declare a whole number of at least ``least``."""
    return parameter(default, f"a whole number of {least} or more", lambda value: value.is_integer() and value >= least)


class Parameterised:
    """Named parameters, checked when set, in the form scikit-learn's ``clone`` and grid search use."""

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Refuse values that do not meet their requirements, however they were set."""
        own = vars(type(self)).get("__annotations__", {})
        if any("ClassVar" not in str(kind) for kind in own.values()) and "__dataclass_fields__" not in vars(type(self)):
            raise InvalidType(
                f"{type(self).__name__} declares parameters but is no dataclass; put @dataclass above it."
            )
        for field in self._fields():
            self._check(field, getattr(self, field.name))

    @classmethod
    def _fields(cls) -> tuple[dataclasses.Field[Any], ...]:
        return dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()

    def _check(self, field: dataclasses.Field[Any], value: Any) -> None:
        requirement: str | None = field.metadata.get("requirement")
        if isinstance(field.default, bool):
            if not isinstance(value, bool | np.bool_):
                raise InvalidType(f"{type(self).__name__}: {field.name} must be True or False, got {value!r}.")
            return
        if requirement is None or (value is None and field.default is None):
            return
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
            raise InvalidType(f"{type(self).__name__}: {field.name} must be {requirement}, got {value!r}.")
        try:
            number = float(value)
        except OverflowError:
            raise InvalidParameter(f"{type(self).__name__}: {field.name} must be {requirement}, got {value}.") from None
        if not field.metadata["is_met"](number):
            shown = int(number) if number.is_integer() else number
            hint: str = field.metadata["hint"] if number > 1.0 and number.is_integer() else ""
            raise InvalidParameter(
                f"{type(self).__name__}: {field.name} must be {requirement}, got {shown}.{hint.format(value=shown)}"
            )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name (scikit-learn's contract)."""
        own = {field.name: getattr(self, field.name) for field in self._fields()}
        nested = {
            f"{name}__{inner}": setting
            for name, value in own.items()
            if deep and isinstance(value, Parameterised)
            for inner, setting in value.get_params().items()
        }
        return own | nested

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name (scikit-learn's contract)."""
        fields = {field.name: field for field in self._fields()}
        inner = {name: params.pop(name) for name in list(params) if "__" in name}
        for name, value in inner.items():
            own, _, rest = name.partition("__")
            part = getattr(self, own, None)
            if not isinstance(part, Parameterised):
                raise InvalidParameter(f"{type(self).__name__} has no parameter {name!r}.")
            part.set_params(**{rest: value})
        for name, value in params.items():
            if name not in fields:
                known = ", ".join(fields) or "none"
                raise InvalidParameter(f"{type(self).__name__} has no parameter {name!r}; it has: {known}.")
            self._check(fields[name], value)
        for name, value in params.items():
            setattr(self, name, value)
        return self


# --- rules -----------------------------------------------------------------------------------------------


class Kernels(NamedTuple):
    """The compiled half of an update rule (the signatures are those of the slots in ``loop.py``)."""

    margin: Kernel
    """Predict: the margin, and the variance only if the margin itself needs it."""
    learn: Kernel
    """Move the model after an answer."""
    score: Kernel | None = None
    """Predict with the variance that some query rules read; ``None``: this rule has no variance."""
    forget: Kernel | None = None
    """Make the event's features uncertain again before an answer is learned; ``None``: this rule forgets nothing."""
    observe: Kernel | None = None
    """Note an event of the stream for the rule's report; ``None``: it reports nothing."""
    learn_given: Kernel | None = None
    """Move the model after a given label; ``None``: as ``learn`` does."""
    score_and_length: Kernel | None = None
    """In place of ``score``: the same, and ||x||^2, in one pass; what a query rule does not read costs nothing."""
    margin_and_length: Kernel | None = None
    """In place of ``margin``, where no variance is read: the same, and the ||x||^2 of the event that the rule sees."""
    watch: Kernel | None = None
    """Learn something of an event without its label, before it is scored; ``None``: this rule learns from labels."""
    has_features: Kernel | None = None
    """Whether there is something to learn from; ``None``: where the event has an entry."""
    slots: Mapping[Kernel, Kernel] = {}
    """Kernels of a rule within this one, by the functions that stand for them in its own kernels."""


@dataclasses.dataclass
class UpdateRule(Parameterised):
    """How to learn from an answer."""

    binary: ClassVar[Kernels]
    multiclass: ClassVar[Kernels | None] = None
    """Kernels for one weight vector per class, where the rule has such a form."""
    own_numbers: ClassVar[int] = 0
    """The size of ``state.extra``, for a rule that keeps a few numbers beside those of the features."""
    probabilistic: ClassVar[bool] = False
    """Whether Phi(margin / sqrt(variance + 1)) is the probability of the second class."""
    weighted = False
    """Whether an answer counts with its weight, 1 / ask probability (a field in rules that offer the choice)."""
    is_idempotent: ClassVar[bool] = True
    """Whether an update that changes no score changes nothing else either, so that it need not be repeated."""
    is_local: ClassVar[bool] = True
    """Whether learning reads and writes the numbers of the event's own features alone, and so costs O(nnz)."""
    watches_events: ClassVar[bool] = False
    """Whether ``score`` changes the model, as by statistics of the events; they then cannot be scored side by side."""
    per_class = False
    """Whether two classes, too, get one weight vector each (a field in rules that offer the choice)."""
    costs = None
    """What mistakes cost, see ``askance.evaluate.costs`` (a field in rules that offer the choice)."""

    def check(self) -> None:
        super().check()
        if self.costs is not None:
            check_costs(self.costs)

    @property
    def innermost(self) -> UpdateRule:
        """The rule that learns: this one, unless it has another within (see ``update.fourier``)."""
        return self

    @property
    def takes_weights(self) -> bool:
        """Whether the learning kernel takes weights above 1; else they become several updates (see ``importance``)."""
        return False

    @property
    def moves_threshold(self) -> bool:
        """Whether, of two classes, it may predict one before that is the likelier one, as for a rare class."""
        return False

    def kernels(self, n_classes: int) -> Kernels:
        """The kernels for this number of classes."""
        if not self.keeps_vector_per_class(n_classes):
            return self.binary
        if self.multiclass is None:
            raise IncompatibleRules(
                f"Only binary classification is supported. {type(self).__name__} separates two classes and there are "
                f"{n_classes}: use a rule with a multi-class form (Perceptron, PassiveAggressive, PassiveAggressive1, "
                "PassiveAggressive2, DualAveraging, MirrorDescent) or an algorithm whose name starts with M."
            )
        return self.multiclass

    def keeps_vector_per_class(self, n_classes: int) -> bool:
        """Whether the model has one weight vector per class rather than a single one."""
        return n_classes > 2 or self.per_class

    @property
    def provides_variance(self) -> bool:
        """Whether query rules that read a variance can be used."""
        return self.binary.score is not None or self.binary.score_and_length is not None

    def parameters(self) -> np.ndarray:
        """The float vector the kernels see: the fields in their order; for ``costs``, whether there are any."""
        own = self.get_params(deep=False)
        if "costs" in own:
            own["costs"] = self.costs is not None
        return np.array([float(value) for value in own.values()])

    def parameters_for(self, classes: np.ndarray) -> np.ndarray:
        """``parameters``, followed by the relative costs of mistakes between these classes, if there are any."""
        if self.costs is None:
            return self.parameters()
        return np.append(self.parameters(), relative_costs(self.costs, classes))

    def start_values(self) -> tuple[float, ...]:
        """What each feature's numbers are before the first answer; the weight comes first."""
        return (0.0,)

    def start(self, n_features: int, n_classes: int) -> State:
        """The state before the first answer."""
        rows = n_classes if self.keeps_vector_per_class(n_classes) else 1
        return fresh_state(n_features, rows, self.start_values(), extra=self.own_numbers)

    def widen(self, state: State, kept: np.ndarray, n_features: int, n_classes: int) -> State:
        """The same model with more features; row i of the old table becomes row ``kept[i]`` of the new one."""
        wider = self.start(n_features, n_classes)
        wider.table[kept] = state.table
        if state.matrix.size:
            wider.matrix[np.ix_(kept, kept)] = state.matrix
            wider.pending[kept, : state.pending.shape[1]] = state.pending
        wider.extra[...] = state.extra
        return wider

    def inflate_variances(self, state: State, share: float) -> None:
        """Move the variances a share of the way back to what they were before the first answer."""
        raise IncompatibleRules(
            f"{type(self).__name__} keeps no variances, apart from its weights, that could be inflated; it takes new "
            "answers in as it always did."
        )

    def resolve_budget(self, budget: Any) -> Any:
        """The budget to use with this rule, if the user's value leaves something open."""
        return budget

    def least_explore(self, budget: Any) -> float:
        """What ``explore`` is at least with this budget; 0: what the user says."""
        return 0.0

    def recall(self, state: State, predicted: int | None, correction: bool = False) -> None:
        """Note, before an answer is learned, what was predicted when its event came, and whether the answer corrects
        another. ``predicted`` is None once it was learned."""

    def take_back(self, state: State, answer: int, predicted: int, probability: float) -> None:
        """Leave an answer that turned out to be wrong out of what is reported; what was learned from it stays."""

    def threshold(self, state: State) -> float:
        """What is taken from w.x to give the margin."""
        return 0.0

    def check_state(self, state: State) -> None:
        """Raise a ``ModelFileError`` if the state, as read from a file, names a place that does not exist."""

    def layout(self, n_classes: int) -> tuple[Any, ...]:
        """What decides the shape of the state, and cannot change once learning has begun."""
        return (type(self), self.keeps_vector_per_class(n_classes))

    def coefficients(self, state: State) -> np.ndarray:
        """The weight vectors, one row per vector."""
        return np.ascontiguousarray(state.table[:, 0, :].T)


@functools.cache
def reads_parameter(code: CodeType, place: int) -> bool:
    """Whether a function's code reads its parameter of this number, or may: in *arguments, in a function within it."""
    if place >= code.co_argcount:
        return bool(code.co_flags & inspect.CO_VARARGS)
    if code.co_varnames[place] in code.co_cellvars:
        return True
    loaded = (step.argval for step in dis.get_instructions(code) if "LOAD_FAST" in step.opname)
    return any(code.co_varnames[place] in (names if isinstance(names, tuple) else (names,)) for names in loaded)


class SearchRange(NamedTuple):
    """Where ``askance compare`` searches the scale of a query rule for a wanted query ratio."""

    lowest: float = 1e-10
    highest: float = 1e12
    start: float = 1.0


@dataclasses.dataclass
class QueryRule(Parameterised):
    """The probability of asking for a label."""

    probability: ClassVar[Kernel]
    """The kernel, a ``staticmethod``: (parameters, margin, variance, squared_length, tally) -> number in [0, 1]."""
    reads_variance: ClassVar[bool] = False
    reads_length: ClassVar[bool] = False
    """Whether ``squared_length`` is wanted; otherwise it comes as 0."""
    scales: ClassVar[int] = 0
    """How many of the parameters, from the first on, are scales: multiplied by s, they multiply the odds of asking by
    s, as in scale / (scale + distance). A paced budget multiplies them; for a rule without scales, the odds themselves.
    A subclass with a kernel of its own must declare it again."""
    search: ClassVar[SearchRange | None]
    """Where to search its scales; of a rule without scales, its first parameter. None: it asks for every label."""

    @classmethod
    def own_scales(cls) -> int:
        """``scales``, if it was declared for the kernel that this rule has."""
        for kind in cls.__mro__:
            if "scales" in vars(kind):
                return cls.scales
            if "probability" in vars(kind):
                break
        return 0

    def for_budget(self, budget: Any) -> QueryRule:
        """The rule to use with this budget, if that makes a difference."""
        return self

    def parameters(self, update: UpdateRule) -> np.ndarray:
        """The float vector the kernel sees. A field that is None takes the update rule's value of that name."""
        values = []
        for field in self._fields():
            value = getattr(self, field.name)
            if value is None:
                value = getattr(update.innermost, field.name, None)
            if value is None:
                raise IncompatibleRules(
                    f"{type(self).__name__} needs {field.name}, which {type(update).__name__} does not have; "
                    f"give it: {type(self).__name__}({field.name}=1.0)."
                )
            values.append(float(value))
        return np.array(values)

    def check_fits(self, update: UpdateRule) -> None:
        """Refuse an update rule that lacks what this rule reads."""
        self.check()
        update.check()
        if not isinstance(getattr(self, "probability", None), FunctionType):
            raise InvalidType(
                f"{type(self).__name__}: probability must be a kernel, written probability: ClassVar = staticmethod(f)."
            )
        most = len(self._fields())
        if isinstance(self.scales, bool) or not isinstance(self.scales, int) or not 0 <= self.own_scales() <= most:
            raise InvalidType(
                f"{type(self).__name__}: scales must be a whole number of parameters, from 0 to {most}, "
                f"got {self.scales!r}."
            )
        for place, name in ((2, "variance"), (3, "length")):
            if reads_parameter(self.probability.__code__, place) and not getattr(self, f"reads_{name}"):
                raise IncompatibleRules(
                    f"{type(self).__name__}: its kernel reads the {name} (parameter {place + 1}), which comes as 0 "
                    f"unless the class says so; write reads_{name}: ClassVar = True."
                )
        if not isinstance(getattr(update, "binary", None), Kernels):
            raise InvalidType(f"{type(update).__name__}: binary must be Kernels(margin=..., learn=...).")
        if self.reads_variance and not update.provides_variance:
            raise IncompatibleRules(
                f"{type(self).__name__} reads the variance of a margin, which {type(update).__name__} does not have; "
                "use a second-order update rule such as AdaptiveRegularizationDiagonal, or a query rule that reads "
                "the margin alone, such as Margin."
            )
        self.parameters(update)


# --- a rule around another one ---------------------------------------------------------------------------


class RuleAround(UpdateRule):
    """A rule that lets the rule ``update`` learn, on other events or in other arrays than its own."""

    update: UpdateRule

    def kernels_around(self, inner: Kernels) -> Kernels:
        """The kernels, with those of the rule within in their slots."""
        raise NotImplementedError

    def kernels(self, n_classes: int) -> Kernels:
        return self.kernels_around(self.update.kernels(n_classes))

    @property
    def binary(self) -> Kernels:  # type: ignore[override]
        return self.kernels_around(self.update.binary)

    @property
    def multiclass(self) -> Kernels | None:  # type: ignore[override]
        return None if self.update.multiclass is None else self.kernels_around(self.update.multiclass)

    @property
    def innermost(self) -> UpdateRule:
        return self.update.innermost

    @property
    def probabilistic(self) -> bool:  # type: ignore[override]
        return self.update.probabilistic

    @property
    def weighted(self) -> bool:  # type: ignore[override]
        return self.update.weighted

    @property
    def per_class(self) -> bool:  # type: ignore[override]
        return self.update.per_class

    @property
    def costs(self) -> Any:  # type: ignore[override]
        return self.update.costs

    @property
    def is_idempotent(self) -> bool:  # type: ignore[override]
        return self.update.is_idempotent

    @property
    def takes_weights(self) -> bool:
        return self.update.takes_weights

    @property
    def moves_threshold(self) -> bool:
        return self.update.moves_threshold

    @property
    def provides_variance(self) -> bool:
        return self.update.provides_variance

    def parameters(self) -> np.ndarray:
        return self.update.parameters()
