"""Requests that never end, before or inside their body, take nothing from anybody else."""

import asyncio
import resource
import socket
import struct
import time
from contextlib import ExitStack, contextmanager, suppress

import pytest
import uvicorn
from tests.patience import PATIENCE
from uvicorn.server import ServerState

from askance_live.http.protocol import options

pytestmark = pytest.mark.hostile

LIVEZ = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"

STALLED = {
    "nothing": b"",
    "half a request line": b"POST /lo",
    "half of the headers": b"POST /login HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
    "a login without its body": b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000\r\n\r\ntoken=",
    "a login in chunks": b"POST /login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n6\r\ntoken=\r\n",
    "a logout without its body": b"POST /logout HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000\r\n\r\n",
}


@pytest.fixture(scope="module")
def service(make_for_all):
    running = make_for_all(server={"receipt_seconds": "60s"})
    running.log_in(running.tokens(root="admin")["root"])
    running.send(*(f"e{number}" for number in range(20)))
    return running


@contextmanager
def stalled(service, start, number=300):
    """So many sockets that have sent the start of a request, all of which has been read."""
    with ExitStack() as sockets:
        opened = [sockets.enter_context(socket.create_connection(("127.0.0.1", service.port))) for _ in range(number)]
        for one in opened:
            one.sendall(start)
        yield opened


def use(service):
    """What an ordinary user does; the statuses."""
    ask = service.next()[0]
    answered = service.answer(ask, "ham", f"answer-{time.monotonic_ns()}")
    sent = service.post("/v1/events", {"fields": {"text": "hello"}})
    return [answered.status_code, sent.status_code, service.get("/v1/stats").status_code]


@pytest.mark.parametrize("what", STALLED)
def test_an_ordinary_user_is_served_beside_300_stalled_sockets(service, what):
    with stalled(service, STALLED[what]) as sockets:
        for _ in range(3):
            assert use(service) == [200, 201, 200]
        for one in sockets:  # none was cut for it: they have a minute
            one.setblocking(False)
            with pytest.raises(BlockingIOError):
                one.recv(1)


def test_stalled_bodies_of_somebody_with_a_token_take_no_slot_either(service):
    token = service.headers["authorization"]
    head = f"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: {token}\r\nContent-Length: 9000000\r\n\r\n"
    with stalled(service, head.encode() + b'{"fields": {'):
        assert use(service) == [200, 201, 200]
        running = service.get("/metrics").text
        assert "askance_requests_running 0.0" in running


def test_without_a_token_nothing_of_a_body_is_read_and_a_login_is_short(service):
    with socket.create_connection(("127.0.0.1", service.port)) as one:
        one.sendall(b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n")
        assert one.recv(100).startswith(b"HTTP/1.1 401")
    with socket.create_connection(("127.0.0.1", service.port)) as one:
        one.sendall(b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n")
        assert one.recv(100).startswith(b"HTTP/1.1 413")


def test_one_sender_cannot_fill_the_memory_with_unfinished_bodies(service):
    other = service.tokens(other="ingest")["other"]
    head = "POST /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\nContent-Length: 9900000\r\n\r\n"
    statuses = []
    with stalled(service, head.format(f"Bearer {other}").encode(), 8) as sockets:
        for one in sockets:
            one.settimeout(PATIENCE)
            with suppress(OSError):  # refused while it was being sent
                one.sendall(b" " * 9_800_000)
        deadline = time.monotonic() + PATIENCE
        while len(statuses) < 4 and time.monotonic() < deadline:
            statuses = [status for one in sockets if (status := first_line(one))]
        assert statuses.count(b"503") >= 4
        assert service.post("/v1/events", [{"fields": {"text": "x" * 200_000}}] * 10).status_code == 200
    deadline = time.monotonic() + PATIENCE
    with service.as_user(other) as client:
        while client.post("/v1/events", json=[{"fields": {"text": "x" * 200_000}}] * 10).status_code == 503:
            assert time.monotonic() < deadline, "what the closed connections held is not given back"


def first_line(one):
    """The status of the response that has come, which stays unread; None without one, or where it was cut."""
    one.setblocking(False)
    try:
        return one.recv(100, socket.MSG_PEEK)[9:12] or None
    except OSError:
        return None


def test_stalled_sockets_make_room_for_others_where_connections_run_out(service):
    soft, hard = resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE, (250, hard))
    try:
        with ExitStack() as sockets:
            for _ in range(400):
                one = sockets.enter_context(socket.create_connection(("127.0.0.1", service.port)))
                with suppress(OSError):  # cut already
                    one.sendall(STALLED["half of the headers"])
            with service.as_user(service.headers["authorization"].split()[1]) as client:
                assert client.get("/v1/me").status_code == 200
    finally:
        resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE, (soft, hard))


