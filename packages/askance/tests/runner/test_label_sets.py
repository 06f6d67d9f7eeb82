"""Files whose labels are sets: CSV with a separator, JSON with lists; the same result as in Python."""

import json
import random

import numpy as np
import pytest
from tests.cli.here import complaint, here

import askance
from askance.data import open_stream
from askance.runner import run_file
from askance.runner.algorithm_spec import AlgorithmSpec

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
    outcome = run_file(folder / name, AlgorithmSpec("PAA-I", budget=100), label_separator=";", label="tags")
    assert outcome.totals.trace.labels == ("money", "politics", "sports")
    assert np.array_equal(outcome.totals.trace.truth, truth_of(folder))
    assert outcome.summary()["answers"] == 100
    assert sum(figures["answers"] for figures in outcome.totals.by_label().values()) == 100


def test_a_file_is_played_as_its_batches_are_in_python(folder):
    outcome = run_file(
        folder / "posts.csv", AlgorithmSpec("D-ADA", budget=0.2), label_separator=";", label="tags", batch_rows=70
    )
    with open_stream(folder / "posts.csv", label="tags", labels="text", label_separator=";") as stream:
        (batch,) = list(stream)
    clf = askance.make_multilabel(
        "D-ADA", budget=0.2, labels=list(WORDS), label_separator=";", intercept=True, random_state=0
    )
    trace = clf.run(batch.X, batch.y)
    assert np.array_equal(outcome.totals.trace.asked, trace.asked)
    np.testing.assert_allclose(outcome.totals.trace.margin, trace.margin, atol=1e-12)


def test_numbers_in_a_json_list_are_labels_too(tmp_path):
    rows = [{"a": float(t % 3), "label": [t % 3, 7]} for t in range(40)]
    (tmp_path / "n.jsonl").write_text("\n".join(map(json.dumps, rows)))
    outcome = run_file(tmp_path / "n.jsonl", AlgorithmSpec("PAA-I"), label_separator="|")
    assert outcome.totals.trace.labels == ("0", "1", "2", "7")
    assert (outcome.totals.trace.truth.sum(axis=1) == 2).all()


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


def test_auto_plays_a_file_on_one_budget(folder):
    words = ("run", "posts.csv", "--label", "tags", "--label-separator", ";", "-a", "auto", "--budget", "90", "--json")
    found = json.loads(here(*words, cwd=folder).stdout)
    other = json.loads(here(*words, "--objective", "accuracy", cwd=folder).stdout)
    assert (found["parameters"]["objective"], other["parameters"]["objective"]) == ("f1", "accuracy")
    assert 40 <= found["answers"] <= 90
    assert found["micro_f1"] > 0.5


def test_what_cannot_work_is_refused_in_a_sentence(folder):
    words = ("run", "posts.csv", "--label", "tags", "--label-separator", ";")
    assert "--trace is for events with one label" in complaint(*words, "--trace", "m.csv", cwd=folder)
    assert "'sports', which is none of" in complaint(*words, "--classes", "money,politics", cwd=folder)
    assert "two weight vectors" in complaint(*words, "-a", "MPAA-I", cwd=folder)
    assert "such as ';'" in here("run", "posts.csv", "--label-separator", "a", cwd=folder).stderr
    (folder / "odd.jsonl").write_text('{"a": 1, "label": ["x;y", "z"]}\n{"a": 2, "label": ["z"]}\n')
    assert "take another one" in complaint("run", "odd.jsonl", "--label-separator", ";", cwd=folder)
    assert "no folder" in complaint(*words, "--save", "nowhere/m", cwd=folder)


def halves(folder, tmp_path):
    """The lines of posts.jsonl in two files."""
    lines = (folder / "posts.jsonl").read_text().splitlines()
    (tmp_path / "first.jsonl").write_text("\n".join(lines[:150]))
    (tmp_path / "second.jsonl").write_text("\n".join(lines[150:]))


