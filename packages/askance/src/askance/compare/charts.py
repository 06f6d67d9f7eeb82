"""Charts: one description, which two renderers draw.

Reports have inline SVG (``curve_svg``, ``strip_svg``), coloured by the page's style sheet, so that it follows light and
dark. It is drawn for a given width, wide or as narrow as a phone, instead of being scaled: text keeps its size. Figures
are matplotlib's (``draw_chart``), which needs the extra ``plots``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from askance.errors import AskanceError
from askance.evaluate.metrics.arrays import Flags, Numbers
from askance.extras import how_to_install

LETTER = 6.7
"""About how wide a letter of the charts' text is."""
WIDE = 6.0
"""From which ratio of largest to smallest on an axis is logarithmic."""
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
    def ink(self) -> str:
        """Its color on a light ground."""
        return LIGHT[self.colour]

    @property
    def marker(self) -> str:
        """Its marker, which together with the colour tells 70 candidates apart."""
        return MARKERS[self.number % len(MARKERS)]


@dataclass(frozen=True)
class Series:
    """A curve with a band, by ascending x."""

    name: str
    style: Style
    x: Numbers
    values: Numbers
    spread: Numbers
    """How far the band reaches on either side."""
    on: Flags
    """Points that are not on the curve are hollow, and have no band."""
    tooltips: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chart:
    """What is drawn: curves, and horizontal lines to compare them with."""

    title: str
    series: tuple[Series, ...]
    references: tuple[tuple[str, float], ...]
    y_range: tuple[float, float]
    ticks: Sequence[tuple[float, str, str]] = ()
    """Places on the horizontal axis, each with two lines of text."""

    @property
    def x_range(self) -> tuple[float, float, bool]:
        """The ends of the horizontal axis, and whether it is logarithmic."""
        places = np.concatenate([series.x for series in self.series])
        low, high = float(places.min()), float(places.max())
        if spreads_widely(low, high):
            return low / 1.08, high * 1.08, True
        slack = 0.04 * (high - low or high)
        return low - slack, high + slack, False


def spreads_widely(low: float, high: float) -> bool:
    """Whether an axis between these ends is logarithmic."""
    return low > 0 and high / max(low, 1e-9) >= WIDE


# --- layout ------------------------------------------------------------------------------------------


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


# --- SVG ---------------------------------------------------------------------------------------------


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


def curve_svg(drawn: Chart, *, width: int, height: int) -> str:
    """The chart as inline SVG: curves with bands, named at their right end."""
    names = [series.name for series in drawn.series] + [name for name, _ in drawn.references]
    right = 42 + LETTER * max((len(fit_text(name, width)) for name in names), default=0)
    top, bottom, left = 14, 44, 44
    (low, high), (first_x, last_x, is_log) = drawn.y_range, drawn.x_range
    end = width - right
    x = Axis(first_x, last_x, left, end, is_log)
    y = Axis(low, high, height - bottom, top)
    parts = []
    for tick in nice_ticks(low, high, 6):
        parts += [rule(left, y(tick), end, y(tick), "grid"), text(left - 7, y(tick), _short(tick), "tick", "end")]
    for place, first, second in drawn.ticks:
        at = x.inside(place)
        parts.append(rule(at, top, at, height - bottom, "grid"))
        parts.append(text(at, height - bottom + 13, first, "tick strong", "middle"))
        parts.append(text(at, height - bottom + 28, second, "tick", "middle"))
    parts += [rule(left, y.inside(value), end, y.inside(value), "reference") for _, value in drawn.references]
    parts += [_series_svg(series, x, y) for series in drawn.series]
    parts.append(_names_svg(drawn, x, y, edge=end, width=width))
    return chart(width, height, drawn.title, parts)


def _series_svg(series: Series, x: Axis, y: Axis) -> str:
    on = [place for place, is_on in enumerate(series.on) if is_on]
    parts = [f'<g class="series s{series.style.number} c{series.style.colour}">']

    def path(places: Iterable[int], side: float) -> list[str]:
        values = series.values + side * series.spread
        return [f"{x(series.x[place]):.1f},{y.inside(values[place]):.1f}" for place in places]

    if len(on) > 1:
        parts.append(f'<path class="band" d="M{"L".join(path(on, 1.0) + path(reversed(on), -1.0))}z"/>')
        dashed = " dashed" if series.style.is_dashed else ""
        parts.append(f'<path class="line{dashed}" d="M{"L".join(path(on, 0.0))}"/>')
    for at, value, is_on, tooltip in zip(series.x, series.values, series.on, series.tooltips, strict=True):
        mark = shape(series.style, x(at), y.inside(value), hollow=not is_on)
        parts.append(f"<g>{mark}<title>{escape(tooltip)}</title></g>")
    return "".join([*parts, "</g>"])


