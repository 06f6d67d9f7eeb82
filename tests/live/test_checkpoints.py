"""Checkpoints that the next start can use, whatever became of the settings; and those that it cannot."""

import re

from askance.live.store import open_store


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
