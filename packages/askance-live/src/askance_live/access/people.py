"""The people of a stream: a name, a role, and links that let them in once; programs have tokens.

Whoever is invited gets a link, and so does whoever has lost their session: nobody has a password. A link is shown once,
stored as a hash, and good for one login before it ends. A session belongs to a person as one belongs to a token, and
what a person may do is looked up with every request: a new role holds at once, and so does the end of it all.
"""

from __future__ import annotations

import re
import secrets
import string
from typing import Final, NamedTuple

from askance_live.access import ROLES
from askance_live.access.auth import Token, hash_secret, note
from askance_live.access.names import PERSON, claim_name, is_writable, numbered, why_refused
from askance_live.clock import DAY, MINUTE
from askance_live.problems import Problem
from askance_live.store.database import Session
from askance_live.store.rows import Query, insert
from askance_live.store.schema import LinkRow, PersonRow

LASTING: Final = {"invitation": 7 * DAY, "login": 15 * MINUTE}
"""The kinds of links, and for how long each is good."""

LONGEST_EMAIL = 254
USED_KEPT = 1000  # links that were used or have ended, kept so that a second try is told why
LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
ALL = Query(PersonRow, "people", "ORDER BY name")
BY_ID = Query(PersonRow, "people", "WHERE id = ?")
BY_NAME = Query(PersonRow, "people", "WHERE name = ?")
BY_SUBJECT = Query(PersonRow, "people", "WHERE subject = ?")
LINK = Query(LinkRow, "links", "WHERE digest = ?")
INSERT_PERSON, INSERT_LINK = insert(PersonRow), insert(LinkRow)
FORGET_LINKS = (
    "DELETE FROM links WHERE expires < "
    "(SELECT expires FROM links WHERE expires <= ? ORDER BY expires DESC LIMIT 1 OFFSET ?)"
)


def as_token(person: PersonRow) -> Token:
    """What a session begins with: a person as good as a token with the scopes of the role."""
    scopes = ROLES.get(person.role, ())
    return Token(person.id, person.name, b"", scopes, person.created, None, person.revoked)


def find_person(session: Session, who: str) -> PersonRow:
    """The person with this number or name."""
    person = BY_ID.one(session, (who,)) or BY_NAME.one(session, (who,))
    if person is None:
        raise Problem("unknown_person", f"there is no person {who[:80]!r}; 'askance people list' shows them.")
    return person


def add_person(session: Session, actor: str, name: str, email: str | None, role: str, now: float) -> PersonRow:
    """A person who is new here, by a name that was chosen for them."""
    claim_name(session, name, PERSON)
    return _add(session, actor, PersonRow(_new_number(), name, email, role, now))


def _new_number() -> str:
    return f"p{secrets.token_hex(6)}"


def _add(session: Session, actor: str, person: PersonRow) -> PersonRow:
    if person.email is not None:
        check_email(session, person.email)
    check_role(person.role)
    session.execute(INSERT_PERSON, person)
    detail = {"person": person.id, "name": person.name, "role": person.role}
    note(session, person.created, actor, "person add", detail)
    return person


def _find_by_email(session: Session, email: str) -> PersonRow | None:
    """Whose address it is, whatever the case of its ASCII letters; other letters are never taken for these."""
    wanted = email.translate(LOWER)
    return next((one for one in ALL.all(session) if one.email and one.email.translate(LOWER) == wanted), None)


def check_email(session: Session, email: str) -> None:
    """Refuse what is no address, or somebody else's."""
    if not EMAIL.fullmatch(email) or len(email) > LONGEST_EMAIL or not email.isprintable():
        raise Problem("invalid", f"an email address looks like ana@example.org; got {email[:80]!r}.", field="email")
    if (other := _find_by_email(session, email)) is not None:
        raise Problem("name_taken", f"{email!r} is the address of {other.name!r} already.")


def check_role(role: str) -> None:
    """Refuse what is no role."""
    if role not in ROLES:
        raise Problem("invalid", f"a role is one of {', '.join(ROLES)}; got {role[:40]!r}.", field="role")


def invite(session: Session, actor: str, name: str, email: str | None, role: str, now: float) -> tuple[PersonRow, str]:
    """Somebody new, and the secret of their invitation."""
    person = add_person(session, actor, name, email, role, now)
    return person, make_link(session, actor, person, now)


def make_link(session: Session, actor: str, person: PersonRow, now: float) -> str:
    """The secret of a link: an invitation until somebody's first login, then a login; earlier ones are good no more."""
    if person.revoked is not None:
        raise Problem("person_revoked", f"{person.name!r} may not log in any more; restore them first.")
    kind, secret = kind_of_link(person), secrets.token_urlsafe(32)
    end_links(session, person.id, now)
    session.execute(FORGET_LINKS, (now, USED_KEPT - 1))
    session.execute(INSERT_LINK, LinkRow(hash_secret(secret), person.id, kind, now, now + LASTING[kind]))
    note(session, now, actor, f"link {kind}", {"person": person.id, "name": person.name})
    return secret


