"""One HTML file to look at: what a comparison found, drawn, with the numbers behind it.

The file needs nothing else: charts are inline SVG, style and script stand in the page, fonts are the reader's own. It
follows the reader's choice of light or dark, and is drawn twice, for a wide window and for a phone.
"""

from __future__ import annotations

import base64
import csv
import io
import os
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

import askance
from askance.atomic import write_text
from askance.compare.charts import DARK, LIGHT, Strip, curve_svg, strip_svg
from askance.compare.curves import (
    chart_of,
    mean_and_deviation,
    mean_ranks_left_out,
    name_of,
    styles,
    target_name,
)
from askance.compare.findings import findings
from askance.compare.results import Results
from askance.compare.statistics import Line, lines, rank_table
from askance.evaluate.metrics.format import in_percent
from askance.evaluate.metrics.register import METRICS
from askance.plural import format_count

WIDE, NARROW = 956, 360
FIRST = "f1"
"""The metric shown first beside the one that was chosen by."""


def save_report(results: Results, path: str | os.PathLike[str]) -> None:
    """Write the report."""
    write_text(Path(path), report(results))


def report(results: Results) -> str:
    """The report as one HTML page."""
    folder = Path(__file__).parent
    names = ", ".join(results.datasets)
    colours = "".join(f".c{place}{{--c:{colour}}}" for place, colour in enumerate(LIGHT))
    dark = "".join(f".c{place}{{--c:{colour}}}" for place, colour in enumerate(DARK))
    style = (folder / "report.css").read_text() + colours + f"@media(prefers-color-scheme:dark){{{dark}}}"
    sections = []
    for dataset in results.datasets:
        sections.append(_header(results, dataset))
        sections.append(_curves(results, dataset))
        sections.append(_strips(results, dataset))
        sections.append(_means(results, dataset))
    if len(results.candidates) > 1:
        sections.append(_ranks(results))
    sections.append(_parameters(results))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(names)}: algorithms compared</title><style>{style}</style></head><body><main>"
        + "\n".join(sections)
        + _footer(results)
        + f"</main><script>{(folder / 'report.js').read_text()}</script></body></html>\n"
    )


# --- sections --------------------------------------------------------------------------------------------


def _header(results: Results, dataset: str) -> str:
    about = results.about(dataset)
    facts = [format_count(about["events"], "event"), format_count(about["features"], "feature")]
    if about["positive"] is not None:
        facts.append(f"{in_percent(about['positive_share'])} % of class {about['positive']}")
    if len(about["classes"]) > 2:
        facts.append(f"{len(about['classes'])} classes")
    facts.append(f"scaling: {about['preparation']}")
    plural = "" if about["permutations"] == 1 else "s"
    order = f"permutation{plural}" if about["shuffle"] else f"run{plural} in the order of the file"
    facts.append(f"{about['permutations']} {order}")
    found = []
    for place, metric in enumerate(_metrics(results, dataset)):  # the one that is shown below, by the script
        sentences = "".join(f"<li>{sentence}</li>" for sentence in findings(results, dataset, metric))
        found.append(f'<ul class="findings"{" hidden" if place else ""}>{sentences}</ul>')
    return (
        f"<header><h1>{escape(dataset)}: what labels buy</h1>"
        f'<p class="about">{escape(" · ".join(facts))}</p>{"".join(found)}</header>'
    )


def _metrics(results: Results, dataset: str) -> list[str]:
    """The metrics to show: the one that was chosen by, and the others there are."""
    chosen, known = results.about(dataset)["metric"], results.metrics(dataset)
    shown = [name for name, metric in METRICS.items() if metric.in_report and name in known]
    return list(dict.fromkeys([chosen, *([FIRST] if FIRST in known else []), *shown]))


def _curves(results: Results, dataset: str) -> str:
    tabs, panels = [], []
    for place, metric in enumerate(_metrics(results, dataset)):
        selected = "true" if place == 0 else "false"
        tabs.append(f'<button type="button" aria-selected="{selected}">{escape(name_of(metric))}</button>')
        ticks = _ticks(results, dataset)
        drawn = chart_of(results, metric, dataset, ticks=ticks)
        if drawn is None:
            return ""
        wide = curve_svg(drawn, width=WIDE, height=460)
        narrow = curve_svg(replace(drawn, ticks=_thin(ticks)), width=NARROW, height=400)
        panels.append(_panel(wide, narrow, shown=place == 0))
    band = "Band: one standard deviation either side. " if results.about(dataset)["permutations"] > 1 else ""
    return (
        "<section><h2>Quality by labels bought</h2>"
        f'<p class="how">{band}Dashed: asks at random. Dotted: asks for every '
        "label. Hollow: could not ask for so few or so many. Point at a curve to single it out.</p>"
        f'<div class="tabs" role="tablist">{"".join(tabs)}</div>{"".join(panels)}</section>'
    )


