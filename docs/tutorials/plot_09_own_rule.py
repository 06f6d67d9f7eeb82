"""
Your own rule
=============

A query rule is one expression and a dataclass. askance compiles it together with its loop, and the contract checks
say whether it does what every rule must. Update rules are written the same way: see :doc:`/own-rules`.
"""

from dataclasses import dataclass
from math import exp
from typing import ClassVar

import askance
from askance.data.generators import messages
from askance.rules import QueryRule, positive, share
from askance.testing import BrokenContract, check_query_rule


def by_bell(parameters, margin, variance, squared_length, tally):
    width, floor = parameters[0], parameters[1]  # the fields, in their order
    return max(floor, exp(-((margin / width) ** 2)))


@dataclass
class Bell(QueryRule):
    """Ask near the boundary, with a floor everywhere."""

    width: float = positive(0.3)
    floor: float = share(0.01)

    probability: ClassVar = staticmethod(by_bell)


check_query_rule(Bell)  # silent: it passes

stream = messages(3_000, random_state=0)
clf = askance.ActiveClassifier(
    askance.updates.PassiveAggressive1(C=0.5), Bell(width=0.4), normalize="l2", random_state=0
)
print(clf.run(stream.X, stream.labels))

# %%
# A rule with a fault is told in a sentence.


def by_ratio(parameters, margin, variance, squared_length, tally):
    return parameters[0] / (0.01 + abs(margin))


@dataclass
class Ratio(QueryRule):
    """Forgets that a probability ends at one."""

    width: float = positive(0.3)

    probability: ClassVar = staticmethod(by_ratio)


try:
    check_query_rule(Ratio)
except BrokenContract as fault:
    print(fault)
