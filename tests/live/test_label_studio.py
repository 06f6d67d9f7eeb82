"""Label Studio's requests to a model, as it sends them, and our files as it reads them."""

import json

import pytest
from httpx import BasicAuth

CONFIG = """<View>
  <Text name="message" value="$text"/>
  <Choices name="kind" toName="message" choice="single"><Choice value="ham"/><Choice value="spam"/></Choices>
</View>"""
# As Label Studio 1.20 sends them: names that we do not know included.
SETUP = {
    "project": "7.1731880000", "schema": CONFIG, "hostname": "http://localhost:8080", "access_token": "abc",
    "extra_params": None,
}  # fmt: skip


def task(number, text, **more):
    return {
        "id": number, "data": {"text": text}, "meta": {}, "created_at": "2026-11-17T20:00:00Z", "is_labeled": False,
        "overlap": 1, "inner_id": number, "total_annotations": 0, "file_upload": None, "project": 7, "annotations": [],
        "predictions": [], **more,
    }  # fmt: skip


def webhook(action, of, label, number=31, **more):
    result = [{"id": "x1", "from_name": "kind", "to_name": "message", "type": "choices", "origin": "manual",
               "value": {"choices": [label]}}]  # fmt: skip
    annotation = {
        "id": number, "completed_by": 1, "result": result, "was_cancelled": False, "ground_truth": False,
        "lead_time": 2.5, "task": of["id"], "project": 7, "parent_prediction": None, **more,
    }  # fmt: skip
    return {"action": action, "project": {"id": 7, "title": "Mail"}, "task": of, "annotation": annotation}


@pytest.fixture
def service(make, store):
    return make(store=store)


def test_a_project_connects_the_model_and_gets_suggestions(service):
    assert service.get("/label-studio/health").json()["status"] == "UP"
    assert service.post("/label-studio/setup", SETUP).json() == {"model_version": "askance-0"}
    for number, (text, label) in enumerate([("win a prize", "spam"), ("lunch at noon", "ham")] * 4, 1):
        done = service.post("/label-studio/webhook", webhook("ANNOTATION_CREATED", task(number, text), label, number))
        assert (done.status_code, done.json()) == (201, {"outcome": "accepted"})
    service.wait_until_idle()
    body = {
        "tasks": [task(50, "win a prize"), task(51, "lunch at noon")], "model_version": None, "project": "7.1731880000",
        "label_config": CONFIG, "params": {"login": None, "password": None, "context": None},
    }  # fmt: skip
    found = service.post("/label-studio/predict", body).json()
    assert found["model_version"] == "askance-8"
    assert [result["result"][0]["value"]["choices"] for result in found["results"]] == [["spam"], ["ham"]]
    parts = [part for result in found["results"] for part in result["result"]]
    assert {(part["from_name"], part["to_name"], part["type"]) for part in parts} == {("kind", "message", "choices")}
    assert all(0.5 <= result["score"] <= 1.0 for result in found["results"])
    assert service.stats()["events"]["total"] == 8  # a suggestion stores nothing


def test_an_annotation_is_learned_once_and_may_be_changed(service):
    created = webhook("ANNOTATION_CREATED", task(1, "win a prize"), "spam")
    for _ in range(2):
        assert service.post("/label-studio/webhook", created).json()["outcome"] == "accepted"
    service.wait_until_idle()
    assert service.stats()["model"]["learned"] == 1
    service.post("/label-studio/webhook", webhook("ANNOTATION_UPDATED", task(1, "win a prize"), "ham"))
    service.wait_until_idle()
    (line,) = service.get("/v1/export.jsonl").text.splitlines()
    assert (json.loads(line)["id"], json.loads(line)["label"]) == ("task-1", "ham")
    for other in (
        {"action": "PROJECT_UPDATED", "project": {"id": 7}},
        {"action": "ANNOTATIONS_DELETED", "project": {"id": 7}, "annotations": [{"id": 32}]},
        webhook("ANNOTATION_CREATED", task(2, "x"), "spam", number=32, was_cancelled=True),
    ):
        assert service.post("/label-studio/webhook", other).json() == {"outcome": "ignored"}
    refused = service.post("/label-studio/webhook", webhook("ANNOTATION_CREATED", task(3, "x"), "nonsense"))
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_label")


def labels_of(service):
    return {line["id"]: line["label"] for line in map(json.loads, service.get("/v1/export.jsonl").text.splitlines())}


def test_the_label_of_a_deleted_annotation_is_taken_back(service):
    deleted = {
        "action": "ANNOTATIONS_DELETED",
        "project": {"id": 7},
        "annotations": [{"id": 31}, {"id": 99}, {}, {"id": [3]}],
    }
    for action, label in (("ANNOTATION_CREATED", "spam"), ("ANNOTATION_UPDATED", "ham")):
        service.post("/label-studio/webhook", webhook(action, task(1, "win a prize"), label))
    service.post("/label-studio/webhook", webhook("ANNOTATION_CREATED", task(2, "lunch"), "ham", number=32))
    service.wait_until_idle()
    assert labels_of(service) == {"task-1": "ham", "task-2": "ham"}
    assert service.post("/label-studio/webhook", deleted).json() == {"outcome": "withdrawn"}
    assert labels_of(service) == {"task-1": None, "task-2": "ham"}
    assert service.stats()["queue"]["leased"] == 0  # whoever is next may have the question
    assert service.post("/label-studio/webhook", deleted).json() == {"outcome": "ignored"}
    cancelled = webhook("ANNOTATION_UPDATED", task(2, "lunch"), "ham", number=32, was_cancelled=True)
    assert service.post("/label-studio/webhook", cancelled).json() == {"outcome": "withdrawn"}
    assert labels_of(service) == {"task-1": None, "task-2": None}
    again = webhook("ANNOTATION_UPDATED", task(2, "lunch"), "spam", number=32)
    assert service.post("/label-studio/webhook", again).json() == {"outcome": "accepted"}
    assert labels_of(service) == {"task-1": None, "task-2": "spam"}
    actions = [entry["action"] for entry in service.get("/v1/audit").json()["entries"]]
    assert actions.count("answer undo") == 2
    service.wait_until_idle()
    service.stop()
    service.digest()


