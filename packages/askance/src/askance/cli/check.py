"""``askance check``: the fields and labels of a file, and what looks wrong."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from askance.cli.command import Command
from askance.cli.output import console, describe_omissions, percent, print_json
from askance.cli.run_options import USUAL_RATE, add_fields, add_reading, read_options
from askance.plural import format_count

if TYPE_CHECKING:
    from rich.table import Table

    from askance.runner.check import FileReport

MOST_FIELDS = 100
MOST_LABELS = 12
LONGEST_EXAMPLE = 30


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source", metavar="FILE", help="a file, a folder, the name of a data set, or - for the standard input"
    )
    data = parser.add_argument_group("the data")
    add_reading(data)
    add_fields(data)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(options: argparse.Namespace) -> int:
    from askance.runner.check import check_file
    from askance.runner.sources import files_read, refuse_overwrites

    refuse_overwrites([("--quarantine", options.quarantine)], files_read(options.source))
    report = check_file(options.source, read_options(options))
    if options.json:
        print_json(report.as_json())
        return 0
    screen = console()
    columns = "1 column" if report.columns == 1 else f"{report.columns:,} columns"
    screen.print(f"{report.name}: {format_count(report.events, 'event')}, {columns}", style="bold", soft_wrap=True)
    screen.print()
    screen.print(table(report))
    screen.print()
    screen.print(describe_labels(report), soft_wrap=True)
    for sentence in remarks(report):
        screen.print(sentence, style="yellow", soft_wrap=True)
    screen.print(what_run_would_do(report), soft_wrap=True)
    return 0


def table(report: FileReport) -> Table:
    """The fields, with what their first values are."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    missing = f"missing in the first {report.first_rows:,}" if report.first_rows < report.events else "missing"
    for name in ("field", "kind", missing, "such as"):
        shown.add_column(name, style="cyan" if name == "field" else "", overflow="fold")
    for field in report.fields[:MOST_FIELDS]:
        share = "" if field.missing is None else percent(field.missing)
        examples = ", ".join(map(shorten, field.examples))
        shown.add_row(Text(field.name), field.kind, share, Text(examples))
    if len(report.fields) > MOST_FIELDS:
        shown.add_row(f"and {len(report.fields) - MOST_FIELDS:,} more", "", "", "")
    return shown


def shorten(value: str) -> str:
    """A value for a cell of the table: on one line, and not too long."""
    plain = " ".join(value.split())
    return plain if len(plain) <= LONGEST_EXAMPLE else f"{plain[: LONGEST_EXAMPLE - 3]}..."


def describe_labels(report: FileReport) -> str:
    """The labels with their shares."""
    total = max(1, sum(report.labels.values()))
    shares = [f"{label} {percent(count / total)}" for label, count in report.labels.items()]
    more = f" and {len(shares) - MOST_LABELS:,} more" if len(shares) > MOST_LABELS else ""
    return f"Labels: {', '.join(shares[:MOST_LABELS])}{more}." if shares else "Labels: none."


def remarks(report: FileReport) -> Iterator[str]:
    """What looks wrong."""
    yield from describe_omissions(report.bad_lines, 0, report.bad_line_examples)
    if report.unlabeled:
        have = "event has" if report.unlabeled == 1 else "events have"
        yield f"{report.unlabeled:,} {have} no label: predicted, but never asked."
    yield from report.warnings


def what_run_would_do(report: FileReport) -> str:
    """How ``askance run`` would go about it."""
    if report.obstacle is not None:
        return f"'askance run' would refuse it: {report.obstacle}"
    from askance.learner.auto.decaying_rate import HEAD

    refused = " --skip-bad-lines" if report.bad_lines else ""
    labels = USUAL_RATE * (report.events - report.unlabeled)
    return (
        f"'askance run {report.name}{refused}' would play auto and buy about {percent(USUAL_RATE)} of the labels, "
        f"{labels:,.0f}, and up to {HEAD:.0f} more at the start."
    )


command = Command(
    name="check",
    summary="show the fields and labels of a file, and what looks wrong",
    description="Read a file and show its fields with their kinds and missing values (of the\n"
    "first 1000 rows), its labels, what looks wrong, and what 'askance run' would do\n"
    "with it. Nothing is learned and nothing is written.",
    epilog="examples:\n  askance check mail.csv\n  askance check mail.csv --label spam --field zip=category\n"
    "  askance check mail.jsonl --json\n",
    configure=configure,
    run=run,
)
