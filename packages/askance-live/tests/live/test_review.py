"""Reviews: what is found and in which order, what is corrected, closed and noted, and what goes out."""

import csv
import io
import json

import pytest
from tests.live.in_process import new_engine, send
from tests.patience import PATIENCE

from askance_live.problems import Problem
from askance_live.questions.review import add_note

NAMES = [f"m-{k}" for k in range(9)]


@pytest.fixture
def reviewed(make, store_apart):
    """A service whose events are labeled by two people, in part otherwise than predicted."""
    service = make(store=store_apart, asking={"rate": 1.0, "audit": 0.0})
    secrets = service.tokens(ana="label", lead="label review read ingest admin")
    service.log_in(secrets["lead"])
    service.send(*NAMES)
    ana = service.as_user(secrets["ana"])
    for place, name in enumerate(NAMES[:5]):
        body = {"event": name, "label": "spam" if place % 2 else "ham", "label_id": f"l-{name}"}
        assert ana.post("/v1/labels", json=body).status_code == 200
    service.wait_until_idle()
    return service


def found(service, **query):
    response = service.get("/v1/review", params=query)
    assert response.status_code == 200, response.text
    return [event["id"] for event in response.json()["events"]]


def paged(service, limit, **query):
    """All events by pages."""
    names, cursor = [], ""
    while cursor is not None:
        response = service.get("/v1/review", params={**query, "limit": limit, "cursor": cursor})
        assert response.status_code == 200, response.text
        names += [event["id"] for event in response.json()["events"]]
        cursor = response.json()["next"]
    return names


def test_events_are_found_by_what_was_said_of_them(reviewed):
    service = reviewed
    asked = sorted({*found(service, limit=200)})
    assert set(NAMES[:5]) <= set(asked)
    assert found(service, label="spam") == ["m-3", "m-1"]
    assert sorted(found(service, person="ana")) == NAMES[:5]
    assert found(service, person="nobody") == []
    assert found(service, text="HELLO there m-3") == ["m-3"]
    assert found(service, text="m-4") == ["m-4"]
    assert found(service, text="%") == found(service, text="_") == []
    predicted = {event["id"]: event["predicted"] for event in service.get("/v1/review").json()["events"]}
    wrong = [name for name in NAMES[:5] if predicted[name] != ("spam" if NAMES.index(name) % 2 else "ham")]
    assert sorted(found(service, disagreement="model")) == sorted(wrong)
    assert sorted(found(service, predicted="ham")) == sorted(name for name in asked if predicted[name] == "ham")
    assert sorted(found(service, state="open")) == sorted(set(asked) - set(NAMES[:5]))
    assert found(service, until="2020-01-01") == []
    assert sorted(found(service, since="2020-01-01T00:00:00Z")) == asked
    assert service.get("/v1/review", params={"label": "nonsense"}).status_code == 422
    assert service.get("/v1/review", params={"text": "a\0b"}).status_code == 422


@pytest.mark.parametrize("sort", ["newest", "oldest", "answered", "unsure"])
def test_pages_have_every_event_once_in_order(reviewed, sort):
    whole = found(reviewed, sort=sort, limit=200)
    assert len(set(whole)) == len(whole) >= 5
    for limit in (1, 2, 4):
        assert paged(reviewed, limit, sort=sort) == whole
    if sort == "answered":
        assert whole[:5] == NAMES[4::-1]
    assert reviewed.get("/v1/review", params={"cursor": "nonsense"}).status_code == 422


def test_corrections_have_a_reason_and_are_known_in_the_activity_log(reviewed):
    service = reviewed
    body = {"events": ["m-0", "m-1", "none"], "label": "spam", "reason": "it sells watches"}
    done = service.post("/v1/review/correct", body).json()
    assert [(item["event"], item.get("outcome"), item.get("code")) for item in done["items"]] == [
        ("m-0", "accepted", None), ("m-1", "extra", None), ("none", None, "unknown_event"),
    ]  # fmt: skip
    assert (done["done"], done["errors"]) == (2, 1)
    service.wait_until_idle()
    event = service.get("/v1/events/m-0").json()
    (valid,) = [answer for answer in event["answers"] if answer["state"] == "learned"]
    assert (valid["label"], valid["annotator"], valid["comment"]) == ("spam", "lead", "it sells watches")
    entry = next(row for row in service.get("/v1/audit").json()["entries"] if row["action"] == "label replace")
    assert entry["detail"]["after"]["comment"] == "it sells watches"
    assert entry["detail"]["before"][0]["by"] == "ana"
    assert service.post("/v1/review/correct", {"events": ["m-0"], "label": "spam", "reason": ""}).status_code == 422
    assert found(service, disagreement="people") == []  # what was replaced no longer stands
    service.stop()
    service.digest()
    assert service.run("doctor").stdout == "All is well.\n"


def test_questions_are_closed_together_and_opened_again(reviewed):
    service = reviewed
    waiting = found(service, state="open")
    done = service.post("/v1/review/close", {"events": [*waiting, "m-0"], "reason": "no text"}).json()
    assert (done["done"], done["errors"]) == (len(waiting), 1)
    assert sorted(found(service, state="closed")) == sorted(waiting)
    assert service.next(5) == []
    (skip,) = service.get(f"/v1/events/{waiting[0]}").json()["answers"]
    assert (skip["reason"], skip["comment"], skip["annotator"]) == ("bad_data", "no text", "lead")
    service.post(f"/v1/answers/{skip['answer_id']}/undo")
    assert waiting[0] not in found(service, state="closed")
    service.stop()
    assert service.run("doctor").stdout == "All is well.\n"


