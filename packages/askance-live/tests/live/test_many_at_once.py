"""Lines of JSON, ids with slashes, floods of names, and what is said of one item among many."""

import json
import re
from urllib.parse import quote

import pytest

pytestmark = pytest.mark.hostile


@pytest.fixture(scope="module")
def service(make_for_all):
    running = make_for_all(server={"new_fields": 20})
    running.send("first")
    return running


@pytest.mark.parametrize("kind", ["application/x-ndjson", "application/json", "application/x-www-form-urlencoded", ""])
def test_one_event_a_line_is_known_by_its_form(service, kind):
    ids = [f"{kind}-{k}" for k in range(3)]
    lines = [json.dumps({"id": name, "fields": {"text": "hello"}}) for name in ids]
    body = "\n".join([*lines[:2], '{"id": "x", "fields": ', "", lines[2]]) + "\n"
    done = service.client.post("/v1/events", content=body.encode(), headers={"content-type": kind})
    assert done.status_code == 200, done.text
    assert [item["status"] for item in done.json()["items"]] == [201, 201, 400, 201]
    labels = "\n".join(json.dumps({"event": name, "label": "ham"}) for name in ids)
    given = service.client.post("/v1/labels", content=labels.encode(), headers={"content-type": kind})
    assert [item["status"] for item in given.json()["items"]] == [200] * 3


def test_what_goes_on_after_its_end_is_said_to(service):
    problem = service.client.post("/v1/events", content=b'{"fields": {"text": "a"}} {"fields": {}}').json()
    assert problem["code"] == "malformed"
    assert "goes on after the end" in problem["detail"]
    assert "one a line" in problem["detail"]
    assert "field" not in problem


@pytest.mark.parametrize("path", ["/v1/events", "/v1/labels"])
@pytest.mark.parametrize(
    ("kind", "content"), [("application/x-ndjson", b""), ("application/x-ndjson", b"\n\n"), ("application/json", b"[]")]
)
def test_a_batch_of_no_items_is_one(service, path, kind, content):
    response = service.client.post(path, content=content, headers={"content-type": kind})
    assert (response.status_code, response.json()["items"], response.json()["errors"]) == (200, [], 0)


@pytest.mark.parametrize("path", ["/v1/events", "/v1/labels", "/v1/predict"])
def test_an_empty_body_is_called_empty(service, path):
    problem = service.client.post(path, content=b"").json()
    assert (problem["code"], "the body is empty" in problem["detail"]) == ("invalid", True)


@pytest.mark.parametrize("name", ["with/slash", "/", "a//b/undo", "50%/ä?#"])
def test_an_id_with_a_slash_can_be_reached(service, name):
    service.send(name)
    found = service.get(f"/v1/events/{quote(name, safe='')}")
    assert (found.status_code, found.json().get("id")) == (200, name)
    label = service.post("/v1/labels", {"event": name, "label": "ham"}).json()["label_id"]
    undone = service.post(f"/v1/answers/{quote(label, safe='')}/undo")
    assert (undone.status_code, undone.json()["outcome"]) != (404, None)
    assert service.get(f"/v1/events/{quote(name, safe='')}").json()["answers"][0]["state"] == "undone"


def test_one_event_cannot_use_up_the_table_of_fields(service):
    wide = {"id": "wide", "fields": {f"name-{k}": k for k in range(21)}}
    response = service.post("/v1/events", wide)
    assert (response.status_code, response.json()["code"]) == (422, "too_many_fields")
    assert "server.new_fields" in response.json()["detail"]
    batch = service.post("/v1/events", [{"id": "b1", "fields": {}}, {**wide, "id": "b2"}, {"id": "b3", "fields": {}}])
    assert [item["status"] for item in batch.json()["items"]] == [201, 422, 201]
    service.wait_until_idle()
    numbers = service.stats()["model"]
    assert (numbers["fields"], numbers["most_fields"]) == (2, 10_000)
    assert "askance_fields 2.0" in service.get("/metrics").text
    del wide["fields"]["name-0"]
    assert service.post("/v1/events", wide).status_code == 201


def test_the_first_events_of_a_stream_may_be_wide(make):
    service = make(server={"new_fields": 20})
    wide = [{"id": f"w{k}", "fields": {"vector": list(range(100))}} for k in range(3)]
    assert service.post("/v1/events", wide).json()["accepted"] == 3
    assert service.post("/v1/events", {**wide[0], "id": "w4"}).status_code == 201


def test_errors_of_labels_name_their_events(service):
    items = [{"event": "nowhere", "label": "ham"}, {"event": "first", "label": "egg"}, 3, {"event": 17}]
    given = service.post("/v1/labels", items).json()["items"]
    assert [item["event"] for item in given] == ["nowhere", "first", None, "17"]


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}, "x" * 201, "", 1.5, True, "a\nb"])
def test_what_is_no_name_does_not_come_back_as_one(service, value):
    for path, name in (("/v1/labels", "event"), ("/v1/events", "id")):
        (item,) = service.post(path, [{name: value}]).json()["items"]
        assert (item["status"], item[name]) == (422, None)


def test_mine_is_one_or_nought(service):
    assert service.get("/v1/answers?mine=1").status_code == 200
    problem = service.get("/v1/answers?mine=2")
    assert (problem.status_code, problem.json()["field"]) == (422, "mine")


def test_errors_are_counted_under_their_path(service):
    service.client.post("/v1/events", content=b"nonsense")
    service.post("/v1/events", {"fields": 3})
    service.get("/v1/asks/1/answer")
    counts = service.get("/metrics").text
    for status in (400, 422):
        assert re.search(rf'askance_requests_total{{method="POST",path="/v1/events",status="{status}"}}', counts)
    assert not re.search(r'path="none",status="4(00|22)"', counts)


def test_somebody_who_holds_every_question_is_not_told_of_others(make):
    service = make()
    service.send("a")
    ask = service.next()[0]
    nothing = service.post(f"/v1/asks/next?exclude={ask['id']}")
    assert nothing.headers["x-askance-reason"] == "all_leased"
    assert "your own hands" in nothing.headers["x-askance-detail"]


def test_what_cannot_be_done_beside_a_service_names_the_request_that_does_it(make):
    service = make()
    (service.folder / "some.jsonl").write_text("{}\n")
    for words, path in ((("rebuild",), "/v1/model/rebuild"), (("import", "some.jsonl"), "/v1/import")):
        refused = service.run(*words, check=False)
        assert refused.returncode == 2
        assert f"POST {path}" in refused.stderr
