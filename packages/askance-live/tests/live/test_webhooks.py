"""Webhooks: signed messages that survive crashes and dead receivers, and never reach a private address by accident."""

import base64
import json
import socket
import time

import pytest
from tests.live.in_process import create_store, running_engine
from tests.live.receiver import receiving
from tests.patience import PATIENCE, wait_until

from askance.errors import InvalidParameter
from askance_live.config import from_document
from askance_live.problems import StartError
from askance_live.store import open_store
from askance_live.webhooks import outbox, sender
from askance_live.webhooks.sender import Refused, check_address, resolve
from askance_live.webhooks.settings import EVENTS, examine_webhooks, read_webhooks

KEY = "whsec_" + base64.b64encode(b"sixteen bytes and more").decode()


def hook(receiver, folder, *events, **more):
    """The settings of a webhook on this machine."""
    key = folder / "hook.key"
    key.write_text(KEY)
    key.chmod(0o600)
    return {"url": receiver.url, "events": list(events), "secret_file": str(key), "private": True, **more}


def bodies(receiver, event):
    found = [json.loads(message.body) for message in receiver.messages]
    return [body["data"] for body in found if body["type"] == event]


def count_waiting(service):
    database = open_store(service.store)
    try:
        with database.read() as session:
            return int(session.value("SELECT count(*) FROM outbox"))
    finally:
        database.close()


def test_questions_and_answers_are_told_signed_and_in_order(make, store, tmp_path):
    with receiving() as receiver:
        service = make(store=store, webhooks=[hook(receiver, tmp_path, "question.asked", "answer.learned")])
        service.send("a", "b", "c")
        wait_until(lambda: len(bodies(receiver, "question.asked")) == 3, "three questions told")
        assert [data["event"] for data in bodies(receiver, "question.asked")] == ["a", "b", "c"]
        (ask,) = service.next(1)
        service.answer(ask, "spam")
        wait_until(lambda: bodies(receiver, "answer.learned"), "an answer told")
        (told,) = bodies(receiver, "answer.learned")
        assert told == {"event": ask["event"]["id"], "ask": ask["id"], "label": "spam", "annotator": "local"}
        wait_until(lambda: count_waiting(service) == 0, "an empty outbox")
        identifiers = [message.headers["webhook-id"] for message in receiver.messages]
        assert len(set(identifiers)) == 4
        assert service.get("/readyz").json()["warnings"] == []
        verify = pytest.importorskip("standardwebhooks", reason="standardwebhooks is not installed").Webhook(KEY).verify
        for message in receiver.messages:
            assert verify(message.body, message.headers)["stream"] == "askance"
            with pytest.raises(Exception, match="signature"):
                verify(message.body + b" ", message.headers)


def test_a_crash_loses_no_message_and_repeats_it_under_its_id(make, store, tmp_path):
    with receiving() as receiver:
        receiver.held.clear()  # it has the message, and says nothing
        service = make(store=store, webhooks=[hook(receiver, tmp_path, "question.asked")])
        service.send("a", "b")
        wait_until(lambda: receiver.messages, "a message under way")
        service.kill()
        receiver.held.set()
        service.start()
        wait_until(lambda: {data["event"] for data in bodies(receiver, "question.asked")} == {"a", "b"}, "both")
        wait_until(lambda: count_waiting(service) == 0, "an empty outbox")
        first, second = receiver.messages[:2]
        assert first.body == second.body
        assert first.headers["webhook-id"] == second.headers["webhook-id"]


def test_a_receiver_that_is_slow_or_gone_delays_nobody(make, tmp_path):
    with receiving() as slow, receiving() as quick:
        slow.held.clear()
        hooks = [hook(slow, tmp_path, "question.asked"), hook(quick, tmp_path, "question.asked")]
        with socket.socket() as gone:
            gone.bind(("127.0.0.1", 0))  # and does not listen
            hooks.append({**hooks[0], "url": f"http://127.0.0.1:{gone.getsockname()[1]}/"})
            service = make(webhooks=hooks)
            service.send(*(f"e-{k}" for k in range(5)))
            wait_until(lambda: len(quick.messages) == 5, "the quick one has all")
            assert len(slow.messages) == 1
            wait_until(lambda: service.get("/readyz").json()["warnings"], "a warning of what waits")
            (warning,) = service.get("/readyz").json()["warnings"]
            assert warning.startswith("the webhook at 127.0.0.1 does not take messages")
            service.process.terminate()
            assert service.process.wait() == 0  # while a message is under way
            service.start()
            done = service.run("doctor", check=False)
            assert "the webhook at 127.0.0.1 has not taken a message for" in done.stdout
            slow.held.set()


