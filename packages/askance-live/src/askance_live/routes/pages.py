"""The pages: dashboard, label page, login, and the files they need."""

from __future__ import annotations

import hashlib
import mimetypes
from pathlib import Path
from typing import Any, TypedDict
from urllib.parse import parse_qsl

from jinja2 import Environment, FileSystemLoader, TemplateNotFound
from starlette.responses import HTMLResponse, RedirectResponse, Response

import askance
from askance_live.access.auth import SESSION_SECONDS, cookie_name
from askance_live.http.routing import LOGIN_BYTES, Request, route
from askance_live.http.schemas import QueryString
from askance_live.problems import Problem
from askance_live.service import Service

FOLDER = Path(__file__).parents[1] / "pages"
STATIC = FOLDER / "static"
FILES = {path.relative_to(STATIC).as_posix(): path for path in STATIC.rglob("*") if path.is_file()}
"""Every file the pages need, by its name; no other can be asked for."""
_templates = Environment(loader=FileSystemLoader(FOLDER / "templates"), autoescape=True)
_FALLBACK = (
    "<!doctype html><title>askance</title><p>This page is missing from the installation; the API is at /openapi.json."
)


def page(service: Service, request: Request, name: str, status: int = 200, **more: Any) -> Response:
    """A page from its template."""
    user = more.pop("user", request.user)
    context = {
        "version": askance.__version__,
        "root": service.prefix,
        "title": service.config.title,
        "classes": service.engine.state.config.classes,
        "label_sets": service.config.model.label_sets,
        "names": service.engine.state.label_schema.names,
        "retired": service.engine.state.label_schema.retired,
        "user": {"name": user.name, "scopes": list(user.scopes)} if user else None,
        "open_access": service.is_open and not service.keys.exist,
        **more,
    }
    return render(name, context, status)


def render(name: str, context: dict[str, Any], status: int = 200) -> Response:
    """A template with what it shows."""
    try:
        text = _templates.get_template(name).render(context)
    except TemplateNotFound:
        text = _FALLBACK
    return HTMLResponse(text, status, {"Cache-Control": "no-store"})


def explain_page(service: Service, problem: Problem) -> Response:
    """A problem for somebody with a browser."""
    heading = "There is no such page" if problem.status == 404 else "That did not work"
    context = {
        "version": askance.__version__, "root": service.prefix, "title": service.config.title, "user": None,
        "heading": heading, "detail": sentence_of(problem),
    }  # fmt: skip
    response = render("problem.html", context, problem.status)
    response.headers.update(problem.headers)
    return response


def sentence_of(problem: Problem) -> str:
    """What a problem says, as a page shows it."""
    return problem.detail[:1].upper() + problem.detail[1:]


def overview(titles: dict[str, str]) -> Response:
    """The page in front of several streams."""
    root = f"/{next(iter(titles))}"  # whose static files are as good as any other's
    context = {"version": askance.__version__, "root": root, "title": "askance", "user": None, "streams": titles}
    return render("streams.html", context)


@route("GET", "/", "read", is_page=True, stateless=True)
async def dashboard(service: Service, request: Request) -> Response:
    """The dashboard."""
    return page(service, request, "dashboard.html")


@route("GET", "/label", "label", is_page=True, stateless=True)
async def label(service: Service, request: Request) -> Response:
    """The label page."""
    config = service.config
    return page(service, request, "label.html", instructions=config.instructions, display=config.display.document())


class Login(QueryString):
    """Where to go from the login page."""

    next: str | None = None


@route("GET", "/login", None, is_page=True, stateless=True)
async def login_page(service: Service, request: Request, query: Login) -> Response:
    """Where a token is exchanged for a session."""
    return page(
        service,
        request,
        "login.html",
        user=None,
        error=None,
        company=_company(service),
        next=local_path(service, query.next),
    )


@route("POST", "/login", None, is_page=True, stateless=True, body_bytes=LOGIN_BYTES)
async def login(service: Service, request: Request, body: bytes) -> Response:
    """Begin a session with a token."""
    form = dict(parse_qsl(body.decode("utf-8", "replace")))
    target = local_path(service, form.get("next"))
    given = form.get("token", "").strip()
    token = service.keys.bearer(given)
    if token is None:
        return _refuse(service, request, given, target)
    address = service.proxies.client_address(request.scope)
    with service.slots.place(service.sender(token.id, request.scope)):
        secret = await service.engine.do(lambda session, state: service.keys.begin_session(session, token, address))
    return begin_session(service, request, secret, target)


