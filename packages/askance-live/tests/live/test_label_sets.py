"""A stream of label sets over HTTP: predicted, asked about in part, answered, learned once, replayed, exported."""

import json

import pytest
from tests.cli.here import complaint, here
from tests.live.members import Members
from tests.live.test_label_set_learner import events

from askance_live.http.schemas import read
from askance_live.problems import Problem
from askance_live.routes.answers import NewLabel

LABELS = ["sports", "politics", "money"]  # in the order of the pages; the model sorts them
ORDER = sorted(LABELS)


@pytest.fixture
def start(make):
    """Makes services of label sets."""

    def begin(store=None, settings=None, asking=None, **options):
        return make(
            classes=LABELS, settings={"label_sets": True, **(settings or {})}, store=store,
            asking={"rate": 0.3, **(asking or {})}, **{"model": {"algorithm": "PAA-I"}, **options},
        )  # fmt: skip

    return begin


def send(service, n, seed=0, first=0):
    """Events, with what is true of them; what the service said of them."""
    stream = list(events(n, seed))
    items = [{"id": f"e{first + k}", "fields": fields} for k, (fields, _) in enumerate(stream)]
    truth = {f"e{first + k}": {ORDER[p] for p in range(3) if has[p]} for k, (_, has) in enumerate(stream)}
    said = service.post("/v1/events", items)
    assert said.status_code == 200, said.text
    return truth, said.json()["items"]


def answer_all(service, truth):
    """Answer every question that is open with the truth; the questions."""
    found = []
    while asks := service.next(10):
        for ask in asks:
            label = [name for name in ask["about"] if name in truth[ask["event"]["id"]]]
            assert service.answer(ask, label).status_code == 200
        found += asks
    return found


def test_events_are_predicted_asked_about_answered_and_learned(start, store):
    service = start(store)
    truth, asked, right = {}, [], 0
    for part in range(12):
        more, said = send(service, 50, seed=part, first=50 * part)
        truth |= more
        for item in said:
            assert isinstance(item["label"], list)
            assert set(item["probabilities"]) == set(LABELS)
            right += part >= 8 and set(item["label"]) == truth[item["id"]]
        asked += answer_all(service, truth)
        service.wait_until_idle()
    assert right > 0.7 * 200
    n_questions = sum(len(ask["about"]) for ask in asked)
    stats = service.stats()
    assert stats["budget"]["total"]["spent"] == stats["budget"]["day"]["spent"] == n_questions
    assert 0.2 * 1800 < n_questions <= 0.3 * 1800 + 40
    assert any(len(ask["about"]) < 3 for ask in asked)
    assert stats["labels"]["total"] == stats["model"]["learned"] == len(asked)
    yes = {
        label: sum(label in ask["about"] and label in truth[ask["event"]["id"]] for ask in asked) for label in LABELS
    }
    assert stats["labels"]["per_class"] == yes
    assert {one["label"]: one["answers"] for one in service.get("/v1/classes").json()["classes"]} == yes
    sets = stats["label_sets"]
    assert sets["micro_f1"]["low"] <= sets["micro_f1"]["estimate"] <= sets["micro_f1"]["high"]
    assert 0.5 < sets["macro_f1"] <= 1.0
    assert 0.0 <= sets["hamming_loss"] < 0.2
    assert sets["subset_accuracy"] is None
    assert list(sets["labels"]) == LABELS
    assert stats["confusion"]["labels"] == ["no", "yes"]
    assert sum(map(sum, stats["confusion"]["all"])) == stats["accuracy"]["answered"]["n"] == n_questions
    assert sum(row["n"] for row in stats["calibration"]) > 0
    service.kill()  # what is in the log is the model, whenever it ended
    first = service.digest()
    service.start()
    again = service.stats()["label_sets"]
    assert again["labels"] == sets["labels"]
    assert again["answers"] >= sets["answers"]  # which are estimated now and then
    service.stop()
    assert service.digest() == first
    assert first in service.run("rebuild").stdout
    assert service.run("doctor").returncode == 0


