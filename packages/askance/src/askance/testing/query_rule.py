"""What every query rule must do."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from askance.learner.rule import QueryRule, UpdateRule, reads_parameter
from askance.learner.state import Tally
from askance.learner.update import AsymmetricAdaptiveDiagonal, PassiveAggressive1
from askance.testing.contract import REPLAYS, ReplayCase, check_parameters, expect, instance_of, run_checks

MARGINS = (0.0, 1e-12, 0.01, 0.5, 1.0, 3.0, 1e3, 1e9)
VARIANCES = (0.0, 1e-9, 0.3, 1.0, 1e6)
LENGTHS = (1e-9, 0.5, 1.0, 40.0, 1e6)
TALLIES = (Tally(1, 0, 0), Tally(1000, 40, 7), Tally(10**9, 10**8, 10**7))


class QueryCase(ReplayCase):
    """A query rule with an update rule that provides what it reads."""

    def arguments(self) -> Iterator[tuple[float, float, float, Tally]]:
        """What the kernel may be given. What it does not read comes as 0."""
        variances = VARIANCES if self.query.reads_variance else (0.0,)
        lengths = LENGTHS if self.query.reads_length else (0.0,)
        margins = (sign * margin for margin in MARGINS for sign in (1.0, -1.0))
        yield from itertools.product(margins, variances, lengths, TALLIES)

    def probability(self, arguments: tuple[float, float, float, Tally], scale: float = 1.0) -> float:
        """The kernel's number, as plain Python; ``scale`` multiplies what the rule calls its scales."""
        parameters = self.query.parameters(self.update)
        parameters[: self.query.own_scales()] *= scale
        given = parameters.copy()
        with np.errstate(all="ignore"):  # compiled code does not warn either
            chance = self.query.probability(parameters, *arguments)
        expect(
            np.array_equal(parameters, given),
            f"{self.name}: its kernel wrote to parameters, which belong to the rule; compute with local names.",
        )
        return float(chance)


def check_query_rule(rule: Any, update: UpdateRule | None = None) -> None:
    """Raise ``BrokenContract``, with a sentence for each fault, unless a query rule does what every one must.

    What is checked: its parameters refuse what is no number; its kernel returns a number in [0, 1] for any margin,
    variance, length and tally, the same each time, and writes nothing; it reads what it declares, and declares what it
    reads; its ``scales`` multiply the odds of asking; the stream is asked with just that probability, which is the
    importance an answer gets; and it gives the same bits dense and sparse, at once, in chunks and by ``ask`` and
    ``tell``, and across a saved file.

    Parameters
    ----------
    rule : QueryRule, or a class of one
        The rule with the parameters to check it with; a class is checked with its defaults.
    update : UpdateRule, optional
        The update rule that learns meanwhile; by default one with what the query rule reads.

    Examples
    --------
    >>> from askance.queries import Entropy
    >>> from askance.testing import check_query_rule
    >>> check_query_rule(Entropy(epsilon=0.05))
    """
    rule = instance_of(rule, QueryRule)
    learner = update or (AsymmetricAdaptiveDiagonal() if rule.reads_variance else PassiveAggressive1())
    run_checks(type(rule).__name__, [(rule.check_fits, learner)])
    case = QueryCase(learner, rule, 2, type(rule).__name__)
    run_checks(case.name, [(check_parameters, rule), *((check, case) for check in (*CHECKS, *REPLAYS))])


def check_it_is_a_probability(case: QueryCase) -> None:
    """A number in [0, 1] for any arguments, the same for the same."""
    for arguments in case.arguments():
        margin, variance, length, tally = arguments
        where = f"margin={margin:g}, variance={variance:g}, squared_length={length:g}, tally.seen={tally.seen}"
        try:
            chance, again = case.probability(arguments), case.probability(arguments)
        except (ArithmeticError, ValueError) as error:
            expect(False, f"{case.name}: its kernel failed for {where} ({error}); guard the division, root or power.")
        expect(
            0.0 <= chance <= 1.0,
            f"{case.name}: the probability is {chance} for {where}; it must be in [0, 1] (min(1.0, ...) cuts it off).",
        )
        expect(
            chance == again,
            f"{case.name}: the probability was {chance} and then {again} for {where}; a kernel must depend on its "
            "arguments alone, and draw no random numbers: the loop does.",
        )


def check_it_declares_what_it_reads(case: QueryCase) -> None:
    """What a rule says it reads, it reads."""
    for place, name in ((2, "variance"), (3, "length")):
        expect(
            reads_parameter(case.query.probability.__code__, place) or not getattr(case.query, f"reads_{name}"),
            f"{case.name}: it says reads_{name} = True, but its kernel does not; leave it out, for it costs time"
            + (" and shuts out update rules without a variance." if name == "variance" else "."),
        )


def check_scales_multiply_the_odds(case: QueryCase) -> None:
    """With its scales multiplied by s, the odds of asking are multiplied by s: what a rate relies on."""
    n_scales = case.query.own_scales()
    for arguments in case.arguments() if n_scales else ():
        chance, scaled = case.probability(arguments), case.probability(arguments, scale=0.5)
        if 1e-6 < chance < 1.0 - 1e-6:  # nearer to 0 or 1, rounding would decide
            odds, halved = chance / (1.0 - chance), scaled / (1.0 - scaled)
            expect(
                math.isclose(halved, 0.5 * odds, rel_tol=1e-6),
                f"{case.name}: with half its scale the odds of asking became {halved / odds:.3g} of what they were, at "
                f"margin={arguments[0]:g}; scales = {n_scales} is for scale / (scale + distance), leave it out.",
            )


def check_events_are_asked_with_it(case: QueryCase) -> None:
    """The compiled loop asks with the kernel's probability, and an answer's importance is one over it."""
    X, y = case.events()
    trace = case.fresh().run(X, y)
    mistakes = np.cumsum(trace.asked & (np.asarray(trace.predicted) != y))
    asked = np.cumsum(trace.asked)
    variances = trace.variance if case.query.reads_variance else np.zeros(len(y))
    for t in np.flatnonzero(X.any(axis=1)):
        tally = Tally(int(t) + 1, int(asked[t - 1]) if t else 0, int(mistakes[t - 1]) if t else 0)
        length = float(X[t] @ X[t]) if case.query.reads_length else 0.0
        chance = min(1.0, max(0.0, case.probability((float(trace.margin[t]), float(variances[t]), length, tally))))
        expect(
            math.isclose(chance, float(trace.probability[t]), rel_tol=1e-9, abs_tol=1e-300),
            f"{case.name}: compiled, the probability of event {t} is {trace.probability[t]}, and as plain Python "
            f"{chance}; use functions of math and plain arithmetic, and no global that changes.",
        )
    uniforms = np.random.default_rng(1).random(len(y))
    expect(
        np.array_equal(trace.asked, uniforms < trace.probability),
        f"{case.name}: events were not asked with the probability that is recorded; the loop alone may draw.",
    )
    decision = next((d for d in map(case.fresh().ask, X) if d.asked), None)
    expect(
        decision is None or decision.weight == 1.0 / decision.probability,
        f"{case.name}: an answer's weight is not one over its probability.",
    )


CHECKS = (
    check_it_is_a_probability,
    check_it_declares_what_it_reads,
    check_scales_multiply_the_odds,
    check_events_are_asked_with_it,
)
