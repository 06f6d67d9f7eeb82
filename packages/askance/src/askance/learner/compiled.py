"""A combination of rules, checked and compiled: update x query x budget, for a number of classes."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from askance.compile import FunctionParts, Reference, explain_failures, is_ours, references, specialise
from askance.errors import InvalidParameter, InvalidType
from askance.evaluate.calibration.windowed import keep_answer
from askance.learner import group, importance, loop, pacing
from askance.learner.budget import Budget, as_budget
from askance.learner.events import Preparation
from askance.learner.loop import Parameters
from askance.learner.query import Margin
from askance.learner.rule import Kernel, Parameterised, QueryRule, UpdateRule
from askance.learner.sparse import squared_norm
from askance.learner.update import PassiveAggressive1


@dataclass
class Combination:
    """The rules that a user chose, with defaults filled in, and how an event is prepared for them."""

    update: UpdateRule
    query: QueryRule
    budget: Budget
    normalize: str | None
    intercept: bool
    explore: float

    def check(self) -> None:
        """Raise if something cannot work, before the first event."""
        self.query.check_fits(self.update)
        self.budget.check()
        if self.normalize not in (None, "l2"):
            raise InvalidParameter(f'normalize must be None or "l2", got {self.normalize!r}.')
        if not isinstance(self.intercept, bool | np.bool_):
            raise InvalidType(f"intercept must be True or False, got {self.intercept!r}.")
        explore = check_explore(self.explore)
        if explore >= self.budget.min_rate():
            raise InvalidParameter(
                f"explore={explore} would spend all of {self.budget!r}; explore less than {self.budget.min_rate()}."
            )


def check_explore(explore: Any) -> float:
    """``explore`` as a float; raises if it is not in [0, 1]."""
    if isinstance(explore, bool) or not isinstance(explore, int | float | np.integer | np.floating):
        raise InvalidType(f"explore must be a share of the events in [0, 1], got {explore!r}.")
    if not 0.0 <= explore <= 1.0:
        raise InvalidParameter(f"explore must be a share of the events in [0, 1], got {explore}.")
    return float(explore)


class RuleSettings(NamedTuple):
    """The parameters of a classifier that its model follows, as they were given."""

    update: Any = None
    query: Any = None
    budget: Any = None
    normalize: Any = None
    intercept: Any = False
    explore: Any = 0.0
    max_pending: Any = 10_000
    max_pending_age: Any = None

    def combine(self) -> Combination:
        """The combination that they describe."""
        update = PassiveAggressive1() if self.update is None else self.update
        query = Margin() if self.query is None else self.query
        if not isinstance(update, UpdateRule):
            raise InvalidType(
                f"update must be an update rule such as askance.updates.PassiveAggressive1(), got {update!r}."
            )
        if not isinstance(query, QueryRule):
            raise InvalidType(f"query must be a query rule such as askance.queries.Margin(), got {query!r}.")
        budget = as_budget(update.resolve_budget(self.budget))
        return Combination(update, query.for_budget(budget), budget, self.normalize, self.intercept, self.explore)

    def check_pending_limits(self) -> None:
        """Raise if it is not clear how many questions are kept for their answers."""
        for name, least in (("max_pending", 0), ("max_pending_age", 1)):
            value = getattr(self, name)
            is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least
            if not is_whole and not (name == "max_pending_age" and value is None):
                raise InvalidParameter(f"{name} must be a whole number of {least} or more, got {value!r}.")

    @property
    def rules(self) -> list[Parameterised]:
        """Those of the parameters that have parameters of their own."""
        return [part for part in (self.update, self.query, self.budget) if isinstance(part, Parameterised)]


class CompiledLearner:
    """The compiled loops of a combination, with the parameters they read."""

    def __init__(self, rules: Combination, classes: np.ndarray, n_features: int) -> None:
        rules.check()
        self.source = rules, classes, n_features
        """What it is made of, to make it again in another process."""
        n_classes = len(classes)
        kernels = rules.update.kernels(n_classes)
        scales = rules.query.own_scales()
        self.keeps_variance = rules.query.reads_variance or rules.update.probabilistic
        score = kernels.score if self.keeps_variance and kernels.score else kernels.margin
        at_once = kernels.score_and_length if self.keeps_variance else kernels.margin_and_length
        predicting: dict[Kernel, Kernel] = {loop.margin: kernels.margin, **kernels.slots}
        repeats = rules.update.weighted and not rules.update.takes_weights
        learning = predicting | {
            loop.watch: loop.watch_nothing,
            loop.has_features: kernels.has_features or loop.has_any_feature,
            loop.learn: importance.learn_repeatedly if repeats else kernels.learn,
            importance.learn_once: kernels.learn,
            importance.is_idempotent: importance.always_idempotent
            if rules.update.is_idempotent
            else importance.never_idempotent,
            loop.forget: kernels.forget or loop.forget_nothing,
        }
        watching: dict[Kernel, Kernel] = {loop.watch: kernels.watch or loop.watch_nothing}
        asking = learning | watching
        asking |= {
            loop.score: score,
            loop.score_and_length: at_once or loop.score_then_length,
            loop.probability: rules.query.probability,
            loop.length: squared_norm if rules.query.reads_length else loop.unread_length,
            loop.resume: rules.budget.kernels.resume,
            loop.suspend: rules.budget.kernels.suspend,
            loop.needs_update: rules.budget.kernels.needs_update,
            loop.update_pace: rules.budget.kernels.update_pace,
            loop.scale_query: rules.budget.kernels.scale_query if scales else pacing.leave_scales,
            loop.scale_probability: pacing.as_it_is if scales else rules.budget.kernels.scale_probability,
            loop.observe: kernels.observe or loop.observe_nothing,
            loop.predict_event: loop.predict_now,
            loop.score_event: loop.score_now,
            loop.note_answer: keep_answer if rules.update.keeps_vector_per_class(n_classes) else loop.leave_answer,
        }
        self.play = specialise(loop.play, asking)
        self.learn_labeled = specialise(loop.learn_labeled, learning)
        given = watching | ({loop.learn: kernels.learn_given} if kernels.learn_given else {})
        self.learn_given = specialise(loop.learn_labeled, learning | given)
        self.predict_block = specialise(loop.predict_block, predicting)
        self._asking = asking
        self._rules, self._n_classes = rules, n_classes
        self._update_kernels, self._probability = kernels, rules.query.probability
        self._references: list[Reference | FunctionParts] = []
        if not all(map(is_ours, asking.values())):
            self._references = references(loop.play, asking)
            self.play, self.learn_labeled, self.learn_given, self.predict_block = (
                explain_failures(f, self._names)
                for f in (self.play, self.learn_labeled, self.learn_given, self.predict_block)
            )
        query = rules.query.parameters(rules.update)
        self.parameters = Parameters(
            rules.update.parameters_for(classes),
            query,
            query[:scales].copy(),
            rules.budget.parameters(),
            rules.budget.class_ceilings(classes),
            max(float(rules.explore), rules.update.least_explore(rules.budget)),
        )
        self.update, self.budget = rules.update, rules.budget
        self.constraints_key = rules.budget.constraints_key()
        self.preparation = Preparation(rules.normalize == "l2", n_features if rules.intercept else -1)
        self.weighted = bool(rules.update.weighted)
        self.probabilistic = rules.update.probabilistic

    @property
    def _names(self) -> str:
        rules = self._rules
        return ", ".join(type(part).__name__ for part in (rules.update, rules.query, rules.budget))

    @cached_property
    def score_block(self) -> Kernel:
        """Scores events side by side."""
        return self._explain(specialise(loop.score_block, self._asking))

    @cached_property
    def play_scored(self) -> Kernel:
        """``play``, for events that were scored."""
        recalling = {loop.predict_event: loop.recall_prediction, loop.score_event: loop.recall_score}
        return self._explain(specialise(loop.play, self._asking | recalling))

    @cached_property
    def play_group(self) -> Kernel:
        """``play``, for events that are decided on together."""
        return self._explain(specialise(group.play_group, self._asking))

    def _explain(self, function: Kernel) -> Kernel:
        return explain_failures(function, self._names) if self._references else function

    @property
    def scores_in_order(self) -> bool:
        """Whether to score an event moves what the next one is scored by, so that none can be scored side by side."""
        return bool(self.update.watches_events and (self.keeps_variance or self._update_kernels.watch is not None))

    def remember_source(self, settings: RuleSettings) -> None:
        """Keep the parameters that this learner was compiled from: by identity and, for rules, by value."""
        self._settings = settings
        self._values = [copy.deepcopy(vars(part)) for part in settings.rules]

    def is_made_from(self, settings: RuleSettings) -> bool:
        """Whether no part was replaced, and no parameter of a rule set, since then. Fast: it is called per event."""
        for old, new in zip(self._settings, settings, strict=True):
            if old is not new:
                return False
        values = iter(self._values)
        if not all(vars(part) == next(values) for part in settings.rules):
            return False
        return not self._references or self._is_current()

    def _is_current(self) -> bool:
        """Whether a user's kernels, and what they refer to, are still those that were compiled: they may be edited."""
        update, query = self._rules.update, self._rules.query
        is_same = update.kernels(self._n_classes) == self._update_kernels and query.probability == self._probability
        return is_same and not any(reference.is_stale for reference in self._references)
