"""Which events: by what they say, what was said of them and by whom, as a condition in SQL. For reviews and exports."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta

from askance.data.encoding.kinds import seconds_in
from askance_live.engine.label_space import MOST_LABELS, same_where_both_known
from askance_live.engine.state import EngineState
from askance_live.exchange.received import Moment
from askance_live.http.schemas import QueryString
from askance_live.problems import Problem
from askance_live.questions.states import BY_ONE, KEPT, TAKEN_BACK, VALID, one_of

OF_EVENT = "SELECT 1 FROM answers a WHERE a.event = e.seq"
LABELED = f"EXISTS ({OF_EVENT} AND a.state IN {one_of(VALID)} AND {{}})"
SAID_BY = f"EXISTS ({OF_EVENT} AND a.annotator = ? AND a.state NOT IN {one_of(TAKEN_BACK)})"
IN_STATE = "EXISTS (SELECT 1 FROM asks q WHERE q.id = e.asked AND q.state = ?)"
ASKED_OR_ANSWERED = f"(e.asked > 0 OR EXISTS ({OF_EVENT}))"
YES_BITS = (1 << MOST_LABELS) - 1
CONTAINS = "(e.id = ? OR e.fields LIKE ? ESCAPE '!' OR lower(e.fields) LIKE ? ESCAPE '!')"
DISAGREEMENTS = {
    "model": f"EXISTS ({OF_EVENT} AND a.state IN {one_of(VALID)} AND a.label <> e.predicted)",
    "people": "(SELECT count(DISTINCT a.label) FROM answers a WHERE a.event = e.seq "
    f"AND a.kind IN {one_of(BY_ONE)} AND a.state IN {one_of(KEPT)}) > 1",
}

DISAGREEMENTS_OF_SETS = {
    **DISAGREEMENTS,
    "model": f"EXISTS ({OF_EVENT} AND a.state IN {one_of(VALID)} "
    f"AND NOT ({same_where_both_known('a.label', 'e.predicted')}))",
    "people": "EXISTS (SELECT 1 FROM answers a JOIN answers b ON b.event = a.event AND b.seq < a.seq "
    f"WHERE a.event = e.seq AND a.kind IN {one_of(BY_ONE)} AND a.state IN {one_of(KEPT)} "
    f"AND b.kind IN {one_of(BY_ONE)} AND b.state IN {one_of(KEPT)} "
    f"AND NOT ({same_where_both_known('a.label', 'b.label')}))",
}


class Condition(NamedTuple):
    """A condition on the events ``e``, and the values in it."""

    sql: str = "1 = 1"
    values: tuple[Any, ...] = ()

    def and_(self, sql: str, *values: Any) -> Condition:
        """This and something else."""
        return Condition(f"{self.sql} AND {sql}", (*self.values, *values))


ALL = Condition()


class EventFilter(QueryString):
    """Which events; without anything, all."""

    text: Annotated[
        str, Meta(max_length=500, description="What the event contains, or its id; capitals make no difference.")
    ] = ""
    label: Annotated[str, Meta(description="The label that counts.")] = ""
    predicted: Annotated[str, Meta(description="What was predicted when the event came.")] = ""
    person: Annotated[str, Meta(max_length=200, description="Who said something of it.")] = ""
    state: Annotated[
        Literal["", "open", "leased", "parked", "answered", "closed", "expired", "disputed"],
        Meta(description="The state of its question."),
    ] = ""
    disagreement: Annotated[
        Literal["", "model", "people"],
        Meta(description="model: the label is not what was predicted; people: they said different things."),
    ] = ""
    since: Annotated[Moment | None, Meta(description="It came then or later.")] = None
    until: Annotated[Moment | None, Meta(description="It came before.")] = None

    def condition(self, state: EngineState) -> Condition:
        """As SQL; a class that there is not is refused."""
        found = ALL
        if self.text:
            found = found.and_(CONTAINS, _plain(self.text), *_patterns(_plain(self.text)))
        if self.label:
            found = found.and_(LABELED.format(_has("a.label", state)), _bits(state, self.label))
        if self.predicted:
            found = found.and_(_has("e.predicted", state), _bits(state, self.predicted))
        if self.person:
            found = found.and_(SAID_BY, _plain(self.person))
        if self.state:
            found = found.and_(IN_STATE, self.state)
        if self.disagreement:
            differences = DISAGREEMENTS_OF_SETS if state.labels.are_sets else DISAGREEMENTS
            found = found.and_(differences[self.disagreement])
        if self.since is not None:
            found = found.and_("e.received >= ?", seconds_in(self.since.value))
        if self.until is not None:
            found = found.and_("e.received < ?", seconds_in(self.until.value))
        return found


def _has(column: str, state: EngineState) -> str:
    """That a column has a class, or a set with it."""
    return f"({column} & ?) <> 0" if state.labels.are_sets else f"{column} = ?"


def _bits(state: EngineState, name: str) -> int:
    """What a class is compared by."""
    labels = state.labels
    return labels.read({name: True}) & YES_BITS if labels.are_sets else labels.read(name)


def _plain(text: str) -> str:
    if "\0" in text:  # no name and no text has one, and not every store takes the question
        raise Problem("invalid", "a text to look for has no NUL character.")
    return text


def _patterns(text: str) -> tuple[str, str]:
    """What fields that contain a text are like, as they are stored: in JSON."""
    written = json.dumps(text, ensure_ascii=False)[1:-1]
    pattern = "".join(f"!{sign}" if sign in "!%_" else sign for sign in written)
    return f"%{pattern}%", f"%{pattern.lower()}%"
