"""A service that starts from a saved model: the same predictions as in Python, and a function of the store alone."""

import numpy as np
import pytest
from tests.cli.here import complaint, here
from tests.live.in_process import label, opened, running_engine, send
from tests.live.running import postgres_is_proven

import askance
from askance.errors import AskanceError
from askance_live.cli.init import create_store
from askance_live.clock import Clock
from askance_live.config import AskingSettings, from_document, load
from askance_live.doctor import examine_store
from askance_live.engine.checkpoints import checkpoints, fresh_learner, newest_checkpoint, start_digest
from askance_live.engine.learner import Incoming, Learner
from askance_live.engine.rebuild import rebuild_offline
from askance_live.engine.replay import last_seq, replay
from askance_live.engine.start import start_from
from askance_live.engine.state import EngineState, first_rows
from askance_live.store import open_store


def events(count, first=0):
    """Messages with their lengths, every third of them spam."""
    rows = [
        {"text": f"{'win a prize' if number % 3 == 0 else 'lunch at noon'} {number % 7}", "size": number * 37 % 11}
        for number in range(first, first + count)
    ]
    return rows, ["spam" if number % 3 == 0 else "ham" for number in range(first, first + count)]


def train(path, algorithm="SOAL-diag", **parameters):
    clf = askance.make(algorithm, random_state=1, budget=40, **parameters)
    clf.run(*events(120))
    clf.save(path)
    return path


def settings(folder, place=None, model=None, **more):
    """Settings that start from a file of the folder, with a store that has begun."""
    config = from_document(
        {
            "classes": ["spam", "ham"],
            "store": place or "askance.db",
            "queue": {"learn_after": 0.0},
            "asking": {"rate": 1.0},
            "model": {"load": "first.model"} if model is None else model,
            "server": {"disk_reserve": 0, "checkpoint_every": 20},
            **more,
        },
        folder,
    )
    database = open_store(config.store, create=True)
    with database.write() as session:
        first_rows(session, config)
    database.close()
    return config


def digest_of(config, from_the_log=False):
    with opened(config) as database, database.read() as session:
        state = EngineState(config, Clock())
        state.load(session)
        if from_the_log:
            state.learner = fresh_learner(session, config)
            replay(session, state.learner, 0, last_seq(session))
        return state.learner.digest()


@pytest.mark.parametrize("algorithm", ["SOAL-diag", "auto", "UOAL-entropy", "D-ADA"])
def test_the_service_decides_as_the_loaded_model_would(tmp_path, algorithm):
    content = train(tmp_path / "first.model", algorithm, fields={"text": "ignore"}).read_bytes()  # a small model
    model = from_document({"classes": ["ham", "spam"], "model": {"load": "first.model"}}).model
    learner = Learner(model, AskingSettings(rate=1.0, audit=0.0), start=start_from(content, model))
    assert not learner.exploring.is_cold
    clf = askance.load(tmp_path / "first.model")
    clf.budget = askance.budgets.Unlimited()
    clf._engine.budget_state.counts[...] = 0  # which begin anew, and some query rules read
    rows, _ = events(30, first=500)
    chances = [learner.predict(row)[1] for row in rows]
    alike = 0.01 if algorithm == "UOAL-entropy" else 1e-9  # a probit's probabilities are a logistic function's here
    np.testing.assert_allclose(chances, clf.predict_proba(rows), rtol=0.0, atol=alike)
    decided = learner.decide([Incoming(row, float(at)) for at, row in enumerate(rows)], 0)
    expected = [clf.ask(row, explore=0.0) for row in rows]
    assert [learner.classes[item.predicted] for item in decided] == [decision.label for decision in expected]
    assert [item.asked for item in decided] == [decision.asked for decision in expected]
    assert [item.probability for item in decided] == [decision.probability for decision in expected]
    assert learner.algorithm == type(clf.update).__name__