def test_a_refused_message_is_tried_again_and_a_redirect_is_not_followed(make, tmp_path, monkeypatch):
    with receiving() as receiver:
        receiver.status = 302
        service = make(clock=0.0, webhooks=[hook(receiver, tmp_path, "question.asked")])
        service.send("a")
        wait_until(lambda: service.get("/readyz").json()["warnings"], "a warning of what waits")
        assert "answered 302" in service.get("/readyz").json()["warnings"][0]
        assert {message.path for message in receiver.messages} == {"/hook"}
        receiver.status = 200
        wait_until(lambda: count_waiting(service) == 0, "the next try")  # after five seconds
        assert len(receiver.messages) == 2
        assert service.get("/readyz").json()["warnings"] == []


def test_a_spent_budget_is_told_once_restarts_or_not(make, tmp_path):
    with receiving() as receiver:
        service = make(webhooks=[hook(receiver, tmp_path, "budget.spent")], asking={"total": 2, "rate": 1.0})
        service.send(*(f"e-{k}" for k in range(5)))
        wait_until(lambda: receiver.messages, "a message")
        assert bodies(receiver, "budget.spent") == [{"spent": ["total"]}]
        service.restart()
        service.send("more")
        wait_until(lambda: service.get("/v1/stats").json()["budget"]["exhausted"], "numbers")
        groups = service.get("/v1/stats", headers={"cache-control": "no-cache"}).json()["uptime"]
        wait_until(
            lambda: service.get("/v1/stats", headers={"cache-control": "no-cache"}).json()["uptime"] > groups + 2.5,
            "two sweeps",
        )
        assert len(receiver.messages) == 1


def test_a_drift_alarm_is_told_once(make, tmp_path):
    """The first random checks are answered as predicted, the later ones are not."""
    with receiving() as receiver:
        asking = {"audit": 0.99, "rate": 1.0}
        service = make(webhooks=[hook(receiver, tmp_path, "drift.alarm")], asking=asking)
        service.send("a", "b")
        service.post("/v1/labels", [{"event": "a", "label": "spam"}, {"event": "b", "label": "ham"}])
        service.wait_until_learned(2)
        audits = []
        for part in range(100):
            audits += [item for item in service.send(*(f"e-{part}-{k}" for k in range(250))) if item["audit"]]
            if len(audits) >= 120:
                break
        right, wrong = audits[:60], audits[60:120]
        other = {"ham": "spam", "spam": "ham"}
        service.post("/v1/labels", [{"event": item["id"], "label": item["label"]} for item in right])
        service.wait_until_learned(62)
        assert service.stats()["drift"]["level"] == "none"
        assert receiver.messages == []
        service.post("/v1/labels", [{"event": item["id"], "label": other[item["label"]]} for item in wrong])
        wait_until(lambda: receiver.messages, "a message")
        (told,) = bodies(receiver, "drift.alarm")
        assert 60 < told["sampled"] <= 120
        service.wait_until_learned(122)
        assert service.stats()["drift"]["level"] == "drift"
        service.restart()
        began = service.stats()["uptime"]
        wait_until(lambda: service.stats()["uptime"] > began + 2.5, "two sweeps")
        assert len(receiver.messages) == 1


def test_little_room_is_told(make, tmp_path):
    import shutil

    with receiving() as receiver:
        free = shutil.disk_usage(tmp_path).free
        make(webhooks=[hook(receiver, tmp_path, "disk.low")], server={"disk_reserve": int(free * 0.7)})
        wait_until(lambda: receiver.messages, "a message")
        (data,) = bodies(receiver, "disk.low")
        assert data["free_bytes"] < 2 * data["reserve_bytes"]


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "255.255.255.255", "192.0.2.1", "::1", "::", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1",
        "fec0::1", "feff::1%eth0", "::127.0.0.1", "::10.0.0.1", "::8.8.8.8", "::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8",
        "64:ff9b::169.254.169.254", "64:ff9b:1::8.8.8.8", "2002:808:808::1", "2001:0:808:808::1", "3fff::1", "4000::1",
        "0.1.2.3", "100.127.255.254", "198.18.0.1", "192.88.99.1", "240.0.0.1", "239.255.255.250", "ff0e::1",
        "192.0.0.8",
    ],
)  # fmt: skip
def test_no_private_address_is_reached(address):
    with pytest.raises(Refused, match="private"):
        check_address(address)


