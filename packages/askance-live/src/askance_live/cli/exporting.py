"""``askance export``: everything the live service knows, line by line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from askance.atomic import atomic_write
from askance.cli.command import Command
from askance.cli.output import writable
from askance.errors import InvalidParameter
from askance.plural import format_count
from askance_live.cli.live import add_config, open_stores, read_config

FORMATS = ("jsonl", "csv", "parquet", "label-studio", "prodigy")
ENDINGS = {".csv": "csv", ".parquet": "parquet"}


def configure(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE",
        help="where to write; .jsonl, .csv or .parquet (default: stdout)",
    )  # fmt: skip
    parser.add_argument("--format", choices=FORMATS, help="the format, whatever the file is called")
    parser.add_argument("--csv", action="store_true", help="the same as --format csv")


def run(options: argparse.Namespace) -> int:
    config = read_config(options)
    import msgspec

    from askance_live.engine.quarantine import as_lines, read_page
    from askance_live.engine.stored_settings import stored_label_schema_of, with_label_schema
    from askance_live.exchange.export import PAGE
    from askance_live.exchange.export_formats import FORMATS, write_page
    from askance_live.problems import Problem

    name = options.format or ("csv" if options.csv else ENDINGS.get(Path(options.file).suffix, "jsonl"))
    with open_stores(config) as database, ExitStack() as stack:
        session = stack.enter_context(database.read())
        labels = with_label_schema(config, stored_label_schema_of(session, config)).config.labels
        try:
            writer = FORMATS[name].writer(session, labels)
        except Problem as problem:
            raise InvalidParameter(problem.detail) from None
        out: IO[bytes] = sys.stdout.buffer
        if options.file != "-":
            out = stack.enter_context(open_output(Path(options.file)))
        out.write(writer.begin())
        after = count = 0
        while found := write_page(session, writer, after):
            content, after = found
            out.write(content)
        cursor: str | None = "0" if FORMATS[name].has_quarantine else None
        while cursor is not None:
            kept = read_page(session, int(cursor), PAGE)
            out.write(b"".join(msgspec.json.encode(item) + b"\n" for item in as_lines(kept)))
            cursor, count = kept.next, count + len(kept.events)
        for content in writer.end():
            out.write(content)
        out.flush()
    if options.file != "-":
        print(f"Wrote {format_count(count + writer.n, 'event')} to {options.file!r}.")
    return 0


@contextmanager
def open_output(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears once it is complete; a pipe or a device as it is."""
    with writable(path), ExitStack() as stack:
        name = path if path.exists() and not path.is_file() else stack.enter_context(atomic_write(path))
        with open(name, "wb") as file:
            yield file


command = Command(
    name="export",
    summary="write the events, predictions and labels of the live service",
    description="Write every event with its prediction and its label: JSON lines, which\n"
    "'askance import' reads, CSV, Parquet, or tasks of Label Studio or Prodigy. Works\n"
    "while the service runs.",
    epilog="examples:\n  askance export > all.jsonl\n  askance export all.csv\n"
    "  askance export tasks.json --format label-studio\n",
    configure=configure,
    run=run,
)
