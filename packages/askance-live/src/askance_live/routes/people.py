"""The people of a stream: who they are, what they may do, and the links that let them in."""

from __future__ import annotations

import asyncio
import json
import logging
from functools import partial
from typing import Annotated, Any, Literal, TypedDict
from urllib.parse import parse_qsl

from msgspec import Meta
from starlette.responses import Response

from askance_live.access import ROLES, people
from askance_live.access.mail import MailError, send_link
from askance_live.access.names import LONGEST_NAME
from askance_live.access.people import ALL, LASTING, LONGEST_EMAIL, kind_of_link
from askance_live.clock import iso, span
from askance_live.engine.state import EngineState
from askance_live.http.routing import LOGIN_BYTES, Request, route
from askance_live.http.schemas import QueryString, RequestBody
from askance_live.problems import Problem, StartError
from askance_live.routes.admin import Entry
from askance_live.routes.pages import begin_session, page, sentence_of
from askance_live.service import Service
from askance_live.store.database import Session
from askance_live.store.schema import PersonRow

log = logging.getLogger("askance")

LATEST = 100  # entries of somebody's activity
Role = Literal["viewer", "annotator", "lead", "admin"]
PersonNumber = Annotated[
    str, Meta(max_length=100, description="The person's number, or name.", extra={"code": "unknown_person"})
]

Person = TypedDict("Person", {
    "id": str, "name": str, "email": str | None, "role": str, "active": bool, "created": str, "last_seen": str | None,
    "logins": int, "labels": int, "skips": int, "invited_until": str | None,
})  # fmt: skip
People = TypedDict("People", {"people": list[Person]})
PersonActivity = TypedDict("PersonActivity", {"person": Person, "entries": list[Entry]})
Link = TypedDict(
    "Link", {"person": Person, "kind": str, "link": str, "expires": str, "sent": bool, "mail_problem": str | None}
)


class Invitation(RequestBody):
    """Somebody to invite."""

    example = '{"name": "Ana", "role": "annotator"}'

    name: Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME, description="What they are called everywhere.")]
    role: Annotated[Role, Meta(description="What they may do.")]
    email: Annotated[
        Annotated[str, Meta(max_length=LONGEST_EMAIL)] | None,
        Meta(description="By which a company's login knows them."),
    ] = None


class NewRole(RequestBody):
    """Another role."""

    example = '{"role": "lead"}'

    role: Annotated[Role, Meta(description="What they may do from now on.")]


class Counted:
    """What the store has about people beside their rows."""

    def __init__(self, session: Session, now: float) -> None:
        rows = session.all("SELECT kind, name, n FROM tallies WHERE kind IN ('labels', 'skips')")
        self.tallies = {(kind, name): int(n) for kind, name, n in rows}
        self.links: dict[str, float] = dict(
            session.all("SELECT person, max(expires) FROM links WHERE used IS NULL AND expires > ? GROUP BY 1", (now,))
        )

    def describe(self, person: PersonRow) -> Person:
        """A person, as requests get them."""
        until = self.links.get(person.id)
        return {
            "id": person.id, "name": person.name, "email": person.email, "role": person.role,
            "active": person.revoked is None, "created": iso(person.created),
            "last_seen": None if person.seen is None else iso(person.seen), "logins": person.logins,
            "labels": self.tallies.get(("labels", person.name), 0),
            "skips": self.tallies.get(("skips", person.name), 0),
            "invited_until": None if until is None else iso(until),
        }  # fmt: skip


def _describe(session: Session, state: EngineState, person: PersonRow) -> Person:
    return Counted(session, state.clock.now()).describe(person)


@route("GET", "/v1/people", "admin", stateless=True)
async def list_people(service: Service, request: Request) -> People:
    """The people of this stream, by name, and what each has done."""

    def look(session: Session) -> People:
        counted = Counted(session, service.clock.now())
        return {"people": [counted.describe(person) for person in ALL.all(session)]}

    return await service.read(look)


@route("GET", "/v1/people/{person}", "admin", stateless=True)
async def show_person(service: Service, request: Request, person: PersonNumber) -> PersonActivity:
    """A person, and their latest entries of the activity log: logins, logouts, what they replaced or took back."""

    def look(session: Session) -> PersonActivity:
        found = people.find_person(session, person)
        rows = session.all(
            "SELECT seq, time, actor, action, detail FROM audit_log WHERE actor = ? ORDER BY seq DESC LIMIT ?",
            (found.name, LATEST),
        )
        entries: list[Entry] = [
            {"seq": seq, "time": iso(time), "actor": actor, "action": action, "detail": json.loads(detail)}
            for seq, time, actor, action, detail in rows
        ]
        return {"person": Counted(session, service.clock.now()).describe(found), "entries": entries}

    return await service.read(look)


@route("POST", "/v1/people", "admin", stateless=True)
async def invite_person(service: Service, request: Request, body: Invitation) -> Link:
    """Add somebody; the link in the response lets them in, once, within seven days. It is shown this once, and sent to
    them where the settings have a mail server."""
    if request.user.way == "open" and body.role != "admin":
        raise Problem(
            "invalid",
            "the first person must be an admin: from then on nobody gets in without a login, and somebody must invite "
            "the others.",
            field="role",
        )

    address = service.address(request)

    def work(session: Session, state: EngineState) -> Link:
        now, actor = state.clock.now(), request.user.name
        person, secret = people.invite(session, actor, body.name, body.email, body.role, now)
        return _link(session, state, person, address, secret)

    return await _send(service, await _change(service, work))


