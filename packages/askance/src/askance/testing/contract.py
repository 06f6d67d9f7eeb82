"""How a rule is checked: one check after the other, and a sentence for each that fails."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from askance.errors import AskanceError, BrokenContract, InvalidType
from askance.learner.rule import Parameterised

Rule = TypeVar("Rule", bound=Parameterised)
Check = Callable[[Any], None]


def expect(is_met: Any, sentence: str) -> None:
    """Raise unless it is met; the sentence says what is wrong and how to mend it."""
    if not is_met:
        raise BrokenContract(sentence)


def instance_of(rule: Any, kind: type[Rule]) -> Rule:
    """The rule itself; a class stands for itself with its defaults."""
    if isinstance(rule, type) and issubclass(rule, kind):
        rule = rule()
    if not isinstance(rule, kind):
        raise InvalidType(f"expected a {kind.__name__}, or a class of one, got {rule!r}.")
    return rule


def run_checks(name: str, checks: Iterable[tuple[Check, Any]]) -> None:
    """Run every check on its case, then raise one error with a sentence for each that failed."""
    failures: list[str] = []
    for check, case in checks:
        try:
            check(case)
        except AskanceError as error:
            failures.append(str(error))
        except Exception as error:  # a kernel may raise anything
            failures.append(f"{name}: {check.__name__} ended with {type(error).__name__}: {error}.")
    found = list(dict.fromkeys(failures))
    if len(found) == 1:
        raise BrokenContract(found[0])
    if found:
        raise BrokenContract(f"{name} breaks {len(found)} rules:\n" + "\n".join(f"- {sentence}" for sentence in found))


def check_parameters(rule: Parameterised) -> None:
    """Parameters are fields that can be copied, and that refuse what is no number."""
    name = type(rule).__name__
    rule.check()
    expect(
        type(rule)(**rule.get_params(deep=False)).get_params() == rule.get_params(),
        f"{name}: a copy made from its parameters has other ones; keep in a field what the user gave, unchanged.",
    )
    for field in rule._fields():
        if isinstance(getattr(rule, field.name), int | float) and not isinstance(field.default, bool):
            try:
                copy.deepcopy(rule).set_params(**{field.name: math.nan})
            except AskanceError:
                continue
            raise BrokenContract(
                f"{name}: {field.name}=nan is not refused; declare the field with positive, share, whole or finite, "
                f"as in {field.name}: float = positive({field.default!r})."
            )


def are_equal(one: Iterable[np.ndarray], other: Iterable[np.ndarray]) -> bool:
    """Whether all arrays are equal, bit for bit but for the kinds of NaN, which another check finds."""
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


def labeled_events(n_classes: int, n_events: int = 160, n_features: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Events with some zeros, one without any feature, and labels that a linear model can learn."""
    rng = np.random.default_rng(n_classes)
    X = rng.standard_normal((n_events, n_features)) * (rng.random((n_events, n_features)) < 0.5)
    X[11] = 0.0
    return X, np.argmax(X @ rng.standard_normal((n_features, n_classes)), axis=1)