def test_what_counts_for_a_stream_begins_anew(tmp_path):
    content = train(tmp_path / "first.model").read_bytes()
    model = from_document({"classes": ["ham", "spam"], "model": {"load": "first.model"}}).model
    before, learner = (
        askance.load(tmp_path / "first.model"),
        Learner(model, AskingSettings(), start=start_from(content, model)),
    )
    assert before.labels_asked_ > 0
    assert before.pending == []
    assert learner.clf.labels_asked_ == learner.clf.events_seen_ == learner.version == 0
    np.testing.assert_array_equal(learner.clf.coef_, before.coef_)
    assert learner.calibration.slope != 4.0  # moved by the answers of the file


@postgres_is_proven
def test_a_store_keeps_the_file_that_it_started_from(tmp_path, store):
    train(tmp_path / "first.model")
    config = settings(tmp_path, store)
    with running_engine(config) as engine:
        for first in range(0, 60, 20):
            send(engine, *(f"e{number}" for number in range(first, first + 20)))
            label(engine, f"e{first}", first // 20 % 2)
    digest = digest_of(config)
    train(tmp_path / "first.model", "PAA-I")  # another file of the same name
    assert digest_of(config, from_the_log=True) == digest
    (tmp_path / "first.model").unlink()
    with opened(config) as database:
        assert rebuild_offline(database, config, check=True) == {
            "model": 3, "left_out": 0, "digest": digest, "same": True,
        }  # fmt: skip
        assert rebuild_offline(database, config, check=False)["digest"] == digest
        assert examine_store(database, config, deep=True) == []
    with running_engine(config) as engine:
        assert engine.state.learner.digest() == digest
        send(engine, *(f"later {number}" for number in range(100)))  # many checkpoints
    with opened(config) as database, database.read() as session:
        assert start_digest(session) is not None
    assert digest_of(config) == digest_of(config, from_the_log=True) != digest


def test_another_file_takes_a_rebuild_once_there_are_events(tmp_path):
    train(tmp_path / "first.model")
    train(tmp_path / "second.model", "PAA-I")
    config = settings(tmp_path)
    with running_engine(config) as engine:
        send(engine, "a", "b", "c")
    before = digest_of(config)
    other = from_document(
        {"classes": ["ham", "spam"], "model": {"load": "second.model"}, "server": {"disk_reserve": 0}}, tmp_path
    )
    for _ in range(2):
        with pytest.raises(AskanceError, match=r"changed \(model\.load\).*askance rebuild"):
            digest_of(other)
    with opened(other) as database:
        with pytest.raises(AskanceError, match=r"changed \(model\.load\)"):
            rebuild_offline(database, other, check=True)
        found = rebuild_offline(database, other, check=False)
    assert found["digest"] == digest_of(other) == digest_of(other, from_the_log=True) != before
    bare = from_document({"classes": ["ham", "spam"], "server": {"disk_reserve": 0}}, tmp_path)
    with opened(bare) as database:
        rebuild_offline(database, bare, check=False)
        with database.read() as session:
            assert start_digest(session) is None


def test_a_store_without_events_follows_the_file(tmp_path):
    train(tmp_path / "first.model")
    config = settings(tmp_path)
    with running_engine(config) as engine:
        first = engine.state.learner.digest()
    train(tmp_path / "first.model", "PAA-I")
    with running_engine(config) as engine:
        second = engine.state.learner.digest()
    (tmp_path / "first.model").unlink()
    with running_engine(config) as engine:
        assert engine.state.learner.digest() == second != first
        assert engine.state.learner.algorithm == "PassiveAggressive1"


def test_a_damaged_start_is_told_and_nothing_begins(tmp_path):
    train(tmp_path / "first.model")
    config = settings(tmp_path)
    with running_engine(config) as engine:
        send(engine, "a")
    with opened(config) as database:
        with database.write() as session:
            session.execute("UPDATE checkpoints SET digest = 'other' WHERE seq = 0")
        (finding,) = examine_store(database, config)
    assert finding.startswith("the model that the store starts from ('first.model') cannot be used: its hash differs;")
    with pytest.raises(AskanceError, match="cannot be used: its hash differs; restore a backup"):
        digest_of(config)


def test_the_field_of_the_label_is_not_learned_from(tmp_path):
    rows, labels = events(60)
    clf = askance.make("SOAL-diag", random_state=0)
    clf.run([{**row, "kind": label} for row, label in zip(rows, labels, strict=True)], "kind")
    clf.save(tmp_path / "first.model")
    model = from_document({"classes": ["ham", "spam"], "model": {"load": "first.model"}}).model
    content = (tmp_path / "first.model").read_bytes()
    one, other = (Learner(model, AskingSettings(), start=start_from(content, model)) for _ in range(2))
    one.decide([Incoming({**rows[0], "kind": "spam"}, 0.0)], 0)
    other.decide([Incoming(rows[0], 0.0)], 0)
    assert one.digest() == other.digest()
    assert one.predict({**rows[0], "kind": "ham"}) == other.predict(rows[0])


def test_a_wide_model_and_a_field_of_times_are_no_trouble(tmp_path):
    rows, labels = events(60)
    clf = askance.make("PAA-I", random_state=0, n_features=2**20, fields={"at": "time"})
    clf.run([{**row, "at": float(number)} for number, row in enumerate(rows)], labels)
    clf.save(tmp_path / "first.model")
    config = settings(tmp_path)
    with running_engine(config) as engine:
        decided = send(engine, *(f"e{number}" for number in range(25)))  # without the time that the model knows
        assert all("label" in outcome for outcome in decided)
    with opened(config) as database, database.read() as session:
        seq = checkpoints(session)[0]
        assert newest_checkpoint(session, config, last_seq(session))[1] == seq > 0


def test_init_begins_with_a_model_of_the_command_line(tmp_path):
    rows, labels = events(200)
    lines = [
        "text,size,kind",
        *(f"{row['text']},{row['size']},{label}" for row, label in zip(rows, labels, strict=True)),
    ]
    (tmp_path / "mail.csv").write_text("\n".join(lines) + "\n")
    ran = here("run", "mail.csv", "--label", "kind", "--algorithm", "SOAL-diag", "--save", "mail.model", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    made = here("init", "--load", "mail.model", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    config = load(tmp_path / "askance.toml")
    assert config.classes == ["ham", "spam"]
    assert config.model.load == "mail.model"
    with running_engine(config) as engine:
        assert engine.state.learner.algorithm == "SOAL-diag"
        assert engine.state.learner.features.kinds == {"text": "text", "size": "number"}


NUMBERS = [[0.0, 1.0], [1.0, 0.0]] * 10
SLIPS = {
    "nowhere": ({}, "cannot read the model '{folder}/first.model': No such file or directory."),
    "no model": ({}, "'first.model' is not an askance model"),
    "columns": ({}, "'first.model' holds a model of columns without names"),
    "untrained": ({}, "'first.model' holds a classifier that has learned nothing"),
    "classes": ({"classes": ["ham", "eggs"]}, "has the classes ham, spam, and the settings have eggs, ham"),
    "kind": (
        {"fields": {"size": "category"}},
        "the field 'size' is of the kind number in the model 'first.model', and",
    ),
    "beside": ({"model": {"load": "first.model", "seed": 1}}, "model.seed cannot be changed with model.load"),
    "a number": ({"model": {"load": 3}}, "model.load must be a text in quotes, got 3."),
    "fields": ({"server": {"fields": 1}}, "has 2 fields, where server.fields allows 1"),
    "order": ({"classes": ["2", "10"]}, "are the numbers 2, 10, which have another order as words"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_one_sentence_and_leaves_no_store(tmp_path, slip):
    path = tmp_path / "first.model"
    if slip == "no model":
        path.write_text("nothing of that sort\n")
    elif slip == "columns":
        askance.make("PAA-I").fit(NUMBERS, ["ham", "spam"] * 10).save(path)
    elif slip == "untrained":
        askance.make("PAA-I").save(path)
    elif slip == "order":
        askance.make("PAA-I").fit(events(20)[0], [2, 10] * 10).save(path)
    elif slip != "nowhere":
        train(path)
    changes, sentence = SLIPS[slip]
    document = {"classes": ["ham", "spam"], "model": {"load": "first.model"}, **changes}
    with pytest.raises(AskanceError) as caught:
        create_store(from_document(document, tmp_path))
    assert sentence.format(folder=tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "askance.db").exists()


def test_slips_of_init(tmp_path):
    assert "cannot read the model 'gone.model'" in complaint("init", "--load", "gone.model", cwd=tmp_path)
    train(tmp_path / "first.model")
    assert "has the classes ham, spam" in complaint("init", "--load", "first.model", "--classes", "a,b", cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["first.model"]
    assert here("init", "--load", "first.model", cwd=tmp_path).returncode == 0
    train(tmp_path / "second.model")
    assert "name the model there" in complaint("init", "--load", "second.model", cwd=tmp_path)


def test_values_that_count_as_missing_are_settings(tmp_path):
    model = from_document({"classes": ["a", "b"], "model": {"na_values": ["unknown", -999], "hash_bits": 8}}).model
    learner, usual = (
        Learner(settings, AskingSettings())
        for settings in (model, from_document({"classes": ["a", "b"], "model": {"hash_bits": 8}}).model)
    )
    for each in (learner, usual):
        each.decide([Incoming({"size": 3.0, "city": "Oslo"}, 0.0)], 0)
    given, gaps = {"size": -999, "city": "unknown"}, {"size": None, "city": None}
    assert [array.tolist() for array in learner.encode(given)] == [array.tolist() for array in learner.encode(gaps)]
    assert [array.tolist() for array in usual.encode(given)] != [array.tolist() for array in usual.encode(gaps)]
    assert Learner.load(learner.dump(), model).digest() == learner.digest()
    for slip in ("unknown", [True], [["a"]]):
        with pytest.raises(AskanceError, match="na_values"):
            from_document({"classes": ["a", "b"], "model": {"na_values": slip}})


def test_settings_of_before_are_written_down_as_they_were():
    model = from_document({"classes": ["a", "b"]}).model
    assert "load" not in model.document()
    assert "na_values" not in model.document()
    assert type(model).from_document(model.document()) == model


@pytest.mark.parametrize("name", ["mail.csv", "mail.jsonl", "mail.json"])
def test_files_in_other_encodings_are_imported(tmp_path, name):
    rows = '{"id": "1", "city": "K\u00f8ge", "label": "ham"}', '{"id": "2", "city": "\u00c5s", "label": "unknown"}'
    texts = {
        "mail.csv": "id,city,label\n1,K\u00f8ge,ham\n2,\u00c5s,unknown\n",
        "mail.jsonl": "\n".join(rows) + "\n",
        "mail.json": f"[{rows[0]},\n {rows[1]}]",
    }
    (tmp_path / name).write_text(texts[name], "latin-1")
    assert here("init", "--classes", "ham,spam", cwd=tmp_path).returncode == 0
    place = tmp_path / "askance.toml"
    place.write_text(place.read_text().replace("# na_values = []", 'hash_bits = 8\nna_values = ["unknown"]'))
    assert "there is no encoding 'latin-x'" in complaint("import", name, "--encoding", "latin-x", cwd=tmp_path)
    done = here("import", name, "--encoding", "latin-1", cwd=tmp_path)
    assert done.stdout.startswith("2 events and 1 labels taken in"), done
    with opened(load(place)) as database, database.read() as session:
        assert [row[0] for row in session.all("SELECT fields FROM events ORDER BY seq")] == [
            '{"city":"K\u00f8ge"}', '{"city":"\u00c5s"}',
        ]  # fmt: skip
