"""Several people answer a question: what most of them say is learned, once; whoever reviews decides the rest."""

import httpx
import pytest
from tests.live.receiver import receiving
from tests.live.running import Running
from tests.live.test_webhooks import bodies, hook
from tests.patience import wait_until

from askance_live.store import open_store

PEOPLE = {"ana": "label", "ben": "label", "cleo": "label", "dora": "label read", "lead": "label review read admin"}


class Team:
    """People with a token each, and a service that wants several answers to each question."""

    def __init__(self, service: Running) -> None:
        self.service = service
        self.secrets = service.tokens(**PEOPLE)
        service.log_in(self.secrets["lead"])
        self.connect()

    def connect(self):
        self.people = {name: self.service.as_user(secret) for name, secret in self.secrets.items()}

    def take(self, person, n=1):
        response = self.people[person].post(f"/v1/asks/next?n={n}")
        return response.json()["asks"] if response.status_code == 200 else []

    def answer(self, person, ask, label, name=None, **more) -> httpx.Response:
        body = {"answer_id": name or f"{person}-{ask['id']}", "token": ask["token"], "label": label, **more}
        return self.people[person].post(f"/v1/asks/{ask['id']}/answer", json=body)

    def give(self, **labels):
        """Each takes the question in turn and answers it; the question."""
        for person, label in labels.items():
            (ask,) = self.take(person)
            assert self.answer(person, ask, label).json()["outcome"] == "accepted"
        return ask

    def event(self, name="a"):
        return self.service.get(f"/v1/events/{name}").json()

    def states(self, name="a"):
        return {row["answer_id"]: row["state"] for row in self.event(name)["answers"]}

    def label_of(self, name="a"):
        """What is learned of an event: the label of the one answer that counts."""
        self.service.wait_until_idle()
        learned = [row["label"] for row in self.event(name)["answers"] if row["state"] == "learned"]
        assert len(learned) <= 1
        return learned[0] if learned else None

    def check(self):
        """The counts, the log and the model agree."""
        self.service.wait_until_idle()
        self.service.stop()
        self.service.digest()
        assert self.service.run("doctor").stdout == "All is well.\n"


@pytest.fixture
def team(make, store_apart):
    return lambda answers=3, **queue: Team(make(store=store_apart, queue={"answers": answers, **queue}))


def test_the_consensus_of_three_is_learned_once(team):
    team = team()
    team.service.send("a")
    ask = team.give(ana="spam", ben="ham")
    assert ask["answers"] == {"given": 1, "wanted": 3}
    assert ask["why"]["text"].endswith(" 3 people answer it, each on their own.")
    assert team.label_of() is None
    team.give(cleo="spam")
    assert team.label_of() == "spam"
    assert team.states() == {f"ana-{ask['id']}": "vote", f"ben-{ask['id']}": "vote", f"cleo-{ask['id']}": "vote",
                             f"consensus:{ask['id']}": "learned"}  # fmt: skip
    (consensus,) = [row for row in team.event()["answers"] if row["kind"] == "consensus"]
    assert (consensus["annotator"], consensus["comment"]) == ("consensus", "2 of 3 people")
    numbers = team.service.stats()
    assert (numbers["model"]["learned"], numbers["labels"]["total"], numbers["budget"]["total"]["spent"]) == (1, 1, 1)
    assert {person["name"]: person["labels"] for person in numbers["people"]} == {"ana": 1, "ben": 1, "cleo": 1}
    team.check()


def test_nobody_gets_a_question_twice(team):
    team = team(answers=2)
    team.service.send("a", "b")
    seen = [ask["id"] for ask in team.take("ana", 2)]
    for number in seen:
        ask = {"id": number, "token": f"{number}.1"}
        assert team.answer("ana", ask, "spam").json()["outcome"] == "accepted"
    assert team.take("ana", 10) == []
    empty = team.people["ana"].post("/v1/asks/next")
    assert (empty.status_code, empty.headers["x-askance-reason"]) == (204, "all_skipped")
    # not even after skipping what was answered
    old = team.people["ana"].post(f"/v1/asks/{seen[0]}/skip", json={"token": f"{seen[0]}.1", "reason": "later"})
    assert old.json()["outcome"] == "extra"
    team.service.restart()
    team.connect()
    assert [ask["id"] for ask in team.take("ben", 10)] == seen
    # the same person's second answer does not count for another's
    assert team.answer("ana", {"id": seen[0], "token": f"{seen[0]}.1"}, "spam", "again").json()["outcome"] == "extra"
    assert team.label_of() is None


