"""Charts as inline SVG, for the report: coloured by the page's style sheet, so that they follow light and dark.

Each chart is drawn for a given width, wide or as narrow as a phone, instead of being scaled: text keeps its size.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from askance.compare.curves import CandidateCurve, Style, mean_and_deviation, name_of, separate_labels, value_range
from askance.compare.statistics import Line

LETTER = 6.7
"""About how wide a letter of the charts' text is."""


def nice_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers inside a range, at most so many.

    >>> nice_ticks(0.07, 0.71, most=5)
    [0.2, 0.4, 0.6]
    """
    span = max(high - low, 1e-12)
    for exponent in range(math.floor(math.log10(span)) - 2, math.floor(math.log10(span)) + 2):
        for factor in (1.0, 2.0, 2.5, 5.0):
            step = factor * 10.0**exponent
            first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
            if last - first + 1 <= most:
                return [round(count * step, 10) for count in range(first, last + 1)]
    return []


def shape(style: Style, x: float, y: float, size: float = 4.6, hollow: bool = False) -> str:
    """A marker, drawn so that all have about the same weight."""
    paths = {
        "circle": _circle(size),
        "square": _polygon((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9), size=size),
        "triangle": _polygon((0.0, -1.2), (1.1, 0.85), (-1.1, 0.85), size=size),
        "down": _polygon((0.0, 1.2), (1.1, -0.85), (-1.1, -0.85), size=size),
        "diamond": _polygon((0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0), size=size),
        "plus": _cross(size, turned=False),
        "cross": _cross(size, turned=True),
    }
    kind = "hollow" if hollow else "mark"
    return f'<path class="{kind}" d="{paths[style.marker]}" transform="translate({x:.1f},{y:.1f})"/>'


def fit_text(name: str, width: float) -> str:
    """A name, cut off where it would take more than two fifths of a chart's width.

    >>> fit_text("PAA-I", 360), fit_text("OA3-diag:rho=imbalance,eta=1,gamma=1", 360)
    ('PAA-I', 'OA3-diag:rho=imbalan…')
    """
    most = int(0.4 * width / LETTER)
    return name if len(name) <= most else name[: most - 1] + "…"


def text(x: float, y: float, content: str, kind: str, anchor: str = "start") -> str:
    """Words at a place, vertically centred on it."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}">{escape(content)}</text>'


