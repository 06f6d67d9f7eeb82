"""What every update rule must do."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from askance.learner.query import Margin, Variance
from askance.learner.rule import QueryRule, UpdateRule
from askance.testing.contract import (
    REPLAYS,
    ReplayCase,
    are_equal,
    check_parameters,
    expect,
    instance_of,
    run_checks,
    saved_arrays,
)

BETTER_THAN_CHANCE = 0.15
"""How much better than a guess a rule must be on a stream that a linear model learns without a mistake."""


def check_update_rule(rule: Any, query: QueryRule | None = None) -> None:
    """Raise ``BrokenContract``, with a sentence for each fault, unless an update rule does what every one must.

    What is checked: its parameters refuse what is no number; predicting changes nothing; learning makes it better,
    reads and writes the event's features alone (unless ``is_local`` is False) and stays finite; variances are no less
    than 0; answers count with their weight, if it has a field ``weighted``; more features change no prediction; and the
    stream gives the same bits dense and sparse, at once, in chunks and by ``ask`` and ``tell``, and across a saved
    file. If it has a multi-class form, that, too.

    Parameters
    ----------
    rule : UpdateRule, or a class of one
        The rule with the parameters to check it with; a class is checked with its defaults.
    query : QueryRule, optional
        What decides about asking meanwhile; by default a rule that reads the variance, if there is one.

    Examples
    --------
    >>> from askance.testing import check_update_rule
    >>> from askance.updates import PassiveAggressive1
    >>> check_update_rule(PassiveAggressive1(C=0.5))
    """
    rule = instance_of(rule, UpdateRule)
    name = type(rule).__name__
    chosen = query or (Variance(delta=0.3, eta=1.0, gamma=1.0) if rule.provides_variance else Margin(delta=0.3))
    chosen.check_fits(rule)
    sizes = (2, 3) if rule.multiclass is not None else (2,)
    cases = [ReplayCase(rule, chosen, n_classes, name) for n_classes in sizes]
    run_checks(name, [(check_parameters, rule), *((check, case) for case in cases for check in (*CHECKS, *REPLAYS))])


def train(case: ReplayCase, **options: Any) -> Any:
    """A classifier that has learned half of the events."""
    X, y = case.events()
    return case.fresh(**options).partial_fit(X[::2], y[::2])


def learns_from_seeing(case: ReplayCase) -> bool:
    """Whether an event of the stream may change the model without its label."""
    return case.update.watches_events or case.update.kernels(case.n_classes).observe is not None


def check_predicting_changes_nothing(case: ReplayCase) -> None:
    """Neither the margin kernel nor the score kernel writes to the model."""
    X, _ = case.events()
    clf = train(case)
    before = saved_arrays(clf)
    predicted = clf.decision_function(X)
    if not learns_from_seeing(case):
        for x in X[:20]:
            clf.ask(x)
    expect(
        are_equal([*before, predicted], [*saved_arrays(clf), clf.decision_function(X)]),
        f"{case.name}: predicting changed the model; margin and score kernels may write to state.scores, "
        "state.variances and state.work only, everything else belongs into learn.",
    )


def check_scores_agree(case: ReplayCase) -> None:
    """The kernel with the variance predicts what the one without does; a variance is finite and no less than 0."""
    if learns_from_seeing(case):
        return
    X, _ = case.events()
    clf = train(case)
    predicted = clf.run(X, [None] * len(X))  # without labels, the margin kernel alone is used
    asked = [clf.ask(x) for x in X]
    expect(
        [decision.label for decision in asked] == predicted.predicted.tolist()
        and np.allclose(
            [decision.margin for decision in asked], predicted.margin, rtol=1e-12, atol=1e-12, equal_nan=True
        ),
        f"{case.name}: asking and predicting give different predictions or margins for the same event; let score and "
        "score_and_length return what margin returns, and add the variance.",
    )
    clf = case.fresh()
    variances = clf.run(*case.events()).variance
    expect(
        np.isfinite(variances).all() and (variances >= 0.0).all(),
        f"{case.name}: a variance was below 0 or not finite; a step must not take more from a variance than there is.",
    )


def check_it_learns(case: ReplayCase) -> None:
    """After three passes over an easy stream, predictions are clearly better than a guess."""
    X, y = case.events()
    clf = case.fresh()
    for _ in range(3):
        clf.partial_fit(X, y)
    right = float(np.mean(clf.predict(X) == y))
    needed = 1.0 / case.n_classes + BETTER_THAN_CHANCE
    expect(
        right >= needed,
        f"{case.name}: after three passes over an easy stream {right:.0%} of its predictions were right, where a guess "
        f"gives {1 / case.n_classes:.0%}; learn must move the weights towards the answer: sign(answer) is -1 for class "
        "0 and +1 for class 1.",
    )


def check_it_touches_the_event_alone(case: ReplayCase) -> None:
    """Learning neither reads nor writes the numbers of features that the event does not have."""
    if not case.update.is_local:
        return
    X, _ = case.events()
    x = X[np.argmax((X == 0.0).any(axis=1) & (np.count_nonzero(X, axis=1) > 2))]
    others = np.flatnonzero(x == 0.0)
    for answer in range(case.n_classes):
        plain, poisoned = train(case), train(case)
        before = plain._engine.state.table[others].copy()
        poisoned._engine.state.table[others] = np.nan
        plain.tell(x, answer)
        expect(
            are_equal([plain._engine.state.table[others]], [before]),
            f"{case.name}: learning changed numbers of features that the event does not have; write to "
            "state.table[event.columns[i], ...] only, or say is_local: ClassVar = False.",
        )
        poisoned.tell(x, answer)
        poisoned._engine.state.table[others] = before
        expect(
            are_equal(saved_arrays(plain), saved_arrays(poisoned)),
            f"{case.name}: learning read numbers of features that the event does not have, so that its cost grows with "
            "the model; read state.table[event.columns[i], ...] only, or say is_local: ClassVar = False.",
        )


def check_it_stays_finite(case: ReplayCase) -> None:
    """Large and small features, right and contradictory labels leave finite margins and weights."""
    X, y = case.events()
    for scale in (1e-6, 1e6):
        clf = case.fresh().partial_fit(scale * np.vstack([X, X]), np.concatenate([y, (y + 1) % case.n_classes]))
        expect(
            np.isfinite(clf.decision_function(scale * X)).all()
            and all(np.isfinite(array).all() for array in saved_arrays(clf)),
            f"{case.name}: with features of size {scale:g} a margin or a weight was no longer finite; divide a step by "
            "squared_norm(event), cap it, or limit what goes into exp.",
        )


def check_weights_count(case: ReplayCase) -> None:
    """A rule with a field ``weighted`` takes a share of its step for a weight below 1, and no shortcut above 1."""
    if "weighted" not in case.update.get_params():
        return
    X, y = case.events()
    rule = copy.deepcopy(case.update).set_params(weighted=True)
    clfs = {weight: train(case, update=rule) for weight in (0.001, 1.0)}
    moved = {}
    for weight, clf in clfs.items():
        before = clf._engine.state.table[:, 0].copy()
        for x, answer in zip(X[1::2], y[1::2], strict=True):
            clf.tell(x, (answer + 1) % case.n_classes, weight=weight)
        moved[weight] = float(np.abs(clf._engine.state.table[:, 0] - before).sum())
    expect(
        moved[0.001] < moved[1.0],
        f"{case.name}: an answer of weight 0.001 moved the model as far as one of weight 1; multiply the step by "
        "weight, or leave the field weighted out.",
    )
    if rule.takes_weights or rule.kernels(case.n_classes).forget is not None:
        return
    once, thrice = train(case, update=rule), train(case, update=rule)
    for x, answer in zip(X[1:40:2], y[1:40:2], strict=True):
        once.tell(x, answer, weight=3.0)
        for _ in range(3):
            thrice.tell(x, answer)
    expect(
        all(
            np.allclose(a, b, atol=1e-9, equal_nan=True)
            for a, b in zip(saved_arrays(once), saved_arrays(thrice), strict=True)
        ),
        f"{case.name}: an answer of weight 3 taught something else than the same answer three times; an update that "
        "changes no score changes something else, so say is_idempotent: ClassVar = False.",
    )


def check_more_features_change_nothing(case: ReplayCase) -> None:
    """A model that is widened predicts what it predicted before."""
    X, _ = case.events()
    clf = train(case)
    before = clf.decision_function(X)
    clf.widen(X.shape[1] + 3)
    after = clf.decision_function(np.pad(X, [(0, 0), (0, 3)]))
    expect(
        are_equal([before], [after]),
        f"{case.name}: widening the model changed its predictions; what is kept per feature belongs into state.table, "
        "as start_values() declares it, or widen must be overridden.",
    )


CHECKS = (
    check_predicting_changes_nothing,
    check_scores_agree,
    check_it_learns,
    check_it_touches_the_event_alone,
    check_it_stays_finite,
    check_weights_count,
    check_more_features_change_nothing,
)
