"""What plots and report draw: a curve per candidate, lines for those that ask for every label, and their styles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from askance.compare.results import Results
from askance.compare.search import asks_at_random
from askance.compare.statistics import Line, Ranking, find_shared_places, lines, places_left_out
from askance.evaluate.metrics.format import in_digits
from askance.evaluate.metrics.register import metric_of

LIGHT = ("#0072B2", "#D55E00", "#009E73", "#A6507E", "#B87A00", "#2E95CE", "#6B6B6B", "#7D7A00", "#8A1C2B", "#4B3F9E")
DARK = ("#57B0E8", "#FF8F50", "#2FC79A", "#E79CC6", "#F0B445", "#9AD4F5", "#BDBDBD", "#CFCB4B", "#FF9AA2", "#B3A8FF")
"""Colours after Okabe and Ito, which colour-blind eyes tell apart, darker or lighter by the ground they stand on."""
MARKERS = ("circle", "square", "triangle", "diamond", "down", "cross", "plus")


@dataclass(frozen=True)
class Style:
    """How a candidate looks, everywhere the same."""

    number: int
    is_dashed: bool
    """Dashed: asks at random."""

    @property
    def colour(self) -> int:
        """Its place among the colours."""
        return self.number % len(LIGHT)

    @property
    def marker(self) -> str:
        """Its marker, which together with the colour tells 70 candidates apart."""
        return MARKERS[self.number % len(MARKERS)]


@dataclass(frozen=True)
class CandidateCurve:
    """One candidate's metric over the labels it bought, by ascending label count."""

    candidate: str
    style: Style
    points: tuple[Line, ...]


def styles(results: Results) -> dict[str, Style]:
    """The style of each candidate."""
    algorithm = {choice.candidate: choice.algorithm for choice in results.choices}
    return {
        candidate: Style(number, asks_at_random(algorithm[candidate]))
        for number, candidate in enumerate(results.candidates)
    }


def curves(results: Results, metric: str, dataset: str | None = None) -> tuple[list[CandidateCurve], list[Line]]:
    """The curves of a metric, and the lines of candidates that ask for every label."""
    style, references = styles(results), []
    by_candidate: dict[str, list[Line]] = {}
    for line in lines(results, metric, dataset):
        if line.target in results.targets:
            by_candidate.setdefault(line.candidate, []).append(line)
        else:
            references.append(line)
    drawn = [
        CandidateCurve(candidate, style[candidate], tuple(sorted(points, key=lambda line: line.labels)))
        for candidate, points in by_candidate.items()
    ]
    return drawn, references


def value_range(drawn: list[CandidateCurve], references: list[Line], metric: str) -> tuple[float, float]:
    """The range of the vertical axis: all means and all bands, within what the metric can be."""
    points = [line for curve in drawn for line in curve.points]
    means = [(line.mean, line.std if line.reached else 0.0) for line in points]  # hollow ones have no band
    means += [(line.mean, 0.0) for line in references]
    edges = np.array([[mean - std, mean + std] for mean, std in means])
    low, high = float(edges.min()), float(edges.max())
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
    return f"{number(line.mean)} ± {deviation}" if line.plays > 1 else number(line.mean)


def number(value: float) -> str:
    """A metric's value with as many digits as are worth reading."""
    return in_digits(value)


def separate_labels(places: list[float], least: float, low: float, high: float) -> list[float]:
    """Move labels apart, each as little as possible, so that neighbours are at least ``least`` apart within a range.

    >>> separate_labels([10.0, 11.0, 30.0], least=4.0, low=0.0, high=40.0)
    [8.5, 12.5, 30.0]
    """
    order = np.argsort(places, kind="stable")
    wished = np.asarray(places, dtype=float)[order] - least * np.arange(len(places))
    blocks: list[tuple[float, int]] = []  # isotonic regression: labels that would touch move as one
    for place in wished:
        blocks.append((float(place), 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (mean, size), (last, more) = blocks[-2:]
            blocks[-2:] = [((mean * size + last * more) / (size + more), size + more)]
    moved = np.repeat([mean for mean, _ in blocks], [size for _, size in blocks])
    moved = np.clip(moved, low, max(low, high - least * (len(places) - 1))) + least * np.arange(len(places))
    result = np.empty(len(places))
    result[order] = moved
    return [float(place) for place in result]
