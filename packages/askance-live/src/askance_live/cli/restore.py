"""``askance restore``: a backup in the place of the store, once it is found to be sound."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from askance.cli.command import Command
from askance.errors import InvalidParameter
from askance_live.cli.doctor import examine
from askance_live.cli.live import add_config, read_config


def configure(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument("file", metavar="FILE", help="the copy")
    parser.add_argument(
        "--verify", action="store_true", help="also replay the log and compare the model with the checkpoint's"
    )
    parser.add_argument("--force", action="store_true", help="replace a store that exists")


def run(options: argparse.Namespace) -> int:
    config = read_config(options)
    from askance_live.config import is_postgres
    from askance_live.store.sqlite import BESIDE, copy_file, lock, replace_store

    source, target = Path(options.file), Path(config.store)
    if is_postgres(config.store):
        raise InvalidParameter("a PostgreSQL store is restored with pg_restore or psql.")
    if not source.is_file():
        raise InvalidParameter(f"there is no {options.file!r} to restore.")
    if target.exists() and not options.force:
        raise InvalidParameter(f"{config.store!r} exists already; --force replaces it.")
    owner = lock(target)  # refuses while a service works on it
    staged = target.with_name(target.name + ".restored")
    try:
        copy_file(source, staged)
        findings, rest = examine(config, str(staged), options.verify)
        if findings:
            raise InvalidParameter(f"{options.file!r} is not sound: {findings[0]}")
        for sentence in rest:
            print(f"note: {sentence}", file=sys.stderr)
        note_restore(str(staged), source.name)
        replace_store(staged, target)
        os.ftruncate(owner, 0)  # what it said of the store before
    finally:
        for name in ("", *BESIDE, ".lock"):
            Path(f"{staged}{name}").unlink(missing_ok=True)
        os.close(owner)
    print(f"Restored {config.store!r} from {options.file!r}{', verified by a replay' if options.verify else ''}.")
    return 0


def note_restore(place: str, name: str) -> None:
    """Say in the activity log of a copy that it takes the store's place."""
    from askance_live.access.auth import note
    from askance_live.access.names import COMMAND_LINE
    from askance_live.store import open_store

    database = open_store(place)
    try:
        with database.write() as session:
            note(session, time.time(), COMMAND_LINE, "restore", {"file": name})
    finally:
        database.close()


command = Command(
    name="restore",
    summary="put a backup in the place of the store",
    description="Check a backup and put it in the place of the store. The service must not run.",
    epilog="examples:\n  askance restore askance-monday.db --verify\n  askance restore askance-monday.db --force\n",
    configure=configure,
    run=run,
)
