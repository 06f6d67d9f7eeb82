"""The queue of questions: leases with fencing tokens, skips, expiry. Every function runs inside a transaction.

The table ``asks`` is to the service what ``askance.pending`` is to a classifier. It is a table because questions
outlive the process and several people work on them at once; ``states`` says which states they have.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from askance_live.clock import iso
from askance_live.engine.exploration import AUDIT, COLD_START
from askance_live.engine.label_sets import asked_about
from askance_live.engine.label_space import Doubt, LabelSets, ShownLabel, likely
from askance_live.engine.spending import spending
from askance_live.engine.state import EngineState
from askance_live.problems import Problem
from askance_live.questions.states import IN_PLAY, AnswerState, QuestionState, ReleaseOutcome, one_of
from askance_live.questions.transitions import MoveOfQuestions, move_question
from askance_live.questions.variety import AHEAD, BETWEEN, PREFIX, TOPIC_AHEAD, choose_by_topic, choose_varied, words_of
from askance_live.store.database import Session
from askance_live.store.rows import Query, upsert
from askance_live.store.schema import SetAsideRow

FOR_EVER = 1e12
FAIRLY_SURE = 0.8  # the probability from which a question is not said to be about doubt


class StoredQuestion(NamedTuple):
    """A question, as far as the queue goes by it."""

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
    wanted: int

    @property
    def token(self) -> str:
        """The fencing token of the last delivery."""
        return f"{self.id}.{self.deliveries}"

    def holder(self, now: float) -> str | None:
        """Who has it in their hands: nobody once the lease has run out."""
        is_held = self.state == QuestionState.LEASED and (self.deadline is None or now < self.deadline)
        return self.annotator if is_held else None


BY_NUMBER = Query(StoredQuestion, "asks a", "WHERE a.id = ?")
LEASED_TO = Query(
    StoredQuestion,
    "asks a",
    f"WHERE a.state = '{QuestionState.LEASED}' AND a.annotator = ? ORDER BY a.deadline, a.rank DESC, a.id DESC",
)
PUT_OFF_UNTIL_NOW = Query(
    StoredQuestion,
    "set_aside s JOIN asks a ON a.id = s.ask",
    f"WHERE s.annotator = ? AND s.until <= ? AND a.state = '{QuestionState.OPEN}' ORDER BY s.until LIMIT ?",
)
OPEN_FOR = Query(
    StoredQuestion,
    "asks a",
    f"WHERE a.state = '{QuestionState.OPEN}' "
    "AND NOT EXISTS (SELECT 1 FROM set_aside s WHERE s.ask = a.id AND s.annotator = ? AND s.until > ?) "
    "ORDER BY a.rank DESC, a.id DESC LIMIT ?",
)
WORDS = f"SELECT seq, substr(fields, 1, {PREFIX}) FROM events WHERE seq IN ({{}})"
JUST_ANSWERED = (
    f"SELECT substr(e.fields, 1, {PREFIX}) FROM answers a JOIN events e ON e.seq = a.event "
    "WHERE a.annotator = ? ORDER BY a.seq DESC LIMIT ?"
)
IN_HANDS = (
    f"SELECT substr(e.fields, 1, {PREFIX}) FROM asks a JOIN events e ON e.seq = a.event "
    f"WHERE a.state = '{QuestionState.LEASED}' AND a.annotator = ? ORDER BY a.deadline LIMIT ?"
)
COUNT_OPEN = f"SELECT count(*) FROM asks WHERE state = '{QuestionState.OPEN}'"
LENGTHS = f"SELECT state, count(*) FROM asks WHERE state IN {one_of(IN_PLAY)} GROUP BY state"
COUNT_DISPUTED = f"SELECT n FROM tallies WHERE kind = 'ask' AND name = '{QuestionState.DISPUTED}'"
COUNT_LEASED_TO = f"SELECT count(*) FROM asks WHERE state = '{QuestionState.LEASED}' AND annotator = ?"
COUNT_VOTES = f"SELECT count(*) FROM answers WHERE ask = ? AND state = '{AnswerState.VOTE}'"
SET_ASIDE = upsert(SetAsideRow, "ask", "annotator")
PUT_OFF = (
    "SELECT count(*), min(s.until) FROM set_aside s JOIN asks a ON a.id = s.ask "
    f"WHERE s.annotator = ? AND s.until > ? AND s.until < ? AND a.state = '{QuestionState.OPEN}'"
)
RELEASE = MoveOfQuestions([QuestionState.LEASED], QuestionState.OPEN, "deadline <= ?")
EXPIRE_LEAST = MoveOfQuestions(
    [QuestionState.OPEN],
    QuestionState.EXPIRED,
    f"id IN (SELECT id FROM asks WHERE state = '{QuestionState.OPEN}' ORDER BY rank LIMIT ?)",
)
EXPIRE = MoveOfQuestions([QuestionState.OPEN, QuestionState.PARKED], QuestionState.EXPIRED, "expires <= ?")


class NothingToLabel(NamedTuple):
    """Why there is nothing to label now, and when to come back."""

    reason: str
    detail: str
    seconds: int


def find(session: Session, ask: int) -> StoredQuestion:
    """The ask of this number."""
    found = BY_NUMBER.one(session, (ask,))
    if found is None:
        raise Problem("unknown_ask", f"there is no ask {ask}.")
    return found


def is_passed_on(ask: StoredQuestion, annotator: str, token: str, now: float) -> bool:
    """Whether an ask that was delivered with this token is in somebody else's hands by now.

    Whoever never had it is refused: what another person holds is theirs until they answer, give it back, or run out of
    time. An older delivery says that its receiver had it before them.
    """
    holder = ask.holder(now)
    if holder is None or holder == annotator:
        return False
    number, _, delivery = token.partition(".")
    if int(number) == ask.id and 1 <= int(delivery) < ask.deliveries:
        return True
    until = "" if ask.deadline is None else f" until {iso(ask.deadline)}"
    raise Problem(
        "leased", f"ask {ask.id} is in the hands of {holder}{until}; take another question with /v1/asks/next."
    )


def next_asks(
    session: Session, state: EngineState, annotator: str, n: int, held: frozenset[int], by_topic: bool = False
) -> tuple[list[dict[str, Any]], dict[str, int]] | NothingToLabel:
    """Lease up to ``n`` asks to an annotator; those leased to them, but not ``held`` by the page, come first. No
    near-duplicates in a row, or, ``by_topic``, those that are like the last one."""
    now = state.clock.now()
    release_overdue(session, now)
    mine = [ask for ask in LEASED_TO.all(session, (annotator,)) if ask.id not in held][:n]
    deadline = now + state.config.queue.lease
    chosen = [move_question(session, ask, QuestionState.LEASED, annotator, deadline) for ask in mine]
    if len(chosen) < n:
        chosen += [
            move_question(session, ask, QuestionState.LEASED, annotator, deadline, is_delivered=True)
            for ask in _open_for(session, annotator, now, n - len(chosen), by_topic)
        ]
    if not chosen:
        return _explain_nothing(session, state, annotator, now)
    return [describe_question(session, state, ask) for ask in chosen], lengths(session)


def _open_for(session: Session, annotator: str, now: float, n: int, by_topic: bool) -> list[StoredQuestion]:
    """Open asks for an annotator: first those they put off until now, then by rank, no near-duplicates in a row, or by
    topic."""
    returned = PUT_OFF_UNTIL_NOW.all(session, (annotator, now, n))
    if len(returned) == n:
        return returned
    known = {ask.id for ask in returned}
    found = OPEN_FOR.all(session, (annotator, now, n + len(known) + (TOPIC_AHEAD if by_topic else AHEAD)))
    rest = [ask for ask in found if ask.id not in known]
    if len(rest) > 1:
        rest = _arrange(session, annotator, rest, n, by_topic)
    return [*returned, *rest][:n]


def _arrange(
    session: Session, annotator: str, asks: list[StoredQuestion], n: int, by_topic: bool
) -> list[StoredQuestion]:
    """The first of these questions, none like the ones that an annotator has just had, if there are others; or those
    that are most like the last one."""
    words = {event: words_of(fields) for event, fields in session.select_in(WORDS, [ask.event for ask in asks])}
    before = session.all(JUST_ANSWERED, (annotator, BETWEEN))[::-1] + session.all(IN_HANDS, (annotator, BETWEEN))
    arrange = choose_by_topic if by_topic else choose_varied
    return arrange([(ask, words[ask.event]) for ask in asks], [words_of(fields) for (fields,) in before], n)


def count_votes(session: Session, ask: StoredQuestion) -> int:
    """How many people have answered a question of several."""
    return int(session.value(COUNT_VOTES, (ask.id,))) if ask.wanted > 1 else 0


def count_open_questions(session: Session) -> int:
    """How many asks are open."""
    return int(session.value(COUNT_OPEN))


def lengths(session: Session) -> dict[str, int]:
    """How many asks are open, leased and parked."""
    found: dict[str, int] = dict(session.all(LENGTHS))
    return {state.value: int(found.get(state, 0)) for state in IN_PLAY}


def _explain_nothing(session: Session, state: EngineState, annotator: str, now: float) -> NothingToLabel:
    length = lengths(session)
    if length[QuestionState.OPEN]:
        return _put_off(session, annotator, now, length[QuestionState.OPEN])
    if length[QuestionState.LEASED]:
        own = session.value(COUNT_LEASED_TO, (annotator,))
        whose = "your own hands" if own == length[QuestionState.LEASED] else "somebody's hands"
        return NothingToLabel("all_leased", f"Every open question is in {whose}.", 10)
    if not state.totals["events"]:
        return NothingToLabel(
            "waiting_for_events", "No event has come in yet; questions appear with the first ones.", 5
        )
    budget = spending(state, now)
    if budget["exhausted"]:
        until = f" until {budget['next_at']}" if budget["next_at"] else ""
        return NothingToLabel("budget_spent", f"The budget of questions is spent{until}.", 60)
    if budget["pace"]:
        return NothingToLabel("budget_paced", budget["pace"]["detail"], 15)
    unanswered = [
        f"{number:,} {words}"
        for number, words in (
            (state.totals["expired"], "expired without an answer"),
            (length[QuestionState.PARKED], "parked, since several people were unsure"),
            (int(session.value(COUNT_DISPUTED) or 0), "disputed, to be decided by somebody who reviews"),
        )
        if number
    ]
    why = f"No question is open ({', '.join(unanswered)})" if unanswered else "Every question is answered"
    return NothingToLabel("nothing_asked", f"{why}; the next uncertain event becomes one.", 5)


def _put_off(session: Session, annotator: str, now: float, n_open: int) -> NothingToLabel:
    """Questions are open, but this annotator skipped them all: which come back to them, and when."""
    ((later, back),) = session.all(PUT_OFF, (annotator, now, FOR_EVER))
    if not later:
        return NothingToLabel(
            "all_skipped", "You skipped every question that is open, or answered it; they wait for others.", 30
        )
    which = "every question that is open" if later == n_open else "some questions, and the others wait for other people"
    comes = "it comes" if later == 1 else "the first comes"
    wait = max(1, min(60, int(back - now) + 1))
    return NothingToLabel("all_skipped", f"You put off {which}; {comes} back to you at {iso(back)}.", wait)


class ShownEvent(NamedTuple):
    """What the label page gets of an event."""

    id: str
    seq: int
    fields: str
    time: str | None
    received: float
    probabilities: str
    version: int
    scores: str


SHOWN_EVENT = Query(ShownEvent, "events", "WHERE seq = ?")


ASKED = Query(ShownEvent, "asks q JOIN events e ON e.seq = q.event", "WHERE q.id = ?", id="e.id", seq="e.seq")


def find_asked_labels(session: Session, ask: int) -> int:
    """The labels of a set that an ask is about, as a number in which they are known."""
    event = ASKED.one(session, (ask,))
    if event is None:
        raise Problem("unknown_ask", f"there is no ask {ask}.")
    return asked_about(event.scores)


def describe_question(session: Session, state: EngineState, ask: StoredQuestion) -> dict[str, Any]:
    """An ask as the label page gets it. The suggestion is the most probable class, where a model that is to find a rare
    class may predict that; of label sets, what is more probable than not of the labels that are asked about. Random
    samples are blind: no suggestion that could sway the answer."""
    event = SHOWN_EVENT.one(session, (ask.event,))
    assert event is not None
    fields = msgspec.json.decode(event.fields)
    blind = ask.why in (AUDIT, COLD_START)
    chances: list[float] = msgspec.json.decode(event.probabilities)
    chances += [0.0] * (len(state.classes) - len(chances))  # of labels that came later
    label, doubt, about = _suggest(state, event.scores, chances)
    assert ask.deadline is not None
    return {
        "id": ask.id,
        "token": ask.token,
        "deadline": iso(ask.deadline),
        "seconds_left": round(ask.deadline - state.clock.now(), 3),
        "event": {
            "id": event.id,
            "seq": event.seq,
            "fields": fields,
            "time": None if event.time is None else msgspec.json.decode(event.time),
            "received": iso(event.received),
        },
        "suggestion": None
        if blind
        else {
            "label": label,
            "probability": doubt.sureness,
            "probabilities": {name: chances[state.place_of[name]] for name in about or state.config.classes},
            "model": event.version,
        },
        "about": about,
        "why": {
            "code": ask.why,
            "probability": ask.probability,
            "text": reason(state.names, ask.why, doubt, ask.probability) + _of_several(ask.wanted),
        },
        "audit": bool(ask.audit),
        "explanation": [] if blind else state.learner.explain(fields, doubt.place),
        "skips": ask.skips,
        "answers": {"given": count_votes(session, ask), "wanted": ask.wanted},
        "created": iso(ask.created),
    }


def _suggest(state: EngineState, scores: str, chances: list[float]) -> tuple[ShownLabel, Doubt, list[str] | None]:
    """The label that is suggested, what is to be said of it, and the labels of a set that the question is about."""
    labels, order = state.labels, state.config.classes
    if not isinstance(labels, LabelSets):
        best = max(state.offered, key=chances.__getitem__)
        return labels.show(best), labels.doubtful(best, chances), None
    asked = asked_about(scores)
    best = likely(asked, chances)
    return labels.in_order(best, order, only_yes=True), labels.doubtful(asked, chances), labels.in_order(asked, order)


def reason(names: list[str], why: str, doubt: Doubt, probability: float) -> str:
    """Why an event is asked about, for the person who is asked."""
    if why == COLD_START:
        return "The model had not seen every class when this came; so it shows no suggestion."
    if why == AUDIT:
        return "A random sample, by which the model is judged; so it shows no suggestion."
    sure = "fairly sure" if doubt.sureness >= FAIRLY_SURE else "unsure"
    said = f"{names[doubt.place]} at {100 * doubt.chance:.0f}\u00a0%"
    return f"The model was {sure}: {said}. {how_often(probability)}"


def _of_several(wanted: int) -> str:
    return f" {wanted} people answer it, each on their own." if wanted > 1 else ""


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
    return RELEASE.apply(session, (now,))


def expire(session: Session, state: EngineState, now: float) -> None:
    """Asks that waited too long are given up, counted; one in somebody's hands is not taken away."""
    gone = EXPIRE.apply(session, (now,))
    if gone:
        state.count("expired", gone)


