"""The queue of questions: leases with fencing tokens, skips, expiry. Every function runs inside a transaction."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from askance.live.asking import AUDIT, COLD_START
from askance.live.clock import iso
from askance.live.problems import Problem
from askance.live.spending import spending
from askance.live.state import State
from askance.live.store.database import Row, Session
from askance.live.tallies import asks_moved

FOR_EVER = 1e12
FAIRLY_SURE = 0.8  # the probability from which a question is not said to be about doubt
ASK = "a.id, a.event, a.why, a.probability, a.audit, a.state, a.created, a.skips, a.deliveries, a.annotator, a.deadline"


class Ask(NamedTuple):
    """A row of the table of asks."""

    id: int
    event: int
    why: str
    probability: float
    audit: int
    state: str
    created: float
    skips: int
    deliveries: int
    annotator: str | None
    deadline: float | None

    @property
    def token(self) -> str:
        """The fencing token of the last delivery."""
        return f"{self.id}.{self.deliveries}"


class Nothing(NamedTuple):
    """Why there is nothing to label now, and when to come back."""

    reason: str
    detail: str
    seconds: int


def find(session: Session, ask: int) -> Ask:
    """The ask of this number."""
    row = session.one(f"SELECT {ASK} FROM asks a WHERE a.id = ?", (ask,))
    if row is None:
        raise Problem("unknown_ask", f"there is no ask {ask}.")
    return Ask(*row)


def next_asks(
    session: Session, state: State, annotator: str, n: int, held: frozenset[int]
) -> tuple[list[dict[str, Any]], dict[str, int]] | Nothing:
    """Lease up to ``n`` asks to an annotator; those leased to them, but not ``held`` by the page, come first."""
    now = state.clock.now()
    release_overdue(session, now)
    mine = session.all(
        f"SELECT {ASK} FROM asks a WHERE a.state = 'leased' AND a.annotator = ? "
        "ORDER BY a.deadline, a.rank DESC, a.id DESC",
        (annotator,),
    )
    chosen = [ask for ask in (Ask(*row) for row in mine) if ask.id not in held][:n]
    deadline = now + state.config.queue.lease
    if chosen:
        session.many("UPDATE asks SET deadline = ? WHERE id = ?", [(deadline, ask.id) for ask in chosen])
    if len(chosen) < n:
        fresh = _open_for(session, annotator, now, n - len(chosen))
        session.many(
            "UPDATE asks SET state = 'leased', annotator = ?, deadline = ?, deliveries = deliveries + 1 WHERE id = ?",
            [(annotator, deadline, ask.id) for ask in fresh],
        )
        chosen += [ask._replace(deliveries=ask.deliveries + 1) for ask in fresh]
    if not chosen:
        return _nothing(session, state, annotator, now)
    return [shown(session, state, ask._replace(deadline=deadline)) for ask in chosen], lengths(session)


def _open_for(session: Session, annotator: str, now: float, n: int) -> list[Ask]:
    """Open asks for an annotator: first those they put off until now, then by rank."""
    returned = session.all(
        f"SELECT {ASK} FROM set_aside s JOIN asks a ON a.id = s.ask "
        "WHERE s.annotator = ? AND s.until <= ? AND a.state = 'open' ORDER BY s.until LIMIT ?",
        (annotator, now, n),
    )
    known = {row[0] for row in returned}
    rest = session.all(
        f"SELECT {ASK} FROM asks a WHERE a.state = 'open' "
        "AND NOT EXISTS (SELECT 1 FROM set_aside s WHERE s.ask = a.id AND s.annotator = ? AND s.until > ?) "
        "ORDER BY a.rank DESC, a.id DESC LIMIT ?",
        (annotator, now, n + len(known)),
    )
    rows: list[Row] = [*returned, *(row for row in rest if row[0] not in known)]
    return [Ask(*row) for row in rows[:n]]


def open_asks(session: Session) -> int:
    """How many asks are open."""
    return int(session.value("SELECT count(*) FROM asks WHERE state = 'open'"))


def lengths(session: Session) -> dict[str, int]:
    """How many asks are open, leased and parked."""
    found: dict[str, int] = dict(
        session.all("SELECT state, count(*) FROM asks WHERE state IN ('open', 'leased', 'parked') GROUP BY state")
    )
    return {name: int(found.get(name, 0)) for name in ("open", "leased", "parked")}


def _nothing(session: Session, state: State, annotator: str, now: float) -> Nothing:
    length = lengths(session)
    if length["open"]:
        return _put_off(session, annotator, now, length["open"])
    if length["leased"]:
        own = session.value("SELECT count(*) FROM asks WHERE state = 'leased' AND annotator = ?", (annotator,))
        whose = "your own hands" if own == length["leased"] else "somebody's hands"
        return Nothing("all_leased", f"Every open question is in {whose}.", 10)
    if not state.totals["events"]:
        return Nothing("waiting_for_events", "No event has come in yet; questions appear with the first ones.", 5)
    budget = spending(state, now)
    if budget["exhausted"]:
        until = f" until {budget['next_at']}" if budget["next_at"] else ""
        return Nothing("budget_spent", f"The budget of questions is spent{until}.", 60)
    if budget["pace"]:
        return Nothing("budget_paced", budget["pace"]["detail"], 15)
    unanswered = [
        f"{number:,} {words}"
        for number, words in (
            (state.totals["expired"], "expired without an answer"),
            (length["parked"], "parked, since several people were unsure"),
        )
        if number
    ]
    why = f"No question is open ({', '.join(unanswered)})" if unanswered else "Every question is answered"
    return Nothing("nothing_asked", f"{why}; the next uncertain event becomes one.", 5)


def _put_off(session: Session, annotator: str, now: float, n_open: int) -> Nothing:
    """Questions are open, but this annotator skipped them all: which come back to them, and when."""
    row = session.one(
        "SELECT count(*), min(s.until) FROM set_aside s JOIN asks a ON a.id = s.ask "
        "WHERE s.annotator = ? AND s.until > ? AND s.until < ? AND a.state = 'open'",
        (annotator, now, FOR_EVER),
    )
    later, back = row if row is not None else (0, None)
    if not later:
        return Nothing("all_skipped", "You skipped every question that is open; they wait for others.", 30)
    which = "every question that is open" if later == n_open else "some questions, and the others wait for other people"
    comes = "it comes" if later == 1 else "the first comes"
    wait = max(1, min(60, int(back - now) + 1))
    return Nothing("all_skipped", f"You put off {which}; {comes} back to you at {iso(back)}.", wait)


def shown(session: Session, state: State, ask: Ask) -> dict[str, Any]:
    """An ask as the label page gets it. The suggestion is the most probable class, where a model that is to find a rare
    class may predict that. Random samples are blind: no suggestion that could sway the answer."""
    row = session.one(
        "SELECT id, seq, fields, time, received, probabilities, version FROM events WHERE seq = ?",
        (ask.event,),
    )
    assert row is not None
    fields = msgspec.json.decode(row[2])
    blind = ask.why in (AUDIT, COLD_START)
    chances: list[float] = msgspec.json.decode(row[5])
    chance = max(chances)
    best = chances.index(chance)
    assert ask.deadline is not None
    return {
        "id": ask.id,
        "token": ask.token,
        "deadline": iso(ask.deadline),
        "seconds_left": round(ask.deadline - state.clock.now(), 3),
        "event": {
            "id": row[0],
            "seq": row[1],
            "fields": fields,
            "time": None if row[3] is None else msgspec.json.decode(row[3]),
            "received": iso(row[4]),
        },
        "suggestion": None
        if blind
        else {
            "label": state.classes[best],
            "probability": chance,
            "probabilities": {label: chances[state.place_of[label]] for label in state.config.classes},
            "model": row[6],
        },
        "why": {
            "code": ask.why,
            "probability": ask.probability,
            "text": reason(ask.why, state.classes[best], chance, ask.probability),
        },
        "audit": bool(ask.audit),
        "explanation": [] if blind else state.learner.explain(fields, best),
        "skips": ask.skips,
        "created": iso(ask.created),
    }


def reason(why: str, label: str, chance: float, probability: float) -> str:
    """Why an event is asked about, for the person who is asked."""
    if why == COLD_START:
        return "The model had not seen every class when this came; so it shows no suggestion."
    if why == AUDIT:
        return "A random sample, by which the model is judged; so it shows no suggestion."
    sure = "fairly sure" if chance >= FAIRLY_SURE else "unsure"
    return f"The model was {sure}: {label} at {100 * chance:.0f}\u00a0%. {how_often(probability)}"


def how_often(probability: float) -> str:
    """A probability of being asked, as one counts.

    >>> how_often(0.0047), how_often(0.62)
    ('About 1 in 210 such events is asked about.', 'About 6 in 10 such events are asked about.')
    """
    if probability >= 0.95:
        return "Nearly all such events are asked about."
    if probability >= 0.4:
        return f"About {10 * probability:.0f} in 10 such events are asked about."
    return f"About 1 in {float(f'{1.0 / max(probability, 1e-9):.2g}'):,.0f} such events is asked about."


def release_overdue(session: Session, now: float) -> int:
    """Leases that ended give their asks back; who had one last may renew it as long as nobody else has taken it."""
    return session.execute(
        "UPDATE asks SET state = 'open', deadline = NULL WHERE state = 'leased' AND deadline <= ?",
        (now,),
    )


def expire(session: Session, state: State, now: float) -> None:
    """Asks that waited too long are given up, counted; one in somebody's hands is not taken away."""
    gone = session.execute(
        "UPDATE asks SET state = 'expired' WHERE expires <= ? AND state IN ('open', 'parked')", (now,)
    )
    if gone:
        asks_moved(session, "open", "expired", gone)
        state.count("expired", gone)