def _panel(wide: str, narrow: str, shown: bool) -> str:
    hidden = "" if shown else " hidden"
    return f'<div class="panel"{hidden}><div class="wide">{wide}</div><div class="narrow">{narrow}</div></div>'


def _ticks(results: Results, dataset: str) -> list[tuple[float, str, str]]:
    """A tick at every target: the wanted ratio, and how many labels that is."""
    ticks = []
    everything = [line for line in lines(results, None, dataset) if line.target in results.targets]
    for target in results.targets:
        there = [line.labels for line in everything if line.target == target and line.reached]
        if there:
            count = float(np.median(there))
            first = target_name(results, target)
            second = f"{count:,.0f}" if results.about(dataset)["kind"] == "ratio" else ""
            ticks.append((count, first.removesuffix(" labels"), second))
    return ticks


def _thin(ticks: list[tuple[float, str, str]]) -> list[tuple[float, str, str]]:
    """Few and short enough for a phone."""
    step = -(-len(ticks) // 5) or 1
    return [
        (count, first, f"{count / 1000:.3g}k" if second and count >= 9_999.5 else second)
        for count, first, second in ticks[::step]
    ]


def _strips(results: Results, dataset: str) -> str:
    metric = results.about(dataset)["metric"]
    style = styles(results)
    several = results.about(dataset)["permutations"] > 1
    tabs, panels = [], []
    everything = [line for line in lines(results, metric, dataset) if line.target in results.targets]
    targets = [target for target in results.targets if any(line.target == target for line in everything)]
    middle = len(targets) // 2
    for place, target in enumerate(targets):
        own = [line for line in everything if line.target == target]
        own.sort(key=lambda line: (line.rank is None, np.inf if line.rank is None else line.rank))
        strips = [
            Strip(
                line.candidate,
                style[line.candidate],
                results.values(metric, line.candidate, target, dataset),
                line.mean,
                line.std,
                line.reached,
                line.is_best,
                _verdict(line),
                f"{line.candidate}: {mean_and_deviation(line)}",
            )
            for line in own
        ]
        title = f"{name_of(metric)} of every permutation"
        selected = "true" if place == middle else "false"
        tabs.append(f'<button type="button" aria-selected="{selected}">{escape(target_name(results, target))}</button>')
        wide = strip_svg(strips, title, width=WIDE)
        narrow = strip_svg(strips, title, width=NARROW)
        panels.append(_panel(wide, narrow, shown=place == middle))
    test = "; the bar shows mean and standard deviation. To the right, p of the paired t-test against the best"
    test = test if several else ""
    return (
        f"<section><h2>Every play: {escape(name_of(metric))}</h2>"
        f'<p class="how">A dot is one permutation{test}.</p>'
        f'<div class="tabs" role="tablist">{"".join(tabs)}</div>{"".join(panels)}</section>'
    )


def _verdict(line: Line) -> str:
    if line.is_best:
        return "best"
    if not line.reached:
        return f"{in_percent(line.ratio)} %"
    if line.p is None:
        return ""
    if line.p < 1e-4:
        return "p < .0001"
    return f"p = {line.p:.1g}" if line.p < 0.01 else f"p = {line.p:.2f}"


def _means(results: Results, dataset: str) -> str:
    metric = results.about(dataset)["metric"]
    everything = lines(results, metric, dataset)
    targets = sorted({line.target for line in everything}, key=lambda target: (target not in results.targets, target))
    by_place = {(line.candidate, line.target): line for line in everything}
    head = "".join(f"<th>{escape(target_name(results, target))}</th>" for target in targets)
    rows = []
    by_rank = [row.candidate for row in rank_table(results)]
    for candidate in sorted(results.candidates, key=lambda name: by_rank.index(name) if name in by_rank else 999):
        cells = [_cell(by_place.get((candidate, target))) for target in targets]
        if any((candidate, target) in by_place for target in targets):
            rows.append(f"<tr><td>{escape(candidate)}</td>{''.join(cells)}</tr>")
    notes = "".join(
        f"<li>{escape(line.candidate)} at {escape(target_name(results, line.target))}: {escape(line.note)}.</li>"
        for line in everything
        if line.note
    )
    several = results.about(dataset)["permutations"] > 1
    shown = "mean ± standard deviation" if several else "one permutation"
    same = "≈: not significantly different from the best, p ≥ 0.05. " if several else ""
    return (
        f"<section><h2>{escape(name_of(metric))}, {shown}</h2>"
        f'<p class="how">Bold: the best. {same}In brackets: used another number of labels.</p>'
        f'<div class="scroll"><table><thead><tr><th>algorithm</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{f'<ul class=notes>{notes}</ul>' if notes else ''}</section>"
    )


def _cell(line: Line | None) -> str:
    if line is None:
        return "<td></td>"
    text = mean_and_deviation(line)
    if not line.reached:
        return f'<td class="off">({text})</td>'
    if line.is_best:
        return f'<td class="best">{text}</td>'
    return f"<td>{text}{'&nbsp;<span class=same>≈</span>' if line.is_as_good else ''}</td>"


def _ranks(results: Results) -> str:
    table = rank_table(results)
    cells = sorted(
        {cell for row in table for cell in row.by_cell}, key=lambda cell: (results.datasets.index(cell[0]), cell[1])
    )
    several = len(results.datasets) > 1
    head = "".join(
        f"<th>{escape(f'{dataset} ' if several else '')}{escape(target_name(results, target))}</th>"
        for dataset, target in cells
    )
    rows = []
    for row in table:
        shades = []
        for cell in cells:
            rank = row.by_cell.get(cell)
            if rank is None:
                shades.append("<td></td>")
                continue
            strength = 0.55 * (1.0 - (rank - 1.0) / max(1.0, len(table) - 1.0))
            shades.append(f'<td class="rank" style="--a:{strength:.2f}">{rank:.1f}</td>')
        mean = "" if row.rank is None else f"{row.rank:.2f}"
        rows.append(f'<tr><td>{escape(row.candidate)}</td><td class="best">{mean}</td>{"".join(shades)}</tr>')
    return (
        '<section><h2>Ranks</h2><p class="how">The place among the algorithms within each permutation, averaged: '
        f"1 is always first. {escape(mean_ranks_left_out(results, table))}</p>"
        f'<div class="scroll"><table><thead><tr><th>algorithm</th><th>mean</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div></section>"
    )


def _format(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)


def _parameters(results: Results) -> str:
    rows = []
    for choice in results.choices:
        letters = ", ".join(f"{letter} = {_format(value)}" for letter, value in choice.parameters.items()) or "none"
        dataset = f"<td>{escape(choice.dataset)}</td>" if len(results.datasets) > 1 else ""
        tried = f"{choice.points} tried" if choice.points > 1 else "given"
        rows.append(
            f"<tr>{dataset}<td>{escape(choice.candidate)}</td><td>{escape(target_name(results, choice.target))}</td>"
            f'<td>{100 * choice.ratio:.2f} %</td><td class="words">{escape(letters)}</td><td>{tried}</td></tr>'
        )
    first = "<th>data</th>" if len(results.datasets) > 1 else ""
    return (
        "<section><details><summary>Parameters</summary>"
        f'<div class="scroll"><table><thead><tr>{first}<th>algorithm</th><th>wanted</th><th>asked</th>'
        f"<th>parameters</th><th></th></tr></thead><tbody>{''.join(rows)}</tbody></table></div></details></section>"
    )


def _footer(results: Results) -> str:
    settings = results.settings
    text = io.StringIO()
    columns = list(dict.fromkeys(name for record in results.records for name in record))
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows(results.records)
    data = base64.b64encode(text.getvalue().encode()).decode()
    name = f"{'-'.join(results.datasets)[:60]}.csv"
    chosen_on = settings["search_permutations"]
    how = (
        f"Parameters were chosen by {name_of(settings['metric'])} on {chosen_on} other "
        f"permutation{'' if chosen_on == 1 else 's'}, in one pass each. Query scales were searched to within "
        f"{100 * settings['tolerance']:.0f} % of the wanted ratio. Seed {settings['seed']}."
    )
    return (
        f'<footer><p>{escape(how)} <a download="{escape(name)}" href="data:text/csv;base64,{data}">'
        f"All {len(results.records):,} records as CSV</a>. Made with askance {askance.__version__}.</p></footer>"
    )
