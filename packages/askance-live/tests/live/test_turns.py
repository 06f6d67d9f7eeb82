"""Whoever has much to do leaves others their turn, and a background task that fails leaves the rest alone."""

import asyncio
import json
import re
import threading
from dataclasses import replace
from functools import partial
from uuid import uuid4

import pytest
from tests.live.asgi import Call, held, new_service, wait_for
from tests.live.in_process import create_store, hold_writer, new_engine, running_engine
from tests.patience import PATIENCE, wait_until

from askance_live.dashboard.stats import stats
from askance_live.engine import learning
from askance_live.engine import thread as engines
from askance_live.engine.thread import BACKGROUND_TASKS
from askance_live.exchange.received import GROUP_BYTES, GROUP_EVENTS, ReceivedEvent, in_parts, read_event
from askance_live.questions.labels import give_label
from askance_live.service import Service


@pytest.fixture
def engine(tmp_path):
    with new_engine(tmp_path) as running:
        yield running


def event(name, text="hello"):
    return read_event({"id": name, "fields": {"text": text}}, 256_000)


def label(name):
    return partial(give_label, source="ana", event_id=name, place=1, identifier=None, replace=False)


def test_events_are_divided_by_their_bytes_and_their_number():
    small = [ReceivedEvent({}, id=str(number), digest=b"", text="{}", time=None) for number in range(600)]
    large = [ReceivedEvent({}, id=f"large-{number}", digest=b"", text="x" * 100_000, time=None) for number in range(5)]
    parts = list(in_parts([*small, *large]))
    assert [item for part in parts for item in part] == [*small, *large]
    assert all(len(part) <= GROUP_EVENTS for part in parts)
    assert all(sum(len(item.text) for item in part) <= GROUP_BYTES for part in parts)
    assert len(list(in_parts([ReceivedEvent({}, id="huge", digest=b"", text="x" * 10**6, time=None)] * 3))) == 3


def test_large_jobs_do_not_share_a_transaction(engine):
    let_go = hold_writer(engine)
    before = engine.groups
    futures = [engine.ingest([event(f"e{number}", "word " * 40_000)]) for number in range(3)]
    let_go.set()
    for future in futures:
        future.result(PATIENCE)
    assert engine.groups - before >= 4


def test_jobs_that_take_long_are_divided_between_transactions(engine, monkeypatch):
    monkeypatch.setattr(engines, "ENOUGH", -1.0)  # one job takes long enough
    let_go = hold_writer(engine)
    order = []

    def work(name):
        return lambda session, state: order.append(name) or engine.groups

    groups = [engine.submit(work(name)) for name in range(3)]
    let_go.set()
    found = [future.result(PATIENCE) for future in groups]
    assert order == [0, 1, 2]
    assert found == sorted(set(found))


def test_answers_that_take_long_to_learn_are_divided_and_all_are_learned(engine, monkeypatch):
    monkeypatch.setattr(learning, "ENOUGH", 0.0)
    engine.ingest([event(f"e{number}") for number in range(8)]).result(PATIENCE)
    let_go = hold_writer(engine)
    labels = [engine.submit(label(f"e{number}")) for number in range(8)]
    before = engine.groups
    let_go.set()
    for future in labels:
        future.result(PATIENCE)
    wait_until(lambda: engine.state.learned == 8, "a model of all answers")
    assert engine.groups - before >= 8


def test_a_job_nobody_waits_for_any_more_harms_no_other(engine):
    let_go = hold_writer(engine)
    given_up = engine.submit(lambda session, state: 1)
    kept = engine.submit(lambda session, state: 2)
    assert given_up.cancel()
    let_go.set()
    assert kept.result(PATIENCE) == 2
    assert engine.submit(lambda session, state: 3).result(PATIENCE) == 3


@pytest.mark.parametrize("name", BACKGROUND_TASKS)
def test_a_chore_that_fails_stops_no_job_is_told_once_and_recovers(engine, monkeypatch, caplog, name):
    service = Service(engine.config, engine.database, engine)
    monkeypatch.setattr(engines, "TASK_PAUSE", 0.0)
    whole = BACKGROUND_TASKS[name]
    tried = []

    def broken(engine, session):
        tried.append(engine.groups)
        if name == "learn":
            whole(engine, session)  # memory is ahead of the store when it fails
        raise RuntimeError("no way")

    monkeypatch.setattr(engines, "SWEEP", 0.0)  # always due
    engine.config = replace(engine.config, server=replace(engine.config.server, checkpoint_every=1))
    monkeypatch.setitem(BACKGROUND_TASKS, name, broken)
    for number in range(4):
        assert engine.ingest([event(f"e{number}")]).result(PATIENCE)[0]["seq"]
        assert engine.submit(label(f"e{number}")).result(PATIENCE)["outcome"] == "accepted"
    assert len(tried) >= 2
    assert "askance_chore_failing" in service.metrics.text().decode()
    assert service.warnings() == [f"'{name}' fails (RuntimeError: no way) and is tried again; see the log."]
    assert service.ready() == []
    assert sum("no way" in str(record.exc_info) for record in caplog.records) == 1
    monkeypatch.setitem(BACKGROUND_TASKS, name, whole)

    def is_well():
        engine.ingest([event(uuid4().hex)]).result(PATIENCE)
        return not service.warnings() and engine.state.learned == 4

    wait_until(is_well, "a background task that works again")


