"""A store keeps the parameters of ``auto`` that it began with, until settings of its model are edited."""

import json
from dataclasses import replace

import pytest
from tests.live.in_process import create_store, label, opened, running_engine, send
from tests.live.kept_logs import KEPT
from tests.live.test_migrations import Raw

import askance
from askance_live.config import AskingSettings, ModelSettings, load
from askance_live.engine.label_schema_changes import LabelSchemaChange
from askance_live.engine.label_sets import label_set_classifier
from askance_live.engine.learner import classifier
from askance_live.engine.preset_versions import NEWEST_PRESET_VERSION, PRESET_VERSIONS
from askance_live.engine.rebuild import change_label_schema, rebuild, rebuild_offline
from askance_live.engine.stored_settings import stored_model
from askance_live.problems import StartError

FIRST = {
    "power": 2.0,
    "audit_growth": 20.0,
    "front_load": False,
    "budget_front_load": False,
    "novelty": False,
    "centred": 512,
}
NOW = {
    "power": 3.0,
    "audit_growth": 30.0,
    "front_load": True,
    "budget_front_load": True,
    "novelty": True,
    "centred": 800,
}


def asking_of(clf):
    """What editions differ in."""
    update = getattr(clf.update, "update", clf.update)  # of label sets: that of each label
    return {
        "power": clf.query.power, "audit_growth": update.audit_growth, "front_load": update.front_load,
        "budget_front_load": clf.budget.front_load, "novelty": update.novelty, "centred": update.centred,
    }  # fmt: skip


@pytest.fixture
def old(tmp_path):
    """A store that 0.2.0 has left."""
    return kept_store(tmp_path, "0.2.0-auto")


def kept_store(tmp_path, name):
    """The settings of a kept store, which is there again."""
    kept = json.loads((KEPT / f"{name}.json").read_text())
    settings = tmp_path / "askance.toml"
    settings.write_text(kept["settings"].replace("FOLDER", str(tmp_path)))
    config = load(settings)
    Raw(config.store).fill(kept["schema"], kept["tables"])
    return config


def edition_of(config):
    """The number that a store keeps."""
    with opened(config) as database, database.read() as session:
        return stored_model(session).edition


@pytest.mark.parametrize("make", [classifier, label_set_classifier])
def test_an_edition_is_what_its_release_made(make):
    asking = AskingSettings(rate=0.02)
    for number, expected in ((0, FIRST), (NEWEST_PRESET_VERSION, NOW)):
        assert asking_of(make(ModelSettings(["ham", "spam"], edition=number), asking)) == expected
    assert asking_of(askance.make("auto", budget=0.02)) == NOW
    assert not any(PRESET_VERSIONS[NEWEST_PRESET_VERSION])


def test_a_new_store_has_the_edition_of_now_and_other_algorithms_have_none(tmp_path):
    for name, model, edition in (
        ("auto", {}, NEWEST_PRESET_VERSION), ("probit", {"algorithm": "boal_entropy"}, NEWEST_PRESET_VERSION),
        ("plain", {"algorithm": "PAA-I"}, 0),
    ):  # fmt: skip
        (tmp_path / name).mkdir()
        config = create_store(tmp_path / name, model=model)
        with running_engine(config) as engine:
            send(engine, "a")
        assert edition_of(config) == edition


def test_an_old_store_keeps_its_edition_through_rebuilds_restarts_and_changes_of_classes(old):
    with running_engine(old) as engine:
        assert asking_of(engine.state.learner.clf) == FIRST
        rebuild(engine, "test")
        change_label_schema(engine, LabelSchemaChange(add=("eggs",)), "test")
        assert asking_of(engine.state.learner.clf) == FIRST
        send(engine, "a", "b")
        label(engine, "a", 1)
    assert edition_of(old) == 0
    with opened(old) as database:
        assert rebuild_offline(database, old, check=True)["same"]
        rebuild_offline(database, old)
        assert rebuild_offline(database, old, check=True)["same"]
    with running_engine(old) as engine:
        assert asking_of(engine.state.learner.clf) == FIRST
    assert edition_of(old) == 0


def test_a_rebuild_that_takes_up_edited_settings_takes_the_edition_of_now(old):
    edited = replace(old, model=replace(old.model, seed=3))
    with opened(edited) as database:
        with pytest.raises(StartError, match=r"the settings of the model changed \(model.seed\)"):
            rebuild_offline(database, edited, check=True)
        rebuild_offline(database, edited)
    assert edition_of(edited) == NEWEST_PRESET_VERSION
    with running_engine(edited) as engine:
        assert asking_of(engine.state.learner.clf) == NOW


@pytest.mark.parametrize("make", [classifier, label_set_classifier])
@pytest.mark.parametrize("parameters", [{"decay": 0.9}, {"decay": 0.9, "kernel": "rbf"}])
def test_an_edition_of_probit_says_up_to_where_variances_grow(make, parameters):
    for number, ratio in ((0, 1.0), (NEWEST_PRESET_VERSION, 1e12)):
        model = ModelSettings(["ham", "spam"], algorithm="UOAL-entropy", parameters=parameters, edition=number)
        clf = make(model, AskingSettings(rate=0.02))
        assert (clf.update.innermost.max_variance_ratio, clf.update.innermost.decay) == (ratio, 0.9)


def test_a_store_of_probit_keeps_its_largest_variance_until_edited_settings_are_taken_up(tmp_path):
    config = kept_store(tmp_path, "0.2.1.dev0-forgetting")
    with running_engine(config) as engine:
        assert engine.state.learner.clf.update.max_variance_ratio == 1.0
        rebuild(engine, "test")
        assert engine.state.learner.clf.update.max_variance_ratio == 1.0
    assert edition_of(config) == 0
    for ratio in (50.0, 1.0):
        model = replace(config.model, parameters={"decay": 0.9, "max_variance_ratio": ratio})
        edited = replace(config, model=model)
        with opened(edited) as database:
            rebuild_offline(database, edited)
        assert edition_of(edited) == NEWEST_PRESET_VERSION
        with running_engine(edited) as engine:
            assert engine.state.learner.clf.update.max_variance_ratio == ratio


def test_a_store_of_a_later_release_is_not_played_with_other_parameters(old):
    later = replace(old, model=replace(old.model, edition=NEWEST_PRESET_VERSION + 1))
    with opened(old) as database, database.write() as session:
        session.execute("UPDATE meta SET value = ? WHERE name = 'model'", (later.model.document(),))
    with pytest.raises(StartError, match="if a later release of askance wrote them, install that"), running_engine(old):
        pass