@pytest.mark.parametrize("algorithm", ["D-ADA", "auto"])
def test_a_saved_model_goes_on_where_it_ended(folder, tmp_path, algorithm):
    halves(folder, tmp_path)
    options = ("--label", "tags", "--label-separator", ";", "--rate", "0.2", "--classes", "money,politics,sports")
    named = (*options, "-a", algorithm, "--json")
    whole = json.loads(here("run", str(folder / "posts.jsonl"), *named, "--save", "w", cwd=tmp_path).stdout)
    first = json.loads(here("run", "first.jsonl", *named, "--save", "m", cwd=tmp_path).stdout)
    second = json.loads(here("run", "second.jsonl", "--load", "m", "--save", "m", "--json", cwd=tmp_path).stdout)
    assert second["answers"] + first["answers"] == whole["answers"]
    models = [askance.MultiLabelClassifier.load(tmp_path / name) for name in ("w", "m")]
    new = [{"text": "the goal of the bank", "size": 3}, {"text": "vote for a law", "size": 1}]
    np.testing.assert_array_equal(*(model.decision_function(new) for model in models))
    assert second["parameters"] == whole["parameters"]


def test_a_saved_model_predicts_a_file_with_and_without_labels(folder, tmp_path):
    halves(folder, tmp_path)
    here("run", "first.jsonl", "--label", "tags", "--label-separator", ";", "-a", "PAA-I", "--save", "m", cwd=tmp_path)
    clf = askance.MultiLabelClassifier.load(tmp_path / "m")
    rows = [json.loads(line) for line in (tmp_path / "second.jsonl").read_text().splitlines()]
    truth = [row.pop("tags") for row in rows]
    (tmp_path / "new.jsonl").write_text("\n".join(map(json.dumps, rows)))
    told = here("predict", "second.jsonl", "--load", "m", "--json", cwd=tmp_path)
    found = [json.loads(line) for line in told.stdout.splitlines()]
    assert [set(each["labels"]) for each in found] == clf.predict_sets(rows)
    known = [(set(each["labels"]), set(tags)) for each, tags in zip(found, truth, strict=True) if tags is not None]
    right = np.mean([labels == tags for labels, tags in known])
    assert f"right for {100 * right:.1f}%" in told.stderr.replace(" %", "%")
    np.testing.assert_allclose([list(each["probabilities"].values()) for each in found], clf.predict_proba(rows))
    table = here("predict", "new.jsonl", "--load", "m", cwd=tmp_path)
    head, *lines = table.stdout.splitlines()
    assert head == "event,line,labels,probability of money,probability of politics,probability of sports"
    assert [line.split(",")[2] for line in lines] == [";".join(each["labels"]) for each in found]
    assert "right for" not in table.stderr


def test_a_model_made_in_python_predicts_a_file(folder, tmp_path):
    rows = [json.loads(line) for line in (folder / "posts.jsonl").read_text().splitlines()]
    clf = askance.make_multilabel("PAA-I", random_state=0)
    clf.run(rows, "tags")
    clf.save(tmp_path / "m")
    told = here("predict", str(folder / "posts.jsonl"), "--load", "m", "--json", cwd=tmp_path)
    found = [set(json.loads(line)["labels"]) for line in told.stdout.splitlines()]
    assert found == clf.predict_sets([{k: v for k, v in row.items() if k != "tags"} for row in rows])
    assert "--explain is for events" in complaint(
        "predict", str(folder / "posts.jsonl"), "--load", "m", "--explain", cwd=tmp_path
    )


def test_the_budget_of_a_loaded_model_can_be_changed(folder, tmp_path):
    options = ("--label", "tags", "--label-separator", ";", "-a", "PAA-I", "--set", "delta=100", "--json")
    here("run", str(folder / "posts.jsonl"), *options, "--budget", "30", "--save", "m", cwd=tmp_path)
    words = ("run", str(folder / "posts.jsonl"), "--load", "m", "--json")
    assert json.loads(here(*words, cwd=tmp_path).stdout)["answers"] == 0
    assert json.loads(here(*words, "--budget", "50", cwd=tmp_path).stdout)["answers"] == 20
    assert "--set cannot be changed" in complaint(*words, "--set", "C=2", cwd=tmp_path)


