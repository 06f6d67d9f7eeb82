"""Login by a company's OpenID Connect provider: there, and back."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable
from typing import TypeVar

from starlette.responses import RedirectResponse, Response

from askance_live.access import people
from askance_live.access.names import NOBODY
from askance_live.access.oidc import LASTING, Attempt, Provider, Visitor, refuse, signing_key
from askance_live.engine.state import EngineState
from askance_live.http.routing import Request, route
from askance_live.http.schemas import QueryString
from askance_live.problems import Problem
from askance_live.routes.pages import begin_session, local_path
from askance_live.service import Service
from askance_live.store.database import Session

COOKIE = "askance_login"
Found = TypeVar("Found")


class Departure(QueryString):
    """Where to go after the login."""

    next: str | None = None


class Return(QueryString):
    """With what a provider sends somebody back."""

    code: str = ""
    state: str = ""
    error: str = ""


def _provider(service: Service) -> Provider:
    if service.provider is None:
        raise Problem("not_found", "there is no login by a company here; the settings have no [oidc].")
    return service.provider


def _callback(service: Service, request: Request) -> str:
    return f"{service.address(request)}/login/oidc/callback"


def _cookie(is_secure: bool) -> str:
    return f"__Secure-{COOKIE}" if is_secure else COOKIE


async def _ask(service: Service, request: Request, function: Callable[[], Found]) -> Found:
    """Speak with the provider, in a thread that nobody else waits for: it may take its time."""
    with service.logins.place(request.sender):
        return await asyncio.get_running_loop().run_in_executor(service.login_threads, function)


async def _key(service: Service) -> bytes:
    """What the cookies of logins are signed with, by every process of the stream and after every restart."""
    if service.login_key is None:
        service.login_key = await service.do(lambda session, state: signing_key(session))
    return service.login_key


@route("GET", "/login/oidc", None, is_page=True, stateless=True)
async def depart(service: Service, request: Request, query: Departure) -> Response:
    """Send somebody to the company's login."""
    provider, callback = _provider(service), _callback(service, request)
    attempt = Attempt.new(local_path(service, query.next), service.clock.now())
    address = await _ask(service, request, lambda: provider.begin(attempt, callback))
    response, is_secure = RedirectResponse(address, 303), service.proxies.is_secure(request.headers)
    response.set_cookie(
        _cookie(is_secure), attempt.pack(await _key(service)), max_age=int(LASTING), httponly=True, samesite="lax",
        secure=is_secure, path=f"{service.prefix}/login",
    )  # fmt: skip
    return response


async def _identify(service: Service, request: Request, provider: Provider, attempt: Attempt, query: Return) -> Visitor:
    if query.error or not query.code:
        raise refuse(f"the provider says {query.error[:80] or 'nothing'!r}")
    callback = _callback(service, request)
    return await _ask(service, request, lambda: provider.finish(attempt, query.code, callback))


@route("GET", "/login/oidc/callback", None, is_page=True, stateless=True)
async def come_back(service: Service, request: Request, query: Return) -> Response:
    """Begin a session for whoever comes back from the company's login."""
    provider, is_secure = _provider(service), service.proxies.is_secure(request.headers)
    service.failures.check(service.proxies.client_address(request.scope))
    cookie, key = service.cookie(request.headers, _cookie(is_secure)), await _key(service)
    attempt = Attempt.unpack(cookie or "", key, service.clock.now())
    try:
        if attempt is None or not hmac.compare_digest(attempt.state.encode(), query.state.encode()):
            raise refuse("this login did not begin in this browser, or too long ago")
        visitor = await _identify(service, request, provider, attempt, query)
    except Problem as problem:
        if problem.code == "forbidden":
            service.count_failure(request.scope, "login failed", NOBODY, {"why": problem.detail.partition(";")[0]})
        raise

    def work(session: Session, state: EngineState) -> str:
        given, now = people.GivenRole(visitor.role, visitor.is_by_group), state.clock.now()
        person = people.welcome(session, visitor.subject, visitor.email, given, visitor.name, now)
        address = service.proxies.client_address(request.scope)
        return service.keys.begin_session(session, people.as_token(person), address)

    secret = await service.do(work)
    await service.refresh_keys()
    response = begin_session(service, request, secret, local_path(service, attempt.target))
    response.delete_cookie(_cookie(is_secure), path=f"{service.prefix}/login", secure=is_secure, httponly=True)
    return response
