"""Answers that come before their event, in the wrong order, to questions long gone, or a month later."""

import sqlite3

from tests.patience import wait_until

from askance_live.config import is_postgres

DAY = 86400.0
TIMES = {"events": ("received",), "asks": ("created", "expires", "deadline"), "answers": ("created", "due")}


def let_pass(service, days):
    """As if the service had been stopped for days: everything it wrote down is that much older."""
    if is_postgres(service.store):
        import psycopg

        connection = psycopg.connect(service.store, autocommit=True)
        cast = "(value::double precision - %s)::text"
    else:
        connection = sqlite3.connect(service.store, isolation_level=None)
        cast = "value - ?"
    mark = "%s" if is_postgres(service.store) else "?"
    for table, columns in TIMES.items():
        for column in columns:
            connection.execute(f"UPDATE {table} SET {column} = {column} - {mark}", (days * DAY,))
    connection.execute("DELETE FROM meta WHERE name = 'log_hash'")  # which would tell
    connection.execute("DELETE FROM checkpoints")  # they know the hour; the log gives the same model without them
    connection.execute(f"UPDATE meta SET value = {cast} WHERE name = 'clock'", (days * DAY,))
    connection.close()


def test_a_label_thirty_days_late_is_learned_once_and_scored_against_the_prediction_of_then(make, store):
    service = make(store=store, queue={"time_to_live": 60 * DAY})
    service.send("a", "b", "c", text="win a prize")
    leased = service.next()[0]
    then = {name: service.get(f"/v1/events/{name}").json()["prediction"] for name in "abc"}
    service.stop()
    let_pass(service, 30)
    service.start()
    # the model has moved on meanwhile
    service.send(*(f"new-{k}" for k in range(10)), text="win a prize")
    opposite = "ham" if then["a"]["label"] == "spam" else "spam"
    service.post("/v1/labels", [{"event": f"new-{k}", "label": opposite} for k in range(10)])
    service.wait_until_learned(10)
    # a lease that ended a month ago: the question is still open, so its answer trains
    late = service.answer(leased, opposite, "late").json()
    assert late["outcome"] == "accepted"
    others = [name for name in "abc" if name != leased["event"]["id"]]
    given = service.post("/v1/labels", [{"event": name, "label": opposite} for name in others]).json()
    assert [item["outcome"] for item in given["items"]] == ["accepted"] * 2
    service.wait_until_learned(13)
    for name in "abc":
        found = service.get(f"/v1/events/{name}").json()
        assert found["prediction"] == then[name]
        assert found["answers"][0]["predicted"] == then[name]["label"]
        assert found["answers"][0]["state"] == "learned"
    stats = service.stats()
    assert stats["labels"]["total"] == 13
    assert stats["labels"]["delay_seconds"]["p90"] > 29 * DAY
    # three of then were wrong for certain; those after were predicted by a model that knew nothing yet
    wrong = stats["confusion"]["all"]
    assert wrong[stats["classes"].index(opposite)][stats["classes"].index(then["a"]["label"])] >= 3
    service.stop()
    service.digest()


def test_an_answer_to_a_question_that_expired_is_kept_but_not_learned(make, store):
    service = make(store=store, queue={"time_to_live": 7 * DAY})
    service.send("a")
    ask = service.next()[0]
    service.stop()
    let_pass(service, 30)
    service.start()
    wait_until(lambda: service.stats()["queue"]["expired"] == 1)
    late = service.answer(ask, "ham", "late")
    assert (late.status_code, late.json()["outcome"]) == (200, "extra")
    # late truth is still truth
    assert service.post("/v1/labels", {"event": "a", "label": "spam"}).json()["outcome"] == "accepted"
    service.wait_until_learned(1)
    wait_until(lambda: service.stats()["labels"]["total"] == 1)
    assert service.stats()["labels"]["extra"] == 1
    service.stop()
    service.digest()


def test_a_label_before_its_event_is_told_so_and_taken_afterwards(make, store):
    service = make(store=store)
    early = service.post("/v1/labels", {"event": "a", "label": "ham"})
    assert (early.status_code, early.json()["code"]) == (404, "unknown_event")
    unknown = service.post("/v1/asks/7/answer", {"answer_id": "x", "token": "7.1", "label": "ham"})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_ask")
    service.send("a")
    assert service.post("/v1/labels", {"event": "a", "label": "ham"}).json()["outcome"] == "accepted"
    outside = service.post("/v1/labels", {"event": "a", "label": "egg"})
    assert (outside.status_code, outside.json()["code"]) == (422, "unknown_label")
    service.wait_until_learned(1)
    assert service.stats()["labels"]["total"] == 1


def test_answers_in_the_reverse_order_give_a_model_that_is_a_function_of_the_log(make, store):
    service = make(store=store)
    service.send(*(f"e{k}" for k in range(30)))
    for k in reversed(range(30)):
        service.post("/v1/labels", {"event": f"e{k}", "label": "spam" if k % 3 else "ham"})
    service.wait_until_learned(30)
    stats = service.stats()
    assert sum(map(sum, stats["confusion"]["all"])) == 30
    assert stats["labels"]["per_class"] == {"ham": 10, "spam": 20}
    service.stop()
    service.digest()
