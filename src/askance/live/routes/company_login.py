"""Login by a company's OpenID Connect provider: there, and back."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import TypeVar

from starlette.responses import RedirectResponse, Response

from askance.live.access import people
from askance.live.access.oidc import Attempt, Provider, refuse
from askance.live.engine.state import EngineState
from askance.live.http.routing import Request, route
from askance.live.http.schemas import QueryString
from askance.live.problems import Problem
from askance.live.routes.pages import begin_session, local_path
from askance.live.service import Service
from askance.live.store.database import Session

COOKIE = "askance_login"
MINUTES = 10  # in which somebody must come back
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


async def _ask(service: Service, function: Callable[[], Found]) -> Found:
    """Speak with the provider, in a thread: it may take its time."""
    return await asyncio.get_running_loop().run_in_executor(service.exporters, function)


@route("GET", "/login/oidc", None, is_page=True, anywhere=True)
async def depart(service: Service, request: Request, query: Departure) -> Response:
    """Send somebody to the company's login."""
    provider, attempt = _provider(service), Attempt.new(local_path(service, query.next))
    address = await _ask(service, lambda: provider.begin(attempt, _callback(service, request)))
    response, is_secure = RedirectResponse(address, 303), service.proxies.is_secure(request.headers)
    response.set_cookie(
        _cookie(is_secure), attempt.pack(), max_age=60 * MINUTES, httponly=True, samesite="lax", secure=is_secure,
        path=f"{service.prefix}/login",
    )  # fmt: skip
    return response


@route("GET", "/login/oidc/callback", None, is_page=True, anywhere=True)
async def come_back(service: Service, request: Request, query: Return) -> Response:
    """Begin a session for whoever comes back from the company's login."""
    provider, is_secure = _provider(service), service.proxies.is_secure(request.headers)
    attempt = Attempt.unpack(service.cookie(request.headers, _cookie(is_secure)) or "")
    if attempt is None or not secrets.compare_digest(attempt.state.encode(), query.state.encode()):
        raise refuse("this login did not begin in this browser, or too long ago")
    if query.error or not query.code:
        raise refuse(f"the provider says {query.error[:80] or 'nothing'!r}")
    visitor = await _ask(service, lambda: provider.finish(attempt, query.code, _callback(service, request)))

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
