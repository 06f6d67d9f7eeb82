"""The names of authors: people, tokens and the service itself share one namespace.

An answer belongs to the name that gave it. So a person and a token never have the same name, nor two names that look
alike. Names look alike if they agree in one of two readings, both without case, surplus blanks and what is invisible:

    plain    as it is written
    drawn    with each character as the Latin one that it looks like

The table of the second is small: letters of Cyrillic, Greek and Armenian, small capitals, digits and dashes. It may be,
because all letters of a word must be of one script, and because scripts that draw their letters as Latin ones are
refused (Cherokee, Lisu, Coptic and the like).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

from askance_live.problems import Problem
from askance_live.store.database import Session
from askance_live.store.rows import Query, await_turn

LOCAL: Final = "local"
"""Who did it, where no person and no token was ever made."""

COMMAND_LINE: Final = "command line"
"""Who did it, in the activity log, where somebody used a command on the machine itself."""

IMPORT: Final = "import"
"""Who said it, where 'askance import' took in a file."""

NOBODY: Final = "nobody"
"""Whose token was not known, in the activity log."""

CONSENSUS: Final = "consensus"
"""Who said it, where several people agreed."""

TAKEN_NAMES: Final = (LOCAL, COMMAND_LINE, IMPORT, NOBODY, CONSENSUS)
"""What neither a token nor a person can be called: nobody could tell who it was."""

LONGEST_NAME: Final = 64
NAME_IN_WORDS: Final = (
    f"1 to {LONGEST_NAME} printable characters, not {' or '.join(map(repr, TAKEN_NAMES))}, nor what looks like these"
)
PERSON, TOKEN = "person", "token"
TABLES: Final = {PERSON: "people", TOKEN: "tokens"}

_INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800").union(
    map(chr, range(0xFE00, 0xFE10)), map(chr, range(0xE0100, 0xE01F0))
)
"""What counts as printable, and yet nobody sees."""

_DRAWN: Final = str.maketrans(
    "асеорхуѕіјԁһӏԛԝүѵгпкмтвнзбьԍ" "АВСЕНІЈКМОРЅТХУҮԚԜѴӀЗҺ" "αβγεηικνορστυχωϳ" "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧͿ" "օոսհզցյաՕՍՏ"
    "ıɑɡɩI|10" "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ" "\u2010\u2012\u2013\u2014\u2015\u2212\u30fc\u4e00" "\u2018\u2019\u02bc",
    "aceopxysijdhlqwyvrnkmtbh36bg" "ABCEHlJKMOPSTXYYQWVl3h" "abyenikvopotuxwj" "ABEZHlKMNOPTYXJ" "onuhqgjwOUS"
    "iagilllo" "abcdefghljklmnopqrstuvwyz" "--------" "'''",
)  # fmt: skip
"""Cyrillic, Greek and Armenian, each letter as it is drawn; then Latin letters and digits, dashes, apostrophes."""

_WRITTEN_TOGETHER: Final = {"LATIN", "CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"}
"""Scripts that a word may mix, as names in East Asia do."""

_DRAWN_AS_LATIN: Final = frozenset(
    ("LISU", "CHEROKEE", "COPTIC", "DESERET", "OSAGE", "CARIAN", "LYCIAN", "LYDIAN", "WARANG", "OLD")
)
"""Scripts that no name may have: their letters are drawn as Latin ones, and hardly anybody writes with them today."""


class Holder(NamedTuple):
    """Somebody or something that has a name."""

    id: str
    name: str
    created: float
    revoked: float | None


HOLDERS: Final = {kind: Query(Holder, table, "ORDER BY created, id") for kind, table in TABLES.items()}


def looks_of(name: str) -> set[str]:
    """The readings of a name; names that share one look alike.

    >>> looks_of("Ann  01") & looks_of("ANN O1")
    {'ann ol'}
    """
    seen = "".join(
        character
        for character in unicodedata.normalize("NFKD", name)
        if character not in _INVISIBLE and unicodedata.category(character) not in ("Cc", "Cf")
    )
    readings = (seen, seen.translate(_DRAWN))
    return {" ".join(unicodedata.normalize("NFC", reading.casefold()).split()) for reading in readings}


def mixed_word(name: str) -> str | None:
    """A word with letters of several scripts, or of one whose letters are drawn as Latin ones.

    >>> mixed_word("Ольга Ivanova"), mixed_word("rоbot 7")
    (None, 'rоbot')
    """
    for word in re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", name)):
        letters = [letter for letter in word if unicodedata.category(letter) in ("Lu", "Ll", "Lt", "Lo")]
        scripts = {re.split("[ -]", unicodedata.name(letter, ""))[0] for letter in letters}
        if (len(scripts) > 1 and not scripts <= _WRITTEN_TOGETHER) or scripts & _DRAWN_AS_LATIN:
            return str(word)
    return None


def is_writable(name: str) -> bool:
    """Whether a name can be stored and shown."""
    return looks_of(name) != {""} and len(name) <= LONGEST_NAME and name.isprintable()


def why_refused(session: Session, name: str, kind: str) -> Problem | None:
    """Why nobody new of this kind can have a name: it is no name, or it is another's or looks like it.

    What is revoked keeps its name, because its answers do. Tokens of exactly one name are keys of one program, which
    may have several.
    """
    await_turn(session)
    if not is_writable(name) or any(looks_of(name) & looks_of(taken) for taken in TAKEN_NAMES):
        return _problem("invalid", f"the name of a {kind} must be {NAME_IN_WORDS}; got {name[:80]!r}.")
    if (word := mixed_word(name)) is not None:
        return _problem(
            "invalid",
            f"the name {name!r} has letters in the word {word!r} that look like those of another script; give each "
            "word letters of one script that is in common use.",
        )
    holders = {known: query.all(session) for known, query in HOLDERS.items()}
    if kind == TOKEN and name in _names(holders[TOKEN]) - _names(holders[PERSON]):
        return None
    looks = looks_of(name)
    for known, others in holders.items():
        for other in others:
            if other.id == name or looks & looks_of(str(other.name)):
                return _taken(name, known, other)
    return None


def _names(holders: list[Holder]) -> set[str]:
    return {holder.name for holder in holders}


def _taken(name: str, kind: str, other: Holder) -> Problem:
    revoked = "" if other.revoked is None else " (revoked)"
    remedy = "choose another name"
    if kind == PERSON and other.revoked is not None:
        remedy += f", or restore them with 'askance people restore {other.id}'"
    return _problem(
        "name_taken",
        f"the name {name!r} is, or looks like, {other.name!r}, the name of a {kind}, {kind} {other.id}{revoked}; "
        f"{remedy}.",
    )


def _problem(code: str, sentence: str) -> Problem:
    return Problem(code, sentence, field="name")


def claim_name(session: Session, name: str, kind: str) -> None:
    """Refuse a name that nobody new of this kind can have; until the commit nobody else gets it."""
    if (problem := why_refused(session, name, kind)) is not None:
        raise problem


def numbered(name: str, number: str) -> str:
    """A name that nobody else has, since it ends with its holder's number.

    >>> numbered("robot", "p3f9c01aa77d2")
    'robot (p3f9c01aa77d2)'
    """
    end = f" ({number})"
    return name[: LONGEST_NAME - len(end)] + end
