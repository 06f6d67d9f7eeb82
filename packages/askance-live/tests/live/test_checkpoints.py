"""Checkpoints that the next start can use, whatever became of the settings; and those that it cannot."""

import base64
import json
import re
from pathlib import Path

from askance_live.config import ModelSettings, load
from askance_live.engine.checkpoints import WORDS_ALIKE, fresh_learner, unpack
from askance_live.engine.learner import Answer, Incoming, Learner
from askance_live.store import open_store

KEPT = Path(__file__).parent / "checkpoints"


def test_a_changed_kind_of_budget_leaves_a_checkpoint_that_the_next_start_uses(make, store):
    service = make(store=store, asking={"rate": 1.0}, model={"algorithm": "SOAL-diag"})
    service.send(*(f"e{number}" for number in range(60)))
    for number in range(10):
        service.post("/v1/labels", {"event": f"e{number}", "label": "spam" if number % 2 else "ham"})
    service.wait_until_learned(10)
    service.stop()
    for budget in ("rate = 0.1", "per_hour = 10", "rate = 1.0"):
        service.config.write_text(re.sub(r"(?m)^(rate|per_hour) = .*$", budget, service.config.read_text()))
        service.start()
        service.restart()
        service.stop()
    service.digest()
    assert "is not used" not in (service.folder / "log.txt").read_text()


def test_a_checkpoint_that_cannot_be_used_is_replaced_at_the_start(make, store):
    service = make(store=store)
    service.send(*(f"e{number}" for number in range(20)))
    service.stop()
    database = open_store(store)
    with database.write() as session:
        assert session.execute("UPDATE checkpoints SET digest = 'damaged'")
    database.close()
    service.start()
    service.kill()
    log = service.folder / "log.txt"
    assert log.read_text().count("is not used") == 1
    service.start()
    service.stop()
    assert log.read_text().count("is not used") == 1
    service.digest()


def fields(number):
    return {"text": f"{'win a prize' if number % 3 == 0 else 'lunch at noon'} {number % 7}", "size": number * 37 % 11}


def test_a_checkpoint_of_an_earlier_version_goes_on_as_it_would_have_there():
    """``checkpoints/format-4.json`` was written by that format's code after 100 events, which then decided on more."""
    kept = json.loads((KEPT / "format-4.json").read_text())
    model = ModelSettings.from_document(kept["model"])
    learner = Learner.load(unpack(base64.b64decode(kept["checkpoint"]), model, 10_000), model)
    assert learner.version == kept["answers"]
    for number, scores in enumerate(kept["scores"], start=100):
        (decided,) = learner.decide([Incoming(fields(number), 1000.0 + 60.0 * number)], number)
        assert decided.scores == scores
        assert decided.predicted == kept["predicted"][number - 100]
        assert decided.asked == kept["asked"][number - 100]
        if decided.asked:
            label, weight = int(number % 3 == 0), 1.0 / decided.probability
            learner.learn(Answer(
                number + 1, fields(number), label, decided.predicted, decided.scores, weight, decided.audit, 0.0,
            ))  # fmt: skip


def test_the_log_of_a_store_from_before_is_played_with_words_as_values(make, store):
    service = make(store=store)
    service.stop()
    for began in ("before", "now"):
        database = open_store(store)
        with database.write() as session:
            if began == "before":
                session.execute("DELETE FROM meta WHERE name = ?", (WORDS_ALIKE,))
                session.execute("DELETE FROM checkpoints")
            learner = fresh_learner(session, load(service.config))
        database.close()
        assert learner.features.reads_words_alike == (began == "now")
        service.start()  # which, of a store without events, makes one of now
        service.stop()