def test_public_addresses_are_and_every_address_of_a_name_counts(monkeypatch):
    for address in ("93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"):
        check_address(address)
    found = [(0, 0, 0, "", ("93.184.215.14", 443)), (0, 0, 0, "", ("10.0.0.1", 443))]
    monkeypatch.setattr(sender.socket, "getaddrinfo", lambda *words, **more: found)
    with pytest.raises(Refused, match=r"10\.0\.0\.1"):
        resolve("rebinding.example", 443, private=False)
    assert resolve("rebinding.example", 443, private=True) == ("93.184.215.14", 443)


@pytest.mark.parametrize(
    "host", ["2130706433", "0x7f000001", "017700000001", "127.1", "0", "0177.0.0.1", "localhost", "::1", "127.0.0.1"]
)
def test_other_spellings_of_a_private_address_lead_nowhere(host):
    with pytest.raises(Refused, match=r"private|not known"):
        resolve(host, 443, private=False)


def test_a_webhook_to_this_machine_needs_a_word(make, tmp_path):
    with receiving() as receiver:
        port = receiver.url.rpartition(":")[2]
        own = hook(receiver, tmp_path, "question.asked", url=f"https://127.0.0.1:{port}", private=False)
        service = make(webhooks=[own])
        service.send("a")
        wait_until(lambda: service.get("/readyz").json()["warnings"], "a warning of what waits")
        assert "127.0.0.1 is a private address" in service.get("/readyz").json()["warnings"][0]
        assert receiver.messages == []


def test_messages_are_given_up_after_three_days_and_beyond_a_number(tmp_path, store, monkeypatch):
    monkeypatch.setattr(outbox, "MOST_WAITING", 3)
    with receiving() as receiver:
        config = create_store(tmp_path, store, webhooks=[hook(receiver, tmp_path, "disk.low")])
        with running_engine(config) as engine:

            def work(session, state):
                session.execute("DELETE FROM outbox")
                outbox.emit(session, state, "disk.low", [{"n": n} for n in range(5)])
                rows = outbox.DUE.all(session, (receiver.url, state.clock.now(), 10))
                outbox.note_failure(session, rows[4], "why", state.clock.now())
                left = outbox.DUE.all(session, (receiver.url, state.clock.now() + 5.0, 10))
                outbox.note_failure(session, rows[3], "why", state.clock.now() + outbox.LASTING + 1)
                last = outbox.DUE.all(session, (receiver.url, state.clock.now() + 9e9, 10))
                findings = outbox.examine_outbox(session, config, state.clock.now())
                return [row.seq for row in left], [row.seq for row in last], findings

            left, last, findings = engine.submit(work).result(PATIENCE)
    assert (left, last) == ([3, 4, 5], [3, 5])
    assert findings[0].startswith("3 messages to the webhook at 127.0.0.1 were given up")


def test_what_waits_is_bounded_in_messages_and_in_bytes_and_counted(tmp_path, store, monkeypatch):
    """Also while nothing fails, such as when the receiver is slow; a look every so many messages is enough."""
    monkeypatch.setattr(outbox, "LOOK_EVERY", 10)
    with receiving() as receiver:
        receiver.held.clear()  # it takes none
        config = create_store(tmp_path, store, webhooks=[hook(receiver, tmp_path, "disk.low")])
        with running_engine(config) as engine:

            def tell(session, state, number, text):
                for n in range(number):
                    outbox.emit(session, state, "disk.low", [{"n": n, "text": text}])
                return outbox.count_waiting(session, receiver.url)

            monkeypatch.setattr(outbox, "MOST_WAITING", 15)
            found = engine.submit(lambda session, state: tell(session, state, 95, "short")).result(PATIENCE)
            assert 15 <= found.messages < 25
            assert found.given_up + found.messages == 95
            monkeypatch.setattr(outbox, "MOST_BYTES", 50_000)
            found = engine.submit(lambda session, state: tell(session, state, 25, "x" * 10_000)).result(PATIENCE)
            assert found.bytes < 50_000 + 10 * 10_200
            assert found.given_up + found.messages == 120

            def look(session, state):
                return outbox.DUE.all(session, (receiver.url, state.clock.now(), 1000)), outbox.examine_outbox(
                    session, config, state.clock.now()
                )

            rows, findings = engine.submit(look).result(PATIENCE)
            assert json.loads(rows[-1].body)["data"]["n"] == 24  # the newest are there
            assert findings[0].endswith("messages to the webhook at 127.0.0.1 were given up; see to its receiver.")
            receiver.held.set()


