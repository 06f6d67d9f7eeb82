"""What an export wrote comes in again as it was, as lines of JSON and as CSV."""

import json

import pytest

ODD = [
    {"text": "hello", "size": 16},
    {"text": "16", "size": 16.5, "sender": {"country": "fr", "known": True}},
    {"text": "'=win(a)", "zip": "01234", "size": -3},
    {"text": "=win(a)", "note": "", "tags": ["x", "y"], "size": 2**63},
    {"text": "true", "a.b": 1, "empty": {}, "nothing": None},
    {"text": 'a "quoted"\n\tline, here', "points": [{"x": 1}, {"x": 2}], "size": -0.5},
    {"text": "-5", "phone": "+33 1 23", "later": "a" * 200_000},
    {"text": "["},
    {"text": "progress 10%\rprogress 20%", "n": 1},
    {"text": "\r", "note": "a\r\nb", "a\rname": "\n\r", "size": 3},
    {"text": " =win(a)", "note": "\u00a0@x", "\u200b=name": "\uff1d1+1", "phone": "\n=1", "later": "'\t'-2"},
    {"text": "-", "note": "'-", "phone": "+1", "later": "'+1"},
]
TIMES = [None, "2026-05-01T10:00:00Z", 1700000000, "1700000000", 1.5, *[None] * 7]


def labeled(service):
    lines = [json.loads(line) for line in service.get("/v1/export.jsonl").text.splitlines()]
    return [(line["id"], line["fields"], line["time"], line["label"]) for line in lines]


@pytest.mark.parametrize("name", ["all.csv", "all.jsonl"])
def test_our_own_export_comes_in_again_as_it_was(make, name):
    service = make()
    for place, (fields, time) in enumerate(zip(ODD, TIMES, strict=True)):
        event = {"id": f"={place}" if place % 2 else str(place), "fields": fields}
        assert service.post("/v1/events", event if time is None else {**event, "time": time}).status_code == 201
        if place % 3:
            service.post("/v1/labels", {"event": event["id"], "label": "spam" if place % 2 else "ham"})
    wanted = labeled(service)
    service.stop()
    service.run("export", name)
    again = service.run("import", name).stdout
    assert f"0 events and 0 labels taken in, {len(ODD)} were there already, 0 could not be used." in again
    other = make()
    other.stop()
    done = other.run("import", str(service.folder / name))
    assert f"{len(ODD)} events and" in done.stdout
    assert done.stderr == ""
    assert labeled(other.start()) == wanted


def test_a_bad_line_is_counted_and_the_others_are_taken(make):
    service = make()
    service.stop()
    lines = '{"id": 1, "text": "a", "label": "ham"}\n\n{"id": 2, "text": \n{"id": 3, "text": "b"}\n'
    (service.folder / "some.jsonl").write_text(lines)
    done = service.run("import", "some.jsonl")
    assert "2 events and 1 labels taken in, 0 were there already, 1 could not be used." in done.stdout
    assert "line 3 of 'some.jsonl'" in done.stderr
    missing = service.run("import", "none.jsonl", check=False)
    assert (missing.returncode, missing.stderr.count("\n")) == (2, 1)
    assert "cannot read 'none.jsonl': No such file" in missing.stderr
    assert "Errno" not in missing.stderr
    (service.folder / "broken.json").write_text('[{"id": 4, "text": "c"}, {]')
    broken = service.run("import", "broken.json", check=False)
    assert (broken.returncode, broken.stderr.count("\n")) == (2, 1)


def test_a_table_of_somebody_else_may_have_seconds_or_iso_times_and_nonsense_is_told(make):
    service = make()
    service.stop()
    (service.folder / "other.csv").write_text("id,time,text\n1,1700000000.5,a\n2,2026-05-01 10:00,b\n3,noon,c\n")
    done = service.run("import", "other.csv")
    assert "2 events and 0 labels taken in, 0 were there already, 1 could not be used." in done.stdout
    assert "'time' must be ISO 8601" in done.stderr
    times = [json.loads(line)["time"] for line in service.start().get("/v1/export.jsonl").text.splitlines()]
    assert times == ["1700000000.5", "2026-05-01 10:00"]


def test_what_has_classes_that_came_later_says_how_it_comes_into_a_new_store(make):
    service = make()
    service.post("/v1/classes", {"add": ["eggs"]})
    service.send("a", "b")
    service.post("/v1/labels", {"event": "a", "label": "eggs"})
    service.stop()
    service.run("export", "all.jsonl")
    other = make()
    other.stop()
    done = other.run("import", str(service.folder / "all.jsonl"))
    assert "'label' must be one of ham, spam; got 'eggs'; add it with 'askance classes add', or begin" in done.stderr
    assert "askance init --classes" in done.stderr
    other.run("classes", "add", "eggs", "--yes")
    again = other.run("import", str(service.folder / "all.jsonl"))
    assert (again.stderr, "0 events and 1 labels taken in, 2 were there already" in again.stdout) == ("", True)
    nowhere = other.run("export", "/nonexistent/all.jsonl", check=False)
    assert nowhere.returncode == 2
    assert "cannot write '/nonexistent/all.jsonl': No such file or directory." in nowhere.stderr
    assert "Errno" not in nowhere.stderr
