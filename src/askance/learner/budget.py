"""How many labels may be bought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from askance.errors import InvalidParameter, InvalidType
from askance.learner.rule import Kernel, Parameterised, whole


def below_count(parameters, tally):
    return tally.asked < parameters[0]  # n


@dataclass
class Budget(Parameterised):
    """Whether one more label may be bought."""

    allows: ClassVar[Kernel]
    """The kernel: (parameters, tally) -> bool."""

    def parameters(self) -> np.ndarray:
        """The float vector the kernel sees: the fields in their order."""
        return np.array([float(getattr(self, field.name)) for field in self._fields()])


@dataclass
class Unlimited(Budget):
    """No limit: the query rule alone decides."""

    allows: ClassVar = staticmethod(below_count)  # one kernel for both: a budget compiles nothing anew

    def parameters(self) -> np.ndarray:
        return np.array([np.inf])


@dataclass
class Fixed(Budget):
    """At most ``n`` labels in all; after that nothing is asked and nothing is learned, predictions go on.

    Parameters
    ----------
    n : int
        The number of labels.
    """

    n: int = whole(0, least=0)

    allows: ClassVar = staticmethod(below_count)


def as_budget(budget: Any) -> Budget:
    """A budget from what a user may pass: None, a count, or a budget."""
    if budget is None:
        return Unlimited()
    if isinstance(budget, Budget):
        return budget
    if isinstance(budget, int | np.integer) and not isinstance(budget, bool):
        return Fixed(int(budget))  # refuses negative ones
    if isinstance(budget, float | np.floating):
        raise InvalidParameter(
            f"budget={budget} is not a whole number of labels. For a share of the events use a query rule with a rate, "
            'such as make("RPA-I", rate=...).'
        )
    raise InvalidType(f"budget must be None, a whole number or a Budget, got {budget!r}.")