def test_an_answer_is_about_what_was_asked(start):
    service = start(asking={"rate": 1.0})
    send(service, 1)
    (ask,) = service.next()
    assert ask["about"] == LABELS
    assert (ask["why"]["code"], ask["suggestion"]) == ("cold_start", None)
    refused = service.answer(ask, ["weather"])
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_label")
    assert refused.json()["detail"].startswith("'label' must be a list of the labels that the event has, out of")
    assert service.answer(ask, "sports;money").json()["label"] == ["money", "sports"]
    again = service.answer(ask, "sports;money")
    assert again.json()["outcome"] == "accepted"  # the same response for ever
    other = service.answer(ask, ["sports"], answer_id="other")
    assert (other.status_code, other.json()["code"]) == (409, "already_answered")
    assert "['money', 'sports'] already" in other.json()["detail"]
    corrected = service.answer(ask, ["sports"], answer_id="other", supersedes=f"answer-{ask['id']}")
    assert corrected.json()["label"] == ["sports"]
    event = service.get("/v1/events/e0").json()
    assert event["answers"][0]["state"] == "superseded"
    service.wait_until_idle()
    assert service.post("/v1/answers/other/undo").json()["outcome"] == "correction"
    assert service.stats()["labels"]["per_class"] == {"sports": 0, "politics": 0, "money": 0}


def test_only_doubtful_labels_are_asked_about_and_only_they_are_learned(start):
    service = start(asking={"rate": 0.2, "audit": 0.0})
    truth = {}
    for part in range(8):
        more, _ = send(service, 50, seed=part, first=50 * part)
        truth |= more
        answer_all(service, truth)
        service.wait_until_idle()
    send(service, 200, seed=99, first=1000)
    asks = service.next(10)
    few = next(ask for ask in asks if len(ask["about"]) < 3)
    assert list(few["suggestion"]["probabilities"]) == few["about"]
    assert set(few["suggestion"]["label"]) <= set(few["about"])
    left = next(label for label in LABELS if label not in few["about"])
    assert service.answer(few, [left]).json()["code"] == "unknown_label"
    said = service.answer(few, few["about"][:1]).json()["label"]
    assert said == {label: label == few["about"][0] for label in sorted(few["about"])}
    shown = service.get("/v1/review", params={"label": few["about"][0], "text": few["event"]["id"]}).json()["events"]
    assert shown[0]["label"] == said
    line = next(
        item
        for item in map(json.loads, service.get("/v1/export.jsonl").text.splitlines())
        if item["id"] == few["event"]["id"]
    )
    assert line["label"] == said


def test_labels_by_event_are_whole_sets_or_some_of_the_labels(start):
    service = start()
    send(service, 4)
    given = [
        {"event": "e0", "label": ["money"]},
        {"event": "e1", "label": {"money": True, "sports": False}},
        {"event": "e2", "label": []},
        {"event": "e3", "label": ["weather"]},
    ]
    found = service.post("/v1/labels", given).json()
    assert [item.get("label") for item in found["items"]][:3] == [["money"], {"money": True, "sports": False}, []]
    assert (found["errors"], found["items"][3]["code"]) == (1, "unknown_label")
    service.wait_until_learned(3)
    same = service.post("/v1/labels", {"event": "e0", "label": ["money"]}).json()
    assert same["duplicate"]
    other = service.post("/v1/labels", {"event": "e0", "label": ["sports"]})
    assert other.json()["code"] == "already_labeled"
    replaced = service.post("/v1/labels", {"event": "e0", "label": ["sports"], "replace": True})
    assert replaced.json()["label"] == ["sports"]


@pytest.mark.parametrize("label", [[1], [["sports"]], {"sports": "yes"}, {"sports": None}, 3, None])
def test_what_is_no_label_set_is_told_what_may_be_one(label):
    with pytest.raises(Problem) as caught:
        read(NewLabel, {"event": "a", "label": label})
    assert caught.value.code == "unknown_label"
    assert "in a stream of label sets a list of them or an object of true and false; got" in caught.value.detail