@route("POST", "/v1/people/{person}/link", "admin", stateless=True)
async def make_link(service: Service, request: Request, person: PersonNumber) -> Link:
    """A new link for somebody, in place of earlier ones: an invitation until their first login, else good for 15
    minutes."""

    address = service.address(request)

    def work(session: Session, state: EngineState) -> Link:
        found = people.find_person(session, person)
        secret = people.make_link(session, request.user.name, found, state.clock.now())
        return _link(session, state, found, address, secret)

    return await _send(service, await _change(service, work))


@route("POST", "/v1/people/{person}/role", "admin", stateless=True)
async def change_role(service: Service, request: Request, person: PersonNumber, body: NewRole) -> Person:
    """Give somebody another role; it holds from their next request on."""

    def work(session: Session, state: EngineState) -> Person:
        _refuse_self(session, request, person, "change your own role")
        found = people.set_role(session, request.user.name, person, body.role, state.clock.now())
        return _describe(session, state, found)

    return await _change(service, work)


@route("POST", "/v1/people/{person}/revoke", "admin", stateless=True)
async def revoke_person(service: Service, request: Request, person: PersonNumber) -> Person:
    """Let somebody in no more: their sessions and links end at once, what they said stays."""

    def work(session: Session, state: EngineState) -> Person:
        _refuse_self(session, request, person, "revoke yourself")
        return _describe(session, state, people.revoke(session, request.user.name, person, state.clock.now()))

    found: Person = await _change(service, work)
    service.keys.forget_sessions(found["id"])
    return found


@route("POST", "/v1/people/{person}/restore", "admin", stateless=True)
async def restore_person(service: Service, request: Request, person: PersonNumber) -> Person:
    """Let somebody in again, with a new link."""

    def work(session: Session, state: EngineState) -> Person:
        return _describe(session, state, people.restore(session, request.user.name, person, state.clock.now()))

    return await _change(service, work)


def _refuse_self(session: Session, request: Request, who: str, what: str) -> None:
    """Whoever could lock themselves out might be the last one with a key."""
    if people.find_person(session, who).id == request.user.token:
        raise Problem("own_person", f"you cannot {what}; let another admin do it.")


async def _change(service: Service, work: Any) -> Any:
    """Do something that the next request must know of."""
    found = await service.do(work)
    await service.refresh_keys()
    return found


def _link(session: Session, state: EngineState, person: PersonRow, address: str, secret: str) -> Link:
    kind = kind_of_link(person)
    return {
        "person": _describe(session, state, person),
        "kind": kind,
        "link": f"{address}{people.entrance(secret)}",
        "expires": iso(state.clock.now() + LASTING[kind]),
        "sent": False,
        "mail_problem": None,
    }


async def _send(service: Service, made: Link) -> Link:
    """Send a link to whoever it lets in, where the settings have a mail server and the person an address."""
    settings, email = service.config.mail, made["person"]["email"]
    if settings is None or not email:
        return made
    send = partial(
        send_link, settings, service.config.title, email, made["kind"], made["link"], span(LASTING[made["kind"]])
    )
    try:
        await asyncio.get_running_loop().run_in_executor(None, send)
    except (MailError, StartError) as error:
        log.warning("a link was not sent: %s", error)
        return {**made, "mail_problem": str(error)}
    return {**made, "sent": True}


# --- pages -----------------------------------------------------------------------------------------------


@route("GET", "/people", "admin", is_page=True, stateless=True)
async def people_page(service: Service, request: Request) -> Response:
    """The page on which people are invited, given roles and revoked."""
    return page(service, request, "people.html", roles=list(ROLES))


class Entrance(QueryString):
    """What a link says."""

    key: str = ""


@route("GET", "/enter", None, is_page=True, stateless=True)
async def enter_page(service: Service, request: Request, query: Entrance) -> Response:
    """Where a link leads. It is used up by the button there, not by looking: programs look at links in messages."""
    try:
        with service.entrances.place(request.sender):
            person = await service.read(lambda session: people.look_at_link(session, query.key, service.clock.now()))
    except Problem as problem:
        return _refuse(service, request, query.key, problem)
    return page(service, request, "enter.html", user=None, person=person.name, key=query.key, error=None)


@route("POST", "/enter", None, is_page=True, body_bytes=LOGIN_BYTES, stateless=True)
async def enter(service: Service, request: Request, body: bytes) -> Response:
    """Begin a session with a link."""
    key = dict(parse_qsl(body.decode("utf-8", "replace"))).get("key", "")

    def work(session: Session, state: EngineState) -> tuple[PersonRow, str]:
        person = people.use_link(session, key, state.clock.now())
        address = service.proxies.client_address(request.scope)
        return person, service.keys.begin_session(session, people.as_token(person), address)

    try:
        with service.entrances.place(request.sender):
            person, secret = await service.do(work)
    except Problem as problem:
        if problem.code != "link_ended":
            raise
        return _refuse(service, request, key, problem)
    await service.refresh_keys()
    home = "/label" if "label" in people.as_token(person).scopes else "/"
    return begin_session(service, request, secret, service.prefix + home)


def _refuse(service: Service, request: Request, key: str, problem: Problem) -> Response:
    """Say why a link does not work; whoever tries many is refused like one with wrong tokens."""
    try:
        service.count_failure(request.scope, "link refused", *service.keys.failure(key))
    except Problem as refusal:
        problem = refusal
    told = page(
        service, request, "enter.html", problem.status, user=None, person=None, key=None, error=sentence_of(problem)
    )
    told.headers.update(problem.headers)
    return told
