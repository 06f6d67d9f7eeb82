"""What webhooks are to be told: written in the transaction in which it happened, and kept until they have taken it.

So a crash loses nothing, and what was rolled back is told to nobody. A receiver that does not answer is tried again,
after 5 seconds, then after twice as long each time up to an hour, and given up after three days:

    pause(n) = min(5 * 2^n, 3600) seconds after the n-th failure, n = 0, 1, ...
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from secrets import token_hex
from typing import Any

from askance.live.clock import DAY, iso, span
from askance.live.config import Config
from askance.live.engine.quality_tracker import QualityTracker
from askance.live.engine.spending import count_spent
from askance.live.engine.state import EngineState
from askance.live.store.database import Session
from askance.live.store.rows import UPSERT_META, Query, insert
from askance.live.store.schema import OutboxRow
from askance.live.webhooks.settings import Webhook

FIRST_PAUSE, LONGEST_PAUSE = 5.0, 3600.0
LASTING = 3 * DAY
MOST_WAITING = 100_000  # messages of one webhook; beyond, the oldest are given up
GIVEN_UP_KEPT = 1000
ALARMS = "alarms"
INSERT = insert(OutboxRow)
DUE = Query(OutboxRow, "outbox", "WHERE given_up = 0 AND hook = ? AND due <= ? ORDER BY seq LIMIT ?")


def wanted_by(config: Config, event: str) -> list[Webhook]:
    """The webhooks that are told of such an event."""
    return [hook for hook in config.webhooks if event in hook.events]


def emit(session: Session, state: EngineState, event: str, happenings: Iterable[dict[str, Any]]) -> None:
    """Tell the webhooks that want to know, each of these happenings in a message."""
    hooks = wanted_by(state.config, event)
    if not hooks:
        return
    now = state.clock.now()
    seq = int(session.value("SELECT max(seq) FROM outbox") or 0)
    rows = []
    for data in happenings:
        body = json.dumps({"type": event, "timestamp": iso(now), "stream": state.config.name, "data": data})
        for hook in hooks:
            seq += 1
            rows.append(OutboxRow(seq, f"msg_{token_hex(12)}", hook.url, event, body, now, now))
    session.many(INSERT, rows)


def pause_after(attempts: int) -> float:
    """Seconds until the next try, after so many failed ones.

    >>> [pause_after(n) for n in (1, 2, 3, 20)]
    [5.0, 10.0, 20.0, 3600.0]
    """
    return min(FIRST_PAUSE * 2.0 ** min(attempts - 1, 20), LONGEST_PAUSE)


def note_taken(session: Session, row: OutboxRow) -> None:
    """A message has arrived."""
    session.execute("DELETE FROM outbox WHERE id = ?", (row.id,))


def note_failure(session: Session, row: OutboxRow, error: str, now: float) -> None:
    """A message has not arrived: later again, unless it is too old by now."""
    attempts = row.attempts + 1
    session.execute(
        "UPDATE outbox SET attempts = ?, due = ?, error = ?, given_up = ? WHERE id = ?",
        (attempts, now + pause_after(attempts), error[:200], int(now - row.created > LASTING), row.id),
    )
    newest = int(session.value("SELECT max(seq) FROM outbox WHERE hook = ?", (row.hook,)) or 0)
    session.execute(
        "UPDATE outbox SET given_up = 1 WHERE hook = ? AND given_up = 0 AND seq <= ?",
        (row.hook, newest - MOST_WAITING),
    )
    session.execute(
        "DELETE FROM outbox WHERE given_up = 1 AND seq < "
        "(SELECT seq FROM outbox WHERE given_up = 1 ORDER BY seq DESC LIMIT 1 OFFSET ?)",
        (GIVEN_UP_KEPT - 1,),
    )


def raise_alarms(session: Session, state: EngineState, room: int | None) -> None:
    """Tell of what holds since the last look: once as it begins, restarts or not."""
    if not state.config.webhooks:
        return
    now, reserve = state.clock.now(), state.config.server.disk_reserve
    holds: dict[str, dict[str, Any]] = {}
    if spent := [part.span.name for part in count_spent(state, now) if part.is_all]:
        holds["budget.spent"] = {"spent": spent}
    if is_drifting(state.learner.tracker):
        holds["drift.alarm"] = {"sampled": state.learner.tracker.drift.sampled}
    if room is not None and room < 2 * reserve:
        holds["disk.low"] = {"free_bytes": room, "reserve_bytes": reserve}
    stored = session.value("SELECT value FROM meta WHERE name = ?", (ALARMS,))
    before = set(str(stored or "").split())
    for event in holds.keys() - before:
        emit(session, state, event, [holds[event]])
    if holds.keys() != before:
        session.execute(UPSERT_META, (ALARMS, " ".join(sorted(holds))))


def is_drifting(tracker: QualityTracker) -> bool:
    """Whether the drift signal has an alarm that is recent."""
    from askance.live.dashboard.stats import RECENT_AUDITS

    alarm = tracker.alarm
    return alarm is not None and tracker.drift.sampled - alarm["sampled"] < RECENT_AUDITS


def examine_outbox(session: Session, config: Config, now: float) -> list[str]:
    """What webhooks have not been told in time, in sentences."""
    findings = []
    for hook in config.webhooks:
        lost = int(session.value("SELECT count(*) FROM outbox WHERE hook = ? AND given_up = 1", (hook.url,)))
        if lost:
            findings.append(f"{lost:,} messages to the webhook at {hook.host} were given up; see to its receiver.")
        oldest, error = session.one(
            "SELECT created, error FROM outbox WHERE hook = ? AND given_up = 0 AND attempts > 0 ORDER BY seq LIMIT 1",
            (hook.url,),
        ) or (None, None)
        if oldest is not None:
            findings.append(f"the webhook at {hook.host} has not taken a message for {span(now - oldest)} ({error}).")
    return findings
