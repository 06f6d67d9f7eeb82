"""Values that are no good, wherever a client can put them: 4xx in a sentence, and the model stays finite."""

import json

import pytest

pytestmark = pytest.mark.hostile

VALUES = {
    "truncated": b'"hel',
    "invalid UTF-8": b'"\xff\xfe"',
    "NUL": b'"a\\u0000b"',
    "lone high surrogate": b'"\\ud800"',
    "lone low surrogate": b'"x\\udc00"',
    "NaN": b"NaN",
    "Infinity": b"Infinity",
    "-Infinity": b"-Infinity",
    "1e999": b"1e999",
    "5,000 digits": b"7" * 5000,
    "depth 100,000": b"[" * 100_000 + b"]" * 100_000,
    "open to depth 100,000": b"[" * 100_000,
    "the name twice": b'1, "%s": 2',
}
PLACES = {
    "predict, a number": ("/v1/predict", b'{"fields": {"size": @}}', "size"),
    "predict, an unknown field": ("/v1/predict", b'{"fields": {"text": "x", "other": @}}', "other"),
    "an event's id": ("/v1/events", b'{"id": @, "fields": {}}', "id"),
    "an event's time": ("/v1/events", b'{"time": @, "fields": {}}', "time"),
    "a label's event": ("/v1/labels", b'{"event": @, "label": "ham"}', "event"),
    "a label": ("/v1/labels", b'{"event": "good", "label": @}', "label"),
    "an answer's comment": (
        "/v1/asks/1/answer",
        b'{"answer_id": "x", "token": "1.1", "label": "ham", "comment": @}',
        "comment",
    ),
    "an answer's id": ("/v1/asks/1/answer", b'{"answer_id": @, "token": "1.1", "label": "ham"}', "answer_id"),
    "an answer's time": ("/v1/asks/1/answer", b'{"answer_id": "y", "token": "1.1", "label": "ham", "ms": @}', "ms"),
    "a token": ("/v1/asks/1/renew", b'{"token": @}', "token"),
    "a reason": ("/v1/asks/1/skip", b'{"token": "1.1", "reason": @}', "reason"),
    "a new class": ("/v1/classes", b'{"add": [@]}', "add"),
    "a class's name": ("/v1/classes", b'{"rename": {"spam": @}}', "spam"),
    "a field's kind": ("/v1/classes", b'{"fields": {"size": @}}', "size"),
    "a person's name": ("/v1/people", b'{"name": @, "role": "viewer"}', "name"),
    "a person's address": ("/v1/people", b'{"name": "Ana", "role": "viewer", "email": @}', "email"),
    "a correction's reason": ("/v1/review/correct", b'{"events": ["good"], "label": "ham", "reason": @}', "reason"),
    "a correction's event": ("/v1/review/correct", b'{"events": [@], "label": "ham", "reason": "x"}', "events"),
    "a closing's reason": ("/v1/review/close", b'{"events": ["good"], "reason": @}', "reason"),
    "a note": ("/v1/review/note", b'{"event": "good", "text": @}', "text"),
    "a task of Label Studio": ("/label-studio/predict", b'{"tasks": [{"data": {"size": @}}]}', "size"),
    "an annotation of Label Studio": (
        "/label-studio/webhook",
        b'{"action": "ANNOTATION_CREATED", "task": {"id": 1, "data": {"size": @}}, "annotation": {"id": 1, "result": '
        b'[{"value": {"choices": ["ham"]}}]}}',
        "size",
    ),
    "an import": ("/v1/import", b'[{"id": "i", "fields": {"size": @}}]', "size"),
}


@pytest.fixture(scope="module")
def service(make_for_all):
    running = make_for_all()
    running.send("good")
    return running


@pytest.mark.parametrize("place", PLACES)
def test_a_bad_value_anywhere_is_refused_and_changes_nothing(service, place):
    path, template, name = PLACES[place]
    before = service.stats()
    for what, value in VALUES.items():
        value = value.replace(b"%s", name.encode())
        response = service.client.post(path, content=template.replace(b"@", value))
        if path == "/v1/import" and response.status_code == 200:
            assert response.json()["errors"] == 1, what
            continue
        if place == "predict, an unknown field" and what == "5,000 digits":
            assert response.status_code in (200, 400, 422), what  # a category, or refused; never an error of ours
            continue
        assert response.status_code in (400, 404, 413, 422), (what, response.text)
        assert response.headers["content-type"] == "application/problem+json"
        assert response.json()["detail"].endswith("."), what
    after = service.stats()
    assert after["events"]["total"] == before["events"]["total"]
    assert after["labels"]["total"] == before["labels"]["total"]


def test_labels_that_are_none_are_refused_at_every_door(service):
    for label in ("egg", "", "HAM", 0, None, True, ["ham"], {"label": "ham"}):
        one = service.post("/v1/labels", {"event": "good", "label": label})
        assert (one.status_code, one.json()["code"]) in ((422, "unknown_label"), (422, "invalid")), one.text
        body = {"answer_id": "z", "token": "1.1", "label": label}
        assert service.post("/v1/asks/1/answer", body).status_code == 422
        brought = service.post("/v1/import", [{"id": "other", "fields": {"text": "x"}, "label": label}]).json()
        assert brought["labels"] == 0
    assert service.stats()["labels"]["total"] == 0


def test_after_all_of_it_the_model_is_finite_and_a_function_of_its_log(service):
    for k in range(6):
        service.post("/v1/events", {"id": f"n{k}", "fields": {"size": (2**63, -1e150, 1e-300)[k % 3], "text": "x"}})
        service.post("/v1/labels", {"event": f"n{k}", "label": ("ham", "spam")[k % 2]})
    service.wait_until_learned(6)
    said = service.post("/v1/predict", {"fields": {"size": 3, "text": "x"}})
    assert "NaN" not in said.text
    assert abs(sum(said.json()["probabilities"].values()) - 1) < 1e-5
    exported = [json.loads(line) for line in service.get("/v1/export.jsonl").text.splitlines()]
    assert sum(line["label"] is not None for line in exported) == 6
    service.stop()
    service.digest()
