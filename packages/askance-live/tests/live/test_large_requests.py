"""Large requests and responses: made and encoded beside the event loop, and gone from memory when they are over."""

import asyncio
import gc
import json
import re
import threading
from pathlib import Path

import pytest
from tests.live.asgi import Call, new_service
from tests.live.hostile import FULL, JSON, LINES, lists_for_names

from askance_live import service as services
from askance_live.problems import Problem

pytestmark = pytest.mark.hostile

LENGTH = 241  # of a list by which items are found again
NUMBERS = [0.5] * LENGTH
ITEMS = {
    "a label for a list": ("/v1/labels", {"event": NUMBERS, "label": "ham"}),
    "a label that there is not": ("/v1/labels", {"event": "x", "label": "ham", "more": NUMBERS}),
    "a label of an unknown event": ("/v1/labels", {"event": "x", "label": "ham"}),
    "a list for a name": ("/v1/events", {"id": NUMBERS, "fields": {}}),
    "no fields": ("/v1/events", {"id": "x", "fields": NUMBERS}),
    "a bad time": ("/v1/events", {"fields": {"a": NUMBERS}, "time": "never"}),
    "an event": ("/v1/events", {"fields": {"a": NUMBERS}}),
}
FORMS = {
    "one": lambda items: (items[0], {}),
    "an array": lambda items: (b"[" + b",".join(items) + b"]", {}),
    "lines": lambda items: (b"\n".join(items), LINES),
    "broken lines": lambda items: (b"\n".join(item + b"}" for item in items), LINES),
    "a broken array": lambda items: (b"[" + b",".join(items) + b",}]", {}),
}


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with new_service(tmp_path_factory.mktemp("large"), {"ana": "admin"}) as (service, tokens):
        yield service, tokens["ana"]


def count_lists():
    return sum(type(found) is list and len(found) == LENGTH for found in gc.get_objects())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("what", ITEMS)
def test_nothing_of_a_request_waits_for_the_garbage_collector(running, what, form):
    service, token = running
    path, item = ITEMS[what]
    body, headers = FORMS[form]([json.dumps(item).encode()] * 100)

    async def use():
        call = Call(service, "POST", path, token, body, headers=headers)
        assert await call.end() < 500
        await Call(service, "GET", "/v1/me", token).end()  # threads let go of the last thing when they get the next
        await service.engine.do(lambda session, state: None)

    asyncio.run(use())
    gc.collect()
    before = count_lists()
    gc.disable()
    try:
        asyncio.run(use())
        assert count_lists() - before <= 0
    finally:
        gc.enable()


def test_a_problem_that_is_kept_keeps_nothing_else():
    try:
        try:
            raise ValueError
        except ValueError:
            raise Problem("invalid", "no.")  # noqa: B904
    except Problem as problem:
        found = problem.alone()
    assert (found.__traceback__, found.__context__, found.__cause__) == (None, None, None)


def test_large_responses_are_encoded_beside_the_loop(running, monkeypatch):
    service, token = running
    threads, whole = [], services.encode

    def noted(value):
        threads.append(threading.current_thread())
        return whole(value)

    monkeypatch.setattr(services, "encode", noted)

    async def use():
        body = json.dumps([{"event": "nobody", "label": "ham"}] * 1000).encode()
        call = Call(service, "POST", "/v1/labels", token, body)
        assert await call.end() == 200
        assert call.json()["errors"] == 1000
        assert call.json()["items"][-1]["event"] == "nobody"
        assert await Call(service, "GET", "/v1/answers", token).end() == 200

    asyncio.run(use())
    assert len(threads) == 2
    assert threading.main_thread() not in threads


@pytest.mark.parametrize("value", [[], {}, {"a": []}, {"a": list(range(40)), 'b"': "x", "c": [[1]] * 30}, None, 1.5])
def test_what_is_encoded_item_by_item_is_the_same(value):
    assert json.loads(services.encode(value)) == value


@pytest.mark.prove
def test_large_requests_one_after_the_other_take_no_more_memory_than_one(make):
    service = make()
    body = lists_for_names(FULL)

    def send():
        assert service.client.post("/v1/labels", content=body, headers=JSON).status_code == 200
        status = Path(f"/proc/{service.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) / 1000

    first = max(send() for _ in range(3))
    assert max(send() for _ in range(20)) < first + 150.0  # each has 80 MB while it is being read