def test_what_is_said_of_some_labels_is_added_to_what_is_known(start, store):
    service = start(store)
    send(service, 2)

    def say(label, **options):
        found = service.post("/v1/labels", {"event": "e0", "label": label, **options})
        return found.json().get("code") or found.json()["label"]

    assert say({"sports": True}) == {"sports": True}
    assert say({"politics": True}) == {"politics": True, "sports": True}
    assert say({"sports": True}) == {"politics": True, "sports": True}  # as is known already
    assert say({"sports": False}) == "already_labeled"
    assert say({"sports": False, "money": True}) == "already_labeled"
    assert labels_of(service)["e0"] == {"politics": True, "sports": True}
    assert say(["politics", "sports"]) == ["politics", "sports"]  # the whole set agrees, and says no of money
    assert say({"money": False}) == ["politics", "sports"]
    assert say({"sports": False}, replace=True) == ["politics"]
    assert say(["money"]) == "already_labeled"
    service.wait_until_idle()
    assert service.stats()["labels"]["total"] == 1
    for label in ({"money": True}, {"sports": False}):
        done = service.post("/v1/review/correct", {"events": ["e0", "e1"], "label": label, "reason": "it is"}).json()
        assert (done["done"], done["errors"]) == (2, 0)
    known = labels_of(service)
    assert known == {"e0": ["money", "politics"], "e1": {"money": True, "sports": False}}
    service.wait_until_idle()
    before = service.stats()["labels"]["per_class"]
    assert before == {"sports": 0, "politics": 1, "money": 2}
    service.stop()
    service.run("rebuild")
    assert service.run("doctor").returncode == 0
    service.start()
    assert labels_of(service) == known


def test_an_answer_and_labels_that_agree_with_it_need_no_replace(start):
    """As the guide shows them, one after the other."""
    service = start(asking={"rate": 1.0})
    send(service, 1)
    (ask,) = service.next()
    assert service.answer(ask, {"politics": True}).json()["label"] == {"politics": True}
    for label in (["politics", "sports"], {"money": False}):
        found = service.post("/v1/labels", {"event": "e0", "label": label})
        assert (found.status_code, found.json()["label"]) == (200, ["politics", "sports"])


def test_others_may_add_to_a_label_and_only_reviewers_contradict_it(start, store):
    service = start(store)
    send(service, 1)
    secrets = service.tokens(ana="label read", ben="label read")
    ana, ben = (service.as_user(secrets[name]) for name in ("ana", "ben"))
    assert ana.post("/v1/labels", json={"event": "e0", "label": {"sports": True}}).status_code == 200
    added = ben.post("/v1/labels", json={"event": "e0", "label": {"money": True}})
    assert added.json()["label"] == {"money": True, "sports": True}
    denied = ana.post("/v1/labels", json={"event": "e0", "label": {"money": False}, "replace": True})
    assert (denied.status_code, denied.json()["code"]) == (403, "forbidden")
    again = ben.post("/v1/labels", json={"event": "e0", "label": {"money": True}})
    assert again.json() == {**added.json(), "duplicate": True}
    # what was added to is still its author's, also through another correction
    for own in (True, False):
        other = ben.post("/v1/labels", json={"event": "e0", "label": {"sports": False}, "replace": True})
        assert (other.status_code, other.json()["code"]) == (403, "forbidden")
        (newest, *_) = ben.get("/v1/answers?mine=1").json()["answers"]
        undone = ben.post(f"/v1/answers/{newest['answer_id']}/undo")
        assert (undone.status_code, "ana" in undone.json()["detail"]) == (403, True)
        if own:
            changed = ben.post("/v1/labels", json={"event": "e0", "label": {"money": False}, "replace": True})
            assert changed.json()["label"] == {"money": False, "sports": True}
    lead = service.as_user(service.tokens(lead="label review read")["lead"])
    assert lead.post(f"/v1/answers/{newest['answer_id']}/undo").is_success


@pytest.mark.parametrize("name", ["all.jsonl", "all.csv", "all.parquet"])
def test_what_is_exported_comes_in_again(start, name):
    service = start(asking={"rate": 0.3, "audit": 0.0})
    truth = {}
    for part in range(4):
        more, _ = send(service, 30, seed=part, first=30 * part)
        truth |= more
        answer_all(service, truth)
        service.wait_until_idle()
    service.post("/v1/labels", {"event": "e119", "label": [], "replace": True})
    service.wait_until_idle()
    wanted = labels_of(service)
    assert {type(label) for label in wanted.values()} >= {list, dict}
    service.stop()
    service.run("export", name)
    if name.endswith("parquet"):
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(service.folder / name).to_pylist()
        assert {row["id"]: row["label"] and json.loads(row["label"]) for row in table} == wanted
        return
    other = start()
    other.stop()
    done = other.run("import", str(service.folder / name))
    assert "120 events and" in done.stdout
    assert "0 could not be used" in done.stdout
    other.start()
    assert labels_of(other) == wanted


