"""Events in, predictions out: idempotent, in order, one bad item harming no other."""

import gzip
import json
from concurrent.futures import ThreadPoolExecutor

import pytest


@pytest.fixture
def service(make):
    return make()


def test_an_event_is_predicted_and_can_be_read_again(service):
    response = service.post("/v1/events", {"id": "a", "fields": {"text": "hello"}, "time": "2026-05-01T10:00:00Z"})
    assert response.status_code == 201
    body = response.json()
    assert body["label"] in ("ham", "spam")
    assert set(body["probabilities"]) == {"ham", "spam"}
    assert abs(sum(body["probabilities"].values()) - 1) < 1e-5
    assert body["model"] == 0
    assert body["asked"] is True  # a cold start asks about the first event for certain
    assert body["ask_probability"] == 1.0
    found = service.get("/v1/events/a").json()
    assert found["fields"] == {"text": "hello"}
    assert found["time"] == "2026-05-01T10:00:00Z"
    assert found["prediction"]["label"] == body["label"]
    assert found["now"]["model"] == 0
    assert found["ask"]["state"] == "open"
    assert service.get("/v1/events/b").json()["code"] == "unknown_event"


def test_the_same_event_again_is_a_duplicate_and_another_body_a_conflict(make, store):
    service = make(store=store)
    event = {"id": "a", "fields": {"text": "hello", "size": 1}}
    first = service.post("/v1/events", event)
    again = service.post("/v1/events", {"fields": {"size": 1, "text": "hello"}, "id": "a"})  # another order of names
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == {**first.json(), "duplicate": True}
    other = service.post("/v1/events", {"id": "a", "fields": {"text": "bye", "size": 1}})
    assert (other.status_code, other.json()["code"]) == (409, "id_reused")
    service.restart()
    after = service.post("/v1/events", event)
    assert after.json() == {**first.json(), "duplicate": True}
    assert service.stats()["events"]["total"] == 1


def test_the_same_event_twenty_times_at_once_is_stored_once(service):
    event = {"id": "a", "fields": {"text": "hello"}}
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: service.post("/v1/events", event), range(20)))
    assert sorted(answer.status_code for answer in answers) == [200] * 19 + [201]
    assert len({json.dumps({**answer.json(), "duplicate": None}) for answer in answers}) == 1
    assert service.stats()["events"]["total"] == 1


def test_a_batch_keeps_its_order_and_tells_the_fate_of_every_item(service):
    items = [
        {"id": 1, "fields": {"text": "one"}},
        {"id": "2", "fields": {"size": "not a number"}},
        "no event",
        {"id": 1, "fields": {"text": "one"}},
        {"id": 1, "fields": {"text": "other"}},
        {"id": "3", "fields": {"text": "three"}, "surprise": 1},
        {"id": "4", "fields": {"text": "four"}},
    ]
    body = service.post("/v1/events", items).json()
    assert [item["status"] for item in body["items"]] == [201, 202, 422, 200, 409, 422, 201]
    assert [item["id"] for item in body["items"]] == ["1", "2", None, "1", "1", "3", "4"]
    assert (body["accepted"], body["duplicates"], body["quarantined"], body["errors"]) == (2, 1, 1, 3)
    assert "'size'" in body["items"][1]["detail"]


def test_lines_of_json_and_gzip_are_taken(service):
    lines = b"\n".join(json.dumps({"id": str(k), "fields": {"text": f"line {k}"}}).encode() for k in range(5))
    headers = {"content-type": "application/x-ndjson", "content-encoding": "gzip"}
    body = service.client.post("/v1/events", content=gzip.compress(lines + b"\n{broken"), headers=headers).json()
    assert [item["status"] for item in body["items"]] == [201] * 5 + [400]


def test_a_batch_of_more_than_a_thousand_is_refused(service):
    response = service.post("/v1/events", [{"fields": {}}] * 1001)
    assert response.status_code == 422
    assert "1,000" in response.json()["detail"]


def test_an_event_without_id_gets_one_and_without_fields_is_fine(service):
    first, second = (service.post("/v1/events", {"fields": {}}).json() for _ in range(2))
    assert first["id"] != second["id"]


def test_a_rejected_event_leaves_no_trace_in_the_model(service):
    service.send("a", "b")
    service.post("/v1/events", [{"id": "bad", "fields": {"brand_new": 1, "size": "x"}}])
    service.send("c")
    service.stop()
    service.digest()  # a replay, which never saw the bad event, gives the same model


def test_a_prediction_stores_nothing(service):
    service.send("a")
    before = service.stats()["events"]["total"]
    response = service.post("/v1/predict", {"fields": {"text": "what if", "unheard_of": 3}})
    assert response.status_code == 200
    assert set(response.json()) == {"label", "probabilities", "model"}
    assert service.stats()["events"]["total"] == before
    service.stop()
    service.digest()


def test_labels_from_elsewhere_are_learned_once_and_only_replaced_on_demand(service):
    service.send("a", "b")
    body = {"event": "a", "label": "spam"}
    first = service.post("/v1/labels", body)
    assert first.json()["outcome"] == "accepted"
    service.wait_until_learned(1)
    again = service.post("/v1/labels", body)
    assert again.json() == {**first.json(), "duplicate": True}
    other = service.post("/v1/labels", {"event": "a", "label": "ham"})
    assert (other.status_code, other.json()["code"]) == (409, "already_labeled")
    replaced = service.post("/v1/labels", {"event": "a", "label": "ham", "replace": True})
    assert replaced.json()["outcome"] == "accepted"
    service.wait_until_learned(2)
    batch = service.post(
        "/v1/labels", [{"event": "nobody", "label": "ham"}, {"event": "b", "label": "egg"}, body]
    ).json()
    assert [item["status"] for item in batch["items"]] == [404, 422, 409]
    assert batch["items"][2]["code"] == "already_labeled"  # a late retry of the first request changes nothing
    states = [answer["state"] for answer in service.get("/v1/events/a").json()["answers"]]
    assert states == ["superseded", "learned"]


def test_a_late_label_is_scored_against_the_prediction_made_when_the_event_came(service):
    service.send("late-1", text="win a prize")
    then = service.get("/v1/events/late-1").json()["prediction"]
    opposite = "ham" if then["label"] == "spam" else "spam"
    service.send(*(f"even-{k}" for k in range(20)), text="win a prize")
    service.post("/v1/labels", [{"event": f"even-{k}", "label": opposite} for k in range(20)])
    service.wait_until_idle()
    service.restart()
    service.send("late-2", text="win a prize")  # by new events the model learns how far apart its scores are
    now = service.get("/v1/events/late-1").json()
    assert now["now"]["label"] == opposite  # the model changed its mind
    service.post("/v1/labels", {"event": "late-1", "label": opposite})
    assert service.get("/v1/events/late-1").json()["answers"][0]["predicted"] == then["label"]
    accuracy = service.stats()["accuracy"]
    assert accuracy["overall"]["n"] >= 1
    confusion = service.stats()["confusion"]["all"]
    wrong = confusion[1][0] if opposite == "spam" else confusion[0][1]
    assert wrong >= 1
