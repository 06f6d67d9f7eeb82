"""The same person answers twice, as with a laptop and a phone; labels for bad data; leases that were given back."""

import json

from tests.patience import wait_until


def answers_of(service, event="a"):
    return {row["answer_id"]: row["state"] for row in service.get(f"/v1/events/{event}").json()["answers"]}


def exported(service):
    return json.loads(service.get("/v1/export.jsonl").text.splitlines()[0])["label"]


def answered_twice(service):
    """An ask that one person answered from two devices."""
    service.send("a")
    ask = service.next()[0]
    assert service.answer(ask, "spam", "laptop").json()["outcome"] == "accepted"
    assert service.answer(ask, "spam", "phone").json()["outcome"] == "extra"
    return ask


def check(service, learned):
    """What is learned in the end, and that all counts and the model agree with the log."""
    service.wait_until_idle()
    assert exported(service) == learned
    service.stop()
    service.digest()
    assert service.run("doctor").stdout == "All is well.\n"


def test_a_correction_takes_the_place_of_the_answer_that_counts(make, store):
    for number, named in enumerate(("phone", "laptop")):
        service = make(store=store if not number else None)
        ask = answered_twice(service)
        refused = service.answer(ask, "ham", "third")
        assert (refused.status_code, refused.json()["answer_id"]) == (409, "laptop")
        corrected = service.answer(ask, "ham", "third", supersedes=named)
        assert (corrected.status_code, corrected.json()["outcome"]) == (200, "accepted")
        service.wait_until_idle()
        assert answers_of(service) == {"laptop": "superseded", "phone": "superseded", "third": "learned"}
        check(service, "ham")


def test_an_answer_that_came_twice_is_taken_back_as_one(make, store):
    for number, named in enumerate(("phone", "laptop")):
        service = make(store=store if not number else None)
        answered_twice(service)
        service.wait_until_idle()
        undone = service.post(f"/v1/answers/{named}/undo").json()
        assert undone["outcome"] == "correction"
        assert answers_of(service) == {"laptop": "undone", "phone": "undone"}
        assert service.stats()["labels"]["total"] == 0
        # the question is there again, and takes another answer
        assert service.answer(undone["ask"], "ham", "again").json()["outcome"] == "accepted"
        check(service, "ham")


def test_who_was_second_can_answer_once_the_first_took_theirs_back(make):
    service = make()
    service.send("a")
    ana, ben = (service.as_user(secret) for secret in service.tokens(ana="label", ben="label read").values())
    ask = ana.post("/v1/asks/next").json()["asks"][0]

    def answer(person, label, name, token=ask["token"]):
        body = {"answer_id": name, "token": token, "label": label}
        return person.post(f"/v1/asks/{ask['id']}/answer", json=body).json()

    assert answer(ana, "spam", "a-1")["outcome"] == "accepted"
    assert answer(ben, "spam", "b-1")["outcome"] == "extra"
    token = ana.post("/v1/answers/a-1/undo").json()["ask"]["token"]
    ana.post(f"/v1/asks/{ask['id']}/release", json={"token": token})
    mine = ben.post("/v1/asks/next").json()["asks"][0]
    assert answer(ben, "spam", "b-2", mine["token"])["outcome"] == "accepted"


def test_a_label_for_bad_data_is_kept_and_not_learned(make, store):
    service = make(store=store)
    service.send("a")
    ask = service.next()[0]
    skip = {"answer_id": "bad", "token": ask["token"], "reason": "bad_data"}
    assert service.post(f"/v1/asks/{ask['id']}/skip", skip).json()["outcome"] == "closed"
    label = {"event": "a", "label": "spam"}
    first = service.post("/v1/labels", label).json()
    assert (first["outcome"], first["learn_at"], first["duplicate"]) == ("extra", None, False)
    assert service.post("/v1/labels", label).json() == {**first, "duplicate": True}
    # nor does it come back to somebody whose late answer is taken back
    assert service.answer(ask, "ham", "late").json()["outcome"] == "extra"
    assert service.post("/v1/answers/late/undo").json()["ask"] is None
    assert service.get("/v1/events/a").json()["ask"]["state"] == "closed"
    assert exported(service) is None
    # who knows better says so
    replaced = service.post("/v1/labels", {**label, "label_id": "sure", "replace": True}).json()
    assert replaced["outcome"] == "accepted"
    check(service, "spam")