def labels_of(service):
    return {item["id"]: item["label"] for item in map(json.loads, service.get("/v1/export.jsonl").text.splitlines())}


def test_a_csv_file_has_its_labels_with_a_separator_between(start):
    service = start(settings={"label_separator": "/"})
    service.stop()
    (service.folder / "posts.csv").write_text(
        "id,text,tags\n1,a goal for the bank,sports / money\n2,the law,politics\n3,nothing,/\n4,unknown,\n"
    )
    done = service.run("import", "posts.csv", "--label", "tags")
    assert "4 events and 3 labels taken in" in done.stdout
    service.start()
    assert labels_of(service) == {"1": ["money", "sports"], "2": ["politics"], "3": [], "4": None}


def test_a_class_with_the_separator_in_it_is_refused(start, tmp_path):
    init = ["init", "--classes", "a;b,c"]
    said = complaint(*init, "--label-sets", cwd=tmp_path)
    assert "the class 'a;b' contains ';', which stands between the labels of a set" in said
    assert not any(tmp_path.glob("askance.*"))
    assert here(*init, cwd=tmp_path).returncode == 0  # no separator is needed for single labels
    service = start()
    service.stop()
    text = service.config.read_text()
    service.config.write_text('label_separator = "ort"\n' + text)
    done = service.run("serve", check=False)
    assert done.returncode != 0
    assert "the class 'sports' contains 'ort'" in done.stderr


def test_review_finds_and_corrects_sets(start, store):
    service = start(store)
    send(service, 6)
    service.post("/v1/labels", [{"event": "e0", "label": ["money", "sports"]}, {"event": "e1", "label": ["sports"]}])
    service.post("/v1/labels", {"event": "e2", "label": {"money": False}})

    def found(**query):
        return {event["id"] for event in service.get("/v1/review", params=query).json()["events"]}

    assert found(label="sports") == {"e0", "e1"}
    assert found(label="money") == {"e0"}
    predicted = {item["id"]: set(item["predicted"]) for item in service.get("/v1/review").json()["events"]}
    assert found(predicted="sports") == {name for name, labels in predicted.items() if "sports" in labels}
    differ = {name for name, truth in (("e0", {"money", "sports"}), ("e1", {"sports"})) if predicted[name] != truth}
    differ |= {"e2"} if "money" in predicted["e2"] else set()
    assert found(disagreement="model") == differ
    assert found(disagreement="people") == set()
    done = service.post("/v1/review/correct", {"events": ["e0", "e2"], "label": ["politics"], "reason": "it is"}).json()
    assert (done["done"], done["errors"]) == (2, 0)
    assert found(label="politics") == {"e0", "e2"}
    assert service.get("/v1/agreement").json()["events"] == 0


def test_people_agree_label_by_label(start, store):
    service = start(store)
    send(service, 3)
    secrets = service.tokens(ana="label read", ben="label read")
    ana, ben = (service.as_user(secrets[name]) for name in ("ana", "ben"))
    for event, one, other in (
        ("e0", ["sports"], ["sports"]),
        ("e1", {"sports": True}, ["sports", "money"]),
        ("e2", ["money"], ["money"]),
    ):
        for client, label in ((ana, one), (ben, other)):
            body = {"event": event, "label": label, "label_id": f"{event}-{client is ana}"}
            client.post("/v1/labels", json=body)
    found = ana.get("/v1/agreement").json()
    assert found["events"] == 2
    assert found["pairs"][0]["agreed"] == 1.0