def renew(session: Session, state: State, annotator: str, number: int, token: str) -> dict[str, Any]:
    """Hold on to a lease, or to one that ran out and that nobody took; not to one skipped or given back."""
    now = state.clock.now()
    ask = find(session, number)
    if ask.state not in ("open", "leased") or ask.annotator != annotator or ask.token != token:
        raise Problem(
            "stale_token", f"the lease {token!r} of ask {number} is no longer yours; take another with /v1/asks/next."
        )
    deadline = now + state.config.queue.lease
    session.execute(
        "UPDATE asks SET state = 'leased', annotator = ?, deadline = ? WHERE id = ?", (annotator, deadline, number)
    )
    return {"ask": number, "token": token, "deadline": iso(deadline), "seconds_left": state.config.queue.lease}


def release(session: Session, annotator: str, number: int, token: str) -> dict[str, Any]:
    """Give an ask back before its lease ends."""
    ask = find(session, number)
    if ask.state != "leased" or ask.annotator != annotator or ask.token != token:
        return {"ask": number, "outcome": "stale"}
    session.execute("UPDATE asks SET state = 'open', annotator = NULL, deadline = NULL WHERE id = ?", (number,))
    return {"ask": number, "outcome": "released"}


def lease_again(session: Session, state: State, annotator: str, ask: Ask) -> dict[str, Any]:
    """Give an ask whose answer was taken back to its annotator once more."""
    deadline = state.clock.now() + state.config.queue.lease
    session.execute(
        "UPDATE asks SET state = 'leased', annotator = ?, deadline = ?, deliveries = deliveries + 1 WHERE id = ?",
        (annotator, deadline, ask.id),
    )
    asks_moved(session, ask.state, "leased")
    return shown(session, state, ask._replace(deliveries=ask.deliveries + 1, deadline=deadline, state="leased"))
