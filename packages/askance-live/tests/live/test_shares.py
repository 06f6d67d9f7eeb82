"""What senders share is shared fairly: nobody's requests keep those of somebody else out."""

import asyncio
import json
import threading
from contextlib import suppress

import pytest
from tests.live.asgi import Call, held, new_service, wait_for
from tests.patience import PATIENCE

from askance_live.exchange.received import read_event
from askance_live.http.request_limits import Slots
from askance_live.problems import Problem
from askance_live.service import MOST_ENTRANCES, MOST_EXPORTS, MOST_WATCHERS

COOKIE = {"cookie": "askance_session=made-up"}


def test_one_sender_gets_half_two_a_third_and_whoever_has_none_finds_a_place():
    slots = Slots(60, "full")

    def take_all(sender):
        with suppress(Problem):
            while True:
                slots.take(sender)
        return slots.held[sender]

    assert take_all("a") == 30
    assert take_all("b") == 15
    for _ in range(30):
        slots.release("a")
    assert "a" not in slots.held
    assert take_all("b") == 30
    assert take_all("a") == 15
    for sender in "cdefgh":
        slots.take(sender)


def test_without_a_token_no_request_takes_a_place_from_anybody(tmp_path):
    async def use():
        with new_service(tmp_path, {"ana": "label"}, concurrency=8) as (service, tokens):
            await service._stats_lock.acquire()  # whoever wants the numbers waits
            asked = [Call(service, "GET", "/metrics") for _ in range(300)]
            with held(service.engine):
                logouts = [Call(service, "POST", "/logout", headers=COOKIE) for _ in range(300)]
                assert {await call.end() for call in logouts} == {303}  # without the writer
                assert await Call(service, "GET", "/v1/me", tokens["ana"]).end() == 200
                assert await Call(service, "GET", "/livez").end() == 200
            assert not any(call.status for call in asked)
            service._stats_lock.release()
            assert {await call.end() for call in asked} == {200}

    asyncio.run(use())


def test_links_that_were_made_up_leave_the_writer_few_jobs(tmp_path):
    async def use():
        with new_service(tmp_path, {"ana": "label"}) as (service, tokens):
            with held(service.engine):
                tried = [
                    Call(service, "POST", "/enter", body=b"key=made-up", address=f"10.1.0.{k}")
                    for k in range(MOST_ENTRANCES + 8)
                ]
                await wait_for(lambda: sum(call.status == 503 for call in tried) == 8)
                assert service.engine.waiting == MOST_ENTRANCES
                assert await Call(service, "GET", "/v1/me", tokens["ana"]).end() == 200
            await asyncio.gather(*(call.end() for call in tried))
            assert service.entrances.total == 0

    asyncio.run(use())


def test_the_numbers_are_made_once_for_all_who_wait_and_not_before_they_asked(tmp_path):
    async def use():
        with new_service(tmp_path, {}) as (service, _):
            made = []
            whole = service.metrics.text
            service.metrics.text = lambda: made.append(len(made)) or whole()
            await service._stats_lock.acquire()
            asked = [Call(service, "GET", "/metrics", address="127.0.0.1") for _ in range(100)]
            await asyncio.sleep(0)
            service._stats_lock.release()
            assert {await call.end() for call in asked} == {200}
            assert len(made) <= 2
            before = len(made)
            for _ in range(3):
                assert await Call(service, "GET", "/metrics", address="127.0.0.1").end() == 200
            assert len(made) == before + 3

    asyncio.run(use())


def test_one_token_leaves_places_to_others_wherever_it_is_used(tmp_path):
    async def use():
        tokens = {"ana": "label", "bob": "label", "root": "admin"}
        with new_service(tmp_path, tokens, concurrency=60) as (service, secrets):
            body = b'[{"event": "x", "label": "ham"}]'

            def send(name, number):
                return [
                    Call(service, "POST", "/v1/labels", secrets[name], body, f"10.0.0.{k % 7}") for k in range(number)
                ]

            with held(service.engine):
                of_ana = send("ana", 300)
                await wait_for(lambda: sum(call.status == 503 for call in of_ana) == 270)
                of_bob = send("bob", 300)
                await wait_for(lambda: sum(call.status == 503 for call in of_bob) == 285)
                assert await Call(service, "GET", "/v1/me", secrets["root"]).end() == 200
                assert service.slots.total == 45
            assert sorted({await call.end() for call in of_ana + of_bob}) == [200, 503]
            assert of_ana[-1].headers["retry-after"] == "1"
            assert not service.slots.total
            assert not service.slots.held

    asyncio.run(use())