def test_label_studio_has_several_choices(start):
    service = start()
    assert 'choice="multiple"' in service.get("/label-studio/config.xml").text
    task = {"id": 1, "data": {"text": "a goal for the bank"}}
    found = service.post("/label-studio/predict", {"tasks": [task]}).json()["results"]
    assert isinstance(found[0]["result"][0]["value"]["choices"], list)
    chosen = [{"type": "choices", "from_name": "label", "to_name": "event", "value": {"choices": ["money", "sports"]}}]
    body = {"action": "ANNOTATION_CREATED", "task": task, "annotation": {"result": chosen}}
    assert service.post("/label-studio/webhook", body).status_code == 201
    assert labels_of(service) == {"task-1": ["money", "sports"]}
    (tasks,) = service.get("/v1/export.label-studio.json").json()
    assert tasks["annotations"][0]["result"][0]["value"]["choices"] == ["money", "sports"]
    (line,) = map(json.loads, service.get("/v1/export.prodigy.jsonl").text.splitlines())
    assert line["accept"] == ["money", "sports"]
    other = start()
    for content in (json.dumps([tasks]), json.dumps(line)):
        assert other.client.post("/v1/import", content=content).json()["errors"] == 0
    assert labels_of(other) == {"task-1": ["money", "sports"]}


def test_label_studio_tells_the_empty_set_from_an_unknown_one(start):
    service = start()
    send(service, 2)
    service.post("/v1/labels", {"event": "e0", "label": []})
    tasks = service.get("/v1/export.label-studio.json").json()
    other = start()
    done = other.client.post("/v1/import", content=json.dumps(tasks)).json()
    assert (done["events"], done["labels"], done["errors"]) == (2, 1, 0)
    assert labels_of(other) == {"e0": [], "e1": None}

    def annotate(number, chosen, action="ANNOTATION_CREATED"):
        task = {"id": number, "data": {"text": "a goal for the bank"}}
        results = [{"type": "choices", "from_name": "label", "to_name": "event", "value": {"choices": chosen}}]
        annotation = {"id": number, "result": [] if chosen is None else results}
        body = {"action": action, "task": task, "annotation": annotation}
        return service.post("/label-studio/webhook", body).json()["outcome"]

    assert annotate(8, []) == "accepted"
    assert labels_of(service)["task-8"] == []
    assert annotate(8, ["money"], "ANNOTATION_UPDATED") == "accepted"
    assert annotate(8, [], "ANNOTATION_UPDATED") == "accepted"
    assert labels_of(service)["task-8"] == []
    assert annotate(8, None, "ANNOTATION_UPDATED") == "withdrawn"
    assert labels_of(service)["task-8"] is None
    assert annotate(9, None) == "ignored"


def test_predict_stores_nothing(start):
    service = start()
    found = service.post("/v1/predict", {"fields": {"text": "a goal"}}).json()
    assert (found["label"], set(found["probabilities"])) == ([], set(LABELS))
    assert service.stats()["events"]["total"] == 0


def test_labels_of_events_in_quarantine_are_kept_with_them(start):
    service = start()
    service.send("a")
    lines = '{"id": "q", "fields": {"text": "x", "size": "many"}, "label": ["sports"]}\n'
    done = service.client.post("/v1/import", content=lines).json()
    assert done["quarantined"] == 1
    assert json.loads(service.get("/v1/quarantine").json()["events"][0]["label"]) == ["sports"]


def test_a_stream_of_single_labels_does_not_become_one_of_sets(make):
    service = make()
    service.send("a")
    service.stop()
    service.config.write_text(service.config.read_text().replace("classes =", "label_sets = true\nclasses =", 1))
    for command in ("serve", "rebuild"):
        done = service.run(command, check=False)
        assert done.returncode != 0
        assert "the labels of this store are single classes, and the settings make them sets" in done.stderr


def test_fronts_take_answers_about_sets(tmp_path, postgres, nursery):
    members = Members(
        tmp_path, postgres.new_database(), nursery, classes=LABELS, settings={"label_sets": True},
        model={"algorithm": "PAA-I"}, asking={"rate": 1.0},
    )  # fmt: skip
    try:
        members.start("owner")
        members.wait_for_owner()
        front = members.start("front")
        truth, _ = send(front, 3)
        for ask in answer_all(front, truth):
            assert ask["about"] == LABELS
        front.wait_until_idle()
        assert front.stats()["model"]["learned"] == 3
        assert {name: set(label) for name, label in labels_of(front).items()} == truth
        assert isinstance(front.post("/v1/predict", {"fields": {"text": "a goal"}}).json()["label"], list)
    finally:
        members.stop()


def test_a_stream_of_sets_keeps_its_classes(start):
    service = start()
    service.send("a")
    done = service.post("/v1/classes", {"add": ["weather"]})
    assert done.status_code >= 400
    assert "a stream of label sets keeps its classes" in done.text
