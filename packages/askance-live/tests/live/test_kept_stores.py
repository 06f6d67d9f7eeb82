"""A store of every release predicts as the service that left it, from its checkpoint and from its log alone."""

import json
import lzma

import pytest
from tests.live.in_process import opened, running_engine
from tests.live.kept_stores import MODELS, STORES, probes, settings

from askance_live.config import load
from askance_live.engine.checkpoints import remove_checkpoints

KEPT = sorted(path.name.removesuffix(".json") for path in STORES.glob("*.json"))


def test_there_are_stores_of_every_release():
    assert {f"{version}-{name}" for version in ("0.1", "0.2.0") for name in MODELS} == set(KEPT)


@pytest.mark.parametrize("kept", KEPT)
def test_a_store_of_an_earlier_release_predicts_as_it_did_there(kept, tmp_path):
    name = kept.split("-", 1)[1]
    (tmp_path / "askance.toml").write_text(settings(name))
    (tmp_path / "askance.db").write_bytes(lzma.decompress((STORES / f"{kept}.db.xz").read_bytes()))
    config = load(tmp_path / "askance.toml")
    expected = json.loads((STORES / f"{kept}.json").read_text())

    def said():
        with running_engine(config) as engine:
            learner = engine.state.learner
            found = [learner.predict(probe)[1] for probe in probes(MODELS[name][2])]
        return [dict(zip(config.classes, (round(chance, 6) for chance in of), strict=True)) for of in found]

    assert said() == expected
    with opened(config) as database, database.write() as session:
        remove_checkpoints(session)
    assert said() == expected  # of its log, as after a kill
