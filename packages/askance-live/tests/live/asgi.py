"""A service in the test's own process, called without a socket: what waits and what does not is seen exactly."""

import asyncio
import json
from contextlib import contextmanager

from tests.live.in_process import hold_writer, new_engine
from tests.patience import PATIENCE

from askance_live.access.auth import create_token
from askance_live.service import Service


class Call:
    """A request whose response may be waited for.

    With ``unread`` the client takes nothing of the response's body; with ``unfinished`` the request's never ends.
    """

    def __init__(
        self, service, method, path, token=None, body=b"", address="10.0.0.1", headers=(), unread=False,
        unfinished=False,
    ):  # fmt: skip
        self.status, self.headers, self.body = None, {}, b""
        self.unread, self.gone = unread, asyncio.Event()
        given = {"host": "127.0.0.1:8000", "content-length": str(len(body) + unfinished), **dict(headers)}
        if token:
            given["authorization"] = f"Bearer {token}"
        path, _, query = path.partition("?")
        self.scope = {
            "type": "http", "method": method, "path": path, "query_string": query.encode(), "http_version": "1.1",
            "headers": [(name.encode(), value.encode()) for name, value in given.items()], "client": (address, 1),
        }  # fmt: skip
        self._messages = [{"type": "http.request", "body": body, "more_body": unfinished}]
        self.task = asyncio.get_running_loop().create_task(service(self.scope, self._receive, self._send))

    async def _receive(self):
        if self._messages:
            return self._messages.pop()
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message):
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        elif self.unread and message.get("body"):
            await self.gone.wait()
        else:
            self.body += message.get("body", b"")

    async def end(self):
        """The status, once the response is over."""
        await asyncio.wait_for(self.task, PATIENCE)
        return self.status

    async def hang_up(self):
        self.gone.set()
        await asyncio.wait_for(asyncio.gather(self.task, return_exceptions=True), PATIENCE)

    def json(self):
        return json.loads(self.body)


async def wait_for(condition):
    """Until something holds that must come."""
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while not condition():
        assert asyncio.get_running_loop().time() < deadline
        await asyncio.sleep(0.001)


@contextmanager
def held(engine):
    """Keeps the writer from its work, so that whoever needs it waits."""
    let_go = hold_writer(engine)
    try:
        yield
    finally:
        let_go.set()


@contextmanager
def new_service(folder, tokens, settings=None, **server):
    """A service on a new store, and the secrets of its tokens, ``name=scopes``."""
    with new_engine(folder, settings, **server) as engine:
        secrets = {
            name: engine.submit(
                lambda session, state, name=name, scopes=scopes: create_token(
                    session, name, scopes.split(), state.clock.now(), None
                )
            ).result(PATIENCE)[1]
            for name, scopes in tokens.items()
        }
        service = Service(engine.config, engine.database, engine)
        try:
            yield service, secrets
        finally:
            service.stopping.set()
            service.close()
