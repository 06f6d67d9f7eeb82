"""The ASGI application: the gate every request passes, and what the routes share."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.responses import RedirectResponse, Response

from askance.live import stats
from askance.live.auth import COOKIE, EVERYBODY, SCOPES, Keys, Token, User, is_own_machine
from askance.live.body import too_large, unpacked
from askance.live.config import Config
from askance.live.engine import Engine
from askance.live.limits import Rate
from askance.live.metrics import Metrics
from askance.live.problems import Problem
from askance.live.routing import ROUTES, Request, Route, Router, problem_response
from askance.live.store.database import Database, Session, StoreError

log = logging.getLogger("askance")

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; manifest-src 'self'; worker-src 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
SECURITY = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"content-security-policy", CSP.encode()),
    (b"cross-origin-resource-policy", b"same-origin"),
]
STORE = b"askance-store"
"""The header in which a page says which store it speaks to."""
READERS = 4
MOMENT = 0.25  # seconds for which numbers are shown to others too
UNCHANGED = 5.0  # seconds for which they are shown if nothing happened; ages and rates change all the same
MOST_STREAMS = 100
_OTHER_PAGE = {"/": ("label", "/label"), "/label": ("read", "/")}
"""Where somebody is sent whose token is good for the other page only."""


class Service:
    """Everything between a request and the engine."""

    def __init__(self, config: Config, database: Database, engine: Engine) -> None:
        from askance.live import routes

        routes.load()
        self.config, self.database, self.engine = config, database, engine
        self.prefix = ""
        """What stands before every path: nothing, or /name among several streams."""
        self.clock = engine.clock
        self.keys = Keys(database, engine.clock)
        self.keys.refresh()
        self.metrics = Metrics(self)
        self.router = Router(ROUTES)
        self.rate = Rate(config.server.requests_per_second)
        self.readers = ThreadPoolExecutor(READERS, "askance-reader")
        self.started = time.monotonic()
        self.running = 0
        self.streams = 0
        self.stopping = asyncio.Event()
        self.rebuilding = asyncio.Lock()
        self._rates: deque[tuple[float, int]] = deque(maxlen=12)
        self._stats: tuple[Any, float, dict[str, Any]] | None = None
        self._stats_lock = asyncio.Lock()
        self.is_open = is_own_machine(config.server.host)
        self._hosts = {"localhost", "127.0.0.1", "[::1]", config.server.host}

    # --- shared by the routes ----------------------------------------------------------------------------

    async def read(self, work: Callable[[Session], Any]) -> Any:
        """Look into the store, in a thread."""

        def inside() -> Any:
            with self.database.read() as session:
                return work(session)

        return await asyncio.get_running_loop().run_in_executor(self.readers, inside)

    async def keep_keys_fresh(self) -> None:
        """Read tokens and sessions every second, so that a revoked one ends."""
        loop = asyncio.get_running_loop()
        while not self.stopping.is_set():
            try:
                await loop.run_in_executor(self.readers, self.keys.refresh)
            except StoreError as error:
                log.warning("tokens were not read: %s", error)
            self.count_rate()
            await asyncio.sleep(1.0)

    def mark(self) -> Any:
        """Something that changes whenever the numbers do."""
        state = self.engine.state
        return state.group, state.seq, state.answers, self.engine.healthy

    async def stats(self, fresh: bool = False) -> dict[str, Any]:
        """The numbers behind the dashboard; computed once for all who look within a moment, unless they must be
        ``fresh``."""
        async with self._stats_lock:
            mark, now = self.mark(), time.monotonic()
            if self._stats is not None:
                kept, since, found = self._stats
                if now - since <= (0.0 if fresh else MOMENT) or (kept == mark and now - since <= UNCHANGED):
                    return found
            found = await self.read(lambda session: stats.stats(session, self))
            self._stats = mark, now, found
            return found

    def uptime(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def count_rate(self) -> None:
        """Once a second: remember how many events there are."""
        self._rates.append((time.monotonic(), self.engine.state.totals["events"]))

    def events_per_second(self) -> float:
        """Over the last ten seconds."""
        if len(self._rates) < 2:
            return 0.0
        (began, before), (ended, after) = self._rates[0], self._rates[-1]
        return round((after - before) / max(ended - began, 1e-3), 2)

    # --- the gate ----------------------------------------------------------------------------------------

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        began = time.perf_counter()
        self.running += 1
        name = "none"
        try:
            chosen, parameters = self.router.find(scope["method"], scope["path"])
            name = chosen.path
            response = await self._answer(chosen, parameters, scope, receive)
        except Problem as problem:
            response = self._explained(scope, problem)
        except StoreError as error:
            log.warning("%s", error)
            away = Problem("store_busy", "the store does not answer; try again.", headers={"Retry-After": "5"})
            response = problem_response(away)
        except Exception:
            log.exception("a request failed")
            response = problem_response(
                Problem("internal", "something went wrong here; the service's log has the details.")
            )
        finally:
            self.running -= 1
        response.raw_headers.extend(SECURITY)
        if scope["path"].startswith(("/v1/", "/metrics")):
            response.raw_headers.append((b"cache-control", b"no-store"))
        if response.status_code == 413:
            response.raw_headers.append((b"connection", b"close"))
        self.metrics.seen(scope["method"], name, response.status_code, time.perf_counter() - began)
        await response(scope, receive, send)

    def _explained(self, scope: Any, problem: Problem) -> Response:
        """A problem as JSON, or as a page where somebody went to an address with a browser."""
        accepted = dict(scope["headers"]).get(b"accept", b"")
        if scope["method"] != "GET" or b"text/html" not in accepted or scope["path"].startswith("/v1/"):
            return problem_response(problem)
        from askance.live.routes.pages import explained

        return explained(self, problem)

    async def _answer(self, chosen: Route, parameters: dict[str, str], scope: Any, receive: Any) -> Response:
        headers = dict(scope["headers"])
        method, path = scope["method"], scope["path"]
        if self.running > self.config.server.concurrency and chosen.scope is not None:
            raise Problem(
                "busy", "too many requests at the same time; try again in a moment.", headers={"Retry-After": "1"}
            )
        user = self._user(headers)
        if chosen.scope is not None:
            if user is None:
                if chosen.is_page:
                    return RedirectResponse(f"{self.prefix}/login?next={self.prefix}{path}", 303)
                raise Problem(
                    "unauthenticated",
                    "this needs a valid token: send it as 'Authorization: Bearer ...', "
                    f"or log in at {self.prefix}/login.",
                    headers={"WWW-Authenticate": "Bearer"},
                )
            if chosen.scope != "any" and not user.may(chosen.scope):
                if (other := _OTHER_PAGE.get(chosen.path)) and user.may(other[0]):
                    return RedirectResponse(self.prefix + other[1], 303)
                raise Problem(
                    "forbidden", f"this needs the scope {chosen.scope!r}; the token has {', '.join(user.scopes)}."
                )
        self._same_store(headers)
        client = scope.get("client") or ("", 0)
        self.rate.take(f"{user.name if user else ''}@{client[0]}")
        if method == "POST" and (user is None or user.way != "bearer"):
            self._same_origin(headers)
        request = Request(scope, headers, parameters, user)
        request.depth = self.config.server.json_depth
        if method == "POST":
            request.body = await self._body(headers, receive)
        return await chosen.handler(self, request)

    def _user(self, headers: dict[bytes, bytes]) -> User | None:
        """Who sends this; None: nobody knows."""
        given = headers.get(b"authorization", b"")
        if given[:7].lower() == b"bearer ":
            token = self.keys.bearer(given[7:].strip().decode("latin-1"))
            return _user(token, "bearer") if token else None
        if not self.keys.exist and self.is_open:
            host = headers.get(b"host", b"").decode("latin-1")
            if host.rsplit(":", 1)[0] not in self._hosts and host not in self._hosts:
                raise Problem("wrong_host", f"this service does not answer for the host {host[:100]!r}.")
            return EVERYBODY
        secret = _cookie(headers.get(b"cookie", b"").decode("latin-1"))
        token = self.keys.session(secret) if secret else None
        return _user(token, "cookie") if token else None

    @staticmethod
    def _same_origin(headers: dict[bytes, bytes]) -> None:
        """A page of another site must not send requests in the name of whoever looks at it."""
        site = headers.get(b"sec-fetch-site")
        origin = headers.get(b"origin")
        host = headers.get(b"host", b"")
        foreign = site is not None and site not in (b"same-origin", b"none")
        if origin is not None and origin.split(b"://")[-1] != host:
            foreign = True
        if foreign:
            raise Problem("forbidden", "requests from pages of other sites are not taken.")

    def _same_store(self, headers: dict[bytes, bytes]) -> None:
        """What a page kept for one store must not reach another that has taken its address since."""
        meant = headers.get(STORE)
        if meant is not None and meant != self.engine.state.store.encode():
            raise Problem("other_store", "this address serves another store now; load the page again.")

    async def _body(self, headers: dict[bytes, bytes], receive: Any) -> bytes:
        most = self.config.server.body_bytes
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:20]) > most:
            raise too_large(most)
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Problem("malformed", "the request ended before its body did.")
            part = message.get("body", b"")
            size += len(part)
            if size > most:
                raise too_large(most)
            parts.append(part)
            if not message.get("more_body"):
                break
        return unpacked(b"".join(parts), headers.get(b"content-encoding", b"").decode("latin-1").strip().lower(), most)

    def ready(self) -> list[str]:
        """Why the service should get no traffic now; nothing if it should."""
        reasons = []
        if self.stopping.is_set():
            reasons.append("it is stopping")
        if not self.engine.healthy:
            reasons.append(f"the store cannot be written: {self.engine.last_error}")
        room, reserve = self.database.room(), self.config.server.disk_reserve
        if room is not None and room < reserve:
            reasons.append(f"only {room:,} bytes are free on the disk; {reserve:,} are kept in reserve")
        if (lag := self.lag()) > self.config.server.lag_limit and not self.engine.state.paused:
            reasons.append(f"the learner is {lag:.0f} seconds behind")
        return reasons

    def lag(self) -> float:
        """Seconds by which the oldest answer that waits is overdue."""
        due = self.engine.state.due
        return 0.0 if due is None else max(0.0, self.clock.now() - due)


def _user(token: Token, way: str) -> User:
    scopes = SCOPES if "admin" in token.scopes else token.scopes
    return User(token.name, scopes, way)


def _cookie(header: str) -> str | None:
    for part in header.split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            return value
    return None
