"""The queue over HTTP: leases, fencing tokens, skips, undo, and twenty people at once."""

import threading
import time
from collections import Counter

import httpx
import pytest
from tests.live.running import to_half_past
from tests.patience import PATIENCE, wait_until


@pytest.fixture
def team(make, store):
    """A service with two annotators and a mailer."""
    service = make(store=store, queue={"learn_after": 0.0, "later": 0.5, "lease": 600})
    people = dict.fromkeys(("ana", "ben", "cleo", "dan"), "label read")
    secrets = service.tokens(**people, root="admin")
    people = {name: service.as_user(secret) for name, secret in secrets.items()}
    service.log_in(secrets["root"])
    yield service, people
    for client in people.values():
        client.close()


def take(person, n=1):
    response = person.post(f"/v1/asks/next?n={n}")
    return response.json()["asks"] if response.status_code == 200 else []


def answer(person, ask, label, name=None, **more):
    body = {"answer_id": name or f"{ask['id']}-{time.monotonic_ns()}", "token": ask["token"], "label": label, **more}
    return person.post(f"/v1/asks/{ask['id']}/answer", json=body)


def skip(person, ask, reason):
    return person.post(f"/v1/asks/{ask['id']}/skip", json={"token": ask["token"], "reason": reason}).json()


def test_the_life_of_a_question(team):
    service, people = team
    ana, ben, cleo, dan = (people[name] for name in ("ana", "ben", "cleo", "dan"))

    nothing = ana.post("/v1/asks/next")
    assert nothing.status_code == 204
    assert nothing.headers["x-askance-reason"] == "waiting_for_events"

    service.post("/v1/model/pause")  # answers wait
    service.send("a")
    ask = take(ana)[0]
    assert ask["event"]["id"] == "a"
    assert ask["why"]["code"] == "cold_start"
    assert ask["suggestion"] is None  # random samples are blind
    # a reload returns the same item; another annotator gets nothing, and is told why
    assert take(ana)[0]["token"] == ask["token"]
    assert ben.post("/v1/asks/next").headers["x-askance-reason"] == "all_leased"

    # the lease can be renewed by its holder only, and released
    renewed = ana.post(f"/v1/asks/{ask['id']}/renew", json={"token": ask["token"]})
    assert renewed.json()["seconds_left"] == 600
    assert ben.post(f"/v1/asks/{ask['id']}/renew", json={"token": ask["token"]}).json()["code"] == "stale_token"
    assert ana.post(f"/v1/asks/{ask['id']}/release", json={"token": ask["token"]}).json()["outcome"] == "released"

    # now ben has it, and gives it back too: ana's answer with her old token still trains, and ben's comes second
    bens = take(ben)[0]
    assert bens["token"] != ask["token"]
    ben.post(f"/v1/asks/{ask['id']}/release", json={"token": bens["token"]})
    first = answer(ana, ask, "spam", "ana-1").json()
    assert (first["outcome"], first["stale_token"]) == ("accepted", True)
    second = answer(ben, bens, "ham", "ben-1").json()
    assert second["outcome"] == "extra"
    # the same answer_id gives the same response for ever, another body a conflict
    assert answer(ana, ask, "spam", "ana-1").json() == first
    assert answer(ana, ask, "ham", "ana-1").json()["code"] == "answer_id_reused"
    # the same person, the same ask, another label: only with supersedes
    refused = answer(ana, ask, "ham", "ana-2")
    assert (refused.status_code, refused.json()["code"]) == (409, "already_answered")
    assert answer(ana, ask, "ham", "ana-2", supersedes="ana-1").json()["outcome"] == "accepted"
    assert answer(ana, ask, "egg", "ana-3").json()["code"] == "unknown_label"
    service.post("/v1/model/resume")
    service.wait_until_idle()
    states = [item["state"] for item in service.get("/v1/events/a").json()["answers"]]
    assert states == ["superseded", "extra", "learned"]

    # skipping: unsure goes to others and is parked after three, later comes back, bad data is closed
    service.send("b")
    mine = take(ana)[0]
    assert skip(ana, mine, "unsure")["outcome"] == "returned"
    assert ana.post("/v1/asks/next").headers["x-askance-reason"] == "all_skipped"
    assert skip(ben, take(ben)[0], "later")["outcome"] == "later"
    (back,) = wait_until(lambda: take(ben), "what was put off")
    assert back["id"] == mine["id"]
    assert skip(ben, back, "unsure")["outcome"] == "returned"
    parked = skip(cleo, take(cleo)[0], "unsure")
    assert parked["outcome"] == "parked"
    assert dan.post("/v1/asks/next").status_code == 204
    undone = cleo.post(f"/v1/answers/{parked['answer_id']}/undo").json()
    assert undone["ask"]["id"] == mine["id"]  # it is cleo's again
    assert skip(cleo, undone["ask"], "bad_data")["outcome"] == "closed"

    # undo: before the model has learned it, it never reaches the model; later it is a correction
    service.post("/v1/model/pause")
    service.send("c", "d")
    left = take(dan, 2)
    answer(dan, left[0], "spam", "dan-1")
    withdrawn = dan.post("/v1/answers/dan-1/undo").json()
    assert withdrawn["outcome"] == "withdrawn"
    assert withdrawn["ask"]["id"] == left[0]["id"]
    assert dan.post("/v1/answers/dan-1/undo").json()["outcome"] == "already_undone"
    assert ana.post("/v1/answers/dan-1/undo").status_code == 403  # not hers
    answer(dan, withdrawn["ask"], "ham", "dan-2")
    service.post("/v1/model/resume")
    service.wait_until_learned(2)
    assert dan.post("/v1/answers/dan-2/undo").json()["outcome"] == "correction"
    service.wait_until_idle()
    learned = service.stats()["model"]
    assert (learned["learned"], learned["corrections"]) == (2, 1)
    history = dan.get("/v1/answers?mine=1&limit=1").json()
    assert [item["answer_id"] for item in history["answers"]] == ["dan-2"]
    older = dan.get(f"/v1/answers?cursor={history['next']}").json()
    assert [item["answer_id"] for item in older["answers"]] == ["dan-1"]

    # a rebuild leaves out what was taken back
    rebuilt = service.post("/v1/model/rebuild").json()
    assert rebuilt["left_out"] == 1
    service.stop()
    assert service.digest() == rebuilt["digest"]


