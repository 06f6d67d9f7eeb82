"""The same request twice: in turn, twenty at once, after a crash, with another body. One row, one response."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest


@pytest.fixture
def service(make, store):
    running = make(store=store)
    running.send(*(f"e{k}" for k in range(12)))
    return running


def at_once(service, path, body, times=20):
    """Twenty requests that are all under way together."""
    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(lambda _: service.post(path, body), range(times)))


def one_response(responses):
    """The response that all of them had, up to the word that it is a repetition."""
    assert {response.status_code for response in responses} <= {200, 201}
    found = {json.dumps({**response.json(), "duplicate": None}, sort_keys=True) for response in responses}
    assert len(found) == 1
    return json.loads(found.pop())


def crash(service):
    service.kill()
    service.start()


def test_an_answer_again_and_again_is_one_answer(service):
    ask = service.next()[0]
    path = f"/v1/asks/{ask['id']}/answer"
    body = {"answer_id": "mine", "token": ask["token"], "label": "spam", "ms": 700}
    first = one_response(at_once(service, path, body))
    assert first["outcome"] == "accepted"
    service.wait_until_learned(1)
    assert one_response([service.post(path, body)]) == first
    crash(service)
    assert one_response(at_once(service, path, body)) == first
    other = service.post(path, {**body, "label": "ham"})
    assert (other.status_code, other.json()["code"]) == (409, "answer_id_reused")
    second = service.post(path, {**body, "answer_id": "mine-2", "label": "ham"})
    assert (second.status_code, second.json()["code"]) == (409, "already_answered")
    assert [answer["answer_id"] for answer in service.get("/v1/answers?mine=1").json()["answers"]] == ["mine"]
    stats = service.stats()
    assert (stats["labels"]["total"], stats["model"]["learned"]) == (1, 1)
    service.stop()
    service.digest()


def test_a_label_from_elsewhere_again_and_again_is_one_label(service):
    body = {"event": "e7", "label": "ham"}
    first = one_response(at_once(service, "/v1/labels", body))
    service.wait_until_learned(1)
    crash(service)
    assert one_response(at_once(service, "/v1/labels", body)) == first
    other = service.post("/v1/labels", {**body, "label": "spam"})
    assert (other.status_code, other.json()["code"]) == (409, "already_labeled")
    stats = service.stats()
    assert (stats["labels"]["total"], stats["model"]["learned"]) == (1, 1)


def test_a_skip_an_undo_and_a_reload_again_and_again_happen_once(service):
    # a reload, even twenty at once, gives the same question with the same token
    taken = [response.json()["asks"][0] for response in at_once(service, "/v1/asks/next", {})]
    assert len({(ask["id"], ask["token"]) for ask in taken}) == 1
    ask = taken[0]
    path = f"/v1/asks/{ask['id']}/skip"
    body = {"answer_id": "skipped", "token": ask["token"], "reason": "unsure"}
    first = one_response(at_once(service, path, body))
    crash(service)
    assert one_response(at_once(service, path, body)) == first
    assert service.stats()["labels"]["skipped"]["unsure"] == 1
    other = service.post(path, {**body, "reason": "bad_data"})
    assert (other.status_code, other.json()["code"]) == (409, "answer_id_reused")

    ask = service.next()[0]
    service.answer(ask, "ham", "undone")
    service.wait_until_learned(1)
    outcomes = [response.json()["outcome"] for response in at_once(service, "/v1/answers/undone/undo", {})]
    assert sorted(outcomes) == ["already_undone"] * 19 + ["correction"]
    crash(service)
    assert service.post("/v1/answers/undone/undo").json()["outcome"] == "already_undone"
    assert service.stats()["model"]["corrections"] == 1


def test_a_batch_of_events_twenty_times_at_once_and_after_a_crash_is_stored_once(service):
    batch = [{"id": f"b{k}", "fields": {"text": f"hello {k}"}} for k in range(50)]
    responses = at_once(service, "/v1/events", batch)
    rows = {tuple(item["seq"] for item in response.json()["items"]) for response in responses}
    assert len(rows) == 1
    assert sum(response.json()["accepted"] for response in responses) == 50
    crash(service)
    again = service.post("/v1/events", batch).json()
    assert (again["duplicates"], tuple(item["seq"] for item in again["items"])) == (50, rows.pop())
    batch[3]["fields"] = {"text": "other"}
    assert [item["status"] for item in service.post("/v1/events", batch).json()["items"]].count(409) == 1
    assert service.stats()["events"]["total"] == 62


def test_what_was_said_with_a_class_may_be_said_again_once_that_is_retired(service):
    service.post("/v1/classes", {"add": ["eggs"]})
    ask = service.next()[0]
    path = f"/v1/asks/{ask['id']}/answer"
    answer = {"answer_id": "mine", "token": ask["token"], "label": "eggs", "ms": 700}
    label = {"event": "e7", "label": "eggs", "label_id": "theirs"}
    unnamed = {"event": "e8", "label": "eggs"}
    given = [service.post(where, body) for where, body in [(path, answer), ("/v1/labels", label)]]
    given.append(service.post("/v1/labels", unnamed))
    service.wait_until_idle()
    service.post("/v1/classes", {"retire": ["eggs"]})
    for first, where, body in zip(given, (path, "/v1/labels", "/v1/labels"), (answer, label, unnamed), strict=True):
        assert one_response([service.post(where, body)]) == {**first.json(), "duplicate": None}
    elsewhere = {**label, "label_id": "new", "event": "e9"}
    for where, body in [(path, {**answer, "answer_id": "new"}), ("/v1/labels", elsewhere)]:
        refused = service.post(where, body)
        assert (refused.status_code, refused.json()["code"]) == (422, "retired_label")
    service.stop()
    service.run("export", "all.jsonl")
    done = service.run("import", "all.jsonl")
    assert (done.stderr, "0 could not be used." in done.stdout) == ("", True)
    service.digest()
