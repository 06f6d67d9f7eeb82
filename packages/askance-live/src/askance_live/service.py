"""The ASGI application: the gate every request passes, and what the routes share."""

from __future__ import annotations

import asyncio
import logging
import time
from base64 import b64decode
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

from prometheus_client.registry import Collector
from starlette.responses import RedirectResponse, Response

from askance_live.access.auth import EVERYBODY, SCOPES, Token, User, cookie_name, is_own_machine, note
from askance_live.access.keys import Failures, Keys, group_of
from askance_live.access.oidc import Provider
from askance_live.access.people import note_seen
from askance_live.cluster.messages import ForwardedRequest, ForwardedResponse
from askance_live.config import Config, is_postgres
from askance_live.dashboard import stats
from askance_live.dashboard.metrics import EngineCollector, Metrics
from askance_live.display import Display
from askance_live.engine.thread import Engine
from askance_live.exchange.received import ReceivedEvent
from askance_live.http.body import SHORT_BYTES, BodyLimits, too_large, unpack_body
from askance_live.http.proxies import Proxies
from askance_live.http.request_limits import BodyMeter, Memory, Slots, TokenBucket
from askance_live.http.routing import (
    ROUTES,
    ItemResult,
    Request,
    Route,
    Router,
    encode,
    encoded_response,
    json_response,
    problem_response,
)
from askance_live.logs import SCOPE
from askance_live.problems import Problem
from askance_live.store.database import PATIENCE, PAUSE, Database, Session, StoreAway, StoreError
from askance_live.webhooks.sender import WebhookSender

log = logging.getLogger("askance")

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src {images}; media-src {audio}; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; manifest-src 'self'; worker-src 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
STORE, USER = b"askance-store", b"askance-user"
"""The header in which a page says which store it speaks to."""
CLASSES = b"askance-classes"
"""The header in which every answer says since which entry of the log the classes are as they are."""
READERS = 4
WORKERS = 2  # threads that read and check large bodies, and as many that encode large responses
LARGE_BODIES, LARGE_BODIES_OF_ONE = 16, 4  # of the largest size, in memory at the same time
MOMENT = 0.25  # seconds for which numbers are shown to others too
SEEN = 60.0  # seconds between notes of who was here
UNCHANGED = 5.0  # seconds for which they are shown if nothing happened; ages and rates change all the same
MOST_WATCHERS = 100  # pages that are told of every change
MOST_EXPORTS, EXPORTERS = 8, 2  # at the same time, and the threads that read for them
MOST_ENTRANCES = 32  # links that are looked up or used at the same time
MOST_LOGINS = 32  # that speak with a company's provider at the same time, each in a thread
_OTHER_PAGE = {"/": ("label", "/label"), "/label": ("read", "/")}
"""Where somebody is sent whose token is good for the other page only."""


Found = TypeVar("Found")


def security_headers(display: Display) -> list[tuple[bytes, bytes]]:
    """What every response tells a browser not to do; images and sound may come from the hosts named for them."""
    policy = CSP.format(
        images=" ".join(("'self'", "data:", *display.image_hosts)), audio=" ".join(display.audio_hosts) or "'none'"
    )
    return [
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"same-origin"),
        (b"content-security-policy", policy.encode()),
        (b"cross-origin-resource-policy", b"same-origin"),
    ]


