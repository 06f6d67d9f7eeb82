"""``askance backup``, ``restore``, ``rebuild`` and ``doctor``: the store, copied, checked and made sound again."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from askance.cli.command import Command
from askance.cli.live import add_config, opened, or_by_http, read_config
from askance.errors import InvalidParameter

if TYPE_CHECKING:
    from askance.live.config import Config


def configure_backup(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument("file", metavar="FILE", help="where to write the copy")


def run_backup(options: argparse.Namespace) -> int:
    config = read_config(options)
    with opened(config) as database:
        database.backup(options.file)
    print(f"Wrote {options.file!r}, {os.path.getsize(options.file):,} bytes.")
    return 0


def configure_restore(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument("file", metavar="FILE", help="the copy")
    parser.add_argument(
        "--verify", action="store_true", help="also replay the log and compare the model with the checkpoint's"
    )
    parser.add_argument("--force", action="store_true", help="replace a store that exists")


def run_restore(options: argparse.Namespace) -> int:
    config = read_config(options)
    from askance.live.config import is_postgres
    from askance.live.store.sqlite import BESIDE, copy_file, lock, replace_store

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
        findings = examine(config, str(staged), options.verify)
        if findings:
            raise InvalidParameter(f"{options.file!r} is not sound: {findings[0]}")
        replace_store(staged, target)
    finally:
        for name in ("", *BESIDE, ".lock"):
            Path(f"{staged}{name}").unlink(missing_ok=True)
        os.close(owner)
    print(f"Restored {config.store!r} from {options.file!r}{', verified by a replay' if options.verify else ''}.")
    return 0


def examine(config: Config, place: str, deep: bool) -> list[str]:
    """What is wrong with a store, in sentences."""
    from askance.live.doctor import examine_store
    from askance.live.store import open_store

    database = open_store(place)
    try:
        return examine_store(database, config, deep)
    finally:
        database.close()


def configure_rebuild(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument("--check", action="store_true", help="only compare: change nothing")


def run_rebuild(options: argparse.Namespace) -> int:
    config = read_config(options)
    from askance.live.rebuild import rebuild_offline

    with opened(config) as database:
        with or_by_http(config, "POST /v1/model/rebuild"):
            database.own()
        found = rebuild_offline(database, config, options.check)
    print(f"model {found['model']}, digest {found['digest']}, {found['left_out']} answers left out")
    if options.check and not found["same"]:
        print("The stored model differs from the replay of its log.")
        return 2
    return 0


def configure_doctor(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument(
        "--deep", action="store_true", help="also replay the log and compare the model with the checkpoint's"
    )


def run_doctor(options: argparse.Namespace) -> int:
    config = read_config(options)
    findings = examine(config, config.store, options.deep)
    for sentence in findings:
        print(f"problem: {sentence}")
    print(f"{len(findings)} problems." if findings else "All is well.")
    return 2 if findings else 0


backup = Command(
    name="backup",
    summary="copy the store of the live service while it runs",
    description="Write a consistent copy of the SQLite store; the service goes on meanwhile.",
    epilog="examples:\n  askance backup askance-monday.db\n",
    configure=configure_backup,
    run=run_backup,
)
restore = Command(
    name="restore",
    summary="put a backup in the place of the store",
    description="Check a backup and put it in the place of the store. The service must not run.",
    epilog="examples:\n  askance restore askance-monday.db --verify\n  askance restore askance-monday.db --force\n",
    configure=configure_restore,
    run=run_restore,
)
rebuild = Command(
    name="rebuild",
    summary="make the live service's model anew from its log",
    description="Replay the log of events and answers: leaves out answers that were taken back\n"
    "after they were learned, and takes up changed settings of the model. The\n"
    "service must not run; a running one does the same at POST /v1/model/rebuild.",
    epilog="examples:\n  askance rebuild\n  askance rebuild --check\n",
    configure=configure_rebuild,
    run=run_rebuild,
)
doctor = Command(
    name="doctor",
    summary="check the settings and the store of the live service",
    description="Check settings, store, log and checkpoint, and say what to do about what is\nwrong.",
    epilog="examples:\n  askance doctor\n  askance doctor --deep\n",
    configure=configure_doctor,
    run=run_doctor,
)
