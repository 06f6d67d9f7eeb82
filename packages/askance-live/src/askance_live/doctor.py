"""What may be wrong with a store."""

from __future__ import annotations

import os
import stat

from askance_live.clock import STEP, Clock, iso, span
from askance_live.config import Config, is_postgres
from askance_live.dashboard.stored_counts import are_right
from askance_live.engine.checkpoints import OtherSettings, checkpoints, read_checkpoint, stored_start
from askance_live.engine.quarantine import examine, remarks
from askance_live.engine.rebuild import compare
from askance_live.engine.stored_settings import read_settings
from askance_live.problems import StartError
from askance_live.store.database import Database, Session
from askance_live.store.log_hash import find_damage
from askance_live.webhooks.outbox import examine_outbox


def examine_store(database: Database, config: Config, deep: bool = False) -> list[str]:
    """What makes a store unsound, in sentences, each with its remedy; nothing if all is well."""
    findings = [f"{sentence}; restore a backup." for sentence in database.check()]
    if not is_postgres(database.place):
        mode = stat.S_IMODE(os.stat(database.place).st_mode)
        if mode & 0o077:
            findings.append(f"{database.place!r} can be read by others (mode {mode:o}); chmod 600 it.")
    room = database.room()
    if room is not None and room < config.server.disk_reserve:
        findings.append(f"only {room:,} bytes are free beside {database.place!r}; make room.")
    with database.read() as session:
        findings += find_damage(session) + _counts(session) + examine(session)
        try:
            config, _ = read_settings(session, config)
            stored_start(session, config)
        except StartError as error:
            return [*findings, str(error)]
        if deep and not compare(session, config)["same"]:
            findings.append("the stored model differs from the replay of its log; run 'askance rebuild'.")
    return findings


def examine_rest(database: Database, config: Config) -> list[str]:
    """What is not as it should be, but keeps no service from starting and loses nothing."""
    with database.read() as session:
        outbox = examine_outbox(session, config, Clock().now())
        return broken_checkpoints(session, config) + _times_ahead(session) + outbox


def remark_on_store(database: Database) -> list[str]:
    """What is not wrong with a store but worth knowing, in sentences."""
    with database.read() as session:
        return remarks(session)


def _counts(session: Session) -> list[str]:
    if are_right(session):
        return []
    return ["the counts that the dashboard shows differ from the rows; run 'askance rebuild', which counts anew."]


STAMPED = {
    "events": "received", "answers": "created", "asks": "created", "tokens": "created", "people": "created",
    "audit_log": "time",
}  # fmt: skip
"""The columns with the times at which something was stored, by table."""


def _times_ahead(session: Session) -> list[str]:
    """Whether the newest stored time has not come yet, by this machine's clock."""
    found = {table: session.value(f"SELECT max({column}) FROM {table}") for table, column in STAMPED.items()}
    times = {table: value for table, value in found.items() if isinstance(value, int | float)}
    newest = max(times, key=times.__getitem__, default=None)
    if newest is None or (ahead := times[newest] - Clock().now()) < STEP:
        return []
    return [
        f"the newest stored time, {iso(times[newest])} in the table {newest}, lies {span(ahead)} ahead of this "
        "machine's clock; set the clock if it is wrong; if it was wrong then, nothing is to be done: what was stored "
        "keeps its time."
    ]


def broken_checkpoints(session: Session, config: Config) -> list[str]:
    """Checkpoints that a start leaves out; nothing is lost by that but time."""
    findings = []
    start = stored_start(session, config)
    for seq in checkpoints(session):
        try:
            read_checkpoint(session, seq, config, start)
        except OtherSettings:
            continue  # as of a store without events, whose settings may change
        except ValueError as error:
            findings.append(
                f"the checkpoint at {seq} is damaged: {error}; the log has everything: run 'askance rebuild'."
            )
    return findings