def test_people_who_disagree_leave_the_question_to_whoever_reviews(team):
    team = team(answers=2)
    team.service.send("a")
    ask = team.give(ana="spam", ben="ham")
    assert team.event()["ask"]["state"] == "disputed"
    assert team.service.stats()["queue"]["disputed"] == 1
    empty = team.people["cleo"].post("/v1/asks/next")
    assert "1 disputed" in empty.headers["x-askance-detail"]
    refused = team.people["cleo"].post("/v1/labels", json={"event": "a", "label": "ham"})
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    decided = team.people["lead"].post("/v1/labels", json={"event": "a", "label": "ham", "label_id": "decision"})
    assert decided.json()["outcome"] == "accepted"
    assert team.label_of() == "ham"
    assert team.event()["ask"]["state"] == "answered"
    # what was decided stands whatever the votes are
    corrected = team.answer("ben", ask, "spam", "ben-2", supersedes=f"ben-{ask['id']}")
    assert corrected.json()["outcome"] == "accepted"
    assert team.label_of() == "ham"
    # until it is taken back: then the votes hold, who agree by now
    assert team.people["lead"].post("/v1/answers/decision/undo").json()["outcome"] == "correction"
    assert team.label_of() == "spam"
    team.check()


def test_nobody_agrees_on_a_class_that_was_retired_meanwhile(make, store, tmp_path):
    with receiving() as receiver:
        service = make(store=store, queue={"answers": 3}, webhooks=[hook(receiver, tmp_path, "answer.learned")])
        team = Team(service)
        assert service.post("/v1/classes", {"add": ["eggs"]}).status_code == 200
        service.send("a")
        ask = team.give(ana="eggs", ben="eggs")
        assert service.post("/v1/classes", {"retire": ["eggs"]}).status_code == 200
        team.give(cleo="ham")
        assert team.label_of() is None
        assert team.event()["ask"]["state"] == "disputed"
        assert f"consensus:{ask['id']}" not in team.states()
        decided = team.people["lead"].post("/v1/labels", json={"event": "a", "label": "ham"})
        assert decided.json()["outcome"] == "accepted"
        assert team.label_of() == "ham"
        wait_until(lambda: bodies(receiver, "answer.learned"), "an answer told")
        assert [told["label"] for told in bodies(receiver, "answer.learned")] == ["ham"]
        team.check()


def test_an_answer_whose_class_was_retired_before_it_was_learned_is_not_told_as_learned(make, tmp_path):
    with receiving() as receiver:
        service = make(webhooks=[hook(receiver, tmp_path, "answer.learned")])
        service.post("/v1/classes", {"add": ["eggs"]})
        service.post("/v1/model/pause")
        service.send("a", "b")
        for name, label in (("a", "eggs"), ("b", "ham")):
            service.post("/v1/labels", {"event": name, "label": label})
        service.post("/v1/classes", {"retire": ["eggs"]})
        service.post("/v1/model/resume")
        wait_until(lambda: bodies(receiver, "answer.learned"), "an answer told")
        assert [told["label"] for told in bodies(receiver, "answer.learned")] == ["ham"]


def test_a_vote_taken_back_opens_the_question_and_takes_the_consensus_back(team):
    team = team(answers=2)
    team.service.send("a")
    ask = team.give(ana="spam", ben="spam")
    assert team.label_of() == "spam"
    back = team.people["ben"].post(f"/v1/answers/ben-{ask['id']}/undo").json()
    assert back["ask"]["answers"] == {"given": 1, "wanted": 2}
    assert team.label_of() is None
    assert team.service.stats()["labels"]["total"] == 0
    assert team.answer("ben", back["ask"], "ham", "ben-2").json()["outcome"] == "accepted"
    assert team.event()["ask"]["state"] == "disputed"
    # whoever reviews takes the vote of somebody else back, and another person has the question
    team.people["lead"].post("/v1/answers/ben-2/undo")
    team.give(cleo="spam")
    assert team.label_of() == "spam"
    rebuilt = team.service.post("/v1/model/rebuild").json()
    assert rebuilt["left_out"] == 1
    team.check()


def test_a_corrected_vote_changes_the_consensus(team):
    team = team()
    team.service.send("a")
    ask = team.give(ana="spam", ben="ham", cleo="spam")
    assert team.label_of() == "spam"
    team.answer("cleo", ask, "ham", "cleo-2", supersedes=f"cleo-{ask['id']}")
    assert team.label_of() == "ham"
    # one that changes no majority changes nothing that is learned
    team.answer("ana", ask, "ham", "ana-2", supersedes=f"ana-{ask['id']}")
    team.service.wait_until_idle()
    assert team.service.stats()["model"]["learned"] == 2
    assert [state for name, state in team.states().items() if name.startswith("consensus")] == ["superseded", "learned"]
    team.check()