def _names_svg(drawn: Chart, x: Axis, y: Axis, edge: float, width: float) -> str:
    ends: list[tuple[float, float, str, Style | None]] = [
        (x(series.x[-1]), y.inside(series.values[-1]), series.name, series.style) for series in drawn.series
    ]
    ends += [(edge, y.inside(value), name, None) for name, value in drawn.references]
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


@dataclass(frozen=True)
class Strip:
    """A row of dots, with a bar for their mean and standard deviation, and words to the right."""

    name: str
    style: Style
    values: Numbers
    mean: float
    std: float
    is_on: bool
    is_best: bool
    verdict: str
    tooltip: str


def strip_svg(strips: Sequence[Strip], title: str, *, width: int) -> str:
    """The strips as inline SVG, one below the other."""
    row, top, bottom = 30, 6, 26
    left = 36 + LETTER * max(len(fit_text(strip.name, width)) for strip in strips)  # room for a bold one
    right = 16 + LETTER * max(len(strip.verdict) for strip in strips)
    height = top + bottom + row * len(strips)
    everything = np.concatenate([strip.values for strip in strips])
    low, high = float(everything.min()), float(everything.max())
    room = (high - low) or 0.01 * max(1.0, abs(high))
    x = Axis(low - 0.04 * room, high + 0.04 * room, left, width - right)
    parts = []
    for tick in nice_ticks(x.low, x.high, max(2, int((width - left - right) // 70))):
        parts.append(rule(x(tick), top, x(tick), height - bottom, "grid"))
        parts.append(text(x(tick), height - 12, _short(tick), "tick", "middle"))
    for place, strip in enumerate(strips):
        middle = top + row * (place + 0.5)
        style, strong = strip.style, " strong" if strip.is_best else ""
        parts.append(f'<g class="series s{style.number} c{style.colour}">')
        parts.append(shape(style, 10, middle, 4.4, hollow=not strip.is_on))
        parts.append(text(20, middle, fit_text(strip.name, width), f"name{strong}"))
        start, stop, at = (x.inside(strip.mean + side * strip.std) for side in (-1, 1, 0))
        parts.append(rule(start, middle, stop, middle, "spread"))
        for count, value in enumerate(strip.values):
            aside = 5.5 * math.sin(2.4 * count)  # so that equal values do not hide one another
            parts.append(f'<circle class="dot" cx="{x(value):.1f}" cy="{middle + aside:.1f}" r="2.9"/>')
        parts.append(rule(at, middle - 10, at, middle + 10, "mean"))
        parts.append(text(width - right + 12, middle, strip.verdict, f"tick{strong}"))
        parts.append(f"<title>{escape(strip.tooltip)}</title></g>")
    return chart(width, height, title, parts)


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 10 else f"{value:.4g}"


# --- matplotlib --------------------------------------------------------------------------------------

SHAPES = {
    "circle": "o", "square": "s", "triangle": "^", "diamond": "D", "down": "v", "cross": "X", "plus": "P",
}  # fmt: skip
INK, QUIET = "#1d1d1f", "#6e6e73"
LOOK: Any = {
    "font.family": "sans-serif",
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#b0b0b5",
    "axes.labelcolor": INK,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "axes.grid": True,
    "grid.color": "#e6e6ea",
    "grid.linewidth": 0.7,
    "svg.fonttype": "none",
    "svg.hashsalt": "askance",
}


def need_matplotlib() -> Any:
    """Matplotlib, or a sentence that says how to get it; to be asked before the work that a plot shows."""
    try:
        import matplotlib
    except ImportError:
        raise AskanceError(f"plots need matplotlib; install it with: {how_to_install('plots')}.") from None
    return matplotlib


def figure_of_panels(names: Sequence[str], *, columns: int = 3, title: str | None = None) -> tuple[Any, list[Any], Any]:
    """A figure with a panel for each name, the panels, and the first place that is left free, or None."""
    from matplotlib.figure import Figure

    columns = min(columns, len(names))
    rows = math.ceil(len(names) / columns)
    width, height = (7.2, 4.4) if len(names) == 1 else (4.0 * columns, 3.1 * rows)
    figure = Figure(figsize=(width, height + (0.4 if title else 0.0)), layout="constrained")
    places = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel, name in zip(places, names, strict=False):
        panel.set_title(name, loc="left", fontsize=10.5, color=INK, fontweight="bold")
    for panel in places[len(names) :]:
        panel.axis("off")
    if title:
        figure.suptitle(title, fontsize=10.5, color=INK)
    return figure, list(places[: len(names)]), places[len(names)] if len(places) > len(names) else None


def save_figure(figure: Any, path: str | os.PathLike[str], dpi: int = 200) -> None:
    """Write a figure to a PNG or SVG file; the same figure is the same file."""
    metadata: Any = {"Date": None} if str(path).lower().endswith(".svg") else None
    with need_matplotlib().rc_context(LOOK):
        figure.savefig(path, dpi=dpi, facecolor="white", metadata=metadata)


def draw_chart(panel: Any, drawn: Chart, *, has_names: bool) -> None:
    """The chart on axes of matplotlib; ``has_names`` writes the names beside the curves."""
    low, high, is_log = drawn.x_range
    panel.set_ylim(*drawn.y_range)
    if is_log:
        panel.set_xscale("log")
    panel.set_xlim(low, high)
    ticks = drawn.ticks[:: len(drawn.ticks) // 9 + 1]
    if ticks:
        panel.set_xticks([place for place, _, _ in ticks], [first for _, first, _ in ticks])
        panel.minorticks_off()
    for series in drawn.series:
        draw_series(panel, series)
    for _, value in drawn.references:
        panel.axhline(value, color=QUIET, linewidth=1.0, linestyle=(0, (1, 1.5)), zorder=1)
    if has_names:
        _names_at_the_end(panel, drawn)


def draw_series(panel: Any, series: Series, **options: Any) -> None:
    """One curve with its band on axes of matplotlib; ``options`` are those of its line."""
    x, values, spread, look = series.x, series.values, series.spread, _line_style(series.style)
    on, colour = series.on, series.style.ink
    panel.fill_between(x[on], values[on] - spread[on], values[on] + spread[on], color=colour, alpha=0.13, linewidth=0)
    panel.plot(x[on], values[on], label=series.name, **look | options)
    hollow = {"linestyle": "", "markerfacecolor": "white", "markeredgecolor": colour}
    panel.plot(x[~on], values[~on], **look | hollow)


def _line_style(style: Style) -> dict[str, Any]:
    return {
        "color": style.ink, "linewidth": 1.7, "linestyle": (0, (4, 2.2)) if style.is_dashed else "-",
        "marker": SHAPES[style.marker], "markersize": 4.8, "markeredgecolor": "white", "markeredgewidth": 0.7,
    }  # fmt: skip


def _names_at_the_end(panel: Any, drawn: Chart) -> None:
    """The names to the right of their curves, moved apart where they would overlap."""
    inside = panel.transData + panel.transAxes.inverted()
    ends: list[tuple[float, float, str, Style | None]] = [
        (*inside.transform((series.x[-1], series.values[-1])), series.name, series.style) for series in drawn.series
    ]
    ends += [(1.0, inside.transform((1.0, value))[1], f"{name}, all labels", None) for name, value in drawn.references]
    heights = [min(max(height, 0.0), 1.0) for _, height, _, _ in ends]
    moved = separate_labels(heights, least=0.052, low=0.0, high=1.0)
    beyond = {"transform": panel.transAxes, "clip_on": False}
    for (across, _, name, style), height, place in zip(ends, heights, moved, strict=True):
        colour = style.ink if style else QUIET
        panel.plot([across, 1.025, 1.035], [height, place, place], color=colour, linewidth=0.7, alpha=0.7, **beyond)
        if style:
            panel.plot([1.035, 1.06, 1.085], [place] * 3, markevery=[1], **_line_style(style), **beyond)
        else:
            panel.plot([1.035, 1.085], [place] * 2, color=QUIET, linewidth=1.0, linestyle=(0, (1, 1.5)), **beyond)
        panel.annotate(
            name, (1.1, place), xycoords="axes fraction", va="center", ha="left", fontsize=8.5,
            color=INK if style else QUIET, annotation_clip=False,
        )  # fmt: skip


def draw_legend(
    figure: Any, panels: Sequence[Any], free: Any, outside: str = "upper center", columns: int = 5, **more: Any
) -> None:
    """One legend for all panels: at the place that is left free, else outside; ``more`` are further handles by name."""
    handles: dict[str, Any] = {}
    for panel in panels:
        for handle, name in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    handles |= more
    where: Any = {"loc": f"outside {outside}", "ncols": columns}
    if free is not None:
        where = {"loc": "center", "ncols": 1 if len(handles) < 9 else 2}
    (figure if free is None else free).legend(handles.values(), handles.keys(), frameon=False, fontsize=9, **where)
