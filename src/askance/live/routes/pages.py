"""The pages: dashboard, label page, login, and the files they need."""

from __future__ import annotations

import hashlib
import mimetypes
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from jinja2 import Environment, FileSystemLoader, TemplateNotFound
from starlette.responses import HTMLResponse, RedirectResponse, Response

import askance
from askance.live.auth import COOKIE, SESSION_SECONDS
from askance.live.problems import Problem
from askance.live.routing import Request, json_response, route
from askance.live.service import Service, _cookie

FOLDER = Path(__file__).parents[1] / "pages"
STATIC = FOLDER / "static"
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
        "classes": service.config.classes,
        "user": {"name": user.name, "scopes": list(user.scopes)} if user else None,
        "open_access": service.is_open and not service.keys.exist,
        **more,
    }
    return rendered(name, context, status)


def rendered(name: str, context: dict[str, Any], status: int = 200) -> Response:
    """A template with what it shows."""
    try:
        text = _templates.get_template(name).render(context)
    except TemplateNotFound:
        text = _FALLBACK
    return HTMLResponse(text, status, {"Cache-Control": "no-store"})


def explained(service: Service, problem: Problem) -> Response:
    """A problem for somebody with a browser."""
    detail = problem.detail[:1].upper() + problem.detail[1:]
    heading = "There is no such page" if problem.status == 404 else "That did not work"
    context = {
        "version": askance.__version__, "root": service.prefix, "title": service.config.title, "user": None,
        "heading": heading, "detail": detail,
    }  # fmt: skip
    response = rendered("problem.html", context, problem.status)
    response.headers.update(problem.headers)
    return response


def overview(titles: dict[str, str]) -> Response:
    """The page in front of several streams."""
    root = f"/{next(iter(titles))}"  # whose static files are as good as any other's
    context = {"version": askance.__version__, "root": root, "title": "askance", "user": None, "streams": titles}
    return rendered("streams.html", context)


@route("GET", "/", "read", is_page=True)
async def dashboard(service: Service, request: Request) -> Response:
    """The dashboard."""
    return page(service, request, "dashboard.html")


@route("GET", "/label", "label", is_page=True)
async def label(service: Service, request: Request) -> Response:
    """The label page."""
    return page(service, request, "label.html")


@route("GET", "/login", None, is_page=True)
async def login_page(service: Service, request: Request) -> Response:
    """Where a token is exchanged for a session."""
    return page(
        service, request, "login.html", user=None, error=None, next=_local(service, request.query().get("next"))
    )


@route("POST", "/login", None, is_page=True)
async def login(service: Service, request: Request) -> Response:
    """Begin a session with a token."""
    form = dict(parse_qsl(request.body.decode("utf-8", "replace")[:10_000]))
    target = _local(service, form.get("next"))
    token = service.keys.bearer(form.get("token", "").strip())
    if token is None:
        sentence = "This token is not valid; ask whoever runs the service for another."
        return page(service, request, "login.html", 401, user=None, error=sentence, next=target)
    secret = await service.engine.do(lambda session, state: service.keys.begin_session(session, token))
    response = RedirectResponse(target, 303)
    secure = request.scope.get("scheme") == "https" or request.header("x-forwarded-proto") == "https"
    response.set_cookie(
        COOKIE,
        secret,
        max_age=int(SESSION_SECONDS),
        httponly=True,
        samesite="strict",
        secure=secure,
        path=service.prefix or "/",
    )
    return response


@route("POST", "/logout", None, is_page=True)
async def logout(service: Service, request: Request) -> Response:
    """End the session."""
    secret = _cookie(request.header("cookie"))
    if secret:
        await service.engine.do(lambda session, state: service.keys.end_session(session, secret))
    response = RedirectResponse(f"{service.prefix}/login", 303)
    response.delete_cookie(COOKIE, path=service.prefix or "/", httponly=True, samesite="strict")
    return response


def _local(service: Service, target: str | None) -> str:
    """A path on this service: never another site."""
    home = f"{service.prefix}/"
    fine = target is not None and target.startswith(home) and not target.startswith(("//", "/\\"))
    return target if target is not None and fine and target.isprintable() else home


@route("GET", "/v1/me", "any")
async def me(service: Service, request: Request) -> Response:
    """Who the caller is, and what the pages need to know."""
    return json_response(
        {
            "name": request.user.name,
            "scopes": list(request.user.scopes),
            "open_access": service.is_open and not service.keys.exist,
            "classes": service.config.classes,
            "title": service.config.title,
            "store": service.engine.state.store,
            "version": askance.__version__,
            "lease_seconds": service.config.queue.lease,
            "learn_after": service.config.queue.learn_after,
        }
    )


async def static(service: Service, request: Request) -> Response:
    """A file the pages need."""
    name = request.parameters["file"]
    path = (STATIC / name).resolve()
    if not path.is_relative_to(STATIC.resolve()) or not path.is_file():
        raise Problem("not_found", f"there is no file {name[:100]!r}.")
    content = path.read_bytes()
    tag = f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if request.header("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return Response(content, headers=headers, media_type=kind)


@route("GET", "/static/{file}", None, is_page=True)
async def static_file(service: Service, request: Request) -> Response:
    """A file the pages need."""
    return await static(service, request)


@route("GET", "/static/{folder}/{file}", None, is_page=True)
async def static_file_in_folder(service: Service, request: Request) -> Response:
    """A file in a folder the pages need."""
    request.parameters["file"] = f"{request.parameters['folder']}/{request.parameters['file']}"
    return await static(service, request)


@route("GET", "/worker.js", None, is_page=True)
async def worker(service: Service, request: Request) -> Response:
    """The pages' service worker, whose scope is everything."""
    request.parameters["file"] = "worker.js"
    return await static(service, request)


@route("GET", "/favicon.ico", None, is_page=True)
async def favicon(service: Service, request: Request) -> Response:
    """The icon."""
    request.parameters["file"] = "favicon.svg"
    return await static(service, request)
