"""A question in somebody's hands is theirs: what others may do with it, with which token, and what the log says."""

import sqlite3
import time

import pytest
from tests.patience import PATIENCE


class Person:
    """Somebody who labels, with a token of their own."""

    def __init__(self, name, client):
        self.name, self.client = name, client
        self.count = 0

    def take(self, n=1):
        response = self.client.post(f"/v1/asks/next?n={n}")
        return response.json()["asks"] if response.status_code == 200 else []

    def call(self, what, ask, **body):
        return self.client.post(f"/v1/asks/{ask['id']}/{what}", json=body)

    def answer(self, ask, label, name=None, token=None, **more):
        self.count += 1
        name = name or f"{self.name}-{self.count}"
        return self.call("answer", ask, answer_id=name, token=token or ask["token"], label=label, **more)

    def skip(self, ask, reason, token=None):
        return self.call("skip", ask, token=token or ask["token"], reason=reason)

    def label(self, event, label, **more):
        return self.client.post("/v1/labels", json={"event": event, "label": label, **more})

    def undo(self, identifier):
        return self.client.post(f"/v1/answers/{identifier}/undo")


@pytest.fixture
def team(make, store):
    """A service with two annotators, a reviewer and whoever runs it."""
    service = make(store=store, queue={"lease": 600})
    scopes = {"ana": "label", "ben": "label", "lead": "label review", "root": "admin"}
    people = {name: Person(name, service.as_user(secret)) for name, secret in service.tokens(**scopes).items()}
    service.client.headers.update(people["root"].client.headers)
    yield service, people
    for person in people.values():
        person.client.close()


def audit(service, action):
    return [entry for entry in service.get("/v1/audit").json()["entries"] if entry["action"] == action]


def event(service, name="a"):
    return service.get(f"/v1/events/{name}").json()


def test_what_another_person_holds_is_refused_whatever_is_done_to_it(team):
    service, people = team
    ana, ben, lead = people["ana"], people["ben"], people["lead"]
    service.send("a")
    ask = ana.take()[0]
    before = event(service)
    for person in (ben, lead):
        for token in (ask["token"], f"{ask['id']}.0", f"{ask['id']}.7", "99.1"):
            refused = [
                person.answer(ask, "spam", token=token),
                *(person.skip(ask, reason, token) for reason in ("unsure", "bad_data", "later")),
                person.call("release", ask, token=token),
            ]
            assert [(response.status_code, response.json()["code"]) for response in refused] == [(409, "leased")] * 5
            assert "in the hands of ana" in refused[0].json()["detail"]
            assert person.call("renew", ask, token=token).json()["code"] == "stale_token"
    assert event(service) == before  # no answer, no skip, and ana has it still
    assert ana.answer(ask, "ham").json()["outcome"] == "accepted"


def pass_on(team):
    """A question that Ana had and Ben has now, as each of them got it."""
    service, people = team
    ana, ben = people["ana"], people["ben"]
    service.send("a")
    mine = ana.take()[0]
    ana.call("release", mine, token=mine["token"])
    return service, ana, mine, ben, ben.take()[0]


def test_what_passed_on_to_another_is_kept_as_extra_and_leaves_it_with_them(team):
    service, ana, mine, ben, bens = pass_on(team)
    assert bens["id"] == mine["id"]
    assert ana.call("release", mine, token=mine["token"]).json()["outcome"] == "stale"
    assert ana.skip(mine, "bad_data").json()["outcome"] == "extra"
    assert ana.skip(mine, "unsure").json()["outcome"] == "returned"
    late = ana.answer(mine, "spam").json()
    assert (late["outcome"], late["stale_token"], late["learn_at"]) == ("extra", True, None)
    assert event(service)["ask"]["state"] == "leased"
    assert ben.call("renew", bens, token=bens["token"]).status_code == 200
    done = ben.answer(bens, "ham").json()
    assert (done["outcome"], done["stale_token"]) == ("accepted", False)


