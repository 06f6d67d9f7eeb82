"""What the engine's thread holds in memory: the model, the counters, and the minute that is being counted.

All of it can be read from the store again, and is, at the start and whenever a transaction failed.
"""

from __future__ import annotations

import json
from secrets import token_hex

from askance.live.clock import Clock
from askance.live.config import Asking, Config, Model
from askance.live.counts import COUNTED, DAY, Lately, empty_counts, minutes_after
from askance.live.problems import StartError
from askance.live.replay import newest_checkpoint, replay
from askance.live.store.database import Session

UPSERT = "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"


class State:
    """The engine's memory; ``load`` fills it from the store."""

    def __init__(self, config: Config, clock: Clock) -> None:
        self.config, self.clock = config, clock
        self.classes = list(config.model.classes)
        self.place_of = {label: place for place, label in enumerate(self.classes)}

    def load(self, session: Session) -> None:
        """Read everything from the store; the model from its last checkpoint and what came after."""
        meta: dict[str, str] = dict(session.all("SELECT name, value FROM meta"))
        check_model(session, self.config)
        self.clock.not_before(float(meta.get("clock", 0.0)))
        self.store = meta.get("store", "")
        self.group = int(meta.get("group", 0))
        self.paused = meta.get("paused") == "1"
        self.totals = {**empty_counts(len(self.classes)), **json.loads(meta.get("totals", "{}"))}
        found = session.one("SELECT minute, document FROM minutes ORDER BY minute DESC LIMIT 1")
        self.minute = int(found[0]) if found else 0
        self.counts = {**empty_counts(len(self.classes)), **json.loads(found[1] if found else "{}")}
        self.lately = Lately()
        for minute, row in minutes_after(session, self.minute * 60 // DAY * (DAY // 60) - 1, len(self.classes)):
            for name in COUNTED:
                self.lately.count(minute, name, row[name])
        self.answers = int(session.value("SELECT max(seq) FROM answers") or 0)
        self.asks = int(session.value("SELECT max(id) FROM asks") or 0)
        self.learned = int(session.value("SELECT max(n) FROM learned") or 0)
        self.seq = max(
            int(session.value(f"SELECT max(seq) FROM {name}") or 0) for name in ("events", "learned", "settings")
        )
        self.due = session.value("SELECT min(due) FROM answers WHERE state = 'waiting'")
        learner, self.checkpoint = newest_checkpoint(session, self.config)
        replay(session, learner, self.checkpoint, self.seq)
        self.learner = learner  # whole, for those who look from other threads
        self.checkpoint_time = self.clock.now()
        self.dirty = False
        self.looked_at = -1
        self.look()

    def look(self) -> None:
        """Estimate the quality of the predictions, for whoever wants to see it from another thread."""
        if self.looked_at != self.seq:
            self.overall, self.recent = self.learner.watch.quality()
            self.headline = self.learner.watch.headline()
            self.looked_at = self.seq

    def count(self, name: str, amount: int = 1) -> None:
        """Count something, for this minute and for all time."""
        self._this_minute()
        self.counts[name] += amount
        self.totals[name] += amount
        self.lately.count(self.minute, name, amount)
        self.dirty = True

    def count_class(self, name: str, label: int, amount: int = 1) -> None:
        """Count something of a class."""
        self._this_minute()
        self.counts[name][label] += amount
        self.totals[name][label] += amount
        self.dirty = True

    def note_open(self, number: int) -> None:
        """So many questions wait now."""
        self._this_minute()
        if self.counts["open"] != number:
            self.counts["open"] = number
            self.dirty = True

    def _this_minute(self) -> None:
        minute = int(self.clock.now() // 60)
        if minute > self.minute:
            self.minute, self.counts = minute, empty_counts(len(self.classes))

    def keep(self, session: Session) -> None:
        """Write the counters: with every transaction, so that they never differ from the rows."""
        self.group += 1
        rows = [("group", str(self.group)), ("clock", repr(self.clock.now()))]
        if self.dirty:
            rows.append(("totals", json.dumps(self.totals)))
            session.execute(
                "INSERT INTO minutes (minute, document) VALUES (?, ?) "
                "ON CONFLICT (minute) DO UPDATE SET document = excluded.document",
                (self.minute, json.dumps(self.counts)),
            )
            self.dirty = False
        session.many(UPSERT, rows)


def stored_model(session: Session) -> Model | None:
    """The settings of the model that the events of a store were predicted with; None where there are no events."""
    stored = session.value("SELECT value FROM meta WHERE name = 'model'")
    empty = stored is None or session.one("SELECT seq FROM events LIMIT 1") is None
    return None if empty else Model.from_document(stored)


def check_model(session: Session, config: Config) -> None:
    """Refuse settings that the stored model was not made with."""
    before = stored_model(session)
    if before is None or before == config.model:
        return
    if before.classes != config.model.classes:
        raise StartError(
            f"the classes changed from {', '.join(before.classes[:20])} to {', '.join(config.model.classes[:20])}, but "
            "a store with events keeps its classes; put them back, or 'askance export' it, 'askance init' another with "
            "the new ones, and 'askance import' into that."
        )
    names = [name for name in vars(before) if getattr(before, name) != getattr(config.model, name)]
    if "algorithm" in names and "hash_bits" in names:
        names.remove("hash_bits")  # it follows the algorithm
    shown = ", ".join(name if name == "fields" else f"model.{name}" for name in names)
    raise StartError(
        f"the settings of the model changed ({shown}), but the stored model was made with others; "
        "put them back, or let 'askance rebuild' make the model anew from the log."
    )


def adopt_model(session: Session, config: Config) -> None:
    """A store without events takes the settings of the model as they are now, classes included."""
    stored = session.value("SELECT value FROM meta WHERE name = 'model'")
    if stored in (None, config.model.document()) or stored_model(session) is not None:
        return
    session.execute(UPSERT, ("model", config.model.document()))
    session.execute("DELETE FROM meta WHERE name = 'totals'")  # counted by class
    session.execute("DELETE FROM minutes")
    session.execute("DELETE FROM checkpoints")


def first_rows(session: Session, config: Config) -> None:
    """What a new store begins with."""
    session.many(UPSERT, [("model", config.model.document()), ("title", config.title), ("store", token_hex(8))])
    session.execute("INSERT INTO settings (seq, document) VALUES (1, ?)", (config.asking.document(),))


def name_store(session: Session, state: State) -> None:
    """A store from before stores had names gets one, so that no browser takes it for another."""
    if not state.store:
        state.store = token_hex(8)
        session.execute(UPSERT, ("store", state.store))


def follow_settings(session: Session, state: State) -> None:
    """Where the budget or the audit share changed, say so in the log: from here on the new ones hold."""
    wanted = state.config.asking
    if state.learner.exploring.settings == wanted:
        return
    state.seq += 1
    session.execute("INSERT INTO settings (seq, document) VALUES (?, ?)", (state.seq, wanted.document()))
    state.learner.follow(Asking.from_document(wanted.document()))
