"""Whoever leads a stream changes its classes and kinds of fields: over HTTP, by command, and in the settings."""

import contextlib
import threading
import time

import httpx
import pytest
from tests.live.members import Members
from tests.patience import wait_until

CHANGES = {"add": ["eggs"]}


def learn(service, *identifiers, label="spam"):
    service.send(*identifiers)
    for name in identifiers:
        assert service.post("/v1/labels", {"event": name, "label": label}).json()["outcome"] == "accepted"
    service.wait_until_idle()


def classes_of(service):
    return {found["label"]: found for found in service.get("/v1/classes").json()["classes"]}


def test_a_change_is_told_before_it_is_made(make):
    service = make(asking={"rate": 1.0})
    learn(service, "a", "b")
    service.send("c", "d")
    before = service.get("/v1/classes").json()
    told = service.post("/v1/classes", {**CHANGES, "dry_run": True}).json()
    assert told["effects"][0] == (
        "adds the class 'eggs': the model begins with 0 answers of it, 4 events keep the prediction they got, and 2 "
        "open questions get the new choice"
    )
    assert told["effects"][1].startswith("makes the model anew as one of 3 classes instead of two from the log in ")
    assert (told["done"], told["rebuilds"], told["scheme"]) == (False, True, 0)
    assert service.get("/v1/classes").json() == before
    assert service.post("/v1/labels", {"event": "c", "label": "eggs"}).json()["code"] == "unknown_label"
    done = service.post("/v1/classes", {**CHANGES, "expected": 0}).json()
    assert done["done"]
    assert done["effects"][0] == told["effects"][0]
    stale = service.post("/v1/classes", {"retire": ["ham"], "expected": 0})
    assert (stale.status_code, stale.json()["code"]) == (409, "stale_classes")
    assert service.get("/v1/me").headers["askance-classes"] == str(done["scheme"])
    (ask,) = service.next()
    assert service.answer(ask, "eggs").json()["label"] == "eggs"
    service.wait_until_idle()
    assert classes_of(service)["eggs"] == {
        "label": "eggs",
        "name": "eggs",
        "retired": False,
        "added": True,
        "answers": 1,
    }
    entry = next(e for e in service.get("/v1/audit").json()["entries"] if e["action"] == "classes change")
    assert entry["detail"] == CHANGES
    service.stop()
    service.digest()
    service.start()  # by settings that say nothing of it
    assert list(classes_of(service)) == ["ham", "spam", "eggs"]
    assert service.get("/v1/me").json()["classes"] == ["ham", "spam", "eggs"]
    assert set(service.send("e")[0]["probabilities"]) == {"ham", "spam", "eggs"}
    assert set(service.get("/v1/events/a").json()["prediction"]["probabilities"]) == {"ham", "spam"}
    assert service.stats()["labels"]["per_class"] == {"ham": 0, "spam": 2, "eggs": 1}


