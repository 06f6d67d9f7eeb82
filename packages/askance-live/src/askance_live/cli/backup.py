"""``askance backup``: a copy of the store while the service runs."""

from __future__ import annotations

import argparse
import os

from askance.cli.command import Command
from askance_live.cli.live import add_config, open_stores, read_config


def configure(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument("file", metavar="FILE", help="where to write the copy")


def run(options: argparse.Namespace) -> int:
    config = read_config(options)
    with open_stores(config) as database:
        database.backup(options.file)
    print(f"Wrote {options.file!r}, {os.path.getsize(options.file):,} bytes.")
    return 0


command = Command(
    name="backup",
    summary="copy the store of the live service while it runs",
    description="Write a consistent copy of the SQLite store; the service goes on meanwhile.",
    epilog="examples:\n  askance backup askance-monday.db\n",
    configure=configure,
    run=run,
)
