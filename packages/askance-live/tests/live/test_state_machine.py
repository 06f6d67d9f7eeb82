"""Ingest, lease, answer, skip, undo, wait and crash in any order, beside a model of the queue that fits on a page."""

import logging
import tempfile
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from tests.patience import PATIENCE

from askance_live.clock import Clock
from askance_live.config import from_document
from askance_live.dashboard.stored_counts import count_anew, read_counts
from askance_live.engine.rebuild import compare
from askance_live.engine.state import first_rows
from askance_live.engine.thread import Engine
from askance_live.exchange.received import digest_of, read_event
from askance_live.problems import Problem
from askance_live.questions import answers, queue
from askance_live.questions.submissions import Submission
from askance_live.store import open_store

PEOPLE = st.sampled_from(["ana", "ben", "cleo"])
LABELS = st.sampled_from([0, 1])
LEASE, LATER, TIME_TO_LIVE = 100.0, 50.0, 1000.0


class Jumping(Clock):
    """A clock for tests, in which time passes at a word and at nothing else; there is nothing to follow."""

    def __init__(self):
        super().__init__()
        self.moment = float(int(super().now()))  # whole seconds add up exactly

    def now(self):
        return self.moment

    def skip(self, seconds):
        self.moment += seconds


class Ask:
    """What should be true of a question."""

    def __init__(self, number, now):
        self.number, self.state, self.holder, self.deadline = number, "open", None, 0.0
        self.deliveries, self.skips, self.aside, self.unsure = 0, 0, {}, set()
        self.expires = now + TIME_TO_LIVE


@contextmanager
def leave_out_warnings():
    """What the engine says of a store that is gone would bury the steps of an example that fails."""
    log = logging.getLogger("askance")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