def keep_within(session: Session, state: EngineState) -> None:
    """At most so many open asks: the least valuable expires first, counted."""
    excess = count_open_questions(session) - state.config.queue.most_open
    if excess > 0:
        EXPIRE_LEAST.apply(session, (excess,))
        state.count("expired", excess)


def renew(session: Session, state: EngineState, annotator: str, number: int, token: str) -> dict[str, Any]:
    """Hold on to a lease, or to one that ran out and that nobody took; not to one skipped or given back."""
    now = state.clock.now()
    ask = find(session, number)
    if ask.state not in (QuestionState.OPEN, QuestionState.LEASED) or ask.annotator != annotator or ask.token != token:
        raise Problem(
            "stale_token", f"the lease {token!r} of ask {number} is no longer yours; take another with /v1/asks/next."
        )
    deadline = now + state.config.queue.lease
    move_question(session, ask, QuestionState.LEASED, annotator, deadline)
    return {"ask": number, "token": token, "deadline": iso(deadline), "seconds_left": state.config.queue.lease}


def release(session: Session, state: EngineState, annotator: str, number: int, token: str) -> dict[str, Any]:
    """Give an ask back before its lease ends."""
    ask = find(session, number)
    is_passed_on(ask, annotator, token, state.clock.now())
    if ask.state != QuestionState.LEASED or ask.annotator != annotator or ask.token != token:
        return {"ask": number, "outcome": ReleaseOutcome.STALE}
    move_question(session, ask, QuestionState.OPEN)
    return {"ask": number, "outcome": ReleaseOutcome.RELEASED}


def lease_again(session: Session, state: EngineState, annotator: str, ask: StoredQuestion) -> dict[str, Any]:
    """Give an ask whose answer was taken back to its annotator once more."""
    deadline = state.clock.now() + state.config.queue.lease
    return describe_question(
        session, state, move_question(session, ask, QuestionState.LEASED, annotator, deadline, is_delivered=True)
    )
