"""The log of every release gives the same decisions and the same model, bit for bit, with the present code."""

import json

import pytest
from tests.live.in_process import opened, running_engine
from tests.live.kept_logs import ALGORITHMS, KEPT, PROBES
from tests.live.scripted import StandingClock
from tests.live.test_migrations import Raw

import askance
from askance_live.config import load
from askance_live.doctor import examine_store
from askance_live.engine.checkpoints import fresh_learner
from askance_live.engine.replay import last_seq, replay
from askance_live.engine.stored_settings import read_settings

LOGS = sorted(path.stem for path in KEPT.glob("*.json"))


def test_every_release_has_its_logs():
    assert LOGS
    if ".dev" not in askance.__version__:
        assert {f"{askance.__version__}-{name}" for name in ALGORITHMS} <= set(LOGS), "python -m tests.keep logs"


@pytest.mark.parametrize("name", LOGS)
def test_the_log_of_a_release_is_replayed_bit_for_bit(name, tmp_path):
    kept = json.loads((KEPT / f"{name}.json").read_text())
    settings = tmp_path / "askance.toml"
    settings.write_text(kept["settings"].replace("FOLDER", str(tmp_path)))
    config = load(settings)
    Raw(config.store).fill(kept["schema"], kept["tables"])
    with opened(config) as database, database.read() as session:
        rows = session.all(
            "SELECT seq, predicted, probabilities, scores, asked, probability, audit, audit_probability FROM events "
            "ORDER BY seq"
        )
        own = read_settings(session, config).config
        learner, decided = fresh_learner(session, own), []
        decide = learner.decide
        learner.decide = lambda events, after: decided.extend(decide(events, after))
        replay(session, learner, 0, last_seq(session))
    assert len(rows) == len(decided) == 80
    for (seq, predicted, probabilities, scores, asked, probability, audit, audit_probability), now in zip(
        rows, decided, strict=True
    ):
        if seq <= own.model.since:
            continue  # what was said by a model of other classes
        assert now.predicted == predicted
        assert now.scores == json.loads(scores)
        assert [round(chance, 6) for chance in now.probabilities] == json.loads(probabilities)
        assert (now.asked, now.probability) == (asked > 0, probability)
        assert (now.audit, now.audit_probability) == (bool(audit), audit_probability)
    assert [list(learner.predict(probe)) for probe in PROBES] == kept["said"]
    clock = StandingClock()
    clock.time = max(row[0] for row in Raw(config.store).all("SELECT received FROM events"))
    with running_engine(config, clock) as engine:
        assert [list(engine.state.learner.predict(probe)) for probe in PROBES] == kept["said"]
    with opened(config) as database:
        assert not [sentence for sentence in examine_store(database, config, deep=True) if "chmod" not in sentence]
