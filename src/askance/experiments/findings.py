"""What a comparison found, in a few sentences of HTML that follow from the numbers."""

from __future__ import annotations

from html import escape

from askance.experiments.curves import name_of, number, styles, target_name
from askance.experiments.results import LOWER_IS_BETTER, Results
from askance.experiments.statistics import LEVEL, Line, lines, p_value

WORTH_SAYING = 1.2
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
    parts = [f"<b>{escape(name)}</b> at {_listed([target_name(results, t) for t in at])}" for name, at in ordered]
    return f"Best {name_of(metric)}: {'; '.join(parts)}{_rivals(results, contest)}."


def _rivals(results: Results, contest: list[Line]) -> str:
    """Where somebody else is not significantly worse than the best."""
    close = sorted({line.target for line in contest if line.is_as_good and not line.is_best})
    if not close:
        return ""
    everywhere = len(close) == len({line.target for line in contest})
    at = "anywhere" if everywhere else f"at {_listed([target_name(results, target) for target in close])}"
    return f" (not significantly better than all others {at})"


def _of_all_labels(metric: str, best: dict[float, Line], passive: Line) -> str:
    """The cheapest target that comes within 5 % of every label."""
    full = passive.mean
    for target in sorted(best):
        line = best[target]
        is_near = line.mean <= full / 0.95 if metric in LOWER_IS_BETTER else line.mean >= 0.95 * full
        if is_near:
            said = "equals or beats" if _beats(line.mean, full, metric) else "comes within 5 % of"
            return (
                f"With {100 * line.ratio:.2g} % of the labels ({line.labels:,.0f}), {named(line)} {said} "
                f"{named(passive)} with all of them: {number(line.mean)}, against {number(full)}."
            )
    most = best[max(best)]
    return (
        f"All labels would give {number(full)} ({named(passive)}); {100 * most.ratio:.2g} % of them give "
        f"{number(most.mean)}."
    )


def _saving(results: Results, metric: str, contest: list[Line], best: dict[float, Line]) -> str:
    """How many labels asking at random needs until it is not significantly worse than the best with few."""
    dashed = {candidate for candidate, style in styles(results).items() if style.is_dashed}
    random = sorted((line for line in contest if line.candidate in dashed), key=lambda line: line.labels)
    if not random or random[0].plays < 2:  # one permutation says nothing of chance
        return ""
    for target in sorted(best):
        winner = best[target]
        if winner.candidate in dashed:
            continue
        gets = f"Choosing pays: {named(winner)} gets {number(winner.mean)} from {winner.labels:,.0f} labels"
        enough = [line for line in random if not _is_worse(results, metric, line, winner)]
        if enough:
            factor = enough[0].labels / winner.labels
            if factor < WORTH_SAYING:
                continue
            return (
                f"{gets}; labels bought at random come up to that only with {enough[0].labels:,.0f}, {factor:.2g} "
                f"times as many ({named(enough[0])}, {number(enough[0].mean)})."
            )
        if random[-1].labels > WORTH_SAYING * winner.labels:
            return f"{gets}; labels bought at random do not come up to that even with {random[-1].labels:,.0f}."
    return ""


def _is_worse(results: Results, metric: str, line: Line, other: Line) -> bool:
    """Whether a line is significantly worse than another, of any target: permutations are paired over targets, too."""
    if _beats(line.mean, other.mean, metric):
        return False
    own, others = (results.values(metric, one.candidate, one.target, one.dataset) for one in (line, other))
    p = p_value(own, others)
    return p is not None and p < LEVEL


def named(line: Line) -> str:
    """A name that is not broken at its hyphens."""
    return f"<i>{escape(line.candidate)}</i>"


def _beats(value: float, other: float, metric: str) -> bool:
    return value <= other if metric in LOWER_IS_BETTER else value >= other


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
