"""Label Studio's requests to a model, as it sends them, and our files as it reads them."""

import json

import pytest
from httpx import BasicAuth
from tests.live.in_process import new_engine, send
from tests.patience import PATIENCE

from askance_live.exchange.label_studio import annotate, withdraw
from askance_live.problems import Problem
from askance_live.questions.labels import give_label

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
    """By event; of a service, or of a client of it."""
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
        given = {"event": "task-1", "label": "spam", "label_id": "label::annotation:6:studio:31.2"}
        assert other.post("/v1/labels", json=given).json()["code"] == "invalid"
        assert '"label":"ham"' in other.get("/v1/export.jsonl").text


def test_a_name_and_a_number_that_join_alike_are_two_annotations(make):
    service = make()
    secrets = service.tokens(ls="ingest label", **{"ls-prod": "ingest label read"})
    with service.as_user(secrets["ls"]) as short, service.as_user(secrets["ls-prod"]) as long:
        assert long.post("/label-studio/webhook", json=webhook("ANNOTATION_CREATED", task(1, "a"), "ham")).is_success
        deleted = {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": "prod-31"}, {"id": "5:31"}, {"id": "31"}]}
        assert short.post("/label-studio/webhook", json=deleted).json() == {"outcome": "ignored"}
        made = webhook("ANNOTATION_CREATED", task(2, "b"), "spam", number="prod-31")
        assert short.post("/label-studio/webhook", json=made).json() == {"outcome": "accepted"}
        assert labels_of(long) == {"task-1": "ham", "task-2": "spam"}
        assert short.post("/label-studio/webhook", json=deleted).json() == {"outcome": "withdrawn"}
        assert labels_of(long) == {"task-1": "ham", "task-2": None}
        assert long.post("/label-studio/webhook", json=deleted).json() == {"outcome": "withdrawn"}
        assert labels_of(long) == {"task-1": None, "task-2": None}


def test_annotations_of_an_earlier_askance_are_taken_back_by_their_own_author_alone(tmp_path):
    """Their ids joined name, number and place without a limit between them."""
    with new_engine(tmp_path) as engine:
        send(engine, "task-1", "task-2", "task-3")

        def run(work, *arguments):
            return engine.submit(lambda session, state: work(session, state, *arguments)).result(PATIENCE)

        def give_earlier(source, event, number):
            name = f"label:annotation-{number}"
            run(lambda session, state: give_label(session, state, source, event, 0, name, True, is_made_here=True))

        def states():
            with engine.database.read() as session:
                return session.all("SELECT id, state FROM answers WHERE state <> 'learned' ORDER BY seq")

        give_earlier("ls-prod", "task-1", "ls-prod-31.1")
        give_earlier("ls", "task-2", "ls-prod-31.2")  # its annotation prod-31
        give_earlier("ls-prod", "task-1", "ls-prod-31.3")
        assert run(withdraw, "other", ["31", "prod-31"]) == 0
        assert run(withdraw, "ls", ["31"]) == 0
        assert run(withdraw, "ls", ["prod-31"]) == 1
        assert [state for name, state in states() if name.endswith(".2")] == ["undone"]
        assert run(annotate, "ls-prod", "31", "task-1", 0, False) == "accepted"  # told once more: nothing new
        assert run(annotate, "ls-prod", "31", "task-1", 1, False) == "accepted"
        assert run(withdraw, "ls-prod", ["31"]) == 1
        assert {"label::annotation:7:ls-prod:31.1": "undone"}.items() <= dict(states()).items()
        assert run(withdraw, "ls-prod", ["31"]) == 0
        assert run(annotate, "ls", "prod-31", "task-2", 1, False) == "accepted"
        assert run(withdraw, "ls", ["prod-31"]) == 1


def test_a_number_that_comes_with_another_task_is_not_the_same_annotation_told_once_more(service):
    for place in (1, 2):
        service.post("/label-studio/webhook", webhook("ANNOTATION_CREATED", task(place, f"text {place}"), "ham"))
    assert labels_of(service) == {"task-1": "ham", "task-2": "ham"}


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


def test_no_name_of_another_makes_an_id_that_looks_like_a_state_of_an_annotation(tmp_path):
    with new_engine(tmp_path) as engine:
        send(engine, "2:ls:31.1")

        def run(work, *arguments):
            return engine.submit(lambda session, state: work(session, state, *arguments)).result(PATIENCE)

        given = run(give_label, ":annotation", "2:ls:31.1", 0, None, False)
        assert given["label_id"] == "label::annotation:2:ls:31.1"
        assert run(annotate, "ls", "31", "2:ls:31.1", 0, False) == "extra"  # it is stored, beside the other
        assert run(withdraw, "ls", ["31"]) == 1
        assert run(withdraw, "ls", ["31"]) == 0
        assert run(withdraw, ":annotation", ["31"]) == 0


def test_the_steps_of_a_withdrawal_do_not_grow_with_what_its_author_said_since(tmp_path):
    with new_engine(tmp_path) as engine:
        names = [f"task-{k}" for k in range(2000)]
        for first in range(0, len(names), 500):
            send(engine, *names[first : first + 500])

        def say(session, state, numbers):
            for k in numbers:
                annotate(session, state, "studio", str(k), f"task-{k}", 0, False)

        def steps(number):
            def work(session, state):
                counted = [0]

                def count():
                    counted[0] += 1

                session.connection.set_progress_handler(count, 10)
                assert withdraw(session, state, "studio", [number]) == 1
                session.connection.set_progress_handler(None, 0)
                return counted[0]

            return engine.submit(work).result(PATIENCE)

        run = [range(0, 100), range(100, 2000)]
        engine.submit(lambda session, state: say(session, state, run[0])).result(PATIENCE)
        few = steps("0")
        engine.submit(lambda session, state: say(session, state, run[1])).result(PATIENCE)
        assert steps("1") < few + 50


class CountedSession:
    """A session that counts what is asked of it."""

    def __init__(self, session):
        self.session, self.asked = session, 0

    def __getattr__(self, name):
        method = getattr(self.session, name)

        def counted(*arguments):
            self.asked += 1
            return method(*arguments)

        return counted


def test_an_annotation_of_many_states_is_withdrawn_in_as_few_steps_as_one_of_few(tmp_path):
    with new_engine(tmp_path) as engine:
        send(engine, "task-1")

        def change(times):
            def work(session, state):
                for _ in range(times):
                    place = session.value("SELECT count(*) FROM answers") % 2
                    assert annotate(session, state, "studio", "31", "task-1", place, False) == "accepted"

            engine.submit(work).result(PATIENCE)

        def steps():
            def work(session, state):
                counted = CountedSession(session)
                assert withdraw(counted, state, "studio", ["31"]) == 1
                return counted.asked

            return engine.submit(work).result(PATIENCE)

        change(8)
        few = steps()
        change(500)
        assert steps() <= few + 20


def test_an_event_takes_a_bounded_number_of_answers(tmp_path, monkeypatch):
    monkeypatch.setattr("askance_live.questions.submissions.MOST_ANSWERS", 3)
    with new_engine(tmp_path) as engine:
        send(engine, "task-1", "task-2")

        def label(event, place):
            return engine.submit(
                lambda session, state: annotate(session, state, "studio", event, event, place, False)
            ).result(PATIENCE)

        assert [label("task-1", k % 2) for k in range(3)] == ["accepted"] * 3
        with pytest.raises(Problem, match="this event has 3 answers; no more of them are taken"):
            label("task-1", 1)
        assert label("task-2", 1) == "accepted"