def test_a_correction_of_what_did_not_count_takes_no_question_out_of_other_hands(team):
    _, ana, mine, ben, bens = pass_on(team)
    assert ana.answer(mine, "spam", "first").json()["outcome"] == "extra"
    assert ana.answer(mine, "ham", "second", supersedes="first").json()["outcome"] == "extra"
    assert ben.answer(bens, "ham").json()["outcome"] == "accepted"


def test_an_answer_after_ones_own_lease_ran_out_trains_as_long_as_nobody_took_the_question(make):
    service = make(queue={"lease": 1.0})
    secrets = service.tokens(ana="label", ben="label", root="admin")
    ana, ben = (Person(name, service.as_user(secrets[name])) for name in ("ana", "ben"))
    service.log_in(secrets["root"])
    service.send("a", "b")
    first, second = ana.take(2)
    deadline = time.monotonic() + PATIENCE
    while not (taken := ben.take()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (bens,) = taken
    (free,) = [ask for ask in (first, second) if ask["id"] != bens["id"]]
    late = ana.answer(free, "spam").json()
    assert (late["outcome"], late["stale_token"]) == ("accepted", True)


def test_a_lease_whose_time_is_over_binds_nobody_even_before_it_is_swept(make):
    service = make()
    secrets = service.tokens(ana="label", ben="label", root="admin")
    service.log_in(secrets["root"])
    service.send("a")
    with service.as_user(secrets["ana"]) as client:
        ask = Person("ana", client).take()[0]
    service.stop()
    with sqlite3.connect(service.store) as connection:
        connection.execute("UPDATE asks SET deadline = 1.0")
    connection.close()
    service.start()
    with service.as_user(secrets["ben"]) as client:
        done = Person("ben", client).answer(ask, "ham").json()
    assert (done["outcome"], done["stale_token"]) == ("accepted", True)


def test_only_a_reviewer_replaces_or_takes_back_what_others_said_and_the_log_has_both(team):
    service, people = team
    ana, ben, lead = people["ana"], people["ben"], people["lead"]
    service.send("a")
    ask = ana.take()[0]
    ana.answer(ask, "spam", "hers")
    for response in (ben.answer(ask, "ham", "his", supersedes="hers"), ben.undo("hers")):
        assert (response.status_code, response.json()["code"]) == (403, "forbidden")
        assert "ana's" in response.json()["detail"]
        assert "'review'" in response.json()["detail"]
    assert [row["state"] for row in event(service)["answers"]] == ["learned"]
    assert lead.answer(ask, "ham", "better", supersedes="hers").json()["outcome"] == "accepted"
    service.wait_until_idle()
    assert [(row["annotator"], row["state"]) for row in event(service)["answers"]] == [
        ("ana", "superseded"),
        ("lead", "learned"),
    ]
    (entry,) = audit(service, "answer replace")
    assert entry["actor"] == "lead"
    assert entry["detail"] == {
        "event": "a",
        "ask": ask["id"],
        "before": [{"answer_id": "hers", "label": "spam", "by": "ana", "state": "learned"}],
        "after": {"answer_id": "better", "label": "ham", "by": "lead"},
    }
    # what somebody else takes back is for whoever comes next
    undone = people["root"].undo("better").json()
    assert (undone["outcome"], undone["ask"]) == ("correction", None)
    (entry,) = audit(service, "answer undo")
    assert (entry["actor"], entry["detail"]["after"]) == ("root", None)
    assert entry["detail"]["before"][0] == {"answer_id": "better", "label": "ham", "by": "lead", "state": "learned"}
    assert ben.take()[0]["id"] == ask["id"]
    service.stop()
    service.digest()
    assert service.run("doctor").stdout == "All is well.\n"


def test_a_program_replaces_its_own_labels_and_a_reviewer_anybodys(team):
    service, people = team
    ana, ben, lead = people["ana"], people["ben"], people["lead"]
    service.send("a")
    assert ana.label("a", "spam").json()["outcome"] == "accepted"
    told = ben.label("a", "ham")
    assert (told.status_code, told.json()["code"]) == (409, "already_labeled")
    assert "scope 'review'" in told.json()["detail"]
    refused = ben.label("a", "ham", replace=True)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert "labeled 'spam' by ana" in refused.json()["detail"]
    assert ana.label("a", "ham", replace=True).json()["outcome"] == "accepted"
    assert lead.label("a", "spam", replace=True).json()["outcome"] == "accepted"
    lately, first = audit(service, "label replace")
    assert (first["actor"], first["detail"]["before"][0]["by"]) == ("ana", "ana")
    assert (lately["actor"], lately["detail"]["before"][0]["label"], lately["detail"]["after"]["label"]) == (
        "lead",
        "ham",
        "spam",
    )
    batch = ben.client.post("/v1/labels", json=[{"event": "a", "label": "ham", "replace": True}]).json()
    assert batch["items"][0]["status"] == 403


def test_what_one_person_called_bad_data_another_labels_with_a_review_only(team):
    service, people = team
    ana, ben, lead = people["ana"], people["ben"], people["lead"]
    service.send("a")
    ask = ana.take()[0]
    closed = ana.skip(ask, "bad_data").json()
    (entry,) = audit(service, "question close")
    assert (entry["actor"], entry["detail"]["event"]) == ("ana", "a")
    assert entry["detail"]["after"] == {"answer_id": closed["answer_id"], "reason": "bad_data", "by": "ana"}
    assert ben.label("a", "spam", replace=True).status_code == 403
    assert ben.undo(closed["answer_id"]).status_code == 403
    assert lead.label("a", "spam", replace=True).json()["outcome"] == "accepted"
    (entry,) = audit(service, "label replace")
    assert entry["detail"]["before"][0]["by"] == "ana"


def test_a_label_for_a_question_in_somebodys_hands_takes_a_review(team):
    service, people = team
    ana, ben, lead = people["ana"], people["ben"], people["lead"]
    service.send("a")
    ask = ana.take()[0]
    for more in ({}, {"label_id": "mine"}, {"replace": True}):
        refused = ben.label("a", "spam", **more)
        assert (refused.status_code, refused.json()["code"]) == (409, "leased")
        assert "in the hands of ana until" in refused.json()["detail"]
    (item,) = ben.client.post("/v1/labels", json=[{"event": "a", "label": "spam"}]).json()["items"]
    assert (item["status"], item["code"], item["event"]) == (409, "leased", "a")
    assert event(service)["answers"] == []
    assert not audit(service, "label of leased question")
    assert lead.label("a", "spam").json()["outcome"] == "accepted"
    (entry,) = audit(service, "label of leased question")
    assert (entry["actor"], entry["detail"]["before"]) == ("lead", [{"leased_to": "ana"}])
    assert ana.answer(ask, "ham").json()["outcome"] == "extra"  # never thrown away


def test_labels_of_questions_in_nobodys_or_ones_own_hands_need_no_review(team):
    service, people = team
    ana, ben = people["ana"], people["ben"]
    service.send("a", "b")
    assert ben.label("b", "spam").json()["outcome"] == "accepted"
    ask = ana.take()[0]
    assert ask["event"]["id"] == "a"
    assert ana.label("a", "ham").json()["outcome"] == "accepted"
    assert ben.label("a", "ham").json()["outcome"] == "extra"
    assert not audit(service, "label of leased question")


def test_nobody_takes_the_id_that_a_label_of_somebody_else_will_get(team):
    service, people = team
    ana, ben = people["ana"], people["ben"]
    service.send("a", "b")
    ask = ben.take()[0]
    other = "b" if ask["event"]["id"] == "a" else "a"
    refused = [
        ben.label(other, "ham", label_id=f"label:ana:{other}"),
        ben.answer(ask, "ham", f"label:ana:{other}"),
        ben.call("skip", ask, token=ask["token"], reason="unsure", answer_id=f"label:ana:{other}"),
    ]
    assert [(given.status_code, given.json()["code"]) for given in refused] == [(422, "invalid")] * 3
    first = ana.label(other, "spam").json()
    assert first["label_id"] == f"label:ana:{other}"
    again = ana.label(other, "spam", label_id=first["label_id"]).json()
    assert again == {**first, "duplicate": True}
