"""What plots and report show of results: a chart of a metric, and numbers and targets as people read them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from askance.compare.charts import Chart, Series, Style
from askance.compare.results import Results
from askance.compare.search import asks_at_random
from askance.compare.statistics import Line, Ranking, find_shared_places, lines, places_left_out
from askance.evaluate.metrics.format import in_digits
from askance.evaluate.metrics.register import metric_of


def styles(results: Results) -> dict[str, Style]:
    """The style of each candidate."""
    algorithm = {choice.candidate: choice.algorithm for choice in results.choices}
    return {
        candidate: Style(number, asks_at_random(algorithm[candidate]))
        for number, candidate in enumerate(results.candidates)
    }


def chart_of(
    results: Results, metric: str, dataset: str, x: str = "labels", ticks: Sequence[tuple[float, str, str]] = ()
) -> Chart | None:
    """A curve of the metric for each candidate, and a line for those that ask for every label; None without curves."""
    style = styles(results)
    by_candidate: dict[str, list[Line]] = {}
    references = []
    for line in lines(results, metric, dataset):
        if line.target in results.targets:
            by_candidate.setdefault(line.candidate, []).append(line)
        else:
            references.append((line.candidate, line.mean))
    if not by_candidate:
        return None
    for points in by_candidate.values():
        points.sort(key=lambda line: line.labels)
    series = tuple(
        Series(
            candidate,
            style[candidate],
            np.array([getattr(line, x) for line in points]),
            np.array([line.mean for line in points]),
            np.array([line.std for line in points]),
            np.array([line.reached for line in points]),
            tuple(
                f"{candidate}: {name_of(metric)} {mean_and_deviation(line)}, {line.labels:,.0f} labels"
                for line in points
            ),
        )
        for candidate, points in by_candidate.items()
    )
    limits = value_range(series, [value for _, value in references], metric)
    return Chart(f"{name_of(metric)} over labels bought", series, tuple(references), limits, ticks)


def value_range(series: Sequence[Series], references: Sequence[float], metric: str) -> tuple[float, float]:
    """The range of the vertical axis: all values and all bands, within what the metric can be."""
    bands = [one.spread * one.on for one in series]  # hollow points have no band
    edges = [one.values + side * band for one, band in zip(series, bands, strict=True) for side in (-1.0, 1.0)]
    everything = np.concatenate([*edges, references])
    low, high = float(everything.min()), float(everything.max())
    room = max(high - low, 1e-3 * max(1.0, abs(high)))
    low, high = low - 0.04 * room, high + 0.04 * room
    known = metric_of(metric)
    return max(known.smallest, low), min(high, known.largest + 0.02 * room)


def name_of(metric: str) -> str:
    """A metric as people write it."""
    return metric_of(metric).title


def target_name(results: Results, target: float) -> str:
    """A target in words: 5 %, 500 labels, all labels."""
    kind = results.settings["kind"]
    if target not in results.targets:
        return "all labels"
    if kind == "ratio":
        return f"{100 * target:.3g} %"
    return f"{target:,.0f} labels" if kind == "budget" else f"scale {target:g}"


def mean_ranks_left_out(results: Results, rankings: Sequence[Ranking]) -> str:
    """What mean ranks do not go over, in a sentence; empty where they go over everything."""
    several = len(results.datasets) > 1

    def place_name(place: tuple[str, float]) -> str:
        return f"{place[0]} at {target_name(results, place[1])}" if several else target_name(results, place[1])

    left_out = places_left_out(rankings)
    nowhere = [row.candidate for row in rankings if not row.by_cell]
    parts = [f"{place_name(place)} (not reached by {', '.join(names)})" for place, names in left_out.items()]
    sentences = []
    if left_out and find_shared_places(rankings):
        sentences.append(f"Mean ranks leave out {'; '.join(parts)}.")
    elif left_out:
        sentences.append(f"There are no mean ranks, since nothing was reached by all: {'; '.join(parts)}.")
    if nowhere:
        sentences.append(f"Not ranked, since nothing was reached: {', '.join(nowhere)}.")
    return " ".join(sentences)


def mean_and_deviation(line: Line) -> str:
    """A mean with its standard deviation, if there is more than one play to have one."""
    deviation = f"{line.std:.3f}" if abs(line.mean) < 10 else f"{line.std:,.0f}"
    return f"{in_digits(line.mean)} ± {deviation}" if line.plays > 1 else in_digits(line.mean)