@pytest.mark.parametrize("name", BACKGROUND_TASKS)
def test_a_connection_lost_in_a_chore_is_the_stores_failure_not_the_chores(
    tmp_path, postgres, monkeypatch, caplog, name
):
    monkeypatch.setattr(engines, "SWEEP", 0.0)  # always due
    whole, lost = BACKGROUND_TASKS[name], []

    def lose(engine, session):
        if not lost:
            lost.append(name)
            session.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        whole(engine, session)

    with running_engine(create_store(tmp_path, postgres.new_database())) as engine:
        engine.config = replace(engine.config, server=replace(engine.config.server, checkpoint_every=1))
        monkeypatch.setitem(BACKGROUND_TASKS, name, lose)
        for number in range(4):
            assert engine.ingest([event(f"e{number}")]).result(PATIENCE)[0]["seq"]
            assert engine.submit(label(f"e{number}")).result(PATIENCE)["outcome"] == "accepted"
        assert lost
        assert not engine.failing
        wait_until(lambda: engine.state.learned == 4, "a model of all answers")
    assert not [record for record in caplog.records if record.exc_info]


def test_numbers_are_told_once_they_are_committed(engine, monkeypatch):
    service = Service(engine.config, engine.database, engine)
    engine.ingest([event("e0")]).result(PATIENCE)
    learned, let_go = threading.Event(), threading.Event()

    def hold(engine, session):  # between what is learned and the commit
        if engine.state.learned:
            learned.set()
            assert let_go.wait(PATIENCE)

    def tell():
        with engine.database.read() as session:
            shown = stats(session, service)
            committed = session.value("SELECT count(*) FROM answers WHERE state = 'learned'")
        (version,) = re.findall(r"^askance_model_version (\S+)", service.metrics.text().decode(), re.MULTILINE)
        (answers,) = re.findall(r"^askance_answers_total (\S+)", service.metrics.text().decode(), re.MULTILINE)
        return committed, shown["model"]["learned"], int(float(version)), int(float(answers))

    monkeypatch.setattr(engines, "SWEEP", 0.0)  # the sweep, which follows, is always due
    monkeypatch.setitem(BACKGROUND_TASKS, "sweep", hold)
    given = engine.submit(label("e0"))
    assert learned.wait(PATIENCE)
    mark, before = service.mark(), tell()
    let_go.set()
    given.result(PATIENCE)
    assert (before, tell()) == ((0, 0, 0, 0), (1, 1, 1, 1))
    assert service.mark() != mark  # so that what was shown before is not shown again


def test_others_are_served_before_a_request_of_large_events_ends(tmp_path):
    async def use():
        with new_service(tmp_path, {"ana": "ingest label"}) as (service, secrets):

            def post(path, document):
                return Call(service, "POST", path, secrets["ana"], json.dumps(document).encode())

            assert await post("/v1/events", [{"id": f"e{number}", "fields": {}} for number in range(20)]).end() == 200
            with held(service.engine):
                words = [f"w{number} " * 60_000 for number in range(10)]
                large = post("/v1/events", [{"fields": {"text": text}} for text in words])
                await wait_for(lambda: service.engine.waiting)  # its first part
                others = [
                    (post("/v1/asks/next", {}), post("/v1/labels", {"event": f"e{number}", "label": "ham"}))
                    for number in range(5)
                ]
                between = [post("/v1/events", {"fields": {"text": "hello"}}) for _ in range(5)]
                await wait_for(lambda: service.engine.waiting == 16)
            assert {await call.end() for pair in others for call in pair} == {200}
            assert {await call.end() for call in between} == {201}
            assert await large.end() == 200
            assert large.json()["accepted"] == 10
            last = max(item["seq"] for item in large.json()["items"])
            assert max(call.json()["seq"] for call in between) < last, "others waited until all of them were stored"

    asyncio.run(use())