def test_messages_to_an_address_that_the_settings_name_no_more_end(tmp_path, store):
    with receiving() as receiver:
        config = create_store(tmp_path, store, webhooks=[hook(receiver, tmp_path, "disk.low")])
        other = receiver.url.replace("/hook", "/other")

        def count(session, state):
            return session.all("SELECT hook, count(*) FROM outbox GROUP BY hook")

        with running_engine(config) as engine:

            def tell(session, state):
                outbox.emit(session, state, "disk.low", [{"n": n} for n in range(3)])
                session.execute("UPDATE outbox SET created = ?", (state.clock.now() - outbox.LASTING - 1,))
                session.execute("UPDATE outbox SET hook = ? WHERE seq > 1", (other,))

            engine.submit(tell).result(PATIENCE)
        with running_engine(config) as engine:
            assert engine.submit(count).result(PATIENCE) == [(receiver.url, 1)]


def test_what_waits_is_told_to_monitoring(make, tmp_path):
    with receiving() as receiver:
        receiver.status = 500
        service = make(webhooks=[hook(receiver, tmp_path, "question.asked")])
        service.send("a", "b")
        wait_until(
            lambda: 'askance_webhook_messages{host="127.0.0.1"} 2.0' in service.get("/metrics").text, "two that wait"
        )
        assert 'askance_webhook_given_up{host="127.0.0.1"} 0.0' in service.get("/metrics").text
        wait_until(lambda: service.get("/readyz").json()["warnings"], "a warning of what waits")
        assert "2 wait, 0 were given up" in service.get("/readyz").json()["warnings"][0]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"url": "ftp://example.org"}, "must be an address such as"),
        ({"url": "https://user:password@example.org/"}, "must be an address such as"),
        ({"url": "https://exa mple.org/"}, "must be an address such as"),
        ({"url": "https://example.org:99999/"}, "must be an address such as"),
        ({"url": "http://example.org/"}, "is for private = true only"),
        ({"url": 7}, "must be an address such as"),
        ({"events": ["everything"]}, "must be a list of question.asked"),
        ({"events": "disk.low"}, "must be a list of question.asked"),
        ({"events": []}, "needs events"),
        ({"private": "yes"}, "must be true or false"),
        ({"secret_file": 3}, "must be the name of a file"),
        ({"password": "x"}, "there is no setting webhooks.password"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused_in_a_sentence(tmp_path, change, sentence):
    table = {"url": "https://example.org/", "events": list(EVENTS), "secret_file": "hook.key", **change}
    with pytest.raises(InvalidParameter, match=sentence):
        read_webhooks([table], tmp_path)


def test_two_of_an_address_and_what_is_no_table_are_refused(tmp_path):
    table = {"url": "https://example.org/", "events": list(EVENTS), "secret_file": "hook.key"}
    with pytest.raises(InvalidParameter, match="the same url"):
        read_webhooks([table, table], tmp_path)
    with pytest.raises(InvalidParameter, match=r"under \[\[webhooks\]\]"):
        from_document({"classes": ["a", "b"], "webhooks": {"url": "x"}})


def test_a_key_that_is_missing_short_or_open_to_all_is_told(tmp_path):
    table = {"url": "https://example.org/", "events": ["disk.low"], "secret_file": "hook.key"}
    (made,) = hooks = read_webhooks([table], tmp_path)
    assert "cannot read" in examine_webhooks(hooks)[0]
    for text in ("c2hvcnQ=", "no base64!", "\N{GREEK SMALL LETTER ALPHA}"):
        (tmp_path / "hook.key").write_text(text)
        with pytest.raises(StartError, match="openssl rand"):
            made.key()
    (tmp_path / "hook.key").write_text(KEY)
    (tmp_path / "hook.key").chmod(0o644)
    assert "can be read by anybody" in examine_webhooks(hooks)[0]
    (tmp_path / "hook.key").chmod(0o600)
    assert examine_webhooks(hooks) == []


def test_a_message_names_a_time_near_now(make, tmp_path):
    with receiving() as receiver:
        service = make(webhooks=[hook(receiver, tmp_path, "question.asked")])
        service.send("a")
        wait_until(lambda: receiver.messages, "a message")
        assert abs(int(receiver.messages[0].headers["webhook-timestamp"]) - time.time()) < PATIENCE
