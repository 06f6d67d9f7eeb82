"""``askance algorithms``: every algorithm by its name in the papers."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from askance.cli.command import Command
from askance.cli.output import console, print_json

if TYPE_CHECKING:
    from rich.table import Table

ONE_LINE = 132  # columns that a row needs if nothing is to wrap


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the table as JSON")


def run(options: argparse.Namespace) -> int:
    import askance
    from askance.learner.presets import PAPERS

    rows = askance.algorithms()
    if options.json:
        print_json(rows)
        return 0
    screen = console(width_in_a_pipe=ONE_LINE)
    is_wide = screen.width >= ONE_LINE
    for paper in dict.fromkeys(row["paper"] for row in rows):
        title = (
            f"Paper {paper}. {PAPERS[paper]}" if paper else "Needs a budget and nothing else: several learners at once"
        )
        screen.print(f"{title}\n", style="bold")
        screen.print(table([row for row in rows if row["paper"] == paper], is_wide))
        screen.print()
    screen.print(
        f"{len(rows)} algorithms. askance.make(name, ...) makes one; parameters not given are as above. "
        "Every one also takes budget, classes, normalize, intercept, n_features and random_state."
    )
    return 0


def table(rows: list[dict[str, Any]], is_wide: bool) -> Table:
    """One paper's algorithms: a line each, or two on a narrow screen."""
    from rich import box
    from rich.table import Table

    result = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    result.add_column("name", style="cyan", min_width=14)
    if is_wide:
        result.add_column("also known as", style="cyan", min_width=13)
        result.add_column("update", min_width=32)
        result.add_column("query", min_width=22)
    else:
        result.add_column("update, query", min_width=32)
    result.add_column("parameters")
    for row in rows:
        name, aliases, letters = row["name"], ", ".join(row["aliases"]), format_parameters(row["parameters"])
        if is_wide:
            result.add_row(name, aliases, row["update"], row["query"], letters)
        else:
            below = f"\n({aliases})" if aliases else ""
            result.add_row(name + below, f"{row['update']}\n{row['query']}", letters)
    return result


def format_parameters(parameters: dict[str, Any]) -> str:
    return (
        ", ".join(
            f"{letter}={value if isinstance(value, str) else f'{value:g}'}" for letter, value in parameters.items()
        )
        or "none"
    )


command = Command(
    name="algorithms",
    summary="list the algorithms, where they come from and what they take",
    description="List all algorithms by the names the papers gave them: how each learns\n"
    "(update), how it decides to ask (query), and its parameters with their defaults.",
    epilog="examples:\n  askance algorithms\n  askance algorithms | grep SOAL\n  askance algorithms --json\n",
    configure=configure,
    run=run,
)