def test_nobody_takes_back_by_a_number_what_somebody_else_has_annotated(make):
    service = make()
    secrets = service.tokens(studio="ingest label", other="ingest label read")
    with service.as_user(secrets["studio"]) as studio, service.as_user(secrets["other"]) as other:
        made = webhook("ANNOTATION_CREATED", task(1, "hello"), "ham")
        assert studio.post("/label-studio/webhook", json=made).status_code == 201
        deleted = {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 31}]}
        assert other.post("/label-studio/webhook", json=deleted).json() == {"outcome": "ignored"}
        given = {"event": "task-1", "label": "spam", "label_id": "label:annotation-studio-31.2"}
        assert other.post("/v1/labels", json=given).json()["code"] == "invalid"
        assert '"label":"ham"' in other.get("/v1/export.jsonl").text


def test_our_own_tasks_come_back_as_the_same_events(service):
    service.send("m-1")
    (own,) = service.get("/v1/export.label-studio.json").json()
    service.post("/label-studio/webhook", webhook("ANNOTATION_CREATED", own, "spam"))
    event = service.get("/v1/events/m-1").json()
    assert [answer["label"] for answer in event["answers"]] == ["spam"]
    assert service.stats()["events"]["total"] == 1


def test_label_studio_logs_in_with_a_password(make):
    service = make()
    secrets = service.tokens(studio="ingest label")
    body = {"tasks": [task(1, "hello")], "label_config": CONFIG}
    assert service.post("/label-studio/predict", body).status_code == 401
    assert service.post("/label-studio/predict", body, auth=BasicAuth("anybody", "wrong")).status_code == 401
    assert service.post("/label-studio/predict", body, headers={"authorization": "Basic %%%"}).status_code == 401
    right = BasicAuth("anybody", secrets["studio"])
    assert service.post("/label-studio/predict", body, auth=right).status_code == 200
    made = webhook("ANNOTATION_CREATED", task(1, "hello"), "ham")
    assert service.post("/label-studio/webhook", made, auth=right).status_code == 201


def test_odd_tasks_are_no_surprise(service):
    tasks = [{}, {"data": None}, {"data": []}, {"data": {"text": [1, {"a": None}]}}, {"data": {"text": "x" * 10_000}}]
    found = service.post("/label-studio/predict", {"tasks": tasks, "label_config": "<Choices name='a'"})
    assert found.status_code == 200
    assert len(found.json()["results"]) == len(tasks)
    for body in ({"tasks": 3}, {}, {"tasks": [1]}, {"tasks": [{}] * 1001}):
        assert service.post("/label-studio/predict", body).status_code == 422
    for body in (
        {"action": "ANNOTATION_CREATED", "task": {"data": 3}, "annotation": {"result": [{"value": {"choices": "x"}}]}},
        {"action": "ANNOTATION_CREATED", "task": {"data": 3}, "annotation": {"result": 7}},
    ):
        assert service.post("/label-studio/webhook", body).json() == {"outcome": "ignored"}
    assert service.post("/label-studio/webhook", {"action": 3}).status_code == 422


def test_label_studio_takes_our_tasks_and_our_labeling_configuration(service):
    """By the package that Label Studio itself checks them with."""
    interface = pytest.importorskip(
        "label_studio_sdk.label_interface", reason="label-studio-sdk is not installed (it needs an older NumPy)"
    )
    service.send("m-1", "m-2")
    service.post("/v1/labels", {"event": "m-1", "label": "spam"})
    config = interface.LabelInterface(service.get("/label-studio/config.xml").text)
    config.validate()
    for own in service.get("/v1/export.label-studio.json").json():
        assert config.validate_task({"data": own["data"]})
        assert all(config.validate_annotation(annotation) for annotation in own["annotations"])
        assert all(config.validate_prediction(prediction) for prediction in own["predictions"])


def test_an_annotation_of_two_choices_is_no_label_where_events_have_one_class(service):
    both = webhook("ANNOTATION_CREATED", task(1, "win a prize"), "ham")
    both["annotation"]["result"][0]["value"]["choices"] = ["ham", "spam"]
    refused = service.post("/label-studio/webhook", both)
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_label")
    assert "'label' must be one alone of ham, spam; got" in refused.json()["detail"]
    assert service.stats()["events"]["total"] == 0
    done = service.post("/v1/import", [task(1, "win a prize", annotations=[both["annotation"]])]).json()
    assert (done["events"], done["labels"], done["errors"]) == (1, 0, 1)
    assert "must be one alone of ham, spam" in done["problems"][0]["detail"]
    people = [webhook("ANNOTATION_CREATED", task(2, "x"), label)["annotation"] for label in ("ham", "spam")]
    done = service.post("/v1/import", [task(2, "lunch", annotations=people)]).json()
    assert (done["labels"], done["errors"]) == (1, 0)  # two people, of whom the first counts
