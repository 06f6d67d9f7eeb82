"""What the engine's thread holds in memory: the model, the counters, and the minute that is being counted.

All of it can be read from the store again, and is, at the start and whenever a transaction failed.
"""

from __future__ import annotations

import logging
import time
from math import isfinite
from secrets import token_hex
from typing import Any

from askance_live.clock import Clock
from askance_live.config import AskingSettings, Config
from askance_live.dashboard.counts import (
    PeriodCounts,
    add_up,
    counted_periods,
    empty_counts,
    minutes_between,
    pad_counts,
    read_counts,
    write_counts,
)
from askance_live.engine.checkpoints import WORDS_ALIKE, keep_start, newest_checkpoint
from askance_live.engine.label_schema import LabelSchema, LabelSchemaState, first_label_schema
from askance_live.engine.quarantine_state import NAME, QuarantineState
from askance_live.engine.replay import last_seq, replay
from askance_live.engine.start import Start, start_from_file
from askance_live.engine.stored_settings import read_settings, with_stored_preset_version
from askance_live.questions.states import AnswerState
from askance_live.store.database import Overtaken, Session
from askance_live.store.log_hash import NAME as LOG_HASH
from askance_live.store.log_hash import LogHash
from askance_live.store.rows import UPSERT_META, insert, upsert
from askance_live.store.schema import MinuteRow, SettingsRow

log = logging.getLogger("askance")
INSERT_SETTINGS = insert(SettingsRow)
FIRST_GROUP = "INSERT INTO meta (name, value) VALUES ('group', ?) ON CONFLICT (name) DO NOTHING"
NEXT_GROUP = "UPDATE meta SET value = ? WHERE name = 'group' AND value = ?"
UPSERT_MINUTE = upsert(MinuteRow, "minute")


