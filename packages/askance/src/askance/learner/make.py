"""``make``: from a name and parameters to a classifier."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from askance.errors import InvalidParameter
from askance.learner.presets import AlgorithmName, RuleParameters, find, is_auto
from askance.learner.rule import QueryRule, UpdateRule
from askance.learner.update import RandomFourier

if TYPE_CHECKING:
    from askance.learner.classifier import StreamClassifier
    from askance.learner.estimator import ActiveClassifier


class CommonParameters(TypedDict, total=False):
    """The parameters of every classifier, for type checkers: those of ``ActiveClassifier`` other than its rules."""

    budget: Any
    classes: Any
    normalize: Any
    intercept: Any
    n_features: Any
    random_state: Any
    explore: Any
    max_pending: Any
    max_pending_age: Any
    fields: Any
    na_values: Any


COMMON = tuple(CommonParameters.__annotations__)


class MakeParameters(CommonParameters, RuleParameters, total=False):
    """The names of all parameters that ``make`` takes, for type checkers. Which of them an algorithm has depends on its
    name, and values are checked when it is made: a program may pass a ``dict`` of numbers."""


KERNEL = {"components": "components", "bandwidth": "bandwidth", "length": "length", "kernel_seed": "seed"}
"""What goes with ``kernel="rbf"``, and what ``RandomFourier`` calls it."""


def make(name: AlgorithmName, **parameters: Unpack[MakeParameters]) -> ActiveClassifier:
    """A classifier by the name of its algorithm.

    Parameters
    ----------
    name : str
        A name or alias of ``askance.algorithms()``, in whatever case ("soal_diag" is SOAL-diag); or "auto", which needs
        a budget and chooses everything else as the stream goes. Type checkers know the names as they are spelled there;
        ``typing.cast`` one that a program finds elsewhere.
    **parameters
        The algorithm's own parameters, by the papers' letters (``C``, ``delta``, ``eta``, ...); those of
        ``ActiveClassifier``, such as ``budget``, ``classes`` and ``random_state``; and, where the name does not settle
        it, ``weighted``.
        D-ADA, D-AMD and their relatives take ``costs``, what mistakes cost: ``{"fraud": {"ok": 9}}`` (a fraud predicted
        as ok costs 9, other mistakes 1), a matrix with a row per class, or for two classes ``{"fn": 9, "fp": 1}``.
        ``kernel="rbf"`` makes every algorithm but "auto" non-linear: it learns on ``components`` random Fourier
        features of the standardised event. ``bandwidth``, ``length`` and ``kernel_seed`` go with it, too; see
        ``askance.updates.RandomFourier``.
        "auto" takes ``objective`` ("balanced", "accuracy", "f1" or "cost") and ``costs``, too; it scales
        the features itself and takes no notice of ``normalize`` and ``intercept``.

    Examples
    --------
    >>> import askance
    >>> clf = askance.make("PAA-I", C=0.5, delta=0.1, random_state=0)
    >>> clf.update
    PassiveAggressive1(C=0.5, per_class=False, weighted=False)
    >>> clf.query
    Margin(delta=0.1)
    """
    settings = settings_of(name, {**parameters})
    from askance.learner.estimator import ActiveClassifier  # only now: a slip costs no import of scikit-learn

    clf = ActiveClassifier(**settings)
    clf._check_rules()
    return clf


def make_stream_classifier(name: str, **parameters: Any) -> StreamClassifier:
    """What ``make`` makes, without scikit-learn."""
    settings = settings_of(name, parameters)
    from askance.learner.classifier import StreamClassifier

    clf = StreamClassifier(**settings)
    clf._check_rules()
    return clf


def check(name: str, **parameters: Any) -> None:
    """Raise what ``make`` would raise for these rules and this budget, without making anything."""
    from askance.learner.compiled import RuleSettings

    given = settings_of(name, parameters)
    RuleSettings(**{key: given[key] for key in RuleSettings._fields if key in given}).combine().check()


def settings_of(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the classifier that a name and parameters stand for."""
    parameters = dict(parameters)
    if isinstance(parameters.get("costs"), np.ndarray):
        parameters["costs"] = parameters["costs"].tolist()
    common = {key: parameters.pop(key) for key in COMMON if key in parameters}
    if is_auto(name):
        from askance.learner.auto.make import settings_of_auto

        return settings_of_auto(common, parameters)
    row = find(name)
    around = kernel_around(parameters)
    known = row.parameters
    for key in parameters:
        is_choice = (key == "weighted" and row.can_be_weighted) or (key == "costs" and row.takes_costs)
        if key not in known and not is_choice:
            own_letters = [*known, *(["costs"] if row.takes_costs else [])]
            raise no_parameter(row.name, key, own_letters, [*COMMON, *(["weighted"] if row.can_be_weighted else [])])
    parameters |= row.fixed

    def own(rule: type[UpdateRule] | type[QueryRule]) -> dict[str, Any]:
        names = {field.name for field in dataclasses.fields(rule)}
        return {key: value for key, value in parameters.items() if key in names}

    return {"update": around(row.update(**own(row.update))), "query": row.query(**own(row.query)), **common}


def kernel_around(parameters: dict[str, Any]) -> Callable[[UpdateRule], UpdateRule]:
    """What ``kernel`` makes of an update rule; it and what goes with it are taken out of the parameters."""
    kernel = parameters.pop("kernel", None)
    given = {KERNEL[key]: parameters.pop(key) for key in KERNEL if key in parameters}
    if kernel is None:
        if given:
            named = [key for key, own in KERNEL.items() if own in given]
            raise InvalidParameter(f'{", ".join(named)} goes with kernel="rbf".')
        return lambda rule: rule
    if kernel != "rbf":
        raise InvalidParameter(f'kernel must be "rbf", the Gaussian one, or None, got {kernel!r}.')
    return lambda rule: RandomFourier(rule, **given)


def no_parameter(name: str, key: str, own: Collection[str], common: Collection[str]) -> InvalidParameter:
    """The error for a parameter that an algorithm does not have: the one that was meant, or all there are."""
    spelled = {known.casefold(): known for known in (*common, *own)}
    close = difflib.get_close_matches(key.casefold(), spelled, n=1, cutoff=0.8)
    if close:
        return InvalidParameter(f"{name} has no parameter {key!r}; did you mean {spelled[close[0]]!r}?")
    return InvalidParameter(
        f"{name} has no parameter {key!r}; it takes {', '.join(own) or 'no parameters of its own'}; and, like every "
        f"algorithm, {', '.join(common)}."
    )
