"""What webhooks are to be told: written in the transaction in which it happened, and kept until they have taken it.

So a crash loses nothing, and what was rolled back is told to nobody. A receiver that does not answer is tried again,
after 5 seconds, then after twice as long each time up to an hour, and given up after three days:

    pause(n) = min(5 * 2^n, 3600) seconds after the n-th failure, n = 0, 1, ...

What waits for one receiver is bounded, in messages and in bytes: beyond that the oldest are given up, and counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from secrets import token_hex
from typing import Any, NamedTuple

from askance_live.clock import DAY, iso, span
from askance_live.config import Config
from askance_live.engine.quality_tracker import QualityTracker
from askance_live.engine.spending import count_by_class, count_spent, has_spent_all_classes
from askance_live.engine.state import EngineState
from askance_live.store.database import Session
from askance_live.store.rows import UPSERT_META, Query, insert
from askance_live.store.schema import OutboxRow
from askance_live.webhooks.settings import Webhook

FIRST_PAUSE, LONGEST_PAUSE = 5.0, 3600.0
LASTING = 3 * DAY
MOST_WAITING, MOST_BYTES = 100_000, 100_000_000  # messages to one webhook, and their bodies
LOOK_EVERY = 1000  # messages
GIVEN_UP_KEPT = 1000
ALARMS, GIVEN_UP = "alarms", "given up"  # in the table ``meta``
INSERT = insert(OutboxRow)
DUE = Query(OutboxRow, "outbox", "WHERE given_up = 0 AND hook = ? AND due <= ? ORDER BY seq LIMIT ?")


NEWEST_BEYOND = (
    "SELECT max(seq) FROM (SELECT seq, sum(length(body)) OVER (ORDER BY seq DESC) AS held, "
    "row_number() OVER (ORDER BY seq DESC) AS place FROM outbox WHERE hook = ? AND given_up = 0) AS waiting "
    "WHERE held > ? OR place > ?"
)


class Waiting(NamedTuple):
    """What waits for a webhook, and how much was given up so far."""

    messages: int = 0
    bytes: int = 0
    given_up: int = 0


def wanted_by(config: Config, event: str) -> list[Webhook]:
    """The webhooks that are told of such an event."""
    return [hook for hook in config.webhooks if event in hook.events]


def emit(session: Session, state: EngineState, event: str, happenings: Iterable[dict[str, Any]]) -> None:
    """Tell the webhooks that want to know, each of these happenings in a message."""
    hooks = wanted_by(state.config, event)
    if not hooks:
        return
    now = state.clock.now()
    before = seq = int(session.value("SELECT max(seq) FROM outbox") or 0)
    rows = []
    for data in happenings:
        body = json.dumps({"type": event, "timestamp": iso(now), "stream": state.config.name, "data": data})
        for hook in hooks:
            seq += 1
            rows.append(OutboxRow(seq, f"msg_{token_hex(12)}", hook.url, event, body, now, now))
    session.many(INSERT, rows)
    if seq // LOOK_EVERY > before // LOOK_EVERY:
        for hook in hooks:
            drop_oldest(session, hook.url)


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
    if now - row.created > LASTING:
        _note_given_up(session, row.hook, 1)
    drop_oldest(session, row.hook)


def drop_oldest(session: Session, hook: str) -> None:
    """Give up the oldest messages to a webhook where more wait than may."""
    last = session.value(NEWEST_BEYOND, (hook, MOST_BYTES, MOST_WAITING))
    if last is not None:
        lost = session.execute(
            "UPDATE outbox SET given_up = 1 WHERE hook = ? AND given_up = 0 AND seq <= ?", (hook, last)
        )
        _note_given_up(session, hook, lost)


def _note_given_up(session: Session, hook: str, more: int) -> None:
    counts = _given_up(session)
    counts[hook] = counts.get(hook, 0) + more
    session.execute(UPSERT_META, (GIVEN_UP, json.dumps(counts)))
    session.execute(
        "DELETE FROM outbox WHERE given_up = 1 AND seq < "
        "(SELECT seq FROM outbox WHERE given_up = 1 ORDER BY seq DESC LIMIT 1 OFFSET ?)",
        (GIVEN_UP_KEPT - 1,),
    )


def _given_up(session: Session) -> dict[str, int]:
    """How many messages to each webhook were given up so far."""
    try:
        found = json.loads(session.value("SELECT value FROM meta WHERE name = ?", (GIVEN_UP,)) or "{}")
        return {str(hook): int(n) for hook, n in found.items()}
    except (AttributeError, TypeError, ValueError):  # damaged, and of no consequence
        return {}


def count_waiting(session: Session, hook: str) -> Waiting:
    """What waits for a webhook."""
    row = session.one(
        "SELECT count(*), coalesce(sum(length(body)), 0) FROM outbox WHERE hook = ? AND given_up = 0", (hook,)
    )
    assert row is not None
    return Waiting(int(row[0]), int(row[1]), _given_up(session).get(hook, 0))


def forget_others(session: Session, config: Config, now: float) -> None:
    """Drop what has waited too long for addresses that the settings name no more."""
    for (hook,) in session.all("SELECT DISTINCT hook FROM outbox WHERE created < ?", (now - LASTING,)):
        if hook not in {known.url for known in config.webhooks}:
            session.execute("DELETE FROM outbox WHERE hook = ? AND created < ?", (hook, now - LASTING))


def raise_alarms(session: Session, state: EngineState, room: int | None) -> None:
    """Tell of what holds since the last look: once as it begins, restarts or not."""
    if not state.config.webhooks:
        return
    now, reserve = state.clock.now(), state.config.server.disk_reserve
    holds: dict[str, dict[str, Any]] = {}
    spent = [part.span.name for part in count_spent(state, now) if part.is_all]
    if has_spent_all_classes(count_by_class(state)):
        spent.append("classes")
    if spent:
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
    from askance_live.dashboard.stats import RECENT_AUDITS

    alarm = tracker.alarm
    return alarm is not None and tracker.drift.sampled - alarm["sampled"] < RECENT_AUDITS


def examine_outbox(session: Session, config: Config, now: float) -> list[str]:
    """What webhooks have not been told in time, in sentences."""
    findings = []
    for hook in config.webhooks:
        waiting = count_waiting(session, hook.url)
        kept = int(session.value("SELECT count(*) FROM outbox WHERE hook = ? AND given_up = 1", (hook.url,)))
        if lost := max(kept, waiting.given_up):  # an older version kept some, and did not count
            findings.append(f"{lost:,} messages to the webhook at {hook.host} were given up; see to its receiver.")
        oldest, error = session.one(
            "SELECT created, error FROM outbox WHERE hook = ? AND given_up = 0 AND attempts > 0 ORDER BY seq LIMIT 1",
            (hook.url,),
        ) or (None, None)
        if oldest is not None:
            findings.append(
                f"the webhook at {hook.host} has not taken a message for {span(now - oldest)} ({error}); "
                f"{waiting.messages:,} wait."
            )
    return findings
