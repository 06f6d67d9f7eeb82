"""A combination of rules, checked and compiled: update x query x budget, for a number of classes."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from askance.errors import InvalidParameter, InvalidType
from askance.learner import importance, loop, pacing
from askance.learner.budget import Budget, as_budget
from askance.learner.compile import Body, Reference, explained, is_ours, references, specialise
from askance.learner.events import Preparation
from askance.learner.loop import Parameters
from askance.learner.query import Margin
from askance.learner.rule import Kernel, Parameterised, QueryRule, UpdateRule
from askance.learner.sparse import squared_norm
from askance.learner.update import PassiveAggressive1


@dataclass
class Combination:
    """The rules a user chose, defaults filled in, with what is done to an event before they see it."""

    update: UpdateRule
    query: QueryRule
    budget: Budget
    normalize: str | None
    intercept: bool
    explore: float

    def check(self) -> None:
        """Refuse what cannot work, before the first event."""
        self.query.check_fits(self.update)
        self.budget.check()
        if self.normalize not in (None, "l2"):
            raise InvalidParameter(f'normalize must be None or "l2", got {self.normalize!r}.')
        if not isinstance(self.intercept, bool | np.bool_):
            raise InvalidType(f"intercept must be True or False, got {self.intercept!r}.")
        explore = check_explore(self.explore)
        if explore >= self.budget.least_share():
            raise InvalidParameter(
                f"explore={explore} would spend all of {self.budget!r}; explore less than {self.budget.least_share()}."
            )


def check_explore(explore: Any) -> float:
    """A probability for every event, or a sentence."""
    if isinstance(explore, bool) or not isinstance(explore, int | float | np.integer | np.floating):
        raise InvalidType(f"explore must be a share of the events in [0, 1], got {explore!r}.")
    if not 0.0 <= explore <= 1.0:
        raise InvalidParameter(f"explore must be a share of the events in [0, 1], got {explore}.")
    return float(explore)


def combine(update: Any, query: Any, budget: Any, normalize: Any, intercept: Any, explore: Any) -> Combination:
    """The combination that a classifier's parameters ask for."""
    update = PassiveAggressive1() if update is None else update
    query = Margin() if query is None else query
    if not isinstance(update, UpdateRule):
        raise InvalidType(
            f"update must be an update rule such as askance.updates.PassiveAggressive1(), got {update!r}."
        )
    if not isinstance(query, QueryRule):
        raise InvalidType(f"query must be a query rule such as askance.queries.Margin(), got {query!r}.")
    return Combination(update, query, as_budget(update.spread(budget)), normalize, intercept, explore)


class Machine:
    """The compiled loops of a combination, with the parameters they read."""

    def __init__(self, rules: Combination, n_classes: int, n_features: int) -> None:
        rules.check()
        kernels = rules.update.kernels(n_classes)
        scales = rules.query.own_scales()
        self.keeps_variance = rules.query.reads_variance or rules.update.probabilistic
        score = kernels.score if self.keeps_variance and kernels.score else kernels.margin
        at_once = kernels.score_and_length if self.keeps_variance else None
        predicting: dict[Kernel, Kernel] = {loop.margin: kernels.margin}
        repeats = rules.update.weighted and not rules.update.weighs_itself
        learning = predicting | {
            loop.learn: importance.learn_repeatedly if repeats else kernels.learn,
            importance.once: kernels.learn,
            importance.rests: importance.is_at_rest if rules.update.rests else importance.never_rests,
            loop.forget: kernels.forget or loop.forget_nothing,
        }
        asking = learning | {
            loop.score: score,
            loop.score_and_length: at_once or loop.one_after_the_other,
            loop.probability: rules.query.probability,
            loop.length: squared_norm if rules.query.reads_length else loop.unread_length,
            loop.resume: rules.budget.kernels.resume,
            loop.suspend: rules.budget.kernels.suspend,
            loop.is_due: rules.budget.kernels.is_due,
            loop.reckon: rules.budget.kernels.reckon,
            loop.tune: rules.budget.kernels.tune if scales else pacing.leave_scales,
            loop.steer: pacing.as_it_is if scales else rules.budget.kernels.steer,
            loop.note: kernels.note or loop.note_nothing,
        }
        self.play = specialise(loop.play, asking)
        self.teach = specialise(loop.teach, learning)
        self.give = specialise(loop.teach, learning | {loop.learn: kernels.given}) if kernels.given else self.teach
        self.look = specialise(loop.look, predicting)
        self._rules, self._n_classes = rules, n_classes
        self._kernels = kernels, rules.query.probability
        self._references: list[Reference | Body] = []
        if not all(map(is_ours, asking.values())):
            self._references = references(loop.play, asking)
            names = ", ".join(type(part).__name__ for part in (rules.update, rules.query, rules.budget))
            self.play, self.teach, self.give, self.look = (
                explained(f, names) for f in (self.play, self.teach, self.give, self.look)
            )
        query = rules.query.parameters(rules.update)
        self.parameters = Parameters(
            rules.update.parameters(),
            query,
            query[:scales].copy(),
            rules.budget.parameters(),
            float(rules.explore),
        )
        self.update, self.budget = rules.update, rules.budget
        self.terms = rules.budget.terms()
        self.preparation = Preparation(rules.normalize == "l2", n_features if rules.intercept else -1)
        self.weighted = bool(rules.update.weighted)
        self.probabilistic = rules.update.probabilistic

    def remember(self, given: tuple[Any, ...]) -> None:
        """Keep what this machine was made from, by identity and, for rules, by value."""
        self._given = given
        self._values = [copy.deepcopy(vars(part)) for part in given[:3] if isinstance(part, Parameterised)]

    def is_made_from(self, given: tuple[Any, ...]) -> bool:
        """Whether nothing was changed since: no part replaced, no parameter of a rule set. Fast: asked per event."""
        for old, new in zip(self._given, given, strict=True):
            if old is not new:
                return False
        values = iter(self._values)
        if not all(vars(part) == next(values) for part in given[:3] if isinstance(part, Parameterised)):
            return False
        return not self._references or self._is_still_meant()

    def _is_still_meant(self) -> bool:
        """Whether a user's kernels, and what they refer to, are those that were compiled: he may be editing them."""
        update, query = self._rules.update, self._rules.query
        same_kernels = (update.kernels(self._n_classes), query.probability) == self._kernels
        return same_kernels and not any(reference.is_stale for reference in self._references)