def test_notes_stand_beside_their_events(reviewed):
    service = reviewed
    for text in ("ask the sender", "<script>alert(1)</script>"):
        assert service.post("/v1/review/note", {"event": "m-2", "text": text}).json()["by"] == "lead"
    (event,) = [event for event in service.get("/v1/review").json()["events"] if event["id"] == "m-2"]
    assert [note["text"] for note in event["notes"]] == ["ask the sender", "<script>alert(1)</script>"]
    assert service.post("/v1/review/note", {"event": "none", "text": "x"}).status_code == 404


def test_an_event_takes_a_bounded_number_of_notes(tmp_path, monkeypatch):
    monkeypatch.setattr("askance_live.questions.review.MOST_NOTES", 2)
    with new_engine(tmp_path) as engine:
        send(engine, "m-1", "m-2")

        def write(event):
            return engine.submit(lambda session, state: add_note(session, state, "ana", event, "x")).result(PATIENCE)

        assert [write(event)["by"] for event in ("m-1", "m-1", "m-2")] == ["ana"] * 3
        with pytest.raises(Problem, match="this event has 2 notes; no more of them are taken"):
            write("m-1")
        assert write("m-2")["text"] == "x"


def test_reviews_need_their_scope(make):
    service = make()
    ana = service.as_user(service.tokens(ana="label read")["ana"])
    assert ana.get("/v1/review").status_code == 403
    assert ana.get("/review").status_code == 403
    for path, body in (
        ("correct", {"events": ["a"], "label": "ham", "reason": "r"}),
        ("close", {"events": ["a"], "reason": "r"}),
    ):
        assert ana.post(f"/v1/review/{path}", json=body).status_code == 403


# --- exports -------------------------------------------------------------------------------------------------


def test_every_export_takes_the_filter_of_a_review(reviewed):
    pyarrow = pytest.importorskip("pyarrow.parquet")
    service, query = reviewed, {"label": "spam"}
    lines = [json.loads(line) for line in service.get("/v1/export.jsonl", params=query).text.splitlines()]
    assert [(item["id"], item["label"]) for item in lines] == [("m-1", "spam"), ("m-3", "spam")]
    table = list(csv.DictReader(io.StringIO(service.get("/v1/export.csv", params=query).text)))
    assert [row["id"] for row in table] == ["m-1", "m-3"]
    rows = pyarrow.read_table(io.BytesIO(service.get("/v1/export.parquet", params=query).content)).to_pylist()
    assert [(row["id"], row["label"], row["annotator"]) for row in rows] == [
        ("m-1", "spam", "ana"),
        ("m-3", "spam", "ana"),
    ]
    assert json.loads(rows[0]["fields"]) == lines[0]["fields"]
    tasks = service.get("/v1/export.label-studio.json", params=query).json()
    assert [task["meta"]["askance"]["id"] for task in tasks] == ["m-1", "m-3"]
    prodigy = [json.loads(line) for line in service.get("/v1/export.prodigy.jsonl", params=query).text.splitlines()]
    assert [(task["accept"], task["answer"]) for task in prodigy] == [(["spam"], "accept")] * 2
    nothing = {"person": "nobody"}
    assert service.get("/v1/export.label-studio.json", params=nothing).json() == []
    assert service.get("/v1/export.jsonl", params=nothing).text == ""
    assert pyarrow.read_table(io.BytesIO(service.get("/v1/export.parquet", params=nothing).content)).num_rows == 0


@pytest.mark.parametrize("format", ["label-studio", "prodigy"])
def test_files_of_other_tools_go_both_ways(reviewed, make, format):
    ending = {"label-studio": "json", "prodigy": "jsonl"}[format]
    written = reviewed.get(f"/v1/export.{format}.{ending}")
    other = make()
    done = other.client.post("/v1/import", content=written.content, headers={"content-type": "application/json"}).json()
    assert (done["events"], done["labels"], done["errors"]) == (9, 5, 0)
    for name in NAMES:
        before, after = (service.get(f"/v1/events/{name}").json() for service in (reviewed, other))
        assert before["fields"] == after["fields"]
    labels = {
        json.loads(line)["id"]: json.loads(line)["label"] for line in other.get("/v1/export.jsonl").text.splitlines()
    }
    assert labels == {name: None if k > 4 else "spam" if k % 2 else "ham" for k, name in enumerate(NAMES)}
    # and once more: the same events, nothing new
    again = other.client.post("/v1/import", content=written.content, headers={"content-type": "application/json"})
    assert (again.json()["duplicates"], again.json()["events"]) == (9, 0)


def test_the_command_writes_every_format(reviewed):
    pytest.importorskip("pyarrow")
    for name in ("jsonl", "csv", "parquet", "label-studio", "prodigy"):
        done = reviewed.run("export", str(reviewed.folder / f"out.{name}"), "--format", name)
        assert done.stdout.startswith("Wrote 9 events")
    assert len(json.loads((reviewed.folder / "out.label-studio").read_text())) == 9