def test_a_retired_class_is_offered_to_nobody_and_what_was_said_stays(make):
    service = make(asking={"rate": 1.0})
    service.post("/v1/classes", CHANGES)
    learn(service, "a", "b", label="eggs")
    learn(service, "c", label="spam")
    learn(service, "d", label="ham")
    service.send("e", *(f"more-{n}" for n in range(60)))
    told = service.post("/v1/classes", {"retire": ["eggs"]}).json()
    assert "2 learned answers with it stay" in told["effects"][0]
    assert classes_of(service)["eggs"]["retired"]
    refused = service.post("/v1/labels", {"event": "e", "label": "eggs"})
    assert (refused.status_code, refused.json()["code"]) == (422, "retired_label")
    (ask, *_) = service.next(10)
    assert ask["suggestion"] is None or ask["suggestion"]["label"] != "eggs"
    assert service.answer(ask, "eggs").json()["code"] == "retired_label"
    assert service.get("/v1/events/a").json()["answers"][0]["label"] == "eggs"
    assert '"label":"eggs"' in service.get("/v1/export.jsonl").text
    assert "eggs" in service.get("/v1/export.csv").text
    found = service.get("/v1/review?label=eggs").json()["events"]
    assert sorted(event["id"] for event in found) == ["a", "b"]
    stats = service.stats()
    assert (stats["classes"], stats["retired"]) == (["ham", "spam", "eggs"], ["eggs"])
    assert stats["confusion"]["labels"] == ["ham", "spam", "eggs"]
    assert service.send("f")[0]["label"] in ("ham", "spam")
    for path in ("/metrics", "/v1/stats/series", "/v1/agreement", "/label-studio/config.xml", "/", "/label", "/review"):
        assert service.get(path).status_code == 200, path
    assert "eggs" not in service.get("/label-studio/config.xml").text
    again = service.post("/v1/classes", {"restore": ["eggs"]}).json()
    assert again["effects"][0].startswith("offers 'eggs' again: 2 learned answers")
    service.stop()
    service.digest()
    assert "eggs" in service.run("export").stdout


def test_a_name_is_for_people_and_leaves_the_model_alone(make):
    service = make(asking={"rate": 1.0})
    learn(service, "a")
    told = service.post("/v1/classes", {"rename": {"spam": "Unwanted mail"}}).json()
    assert told["effects"] == [
        "shows 'spam' as 'Unwanted mail'; programs go on calling it 'spam'", "leaves the model as it is",
    ]  # fmt: skip
    assert not told["rebuilds"]
    me = service.get("/v1/me").json()
    assert (me["classes"], me["names"]) == (["ham", "spam"], {"spam": "Unwanted mail"})
    assert service.post("/v1/labels", {"event": "a", "label": "Unwanted mail"}).json()["code"] == "unknown_label"
    assert "Unwanted mail" in service.get("/review").text
    assert service.post("/v1/classes", {"rename": {"spam": "Unwanted mail"}}).json()["effects"] == ["changes nothing"]
    service.stop()
    service.digest()


def test_a_field_gets_another_kind(make):
    service = make()
    learn(service, "a", "bb", "ccc")
    told = service.post("/v1/classes", {"fields": {"size": "category"}}).json()
    assert told["effects"][0] == "reads the field 'size' as 'category', where it was 'number'"
    assert "makes the model anew from the log" in told["effects"][1]
    fields = {found["field"]: found for found in service.get("/v1/classes").json()["fields"]}
    assert fields["size"] == {"field": "size", "kind": "category", "given": "category"}
    service.post("/v1/classes", {"fields": {"size": None, "text": "ignore"}})
    fields = {found["field"]: found for found in service.get("/v1/classes").json()["fields"]}
    assert fields["size"] == {"field": "size", "kind": "number", "given": None}
    assert fields["text"]["kind"] == "ignore"
    service.stop()
    service.digest()


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        ({}, 422, "nothing to change"),
        ({"add": ["ham"]}, 409, "already"),
        ({"add": [""]}, 422, "entry 1 of 'add' must be a text of 1 to 200 characters; got ''."),
        ({"add": ["eggs", 5]}, 422, "entry 2 of 'add' must be a text of 1 to 200 characters; got 5."),
        ({"add": ["x"] * 1001}, 422, "'add' must be a list of at most 1,000, each a text of 1 to 200 characters; got"),
        ({"add": [" eggs"]}, 422, "must not begin or end with a blank, got ' eggs'"),
        ({"rename": {"spam": "eggs "}}, 422, "must not begin or end with a blank, got 'eggs '"),
        ({"add": "eggs"}, 422, "'add' must be"),
        ({"add": ["\u0007"]}, 422, "printable"),
        ({"retire": ["ham"]}, 422, "two classes must stay"),
        ({"retire": ["nobody"]}, 422, "there is no class"),
        (
            {"fields": {"zip": "number", "size": "shape"}},
            422,
            "'size' in 'fields' must be one of number, category, text, date, ignore, time, or null for a guess; got",
        ),
        ({"fields": {"": "number"}}, 422, "each name in 'fields' must be a text of 1 to 1,000 characters; got ''."),
        ({"rename": {"spam": "ham"}}, 409, "shown as 'ham'"),
        ({"rename": {"spam": 1}}, 422, "'spam' in 'rename' must be a text of 1 to 200 characters; got 1."),
        ({"rename": {"spam": None}}, 422, "'spam' in 'rename' must be a text of 1 to 200 characters; got null."),
        ({"rename": {"spam": ""}}, 422, "'spam' in 'rename' must be a text of 1 to 200 characters; got ''."),
        ({"rename": {"spam": "x" * 300}}, 422, "; got a text of 300 characters."),
        ({"rename": {f"x{n}": "y" for n in range(1001)}}, 422, "'rename' must be an object of at most 1,000, each a"),
        ({"extra": 1}, 422, "there is no 'extra'"),
    ],
)
def test_a_wrong_change_is_refused_in_a_sentence(make_for_all, body, status, word):
    service = shared(make_for_all)
    refused = service.post("/v1/classes", body)
    assert refused.status_code == status
    assert word in refused.json()["detail"]
    assert service.get("/v1/classes").json()["scheme"] == 0