def test_unknown_asks_have_a_defined_outcome(make):
    service = make()
    missing = service.post("/v1/asks/99/answer", {"answer_id": "x", "token": "99.1", "label": "ham"})
    assert (missing.status_code, missing.json()["code"]) == (404, "unknown_ask")
    assert service.stats()["model"]["learned"] == 0


def test_a_lease_that_ended_gives_its_question_to_others(make):
    service = make(queue={"lease": 1.0})
    service.send("a")
    ana, ben = (service.as_user(secret) for secret in service.tokens(ana="label", ben="label").values())
    with ana, ben:
        (first,) = take(ana)
        (second,) = wait_until(lambda: take(ben), "the end of a lease")
    assert (second["id"], second["token"] != first["token"]) == (first["id"], True)


def test_a_lease_outlives_a_crash(make):
    service = make()
    service.send("a")
    first = service.next()[0]
    service.kill()
    service.start()
    assert service.next()[0]["token"] == first["token"]


def test_questions_beyond_the_most_are_expired_least_valuable_first(make):
    service = make(
        asking={"rate": 1.0}, queue={"most_open": 5}, model={"algorithm": "SOL-diag"}
    )  # asks about everything
    service.send("a", "b")
    for ask, label in zip(service.next(2), ("ham", "spam"), strict=True):
        service.answer(ask, label)
    service.wait_until_learned(2)
    service.send(*(f"e{k}" for k in range(20)))
    queue = service.stats()["queue"]
    assert (queue["open"], queue["expired"]) == (5, 15)


def test_a_budget_is_kept_and_the_empty_queue_says_so(make):
    service = make(asking={"per_hour": 3}, clock=to_half_past())
    items = service.send(*(f"e{k}" for k in range(200)))
    assert sum(item["asked"] for item in items) == 3
    assert [item["ask_probability"] for item in items[-5:]] == [0.0] * 5
    for ask in service.next(3):
        service.answer(ask, "ham")
    empty = service.post("/v1/asks/next")
    assert empty.headers["x-askance-reason"] == "budget_spent"
    assert "until" in empty.headers["x-askance-detail"]
    assert service.stats()["budget"]["hour"] == {"spent": 3, "limit": 3}


def label_all(url, name, secret, leased, errors):
    with httpx.Client(base_url=url, headers={"authorization": f"Bearer {secret}"}, timeout=PATIENCE) as client:
        while True:
            response = client.post("/v1/asks/next?n=3")
            if response.status_code == 204:
                return
            for ask in response.json()["asks"]:
                leased.append((ask["id"], ask["token"], name))
                done = answer(client, ask, "spam" if ask["id"] % 2 else "ham", f"{name}-{ask['id']}")
                if done.status_code != 200 or done.json()["outcome"] != "accepted" or done.json()["stale_token"]:
                    errors.append(done.text)


@pytest.mark.parametrize("questions", [200, pytest.param(1000, marks=pytest.mark.prove)])
def test_twenty_annotators_at_once_are_given_no_question_twice(make, store, questions):
    service = make(
        store=store, asking={"rate": 1.0}, model={"algorithm": "SOL-diag"}, server={"requests_per_second": 0.0}
    )
    service.send("a", "b")
    for ask, label in zip(service.next(2), ("ham", "spam"), strict=True):
        service.answer(ask, label)
    service.wait_until_learned(2)
    for first in range(0, questions, 200):
        service.send(*(f"e{k}" for k in range(first, first + 200)))
    assert service.stats()["queue"]["open"] == questions
    secrets = service.tokens(**{f"p{k}": "label read" for k in range(20)}, root="admin")
    root = secrets.pop("root")
    leased, errors = [], []
    threads = [
        threading.Thread(target=label_all, args=(service.url, name, secret, leased, errors))
        for name, secret in secrets.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    counts = Counter(ask for ask, _, _ in leased)
    assert len(counts) == questions
    assert set(counts.values()) == {1}
    service.log_in(root)
    service.wait_until_learned(questions + 2)
    stats = service.stats()
    assert stats["queue"]["answered"] == questions + 2
    assert stats["labels"]["total"] == questions + 2
