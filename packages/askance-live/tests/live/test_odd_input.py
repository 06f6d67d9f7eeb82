"""What is odd but seen: tables sent over HTTP, cancelled annotations, limits in bytes, ports that are none."""

import csv
import io
import json

import pytest
from tests.live.in_process import new_engine, send

from askance_live.exchange.export import CSV_COLUMNS, EVENT, as_csv, rows
from askance_live.exchange.importing import as_item

pytestmark = pytest.mark.hostile

CSV = {"content-type": "text/csv; charset=utf-8"}
BIG = 2**70


@pytest.fixture(scope="module")
def service(make_for_all):
    return make_for_all()


def stored(service):
    lines = [json.loads(line) for line in service.get("/v1/export.jsonl").text.splitlines()]
    return [(line["id"], line["fields"], line["time"], line["label"]) for line in lines]


@pytest.mark.parametrize("headers", [CSV, {}])
def test_a_running_service_takes_the_table_another_wrote(make, headers):
    first = make()
    events = [
        {"id": "=1", "fields": {"text": "progress 10%\rprogress 20%", "n": 1}, "time": "2026-05-01T10:00:00Z"},
        {"id": "b", "fields": {"text": 'said "no",\r\nthen', "tags": ["x", "y"], "sender": {"country": "fr"}}},
        {"id": "c", "fields": {"text": "01234", "points": [{"x": 1}]}},
    ]
    first.post("/v1/events", events)
    first.post("/v1/labels", {"event": "b", "label": "spam"})
    table = first.get("/v1/export.csv").content
    other = make()
    done = other.client.post("/v1/import", content=table, headers=headers).json()
    assert (done["events"], done["labels"], done["errors"]) == (3, 1, 0), done
    assert stored(other) == stored(first)
    assert other.client.post("/v1/import", content=b"\xef\xbb\xbf" + table).json()["duplicates"] == 3


def test_a_carriage_return_is_in_quotes_for_every_reader(service):
    service.post("/v1/events", {"id": "cr", "fields": {"text": "10%\r20%", "size": 1}})
    table = service.get("/v1/export.csv").content.decode()
    assert '"10%\r20%"' in table
    rows = list(csv.DictReader(io.StringIO(table, newline="")))
    assert next(row for row in rows if row["id"] == "cr")["fields.text"] == "10%\r20%"


def test_a_table_of_somebody_else_is_taken_by_its_content_type_and_bad_cells_are_told(service):
    table = 'id,text,label\nt1,"hello, you",ham\nt2,a\x00b,ham\nt3,see you,egg\n'
    done = service.client.post("/v1/import", content=table.encode(), headers=CSV).json()
    assert (done["events"], done["labels"], done["errors"]) == (2, 1, 2)
    assert "line 3: NUL characters cannot be stored in the field 'text'" in done["problems"][0]["detail"]
    assert service.get("/v1/events/t1").json()["fields"] == {"text": "hello, you"}
    latin = service.client.post("/v1/import", content="id,text\n1,\xe9\n".encode("latin-1"), headers=CSV)
    assert (latin.status_code, latin.json()["code"]) == (400, "malformed")
    long = service.client.post("/v1/import", content=b"text\n" + b"1\n" * 100_001, headers=CSV)
    assert (long.status_code, long.json()["detail"][:33]) == (422, "there are more than 100,000 lines")
    head = service.get("/v1/export.csv").text.partition("\n")[0]
    deep = ",".join(["d", *[""] * head.count(",")]) + '"[' + "[" * 50 + "]" * 50 + ']"\n'
    done = service.client.post("/v1/import", content=f"{head}\n{deep}".encode()).json()
    assert (done["events"], done["problems"][0]["code"]) == (0, "too_deep")
    for dots in (40, 5000):
        nested = head.removesuffix("other") + "fields." + ".".join("a" * dots) + ",other\n"
        cells = ["n", *[""] * (head.count(",") - 1), "5"]
        done = service.client.post("/v1/import", content=(nested + ",".join(cells) + ",\n").encode()).json()
        assert (done["events"], done["problems"][0]["code"]) == (0, "too_deep")


def test_a_word_for_a_missing_label_is_no_label_and_blanks_do_not_count(service):
    table = "id,text,label\nw1,one,nan\nw2,two,?\nw3,three,N/A\nw4,four, ham\nw5,five,\n"
    done = service.client.post("/v1/import", content=table.encode(), headers=CSV).json()
    assert (done["events"], done["labels"], done["errors"]) == (5, 1, 0), done


def test_a_body_that_is_too_large_says_what_to_do(service):
    response = service.client.post("/v1/import", content=b"\n" * 10_000_001, headers=CSV)
    assert (response.status_code, response.json()["code"]) == (413, "body_too_large")
    assert "in pieces, or stop the service and take a file in with 'askance import'." in response.json()["detail"]


