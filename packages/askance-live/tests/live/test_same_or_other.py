"""When two bodies are the same event: by their values, not by how they are written; and what its time is for."""

import hashlib

import msgspec
import pytest
from tests.live.in_process import new_engine
from tests.live.running import to_half_past
from tests.patience import PATIENCE

from askance_live.engine import ingest
from askance_live.exchange.received import digest_of, read_event
from askance_live.store import open_store

FIRST = b'{"id": "n", "time": 10, "fields": {"size": 16, "text": "a", "more": {"x": [1, 0.5, 100]}}}'
SAME = {
    "16.0": b'{"id": "n", "time": 10, "fields": {"size": 16.0, "text": "a", "more": {"x": [1, 0.5, 100]}}}',
    "exponents": b'{"id": "n", "time": 1e1, "fields": {"size": 1.6e1, "text": "a", "more": {"x": [1, 5e-1, 1e2]}}}',
    "the order of names": b'{"fields": {"more": {"x": [1, 0.5, 100]}, "text": "a", "size": 16}, "id": "n", "time": 10}',
    "spaces, escapes": b' { "id":"n","time" : 10.0, "fields":{"size":16,"text":"\\u0061","more":{"x":[1,0.50,100]}}}\n',
}
OTHER = {
    "17": FIRST.replace(b"16", b"17"),
    "16.5": FIRST.replace(b"16", b"16.5"),
    "a text": FIRST.replace(b"16", b'"16"'),
    "true for 1": FIRST.replace(b"[1,", b"[true,"),
    "another order in a list": FIRST.replace(b"[1, 0.5", b"[0.5, 1"),
    "a field more": FIRST.replace(b'"size": 16', b'"size": 16, "y": null'),
    "another time": FIRST.replace(b'"time": 10', b'"time": 11'),
    "no time": FIRST.replace(b'"time": 10,', b""),
}


@pytest.fixture(scope="module")
def service(make_for_all):
    running = make_for_all()
    assert running.client.post("/v1/events", content=FIRST).status_code == 201
    return running


@pytest.mark.parametrize("name", SAME)
def test_the_same_values_written_otherwise_are_the_same_event(service, name):
    again = service.client.post("/v1/events", content=SAME[name])
    assert (again.status_code, again.json()["duplicate"]) == (200, True), again.text
    # and among the items of one request
    fresh, twice = (body.replace(b'"n"', f'"{name}"'.encode()) for body in (FIRST, SAME[name]))
    items = service.client.post("/v1/events", content=b"[%s, %s]" % (fresh, twice)).json()["items"]
    assert [item["status"] for item in items] == [201, 200]


@pytest.mark.parametrize("name", OTHER)
def test_another_value_is_another_event(service, name):
    refused = service.client.post("/v1/events", content=OTHER[name])
    assert (refused.status_code, refused.json()["code"]) == (409, "id_reused"), refused.text


def test_whole_numbers_are_compared_by_value():
    assert digest_of([2**63, -(2**63)]) == digest_of([float(2**63), -float(2**63)])
    assert digest_of([2**53 + 1]) != digest_of([float(2**53)])
    assert digest_of([-0.0]) == digest_of([0])
    assert digest_of([1e300]) != digest_of([1e301])


def test_an_event_stored_before_numbers_were_compared_by_value_is_still_known(make, store):
    service = make(store=store)
    body = {"id": "old", "fields": {"size": 16.0, "text": "a"}}
    service.post("/v1/events", body)
    service.stop()
    written = msgspec.json.encode([body["fields"], None], order="sorted")  # as it was once
    database = open_store(store)
    with database.write() as session:
        session.execute("UPDATE events SET digest = ?", (hashlib.blake2b(written, digest_size=16).digest(),))
        session.execute("DELETE FROM meta WHERE name = 'log_hash'")  # nor was there one
    database.close()
    service.start()
    assert service.post("/v1/events", body).json()["duplicate"] is True
    assert service.post("/v1/events", {**body, "fields": {"size": 16, "text": "a"}}).json()["duplicate"] is True
    assert service.post("/v1/events", {**body, "fields": {"size": 17, "text": "a"}}).status_code == 409


def test_an_event_in_quarantine_is_known_by_the_digest_of_an_earlier_version(make, store):
    service = make(store=store)
    body = {"id": "far", "fields": {"size": 1e300}}
    assert service.post("/v1/events", body).json()["code"] == "quarantined"
    service.stop()
    written = b'[{"size":%d},null]' % int(1e300)  # as it was once
    database = open_store(store)
    with database.write() as session:
        session.execute("UPDATE quarantine SET digest = ?", (hashlib.blake2b(written, digest_size=16).digest(),))
    database.close()
    service.start()
    assert service.post("/v1/events", body).json()["code"] == "quarantined"
    assert service.post("/v1/events", {**body, "fields": {"size": 1e301}}).json()["code"] == "id_reused"


def test_a_short_event_under_the_id_of_a_long_one_is_refused_without_reading_that(tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(ingest, "digest_of", lambda value: read.append(value) or digest_of(value))

    def send(engine, fields, n=3):
        events = [read_event({"id": f"long {k}", "fields": fields}, 200_000) for k in range(n)]
        return engine.ingest(events).result(PATIENCE)

    with new_engine(tmp_path) as engine:
        send(engine, {"words": ["x"] * 20_000})
        assert [refused.code for refused in send(engine, {"words": ["x"]})] == ["id_reused"] * 3
        assert read == []
        assert [refused.code for refused in send(engine, {"words": ["y"] * 20_000})] == ["id_reused"] * 3
        assert len(read) == 3


TIMES = [
    "9999-12-31T23:59:59Z",
    "0001-01-01",
    -62135596800,
    253402300799,
    "2026-05-01T10:00:00+02:00",
    0,
    1777629600000,
    None,
]


def test_no_time_of_an_event_touches_the_budget_the_queue_or_the_clock(make):
    service = make(asking={"per_day": 4, "rate": 1.0}, clock=to_half_past())
    items = [
        {"id": f"t{k}", "time": TIMES[k % len(TIMES)], "fields": {"text": f"hello {k}", "size": k}} for k in range(64)
    ]
    asked = sum(item["asked"] for item in service.post("/v1/events", items).json()["items"])
    stats = service.stats()
    assert 1 <= asked <= 4
    assert stats["budget"]["day"] == {"spent": asked, "limit": 4}
    assert 0 <= stats["queue"]["oldest_seconds"] < 60
    for k, given in enumerate(TIMES):
        assert service.get(f"/v1/events/t{k}").json()["time"] == given
    ask = service.next()[0]
    assert 0 < ask["seconds_left"] <= 600
    assert service.answer(ask, "ham").json()["outcome"] == "accepted"
    service.stop()
    service.digest()
