"""What is done for every request takes no longer the more is stored: it goes by an index, never through a table."""

import re

import pytest
from tests.live.in_process import new_engine
from tests.patience import PATIENCE

from askance_live.dashboard.stats import stats
from askance_live.exchange.received import read_event
from askance_live.questions import answers, queue
from askance_live.questions.labels import give_label
from askance_live.questions.submissions import Submission
from askance_live.service import Service

GROWING = "events|asks|answers|learned|set_aside"


@pytest.fixture
def engine(tmp_path):
    with new_engine(tmp_path, checkpoint_every=5) as running:
        yield running


def work(engine):
    """A bit of everything that happens all the time."""
    items = [read_event({"id": f"e{k}", "fields": {"text": "hello", "size": k}}, 10_000) for k in range(20)]
    engine.ingest(items).result(PATIENCE)
    engine.ingest(items[:3]).result(PATIENCE)

    def do(job):
        return engine.submit(job).result(PATIENCE)

    asks, _ = do(lambda session, state: queue.next_asks(session, state, "ana", 3, frozenset()))
    assert len(asks) == 3
    first, second, third = asks
    do(lambda session, state: queue.renew(session, state, "ana", first["id"], first["token"]))
    for place, ask in enumerate((first, second)):
        given = Submission(f"answer-{place}", b"x", ask["token"], place, None, 900, None, None)
        do(lambda session, state, ask=ask, given=given: answers.answer(session, state, "ana", ask["id"], given))
    skipped = Submission("skip", b"x", third["token"], None, "unsure", None, None, None)
    do(lambda session, state: answers.skip(session, state, "ana", third["id"], skipped))
    engine.ingest([read_event({"id": "late", "fields": {"text": "hello"}}, 10_000)]).result(PATIENCE)
    do(lambda session, state: give_label(session, state, "root", "late", 1, None, False))
    do(lambda session, state: answers.undo(session, state, "ana", "answer-1"))
    do(lambda session, state: queue.expire(session, state, state.clock.now()))
    while engine.state.due is not None:
        do(lambda session, state: None)


def scans(session, statements, limited=False):
    """The statements that go through a whole table, or, where only so many rows are ``limited``, all of an index."""
    rows = session.all("SELECT name FROM sqlite_master WHERE type = 'index' AND sql LIKE '%WHERE%'")
    partial = "|".join(row[0] for row in rows)  # what waits: that is never much
    for sql in statements:
        for *_, step in session.all(f"EXPLAIN QUERY PLAN {sql}"):
            if not step.startswith("SCAN ") or "CONSTANT" in step or re.search(f" USING .*({partial})", step):
                continue
            if " USING " not in step if not limited else " LIMIT " not in sql:
                yield step, sql


def test_a_look_at_the_numbers_goes_through_no_table(engine):
    work(engine)
    service = Service(engine.config, engine.database, engine)
    with engine.database.read() as session:
        seen = set()
        session.connection.set_trace_callback(seen.add)
        found = stats(session, service)
        session.connection.set_trace_callback(None)
        looked = [sql for sql in seen if re.search(GROWING, sql)]
        assert len(looked) > 5
        assert list(scans(session, looked, limited=True)) == []
    assert found["labels"]["total"] == 2


def test_nothing_that_happens_all_the_time_goes_through_a_whole_table(engine):
    connection = engine.database.writer
    seen = set()
    connection.set_trace_callback(seen.add)
    work(engine)
    connection.set_trace_callback(None)
    looked = [sql for sql in seen if re.match("SELECT|UPDATE|DELETE", sql) and re.search(GROWING, sql)]
    assert len(looked) > 15
    with engine.database.read() as session:
        assert list(scans(session, looked)) == []
    # the one that is shown next is the first of an index, not the best of all that were sorted
    shown = next(sql for sql in looked if "ORDER BY a.rank DESC" in sql)
    with engine.database.read() as session:
        assert not any("TEMP B-TREE" in row[3] for row in session.all(f"EXPLAIN QUERY PLAN {shown}"))