class EngineState(LabelSchemaState):
    """The engine's memory; ``load`` fills it from the store."""

    def __init__(self, config: Config, clock: Clock) -> None:
        self.declared, self.clock = config, clock
        """The settings as their file has them, but for the preset version, which is the store's."""
        self.use_label_schema(config, first_label_schema(config.model))
        self.minute = self.newest_minute = 0
        self.writer = token_hex(8)
        """Who writes, so that a transaction of this process is not taken for one of another with the same number."""

    def load(self, session: Session) -> None:
        """Read everything from the store; the model from its last checkpoint and what came after."""
        meta: dict[str, str] = dict(session.all("SELECT name, value FROM meta"))
        self.declared = with_stored_preset_version(session, self.declared)
        self.use_label_schema(*read_settings(session, self.declared))
        self.ahead = _number(meta, "clock") - self.clock.now()
        self.store = meta.get("store", "")
        self.group = int(_number(meta, "group"))
        self._stored_group, self._stored_writer = meta.get("group"), meta.get("writer")
        self.paused = meta.get("paused") == "1"
        totals = read_counts(meta.get("totals", "{}"), len(self.classes))
        if totals is None:
            log.warning("the counts of all time are damaged, and are added up from those of the minutes.")
            totals = add_up(session, len(self.classes))
        self.totals = totals
        self.newest_minute = int(session.value("SELECT max(minute) FROM minutes") or 0)
        self._read_minute(session, int(self.clock.now() // 60))
        self.answers = int(session.value("SELECT max(seq) FROM answers") or 0)
        self.asks = int(session.value("SELECT max(id) FROM asks") or 0)
        self.learned = int(session.value("SELECT max(n) FROM learned") or 0)
        self.seq = last_seq(session)
        self.due = next_due(session)
        self.log_hash = LogHash(meta.get(LOG_HASH))
        self.log_hash.take_up(session)
        learner, self.checkpoint = newest_checkpoint(session, self.config, self.seq)
        replay(session, learner, self.checkpoint, self.seq)
        self.quarantine = QuarantineState(meta.get(NAME))
        self.quarantine.remind(learner)
        self.learner = learner  # whole, for those who look from other threads
        self.checkpoint_time = time.monotonic()
        self.dirty = False
        self.estimated_at = -1
        self.estimate_quality()

    def begin(self, session: Session) -> None:
        """At the beginning of a transaction: what it counts belongs to this minute."""
        minute = int(self.clock.now() // 60)
        if minute == self.minute:
            return
        if minute <= self.newest_minute:  # the clock was set back since: something was counted there before
            self._read_minute(session, minute)
        else:
            self.minute, self.counts = minute, empty_counts(len(self.classes))

    def change_label_schema(self, config: Config, label_schema: LabelSchema) -> None:
        """Go on with other classes or kinds of fields; what is counted by class has room for new ones."""
        self.use_label_schema(config, label_schema)
        for counts in (self.counts, self.totals):
            pad_counts(counts, len(self.classes))
        self.dirty = True

    def _read_minute(self, session: Session, minute: int) -> None:
        longest = counted_periods()[-1]
        first = minute * 60 // longest * (longest // 60)
        rows = minutes_between(session, first, first + longest // 60 - 1, len(self.classes))
        self.minute, self.counts = minute, dict(rows).get(minute) or empty_counts(len(self.classes))
        self.period_counts = PeriodCounts.at(minute, rows)

    def estimate_quality(self) -> None:
        """Estimate the quality of the predictions, for whoever wants to see it from another thread."""
        if self.estimated_at != self.seq:
            self.overall, self.recent = self.learner.tracker.quality()
            self.headline = self.learner.tracker.headline()
            self.estimated_at = self.seq

    def count(self, name: str, amount: int = 1) -> None:
        """Count something, for this minute and for all time."""
        self.counts[name] += amount
        self.totals[name] += amount
        self.period_counts.count(self.minute, name, amount)
        self.dirty = True

    def count_class(self, name: str, label: int, amount: int = 1) -> None:
        """Count something of a class, or of each that is in a set."""
        for place in self.labels.places(label):
            self.counts[name][place] += amount
            self.totals[name][place] += amount
        self.dirty = True

    def note_open(self, number: int) -> None:
        """So many questions wait now."""
        if self.counts["open"] != number:
            self.counts["open"] = number
            self.dirty = True

    def keep(self, session: Session) -> None:
        """Write the counters: with every transaction, so that they never differ from the rows."""
        self._advance(session)
        rows = [("clock", repr(self.clock.now()))]
        if self._stored_writer != self.writer:
            rows.append(("writer", self.writer))
            self._stored_writer = self.writer
        if self.dirty:
            rows.append(("totals", write_counts(self.totals)))
            session.execute(UPSERT_MINUTE, MinuteRow(self.minute, write_counts(self.counts)))
            self.newest_minute = max(self.newest_minute, self.minute)
            self.dirty = False
        if self.log_hash.is_changed:
            rows.append((LOG_HASH, self.log_hash.document()))
            self.log_hash.is_changed = False
        if (held := self.quarantine.take_changes(self.learner)) is not None:
            rows.append((NAME, held))
        session.many(UPSERT_META, rows)

    def _advance(self, session: Session) -> None:
        """Number the transaction: the one after the last that this memory knows of, or none at all.

        Whoever was taken for dead while it worked, and has lost the store to another, cannot commit any more: the
        number has moved on. The row is locked until the commit, so that of two at the same time one waits, and fails.
        """
        before, self.group = self._stored_group, self.group + 1
        self._stored_group = str(self.group)
        if before is None:
            moved = session.execute(FIRST_GROUP, (self._stored_group,))
        else:
            moved = session.execute(NEXT_GROUP, (self._stored_group, before))
        if not moved:
            raise Overtaken("another process has written to the store since; what it wrote is read first.")


def _number(meta: dict[str, Any], name: str) -> float:
    """A number of the service's own; one that is damaged counts as none."""
    try:
        found = float(meta.get(name, 0.0))
        return found if isfinite(found) else 0.0
    except (TypeError, ValueError):
        log.warning("the stored %s is %r, which is no number, and is left out.", name, str(meta[name])[:40])
        return 0.0


def was_committed(session: Session, group: int, writer: str) -> bool | None:
    """Whether the transaction of this number of a process is in the store; None where another has written since."""
    found: dict[str, str] = dict(session.all("SELECT name, value FROM meta WHERE name IN ('group', 'writer')"))
    return int(found.get("group") or 0) >= group if found.get("writer") == writer else None


def next_due(session: Session) -> float | None:
    """When the grace of the first answer that waits is over; None where none waits."""
    due: float | None = session.value(f"SELECT min(due) FROM answers WHERE state = '{AnswerState.WAITING}'")
    return due


def first_rows(session: Session, config: Config, start: Start | None = None) -> None:
    """What a new store begins with; the model that it starts from is read from its file unless it is given."""
    keep_start(session, start or start_from_file(config), Clock().now())
    known = {"model": config.model.document(), "title": config.title, "store": token_hex(8), WORDS_ALIKE: "1"}
    session.many(UPSERT_META, list(known.items()))
    session.execute(INSERT_SETTINGS, SettingsRow(1, config.asking.document()))


def name_store(session: Session, state: EngineState) -> None:
    """A store from before stores had names gets one, so that no browser takes it for another."""
    if not state.store:
        state.store = token_hex(8)
        session.execute(UPSERT_META, ("store", state.store))


def follow_settings(session: Session, state: EngineState) -> None:
    """Where the budget or the audit share changed, say so in the log: from here on the new ones hold."""
    wanted = state.config.asking
    if state.learner.exploring.settings == wanted:
        return
    state.seq += 1
    row = SettingsRow(state.seq, wanted.document())
    session.execute(INSERT_SETTINGS, row)
    state.log_hash.add("settings", [row])
    state.learner.follow(AskingSettings.from_document(wanted.document()))
