"""The model from the log: events, answers and settings in the order of their sequence numbers.

model = f(settings, seed, log[1..n]). A checkpoint is that model at some n, with a hash of its content; a restart loads
the newest one and replays what came after. A replay from the beginning gives the same bytes.
"""

from __future__ import annotations

import hashlib
import heapq
import logging
from collections.abc import Collection, Iterator
from typing import Any

import msgspec

from askance.live.config import Asking, Config
from askance.live.learner import ANSWERED, Answer, Incoming, Learner, pack, unpack
from askance.live.store.database import Session

BATCH = 256
KEPT = 3  # checkpoints
log = logging.getLogger("askance")


def newest_checkpoint(session: Session, config: Config) -> tuple[Learner, int]:
    """The newest checkpoint that is sound and its sequence number, or a model that knows nothing and 0."""
    for seq, digest, content in session.all("SELECT seq, digest, content FROM checkpoints ORDER BY seq DESC"):
        try:
            found = unpack(bytes(content))
            if hashlib.sha256(found).hexdigest() != digest:
                raise ValueError("its hash differs")
            return Learner.load(found, config.model, config.server.fields), int(seq)
        except Exception as error:  # damaged or of another version: an older one, or the log alone, will do
            log.warning("checkpoint %s is not used, so that more of the log is read again: %s", seq, error)
    return Learner(config.model, Asking(), config.server.fields), 0


def save_checkpoint(session: Session, learner: Learner, seq: int, n: int, now: float) -> str:
    """Keep the model as it is after the log's entry ``seq``."""
    content = learner.dump()
    digest = hashlib.sha256(content).hexdigest()
    session.execute("DELETE FROM checkpoints WHERE seq = ?", (seq,))
    session.execute(
        "INSERT INTO checkpoints (seq, n, digest, created, content) VALUES (?, ?, ?, ?, ?)",
        (seq, n, digest, now, pack(content)),
    )
    session.execute(
        "DELETE FROM checkpoints WHERE seq NOT IN (SELECT seq FROM checkpoints ORDER BY seq DESC LIMIT ?)", (KEPT,)
    )
    return digest


def replay(
    session: Session,
    learner: Learner,
    after: int,
    until: int,
    left_out: Collection[int] = (),
) -> None:
    """Play the log's entries from ``after`` (excluded) to ``until`` once more, learned rows ``left_out`` left out."""
    waiting: list[Incoming] = []

    def flush(seq: int) -> None:
        """Events wait for one another, up to the entry ``seq``, the last of them."""
        if waiting:
            learner.decide(waiting, seq - len(waiting))
            waiting.clear()

    last = after
    for seq, kind, row in heapq.merge(*_streams(session, after, until), key=lambda entry: entry[0]):
        if kind == "event":
            waiting.append(Incoming(msgspec.json.decode(row[1]), row[2], was_asked=row[3] > 0))
            last = seq
            if len(waiting) >= BATCH:
                flush(seq)
            continue
        flush(last)
        if kind == "settings":
            learner.follow(Asking.from_document(row[1]))
            continue
        _, n, weight, skipped, *answered = row
        if not skipped and n not in left_out:
            learner.learn(Answer.of(answered, weight))
        learner.version = n
    flush(last)


def _streams(session: Session, after: int, until: int) -> list[Iterator[tuple[int, str, Any]]]:
    between = (after, until)
    events = session.stream(
        "SELECT seq, fields, received, asked FROM events WHERE seq > ? AND seq <= ? ORDER BY seq", between
    )
    learned = session.stream(
        f"SELECT l.seq, l.n, l.weight, l.left_out, l.event, l.label, {ANSWERED} FROM learned l "
        "JOIN events e ON e.seq = l.event WHERE l.seq > ? AND l.seq <= ? ORDER BY l.seq",
        between,
    )
    settings = session.stream("SELECT seq, document FROM settings WHERE seq > ? AND seq <= ? ORDER BY seq", between)
    return [
        ((row[0], "event", row) for row in events),
        ((row[0], "learned", row) for row in learned),
        ((row[0], "settings", row) for row in settings),
    ]


def taken_back(session: Session) -> set[int]:
    """The learned rows whose answers were undone or corrected afterwards."""
    rows = session.all(
        "SELECT l.n FROM learned l JOIN answers a ON a.seq = l.answer "
        "WHERE l.left_out = 0 AND a.state IN ('undone', 'superseded')"
    )
    return {int(row[0]) for row in rows}