def test_logins_with_one_token_leave_places_to_others(tmp_path):
    async def use():
        with new_service(tmp_path, {"ana": "label", "bob": "label"}, concurrency=8) as (service, secrets):
            body = f"token={secrets['ana']}".encode()
            with held(service.engine):
                logins = [Call(service, "POST", "/login", body=body) for _ in range(20)]
                await wait_for(lambda: sum(call.status == 503 for call in logins) == 16)
                assert await Call(service, "GET", "/v1/me", secrets["bob"]).end() == 200
            assert sum([await call.end() == 303 for call in logins]) == 4

    asyncio.run(use())


def test_unfinished_bodies_count_for_their_token_from_whatever_address(tmp_path):
    async def use():
        with new_service(tmp_path, {"ana": "ingest", "bob": "ingest"}, body_bytes=200_000) as (service, secrets):
            calls = [
                Call(service, "POST", "/v1/events", secrets["ana"], b" " * 199_000, f"10.0.0.{k}", unfinished=True)
                for k in range(40)
            ]
            await wait_for(lambda: sum(call.status == 503 for call in calls) == 35)  # five more than their first 64 kB
            assert service.memory.total <= service.memory.most / 4
            body = b'[{"fields": {"text": "' + b"x" * 150_000 + b'"}}]'
            assert await Call(service, "POST", "/v1/events", secrets["bob"], body, "10.0.0.1").end() == 200
            for call in calls:
                await call.hang_up()
            assert not service.memory.total

    asyncio.run(use())


@pytest.mark.parametrize("path", ["/v1/export.jsonl", "/v1/export.csv"])
def test_exports_that_are_not_read_leave_places_and_readers_to_others(tmp_path, path):
    async def use():
        with new_service(tmp_path, {"ana": "read", "bob": "read label"}) as (service, secrets):
            event = json.dumps({"fields": {"text": "hello"}}).encode()
            service.keys.refresh()
            service.engine.ingest([read_event(json.loads(event), 10_000)]).result(PATIENCE)
            unread = [Call(service, "GET", path, secrets["ana"], unread=True) for _ in range(300)]
            await wait_for(lambda: sum(call.status == 503 for call in unread) == 300 - MOST_EXPORTS // 2)
            await wait_for(lambda: sum(call.status == 200 for call in unread) == MOST_EXPORTS // 2)
            assert await Call(service, "GET", "/v1/answers", secrets["bob"]).end() == 200
            export = Call(service, "GET", path, secrets["bob"])
            assert await export.end() == 200
            assert b"hello" in export.body
            for call in unread:
                await call.hang_up()
            assert not service.exports.total
            assert not service.exports.held

    asyncio.run(use())


def test_short_reads_do_not_wait_for_the_readers_of_exports(tmp_path):
    async def use():
        with new_service(tmp_path, {"ana": "read", "bob": "read label"}) as (service, secrets):
            let_go = threading.Event()
            for _ in range(100):  # all that exports have to read for a while
                service.exporters.submit(let_go.wait, PATIENCE)
            export = Call(service, "GET", "/v1/export.jsonl", secrets["ana"])
            assert await Call(service, "GET", "/v1/answers", secrets["bob"]).end() == 200
            assert export.body == b""
            let_go.set()
            assert await export.end() == 200

    asyncio.run(use())


def test_one_token_leaves_places_to_others_who_watch(tmp_path):
    async def use():
        with new_service(tmp_path, {"ana": "read", "bob": "read"}) as (service, secrets):
            watching = [Call(service, "GET", "/v1/live", secrets["ana"]) for _ in range(200)]
            await wait_for(lambda: sum(call.status == 503 for call in watching) == 200 - MOST_WATCHERS // 2)
            other = Call(service, "GET", "/v1/live", secrets["bob"])
            await wait_for(lambda: b"event: stats" in other.body)
            assert other.status == 200
            for call in (*watching, other):
                await call.hang_up()
            assert not service.watchers.total

    asyncio.run(use())
