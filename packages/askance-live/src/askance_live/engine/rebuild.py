"""The model made anew from the log, while the service goes on or while it does not run."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, NamedTuple

from askance_live.access.auth import note
from askance_live.access.names import COMMAND_LINE
from askance_live.clock import Clock
from askance_live.config import Config
from askance_live.dashboard.stored_counts import count_all
from askance_live.engine.checkpoints import (
    fresh_learner,
    keep_start,
    newest_checkpoint,
    remove_checkpoints,
    save_checkpoint,
    stored_start,
)
from askance_live.engine.label_schema import LabelSchema
from askance_live.engine.label_schema_changes import (
    Effects,
    LabelSchemaChange,
    apply_change,
    find_effects,
    make_learner,
)
from askance_live.engine.learner import Learner
from askance_live.engine.replay import find_taken_back, last_seq, replay
from askance_live.engine.start import start_from_file
from askance_live.engine.state import EngineState
from askance_live.engine.stored_settings import (
    adopt_model,
    find_edits,
    read_settings,
    refuse_other_kind,
    stored_label_schema_of,
    stored_model,
    take_up_declared,
    with_label_schema,
    with_stored_preset_version,
)
from askance_live.engine.thread import Engine
from askance_live.problems import Problem
from askance_live.store.database import Database, Session
from askance_live.store.log_hash import NAME as LOG_HASH
from askance_live.store.log_hash import LogHash
from askance_live.store.rows import UPSERT_META, insert
from askance_live.store.schema import LabelSchemaRow

INSERT_LABEL_SCHEMA = insert(LabelSchemaRow)


def rebuild(engine: Engine, actor: str) -> dict[str, Any]:
    """Replay the log without what was taken back, then change over in one transaction."""
    fresh, digest, left_out = _make_anew(engine, engine.state.label_schema, None, actor)
    return {"model": fresh.version, "left_out": left_out, "digest": digest, "paused": engine.state.paused}


def change_label_schema(engine: Engine, change: LabelSchemaChange, actor: str, expected: int | None = None) -> Effects:
    """Change classes or kinds of fields while the service goes on; what that did."""
    before = engine.state.label_schema
    check_expected(before, expected)
    after = apply_change(before, change)
    with engine.database.read() as session:
        effects = find_effects(session, engine.state.config, before, after)
    if effects.rebuilds:
        _make_anew(engine, after, change, actor)
    elif after != before:
        engine.submit(lambda session, state: write_label_schema(session, state, after, change, actor)).result()
    return effects


def check_expected(label_schema: LabelSchema, expected: int | None) -> None:
    """Refuse a change of what somebody has changed meanwhile."""
    if expected is not None and expected != label_schema.seq:
        raise Problem(
            "stale_classes", "the classes were changed meanwhile; look at them again, and then at what the change does."
        )


def _make_anew(
    engine: Engine, label_schema: LabelSchema, change: LabelSchemaChange | None, actor: str
) -> tuple[Learner, str, int]:
    """The model of a label schema from the log, beside the service, and into its place."""
    with engine.database.read() as session:
        config = engine.state.config
        fresh = fresh_learner(session, config) if change is None else make_learner(session, config, label_schema)
        left_out = find_taken_back(session)
        reached = last_seq(session)
        replay(session, fresh, 0, reached, left_out)

    def work(session: Session, state: EngineState) -> str:
        return change_over(session, state, fresh, reached, left_out, label_schema, change, actor)

    digest: str = engine.submit(work).result()
    return fresh, digest, len(left_out)


def change_over(
    session: Session, state: EngineState, fresh: Learner, reached: int, left_out: set[int], label_schema: LabelSchema,
    change: LabelSchemaChange | None, actor: str,
) -> str:  # fmt: skip
    """Replay what came meanwhile, note what is left out from now on, and use the new model."""
    check_expected(state.label_schema, label_schema.seq)
    replay(session, fresh, reached, state.seq, left_out)
    session.many("UPDATE learned SET left_out = 1 WHERE n = ?", [(n,) for n in sorted(left_out)])
    state.log_hash.start_anew(session, "learned")
    if change is not None:
        write_label_schema(session, state, label_schema, change, actor)
        fresh.hold_since(state.label_schema.since)
    remove_checkpoints(session)
    count_all(session, anew=True)
    save_checkpoint(session, fresh, state.seq, state.learned, state.clock.now())
    digest = fresh.digest()
    if change is None:
        note(session, state.clock.now(), actor, "model rebuild", {"left_out": len(left_out), "digest": digest})
    state.quarantine.take_changes(state.learner)
    state.quarantine.remind(fresh)
    state.learner = fresh
    state.checkpoint, state.checkpoint_time = state.seq, time.monotonic()
    return digest


def write_label_schema(
    session: Session, state: EngineState, label_schema: LabelSchema, change: LabelSchemaChange, actor: str
) -> None:
    """Say in the log that other classes or kinds hold from here on; the model of now is one of theirs, or follows in
    the same transaction."""
    check_expected(state.label_schema, label_schema.seq)
    state.seq += 1
    row, label_schema = _next_row(state.label_schema, label_schema, state.seq)
    session.execute(INSERT_LABEL_SCHEMA, row)
    state.log_hash.add("schemes", [row])
    config, _ = with_label_schema(state.declared, label_schema)
    state.change_label_schema(config, label_schema)
    session.execute(UPSERT_META, ("model", config.model.document()))
    take_up_declared(session, state.declared)
    note(session, state.clock.now(), actor, "classes change", change.document())


def _next_row(before: LabelSchema, after: LabelSchema, seq: int) -> tuple[LabelSchemaRow, LabelSchema]:
    """The entry of the log for a label schema, and the label schema as it is then."""
    since = before.since if after.makes_same_model(before) else seq
    label_schema = replace(after, since=since, seq=seq)
    return LabelSchemaRow(seq, label_schema.document()), label_schema


def compare(session: Session, config: Config) -> dict[str, Any]:
    """The model by its newest checkpoint and what came after, and by the whole log: are they the same?"""
    config, _ = read_settings(session, config)
    last = last_seq(session)
    kept, seq = newest_checkpoint(session, config, last)
    replay(session, kept, seq, last)
    fresh = fresh_learner(session, config)
    replay(session, fresh, 0, last)
    digest = fresh.digest()
    return {"model": fresh.version, "left_out": 0, "digest": digest, "same": kept.digest() == digest}


class OfflinePlan(NamedTuple):
    """What a rebuild takes up, of a store that no service works on."""

    before: LabelSchema
    after: LabelSchema
    change: LabelSchemaChange
    effects: Effects | None
    """What the change does; None where there is none."""


def plan_offline(session: Session, config: Config, change: LabelSchemaChange | None = None) -> OfflinePlan:
    """What is changed: what is asked for, or else what was edited in the settings since the store took them up."""
    stored = stored_model(session)
    before = stored_label_schema_of(session, config)
    if change is None:
        change = LabelSchemaChange() if stored is None else find_edits(session, config, before)
    after = apply_change(before, change)
    own = with_label_schema(config, before).config
    return OfflinePlan(before, after, change, find_effects(session, own, before, after) if change else None)


def change_offline(database: Database, config: Config, change: LabelSchemaChange) -> None:
    """Change classes or kinds of fields of a store that no service works on."""
    with database.read() as session:
        read_settings(session, config)  # edited ones are taken up first, by a rebuild of their own
        plan = plan_offline(session, config, change)
        row, _ = _next_row(plan.before, plan.after, last_seq(session) + 1)
    if plan.effects is not None and plan.effects.rebuilds:
        rebuild_offline(database, config, change=change)
    elif plan.after != plan.before:
        with database.write() as session:
            _write_offline(session, config, row, change, Clock().now())
            log_hash = LogHash(session.value("SELECT value FROM meta WHERE name = ?", (LOG_HASH,)))
            log_hash.take_up(session)
            session.execute(UPSERT_META, (LOG_HASH, log_hash.document()))


def _write_offline(
    session: Session, config: Config, row: LabelSchemaRow, change: LabelSchemaChange, now: float
) -> None:
    session.execute(INSERT_LABEL_SCHEMA, row)
    take_up_declared(session, config)
    note(session, now, COMMAND_LINE, "classes change", change.document())


def rebuild_offline(
    database: Database, config: Config, check: bool = False, change: LabelSchemaChange | None = None
) -> dict[str, Any]:
    """Replay the log of a store that no service works on; settings of the model that were edited are taken up, or a
    ``change`` of classes or kinds of fields."""
    if not check:
        with database.write() as session:
            adopt_model(session, config)
    with database.read() as session:
        stored = stored_model(session)
        if stored is not None:
            refuse_other_kind(stored, config.model)
        if check:
            return compare(session, config)
        config = with_stored_preset_version(session, config)
        plan = plan_offline(session, config, change)
        changes_start = stored is not None and stored.load != config.model.load
        last = last_seq(session)
        row, label_schema = _next_row(plan.before, plan.after, last + 1) if plan.change else (None, plan.before)
        own = with_label_schema(config, label_schema).config
        start = start_from_file(own) if changes_start else stored_start(session, own)
        left_out = find_taken_back(session)
        n = int(session.value("SELECT max(n) FROM learned") or 0)
        fresh = fresh_learner(session, own, start)
        replay(session, fresh, 0, last, left_out)
    now = Clock().now()
    with database.write() as session:
        session.many("UPDATE learned SET left_out = 1 WHERE n = ?", [(number,) for number in sorted(left_out)])
        remove_checkpoints(session)
        if changes_start:
            keep_start(session, start, now)
        if row is not None:
            _write_offline(session, config, row, plan.change, now)
        log_hash = LogHash(None)
        log_hash.take_up(session)
        session.many(UPSERT_META, [("model", own.model.document()), (LOG_HASH, log_hash.document())])
        count_all(session, anew=True)
        save_checkpoint(session, fresh, last if row is None else row.seq, n, now)
        digest = fresh.digest()
        note(session, now, COMMAND_LINE, "model rebuild", {"left_out": len(left_out), "digest": digest})
    return {"model": fresh.version, "left_out": len(left_out), "digest": digest, "same": True}