def test_a_change_of_a_field_that_no_event_had_says_so(make):
    service = make()
    early = service.post("/v1/classes", {"fields": {"later": "number"}, "dry_run": True}).json()
    assert early["effects"][0] == "reads the field 'later' as 'number', where it was guessed"
    service.post("/v1/events", {"id": "a", "fields": {"from": {"country": "fr", "age": 3}}})
    kinds = {"nofield": "number", "from": "category", "from.country.x": "ignore", "text": None}
    for dry_run in (True, False):
        told = service.post("/v1/classes", {"fields": kinds, "dry_run": dry_run}).json()["effects"]
        assert told[0] == "reads the fields inside 'from' as 'category', where it was guessed"
        assert told[1].endswith("and learns nothing from it; no event so far had a field 'from.country.x'")
        assert (
            told[2]
            == "reads the field 'nofield' as 'number', where it was guessed; no event so far had a field 'nofield'"
        )


def test_one_thing_is_counted_as_one_and_what_was_taken_back_not_at_all(make):
    service = make(asking={"rate": 1.0})
    service.post("/v1/classes", CHANGES)
    service.send("a", "b")
    for name in ("a", "b"):
        service.post("/v1/labels", {"event": name, "label": "eggs", "label_id": name})
    service.wait_until_idle()
    assert service.post("/v1/answers/a/undo").json()["outcome"] == "correction"
    told = service.post("/v1/classes", {"add": ["more"], "dry_run": True}).json()["effects"]
    assert "and 1 open question gets the new choice" in told[0]
    told = service.post("/v1/classes", {"retire": ["eggs"]}).json()["effects"]
    assert "1 learned answer with it stays, as do the events, and teaches the model nothing any more" in told[0]
    told = service.post("/v1/classes", {"restore": ["eggs"]}).json()["effects"]
    assert told[0] == "offers 'eggs' again: 1 learned answer with it teaches the model again"
    service.stop()
    assert "1 learned" in service.run("classes", "list").stdout
    extra = service.run("classes", "list", "extra", check=False)
    assert (extra.returncode, "takes no words, got 'extra'" in extra.stderr) == (2, True)


SHARED = []


def shared(make_for_all):
    if not SHARED:
        SHARED.append(make_for_all())
    return SHARED[0]


def test_only_an_admin_may_change_classes(make):
    service = make()
    secrets = service.tokens(lead="read label review", root="admin")
    for who, status in (("lead", 403), ("root", 200)):
        with service.as_user(secrets[who]) as client:
            assert client.get("/v1/classes").status_code == 200
            assert client.post("/v1/classes", json={**CHANGES, "dry_run": True}).status_code == status
            assert client.get("/classes").status_code == status