def test_the_limit_of_an_event_counts_bytes(service):
    most = 256_000 - len('{"text":""}')
    fits, exceeds = "é" * (most // 2), "é" * (most // 2 + 1)
    assert service.post("/v1/events", {"id": "fits", "fields": {"text": fits}}).status_code == 201
    response = service.post("/v1/events", {"id": "exceeds", "fields": {"text": exceeds}})
    assert (response.status_code, response.json()["code"]) == (413, "event_too_large")
    assert "the event has 256,001 bytes" in response.json()["detail"]


def test_whole_numbers_beyond_64_bits_are_refused_at_every_door(service):
    for fields, name in (
        ({"size": BIG}, "size"),
        ({"size": -(2**63) - 1}, "size"),
        ({"size": 2**64}, "size"),
        ({"a": {"b": [0, {"c": BIG}]}}, "a.b.1.c"),
    ):
        for path in ("/v1/events", "/v1/predict"):
            response = service.post(path, {"fields": fields})
            assert (response.status_code, response.json()["field"]) == (422, name)
            assert f"field '{name}': whole numbers have at most 64 bits" in response.json()["detail"]
        done = service.post(
            "/v1/import", [{"id": "big", "fields": fields}, {"id": "text", "fields": {"text": str(BIG)}}]
        )
        assert (done.json()["errors"], done.json()["problems"][0]["code"]) == (1, "invalid")
        assert f"'{name}'" in done.json()["problems"][0]["detail"]
    table = service.client.post("/v1/import", content=f'id,text\nbig,"{BIG}"\n'.encode(), headers=CSV).json()
    assert (table["events"], table["errors"]) == (1, 0)  # a text of digits


def choice(word, **more):
    return {"result": [{"value": {"choices": [word]}}], **more}


def test_a_cancelled_annotation_is_no_label_and_a_task_needs_none():
    task = {"id": 7, "data": {"text": "x"}, "annotations": [choice("spam", was_cancelled=True), choice("ham")]}
    assert as_item(task) == {
        "id": "task-7",
        "fields": {"text": "x"},
        "time": None,
        "label": "ham",
        "label_set": ["ham"],
    }
    assert as_item({**task, "annotations": task["annotations"][:1]})["label"] is None
    assert as_item({**task, "annotations": [choice("spam", was_cancelled=False)]})["label"] == "spam"
    bare = {"id": 8, "data": {"text": "y"}}
    for given in (bare, {**bare, "predictions": [choice("spam")]}, {**bare, "meta": {}}):
        assert as_item(given) == {
            "id": "task-8", "fields": {"text": "y"}, "time": None, "label": None, "label_set": None,
        }  # fmt: skip
    own = {"id": 9, "data": {"text": "z"}, "size": 3, "label": "ham"}
    assert as_item(own)["fields"] == {"data": {"text": "z"}, "size": 3}


def test_a_port_a_store_or_an_end_that_is_none_is_one_sentence(tmp_path, nursery):
    askance = nursery.run
    assert askance(tmp_path, "init", "--classes", "ham,spam").returncode == 0
    wrong = askance(tmp_path, "init", "--classes", "a,b", "--config", "other.toml", "--store", "mysql://x/y")
    assert not (tmp_path / "other.toml").exists()
    for done, sentence in (
        (askance(tmp_path, "serve", "--port", "99999"), "must be a whole number from 0 to 65535, got '99999'."),
        (askance(tmp_path, "token", "create", "q", "--expires", "30"), "--expires must be a duration such as '30s', "),
        (askance(tmp_path, "serve", "--store", "mysql://x"), "'mysql://' is not known."),
        (wrong, "'mysql://' is not known."),
    ):
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert sentence in done.stderr
    text = (tmp_path / "askance.toml").read_text().replace("# port = 8017", "port = 99999")
    (tmp_path / "askance.toml").write_text(text)
    for command in ("init", "serve"):
        done = askance(tmp_path, command)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "server.port must be a whole number from 0 to 65535, got 99999." in done.stderr


def test_a_line_of_csv_takes_as_long_as_its_event_however_many_columns_there_are(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr("askance_live.exchange.export._cell", lambda value: written.append(value) or value)
    with new_engine(tmp_path) as engine:
        send(engine, "a", "b")
        with engine.database.read() as session:
            page, answers = rows(session, 0)
        names = [*(f"none{k}" for k in range(1000)), *json.loads(page[0].columns[list(EVENT).index("fields")])]
        lines = as_csv(page, answers, engine.state.labels, names, False).splitlines()
    assert len(written) == 2 * (1 + 2)  # the time and the two fields of each
    assert [line.count(",") for line in lines] == [len(CSV_COLUMNS) + len(names)] * 2