def entrance(secret: str) -> str:
    """The path that a link leads to."""
    return f"/enter?key={secret}"


def kind_of_link(person: PersonRow) -> str:
    """What a new link for somebody would be."""
    return "login" if person.logins else "invitation"


def end_links(session: Session, person: str, now: float) -> None:
    """No link of this person is good any more."""
    session.execute("UPDATE links SET used = ? WHERE person = ? AND used IS NULL", (now, person))


def look_at_link(session: Session, secret: str, now: float) -> PersonRow:
    """Whom a link lets in, if it still does; it is not used up by that."""
    link = LINK.one(session, (hash_secret(secret),))
    if link is None:
        raise Problem("link_ended", "this link is not known here; ask whoever runs the service for another.")
    if link.used is not None:
        raise Problem("link_ended", "this link was used, or replaced by a newer one; ask for another.")
    if now >= link.expires:
        raise Problem("link_ended", "this link has ended; ask for another.")
    person = find_person(session, link.person)
    if person.revoked is not None:
        raise Problem("link_ended", "this link is good no more; ask whoever runs the service.")
    return person


def use_link(session: Session, secret: str, now: float) -> PersonRow:
    """Whom a link lets in, this once."""
    person = look_at_link(session, secret, now)
    session.execute("UPDATE links SET used = ? WHERE digest = ?", (now, hash_secret(secret)))
    return person


def note_login(session: Session, person: str, now: float) -> None:
    """Somebody has logged in."""
    session.execute("UPDATE people SET logins = logins + 1, seen = ? WHERE id = ?", (now, person))


def note_seen(session: Session, seen: dict[str, float]) -> None:
    """When these people were last here."""
    session.many("UPDATE people SET seen = ? WHERE id = ?", [(time, person) for person, time in seen.items()])


class GivenRole(NamedTuple):
    """The role that a company's login gives somebody, and whether that is more than a default."""

    role: str
    is_firm: bool


def welcome(session: Session, subject: str, email: str | None, given: GivenRole, name: str, now: float) -> PersonRow:
    """The person whom a company's login vouches for: known by it, or by the email address, or new here.

    Nobody chose the name of whoever is new. Where another has it, or one that looks like it, it gets a number.
    """
    person = BY_SUBJECT.one(session, (subject,))
    if person is None and email is not None and (known := _find_by_email(session, email)) is not None:
        if known.subject is not None:
            raise Problem("name_taken", f"{email!r} is the address of somebody else here; ask whoever runs it.")
        session.execute("UPDATE people SET subject = ? WHERE id = ?", (subject, known.id))
        person = known._replace(subject=subject)
    if person is None:
        number = _new_number()
        if (problem := why_refused(session, name, PERSON)) is not None:
            if not is_writable(name):
                raise problem
            name = numbered(name, number)
        return _add(session, name, PersonRow(number, name, email, given.role, now, subject=subject))
    if person.revoked is not None:
        raise Problem("forbidden", "you may not log in here any more; ask whoever runs the service.")
    return set_role(session, person.name, person.id, given.role, now) if given.is_firm else person


def set_role(session: Session, actor: str, who: str, role: str, now: float) -> PersonRow:
    """Another role, from the next request on."""
    check_role(role)
    person = find_person(session, who)
    if person.role != role:
        session.execute("UPDATE people SET role = ? WHERE id = ?", (role, person.id))
        detail = {"person": person.id, "name": person.name, "before": person.role, "after": role}
        note(session, now, actor, "person role", detail)
    return person._replace(role=role)


def revoke(session: Session, actor: str, who: str, now: float) -> PersonRow:
    """End somebody's sessions and links; what they said stays."""
    person = find_person(session, who)
    if person.revoked is None:
        session.execute("UPDATE people SET revoked = ? WHERE id = ?", (now, person.id))
        session.execute("DELETE FROM sessions WHERE token = ?", (person.id,))
        end_links(session, person.id, now)
        note(session, now, actor, "person revoke", {"person": person.id, "name": person.name})
        person = person._replace(revoked=now)
    return person


def restore(session: Session, actor: str, who: str, now: float) -> PersonRow:
    """Let somebody in again, who then needs a link."""
    person = find_person(session, who)
    if person.revoked is not None:
        session.execute("UPDATE people SET revoked = NULL WHERE id = ?", (person.id,))
        note(session, now, actor, "person restore", {"person": person.id, "name": person.name})
        person = person._replace(revoked=None)
    return person
