"""What a comparison found, in a few sentences of HTML that follow from the numbers."""

from __future__ import annotations

import dataclasses
from html import escape

from askance.experiments.curves import name_of, number, target_name
from askance.experiments.results import Results, TunedSetting
from askance.experiments.statistics import LEVEL, Line, holm, lines, p_value
from askance.experiments.twins import preset_of, twin_of
from askance.metrics.register import metric_of

MIN_DIFFERENCE = 1.2
"""Fewer labels than so many times as many are not called a saving."""


def findings(results: Results, dataset: str, metric: str | None = None) -> list[str]:
    """At most three sentences: who is best, how near that is to all labels, and what choosing is worth.

    By the metric that parameters were chosen by, unless another is given.
    """
    metric = metric or results.about(dataset)["metric"]
    everything = lines(results, metric, dataset)
    contest = [line for line in everything if line.target in results.targets and line.reached]
    if not contest:
        return ["No algorithm could ask for as many labels as wanted."]
    best = {line.target: line for line in contest if line.is_best}
    if not best:
        return [f"No algorithm has a {name_of(metric)} in every permutation."]
    sentences = [_winner(results, metric, best, contest)]
    passive = [line for line in everything if line.target not in results.targets and line.is_best]
    if passive:
        sentences.append(_of_all_labels(metric, best, passive[0]))
    saving = _saving(results, metric, contest, best)
    if saving:
        sentences.append(saving)
    return [sentence for sentence in sentences if sentence]


def _winner(results: Results, metric: str, best: dict[float, Line], contest: list[Line]) -> str:
    winners: dict[str, list[float]] = {}
    for target, line in best.items():
        winners.setdefault(line.candidate, []).append(target)
    if len({line.candidate for line in contest}) == 1:
        line = next(iter(best.values()))
        return f"<b>{escape(line.candidate)}</b> reaches {name_of(metric)} {number(line.mean)}."
    if len(winners) == 1 and len(best) > 1:
        name = escape(next(iter(winners)))
        return f"<b>{name}</b> has the best {name_of(metric)} at every number of labels{_rivals(results, contest)}."
    ordered = sorted(winners.items(), key=lambda item: item[1][0])
    parts = [f"<b>{escape(name)}</b> at {_join_words([target_name(results, t) for t in at])}" for name, at in ordered]
    return f"Best {name_of(metric)}: {'; '.join(parts)}{_rivals(results, contest)}."


def _rivals(results: Results, contest: list[Line]) -> str:
    """Where somebody else is not significantly worse than the best."""
    close = sorted({line.target for line in contest if line.is_as_good and not line.is_best})
    if not close:
        return ""
    everywhere = len(close) == len({line.target for line in contest})
    at = "anywhere" if everywhere else f"at {_join_words([target_name(results, target) for target in close])}"
    return f" (not significantly better than all others {at})"


def _of_all_labels(metric: str, best: dict[float, Line], passive: Line) -> str:
    """The cheapest target that comes within 5 % of every label."""
    full = passive.mean
    for target in sorted(best):
        line = best[target]
        is_near = line.mean <= full / 0.95 if metric_of(metric).lower_is_better else line.mean >= 0.95 * full
        if is_near:
            verdict = "equals or beats" if _beats(line.mean, full, metric) else "comes within 5 % of"
            return (
                f"With {100 * line.ratio:.2g} % of the labels ({line.labels:,.0f}), {describe(line)} {verdict} "
                f"{describe(passive)} with all of them: {number(line.mean)}, against {number(full)}."
            )
    most = best[max(best)]
    return (
        f"All labels would give {number(full)} ({describe(passive)}); {100 * most.ratio:.2g} % of them give "
        f"{number(most.mean)}."
    )


def _saving(results: Results, metric: str, contest: list[Line], best: dict[float, Line]) -> str:
    """How many labels the best one's twin, which asks at random, needs until it is not significantly worse.

    Nothing is said of a winner whose twin did not play: beside another learner, the learners would be compared. The
    first of several targets with a saving is told of, so all tests at all of them count in the correction.
    """
    twins = {}
    for winner in (best[target] for target in sorted(best)):
        random = [line for line in contest if _is_twin(_choice(results, line), _choice(results, winner))]
        if random and winner.plays > 1:  # one permutation says nothing of chance
            twins[winner] = sorted(random, key=lambda line: line.labels)
    worse = _significantly_worse(results, metric, [(line, winner) for winner in twins for line in twins[winner]])
    for winner, random in twins.items():
        gets = f"Choosing pays: {describe(winner)} gets {number(winner.mean)} from {winner.labels:,.0f} labels"
        enough = [line for line in random if (line, winner) not in worse]
        if enough:
            if enough[0].labels / winner.labels < MIN_DIFFERENCE:
                continue
            fewer = [line for line in random if line.labels < enough[0].labels]
            without = f" not with {fewer[-1].labels:,.0f} ({number(fewer[-1].mean)}), but" if fewer else ""
            return (
                f"{gets}; the same learner asking at random ({describe(enough[0])}) comes up to that{without} with "
                f"{enough[0].labels:,.0f} ({number(enough[0].mean)}), the {'next' if fewer else 'smallest'} number "
                "played."
            )
        if random[-1].labels > MIN_DIFFERENCE * winner.labels:
            return (
                f"{gets}; the same learner asking at random ({describe(random[-1])}) does not come up to that even "
                f"with {random[-1].labels:,.0f}."
            )
    return ""


def _choice(results: Results, line: Line) -> TunedSetting:
    choice = results.choice(line.candidate, line.target, line.dataset)
    assert choice is not None
    return choice


def _is_twin(choice: TunedSetting, other: TunedSetting) -> bool:
    """Whether one learns as the other does and asks at random: each with its best parameters, or both with the same."""
    if choice.algorithm != twin_of(other.algorithm):
        return False
    letters = {field.name for field in dataclasses.fields(preset_of(other.algorithm).update)}
    own, others = ({name: value for name, value in c.parameters.items() if name in letters} for c in (choice, other))
    are_chosen = choice.points > 1 and other.points > 1
    return own == others or (are_chosen and own.get("objective") == others.get("objective"))


def _significantly_worse(results: Results, metric: str, pairs: list[tuple[Line, Line]]) -> set[tuple[Line, Line]]:
    """The pairs whose first line is significantly worse than the second, corrected for the number of pairs.

    They may be of different targets: permutations are paired over targets, too.
    """
    found = []
    for pair in pairs:
        own, others = (results.values(metric, line.candidate, line.target, line.dataset) for line in pair)
        p = None if _beats(pair[0].mean, pair[1].mean, metric) else p_value(own, others)
        found.append(1.0 if p is None else p)
    return {pair for pair, p in zip(pairs, holm(found), strict=True) if p < LEVEL}


def describe(line: Line) -> str:
    """A name that is not broken at its hyphens."""
    return f"<i>{escape(line.candidate)}</i>"


def _beats(value: float, other: float, metric: str) -> bool:
    return value <= other if metric_of(metric).lower_is_better else value >= other


def _join_words(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