def rule(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def chart(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    """The whole, with a title for those who cannot see it."""
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    return f'<svg class="chart" {size} role="img"><title>{escape(title)}</title>{"".join(parts)}</svg>'


def _circle(size: float) -> str:
    half = f"a{size:.1f},{size:.1f} 0 1,0"
    return f"M{-size:.1f},0{half} {2 * size:.1f},0{half} {-2 * size:.1f},0z"


def _polygon(*corners: tuple[float, float], size: float) -> str:
    return "M" + "L".join(f"{size * x:.1f},{size * y:.1f}" for x, y in corners) + "z"


def _cross(size: float, turned: bool) -> str:
    arm, half = 1.15, 0.4
    corners = [
        (-half, -arm), (half, -arm), (half, -half), (arm, -half), (arm, half), (half, half),
        (half, arm), (-half, arm), (-half, half), (-arm, half), (-arm, -half), (-half, -half),
    ]  # fmt: skip
    if turned:
        corners = [((x - y) / math.sqrt(2), (x + y) / math.sqrt(2)) for x, y in corners]
    return _polygon(*corners, size=size)


@dataclass(frozen=True)
class Axis:
    """From values to places on the page."""

    low: float
    high: float
    start: float
    stop: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        low, high, value = (
            (math.log(self.low), math.log(self.high), math.log(max(value, 1e-12)))
            if self.is_log
            else (self.low, self.high, value)
        )
        return self.start + (value - low) / ((high - low) or 1.0) * (self.stop - self.start)

    def inside(self, value: float) -> float:
        """The place of a value, or of the nearest the range has."""
        return self(min(max(value, self.low), self.high))


# --- curves ----------------------------------------------------------------------------------------------


def curve_chart(
    drawn: Sequence[CandidateCurve],
    references: Sequence[Line],
    metric: str,
    ticks: Sequence[tuple[float, str, str]],
    *,
    width: int,
    height: int,
) -> str:
    """A metric over the labels bought: curves with bands, named at their right end.

    ``ticks`` are places on the horizontal axis, in labels, each with two lines of text.
    """
    candidates = [curve.candidate for curve in drawn] + [line.candidate for line in references]
    names = [fit_text(candidate, width) for candidate in candidates]
    right = 42 + LETTER * max((len(name) for name in names), default=0)
    top, bottom, left = 14, 44, 44
    low, high = value_range(list(drawn), list(references), metric)
    points = [line for curve in drawn for line in curve.points]
    places = [line.labels for line in points]
    is_log = min(places) > 0 and max(places) / max(min(places), 1e-9) >= 6.0
    pad = 1.08 if is_log else 1.0
    slack = 0.0 if is_log else 0.04 * (max(places) - min(places) or max(places))
    x = Axis(min(places) / pad - slack, max(places) * pad + slack, left, width - right, is_log)
    y = Axis(low, high, height - bottom, top)
    end = width - right
    parts = []
    for tick in nice_ticks(low, high, 6):
        parts += [rule(left, y(tick), end, y(tick), "grid"), text(left - 7, y(tick), _short(tick), "tick", "end")]
    for place, first, second in ticks:
        at = x.inside(place)
        parts.append(rule(at, top, at, height - bottom, "grid"))
        parts.append(text(at, height - bottom + 13, first, "tick strong", "middle"))
        parts.append(text(at, height - bottom + 28, second, "tick", "middle"))
    parts += [rule(left, y.inside(line.mean), end, y.inside(line.mean), "reference") for line in references]
    parts += [_curve(curve, x, y, metric) for curve in drawn]
    parts.append(_names(drawn, references, x, y, edge=end, width=width))
    return chart(width, height, f"{name_of(metric)} over labels bought", parts)


def _curve(curve: CandidateCurve, x: Axis, y: Axis, metric: str) -> str:
    on = [line for line in curve.points if line.reached]
    parts = [f'<g class="series s{curve.style.number} c{curve.style.colour}">']
    if len(on) > 1:
        upper = [f"{x(line.labels):.1f},{y.inside(line.mean + line.std):.1f}" for line in on]
        lower = [f"{x(line.labels):.1f},{y.inside(line.mean - line.std):.1f}" for line in reversed(on)]
        parts.append(f'<path class="band" d="M{"L".join(upper + lower)}z"/>')
        path = "L".join(f"{x(line.labels):.1f},{y.inside(line.mean):.1f}" for line in on)
        dashed = " dashed" if curve.style.is_dashed else ""
        parts.append(f'<path class="line{dashed}" d="M{path}"/>')
    for line in curve.points:
        tooltip = f"{curve.candidate}: {name_of(metric)} {mean_and_deviation(line)}, {line.labels:,.0f} labels"
        mark = shape(curve.style, x(line.labels), y.inside(line.mean), hollow=not line.reached)
        parts.append(f"<g>{mark}<title>{escape(tooltip)}</title></g>")
    return "".join([*parts, "</g>"])


def _names(
    drawn: Sequence[CandidateCurve], references: Sequence[Line], x: Axis, y: Axis, edge: float, width: float
) -> str:
    ends: list[tuple[float, float, str, Style | None]] = []
    for curve in drawn:
        last = curve.points[-1]
        ends.append((x(last.labels), y.inside(last.mean), curve.candidate, curve.style))
    for line in references:
        ends.append((edge, y.inside(line.mean), line.candidate, None))
    moved = separate_labels([height for _, height, _, _ in ends], least=15.5, low=y.stop, high=y.start)
    parts = []
    for (across, height, name, style), place in zip(ends, moved, strict=True):
        group = f"series s{style.number} c{style.colour}" if style else "quiet"
        parts.append(f'<g class="{group}">')
        parts.append(f'<path class="leader" d="M{across + 5:.1f},{height:.1f}L{edge + 9:.1f},{place:.1f}h4"/>')
        if style:
            parts.append(shape(style, edge + 19, place, 4.2))
        parts.append(f"{text(edge + 28, place, fit_text(name, width), 'name')}</g>")
    return "".join(parts)


# --- strips ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Strip:
    """One candidate's plays for one target."""

    line: Line
    style: Style
    values: np.ndarray


def strip_chart(strips: Sequence[Strip], metric: str, verdicts: Iterable[str], *, width: int) -> str:
    """A row per candidate: a dot per permutation, a bar for mean and standard deviation, and what the test says."""
    row, top, bottom = 30, 6, 26
    left = 36 + LETTER * max(len(fit_text(strip.line.candidate, width)) for strip in strips)  # room for a bold one
    verdicts = list(verdicts)
    right = 16 + LETTER * max(len(verdict) for verdict in verdicts)
    height = top + bottom + row * len(strips)
    everything = np.concatenate([strip.values for strip in strips])
    low, high = float(everything.min()), float(everything.max())
    room = (high - low) or 0.01 * max(1.0, abs(high))
    x = Axis(low - 0.04 * room, high + 0.04 * room, left, width - right)
    parts = []
    for tick in nice_ticks(x.low, x.high, max(2, int((width - left - right) // 70))):
        parts.append(rule(x(tick), top, x(tick), height - bottom, "grid"))
        parts.append(text(x(tick), height - 12, _short(tick), "tick", "middle"))
    for place, (strip, verdict) in enumerate(zip(strips, verdicts, strict=True)):
        middle = top + row * (place + 0.5)
        line, style = strip.line, strip.style
        strong = " strong" if line.is_best else ""
        parts.append(f'<g class="series s{style.number} c{style.colour}">')
        parts.append(shape(style, 10, middle, 4.4, hollow=not line.reached))
        parts.append(text(20, middle, fit_text(line.candidate, width), f"name{strong}"))
        start, stop, at = (x.inside(line.mean + side * line.std) for side in (-1, 1, 0))
        parts.append(rule(start, middle, stop, middle, "spread"))
        for count, value in enumerate(strip.values):
            aside = 5.5 * math.sin(2.4 * count)  # so that equal values do not hide one another
            parts.append(f'<circle class="dot" cx="{x(value):.1f}" cy="{middle + aside:.1f}" r="2.9"/>')
        parts.append(rule(at, middle - 10, at, middle + 10, "mean"))
        parts.append(text(width - right + 12, middle, verdict, f"tick{strong}"))
        parts.append(f"<title>{escape(line.candidate)}: {mean_and_deviation(line)}</title></g>")
    return chart(width, height, f"{name_of(metric)} of every permutation", parts)


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 10 else f"{value:.4g}"
