"""``askance export``: everything the live service knows, line by line."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from typing import IO

from askance.cli.command import Command
from askance.cli.live import add_config, open_stores, read_config
from askance.plural import format_count


def configure(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="where to write; .csv or .jsonl (default: stdout)"
    )
    parser.add_argument("--csv", action="store_true", help="write CSV whatever the file is called")


def run(options: argparse.Namespace) -> int:
    config = read_config(options)
    import msgspec

    from askance.live.export import PAGE, as_csv, as_objects, field_names, rows
    from askance.live.quarantine import as_lines, read_page

    with open_stores(config) as database, ExitStack() as stack:
        out: IO[bytes] = sys.stdout.buffer if options.file == "-" else stack.enter_context(open(options.file, "wb"))
        session = stack.enter_context(database.read())
        classes = config.model.classes
        as_table = options.csv or options.file.endswith(".csv")
        names = field_names(session) if as_table else []
        after, head, count = 0, True, 0
        while True:
            page, answers = rows(session, after)
            if as_table and (page or head):
                out.write(as_csv(page, answers, classes, names, head).encode())
            elif page:
                out.write(b"".join(msgspec.json.encode(item) + b"\n" for item in as_objects(page, answers, classes)))
            if not page:
                break
            after, head, count = page[-1][0], False, count + len(page)
        cursor: str | None = None if as_table else "0"
        while cursor is not None:
            kept = read_page(session, int(cursor), PAGE)
            out.write(b"".join(msgspec.json.encode(item) + b"\n" for item in as_lines(kept)))
            cursor, count = kept.next, count + len(kept.events)
        out.flush()
    if options.file != "-":
        print(f"Wrote {format_count(count, 'event')} to {options.file!r}.")
    return 0


command = Command(
    name="export",
    summary="write the events, predictions and labels of the live service",
    description="Write every event with its prediction and its label: JSON lines, which\n"
    "'askance import' reads, or CSV. Works while the service runs.",
    epilog="examples:\n  askance export > all.jsonl\n  askance export all.csv\n",
    configure=configure,
    run=run,
)