def partly_known(tmp_path):
    """A file in which of every third set only some labels are known, and one whose labels lie deeper."""
    part = {"sports": True, "money": False}
    tags = [part, ["money"], ["politics", "sports"]] * 20
    texts = ["a goal", "the bank", "a vote for the ball"] * 20
    rows = [{"text": text, "tags": each} for text, each in zip(texts, tags, strict=True)]
    (tmp_path / "part.jsonl").write_text("\n".join(map(json.dumps, rows)))
    rows = [{"text": text, "meta": {"tags": each, "size": 3}} for text, each in zip(texts, tags, strict=True)]
    (tmp_path / "deep.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return texts, tags


@pytest.mark.parametrize(("name", "label", "more"), [("part", "tags", []), ("deep", "meta.tags", ["meta.size"])])
def test_an_object_of_true_and_false_is_a_set_known_in_part(tmp_path, name, label, more):
    texts, tags = partly_known(tmp_path)
    outcome = run_file(tmp_path / f"{name}.jsonl", AlgorithmSpec("PAA-I"), label_separator="/", label=label)
    assert outcome.totals.trace.labels == ("money", "politics", "sports")
    assert outcome.totals.trace.truth[:3].tolist() == [[0, -1, 1], [1, 0, 0], [0, 1, 1]]
    assert [field[0] for field in outcome.model.stream["fields"]] == ["text", *more]
    clf = askance.make_multilabel("PAA-I", random_state=0)
    assert np.array_equal(clf.run(texts, tags).truth, outcome.totals.trace.truth)


def test_what_lies_below_the_field_of_the_label_is_no_feature(tmp_path):
    partly_known(tmp_path)
    assert "a label is text or a number" in complaint("run", "part.jsonl", "--label", "tags", cwd=tmp_path)
    with open_stream(tmp_path / "part.jsonl", label="tags", skip_bad_lines=True) as stream:
        assert not list(stream)
        assert [field.name for field in stream.fields] == ["tags", "text"]
    rows = [{"a": t, "label": {"x": t} if t % 2 else "no"} for t in range(20)]
    (tmp_path / "found.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with open_stream(tmp_path / "found.jsonl", skip_bad_lines=True) as stream:
        assert sum(batch.X.shape[0] for batch in stream) == 10
        assert [field.name for field in stream.fields] == ["label", "a"]


def test_a_partly_known_set_that_is_none_is_a_bad_line(tmp_path):
    (tmp_path / "odd.jsonl").write_text('{"a": 1, "tags": {"x": 3}}\n{"a": 2, "tags": ["x"]}\n')
    words = ("run", "odd.jsonl", "--label", "tags", "--label-separator", "/")
    assert "line 1 of 'odd.jsonl', field 'tags': the label 'x' of a partly known set is '3'" in complaint(
        *words, cwd=tmp_path
    )


def test_predicting_counts_only_whole_sets(tmp_path):
    partly_known(tmp_path)
    words = ("--label", "tags", "--label-separator", "/", "-a", "PAA-I", "--save", "m")
    here("run", "part.jsonl", *words, cwd=tmp_path)
    told = here("predict", "part.jsonl", "--load", "m", "--json", cwd=tmp_path)
    assert len(told.stdout.splitlines()) == 60
    assert "of 40 with a label" in told.stderr


@pytest.mark.parametrize("wrong", ["null", '""', '" "', "NaN", '["x"]', '{"x": true}'])
def test_what_is_no_label_in_a_list_is_a_bad_line(tmp_path, wrong):
    good = '{"a": 1, "tags": ["x", "NA", 3]}\n{"a": 2, "tags": []}\n'
    (tmp_path / "odd.jsonl").write_text(good + f'{{"a": 3, "tags": ["x", {wrong}]}}\n')
    words = ("run", "odd.jsonl", "--label", "tags", "--label-separator", "/")
    assert "line 3 of 'odd.jsonl', field 'tags': a list of labels has " in complaint(*words, cwd=tmp_path)
    found = json.loads(here(*words, "--quarantine", "bad.jsonl", "--json", cwd=tmp_path).stdout)
    assert (found["events"], found["bad_lines"], list(found["by_label"])) == (2, 1, ["3", "NA", "x"])
    assert "a list of labels has" in (tmp_path / "bad.jsonl").read_text()
    here(*words, "--skip-bad-lines", "--save", "m", cwd=tmp_path)
    told = here("predict", "odd.jsonl", "--load", "m", "--json", cwd=tmp_path)
    assert len(told.stdout.splitlines()) == 3
    assert "of 2 with a label" in told.stderr


def test_a_label_that_the_model_lacks_is_named_with_its_event_and_the_way_out(folder, tmp_path):
    words = ("--label", "tags", "--label-separator", ";", "-a", "PAA-I")
    here("run", str(folder / "posts.jsonl"), *words, "--save", "m", cwd=tmp_path)
    rows = [{"text": "the bank", "size": 1, "tags": ["money"]}, {"text": "rain", "size": 2, "tags": ["weather"]}]
    (tmp_path / "new.jsonl").write_text("\n".join(map(json.dumps, rows)))
    told = complaint("run", "new.jsonl", "--load", "m", cwd=tmp_path)
    assert "event 2 of 'new.jsonl' has the label 'weather', which is none of 'money', 'politics', 'sports'" in told
    assert "when it is first run: labels=, or --classes A,B,..." in told
    told = complaint("run", "new.jsonl", *words, "--classes", "money,law", cwd=tmp_path)
    assert "'weather', which is none of 'money', 'law'; name all of them: labels=, or --classes" in told


def test_what_nothing_is_known_of_is_a_dash(folder, tmp_path):
    words = ("--label", "tags", "--label-separator", ";", "--classes", "money,sports", "-a", "PAA-I")
    rows = [{"text": "the bank", "tags": None}, {"text": "a goal", "tags": None}]
    (tmp_path / "none.jsonl").write_text("\n".join(map(json.dumps, rows)))
    shown = " ".join(here("run", "none.jsonl", *words, cwd=tmp_path).stdout.split())
    assert "nan" not in shown
    assert "answers bought 0; no event has a known label micro F1 - macro F1 - " in shown
    assert "sports F1 -; 0 events" in shown
    rows[1]["tags"] = {"money": True}
    (tmp_path / "part.jsonl").write_text("\n".join(map(json.dumps, rows)))
    shown = " ".join(here("run", "part.jsonl", *words, cwd=tmp_path).stdout.split())
    assert "nan" not in shown
    assert "subset accuracy - " in shown
    assert "sports F1 -; 0 events" in shown


def test_a_run_that_was_stopped_resumes_and_comes_to_the_same_model(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("askance.data.formats.pieces.PIECE_BYTES", 2_000)
    given = (folder / "posts.jsonl", AlgorithmSpec("D-ADA", budget=0.2))
    options = {"label": "tags", "label_separator": ";", "save_every": 50}
    whole = run_file(*given, save=tmp_path / "whole", **options)

    def stop(progress):
        if progress.events >= 120:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_file(*given, save=tmp_path / "stopped", progress=stop, **options)
    rest = run_file(*given, save=tmp_path / "stopped", resume=True, **options)
    assert 0 < rest.totals.events < whole.totals.events
    models = [askance.MultiLabelClassifier.load(tmp_path / name) for name in ("whole", "stopped")]
    new = [{"text": "the goal of the bank", "size": 3}, {"text": "vote for a law", "size": 1}]
    np.testing.assert_array_equal(*(model.decision_function(new) for model in models))
    assert models[0].labels_asked_ == models[1].labels_asked_
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "stopped").read_bytes()