def test_a_connection_that_asks_for_too_much_at_once_is_cut(service):
    for start in (
        b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" * 5_000,
        b"GET /livez HTTP/1.1\r\n" + b"a: b\r\n" * 50_000 + b"\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", service.port)) as one:
            one.settimeout(PATIENCE)
            try:
                one.sendall(start)
                while one.recv(65_536):
                    pass
            except ConnectionError:
                pass
        assert use(service) == [200, 201, 200]


def test_cut_connections_and_upgrades_leave_no_traceback_and_no_advice_in_the_log(service):
    def end(one):
        with suppress(ConnectionError):
            while one.recv(65_536):
                pass

    asked = {
        "too many at once": b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" * 60,
        "long responses, too many at once": b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 60,
        "one that waits, then nonsense": b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\nnonsense\r\n\r\n",
    }
    for start in asked.values():
        for _ in range(10):
            with socket.create_connection(("127.0.0.1", service.port)) as one:
                one.settimeout(PATIENCE)
                with suppress(ConnectionError):
                    one.sendall(start)
                end(one)
    for _ in range(10):  # whose responses nobody reads before the client leaves
        with socket.create_connection(("127.0.0.1", service.port)) as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            one.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 15)
            one.recv(10)
    with socket.create_connection(("127.0.0.1", service.port)) as one:
        one.settimeout(PATIENCE)
        one.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n")
        assert one.recv(100).startswith(b"HTTP/1.1 200")
    assert use(service) == [200, 201, 200]
    log = (service.folder / "log.txt").read_text()
    assert "Traceback" not in log
    assert "pip install" not in log


class Closing:
    """A transport as uvloop's: whoever writes after the end gets an error."""

    def __init__(self):
        self.is_gone = False

    def get_extra_info(self, name):
        return None

    def is_closing(self):
        return self.is_gone

    def abort(self):
        self.is_gone = True

    def write(self, data):
        if self.is_gone:
            raise RuntimeError("the handler is closed")

    close = pause_reading = resume_reading = lambda self: None


@pytest.mark.parametrize("start", [LIVEZ * 60, LIVEZ * 3 + b"nonsense\r\n\r\n", LIVEZ * 3])
def test_a_connection_that_is_cut_gets_nothing_of_the_responses_under_way(caplog, start):
    let_go, ended = [], []

    async def answer(scope, receive, send):
        let_go.append(asyncio.Event())
        await let_go[-1].wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x"})
        ended.append(scope["path"])

    async def use():
        chosen = uvicorn.Config(answer, **options(60.0))
        chosen.load()
        connection, transport = options(60.0)["http"](chosen, ServerState(), {}), Closing()
        connection.connection_made(transport)
        connection.data_received(start)
        while not let_go:
            await asyncio.sleep(0)
        transport.is_gone = True
        connection.connection_lost(None)
        let_go[0].set()
        await asyncio.gather(*connection.tasks)

    asyncio.run(use())
    assert ended == ["/livez"]
    assert not [record for record in caplog.records if record.exc_info]