# --- by command, and in the settings -------------------------------------------------------------------------


def test_the_command_tells_and_makes_changes_while_no_service_runs(make):
    service = make()
    learn(service, "a", "b")
    service.stop()
    told = service.run("classes", "add", "eggs", "--dry-run").stdout
    assert "adds the class 'eggs'" in told
    unsure = service.run("classes", "add", "eggs", check=False)
    assert unsure.returncode == 2
    assert "--yes" in unsure.stderr
    assert "eggs" not in service.run("classes", "list").stdout
    assert service.run("classes", "add", "eggs", "--yes").stdout.endswith("Done.\n")
    digest = service.digest()
    service.run("classes", "rename", "spam", "Unwanted mail", "--yes")
    assert service.digest() == digest
    service.run("classes", "kind", "size", "text", "--yes")
    assert service.digest() != digest
    service.run("classes", "retire", "ham", "--yes")
    service.digest()
    listed = service.run("classes", "list").stdout.splitlines()
    assert [line.split()[0] for line in listed[:3]] == ["ham", "spam", "eggs"]
    assert "retired" in listed[0]
    assert listed[1].endswith("shown as 'Unwanted mail'")
    assert "field size: text" in listed
    assert service.run("doctor", "--deep").stdout.endswith("All is well.\n")
    wrong = service.run("classes", "retire", "nobody", "--yes", check=False)
    assert (wrong.returncode, "there is no class 'nobody'" in wrong.stderr) == (2, True)
    service.start()
    assert service.get("/v1/me").json()["classes"] == ["spam", "eggs"]


def test_the_command_lets_a_running_service_make_the_change(make):
    service = make()
    secret = service.tokens(root="admin")["root"]
    address = ("--url", service.url)
    refused = service.run("classes", "add", "eggs", "--yes", *address, check=False)
    assert refused.returncode == 2
    assert "askance token create" in refused.stderr
    service.run("classes", "add", "eggs", "--yes", *address, "--token", secret)
    service.log_in(secret)
    assert list(classes_of(service)) == ["ham", "spam", "eggs"]
    elsewhere = service.run("classes", "add", "x", "--url", "http://127.0.0.1:9", "--yes", check=False)
    assert "say where with --url" in elsewhere.stderr


def edit(service, before, after):
    text = service.config.read_text()
    assert before in text
    service.config.write_text(text.replace(before, after))


def test_edited_settings_are_told_at_the_start_and_taken_up_by_a_rebuild(make):
    service = make()
    learn(service, "a", "b")
    service.stop()
    edit(service, '["ham", "spam"]', '["spam", "eggs", "ham"]')
    edit(service, 'size = "number"', 'size = "ignore"')
    refused = service.run("serve", check=False)
    assert refused.returncode == 2
    for words in (
        "the classes and fields changed",
        "adds the class 'eggs'",
        "reads the field 'size' as 'ignore'",
        "rebuild",
    ):
        assert words in refused.stderr, words
    assert "adds the class 'eggs'" in service.run("rebuild", "--dry-run").stdout
    assert service.run("rebuild", "--check", check=False).returncode == 2
    service.run("rebuild")
    service.digest()
    assert service.run("rebuild", "--dry-run").stdout == "Classes and fields are as they were.\n"
    service.start()
    assert service.get("/v1/me").json()["classes"] == ["spam", "eggs", "ham"]
    service.post("/v1/classes", {"add": ["more"]})  # which the settings do not know
    service.restart()
    assert service.get("/v1/me").json()["classes"] == ["spam", "eggs", "ham", "more"]
    service.stop()
    edit(service, '["spam", "eggs", "ham"]', '["spam", "ham", "more"]')  # retires eggs, and names more
    assert "retires 'eggs'" in service.run("serve", check=False).stderr
    service.run("rebuild")
    service.start()
    assert service.get("/v1/me").json()["classes"] == ["spam", "ham", "more"]
    service.stop()
    service.digest()


