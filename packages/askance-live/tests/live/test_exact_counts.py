"""The numbers of /v1/stats are counted as things happen: they must be those of a recount, whatever happened."""

import random
import sqlite3
from collections import Counter

from tests.live.running import to_half_past

from askance_live.config import is_postgres
from askance_live.dashboard.counts import DAY, HOUR, PeriodCounts
from askance_live.dashboard.stored_counts import count_anew, read_counts
from askance_live.store import open_store

PEOPLE = {"ana": "label read", "ben": "label", "root": "admin"}


def rows(place, sql):
    """Without our code around the store."""
    if is_postgres(place):
        import psycopg

        with psycopg.connect(place) as connection:
            return connection.execute(sql).fetchall()
    connection = sqlite3.connect(place)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def counted_by_hand(place):
    """What /v1/stats should say, from the rows alone."""
    answers = rows(place, "SELECT kind, annotator, label, reason, state, event FROM answers")
    events = {
        row[0]: row[1:]
        for row in rows(place, "SELECT e.seq, e.predicted, q.why FROM events e LEFT JOIN asks q ON q.event = e.seq")
    }
    valid = [row for row in answers if row[4] in ("waiting", "learned") and row[2] is not None]
    confusion = [[0, 0], [0, 0]]
    for *_, label, _, _, event in valid:
        confusion[label][events[event][0]] += 1
    kept = [row for row in answers if row[4] != "undone"]
    labels = Counter(row[1] for row in kept if row[0] != "skip")
    skips = Counter(row[1] for row in kept if row[0] == "skip")
    asks = Counter(row[0] for row in rows(place, "SELECT state FROM asks"))
    why = Counter(events[row[5]][1] for row in valid)
    return {
        "events": len(events),
        "queue": [asks[name] for name in ("open", "leased", "parked", "expired", "answered", "closed")],
        "labels": [len(valid), why["audit"], why["cold_start"]],
        "per_class": [sum(row[2] == place for row in valid) for place in (0, 1)],
        "extra": sum(row[4] == "extra" for row in answers),
        "skipped": [sum((row[4], row[3]) == ("skipped", why) for row in answers) for why in SKIPS],
        "confusion": confusion,
        "right": [sum(map(sum, confusion)), confusion[0][0] + confusion[1][1]],
        "people": {name: (labels[name], labels[name], skips[name]) for name in labels.keys() | skips.keys()},
        "asked": sum(asks.values()),
    }


SKIPS = ("unsure", "bad_data", "later")


def said(stats):
    """The same from /v1/stats."""
    return {
        "events": stats["events"]["total"],
        "queue": [stats["queue"][name] for name in ("open", "leased", "parked", "expired", "answered", "closed")],
        "labels": [stats["labels"][name] for name in ("total", "audit", "cold_start")],
        "per_class": [stats["labels"]["per_class"][name] for name in ("ham", "spam")],
        "extra": stats["labels"]["extra"],
        "skipped": [stats["labels"]["skipped"][name] for name in SKIPS],
        "confusion": stats["confusion"]["all"],
        "right": [stats["accuracy"]["answered"][name] for name in ("n", "right")],
        "people": {row["name"]: (row["labels"], row["last_hour"], row["skips"]) for row in stats["people"]},
        "asked": stats["budget"]["day"]["spent"],
    }


def exact(service):
    """Whether the numbers are those of a recount; how many labels there are."""
    service.wait_until_idle()
    found = said(service.stats())
    assert found == counted_by_hand(service.store)
    assert found["asked"] == service.stats()["budget"]["hour"]["spent"]
    return found


def test_whatever_happened_the_numbers_are_those_of_a_recount(make, store):
    service = make(store=store, queue={"park_after": 2, "most_open": 12}, clock=to_half_past())
    people = {name: service.as_user(secret) for name, secret in service.tokens(**PEOPLE).items()}
    root = people["root"]
    service.client.headers["authorization"] = service.headers["authorization"] = root.headers["authorization"]
    assert said(service.stats())["labels"] == [0, 0, 0]

    def take(name, n=1):
        return people[name].post(f"/v1/asks/next?n={n}").json()["asks"]

    def give(name, ask, label, identifier, **more):
        body = {"answer_id": identifier, "token": ask["token"], "label": label, **more}
        return people[name].post(f"/v1/asks/{ask['id']}/answer", json=body).json()

    service.send(*(f"a{k}" for k in range(40)))
    first = take("ana", 6)
    for k, ask in enumerate(first):
        give("ana", ask, ("ham", "spam")[k % 2], f"ana-{k}", ms=500)
    exact(service)
    service.send(*(f"b{k}" for k in range(60)))  # now the model knows something
    assert give("ana", first[0], "spam", "ana-again", supersedes="ana-0")["outcome"] == "accepted"
    assert give("ben", first[1], "spam", "ben-late")["outcome"] == "extra"
    undone = people["ana"].post("/v1/answers/ana-5/undo").json()
    assert undone["outcome"] == "correction"
    exact(service)
    for ask, why in zip(take("ben", 3), SKIPS, strict=True):
        body = {"answer_id": f"ben-{why}", "token": ask["token"], "reason": why}
        assert people["ben"].post(f"/v1/asks/{ask['id']}/skip", json=body).status_code == 200
    people["ben"].post("/v1/answers/ben-unsure/undo")
    people["ben"].post("/v1/answers/ben-bad_data/undo")
    for ask in take("ana", 5):
        give("ana", ask, "ham", f"ana-more-{ask['id']}")
    root.post("/v1/labels", json=[{"event": f"b{k}", "label": "ham"} for k in range(20)])
    root.post("/v1/labels", json=[{"event": "b1", "label": "spam", "replace": True}, {"event": "a39", "label": "spam"}])
    before = exact(service)
    assert before["labels"][0] > 25
    assert all(before[name] for name in ("extra", "people"))
    assert before["queue"][3] > 0  # some had to go: 12 are open at most
    service.kill()
    service.start()
    assert exact(service) == {**before, "queue": exact(service)["queue"]}
    root = service.as_user(root.headers["authorization"].split()[1])
    assert root.post("/v1/model/rebuild").status_code == 200
    exact(service)
    service.stop()
    database = open_store(store)
    with database.write() as session:
        assert read_counts(session) == count_anew(session)
        session.execute("UPDATE tallies SET n = n + 1 WHERE kind = 'label'")
    database.close()
    assert "differ from the rows" in service.run("doctor", check=False).stdout
    service.run("rebuild")
    assert service.run("doctor").stdout == "All is well.\n"
    exact(service.start())


def test_the_hour_and_the_day_under_way_are_sums_of_their_minutes():
    lately, minutes, rng = PeriodCounts(), Counter(), random.Random(3)
    minute = 29_000_000
    for _ in range(500):
        minute += rng.choice((0, 0, 1, 7, 100, 1500))
        number = rng.randrange(-2, 20)  # what is taken back is counted off
        lately.count(minute, "asks", number)
        minutes[minute] += number
        for now in (60.0 * minute, 60.0 * minute + 59.9, 60.0 * minute + 4000.0):
            for length in (HOUR, DAY):
                wanted = sum(n for place, n in minutes.items() if place * 60 // length == int(now // length))
                assert lately.number("asks", length, now) == wanted
    assert lately.number("events", DAY, 60.0 * minute) == 0
