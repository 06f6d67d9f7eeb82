"""What may be wrong with a store."""

from __future__ import annotations

import hashlib
import os
import stat

from askance.live.config import Config, is_postgres
from askance.live.learner import unpack
from askance.live.problems import StartError
from askance.live.rebuild import compare
from askance.live.state import check_model
from askance.live.store.database import Database, Session
from askance.live.tallies import is_counted, recount, stored


def examine_store(database: Database, config: Config, deep: bool = False) -> list[str]:
    """Problems in sentences, each with its remedy; nothing if all is well."""
    findings = [f"{sentence}; restore a backup." for sentence in database.check()]
    if not is_postgres(database.place):
        mode = stat.S_IMODE(os.stat(database.place).st_mode)
        if mode & 0o077:
            findings.append(f"{database.place!r} can be read by others (mode {mode:o}); chmod 600 it.")
    room = database.room()
    if room is not None and room < config.server.disk_reserve:
        findings.append(f"only {room:,} bytes are free beside {database.place!r}; make room.")
    with database.read() as session:
        findings += _log(session) + _tallies(session) + _checkpoints(session)
        try:
            check_model(session, config)
        except StartError as error:
            return [*findings, str(error)]
        if deep and not compare(session, config)["same"]:
            findings.append("the stored model differs from the replay of its log; run 'askance rebuild'.")
    return findings


def _log(session: Session) -> list[str]:
    findings = []
    count, last = session.all("SELECT count(*), coalesce(max(n), 0) FROM learned")[0]
    if count != last:
        findings.append(f"the log of learned answers has {count} rows but its last number is {last}; restore a backup.")
    twice = session.value("SELECT count(*) FROM (SELECT answer FROM learned GROUP BY answer HAVING count(*) > 1) t")
    if twice:
        findings.append(f"{twice} answers were learned twice; restore a backup.")
    lost = session.value(
        "SELECT count(*) FROM answers a WHERE a.state = 'learned' "
        "AND NOT EXISTS (SELECT 1 FROM learned l WHERE l.answer = a.seq)"
    )
    if lost:
        findings.append(f"{lost} answers count as learned but are not in the log; restore a backup.")
    return findings


def _tallies(session: Session) -> list[str]:
    if not is_counted(session) or stored(session) == recount(session):
        return []
    return ["the counts that the dashboard shows differ from the rows; run 'askance rebuild', which counts anew."]


def _checkpoints(session: Session) -> list[str]:
    findings = []
    for seq, digest, content in session.all("SELECT seq, digest, content FROM checkpoints"):
        try:
            sound = hashlib.sha256(unpack(bytes(content))).hexdigest() == digest
        except Exception:
            sound = False
        if not sound:
            findings.append(f"the checkpoint at {seq} is damaged; the log has everything: run 'askance rebuild'.")
    return findings
