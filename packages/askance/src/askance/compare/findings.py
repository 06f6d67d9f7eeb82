"""What a comparison found, in a few sentences of HTML that follow from the numbers."""

from __future__ import annotations

import dataclasses
from html import escape

from askance.compare.curves import name_of, target_name
from askance.compare.random_baseline import is_committee, preset_of, random_baseline_of
from askance.compare.results import Results, TunedSetting
from askance.compare.statistics import LEVEL, Line, holm, lines, p_value
from askance.evaluate.metrics.format import in_digits, in_percent
from askance.evaluate.metrics.objectives import describe_objectives, objective_for
from askance.evaluate.metrics.register import Weights, metric_of

MIN_DIFFERENCE = 1.2
"""So many times as many labels are about as many."""


def findings(results: Results, dataset: str, metric: str | None = None) -> list[str]:
    """At most three sentences: who is best, how near that is to all labels, and what choosing is worth. Before them,
    where ``auto`` takes part, whether it optimizes the metric.

    By the metric that parameters were chosen by, unless another is given.
    """
    metric = metric or results.about(dataset)["metric"]
    return [*map(escape, _objectives(results, dataset, metric)), *_verdicts(results, dataset, metric)]


def _objectives(results: Results, dataset: str, metric: str) -> list[str]:
    """Whether the metric is what ``auto`` and its random baseline optimize."""
    about = results.about(dataset)
    classes, weights = about.get("classes", []), Weights(about.get("alpha_p", 0.5), about.get("c_p", 0.9))
    positive = classes.index(about["positive"]) if about.get("positive") is not None else None
    played = [choice for choice in results.choices if choice.dataset == dataset and is_committee(choice.algorithm)]
    wanted = objective_for(metric, positive, len(classes), weights)
    return describe_objectives(metric, wanted, {choice.candidate: choice.parameters for choice in played})


def _verdicts(results: Results, dataset: str, metric: str) -> list[str]:
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
        return f"<b>{escape(line.candidate)}</b> reaches {name_of(metric)} {in_digits(line.mean)}."
    if len(winners) == 1 and len(best) > 1:
        name = escape(next(iter(winners)))
        return f"<b>{name}</b> has the best {name_of(metric)} at every number of labels{_rivals(results, contest)}."
    ordered = sorted(winners.items(), key=lambda item: item[1][0])
    parts = [f"<b>{escape(name)}</b> at {_join_words([target_name(results, t) for t in at])}" for name, at in ordered]
    return f"Best {name_of(metric)}: {'; '.join(parts)}{_rivals(results, contest)}."


def _rivals(results: Results, contest: list[Line]) -> str:
    """Where the best is not significantly different from some other."""
    close = sorted({line.target for line in contest if line.is_as_good and not line.is_best})
    if not close:
        return ""
    everywhere = len(close) == len({line.target for line in contest})
    at = "everywhere" if everywhere else f"at {_join_words([target_name(results, target) for target in close])}"
    return f" (not significantly different from at least one other {at})"


def _of_all_labels(metric: str, best: dict[float, Line], passive: Line) -> str:
    """The cheapest target that comes within 5 % of every label."""
    full = passive.mean
    for target in sorted(best):
        line = best[target]
        is_near = _beats(line.mean, full - 0.05 * metric_of(metric).sign * abs(full), metric)
        if is_near:
            verdict = "equals or beats" if _beats(line.mean, full, metric) else "comes within 5 % of"
            return (
                f"With {in_percent(line.ratio)} % of the labels ({line.labels:,.0f}), {describe(line)} {verdict} "
                f"{describe(passive)} with all of them: {in_digits(line.mean)}, against {in_digits(full)}."
            )
    most = best[max(best)]
    return (
        f"All labels would give {in_digits(full)} ({describe(passive)}); {in_percent(most.ratio)} % of them give "
        f"{in_digits(most.mean)}."
    )


