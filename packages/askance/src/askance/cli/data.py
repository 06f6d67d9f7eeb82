"""``askance data``: which data sets there are, and getting them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from askance.cli.command import Command
from askance.cli.output import console, print_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from askance.data.datasets.fetch import Report
    from askance.data.datasets.registry import Entry

ONE_LINE = 132  # columns that a row needs if nothing is to wrap


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("list", "get"), help="list all sets, or get some")
    parser.add_argument("names", nargs="*", metavar="NAME", help="with get: the sets to get; with list: only these")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(options: argparse.Namespace) -> int:
    from askance.data.datasets import entries, find
    from askance.errors import InvalidParameter

    if options.action == "get":
        if not options.names:
            raise InvalidParameter("name a data set to get, for example 'askance data get w8a'.")
        return get(options.names, options.json)
    shown = [find(name) for name in options.names] if options.names else list(entries().values())
    if options.json:
        print_json([as_json(entry) for entry in shown])
        return 0
    show(shown, detailed=bool(options.names))
    return 0


def as_json(entry: Entry) -> dict[str, Any]:
    """An entry of the registry, and where it is on this machine."""
    from dataclasses import asdict

    from askance.data.datasets import available
    from askance.data.datasets.folders import path_of

    path = path_of(entry)
    here = {"available": available(entry.name), "path": str(path) if path else None}
    return asdict(entry) | here


# --- list ------------------------------------------------------------------------------------------------


def show(entries: list[Entry], detailed: bool) -> None:
    from askance.data.datasets import available
    from askance.data.datasets.folders import cache_folder, local_folder

    screen = console(width_in_a_pipe=ONE_LINE)
    here = {entry.name for entry in entries if available(entry.name)}
    if detailed:
        for entry in entries:
            describe(screen, entry, entry.name in here)
        return
    screen.print(table(entries, here, screen.width >= ONE_LINE))
    folder = local_folder()
    local = f"in {folder} (ASKANCE_DATA)" if folder else "in the folder that ASKANCE_DATA names (it names none)"
    screen.print(
        f"{len(entries)} sets, {len(here)} of them on this machine: {local} or in {cache_folder()}. "
        "'askance data get NAME' downloads one; 'askance data list NAME' says more about it."
    )


def table(entries: list[Entry], here: set[str], is_wide: bool) -> Table:
    from rich import box
    from rich.table import Table

    result = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    result.add_column("name", style="cyan", min_width=16)
    for heading in ("rows", "columns", "classes"):
        result.add_column(heading, justify="right")
    result.add_column("papers")
    result.add_column("here")
    if is_wide:
        result.add_column("source")
        result.add_column("licence", style="dim")
    for entry in entries:
        cells = [
            entry.name,
            f"{entry.rows:,}",
            f"{entry.columns:,}" if entry.columns else "text",
            str(entry.classes),
            ", ".join(str(paper) for paper in entry.papers),
            state(entry, entry.name in here),
        ]
        result.add_row(*cells, *([entry.source, entry.licence] if is_wide else []))
    return result


def state(entry: Entry, is_here: bool) -> str:
    if is_here:
        return "yes"
    return "get" if entry.can_be_fetched or entry.is_task else "by hand"


def describe(screen: Console, entry: Entry, is_here: bool) -> None:
    """All there is to say about one set."""
    from askance.data.datasets.fetch import missing
    from askance.data.datasets.folders import path_of

    size = f"{entry.columns:,} columns" if entry.columns else "texts"
    screen.print(f"{entry.name}: {entry.rows:,} rows, {size}, {entry.classes} classes", style="bold")
    if entry.is_task:
        screen.print(f"  made of {' and '.join(entry.parts)}: {entry.options['make']}")
    lines = {"source": entry.source, "page": entry.page, "licence": entry.licence, "order": entry.order}
    if entry.note:
        lines["note"] = entry.note
    if entry.papers:
        lines["papers"] = ", ".join(str(paper) for paper in entry.papers)
    if is_here and not entry.is_task:
        lines["file"] = str(path_of(entry))
    for name, text in lines.items():
        screen.print(f"  {name:<8} {text}", soft_wrap=True)
    if not is_here and not entry.is_task:
        screen.print(f"  {missing(entry)}", soft_wrap=True)


# --- get -------------------------------------------------------------------------------------------------


def get(names: list[str], as_json_only: bool) -> int:
    from askance.data.datasets import folders
    from askance.data.datasets import get as get_one
    from askance.data.datasets.registry import find

    screen, rows = console(), []
    for name in dict.fromkeys(names):
        entry = find(name)
        with following(screen, name, silent=as_json_only) as report:
            paths = get_one(name, report)
        same = None
        if entry.content:
            same = folders.fingerprint(folders.read(paths[0])) == entry.content
        rows.append({"name": name, "paths": [str(path) for path in paths], "same_content": same})
        if not as_json_only:
            remark = {
                True: "exactly the rows that the documented results were made with",
                False: "the same size and classes, but not exactly the rows or the order of the documented results",
                None: "",
            }[same]
            for path in paths:
                screen.print(f"{name}: {path}" + (f" ({remark})" if remark else ""), soft_wrap=True)
    if as_json_only:
        print_json(rows)
    return 0


class following:  # noqa: N801
    """A bar on a terminal that follows a download; nothing elsewhere."""

    def __init__(self, screen: Console, name: str, silent: bool) -> None:
        self.bar: Any = None
        self.name = name
        if screen.is_terminal and not silent:
            from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

            columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
            self.bar = Progress(*columns, console=screen, transient=True)

    def __enter__(self) -> Report | None:
        if self.bar is None:
            return None
        self.bar.start()
        task = self.bar.add_task(self.name, total=None)
        return lambda received, total: self.bar.update(task, completed=received, total=total)

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.stop()


command = Command(
    name="data",
    summary="list the public data sets, and get them",
    description="List the data sets that askance knows, with their size, source and licence, or\n"
    "download some from their official sources into the cache. A local folder with\n"
    "name.npz or name.jsonl.gz files is used first if ASKANCE_DATA names it.",
    epilog="examples:\n  askance data list\n  askance data list w8a\n  askance data get w8a mushrooms\n"
    "  askance data list --json\n",
    configure=configure,
    run=run,
)
