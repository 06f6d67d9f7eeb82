"""Files whose labels are sets: CSV with a separator, JSON with lists; the same result as in Python."""

import json
import random

import numpy as np
import pytest
from tests.cli.here import complaint, here

import askance
from askance.playing.algorithm_spec import AlgorithmSpec
from askance.playing.label_sets import play_label_sets
from askance.stream import open_stream

WORDS = {"money": ["stock", "bank"], "politics": ["vote", "law"], "sports": ["goal", "ball"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same events as posts.csv and posts.jsonl; some have no label, of some it is not known."""
    path, rng = tmp_path_factory.mktemp("posts"), random.Random(0)
    table, lines = ["text,size,tags"], []
    for t in range(300):
        tags = [tag for tag in WORDS if rng.random() < 0.35]
        words = [rng.choice(WORDS[tag]) for tag in tags for _ in range(2)] + ["the", rng.choice(["a", "of"])]
        rng.shuffle(words)
        size, unknown = rng.randint(1, 9), t % 50 == 7
        table.append(f"{' '.join(words)},{size},{'' if unknown else '; '.join(tags) or ';'}")
        lines.append(json.dumps({"text": " ".join(words), "size": size, "tags": None if unknown else tags}))
    (path / "posts.csv").write_text("\n".join(table) + "\n")
    (path / "posts.jsonl").write_text("\n".join(lines) + "\n")
    return path


def truth_of(folder):
    sets = [json.loads(line)["tags"] for line in (folder / "posts.jsonl").read_text().splitlines()]
    return np.array([[-1] * 3 if each is None else [int(tag in each) for tag in WORDS] for each in sets])


@pytest.mark.parametrize("name", ["posts.csv", "posts.jsonl"])
def test_every_set_is_read_as_it_is_written(folder, name):
    outcome = play_label_sets(folder / name, AlgorithmSpec("PAA-I", budget=100), separator=";", label="tags")
    assert outcome.trace.labels == ("money", "politics", "sports")
    assert np.array_equal(outcome.trace.truth, truth_of(folder))
    assert outcome.summary()["answers"] == 100
    assert sum(figures["answers"] for figures in outcome.of_labels().values()) == 100


def test_a_file_is_played_as_its_batches_are_in_python(folder):
    outcome = play_label_sets(
        folder / "posts.csv", AlgorithmSpec("D-ADA", budget=0.2), separator=";", label="tags", batch_rows=70
    )
    with open_stream(folder / "posts.csv", label="tags", labels="text", label_separator=";") as stream:
        (batch,) = list(stream)
    clf = askance.make_multilabel(
        "D-ADA", budget=0.2, labels=list(WORDS), label_separator=";", intercept=True, random_state=0
    )
    trace = clf.run(batch.X, batch.y)
    assert np.array_equal(outcome.trace.asked, trace.asked)
    np.testing.assert_allclose(outcome.trace.margin, trace.margin, atol=1e-12)


def test_numbers_in_a_json_list_are_labels_too(tmp_path):
    rows = [{"a": float(t % 3), "label": [t % 3, 7]} for t in range(40)]
    (tmp_path / "n.jsonl").write_text("\n".join(map(json.dumps, rows)))
    outcome = play_label_sets(tmp_path / "n.jsonl", AlgorithmSpec("PAA-I"), separator="|")
    assert outcome.trace.labels == ("0", "1", "2", "7")
    assert (outcome.trace.truth.sum(axis=1) == 2).all()


def test_the_command_shows_the_metrics_and_each_label(folder):
    words = ("run", "posts.csv", "--label", "tags", "--label-separator", ";", "--rate", "0.2")
    shown = here(*words, cwd=folder)
    assert shown.returncode == 0
    for part in ("micro F1", "macro F1", "Hamming loss", "subset accuracy", "sports", "D-ADA", "of the questions"):
        assert part in shown.stdout
    found = json.loads(here(*words, "--json", cwd=folder).stdout)
    assert found["labels"] == 3
    assert found["answers"] <= 0.2 * 3 * 300
    assert found["by_label"].keys() == WORDS.keys()


def test_what_cannot_work_is_refused_in_a_sentence(folder):
    words = ("run", "posts.csv", "--label", "tags", "--label-separator", ";")
    assert "--save is for events with one label" in complaint(*words, "--save", "m", cwd=folder)
    assert "auto cannot learn label sets" in complaint(*words, "-a", "auto", cwd=folder)
    assert "'sports', which is none of" in complaint(*words, "--classes", "money,politics", cwd=folder)
    assert "side by side" in complaint(*words, "-a", "SOAL", cwd=folder)
    assert "such as ';'" in here("run", "posts.csv", "--label-separator", "a", cwd=folder).stderr
    (folder / "odd.jsonl").write_text('{"a": 1, "label": ["x;y", "z"]}\n{"a": 2, "label": ["z"]}\n')
    assert "take another one" in complaint("run", "odd.jsonl", "--label-separator", ";", cwd=folder)
    assert not (folder / "m").exists()