def test_bad_data_that_was_taken_back_is_labeled_like_any_event(make):
    service = make()
    service.send("a")
    ask = service.next()[0]
    skip = {"answer_id": "bad", "token": ask["token"], "reason": "bad_data"}
    service.post(f"/v1/asks/{ask['id']}/skip", skip)
    assert service.post("/v1/answers/bad/undo").json()["ask"]["id"] == ask["id"]
    assert service.post("/v1/labels", {"event": "a", "label": "spam"}).json()["outcome"] == "accepted"
    check(service, "spam")


def test_the_same_label_id_gives_the_same_response_for_ever(make):
    service = make()
    service.send("a")
    label = {"event": "a", "label": "ham", "label_id": "one"}
    first = service.post("/v1/labels", label).json()
    assert service.post("/v1/answers/one/undo").status_code == 200
    again = service.post("/v1/labels", label)
    assert (again.status_code, again.json()) == (200, {**first, "duplicate": True})
    assert answers_of(service) == {"one": "undone"}
    other = service.post("/v1/labels", {**label, "label": "spam"})
    assert (other.status_code, other.json()["code"]) == (409, "answer_id_reused")


def test_an_id_that_somebody_else_has_used_is_used(make):
    """What one source says is never told as what another one said, though both say the same."""
    service = make()
    service.send("a", "b")
    secrets = service.tokens(ana="label read", ben="label read")
    ana, ben = (service.as_user(secret) for secret in secrets.values())
    label = {"event": "a", "label": "ham", "label_id": "one"}
    assert ana.post("/v1/labels", json=label).is_success
    (ask,) = ana.post("/v1/asks/next").json()["asks"]
    skip, answer = {"answer_id": "two", "token": ask["token"], "reason": "unsure"}, {"answer_id": "three"}
    assert ana.post(f"/v1/asks/{ask['id']}/skip", json=skip).is_success
    answer |= {"token": ask["token"], "label": "spam"}
    assert ana.post(f"/v1/asks/{ask['id']}/answer", json=answer).is_success
    for path, body in (
        ("/v1/labels", label), (f"/v1/asks/{ask['id']}/skip", skip), (f"/v1/asks/{ask['id']}/answer", answer)
    ):  # fmt: skip
        refused = ben.post(path, json=body)
        assert (refused.status_code, refused.json()["code"]) == (409, "answer_id_reused"), path
        assert ana.post(path, json=body).is_success
    other = ben.post("/v1/labels", json={**label, "label_id": "bens"})
    assert (other.status_code, other.json()["outcome"]) == (200, "extra")


def test_a_lease_that_was_given_back_is_not_renewed(make):
    def team(lease):
        service = make(queue={"lease": lease})
        service.send("a")
        return [service.as_user(secret) for secret in service.tokens(ana="label", ben="label").values()]

    def call(person, what, **body):
        return person.post(f"/v1/asks/1/{what}", json=body)

    def take(person):
        return person.post("/v1/asks/next").json()["asks"][0]["token"]

    ana, ben = team(600)
    token = take(ben)
    assert call(ben, "renew", token=token).status_code == 200
    assert call(ben, "release", token=token).json()["outcome"] == "released"
    for person in (ana, ben):
        assert call(person, "renew", token=token).json()["code"] == "stale_token"
    token = take(ben)
    assert call(ben, "skip", token=token, reason="unsure").json()["outcome"] == "returned"
    for person in (ana, ben):
        assert call(person, "renew", token=token).json()["code"] == "stale_token"

    # one that ran out, and that nobody took, is its holder's still
    ana, ben = team(1)
    assert call(ben, "skip", token=take(ben), reason="unsure").json()["outcome"] == "returned"
    token = take(ana)
    wait_until(lambda: ben.post("/v1/asks/next").headers["x-askance-reason"] != "all_leased", "the end of a lease")
    assert call(ben, "renew", token=token).json()["code"] == "stale_token"
    assert call(ana, "renew", token=token).status_code == 200