def begin_session(service: Service, request: Request, secret: str, target: str) -> Response:
    """Lead to a page, with the cookie of a session that has begun."""
    response = RedirectResponse(target, 303)
    is_secure = service.proxies.is_secure(request.headers)
    response.set_cookie(
        cookie_name(is_secure, service.prefix),
        secret,
        max_age=int(SESSION_SECONDS),
        httponly=True,
        samesite="lax",  # strict would log out whoever follows a link from mail or chat; changes are POST, see the gate
        secure=is_secure,
        path=service.prefix or "/",
    )
    return response


def _refuse(service: Service, request: Request, given: str, target: str) -> Response:
    """The login page once more: the token is wrong, or there were too many wrong ones."""
    status, headers = 401, {}
    sentence = "This token is not valid; ask whoever runs the service for another."
    try:
        service.count_failure(request.scope, "login failed", *service.keys.failure(given))
    except Problem as problem:
        status, headers = problem.status, problem.headers
        sentence = sentence_of(problem)
    response = page(
        service, request, "login.html", status, user=None, error=sentence, company=_company(service), next=target
    )
    response.headers.update(headers)
    return response


@route("POST", "/logout", None, is_page=True, stateless=True, body_bytes=LOGIN_BYTES)
async def logout(service: Service, request: Request) -> Response:
    """End the session."""
    secret = service.session_secret(request.headers)
    if secret and service.keys.knows_session(secret):  # nobody makes the store work with one that was made up
        await service.engine.do(lambda session, state: service.keys.end_session(session, secret))
    response = RedirectResponse(f"{service.prefix}/login", 303)
    is_secure = service.proxies.is_secure(request.headers)
    name = cookie_name(is_secure, service.prefix)
    response.delete_cookie(name, path=service.prefix or "/", secure=is_secure, httponly=True, samesite="lax")
    return response


def _company(service: Service) -> str | None:
    """What the way to the company's login is called, where there is one."""
    return None if service.config.oidc is None else service.config.oidc.label


def local_path(service: Service, target: str | None) -> str:
    """A path on this service: never another site."""
    home = f"{service.prefix}/"
    fine = target is not None and target.startswith(home) and not target.startswith(("//", "/\\"))
    return target if target is not None and fine and target.isprintable() else home


Me = TypedDict("Me", {
    "name": str, "scopes": list[str], "open_access": bool, "classes": list[str], "names": dict[str, str], "scheme": int,
    "title": str, "store": str,
    "version": str, "lease_seconds": float, "learn_after": float,
})  # fmt: skip


@route("GET", "/v1/me", "any", stateless=True)
async def me(service: Service, request: Request) -> Me:
    """Who the caller is, and what the pages need to know."""
    return {
        "name": request.user.name,
        "scopes": list(request.user.scopes),
        "open_access": service.is_open and not service.keys.exist,
        "classes": service.engine.state.config.classes,
        "names": service.engine.state.label_schema.names,
        "scheme": service.engine.state.label_schema.seq,
        "title": service.config.title,
        "store": service.engine.state.store,
        "version": askance.__version__,
        "lease_seconds": service.config.queue.lease,
        "learn_after": service.config.queue.learn_after,
    }


def static(request: Request, name: str) -> Response:
    """A file the pages need."""
    path = FILES.get(name)
    if path is None:
        raise Problem("not_found", f"there is no file {name[:100]!r}.")
    content = path.read_bytes()
    tag = f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if request.header("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return Response(content, headers=headers, media_type=kind)


@route("GET", "/static/{file}", None, is_page=True, stateless=True)
async def static_file(service: Service, request: Request, file: str) -> Response:
    """A file the pages need."""
    return static(request, file)


@route("GET", "/worker.js", None, is_page=True, stateless=True)
async def worker(service: Service, request: Request) -> Response:
    """The pages' service worker, whose scope is everything."""
    return static(request, "worker.js")


@route("GET", "/favicon.ico", None, is_page=True, stateless=True)
async def favicon(service: Service, request: Request) -> Response:
    """The icon."""
    return static(request, "favicon.svg")
