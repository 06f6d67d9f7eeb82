"""What ``askance run`` shows: how it goes, then what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from askance.cli.output import console, describe_omissions, format_time, percent, spark
from askance.evaluate.metrics.format import in_digits
from askance.evaluate.metrics.objectives import USUAL_METRIC
from askance.evaluate.metrics.register import LABEL_SET_METRICS, metric_of
from askance.learner.budget import as_budget
from askance.plural import format_count
from askance.runner import Progress, RunResult

MOST_CLASSES = 8  # that are listed
MOST_LABELS = 12  # of label sets, the most frequent first


class RunScreen:
    """A table on standard output, progress on standard error; the latter only if that is a terminal."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.out = console(width_in_a_pipe=100)
        self.err = Console(stderr=True, highlight=False)

    @contextmanager
    def progress(self) -> Iterator[Callable[[Progress], None] | None]:
        """A bar of how much was read, with events a second, labels requested and accuracy so far."""
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
            task = bar.add_task("playing", total=None, facts="getting ready; the first time it compiles for a minute")

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

    def show(self, outcome: RunResult, written: list[str], weighted: Sequence[str], by_clock: float) -> None:
        """The closing table, with the metrics whose weights were given, and what there is to say beside it.
        ``by_clock`` are the seconds that the command took."""
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, show_header=False)
        table.add_column(style="cyan", no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in rows(outcome, weighted, by_clock):
            table.add_row(name, value)
        self.out.print(table)
        for sentence in remarks(outcome):
            self.out.print(sentence, style="yellow", soft_wrap=True)
        for name in written:
            self.out.print(f"Written: {name}", soft_wrap=True)


Row = tuple[str, str | Text]


def rows(outcome: RunResult, weighted: Sequence[str], by_clock: float) -> Iterator[Row]:
    """The lines of the closing table."""
    found, clf, about = outcome.summary(), outcome.model.classifier, outcome.model.about
    has_sets = outcome.model.has_label_sets
    letters = ", ".join(_set(letter, value) for letter, value in about["parameters"].items())
    budget = "" if clf.budget is None else f", {as_budget(clf.budget).describe()}"
    if has_sets:
        budget = budget.replace("events", "questions").replace("labels", "answers")
    events = format_count(found["events"], "event")
    yield "stream", f"{outcome.name}: {events}, {format_count(outcome.features, 'column')}"
    yield from label_set_rows(outcome, found) if has_sets else class_rows(outcome)
    yield "algorithm", about["algorithm"] + (f" ({letters})" if letters else "") + budget
    yield "done to values", outcome.preparation
    yield from answer_rows(outcome, found) if has_sets else requested_rows(outcome, found, weighted)
    yield "time", format_time(by_clock, outcome.seconds, found["events"])
    if not has_sets and clf.events_seen_ > found["events"]:
        yield "model in all", f"{format_count(clf.events_seen_, 'event')}, {format_count(clf.labels_asked_, 'label')}"


# --- one label an event ----------------------------------------------------------------------------------


def class_rows(outcome: RunResult) -> Iterator[Row]:
    """What the labels are."""
    if outcome.unlabeled:
        extra = "1 more event, predicted" if outcome.unlabeled == 1 else f"{outcome.unlabeled:,} more events, predicted"
        yield "without a label", f"{extra} but never asked, and in none of the numbers below"
    classes = outcome.totals.classes.tolist()
    more = ", ..." if len(classes) > MOST_CLASSES else ""
    column = outcome.model.stream.get("label")
    found_in = "" if column is None else f"; the column {column!r}"
    yield "classes", ", ".join(str(label) for label in classes[:MOST_CLASSES]) + more + found_in


def requested_rows(outcome: RunResult, found: Mapping[str, Any], weighted: Sequence[str]) -> Iterator[Row]:
    """How many labels were requested, and how good the predictions were."""
    clf = outcome.model.classifier
    requested = f"{found['labels']:,} ({percent(found['query_ratio'])} of the events)"
    audits = f", {outcome.totals.audits:,} of them at random (explore)" if clf.explore else ""
    yield "labels bought", Text(requested, style="bold").append(audits, style="not bold")
    if found["events"]:
        yield from metric_rows(outcome, found, weighted)
    if hasattr(clf, "report"):
        yield from own_estimate(clf.report(), outcome.headline, bool(clf.explore))


def metric_rows(outcome: RunResult, found: Mapping[str, Any], weighted: Sequence[str]) -> Iterator[Row]:
    """The lines of how good the predictions were, of one event with a label or more: first of all by what the algorithm
    optimizes."""
    of = "mean of all classes" if outcome.positive is None else f"class {outcome.positive}"
    lines = {
        "accuracy": (
            "accuracy",
            Text(percent(found["accuracy"])).append(
                f"; always the most frequent class: {percent(found['majority'])}", style="dim"
            ),
        ),
        "balanced_accuracy": ("balanced accuracy", Text(percent(found["balanced_accuracy"]))),
        "recalls": ("recall", Text(list_recalls(outcome.totals.recalls()))),
        "course": ("accuracy over time", Text(describe_course(outcome.totals.course.shares(32)))),
        "f1": (
            f"F1, {of}",
            Text(in_digits(found["f1"])).append(
                f" (precision {in_digits(found['precision'])}, recall {in_digits(found['recall'])})"
            ),
        ),
    }
    if "alpha_p" in weighted and "sum" in found:
        lines["sum"] = "sum", Text(f"{in_digits(found['sum'])}, sensitivity weighs {outcome.alpha_p:g}")
    if outcome.weights.costs is not None:
        cost = f"{found['cost']:,.1f}, {found['cost'] / found['events']:.4f} an event"
        lines["cost"] = "cost of mistakes", Text(cost)
    elif "c_p" in weighted and "cost" in found:
        cost = f"{found['cost']:,.1f}, {outcome.c_p:g} for a missed positive, {1 - outcome.c_p:g} for a false alarm"
        lines["cost"] = "cost", Text(cost)
    name, value = lines.pop(outcome.headline)
    value.stylize("bold", 0, len(value.plain.split("; ")[0]))
    yield name, value
    yield from lines.values()


def describe_course(shares: Sequence[float]) -> str:
    """How the accuracy went."""
    return f"{spark(shares, lowest=min(0.99, *shares))} {percent(shares[0])} at first, {percent(shares[-1])} at last"


def _set(letter: str, value: Any) -> str:
    """A parameter and its value."""
    if isinstance(value, dict):
        by_pair = {
            f"{truth}:{predicted}": cost
            for truth, row in value.items()
            for predicted, cost in (row.items() if isinstance(row, dict) else [("", row)])
        }
        return ", ".join(f"{pair.removesuffix(':')}={cost:g}" for pair, cost in by_pair.items())
    return f"{letter}={value}"


def list_recalls(recalls: dict[Any, float]) -> str:
    """The recall of each class; of many classes, of the weakest.

    >>> list_recalls({"ham": 0.98, "spam": 0.75})
    'ham 98.0%, spam 75.0%'
    """
    lowest = sorted(recalls, key=recalls.__getitem__)[:MOST_CLASSES]
    listed = ", ".join(f"{label} {percent(share)}" for label, share in recalls.items() if label in lowest)
    return listed if len(recalls) <= MOST_CLASSES else f"the weakest of {len(recalls)} classes: {listed}"


def own_estimate(report: Any, headline: str, is_exploring: bool) -> Iterator[Row]:
    """What a committee says of itself, beside the truth: of what it optimizes, if that is a share of the events."""
    metric = metric_of(headline if headline in ("accuracy", "f1") else USUAL_METRIC)
    heard = sum(member.vote > 0.0 for member in report.member_reports)
    if report.answers:
        yield "by its labels", format_estimates(report.quality, metric.name, metric.title, is_exploring)
        yield (
            "learners",
            f"{heard} of {len(report.member_reports)} are heard; {report.leader} leads since label {report.since:,}",
        )
        spent = (f"{reason} {count:,}" for reason, count in report.spent.items() if count)
        yield "labels went to", ", ".join(spent)


def format_estimates(quality: Any, name: str, title: str, is_exploring: bool) -> str:
    """What the requested labels say of a metric, or why they say nothing yet."""
    about, told = f"{title}{quality.scope(name)}", quality.telling(name)
    value, low, high = told[name]
    if told.as_share(name).is_too_wide:
        advice = "more labels tell" if is_exploring else "labels bought at random tell more: --explore 0.01"
        return f"{about}: too early to say ({told.rarest}, {percent(low)} to {percent(high)}); {advice}"
    return f"{about} about {percent(value)}, with 95% confidence {percent(low)} to {percent(high)}"


def is_spent(clf: Any) -> bool:
    """Whether a fixed number of labels was bought in full."""
    return bool(clf.labels_asked_ >= as_budget(clf.budget).max_labels() > 0)


def remarks(outcome: RunResult) -> Iterator[str]:
    """What a user should know beside the numbers."""
    totals, clf = outcome.totals, outcome.model.classifier
    if outcome.model.has_label_sets:
        yield from describe_omissions(outcome.bad_lines, 0, outcome.bad_line_examples)
        return
    if is_spent(clf) and not totals.labels:
        yield (
            f"All {clf.labels_asked_:,} labels were spent before this file; --budget with a larger number buys more."
        )
    elif is_spent(clf) and totals.last_asked < totals.events // 2:
        yield (
            f"All {clf.labels_asked_:,} labels were spent by event {totals.last_asked:,} of {totals.events:,}; "
            f"--rate {max(totals.labels, 1) / totals.events:.2g} would spread them over the stream."
        )
    yield from describe_omissions(outcome.bad_lines, 0, outcome.bad_line_examples)
    yield from outcome.warnings
    for name, before, now in outcome.widened:
        what = "was empty at first and is" if before == "ignore" else f"was a {before} at first and became"
        yield f"The field {name!r} {what} {'text' if now == 'text' else f'a {now}'}."
    if outcome.restarted:
        yield "A class turned up late: the file was read for all classes first. --classes saves that."


# --- label sets ------------------------------------------------------------------------------------------


def label_set_rows(outcome: RunResult, found: Mapping[str, Any]) -> Iterator[Row]:
    """How many labels there are."""
    per_event = (outcome.totals.trace.truth == 1).sum() / max(1, found["events"])
    yield "labels", f"{found['labels']:,}, {per_event:.2f} an event"


def answer_rows(outcome: RunResult, found: Mapping[str, Any]) -> Iterator[Row]:
    """How many answers were requested, and how good the predictions were: of all labels, and of each."""
    trace = outcome.totals.trace
    known = {label: bool((column >= 0).any()) for label, column in zip(trace.labels, trace.truth.T, strict=True)}
    is_any_known = any(known.values())
    share = f" ({percent(found['query_ratio'])} of the questions)" if is_any_known else "; no event has a known label"
    yield "answers bought", Text(f"{found['answers']:,}{share}", style="bold")
    for metric in LABEL_SET_METRICS.values():
        yield metric.title, show_metric(found[metric.name], is_any_known)
    by_label = outcome.totals.by_label()
    for label in sorted(by_label, key=lambda label: -by_label[label]["events"])[:MOST_LABELS]:
        figures = by_label[label]
        counts = f"{format_count(figures['events'], 'event')}, {format_count(figures['answers'], 'answer')}"
        yield f"  {label}", f"F1 {show_metric(figures['f1'], known[label])}; {counts}"
    if len(by_label) > MOST_LABELS:
        yield "", f"and {len(by_label) - MOST_LABELS:,} more labels; --json has all"


def show_metric(value: float, is_known: bool) -> str:
    """A metric's value; a dash where nothing is known that it could be computed from."""
    return in_digits(value) if is_known and value == value else "-"
