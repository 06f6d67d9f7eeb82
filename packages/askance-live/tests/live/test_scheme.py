"""Classes and kinds of fields that change: the model is that of the last ones and of the whole log, bit for bit."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
from tests.live.in_process import create_store, label, opened, running_engine
from tests.live.kept_logs import fields
from tests.live.scripted import StandingClock
from tests.patience import PATIENCE

from askance_live.config import AskingSettings, ModelSettings
from askance_live.doctor import examine_store
from askance_live.engine import label_schema_changes
from askance_live.engine.checkpoints import checkpoints
from askance_live.engine.label_schema import Label, LabelSchema
from askance_live.engine.label_schema_changes import LabelSchemaChange, apply_change
from askance_live.engine.learner import Answer, Incoming, Learner
from askance_live.engine.rebuild import change_label_schema, compare
from askance_live.engine.stored_settings import read_settings
from askance_live.exchange.received import read_event
from askance_live.problems import Problem, StartError

MULTI = {"auto": {}, "plain": {"algorithm": "PAA-I", "seed": 7}}
TWO = LabelSchema((Label("ham"), Label("spam")), {"size": "number"})


class Life:
    """A stream whose labels are drawn at random, on a clock that stands still."""

    def __init__(self, folder, model, **options):
        self.rng, self.clock, self.count = random.Random(3), StandingClock(), 0
        self.config = create_store(folder, asking={"rate": 0.5}, model=model, **options)

    def go_on(self, engine, events, labels):
        """So many events, asked ones labeled; what was said of each."""
        said = []
        for _ in range(events):
            self.clock.time += 400.0
            self.count += 1
            event = read_event({"id": f"e{self.count}", "fields": fields(self.rng)}, 10_000)
            said += engine.ingest([event]).result(PATIENCE)
            if said[-1]["asked"]:
                label(engine, said[-1]["id"], engine.state.place_of[self.rng.choice(labels)])
        engine.submit(lambda session, state: None).result(PATIENCE)
        return said

    def check(self, digest):
        """Its checkpoint and its log give this model, and nothing is wrong with the store."""
        with opened(self.config) as database:
            assert examine_store(database, self.config, deep=True) == []
            with database.read() as session:
                assert compare(session, self.config)["digest"] == digest
                assert checkpoints(session)


def test_a_label_keeps_its_place_and_its_name_in_programs():
    more = apply_change(TWO, LabelSchemaChange(add=("aaa",)))
    assert [known.label for known in more.labels] == ["ham", "spam", "aaa"]
    fewer = apply_change(more, LabelSchemaChange(retire=("ham",), rename={"spam": "Unwanted"}))
    assert (fewer.classes, fewer.retired, fewer.names) == (["spam", "aaa"], ["ham"], {"spam": "Unwanted"})
    assert fewer.in_order(["spam", "ham"]) == ["spam", "aaa"]
    back = apply_change(fewer, LabelSchemaChange(restore=("ham",), rename={"spam": "spam"}))
    assert [known.label for known in back.labels] == ["ham", "spam", "aaa"]
    assert back.makes_same_model(more)
    assert LabelSchema.from_document(back.document(), 0) == back
    settings = fewer.settings_of(ModelSettings(["ham", "spam"], {}))
    assert (settings.classes, settings.places, settings.added) == (["aaa", "spam"], ["ham", "spam", "aaa"], ["aaa"])


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (LabelSchemaChange(add=("ham",)), "already"),
        (LabelSchemaChange(add=(" ",)), "printable"),
        (LabelSchemaChange(add=("x" * 201,)), "printable"),
        (LabelSchemaChange(add=("eggs", "eggs")), "twice"),
        (LabelSchemaChange(retire=("ham",)), "two classes must stay"),
        (LabelSchemaChange(retire=("eggs",)), "there is no class"),
        (LabelSchemaChange(restore=("ham",)), "not retired"),
        (LabelSchemaChange(rename={"ham": "spam"}), "shown as 'spam'"),
        (LabelSchemaChange(rename={"eggs": "x"}), "there is no class"),
        (LabelSchemaChange(rename={"ham": "\n"}), "printable"),
        (LabelSchemaChange(fields={"size": "shape"}), "must be one of number"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(change, word):
    with pytest.raises(Problem, match=word):
        apply_change(TWO, change)


@pytest.mark.parametrize("model", MULTI.values(), ids=MULTI)
def test_after_every_change_the_log_gives_the_same_model(model, tmp_path):
    life = Life(tmp_path, model, server={"checkpoint_every": 30})
    with running_engine(life.config, life.clock) as engine:
        before = life.go_on(engine, 40, ["ham", "spam"])
        version = engine.state.learner.version
        effects = change_label_schema(engine, LabelSchemaChange(add=("eggs",)), "test")
        assert effects.rebuilds
        assert "begins with 0 answers of it, 40 events keep the prediction they got" in effects.in_words()
        assert "as one of 3 classes instead of two" in effects.in_words()
        assert engine.state.learner.version >= version
        digest = engine.state.learner.digest()
    life.check(digest)
    with running_engine(life.config, life.clock) as engine:
        assert engine.state.learner.digest() == digest
        after = life.go_on(engine, 40, ["ham", "spam", "eggs"])
        assert {len(said["probabilities"]) for said in before} == {2}
        assert {len(said["probabilities"]) for said in after} == {3}
        assert "eggs" in {said["label"] for said in after}
        digest = engine.state.learner.digest()
        effects = change_label_schema(engine, LabelSchemaChange(rename={"spam": "Unwanted"}), "test")
        assert not effects.rebuilds
        assert engine.state.learner.digest() == digest
    life.check(digest)
    with running_engine(life.config, life.clock) as engine:
        change_label_schema(
            engine, LabelSchemaChange(retire=("ham",), fields={"kind": "ignore", "size": "text"}), "test"
        )
        kinds = engine.state.learner.features.kinds
        assert (kinds["kind"], kinds["size"]) == ("ignore", "text")
        last = life.go_on(engine, 30, ["spam", "eggs"])
        assert {said["label"] for said in last} <= {"spam", "eggs"}
        assert {said["probabilities"]["ham"] for said in last} == {0.0}
        assert all(abs(sum(said["probabilities"].values()) - 1.0) < 1e-5 for said in last)
        digest = engine.state.learner.digest()
    life.check(digest)
    with running_engine(life.config, life.clock) as engine:
        assert engine.state.learner.digest() == digest
        change_label_schema(engine, LabelSchemaChange(restore=("ham",)), "test")
        life.go_on(engine, 10, ["ham", "spam", "eggs"])
        digest = engine.state.learner.digest()
    life.check(digest)


def test_the_weights_are_those_of_a_model_that_had_the_classes_from_the_beginning(tmp_path):
    """The oracle: a learner of three classes that knows nothing of changes, fed with the rows of the log."""
    life = Life(tmp_path, MULTI["plain"])
    with running_engine(life.config, life.clock) as engine:
        life.go_on(engine, 40, ["ham", "spam"])
        change_label_schema(engine, LabelSchemaChange(add=("eggs",)), "test")
        life.go_on(engine, 30, ["ham", "spam", "eggs"])
        weights = engine.state.learner.clf.coef_.copy()
        settings = engine.state.config.model
    oracle = Learner(replace(settings, labels=[], added=[], since=0), AskingSettings(rate=0.5))
    places = ["ham", "spam", "eggs"]
    with opened(life.config) as database, database.read() as session:
        events = {row[0]: row for row in session.all("SELECT seq, fields, received, asked FROM events")}
        answers = {row[0]: row for row in session.all("SELECT seq, event, label, weight FROM learned")}
        for seq in sorted(events | answers):
            if seq in events:
                _, text, received, asked = events[seq]
                oracle.decide([Incoming(json.loads(text), received, was_asked=asked > 0)], seq - 1)
            else:
                _, event, place, weight = answers[seq]
                own = oracle.classes.index(places[place])
                given = json.loads(events[event][1])
                scores = [0.0] * 3  # which move the calibration alone
                oracle.learn(Answer(event, given, own, own, scores, weight, False, events[event][2]))
    np.testing.assert_array_equal(oracle.clf.coef_, weights)


def test_what_was_said_is_judged_as_it_was_said(tmp_path):
    life = Life(tmp_path, MULTI["plain"])
    with running_engine(life.config, life.clock) as engine:
        life.go_on(engine, 60, ["ham", "spam"])
        tracker = engine.state.learner.tracker
        before = tracker.monitor.overall.accuracy, tracker.labels
        change_label_schema(engine, LabelSchemaChange(add=("eggs",), fields={"text": "ignore"}), "test")
        tracker = engine.state.learner.tracker
        assert (tracker.monitor.overall.accuracy, tracker.labels) == before
        assert not engine.state.learner.exploring.is_cold  # nobody waits for the first of a class that came later


def test_a_change_that_the_algorithm_cannot_bear_is_refused_and_changes_nothing(tmp_path):
    life = Life(tmp_path, {"algorithm": "SOAL-diag"})
    with running_engine(life.config, life.clock) as engine:
        life.go_on(engine, 10, ["ham", "spam"])
        digest = engine.state.learner.digest()
        with pytest.raises(Problem, match="two classes"):
            change_label_schema(engine, LabelSchemaChange(add=("eggs",)), "test")
        assert engine.state.learner.digest() == digest
        assert engine.state.label_schema.seq == 0


def test_edited_settings_are_told_before_anything_is_compiled(tmp_path, monkeypatch):
    life = Life(tmp_path, MULTI["plain"])
    with running_engine(life.config, life.clock) as engine:
        life.go_on(engine, 10, ["ham", "spam"])
    monkeypatch.setattr(label_schema_changes, "replay", None)
    edited = replace(life.config, classes=["eggs", "ham", "spam"])
    edited = replace(edited, model=replace(edited.model, classes=["eggs", "ham", "spam"]))
    with opened(edited) as database, database.read() as session, pytest.raises(StartError) as caught:
        read_settings(session, edited)
    assert "adds the class 'eggs'" in str(caught.value)
    assert "as one of 3 classes instead of two from the log; nothing is lost. Let 'askance rebuild'" in str(
        caught.value
    )


def test_of_two_changes_at_the_same_time_the_second_is_refused(tmp_path):
    life = Life(tmp_path, MULTI["plain"])
    with running_engine(life.config, life.clock) as engine:
        change_label_schema(engine, LabelSchemaChange(add=("eggs",)), "test", expected=0)
        with pytest.raises(Problem, match="meanwhile"):
            change_label_schema(engine, LabelSchemaChange(retire=("eggs",)), "test", expected=0)


def test_values_that_a_kind_cannot_take_are_counted_before(tmp_path):
    life = Life(tmp_path, MULTI["plain"])
    with running_engine(life.config, life.clock) as engine:
        life.go_on(engine, 30, ["ham", "spam"])
        words = change_label_schema(engine, LabelSchemaChange(fields={"kind": "number"}), "test").in_words()
        assert "have none that is a number, which counts as missing" in words
        digest = engine.state.learner.digest()
    life.check(digest)
