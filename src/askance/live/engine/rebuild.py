"""The model made anew from the log, while the service goes on or while it does not run."""

from __future__ import annotations

import time
from typing import Any

from askance.live.access.auth import COMMAND_LINE, note
from askance.live.clock import Clock
from askance.live.config import Config
from askance.live.dashboard.stored_counts import count_all
from askance.live.engine.checkpoints import (
    fresh_learner,
    keep_start,
    newest_checkpoint,
    remove_checkpoints,
    save_checkpoint,
    stored_start,
)
from askance.live.engine.learner import Learner
from askance.live.engine.replay import find_taken_back, last_seq, replay
from askance.live.engine.start import start_from_file
from askance.live.engine.state import UPSERT, EngineState, adopt_model, check_model, stored_model
from askance.live.engine.thread import Engine
from askance.live.store.database import Database, Session
from askance.live.store.log_hash import NAME as LOG_HASH
from askance.live.store.log_hash import LogHash


def rebuild(engine: Engine, actor: str) -> dict[str, Any]:
    """Replay the log without what was taken back, then change over in one transaction."""
    config = engine.config
    with engine.database.read() as session:
        fresh = fresh_learner(session, config)
        left_out = find_taken_back(session)
        reached = last_seq(session)
        replay(session, fresh, 0, reached, left_out)
    digest: str = engine.submit(
        lambda session, state: change_over(session, state, fresh, reached, left_out, actor)
    ).result()
    return {"model": fresh.version, "left_out": len(left_out), "digest": digest, "paused": engine.state.paused}


def change_over(
    session: Session, state: EngineState, fresh: Learner, reached: int, left_out: set[int], actor: str
) -> str:
    """Replay what came meanwhile, note what is left out from now on, and use the new model."""
    replay(session, fresh, reached, state.seq, left_out)
    session.many("UPDATE learned SET left_out = 1 WHERE n = ?", [(n,) for n in sorted(left_out)])
    state.log_hash.start_anew(session, "learned")
    remove_checkpoints(session)
    count_all(session, anew=True)
    save_checkpoint(session, fresh, state.seq, state.learned, state.clock.now())
    digest = fresh.digest()
    note(session, state.clock.now(), actor, "model rebuild", {"left_out": len(left_out), "digest": digest})
    state.quarantine.take_changes(state.learner)
    state.quarantine.remind(fresh)
    state.learner = fresh
    state.checkpoint, state.checkpoint_time = state.seq, time.monotonic()
    return digest


def compare(session: Session, config: Config) -> dict[str, Any]:
    """The model by its newest checkpoint and what came after, and by the whole log: are they the same?"""
    last = last_seq(session)
    kept, seq = newest_checkpoint(session, config, last)
    replay(session, kept, seq, last)
    fresh = fresh_learner(session, config)
    replay(session, fresh, 0, last)
    digest = fresh.digest()
    return {"model": fresh.version, "left_out": 0, "digest": digest, "same": kept.digest() == digest}


def rebuild_offline(database: Database, config: Config, check: bool) -> dict[str, Any]:
    """Replay the log of a store that no service works on; changed settings of the model are taken up."""
    if not check:
        with database.write() as session:
            adopt_model(session, config)
    with database.read() as session:
        stored = stored_model(session)
        changes_start = stored is not None and stored.load != config.model.load
        if stored is not None and (
            (stored.classes, stored.label_sets) != (config.model.classes, config.model.label_sets)
            or (check and changes_start)
        ):
            check_model(session, config)
        if check:
            return compare(session, config)
        start = start_from_file(config) if changes_start else stored_start(session, config)
        left_out, last = find_taken_back(session), last_seq(session)
        n = int(session.value("SELECT max(n) FROM learned") or 0)
        fresh = fresh_learner(session, config, start)
        replay(session, fresh, 0, last, left_out)
    now = Clock().now()
    with database.write() as session:
        session.many("UPDATE learned SET left_out = 1 WHERE n = ?", [(number,) for number in sorted(left_out)])
        remove_checkpoints(session)
        if changes_start:
            keep_start(session, start, now)
        log_hash = LogHash(None)
        log_hash.take_up(session)
        session.many(UPSERT, [("model", config.model.document()), (LOG_HASH, log_hash.document())])
        count_all(session, anew=True)
        save_checkpoint(session, fresh, last, n, now)
        digest = fresh.digest()
        note(session, now, COMMAND_LINE, "model rebuild", {"left_out": len(left_out), "digest": digest})
    return {"model": fresh.version, "left_out": len(left_out), "digest": digest, "same": True}
