"""Bodies that are wrong, huge, deep, slow or hostile: refused in a sentence, with flat memory, and others unharmed."""

import contextlib
import gzip
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import httpx
import pytest
from tests.patience import PATIENCE

from askance_live.http.protocol import MOST_UNWANTED

pytestmark = pytest.mark.hostile

BAD = {
    "truncated": (b'{"id": "a", "fields": {"text": "hel', "text"),
    "no JSON": (b"hello", None),
    "empty": (b"", None),
    "a number": (b"3", None),
    "trailing": (b'{"fields": {}} x', None),
    "duplicate keys": (b'{"id": "a", "fields": {"size": 1, "text": "x", "size": 2}}', "size"),
    "duplicate keys with odd spaces": (b'{"id" : "a", "fields": {"size" :1, "text": "a\\":b", "size": 2}}', "size"),
    "invalid UTF-8": (b'{"fields": {"text": "\xff\xfe"}}', "text"),
    "overlong UTF-8": (b'{"fields": {"text": "\xc0\x80"}}', "text"),
    "NUL": (b'{"fields": {"text": "a\\u0000b"}}', "text"),
    "raw NUL": (b'{"fields": {"text": "a\x00b"}}', "text"),
    "control character": (b'{"fields": {"text": "a\x01b"}}', None),
    "lone high surrogate": (b'{"fields": {"text": "\\ud800"}}', "text"),
    "lone low surrogate": (b'{"fields": {"text": "x\\udc00y"}}', "text"),
    "surrogate in a name": (b'{"fields": {"\\ud800": 1}}', None),
    "NaN": (b'{"fields": {"size": NaN}}', "size"),
    "Infinity": (b'{"fields": {"size": Infinity}}', "size"),
    "-Infinity": (b'{"fields": {"size": -Infinity}}', "size"),
    "1e999": (b'{"fields": {"size": 1e999}}', "size"),
    "-1e999": (b'{"fields": {"size": -1e999}}', "size"),
    "2**70": (b'{"fields": {"size": 1180591620717411303424}}', "size"),
    "-2**70 in a list": (b'{"fields": {"a": {"b": [1, -1180591620717411303424]}}}', "a.b.1"),
    "5000 digits": (b'{"fields": {"size": ' + b"7" * 5000 + b"}}", "size"),
    "depth 33": (b'{"fields": {"x": ' + b"[" * 40 + b"]" * 40 + b"}}", None),
    "depth 100,000": (b'{"fields": {"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}", None),
    "depth 100,000 open": (b"[" * 100_000, None),
    "deep objects": (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, None),
    "no fields": (b'{"id": "a"}', "fields"),
    "fields no object": (b'{"fields": [1]}', "fields"),
    "unknown name": (b'{"fields": {}, "lable": "x"}', "lable"),
    "id an object": (b'{"id": {}, "fields": {}}', "id"),
    "id too long": (b'{"id": "' + b"x" * 201 + b'", "fields": {}}', "id"),
    "id empty": (b'{"id": "", "fields": {}}', "id"),
    "id with a line break": (b'{"id": "a\\nb", "fields": {}}', "id"),
    "time an object": (b'{"time": {}, "fields": {}}', "time"),
    "time a word": (b'{"time": "yesterday", "fields": {}}', "time"),
    "time no day of any year": (b'{"time": "2026-02-30T10:00:00Z", "fields": {}}', "time"),
    "time after the year 9999": (b'{"time": 1e18, "fields": {}}', "time"),
    "time of 300 digits": (b'{"time": 1' + b"0" * 300 + b', "fields": {}}', "time"),
    "time a truth value": (b'{"time": true, "fields": {}}', "time"),
    "event of 300 kB": (json.dumps({"fields": {"text": "x" * 300_000}}).encode(), None),
}
KEPT = {
    "1e200, whose square overflows": (b'{"fields": {"size": 1e200}}', "size"),
    "a word for a number": (b'{"fields": {"size": "many"}}', "size"),
    "an infinity in a string": (b'{"fields": {"size": "inf"}}', "size"),
    "a name twice, nested": (b'{"fields": {"a.b": 1, "a": {"b": 2}}}', "a.b"),
}


@pytest.fixture(scope="module")
def service(make_for_all):
    running = make_for_all(server={"receipt_seconds": 2.0})
    running.send("good")
    return running


def memory(service):
    """Resident bytes."""
    pages = int(Path(f"/proc/{service.process.pid}/statm").read_text().split()[1])
    return pages * 4096


@pytest.mark.parametrize("name", BAD)
def test_a_bad_body_is_refused_naming_the_field(service, name):
    body, field = BAD[name]
    before = service.stats()["events"]["total"]
    response = service.client.post("/v1/events", content=body)
    assert response.status_code in (400, 413, 422), response.text
    problem = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert problem["status"] == response.status_code
    assert problem["detail"].endswith(".")
    if field:
        assert field in problem["detail"]
    assert service.stats()["events"]["total"] == before
    assert service.get("/readyz").status_code == 200


@pytest.mark.parametrize("name", KEPT)
def test_what_cannot_be_encoded_is_kept_naming_the_field(service, name):
    body, field = KEPT[name]
    before = service.stats()
    response = service.client.post("/v1/events", content=body)
    assert (response.status_code, response.json()["code"]) == (202, "quarantined")
    assert response.json()["field"] == field
    assert f"field {field!r}" in response.json()["detail"]
    after = service.stats()
    assert after["events"]["total"] == before["events"]["total"]
    assert after["quarantine"]["held"] == before["quarantine"]["held"] + 1
    assert after["quarantine"]["newest"][0]["id"] == response.json()["id"]


def test_odd_but_good_values_are_taken_and_the_model_stays_finite(service):
    values = [2**64 - 1, -(2**63), 1e150, -1e150, 5e-324, 0, True, None, "  7 ", 12345678901234567890, 2.0**70]
    for place, value in enumerate(values):
        response = service.post("/v1/events", {"id": f"odd-{place}", "fields": {"size": value, "text": "😀 ñ"}})
        assert response.status_code == 201, response.text
        assert all(0 <= chance <= 1 for chance in response.json()["probabilities"].values())
        service.post("/v1/labels", {"event": f"odd-{place}", "label": "spam" if place % 2 else "ham"})
    service.wait_until_learned(len(values))
    again = service.post("/v1/events", {"id": "odd-0", "fields": {"size": 2**64 - 1, "text": "😀 ñ"}})
    assert again.json()["duplicate"] is True
    exported = [json.loads(line) for line in service.get("/v1/export.jsonl").text.splitlines()]
    assert next(line for line in exported if line["id"] == "odd-0")["fields"]["size"] == 2**64 - 1


OVERSIZED = b"x" * 11_000_000


def by_httpx(service):
    """Its connection is kept and used again."""
    refused = service.client.post("/v1/events", content=OVERSIZED)
    assert service.get("/livez").status_code == 200
    return refused.status_code, refused.headers["content-type"], refused.content


def by_httpx_in_chunks(service):
    refused = service.client.post("/v1/events", content=iter([OVERSIZED[:100_000]] * 110))
    return refused.status_code, refused.headers["content-type"], refused.content


def by_urllib(service):
    """It sends all before it reads, and asks for an end of the connection."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{service.url}/v1/events", OVERSIZED, timeout=PATIENCE)
    return refused.value.code, refused.value.headers["content-type"], refused.value.read()


def by_urllib_in_chunks(service):
    request = urllib.request.Request(f"{service.url}/v1/events", iter([OVERSIZED[:100_000]] * 110), method="POST")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=PATIENCE)
    return refused.value.code, refused.value.headers["content-type"], refused.value.read()


def by_curl(service, *words):
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    body = service.folder / "oversized"
    body.write_bytes(OVERSIZED)
    form = ["-s", "-S", "-w", "\n%{http_code} %{content_type}", "--data-binary", f"@{body}", *words]
    done = subprocess.run(["curl", *form, f"{service.url}/v1/events"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    content, _, told = done.stdout.rpartition(b"\n")
    return int(told[:3]), told[4:].decode(), content


OVERSIZED_BY = {
    "httpx": by_httpx,
    "httpx in chunks": by_httpx_in_chunks,
    "urllib": by_urllib,
    "urllib in chunks": by_urllib_in_chunks,
    "curl": lambda service: by_curl(service, "-H", "Expect:"),
    "curl that waits to be told": lambda service: by_curl(service, "-H", "Expect: 100-continue"),
    "curl in chunks": lambda service: by_curl(service, "-H", "Expect:", "-H", "Transfer-Encoding: chunked"),
    "curl that asks for an end": lambda service: by_curl(service, "-H", "Expect:", "-H", "Connection: close"),
}


@pytest.mark.parametrize("way", OVERSIZED_BY)
def test_a_body_of_eleven_megabytes_ends_in_an_answer_that_the_client_reads(service, way):
    status, kind, content = OVERSIZED_BY[way](service)
    assert (status, kind) == (413, "application/problem+json")
    assert json.loads(content)["code"] == "body_too_large"


@pytest.mark.parametrize("head", [b"Content-Length: 1000000000\r\n", b"Transfer-Encoding: chunked\r\n"])
def test_what_is_sent_after_a_refusal_is_thrown_away_up_to_a_bound(service, head):
    """The answer is there before the body is; then the connection ends, and takes no more."""
    piece = b"186A0\r\n" + b"x" * 100_000 + b"\r\n" if b"chunked" in head else b"x" * 100_000
    with socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE) as connection:
        connection.sendall(b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n")
        sent = 0
        with contextlib.suppress(OSError):
            while sent < 10 * MOST_UNWANTED:
                connection.sendall(piece)
                sent += len(piece)
    assert sent < 5 * MOST_UNWANTED  # buffers of both sides included
    assert service.get("/livez").status_code == 200


def test_a_hundred_megabytes_and_a_gzip_bomb_are_refused_with_flat_memory(service):
    before = memory(service)
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.sendall(
            b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n" + b"x" * 1000
        )
        assert b" 413 " in connection.recv(1000)

    def endless():
        for _ in range(100):
            yield b"x" * 1_000_000

    with contextlib.suppress(httpx.TransportError):  # cut off while sending, or told
        assert service.client.post("/v1/events", content=endless()).status_code == 413
    bomb = gzip.compress(b" " * 500_000_000, 9)
    response = service.client.post("/v1/events", content=bomb, headers={"content-encoding": "gzip"})
    assert (response.status_code, response.json()["code"]) == (413, "body_too_large")
    assert memory(service) - before < 100_000_000
    broken = service.client.post("/v1/events", content=bomb[:1000], headers={"content-encoding": "gzip"})
    assert broken.status_code in (400, 413)
    strange = service.client.post("/v1/events", content=b"x", headers={"content-encoding": "zstd"})
    assert strange.status_code == 415


def seconds_until_cut(service, pause):
    """How long a client may dawdle that sends a byte, waits, and sends the next; others are served meanwhile."""
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", service.port)) as slow:
        slow.sendall(b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
        slow.settimeout(pause)
        while time.monotonic() - began < PATIENCE:
            try:
                slow.sendall(b"x")
                if slow.recv(100) == b"":
                    return time.monotonic() - began
            except TimeoutError:
                assert service.post("/v1/predict", {"fields": {"text": "hello"}}).status_code == 200
            except OSError:
                return time.monotonic() - began
    raise AssertionError("it was never cut")


def test_a_slow_client_is_cut_and_idle_connections_harm_nobody(service):
    idle = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(500)]
    assert seconds_until_cut(service, 0.2) > 1.9
    for connection in idle:
        connection.settimeout(PATIENCE)
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(10) == b""
        connection.close()


@pytest.mark.prove
def test_a_client_that_sends_a_byte_a_second_is_cut_after_fifteen_seconds(make):
    assert seconds_until_cut(make(), 1.0) > 14.9


def test_too_many_at_once_and_too_many_a_second_are_told_to_come_back(make):
    from concurrent.futures import ThreadPoolExecutor

    service = make(server={"requests_per_second": 1.0})
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: service.get("/v1/me"), range(200)))
    limited = [answer for answer in answers if answer.status_code == 429]
    assert limited
    assert limited[0].json()["code"] == "rate_limited"
    assert limited[0].headers["retry-after"] == "1"
    service.stop()
    crowded = make(server={"concurrency": 1})
    with ThreadPoolExecutor(30) as pool:
        answers = list(pool.map(lambda k: crowded.post("/v1/events", {"fields": {"text": "x" * 50_000}}), range(150)))
    statuses = {answer.status_code for answer in answers}
    assert statuses <= {201, 503}
    busy = [answer for answer in answers if answer.status_code == 503]
    assert all(answer.headers["retry-after"] for answer in busy)
    stored = sum(answer.status_code == 201 for answer in answers)
    assert crowded.stats()["events"]["total"] == stored


def test_a_flood_of_new_field_names_is_stopped(make):
    service = make(server={"fields": 50})
    service.send("a")
    response = service.post("/v1/events", {"id": "b", "fields": {f"name-{k}": k for k in range(60)}})
    assert (response.status_code, response.json()["code"]) == (422, "too_many_fields")
    assert service.post("/v1/events", {"id": "b", "fields": {"text": "hello"}}).status_code == 201
    odd = service.post("/v1/events", {"id": "c", "fields": {"size": "the number of different fields"}})
    assert (odd.status_code, odd.json()["code"]) == (202, "quarantined")  # whatever words the sentence repeats
