"""What ``askance run --label-separator`` shows at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from askance.cli.clock import format_time
from askance.cli.output import describe_omissions, percent
from askance.evaluate.metrics.format import in_digits
from askance.evaluate.metrics.register import LABEL_SET_METRICS
from askance.learner.budget import as_budget
from askance.plural import format_count
from askance.runner.label_sets import LabelSetResult

MOST_LABELS = 12  # that are listed, the most frequent first


def show_label_sets(out: Console, outcome: LabelSetResult, written: Sequence[str], by_clock: float) -> None:
    """The closing table."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, show_header=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows(outcome, by_clock):
        table.add_row(name, value)
    out.print(table)
    for sentence in describe_omissions(outcome.bad_lines, 0, outcome.bad_line_examples):
        out.print(sentence, style="yellow", soft_wrap=True)
    for name in written:
        out.print(f"Written: {name}", soft_wrap=True)


def rows(outcome: LabelSetResult, by_clock: float) -> Iterator[tuple[str, str | Text]]:
    """Its lines."""
    found, clf = outcome.summary(), outcome.classifier
    letters = ", ".join(f"{letter}={value}" for letter, value in outcome.algorithm["parameters"].items())
    limit = "" if clf.budget is None else f", {as_budget(clf.budget).describe()}"
    budget = limit.replace("events", "questions").replace("labels", "answers")
    columns = format_count(outcome.features, "column")
    yield "stream", f"{outcome.name}: {format_count(found['events'], 'event')}, {columns}"
    per_event = (outcome.trace.truth == 1).sum() / max(1, found["events"])
    yield "labels", f"{found['labels']:,}, {per_event:.2f} an event"
    yield "algorithm", f"{outcome.algorithm['algorithm']}{f' ({letters})' if letters else ''}{budget}"
    yield "done to values", outcome.preparation
    is_known = {
        label: bool((column >= 0).any())
        for label, column in zip(outcome.trace.labels, outcome.trace.truth.T, strict=True)
    }
    is_any_known = any(is_known.values())
    share = f" ({percent(found['query_ratio'])} of the questions)" if is_any_known else "; no event has a known label"
    yield "answers bought", Text(f"{found['answers']:,}{share}", style="bold")
    for metric in LABEL_SET_METRICS.values():
        yield metric.title, show_metric(found[metric.name], is_any_known)
    each = outcome.of_labels()
    for label in sorted(each, key=lambda label: -each[label]["events"])[:MOST_LABELS]:
        figures = each[label]
        has = format_count(figures["events"], "event")
        yield (
            f"  {label}",
            f"F1 {show_metric(figures['f1'], is_known[label])}; {has}, {format_count(figures['answers'], 'answer')}",
        )
    if len(each) > MOST_LABELS:
        yield "", f"and {len(each) - MOST_LABELS:,} more labels; --json has all"
    yield "time", format_time(by_clock, outcome.seconds, found["events"])


def show_metric(value: float, is_known: bool) -> str:
    """A metric's value; a dash where nothing is known that it could be computed from."""
    return in_digits(value) if is_known and value == value else "-"
