"""What ``askance run`` shows: how it goes, then what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from askance.cli.output import console, left_out, percent, spark
from askance.metrics.shown import in_digits
from askance.playing import Outcome, Progress

PERIODS = {"1d": "a day", "1h": "an hour"}


class Screen:
    """A table on standard output, progress on standard error; the latter only if that is a terminal."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.out = console(width_in_a_pipe=100)
        self.err = Console(stderr=True, highlight=False)

    @contextmanager
    def progress(self) -> Iterator[Callable[[Progress], None] | None]:
        """A bar of how much was read, with events a second, labels bought and accuracy so far."""
        if not self.err.is_terminal:
            yield None
            return
        columns = (
            TextColumn("playing"),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            TextColumn("{task.fields[facts]}"),
        )
        with Bar(*columns, console=self.err, transient=True) as bar:
            task = bar.add_task("playing", total=None, facts="reading the first lines")

            def update(progress: Progress) -> None:
                speed = progress.events / max(progress.seconds, 1e-9)
                bar.update(
                    task,
                    total=None if progress.share_read is None else 1.0,
                    completed=progress.share_read or 0.0,
                    facts=f"{progress.events:,} events, {speed:,.0f}/s, {progress.labels:,} labels, "
                    f"accuracy {percent(progress.accuracy)}",
                )

            yield update

    def show(self, outcome: Outcome, written: list[str], weighted: Sequence[str] = ()) -> None:
        """The closing table, with the metrics whose weights were given, and what there is to say beside it."""
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, show_header=False)
        table.add_column(style="cyan", no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in rows(outcome, weighted):
            table.add_row(name, value)
        self.out.print(table)
        for sentence in remarks(outcome):
            self.out.print(sentence, style="yellow", soft_wrap=True)
        for name in written:
            self.out.print(f"Written: {name}", soft_wrap=True)


def rows(outcome: Outcome, weighted: Sequence[str]) -> Iterator[tuple[str, str | Text]]:
    """The lines of the closing table."""
    found, clf, about = outcome.summary(), outcome.model.classifier, outcome.model.about
    classes = outcome.totals.classes.tolist()
    letters = ", ".join(_set(letter, value) for letter, value in about["parameters"].items())
    budget = "" if clf.budget is None else f", {in_words(clf.budget)}"
    columns = "1 column" if outcome.features == 1 else f"{outcome.features:,} columns"
    yield "stream", f"{outcome.name}: {found['events']:,} events, {columns}"
    yield "classes", ", ".join(str(label) for label in classes[:8]) + (", ..." if len(classes) > 8 else "")
    yield "algorithm", about["algorithm"] + (f" ({letters})" if letters else "") + budget
    yield "done to values", outcome.preparation
    bought = f"{found['labels']:,} ({percent(found['query_ratio'])} of the events)"
    audits = f", {outcome.totals.audits:,} of them at random (explore)" if clf.explore else ""
    yield "labels bought", Text(bought, style="bold").append(audits, style="not bold")
    yield (
        "accuracy",
        Text(percent(found["accuracy"]), style="bold").append(
            f"; always the most frequent class: {percent(found['majority'])}", style="not bold dim"
        ),
    )
    shares = outcome.totals.course.shares(32)
    yield (
        "over time",
        f"{spark(shares, lowest=min(0.99, *shares))} {percent(shares[0])} at first, {percent(shares[-1])} at last",
    )
    of = "mean of all classes" if outcome.positive is None else f"class {outcome.positive}"
    yield (
        f"F1, {of}",
        f"{in_digits(found['f1'])} (precision {in_digits(found['precision'])}, recall {in_digits(found['recall'])})",
    )
    if "alpha_p" in weighted and "sum" in found:
        yield "sum", f"{in_digits(found['sum'])}, sensitivity weighs {outcome.alpha_p:g}"
    if "c_p" in weighted and "cost" in found:
        yield (
            "cost",
            f"{found['cost']:,.1f}, {outcome.c_p:g} for a missed positive, {1 - outcome.c_p:g} for a false alarm",
        )
    if hasattr(clf, "report"):
        yield from of_itself(clf.report(), found)
    speed = found["events"] / max(outcome.seconds, 1e-9)
    yield "time", f"{outcome.seconds:.1f} s, {speed:,.0f} events a second, reading and compiling included"
    if clf.events_seen_ > found["events"]:
        yield "model in all", f"{clf.events_seen_:,} events, {clf.labels_asked_:,} labels"


def _set(letter: str, value: Any) -> str:
    """A parameter and its value."""
    if isinstance(value, dict):
        return ", ".join(f"{name}={part:g}" for name, part in value.items())
    return f"{letter}={value}"


def of_itself(report: Any, found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What a committee says of itself, beside the truth."""
    heard = sum(standing.voice > 0.0 for standing in report.standings)
    yield "balanced accuracy", percent(found["balanced_accuracy"])
    if report.answers:
        value, low, high = report.quality.balanced_accuracy
        yield "by its labels", f"about {percent(value)}, with 95% confidence {percent(low)} to {percent(high)}"
        yield (
            "learners",
            f"{heard} of {len(report.standings)} are heard; {report.leader} leads since label {report.since:,}",
        )
        spent = (f"{reason} {count:,}" for reason, count in report.spent.items() if count)
        yield "labels went to", ", ".join(spent)


def in_words(budget: Any) -> str:
    """A budget as people say it."""
    from askance.budgets import Both, Fixed, PerPeriod, Rate

    match budget:
        case Both(first=first, second=second):
            return f"{in_words(first)} and {in_words(second)}"
        case Rate(r=share, burst=burst):
            ahead = f", at most {burst:g} labels ahead at the start" if burst else ""
            return f"about {100 * share:g}% of the events{ahead}"
        case PerPeriod(n=n, period=period):
            return f"at most {n:,} labels {PERIODS.get(str(period), f'every {period}')}"
        case Fixed(n=n):
            return f"at most {n:,} labels"
    return str(budget)


def is_spent(clf: Any) -> bool:
    """Whether a fixed number of labels was bought in full."""
    from askance.budgets import Fixed

    limit = clf.budget.n if isinstance(clf.budget, Fixed) else None
    return limit is not None and clf.labels_asked_ >= limit > 0


def remarks(outcome: Outcome) -> Iterator[str]:
    """What a user should know beside the numbers."""
    totals, clf = outcome.totals, outcome.model.classifier
    if is_spent(clf) and not totals.labels:
        yield (
            f"All {clf.labels_asked_:,} labels were spent before this file; --budget with a larger number buys more."
        )
    elif is_spent(clf) and totals.last_asked < totals.events // 2:
        yield (
            f"All {clf.labels_asked_:,} labels were spent by event {totals.last_asked:,} of {totals.events:,}; "
            f"--rate {max(totals.labels, 1) / totals.events:.2g} would spread them over the stream."
        )
    yield from left_out(outcome.bad_lines, outcome.unlabeled, outcome.bad_line_examples)
    if outcome.restarted:
        yield "A class turned up late: the file was read for all classes first. --classes saves that."