class Service:
    """Everything between a request and the engine."""

    def __init__(self, config: Config, database: Database, engine: Engine) -> None:
        from askance_live import routes

        routes.load()
        self.config, self.database, self.engine = config, database, engine
        self.prefix = ""
        """What stands before every path: nothing, or /name among several streams."""
        self._security = security_headers(config.display)
        self.clock = engine.clock
        self.keys = Keys(database, engine.clock)
        self.keys.refresh()
        self.metrics = Metrics(self)
        self.router = Router(ROUTES)
        self.rate = TokenBucket(config.server.requests_per_second)
        self.failures = Failures(config.server.wrong_tokens_per_minute)
        server = config.server
        self.proxies = Proxies(server.host, server.public_url, server.trusted_proxies, bool(server.tls_cert))
        self.readers = ThreadPoolExecutor(READERS, "askance-reader")
        self.exporters = ThreadPoolExecutor(EXPORTERS, "askance-exporter")
        self.login_threads = ThreadPoolExecutor(MOST_LOGINS, "askance-login")
        self.workers = ThreadPoolExecutor(WORKERS, "askance-worker")
        self.encoders = ThreadPoolExecutor(WORKERS, "askance-encoder")
        self.limits = BodyLimits(config.server.json_depth, config.server.batch_events, config.server.event_bytes)
        largest = config.server.body_bytes
        self.memory = Memory(LARGE_BODIES * largest, LARGE_BODIES_OF_ONE * largest, SHORT_BYTES)
        self.started = time.monotonic()
        self.slots = Slots(config.server.concurrency, "too many requests at the same time; try again in a moment.")
        self.watchers = Slots(MOST_WATCHERS, "too many pages watch already; close one.", 30)
        self.logins = Slots(MOST_LOGINS, "too many people log in at the same time; try again in a moment.", 10)
        self.entrances = Slots(MOST_ENTRANCES, "too many links are followed at the same time; try again in a moment.")
        self.exports = Slots(MOST_EXPORTS, "too many exports at the same time; try again when one has ended.", 10)
        owns_store = isinstance(engine, Engine)  # a front's owner does what is done once
        self.webhook_senders = [WebhookSender(hook, engine) for hook in config.webhooks] if owns_store else []
        self.stopping = asyncio.Event()
        self.rebuilding = asyncio.Lock()
        self._rates: deque[tuple[float, int]] = deque(maxlen=12)
        self._stats: tuple[Any, float, dict[str, Any]] | None = None
        self._stats_lock = asyncio.Lock()
        self._keys_lock, self._keys_read = asyncio.Lock(), -MOMENT
        self.provider = None if config.oidc is None else Provider(config.oidc)
        self.login_key: bytes | None = None
        near = is_own_machine(config.server.host) and not self.proxies.expects_some
        self.is_open = near and self.provider is None

    def collector(self) -> Collector:
        """What /metrics tells beside the requests."""
        return EngineCollector(self)

    def close(self) -> None:
        """Let go of the threads; whoever still waits for one gets no answer."""
        for sender in self.webhook_senders:
            sender.stop()
        for pool in (self.readers, self.exporters, self.login_threads, self.workers, self.encoders):
            pool.shutdown(wait=False)

    # --- shared by the routes ----------------------------------------------------------------------------

    async def read_page(self, work: Callable[[Session], Any]) -> Any:
        """Look into the store for a part of an export, in threads for these: others never wait for it."""
        return await self.read(work, threads=self.exporters)

    async def read(
        self, work: Callable[[Session], Any], until: float | None = None, threads: ThreadPoolExecutor | None = None
    ) -> Any:
        """Look into the store, in a thread; while it is away, again and again ``until`` a monotonic time."""
        until = time.monotonic() + PATIENCE if until is None else until

        def inside() -> Any:
            with self.database.read() as session:
                return work(session)

        while True:
            try:
                return await asyncio.get_running_loop().run_in_executor(threads or self.readers, inside)
            except StoreAway:
                if time.monotonic() >= until:
                    raise
            await asyncio.sleep(PAUSE)

    async def do(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Change something, in a transaction of the engine's."""
        return await self.engine.do(lambda session, state: work(session, state, *arguments))

    async def ingest(self, events: list[ReceivedEvent]) -> list[ItemResult]:
        """Store and predict events."""
        outcomes: list[ItemResult] = await asyncio.wrap_future(self.engine.ingest(events))
        return outcomes

    async def work(self, request: Request, function: Callable[[], Found]) -> Found:
        """Do something with a body: at once if that is small, else in a thread, so that nobody else waits."""
        if request.is_small:
            return function()
        return await asyncio.get_running_loop().run_in_executor(self.workers, function)

    def tasks(self) -> list[Coroutine[Any, Any, None]]:
        """What goes on beside the requests."""
        return [self.keep_keys_fresh(), self.run_webhooks()]

    async def run_webhooks(self) -> None:
        """Let messages be brought until the end."""
        for sender in self.webhook_senders:
            sender.start()
        await self.stopping.wait()

    async def keep_keys_fresh(self) -> None:
        """Read tokens, people and sessions every second, so that a revoked one ends; note who was here."""
        noted = time.monotonic()
        while not self.stopping.is_set():
            try:
                await self.refresh_keys()
                if time.monotonic() - noted >= SEEN:
                    noted = time.monotonic()
                    await self.note_seen()
            except Problem as problem:
                log.warning("who was here was not noted: %s", problem)
            except StoreError as error:
                log.warning("tokens were not read: %s", error)
            except Exception:
                log.exception("tokens were not read")
            self.count_rate()
            await asyncio.sleep(1.0)

    async def refresh_keys(self) -> None:
        """Know the tokens, people and sessions of now."""
        await asyncio.get_running_loop().run_in_executor(self.readers, self.keys.refresh)

    async def refresh_classes(self) -> None:
        """Know the classes of now; the process that owns the model does."""

    async def note_seen(self) -> None:
        """Store which people were here lately."""
        if seen := self.keys.take_seen():
            await self.do(lambda session, state: note_seen(session, seen))

    def mark(self) -> Any:
        """Something that changes whenever the numbers do: with every commit, and not before it."""
        return self.engine.groups, self.engine.healthy

    async def stats(self, fresh: bool = False) -> dict[str, Any]:
        """The numbers behind the dashboard; computed once for all who look within a moment, unless they must be
        ``fresh``."""
        until = time.monotonic() + PATIENCE  # for all who wait here, not for one after the other
        async with self._stats_lock:
            mark, now = self.mark(), time.monotonic()
            if self._stats is not None:
                kept, since, found = self._stats
                if now - since <= (0.0 if fresh else MOMENT) or (kept == mark and now - since <= UNCHANGED):
                    return found
            found = await self._compute_stats(until, fresh)
            self._stats = mark, now, found
            return found

    def address(self, request: Request) -> str:
        """Where people reach this stream."""
        return f"{self.proxies.address(request.scope, request.headers)}{self.prefix}"

    async def _compute_stats(self, until: float, fresh: bool) -> dict[str, Any]:
        found: dict[str, Any] = await self.read(lambda session: stats.stats(session, self), until)
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
        name = "none"
        try:
            chosen, parameters = self.router.find(scope["method"], scope["path"])
            name = chosen.path
            response = await self._answer(chosen, parameters, scope, receive)
        except Problem as problem:
            response = self._explain(scope, problem)
        except StoreError as error:
            log.warning("%s", error)
            away = Problem("store_busy", "the store does not answer; try again.", headers={"Retry-After": "5"})
            response = problem_response(away)
        except Exception:
            log.exception("a request failed")
            response = problem_response(
                Problem(
                    "internal", "something went wrong here; the service's log has the details, under this request's id."
                )
            )
        response.raw_headers.extend(self._security)
        if scope["path"].startswith(("/v1/", "/metrics")):
            response.raw_headers.append((b"cache-control", b"no-store"))
            response.raw_headers.append((CLASSES, b"%d" % self.engine.state.label_schema.seq))
        if response.status_code == 413:
            response.raw_headers.append((b"connection", b"close"))
        self.metrics.count_request(scope["method"], name, response.status_code, time.perf_counter() - began)
        await response(scope, receive, send)

    def _explain(self, scope: Any, problem: Problem) -> Response:
        """A problem as JSON, or as a page where somebody went to an address with a browser."""
        accepted = dict(scope["headers"]).get(b"accept", b"")
        if scope["method"] != "GET" or b"text/html" not in accepted or scope["path"].startswith("/v1/"):
            return problem_response(problem)
        from askance_live.routes.pages import explain_page

        return explain_page(self, problem)

    async def _answer(self, chosen: Route, parameters: dict[str, str], scope: Any, receive: Any) -> Response:
        headers = dict(scope["headers"])
        method, path = scope["method"], scope["path"]
        user = self._user(scope, headers)
        if user is None and chosen.scope is not None:
            user = await self._newcomer(scope, headers)
        if user is not None and SCOPE in scope:
            scope[SCOPE]["user"] = user.name
        if chosen.scope is not None:
            if user is None:
                if (given := _bearer(headers)) is not None:
                    self.count_failure(scope, "token refused", *self.keys.failure(given))
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
        _same_user(headers, user)
        sender = self.sender(user.token if user else "", scope)
        self.rate.take(sender)
        if method == "POST" and (user is None or user.way != "bearer"):
            self.proxies.check_origin(headers)
        request = Request(scope, headers, parameters, user, self.limits)
        request.sender = sender
        with self.memory.body(sender) as held:
            if method == "POST":
                request.body = await self._body(chosen, headers, receive, held)
            if chosen.scope is None:  # nobody's token: it takes no place from those who have one
                return await self._call(chosen, request)
            with self.slots.place(sender):  # once all of it has arrived
                return await self._call(chosen, request)

    async def answer_forwarded(self, forwarded: ForwardedRequest) -> ForwardedResponse:
        """Answer a request that the gate of a front has let in."""
        chosen, parameters = self.router.find(forwarded.method, forwarded.path)
        scope = {
            "type": "http", "method": forwarded.method, "path": forwarded.path, "query_string": forwarded.query,
            "headers": forwarded.headers, "client": forwarded.client, "scheme": forwarded.scheme,
        }  # fmt: skip
        request = Request(scope, dict(forwarded.headers), parameters, forwarded.user, self.limits)
        request.sender, request.body = forwarded.sender, forwarded.body
        response = await self._call(chosen, request)
        parts: list[bytes] = []

        async def collect(message: Any) -> None:
            parts.append(message.get("body", b""))

        await response(scope, _nothing_more, collect)
        return ForwardedResponse(response.status_code, response.raw_headers, b"".join(parts))

    async def _call(self, chosen: Route, request: Request) -> Response:
        """Let the function of a route answer, with what the request says as its parameters."""
        arguments = await self.work(request, lambda: request.arguments(chosen))
        given = await chosen.handler(self, request, **arguments)
        if isinstance(given, Response):
            return given
        if chosen.scope is None or (request.is_post and request.is_small):  # so is what comes of it
            return json_response(given)
        return encoded_response(await asyncio.get_running_loop().run_in_executor(self.encoders, encode, given))

    def sender(self, token: str, scope: Any) -> str:
        """Whom a request counts for: the token with this number, wherever it is used, or else an address."""
        return f"token {token}" if token else f"address {group_of(self.proxies.client_address(scope))}"

    async def _newcomer(self, scope: Any, headers: dict[bytes, bytes]) -> User | None:
        """Whoever logged in at another process a moment ago; a session that was made up costs others little."""
        if self.session_secret(headers) is None or not is_postgres(self.config.store):
            return None
        asked = time.monotonic()
        async with self._keys_lock:
            if self._keys_read <= asked:  # one look for all who wait for it, and few a second
                await asyncio.sleep(self._keys_read + MOMENT - asked)
                self._keys_read = time.monotonic()
                await asyncio.get_running_loop().run_in_executor(self.readers, self.keys.refresh)
        return self._user(scope, headers)

    def _user(self, scope: Any, headers: dict[bytes, bytes]) -> User | None:
        """Who sends this; None: nobody knows."""
        is_open = self.check_open(scope, headers)
        given = _bearer(headers)
        if given is not None:
            token = self.keys.bearer(given)
            return _user(token, "bearer") if token else None
        if is_open:
            return EVERYBODY
        secret = self.session_secret(headers)
        token = self.keys.session(secret) if secret else None
        return _user(token, "cookie") if token else None

    def knows(self, user: User) -> bool:
        """Whether somebody who was let in may go on: nothing was revoked since."""
        return self.keys.is_valid(user.token) if user.token else not self.keys.exist

    def check_open(self, scope: Any, headers: dict[bytes, bytes]) -> bool:
        """Whether nobody needs a token here; if so, refuse whoever is not on this machine."""
        if self.keys.exist or not self.is_open:
            return False
        self.proxies.check_local(scope, headers)
        return True

    def session_secret(self, headers: dict[bytes, bytes]) -> str | None:
        """The secret in the cookie of a session."""
        return self.cookie(headers, cookie_name(self.proxies.is_secure(headers), self.prefix))

    def cookie(self, headers: dict[bytes, bytes], wanted: str) -> str | None:
        """The value of a cookie."""
        for part in headers.get(b"cookie", b"").decode("latin-1").split(";"):
            name, _, value = part.strip().partition("=")
            if name == wanted:
                return value
        return None

    def count_failure(self, scope: Any, action: str, actor: str, why: dict[str, Any]) -> None:
        """A token or a login that is not valid goes into both logs, or is refused where there were too many."""
        address = self.proxies.client_address(scope)
        unlogged = self.failures.count(address)
        detail = {**why, "address": address, **({"not_logged_before": unlogged} if unlogged else {})}
        log.warning("%s: %s, from %s", action, why["why"], address)
        try:  # nobody waits for it, so that the answer takes the same time whatever the store does
            self.engine.submit(lambda session, state: note(session, state.clock.now(), actor, action, detail))
        except Problem as problem:
            log.warning("not in the activity log: %s", problem)

    def _same_store(self, headers: dict[bytes, bytes]) -> None:
        """What a page kept for one store must not reach another that has taken its address since."""
        meant = headers.get(STORE)
        if meant is not None and meant != self.engine.state.store.encode():
            raise Problem("other_store", "this address serves another store now; load the page again.")

    async def _body(self, chosen: Route, headers: dict[bytes, bytes], receive: Any, held: BodyMeter) -> bytes:
        limit = self.config.server.body_bytes
        most = limit if chosen.body_bytes is None else min(limit, chosen.body_bytes)
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:20]) > most:
            raise too_large(most, most == limit)
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Problem("malformed", "the request ended before its body did.")
            part = message.get("body", b"")
            size += len(part)
            if size > most:
                raise too_large(most, most == limit)
            held.grow(len(part))
            parts.append(part)
            if not message.get("more_body"):
                break
        content = b"".join(parts)
        encoding = headers.get(b"content-encoding", b"").decode("latin-1").strip().lower()
        if not encoding:
            return content
        found = await asyncio.get_running_loop().run_in_executor(self.workers, unpack_body, content, encoding, most)
        held.grow(max(0, len(found) - size))
        return found

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

    def warnings(self) -> list[str]:
        """What fails although requests are answered."""
        return [
            f"{name!r} fails ({reason}) and is tried again; see the log."
            for name, reason in sorted(self.engine.failing.items())
        ] + [
            f"the webhook at {sender.hook.host} does not take messages ({sender.trouble}); "
            f"{sender.waiting.messages:,} wait, {sender.waiting.given_up:,} were given up."
            for sender in self.webhook_senders
            if sender.trouble
        ]

    def lag(self) -> float:
        """Seconds by which the oldest answer that waits is overdue."""
        due = self.engine.state.due
        return 0.0 if due is None else max(0.0, self.clock.now() - due)


async def _nothing_more() -> Any:
    """For a response that looks whether its client is still there: it is."""
    await asyncio.Event().wait()


def _same_user(headers: dict[bytes, bytes], user: User | None) -> None:
    """What a page kept for one person must not count as that of another, who has logged in at the browser since."""
    meant = headers.get(USER)
    if meant is not None and user is not None and unquote_to_bytes(meant) != user.name.encode("utf-8", "surrogatepass"):
        raise Problem("other_user", f"you are {user.name!r} now, and this is for another person; load the page again.")


def _user(token: Token, way: str) -> User:
    scopes = SCOPES if "admin" in token.scopes else token.scopes
    return User(token.name, scopes, way, token.id)


def _bearer(headers: dict[bytes, bytes]) -> str | None:
    """The token that a program sends: as it is, or as the password of whoever, where a program knows only that way."""
    way, _, given = headers.get(b"authorization", b"").partition(b" ")
    if way.lower() == b"bearer":
        return given.strip().decode("latin-1")
    if way.lower() != b"basic":
        return None
    try:
        return b64decode(given.strip(), validate=True).partition(b":")[2].decode("latin-1")
    except ValueError:
        return ""