class QueueMachine(RuleBasedStateMachine):
    events = Bundle("events")
    asks = Bundle("asks")
    given = Bundle("given")
    place = None  # makes the place of a new store

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="askance-test-")
        document = {
            "classes": ["ham", "spam"],
            "store": type(self).place or str(Path(self.folder.name) / "askance.db"),
            "model": {"algorithm": "SOL-diag", "hash_bits": 8},
            "queue": {"learn_after": 2, "lease": LEASE, "later": LATER, "time_to_live": TIME_TO_LIVE, "park_after": 2},
            "server": {"disk_reserve": 0, "checkpoint_every": 5},
        }
        if callable(type(self).place):
            document["store"] = type(self).place()
        self.config = from_document(document)
        database = open_store(self.config.store, create=True)
        with database.write() as session:
            first_rows(session, self.config)
        database.close()
        self.clock = Jumping()
        self.begin()
        self.known, self.questions, self.answers, self.count = {}, {}, {}, 0

    def begin(self):
        self.engine = Engine(open_store(self.config.store), self.config, self.clock)
        self.engine.start()

    def do(self, work):
        return self.engine.submit(work).result(PATIENCE)

    def sweep(self):
        """What time alone does."""
        now = self.clock.now()
        for ask in self.questions.values():
            if ask.state == "leased" and ask.deadline <= now:
                ask.state, ask.holder = "open", None
            if ask.state in ("open", "parked") and ask.expires <= now:
                ask.state = "expired"

    # --- what happens ------------------------------------------------------------------------------------

    @rule(target=asks, word=st.sampled_from(["win", "lunch", "parcel"]), n=st.integers(1, 3))
    def ingest(self, word, n):
        names = [f"e{len(self.known) + k}" for k in range(n)]
        items = [read_event({"id": name, "fields": {"text": word, "size": len(self.known)}}, 10_000) for name in names]
        outcomes = self.engine.ingest(items).result(PATIENCE)
        made = []
        for item, outcome in zip(items, outcomes, strict=True):
            assert outcome["duplicate"] is False
            self.known[item.id] = item, outcome
            if outcome["asked"]:
                self.questions[outcome["ask"]] = Ask(outcome["ask"], self.clock.now())
                made.append(outcome["ask"])
        return multiple(*made)

    @rule(place=st.integers(0, 50))
    def ingest_again(self, place):
        if not self.known:
            return
        item, first = list(self.known.values())[place % len(self.known)]
        assert self.engine.ingest([item]).result(PATIENCE) == [{**first, "duplicate": True}]
        (refused,) = self.engine.ingest([msgspec.structs.replace(item, digest=b"other")]).result(PATIENCE)
        assert refused.code == "id_reused"

    @rule(name=PEOPLE, n=st.integers(1, 3))
    def lease(self, name, n):
        self.sweep()
        found = self.do(lambda session, state: queue.next_asks(session, state, name, n, frozenset()))
        now = self.clock.now()
        free = [
            ask
            for ask in self.questions.values()
            if (ask.state == "open" and ask.aside.get(name, 0) <= now) or (ask.state == "leased" and ask.holder == name)
        ]
        if isinstance(found, queue.NothingToLabel):
            assert not free
            return
        assert len(found[0]) == min(n, len(free))
        for shown in found[0]:
            ask = self.questions[shown["id"]]
            assert ask in free
            if ask.state == "open":
                ask.deliveries += 1
            ask.state, ask.holder, ask.deadline = "leased", name, now + LEASE
            assert shown["token"] == f"{ask.number}.{ask.deliveries}"

    def new_answer(self, number, token, label, reason=None, supersedes=None):
        self.count += 1
        identifier = f"a{self.count}"
        return Submission(identifier, digest_of([identifier]), token, label, reason, None, None, supersedes)

    def refuses(self, work, code):
        with pytest.raises(Problem) as refused:
            self.do(work)
        assert refused.value.code == code
        return multiple()

    @rule(target=given, number=asks, name=PEOPLE, label=LABELS, age=st.sampled_from([-1, 0, 1]))
    def answer(self, number, name, label, age):
        self.sweep()
        ask = self.questions[number]
        mine = [a for a in self.answers.values() if a["ask"] == number and a["name"] == name and a["counts"]]
        delivery = max(0, ask.deliveries - age)
        given = self.new_answer(number, f"{number}.{delivery}", label)
        work = lambda session, state: answers.answer(session, state, name, number, given)  # noqa: E731
        held = ask.state == "leased" and ask.holder != name
        if held and not 1 <= delivery < ask.deliveries:  # somebody else's, and never this one's
            return self.refuses(work, "leased")
        if mine and mine[-1]["label"] != label:
            return self.refuses(work, "already_answered")
        outcome = self.do(work)
        waits = ask.state in ("open", "leased", "parked") and not held
        accepted = waits and not any(a["trains"] for a in mine)
        assert outcome["outcome"] == ("accepted" if accepted else "extra")
        is_current = delivery == ask.deliveries and ask.state == "leased" and ask.holder == name
        assert outcome["stale_token"] == (not is_current)
        assert self.do(work) == outcome  # the same again: the same response
        if accepted:
            ask.state, ask.holder = "answered", None
        self.answers[given.id] = {"ask": number, "name": name, "label": label, "counts": True, "trains": accepted}
        return given.id

    @rule(
        target=given,
        number=asks,
        name=PEOPLE,
        reason=st.sampled_from(["unsure", "bad_data", "later"]),
        age=st.sampled_from([0, 1]),
    )
    def skip(self, number, name, reason, age):
        self.sweep()
        ask = self.questions[number]
        delivery = max(0, ask.deliveries - age)
        given = self.new_answer(number, f"{number}.{delivery}", None, reason)
        work = lambda session, state: answers.skip(session, state, name, number, given)  # noqa: E731
        holds = ask.state != "leased" or ask.holder == name
        if not holds and not 1 <= delivery < ask.deliveries:
            return self.refuses(work, "leased")
        outcome = self.do(work)["outcome"]
        if reason == "unsure":
            ask.unsure.add(name)
        if ask.state not in ("open", "leased", "parked") or (reason == "bad_data" and not holds):
            assert outcome == "extra"
            return multiple()
        if reason == "bad_data":
            assert outcome == "closed"
            ask.state, ask.holder = "closed", None
            return multiple()
        ask.aside[name] = queue.FOR_EVER if reason == "unsure" else self.clock.now() + LATER
        ask.skips = len(ask.unsure) if reason == "unsure" else ask.skips
        parked = ask.skips >= 2
        assert outcome == ("later" if reason == "later" else "parked" if parked else "returned")
        if holds:
            ask.state, ask.holder = "parked" if parked else "open", None
        return multiple()

    @rule(identifier=consumes(given))
    def undo(self, identifier):
        self.sweep()
        said = self.answers[identifier]
        ask = self.questions[said["ask"]]
        outcome = self.do(lambda session, state: answers.undo(session, state, said["name"], identifier))
        if not said["counts"]:  # with the other, where the same answer was given twice
            assert outcome["outcome"] == "already_undone"
            return
        trained = False
        here = [a for a in self.answers.values() if a["ask"] == said["ask"]]
        for mine in here:
            if mine["name"] == said["name"]:
                trained = trained or mine["trains"]
                mine["counts"] = mine["trains"] = False
        free = ask.state not in ("leased", "expired", "closed") and not any(a["trains"] for a in here)
        assert (outcome["ask"] is not None) == free
        assert outcome["outcome"] in ("withdrawn", "correction") if trained else ("withdrawn",)
        if free:
            ask.deliveries += 1
            ask.state, ask.holder, ask.deadline = "leased", said["name"], self.clock.now() + LEASE

    @rule(seconds=st.sampled_from([1.0, 3.0, 60.0, 120.0, 700.0]))
    def wait(self, seconds):
        self.clock.skip(seconds)
        self.do(lambda session, state: queue.release_overdue(session, state.clock.now()))
        self.do(lambda session, state: queue.expire(session, state, state.clock.now()))

    @rule()
    def crash(self):
        with leave_out_warnings():
            self.engine.database.close()  # the ground is gone: no last checkpoint, no farewell
            self.engine.stop()
        self.begin()

    # --- what holds --------------------------------------------------------------------------------------

    @invariant()
    def the_queue_is_as_the_model_says(self):
        self.sweep()
        self.do(lambda session, state: queue.release_overdue(session, state.clock.now()))
        self.do(lambda session, state: queue.expire(session, state, state.clock.now()))
        with self.engine.database.read() as session:
            rows = session.all(HELD)
            assert read_counts(session) == count_anew(session)  # what the dashboard shows is counted as it happens
        wanted = [(a.number, a.state, a.holder, a.deliveries, a.skips) for _, a in sorted(self.questions.items())]
        assert [tuple(row) for row in rows] == wanted

    def teardown(self):
        self.clock.skip(10.0)
        for _ in range(100):
            if self.do(lambda session, state: state.due) is None:
                break
        self.engine.stop()
        database = open_store(self.config.store)
        with database.read() as session:
            learned = [row[0] for row in session.all("SELECT answer FROM learned ORDER BY n")]
            assert len(set(learned)) == len(learned)
            trained = {row[0] for row in session.all("SELECT id FROM answers WHERE state = 'learned'")}
            assert trained == {name for name, said in self.answers.items() if said["trains"]}
            assert compare(session, self.config)["same"]
        database.close()
        self.folder.cleanup()


HELD = "SELECT id, state, CASE WHEN state = 'leased' THEN annotator END, deliveries, skips FROM asks ORDER BY id"


def machine(postgres=None):
    return type("Machine", (QueueMachine,), {"place": staticmethod(postgres.new_database) if postgres else None})


def play(kind, examples, steps):
    options = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    run_state_machine_as_test(kind, settings=options)


def test_any_sequence_on_sqlite():
    play(machine(), 8, 20)


def test_any_sequence_on_postgres(postgres):
    play(machine(postgres), 3, 15)


@pytest.mark.prove
def test_many_long_sequences(postgres):
    play(machine(), 150, 60)
    play(machine(postgres), 50, 50)
