"""Events that cannot be encoded are kept, and taken in once they can be; the model stays a function of its log."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.patience import PATIENCE

from askance.data.encoding.kind_evidence import MAX_MISMATCHES, VALUES_TO_SETTLE
from askance_live.config import from_document
from askance_live.doctor import examine_store, remark_on_store
from askance_live.engine import quarantine
from askance_live.engine.rebuild import rebuild, rebuild_offline
from askance_live.engine.state import first_rows
from askance_live.engine.thread import Engine
from askance_live.exchange.importing import import_items
from askance_live.exchange.received import read_event
from askance_live.problems import Problem
from askance_live.questions.labels import give_label
from askance_live.store import open_store


class Service:
    """An engine on a store, that can be ended and started again with other settings."""

    def __init__(self, place, **settings):
        self.document = {
            "classes": ["ham", "spam"],
            "store": str(place),
            "model": {"algorithm": "PAA-I", "hash_bits": 8},
            "queue": {"learn_after": 0.0},
            "server": {"disk_reserve": 0, "checkpoint_every": 40, **settings},
        }
        database = open_store(str(place), create=True)
        with database.write() as session:
            first_rows(session, self.config)
        database.close()
        self.start()

    @property
    def config(self):
        return from_document(self.document)

    def start(self):
        self.engine = Engine(open_store(self.document["store"]), self.config)
        self.engine.start()
        return self

    def stop(self):
        self.engine.stop()

    def restart(self):
        self.stop()
        return self.start()

    def send(self, *items):
        return self.engine.ingest([read_event(item, 100_000) for item in items]).result(PATIENCE)

    def numbers(self, count, start=0):
        return self.send(*({"id": f"n{k}", "fields": {"size": k % 7}} for k in range(start, start + count)))

    def words(self, count, start=0):
        return self.send(*({"id": f"w{k}", "fields": {"size": f"word-{k}"}} for k in range(start, start + count)))

    def do(self, work):
        return self.engine.submit(work).result(PATIENCE)

    def replay(self):
        return quarantine.replay_all(self.engine, "test")

    def page(self, after=0, limit=1000):
        with self.engine.database.read() as session:
            return quarantine.read_page(session, after, limit)

    @property
    def held(self):
        return self.engine.state.quarantine

    @property
    def kinds(self):
        return self.engine.state.learner.features.kinds

    def digest(self):
        return self.engine.state.learner.digest()

    def check(self):
        """The model by its checkpoint and what came after is the one of a replay of the whole log."""
        before = self.digest()
        self.stop()
        database = open_store(self.document["store"])
        try:
            assert rebuild_offline(database, self.config, check=True)["same"]
            assert examine_store(database, self.config, deep=True) == []
        finally:
            database.close()
        self.start()
        assert self.digest() == before
        assert rebuild(self.engine, "test")["digest"] == before


@pytest.fixture
def service(store):
    running = Service(store)
    yield running
    running.stop()


@pytest.fixture
def alone(tmp_path):
    running = Service(tmp_path / "askance.db")
    yield running
    running.stop()


def codes(outcomes):
    return ["quarantined" if outcome.get("code") == "quarantined" else "predicted" for outcome in outcomes]


def test_messages_after_a_first_one_of_digits_are_predicted(service):
    items = [{"id": str(k), "fields": {"text": text}} for k, text in enumerate(("483920", "your code", "hello there"))]
    assert codes(service.send(*items)) == ["predicted"] * 3
    assert service.kinds == {"text": "text"}
    service.check()


def test_a_field_that_proves_wider_is_so_in_every_replay(service):
    service.numbers(30)
    assert codes(service.words(5)) == ["predicted"] * 5
    service.numbers(20, start=30)
    assert service.kinds == {"size": "category"}
    service.check()


def test_a_stray_word_is_kept_and_the_same_event_again_gets_the_same_response(service):
    service.numbers(VALUES_TO_SETTLE)
    (first,) = service.words(1)
    assert (first["code"], first["field"], first["id"]) == ("quarantined", "size", "w0")
    assert first["detail"].startswith("field 'size': 'word-0' is not a number;")
    assert service.words(1) == [first]
    service.restart()
    assert service.words(1) == [first]
    (other,) = service.send({"id": "w0", "fields": {"size": "another"}})
    assert (other.code, "kept in quarantine with another body" in other.detail) == ("id_reused", True)
    assert service.held.held == 1
    (event,) = service.page().events
    assert (event["id"], event["fields"], event["field"]) == ("w0", {"size": "word-0"}, "size")
    assert service.kinds == {"size": "number"}
    service.check()


def test_the_same_stray_event_twice_in_a_batch_is_kept_once(alone):
    alone.numbers(VALUES_TO_SETTLE)
    item = {"id": "x", "fields": {"size": "x"}}
    first, second, other = alone.send(item, item, {"id": "x", "fields": {"size": "y"}})
    assert first == second
    assert other.code == "id_reused"
    assert alone.held.held == 1


def test_strays_that_keep_coming_make_the_kind_wider_also_across_restarts_and_then_are_replayed_once(service):
    service.numbers(VALUES_TO_SETTLE)
    assert codes(service.words(6)) == ["quarantined"] * 6
    service.restart()  # the strays are remembered
    assert (
        codes(service.words(MAX_MISMATCHES - 6 + 3, start=6))
        == ["quarantined"] * (MAX_MISMATCHES - 6) + ["predicted"] * 3
    )
    assert service.kinds == {"size": "category"}
    service.check()
    assert service.replay() == {"replayed": MAX_MISMATCHES, "labels": 0, "kept": 0}
    assert service.replay() == {"replayed": 0, "labels": 0, "kept": 0}
    assert (service.held.held, service.held.bytes, service.page().events) == (0, 0, [])
    again = service.words(MAX_MISMATCHES)
    assert [outcome["duplicate"] for outcome in again] == [True] * MAX_MISMATCHES
    seqs = [outcome["seq"] for outcome in again]
    assert seqs == sorted(seqs)  # in order
    service.check()


def test_how_events_are_divided_into_requests_changes_nothing(tmp_path):
    found = []
    for size in (1, 7, 500):
        service = Service(tmp_path / f"{size}.db")
        items = [{"id": f"n{k}", "fields": {"size": k % 7, "odd": k}} for k in range(VALUES_TO_SETTLE)]
        items += [{"id": f"w{k}", "fields": {"size": f"word {k}", "odd": k}} for k in range(2 * MAX_MISMATCHES)]
        for first in range(0, len(items), size):
            service.send(*items[first : first + size])
        learner = service.engine.state.learner
        fields = json.dumps(learner.features.to_dict(), default=lambda array: array.tolist())
        found.append((fields, learner.clf.coef_.tobytes(), service.held.held))
        service.stop()
    assert len(set(found)) == 1
    assert found[0][2] == MAX_MISMATCHES


def test_a_given_kind_never_gives_way_and_its_events_wait_for_other_settings(alone):
    alone.stop()
    alone.document["fields"] = {"size": "number"}
    alone.start()
    alone.numbers(3)
    assert codes(alone.words(3 * MAX_MISMATCHES)) == ["quarantined"] * 3 * MAX_MISMATCHES
    assert alone.replay() == {"replayed": 0, "labels": 0, "kept": 3 * MAX_MISMATCHES}
    assert alone.kinds == {"size": "number"}
    alone.check()
    alone.stop()
    alone.document["fields"] = {"size": "category"}
    database = open_store(alone.document["store"])
    rebuild_offline(database, alone.config, check=False)
    database.close()
    alone.start()
    assert alone.replay() == {"replayed": 3 * MAX_MISMATCHES, "labels": 0, "kept": 0}
    alone.check()


def test_settings_that_became_narrower_lose_no_event_and_no_answer_of_the_log(alone):
    alone.stop()
    alone.document["fields"] = {"size": "category"}
    alone.start()
    alone.words(4)
    alone.do(lambda session, state: give_label(session, state, "ana", "w1", 1, None, False))
    alone.stop()
    alone.document["fields"] = {"size": "number"}
    database = open_store(alone.document["store"])
    assert rebuild_offline(database, alone.config, check=False)["model"] == 1
    database.close()
    alone.start()
    alone.check()


def test_a_replay_tried_again_and_again_is_no_news_of_strays(alone):
    alone.numbers(VALUES_TO_SETTLE)
    alone.words(3)
    for _ in range(MAX_MISMATCHES):
        assert alone.replay()["kept"] == 3
    assert alone.kinds == {"size": "number"}


def test_a_full_quarantine_says_that_it_keeps_nothing_more(tmp_path):
    service = Service(tmp_path / "askance.db", quarantine_events=2)
    service.numbers(VALUES_TO_SETTLE)
    *kept, refused = service.words(3)
    assert codes(kept) == ["quarantined"] * 2
    assert isinstance(refused, Problem)
    assert (refused.code, "server.quarantine_events" in refused.detail) == ("invalid", True)
    assert (service.held.held, service.held.dropped) == (2, 1)
    assert service.do(lambda session, state: quarantine.drop(session, state, ["w0", "nobody"], "root")) == 1
    assert codes(service.words(1, start=2)) == ["quarantined"]
    assert service.do(lambda session, state: quarantine.drop(session, state, None, "root")) == 2
    assert (service.held.held, service.held.bytes, service.held.dropped) == (0, 0, 1)
    service.stop()
    small = Service(tmp_path / "small.db", quarantine_bytes=10)
    small.numbers(VALUES_TO_SETTLE)
    assert isinstance(small.words(1)[0], Problem)
    small.stop()


def test_pages_follow_one_another(alone):
    alone.numbers(VALUES_TO_SETTLE)
    alone.words(5)
    first = alone.page(limit=2)
    second = alone.page(int(first.next), 2)
    last = alone.page(int(second.next), 2)
    assert [event["id"] for page in (first, second, last) for event in page.events] == [f"w{k}" for k in range(5)]
    assert last.next is None


def test_a_page_and_a_turn_of_a_replay_hold_few_events_that_are_large(alone, monkeypatch):
    monkeypatch.setattr(quarantine, "PAGE_BYTES", 300_000)
    alone.numbers(VALUES_TO_SETTLE)
    large = "many " * 18_000  # 90,000 bytes
    names = [f"w{k}" for k in range(8)]
    alone.send(*({"id": name, "fields": {"size": large}} for name in names))
    page = alone.page(limit=1000)
    assert [event["id"] for event in page.events] == names[:3]
    assert [event["id"] for event in alone.page(int(page.next), 1000).events] == names[3:6]
    assert alone.do(lambda session, state: quarantine.replay(session, state, 0))["kept"] == 2
    assert alone.replay()["kept"] == 8
    with alone.engine.database.read() as session:
        assert [event["id"] for event in quarantine.read_some(session, 7).events] == names[:7]


def test_a_label_that_came_with_a_stray_event_is_learned_when_it_is_replayed(alone):
    alone.numbers(VALUES_TO_SETTLE)
    items = [{"id": f"w{k}", "fields": {"size": f"word-{k}"}, "label": "spam"} for k in range(MAX_MISMATCHES + 1)]
    done = import_items(alone.engine, items, "import", "root")
    assert (done["events"], done["quarantined"], done["labels"], done["errors"]) == (1, MAX_MISMATCHES, 1, 0)
    with pytest.raises(Problem, match="kept in quarantine; replay it first"):
        alone.do(lambda session, state: give_label(session, state, "ana", "w0", 1, None, False))
    assert alone.replay() == {"replayed": MAX_MISMATCHES, "labels": MAX_MISMATCHES, "kept": 0}
    with alone.engine.database.read() as session:
        assert session.value("SELECT count(*) FROM answers WHERE label = 1") == MAX_MISMATCHES + 1


def test_doctor_remarks_on_what_is_in_quarantine(alone):
    alone.numbers(VALUES_TO_SETTLE)
    assert remark_on_store(alone.engine.database) == []
    alone.words(2)
    (sentence,) = remark_on_store(alone.engine.database)
    assert sentence.startswith("2 events are in quarantine, the last one 'w1': field 'size': 'word-1' is not a number")
    assert examine_store(alone.engine.database, alone.config) == []


values = st.one_of(
    st.none(),
    st.integers(-5, 5),
    st.sampled_from(["x", "12", "", 1e200, "inf", "a few words more than three", True, ["a", "b"]]),
)
fields = st.dictionaries(st.sampled_from(["size", "text", "tag", "given"]), values, min_size=1, max_size=3)


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(fields, st.integers(1, 40)), min_size=1, max_size=8), st.integers(1, 50))
def test_whatever_comes_every_event_is_predicted_or_in_quarantine_and_a_replay_gives_the_same_model(runs, size):
    items = [row for row, times in runs for _ in range(times)]
    items = [{"id": f"e{k}", "fields": row} for k, row in enumerate(items)]
    with tempfile.TemporaryDirectory() as folder:
        service = Service(Path(folder) / "askance.db")
        service.document["fields"] = {"given": "number"}
        service.restart()
        try:
            outcomes = []
            for first in range(0, len(items), size):
                outcomes += service.send(*items[first : first + size])
            assert all(isinstance(outcome, dict) for outcome in outcomes)
            kept = [outcome["id"] for outcome in outcomes if outcome.get("code") == "quarantined"]
            assert [event["id"] for event in service.page().events] == kept
            with service.engine.database.read() as session:
                stored = [row[0] for row in session.all("SELECT id FROM events ORDER BY seq")]
            assert sorted(stored + kept) == sorted(item["id"] for item in items)
            service.check()
            done = service.replay()
            assert done["replayed"] + done["kept"] == len(kept)
            service.check()
        finally:
            service.stop()


def test_over_http_it_is_listed_replayed_dropped_exported_and_counted(make):
    service = make(model={"algorithm": "PAA-I"})
    numbers = [{"id": f"n{k}", "fields": {"amount": k}} for k in range(VALUES_TO_SETTLE)]
    words = [{"id": f"w{k}", "fields": {"amount": f"word {k}"}} for k in range(MAX_MISMATCHES + 1)]
    service.post("/v1/events", numbers)
    first = service.post("/v1/events", words[0])
    assert first.status_code == 202
    assert service.post("/v1/events", words[0]).json() == first.json()
    batch = service.post("/v1/events", words[:3]).json()
    assert (batch["quarantined"], batch["errors"], batch["items"][2]["status"]) == (3, 0, 202)
    shown = service.get("/v1/quarantine?limit=2").json()
    assert ([event["id"] for event in shown["events"]], shown["held"]) == (["w0", "w1"], 3)
    shown = service.get(f"/v1/quarantine?cursor={shown['next']}").json()
    assert ([event["id"] for event in shown["events"]], shown["next"]) == (["w2"], None)
    assert service.get("/v1/quarantine?cursor=x").status_code == 422
    assert "in quarantine: field 'amount'" in service.get("/v1/events/w0").json()["detail"]
    metrics = service.get("/metrics").text
    assert "askance_quarantined_total 3.0" in metrics
    assert "askance_quarantine_events 3.0" in metrics
    lines = [json.loads(line) for line in service.get("/v1/export.jsonl").text.splitlines()]
    assert [line["id"] for line in lines[-3:]] == ["w0", "w1", "w2"]
    assert lines[-1]["quarantine"]["field"] == "amount"
    assert service.post("/v1/quarantine/drop", {}).status_code == 422
    assert service.post("/v1/quarantine/drop", {"ids": ["w2"]}).json() == {"dropped": 1}
    service.post("/v1/events", words[2:])
    assert service.stats()["quarantine"]["widened"] == [{"field": "amount", "before": "number", "now": "category"}]
    listed = service.run("quarantine", "list").stdout
    assert listed.count("\n") == MAX_MISMATCHES - 1  # one came twice, was stray twice, and is taken now
    assert "w0  field 'amount': 'word 0' is not a number" in listed
    assert "POST /v1/quarantine/replay" in service.run("quarantine", "replay", check=False).stderr
    assert service.post("/v1/quarantine/replay").json() == {"replayed": MAX_MISMATCHES - 1, "labels": 0, "kept": 0}
    actions = [entry["action"] for entry in service.get("/v1/audit").json()["entries"]]
    assert actions[:2] == ["quarantine replay", "quarantine drop"]
    service.post("/v1/events", {"id": "given", "fields": {"size": "x"}})
    service.stop()
    assert "note: 1 event is in quarantine" in service.run("doctor", "--deep").stdout
    assert service.run("quarantine", "replay").stdout.endswith("1 still cannot be encoded.\n")
    assert service.run("quarantine", "drop", check=False).returncode == 2
    assert service.run("quarantine", "drop", "given").stdout == "1 events were given up.\n"
    assert service.run("quarantine", "list").stdout == ""
