"""Labels that are corrected, there and back, and questions that several people are unsure about."""

import json

from askance_live.questions.answers import UNDOABLE


def test_a_label_is_compared_with_the_one_that_holds_now(make, store):
    service = make(store=store)
    service.send("a")

    def label(name, **more):
        return service.post("/v1/labels", {"event": "a", "label": name, **more})

    def exported():
        return json.loads(service.get("/v1/export.jsonl").text)["label"]

    assert label("spam").json()["duplicate"] is False
    assert label("ham", replace=True).json()["outcome"] == "accepted"
    again = label("spam")
    assert (again.status_code, again.json()["code"]) == (409, "already_labeled")
    back = label("spam", replace=True).json()
    assert (back["outcome"], back["duplicate"], exported()) == ("accepted", False, "spam")
    rows = len(service.get("/v1/events/a").json()["answers"])
    assert rows == 3
    for more in ({}, {"replace": True}):
        same = label("spam", **more).json()
        assert (same["label_id"], same["outcome"], same["duplicate"]) == (back["label_id"], "accepted", True)
    assert len(service.get("/v1/events/a").json()["answers"]) == rows
    # taken back, the same label counts anew
    assert service.post(f"/v1/answers/{back['label_id']}/undo").status_code == 200
    assert (label("spam").json()["duplicate"], exported()) == (False, "spam")
    service.stop()
    service.digest()


def test_a_label_that_somebody_else_gave_is_kept_once_as_extra(make):
    service = make()
    service.send("a")
    service.answer(service.next()[0], "ham")
    service.post("/v1/labels", {"event": "a", "label": "ham", "label_id": "mine"})
    first = service.post("/v1/labels", {"event": "a", "label": "ham"}).json()
    assert (first["outcome"], first["duplicate"], first["label_id"]) == ("extra", True, "mine")
    assert len(service.get("/v1/events/a").json()["answers"]) == 2


def test_names_made_for_labels_never_collide(make):
    service = make()
    service.send("a", "a:3")
    service.post("/v1/labels", {"event": "a", "label": "ham"})
    service.post("/v1/labels", {"event": "a:3", "label": "ham"})
    changed = service.post("/v1/labels", {"event": "a", "label": "spam", "replace": True})
    assert (changed.status_code, changed.json()["outcome"]) == (200, "accepted")


def test_one_person_alone_does_not_park_a_question(make):
    service = make()
    service.send("a")
    tokens = service.tokens(ana="label", ben="label", cleo="label read")
    ana, ben, cleo = (service.as_user(secret) for secret in tokens.values())
    ask = ana.post("/v1/asks/next").json()["asks"][0]

    def unsure(who, reason="unsure"):
        body = {"token": ask["token"], "reason": reason}
        return who.post(f"/v1/asks/{ask['id']}/skip", json=body).json()

    assert [unsure(ana)["outcome"] for _ in range(4)] == ["returned"] * 4
    assert unsure(ana, "later")["outcome"] == "later"
    mine = unsure(ana)
    assert mine["outcome"] == "returned"
    assert unsure(ben)["outcome"] == "returned"
    assert cleo.get("/v1/events/a").json()["ask"]["skips"] == 2
    last = unsure(cleo)
    assert last["outcome"] == "parked"
    cleo.post(f"/v1/answers/{last['answer_id']}/undo")
    assert cleo.get("/v1/events/a").json()["ask"]["skips"] == 2


def test_the_last_fifty_of_ones_own_can_be_taken_back_and_any_by_whoever_reviews(make, store):
    service = make(store=store)
    names = [f"e-{k}" for k in range(UNDOABLE + 2)]
    service.send(*names)
    secrets = service.tokens(ana="label", bob="label", lead="label review")

    def undo(who, answer):
        with service.as_user(secrets[who]) as user:
            return user.post(f"/v1/answers/{answer}/undo")

    with service.as_user(secrets["ana"]) as ana, service.as_user(secrets["bob"]) as bob:
        for name in names[: UNDOABLE + 1]:
            assert ana.post("/v1/labels", json={"event": name, "label": "ham", "label_id": f"of-{name}"}).is_success
        assert bob.post("/v1/labels", json={"event": names[-1], "label": "ham"}).is_success  # another's do not count
    refused = undo("ana", "of-e-0").json()
    assert (refused["code"], f"not among your last {UNDOABLE}" in refused["detail"]) == ("not_undoable", True)
    assert undo("ana", "of-e-1").is_success
    assert undo("lead", "of-e-0").is_success