def test_init_knows_the_store_of_a_stream_whose_classes_were_changed(make):
    service = make()
    learn(service, "a")
    service.post("/v1/classes", CHANGES)
    service.stop()
    refused = service.run("init", check=False)
    assert refused.returncode == 2
    assert "go on with" in refused.stderr  # and not: the store of another stream


def test_settings_that_name_what_was_added_already_are_taken_as_they_are(make):
    service = make()
    learn(service, "a")
    service.post("/v1/classes", {**CHANGES, "fields": {"size": "text"}})
    service.stop()
    edit(service, '["ham", "spam"]', '["ham", "spam", "eggs"]')
    edit(service, 'size = "number"', 'size = "text"')
    service.start()
    service.stop()
    edit(service, '["ham", "spam", "eggs"]', '["ham", "spam"]')
    assert "retires 'eggs'" in service.run("serve", check=False).stderr


# --- when something goes wrong -------------------------------------------------------------------------------


def test_killed_in_the_middle_of_a_change_it_was_made_or_it_was_not(make, subtests):
    service = make(asking={"rate": 1.0})
    service.post("/v1/classes", CHANGES)
    labels = ["ham", "spam", "eggs"]
    for part in range(4):
        service.send(*(f"{part}-{n}" for n in range(250)))
    for n in range(60):
        service.post("/v1/labels", {"event": f"0-{n}", "label": labels[n % 3]})
    service.wait_until_idle()
    kind = "text"
    for delay in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8):
        kind = "category" if kind == "text" else "text"
        before = service.get("/v1/classes").json()["scheme"]
        client, body = service.client, {"fields": {"size": kind}}

        def send(client=client, body=body):
            with contextlib.suppress(httpx.HTTPError):  # the process is gone
                client.post("/v1/classes", json=body)

        thread = threading.Thread(target=send)
        thread.start()
        time.sleep(delay)
        service.process.kill()
        service.process.wait()
        thread.join()
        with subtests.test(delay=delay):
            service.digest()
        service.start()
        after = service.get("/v1/classes").json()
        given = {found["field"]: found["given"] for found in after["fields"]}["size"]
        assert (after["scheme"] != before) == (given == kind)
        kind = given
        assert service.send(f"after-{delay}")[0]["label"] in labels
    service.stop()
    service.digest()
    assert service.run("doctor", "--deep").stdout.endswith("All is well.\n")


def test_fronts_and_whoever_takes_over_know_the_classes(tmp_path, postgres, nursery):
    members = Members(tmp_path, postgres.new_database(), nursery)
    try:
        first = members.start("owner")
        members.wait_for_owner()
        here, there = members.start("front"), members.start("front")
        here.send("a", "b")
        assert here.post("/v1/classes", CHANGES).json()["done"]
        for front in (here, there):
            wait_until(lambda front=front: front.get("/v1/me").json()["classes"] == ["ham", "spam", "eggs"])
        there.post("/v1/labels", {"event": "a", "label": "eggs"})
        here.wait_until_idle()
        assert '"label":"eggs"' in there.get("/v1/export.jsonl").text
        members.start("owner")
        epoch = members.epoch()
        first.kill()
        members.wait_for_owner(epoch)
        assert set(here.send("c")[0]["probabilities"]) == {"ham", "spam", "eggs"}
        assert there.stats()["labels"]["per_class"] == {"ham": 0, "spam": 0, "eggs": 1}
        fresh = members.start("front")
        assert fresh.get("/v1/me").json()["classes"] == ["ham", "spam", "eggs"]
    finally:
        members.all = [member for member in members.all if member.process.poll() is None]
        members.stop()
    members.made.digest()