def test_nobody_speaks_for_another_and_nobody_takes_a_consensus_back(team):
    team = team(answers=2)
    team.service.send("a")
    ask = team.give(ana="spam", ben="spam")
    refused = team.answer("lead", ask, "ham", "mine", supersedes=f"ana-{ask['id']}")
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    refused = team.people["lead"].post(f"/v1/answers/consensus:{ask['id']}/undo")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_undoable")
    taken = team.answer("cleo", ask, "ham", "consensus:99")
    assert taken.status_code in (400, 422)
    replaced = team.people["lead"].post("/v1/labels", json={"event": "a", "label": "ham", "replace": True})
    assert replaced.json()["outcome"] == "accepted"
    assert team.label_of() == "ham"
    team.check()


def test_a_late_answer_counts_and_whoever_has_the_question_keeps_it(team):
    team = team(answers=3)
    team.service.send("a")
    (late,) = team.take("ana")
    given = team.people["ana"].post(f"/v1/asks/{late['id']}/release", json={"token": late["token"]})
    assert given.json()["outcome"] == "released"
    (held,) = team.take("ben")
    assert team.answer("ana", late, "spam").json()["outcome"] == "accepted"
    assert team.answer("ben", held, "spam").json()["outcome"] == "accepted"
    assert team.event()["ask"]["state"] == "open"


def test_bad_data_closes_the_question_for_all(team):
    team = team(answers=2)
    team.service.send("a")
    team.give(ana="spam")
    (ask,) = team.take("ben")
    closed = team.people["ben"].post(
        f"/v1/asks/{ask['id']}/skip", json={"token": ask["token"], "reason": "bad_data", "answer_id": "bad"}
    )
    assert closed.json()["outcome"] == "closed"
    assert team.take("cleo") == []
    assert team.label_of() is None
    assert team.people["ben"].post("/v1/answers/bad/undo").json()["ask"]["answers"]["given"] == 1
    team.check()


def test_a_random_sample_may_want_another_number_of_answers(make):
    service = make(queue={"answers": 1, "audit_answers": 3}, asking={"rate": 1.0, "audit": 0.5})
    service.send(*(f"e{k}" for k in range(40)))
    wanted = {(ask["why"]["code"] == "audit" or ask["audit"], ask["answers"]["wanted"]) for ask in service.next(10)}
    for _ in range(3):
        wanted |= {(ask["audit"], ask["answers"]["wanted"]) for ask in service.next(10)}
    assert wanted <= {(True, 3), (False, 1)}


def test_a_consensus_moves_the_model_by_its_share_where_that_is_wished(make):
    digests, agreements = [], []
    for weigh in (False, True):
        team = Team(make(queue={"answers": 3, "weigh_agreement": weigh}))
        team.service.send("a")
        team.give(ana="spam", ben="ham", cleo="spam")
        team.service.wait_until_idle()
        team.service.stop()
        digests.append(team.service.digest())
        database = open_store(team.service.store)
        with database.read() as session:
            agreements.append(session.value("SELECT agreement FROM learned"))
        database.close()
    assert agreements == [1.0, pytest.approx(2 / 3)]
    assert digests[0] != digests[1]


def test_agreement_is_measured_over_what_several_people_labeled(team):
    team = team(answers=3)
    team.service.send(*"abcdef")
    for k in range(6):
        team.give(ana="spam" if k % 2 else "ham", ben="spam" if k % 2 else "ham", cleo="spam")
    found = team.service.get("/v1/agreement").json()
    assert (found["events"], found["answers"]) == (6, 18)
    by_name = {person["name"]: person for person in found["people"]}
    assert by_name["cleo"]["compared"] == 6
    assert (by_name["cleo"]["agreed"]["estimate"], by_name["ana"]["agreed"]["estimate"]) == (0.5, 1.0)
    assert {tuple(pair["people"]): pair["kappa"]["estimate"] for pair in found["pairs"]} == {
        ("ana", "ben"): 1.0, ("ana", "cleo"): 0.0, ("ben", "cleo"): 0.0,
    }  # fmt: skip
    assert found["alpha"]["low"] <= found["alpha"]["estimate"] <= found["alpha"]["high"]
    refused = team.people["ana"].get("/v1/agreement")
    assert refused.status_code == 403