def _saving(results: Results, metric: str, contest: list[Line], best: dict[float, Line]) -> str:
    """What the best one's random baseline reaches with as many labels and with more.

    Nothing is said of a winner whose random baseline did not run, for with another one the learners would be compared,
    nor unless the baseline with as many labels is significantly worse. The first of several targets where it is is told
    of, so the tests at all of them count in the correction.
    """
    baselines = {}
    for winner in (best[target] for target in sorted(best)):
        random = [line for line in contest if _is_random_baseline(_choice(results, line), _choice(results, winner))]
        random = sorted((line for line in random if line.mean == line.mean), key=lambda line: line.labels)
        as_many = next((line for line in random if line.labels * MIN_DIFFERENCE > winner.labels), None)
        if as_many is not None and winner.plays > 1:  # one permutation says nothing of chance
            baselines[winner] = as_many, [line for line in random if line.candidate == as_many.candidate]
    worse = _significantly_worse(results, metric, [(as_many, winner) for winner, (as_many, _) in baselines.items()])
    for winner, (as_many, random) in baselines.items():
        enough = next((line for line in random if _reaches(line, winner, metric)), None)
        if (as_many, winner) not in worse or (enough is not None and enough.labels <= as_many.labels):
            continue
        value = in_digits(winner.mean)
        begins = (
            f"Choosing pays: {describe(winner)} reaches {value} with {winner.labels:,.0f} labels. Its random baseline "
            f"{describe(as_many)} is significantly worse with {as_many.labels:,.0f} ({in_digits(as_many.mean)}) and"
        )
        if enough is not None:
            return (
                f"{begins} reaches {value} or better with {enough.labels:,.0f} ({in_digits(enough.mean)}), the "
                "smallest number compared that does."
            )
        nearest = max(random, key=lambda line: metric_of(metric).sign * line.mean)
        p = _p_value(results, metric, nearest, winner)
        chance = " (not significantly different)" if p is not None and p >= LEVEL else ""
        return (
            f"{begins} does not reach {value} within the label counts compared: its best is {in_digits(nearest.mean)} "
            f"with {nearest.labels:,.0f}{chance}."
        )
    return ""


def _reaches(line: Line, other: Line, metric: str) -> bool:
    """Whether a value is as good as another one, as both are shown."""
    return in_digits(line.mean) == in_digits(other.mean) or _beats(line.mean, other.mean, metric)


def _choice(results: Results, line: Line) -> TunedSetting:
    choice = results.choice(line.candidate, line.target, line.dataset)
    assert choice is not None
    return choice


def _is_random_baseline(choice: TunedSetting, other: TunedSetting) -> bool:
    """Whether one learns as the other does and asks at random: each with its best parameters, or both with the same."""
    if choice.algorithm != random_baseline_of(other.algorithm):
        return False
    letters = {field.name for field in dataclasses.fields(preset_of(other.algorithm).update)}
    own, others = ({name: value for name, value in c.parameters.items() if name in letters} for c in (choice, other))
    are_chosen = choice.points > 1 and other.points > 1
    return own == others or (are_chosen and own.get("objective") == others.get("objective"))


def _significantly_worse(results: Results, metric: str, pairs: list[tuple[Line, Line]]) -> set[tuple[Line, Line]]:
    """The pairs whose first line is significantly worse than the second, corrected for the number of pairs."""
    found = []
    for line, other in pairs:
        p = None if _beats(line.mean, other.mean, metric) else _p_value(results, metric, line, other)
        found.append(1.0 if p is None else p)
    return {pair for pair, p in zip(pairs, holm(found), strict=True) if p < LEVEL}


def _p_value(results: Results, metric: str, *pair: Line) -> float | None:
    """Of the paired t-test of two lines; they may be of different targets, over which permutations are paired, too."""
    return p_value(*(results.values(metric, line.candidate, line.target, line.dataset) for line in pair))


def describe(line: Line) -> str:
    """A name that is not broken at its hyphens."""
    return f"<i>{escape(line.candidate)}</i>"


def _beats(value: float, other: float, metric: str) -> bool:
    return value <= other if metric_of(metric).lower_is_better else value >= other


def _join_words(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
