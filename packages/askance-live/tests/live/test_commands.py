"""The commands of the live service as a user meets them: real processes, and a stream that goes round."""

import json
import os
import re
import signal
import subprocess
import sys

import httpx
import pytest
from tests.patience import PATIENCE


def askance(folder, *words, **options):
    return subprocess.run(
        [sys.executable, "-m", "askance", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        **options,
    )


def test_from_nothing_to_a_served_stream_and_back(tmp_path, nursery):
    assert "askance init" in askance(tmp_path, "serve").stderr
    done = askance(tmp_path, "init", "--classes", "ham,spam", "--title", "Mail")
    assert done.returncode == 0, done.stderr
    assert "exists already" in nursery.run(tmp_path, "init", "--classes", "ham,spam").stderr
    (tmp_path / "flat.jsonl").write_text(
        '{"id": 1, "text": "hello my dear friend", "label": "ham"}\n'
        '{"id": 2, "text": "=win(a) prize now", "label": "spam"}\n'
    )
    done = askance(tmp_path, "import", "flat.jsonl")
    assert "2 events and 2 labels taken in" in done.stdout
    exported = askance(tmp_path, "export").stdout
    lines = [json.loads(line) for line in exported.splitlines()]
    assert [(line["id"], line["label"]) for line in lines] == [("1", "ham"), ("2", "spam")]
    table = nursery.run(tmp_path, "export", "--csv").stdout
    assert "'=win(a)" in table  # no spreadsheet takes it for a formula
    other = tmp_path / "other"
    other.mkdir()
    nursery.run(other, "init", "--classes", "ham,spam")
    (other / "all.jsonl").write_text(exported)
    nursery.run(other, "import", "all.jsonl")
    again = [json.loads(line) for line in nursery.run(other, "export").stdout.splitlines()]
    assert [(line["id"], line["fields"], line["label"]) for line in again] == [
        (line["id"], line["fields"], line["label"]) for line in lines
    ]
    assert nursery.run(tmp_path, "doctor", "--deep").stdout == "All is well.\n"
    process = subprocess.Popen(
        [sys.executable, "-m", "askance", "serve", "--port", "0"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    try:
        url = re.search(r"http://\S+", process.stdout.readline()).group()
        assert httpx.get(f"{url}/v1/stats", timeout=PATIENCE).json()["events"]["total"] == 2
        refused = nursery.run(tmp_path, "import", "flat.jsonl")
        assert refused.returncode == 2
        assert "another askance" in refused.stderr
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        process.stdout.close()


def test_label_studio_comes_in(make):
    service = make()
    tasks = [
        {"id": 7, "data": {"text": "buy now"}, "annotations": [{"result": [{"value": {"choices": ["spam"]}}]}]},
        {"id": 8, "data": {"text": "see you"}, "annotations": []},
        {"id": 9, "data": {"text": "odd"}, "annotations": [{"result": [{"value": {"choices": ["egg"]}}]}]},
    ]
    done = service.post("/v1/import", tasks).json()
    assert (done["events"], done["labels"], done["errors"]) == (3, 1, 1)
    assert done["problems"][0]["item"] == 3
    assert service.post("/v1/import", tasks).json()["duplicates"] == 3
    assert service.get("/v1/events/task-7").json()["answers"][0]["label"] == "spam"


def test_learning_can_be_paused_and_goes_on_where_it_stopped(make):
    service = make()
    service.post("/v1/model/pause")
    service.send("a", "b")
    service.post("/v1/labels", [{"event": "a", "label": "ham"}, {"event": "b", "label": "spam"}])
    service.restart()
    stats = service.stats()
    assert (stats["paused"], stats["model"]["waiting"], stats["model"]["learned"]) == (True, 2, 0)
    service.post("/v1/model/resume")
    service.wait_until_learned(2)


def test_numbers_change_as_server_sent_events(make):
    service = make()
    with service.client.stream("GET", "/v1/live") as response:
        lines = response.iter_lines()
        first = next(line for line in lines if line.startswith("data:"))
        assert json.loads(first[5:])["events"]["total"] == 0
        service.send("a")
        for line in lines:
            if line.startswith("data:") and json.loads(line[5:])["events"]["total"] == 1:
                break


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('classes = ["ham"]', "two labels or more"),
        ('classes = ["a", "a"]', "twice"),
        ('classes = ["a", "b"]\n[model]\nalgorithm = "NOPE"', "NOPE"),
        ('classes = ["a", "b"]\n[queue]\nlease = "soon"', "queue.lease"),
        ('classes = ["a", "b"]\n[server]\nprot = 1', "server.prot"),
        ('classes = ["a", "b"]\n[asking]\naudit = 2', "asking.audit"),
        ('classes = ["a", "b"]\n[asking]\nrate = 20', "asking.rate"),
        ('classes = ["a", "b"]\n[fields]\nx = "numbr"', "numbr"),
        ('classes = ["a", "b"]\n[model]\nalgorithm = "NOPE"', "'askance.toml': "),
        ('classes = ["a", "b"]\n[model]\nalgorithm = "PAA-I"\nparameters = { nope = 1 }', "'askance.toml': "),
        (
            'classes = ["a", "b"]\n[model]\nhash_bits = 40',
            "model.hash_bits must be a whole number from 1 to 24, got 40.",
        ),
        ('classes = ["a", "b"]\n[queue]\nlease = 0', "queue.lease must be one second or more, got 0."),
        ('classes = ["a", "b"]\n[queue]\nlease = "30"', "queue.lease must be a duration such as '30s', "),
        (
            'classes = ["a", "b"]\n[server]\nport = 99999',
            "server.port must be a whole number from 0 to 65535, got 99999.",
        ),
        ('classes = ["a", "b"]\nstore = "mysql://x"', "'mysql://' is not known."),
        ("classes = [", "not TOML"),
    ],
)
def test_bad_settings_are_refused_in_a_sentence(tmp_path, nursery, text, sentence):
    (tmp_path / "askance.toml").write_text(text)
    child = nursery.start(["serve"], tmp_path, tmp_path / "out", tmp_path / "err")
    assert child.wait() == 2
    said = (tmp_path / "err").read_text()
    assert sentence in said
    assert "Traceback" not in said
    assert said.count("\n") == 1
    assert os.listdir(tmp_path).count("askance.db") == 0
