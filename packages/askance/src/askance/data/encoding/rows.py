"""Events as nested dictionaries, into sparse rows.

A field inside another is called by both names with a dot between, ``sender.country``. A list of strings is a bag of
words of its field; the items of any other list are fields by their number, ``embedding.0``. Numbers and truth values
are numbers; None is a missing value, and so are the words of ``data.missing``: a number or a text is then as if it
were not there, a category has a value of its own, the empty one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Context, Decimal
from typing import Any

import numpy as np

from askance.data.encoding.embedding import EMBEDDING, Embedding, match_encoders, split_embeddings
from askance.data.encoding.encoder import DATE_WEIGHT, LONGEST_NGRAM, Cells, Encoder, Scale
from askance.data.encoding.hashing import HASH_BITS
from askance.data.encoding.kind_evidence import (
    KindEvidence,
    TypeMismatches,
    guess_first,
    may_be_promoted,
    promoted_kind,
)
from askance.data.encoding.kinds import (
    CATEGORY,
    DATE,
    IGNORE,
    IGNORED_NAMES,
    LARGEST,
    NUMBER,
    TEXT,
    THOUSANDS,
    TIME,
    are_booleans,
    check_features,
    date_words,
    find_notation,
    guess,
    last_name,
    looks_like_a_number,
    number_for,
    number_in,
    refuse_thousands,
    seconds_in,
    why_not_a_date,
    why_not_a_number,
)
from askance.data.missing import MissingValues
from askance.errors import InvalidInput

PLAIN = {str, int, float, bool, type(None)}
TEXTUAL = {CATEGORY, TEXT}
SHORT_NAME = 256
"""Characters of a name that are repeated in the names of the fields inside it, however many these are."""
MOST_REPEATED = 1 << 22
"""Characters of longer names that are repeated in one row."""
FEW_DOTS = 16  # in a name that is taken apart as it is


class FieldError(ValueError):
    """A field has a value that its kind cannot take."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"field {field!r}: {reason}")
        self.field, self.reason = field, reason


def flatten(row: Mapping[Any, Any]) -> dict[str, Any]:
    """The fields of a nested row by their full names, in order; empty lists and dictionaries vanish.

    >>> flatten({"a": {"b": 1, "c": [True, {"d": None}]}, "tags": ["x", "y"]})
    {'a.b': 1, 'a.c.0': True, 'a.c.1.d': None, 'tags': ['x', 'y']}
    """
    if PLAIN.issuperset(map(type, row.values())) and {str}.issuperset(map(type, row)):
        return dict(row)
    fields: dict[str, Any] = {}
    open_levels: list[Iterator[tuple[str, Any]]] = [((str(key), value) for key, value in row.items())]
    repeated = 0
    while open_levels:
        for name, value in open_levels[-1]:
            if isinstance(value, Mapping):
                inner: Any = value.items()
            elif isinstance(value, list | tuple) and not all(isinstance(item, str) for item in value):
                inner = enumerate(value)
            else:
                if isinstance(value, list | tuple) and not value:
                    continue
                if name in fields:
                    raise FieldError(name, "it occurs twice, as one name and as a nested one.")
                fields[name] = value
                continue
            repeated += max(0, len(name) - SHORT_NAME) * max(0, len(value) - 1)
            if repeated > MOST_REPEATED:
                raise FieldError(
                    name[:SHORT_NAME], f"its name of {len(name):,} characters is too long for the fields inside it."
                )
            open_levels.append(_name_items(name, inner))
            break
        else:
            open_levels.pop()
    return fields


def _name_items(prefix: str, items: Any) -> Iterator[tuple[str, Any]]:
    for key, value in items:
        yield f"{prefix}.{key}", value


def number_of(value: Any) -> float:
    """A JSON value as a number; a ValueError with the reason if it is none."""
    if value.__class__ is float and -LARGEST <= value <= LARGEST:
        return float(value)
    if isinstance(value, str):
        number = number_in(value.strip())
        if number is None:
            raise ValueError(why_not_a_number(value))
        return number
    if isinstance(value, bool | int | float | np.number | np.bool_):
        try:
            number = float(value)
        except OverflowError:  # a whole number beyond all floats
            raise ValueError(why_not_a_number(str(Decimal(int(value)).normalize(Context(prec=6))))) from None
        if not abs(number) <= LARGEST:
            raise ValueError(why_not_a_number(str(number)))
        return number
    raise ValueError(f"a number is expected, got {type(value).__name__} {str(value)[:40]!r}.")


def word_of(value: Any) -> str:
    """A JSON value as a category, written as in JSON.

    >>> word_of("red"), word_of(3), word_of(True), word_of(None)
    ('red', '3', 'true', '')
    """
    if value is None or value != value:
        return ""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


class Plan:
    """What a row becomes, before anything is changed for it."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.row = row
        self.kinds: dict[str, str] = {}
        """The kinds of fields that turn up with this row, or get a wider kind."""
        self.promoted: dict[str, str] = {}
        """Those of settled fields among them: too many type mismatches came lately."""
        self.numbers: list[tuple[str, float]] = []
        self.others: list[tuple[str, str, Any]] = []
        self.time: float | None = None
        self.mismatches: tuple[str, ...] = ()
        """Settled fields that cannot take their values."""
        self.error: FieldError | None = None
        """Why the row cannot be taken, the first reason of all."""
        self.refused = 0

    def refuse(self, error: FieldError) -> None:
        """There is a reason why the row cannot be taken."""
        self.error = self.error or error
        self.refused += 1


class RowFeatures:
    """From dictionaries to sparse rows; the same for a file of JSON lines and for one event of a service.

    Parameters
    ----------
    features : dict, optional
        Kinds of fields by name: "number", "category", "text", "date", "ignore" or "time"; for a name with others
        inside, for all of them. The others are guessed, by ``guess_kinds`` or by their first value, and may become
        wider: see ``askance.data.encoding.kind_evidence``.
    hash_bits, ngrams, raw
        As for ``Encoder``.
    na_values : list, optional
        Words and numbers that count as missing, besides the usual words.

    Examples
    --------
    >>> rows = RowFeatures(raw=True, hash_bits=10)
    >>> columns, values = rows.row({"size": 3, "from": {"country": "NO"}})
    >>> columns, values
    (array([   0, 1008], dtype=int32), array([3., 1.]))
    """

    reads_words_alike = False
    """Whether words mean the same wherever events come from: those for a missing value also in categories and texts,
    true and false also in a field that began with a truth value. So it is in every new one; in models from before,
    where the attribute is absent, these words are values."""
    declared: Mapping[str, Sequence[str]] = {}
    """Those of the words that a file declares as values, by field."""

    def __init__(
        self,
        features: Mapping[str, str | Embedding] | None = None,
        *,
        hash_bits: int = HASH_BITS,
        ngrams: int = LONGEST_NGRAM,
        raw: bool = False,
        na_values: Any = None,
    ) -> None:
        self.missing = MissingValues(na_values)
        kinds, embeddings = split_embeddings(features)
        self.given = check_features(kinds) | dict.fromkeys(embeddings, EMBEDDING)
        self.time_field = next((name for name, kind in self.given.items() if kind == TIME), None)
        self.encoder = Encoder(hash_bits, ngrams, raw)
        self.encoder.embeddings = embeddings
        self.evidence, self.mismatches = KindEvidence(), TypeMismatches()
        self.reads_words_alike = True
        self.with_commas: set[str] = set()
        """Fields whose numbers have a decimal comma, as those of a table may."""
        self.with_truths: set[str] = set()
        """Fields of numbers that may be written as true and false."""
        self.label: str | None = None
        """The field that holds the label, if a user has named it: there is nothing to learn from it."""

    @property
    def kinds(self) -> dict[str, str]:
        """The fields known so far, with their kinds."""
        return self.encoder.kinds

    def guess_kinds(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Settle the kinds of all fields that occur in some flattened rows."""
        values: dict[str, list[Any]] = {}
        for row in rows:
            for name, value in row.items():
                values.setdefault(name, []).append(value)
        for name, found in values.items():
            if name not in self.kinds:
                given = self.given_kind(name)
                kind = given
                if given in (None, NUMBER):
                    if are_booleans(found, self.missing) and last_name(name) not in IGNORED_NAMES:
                        self.with_truths.add(name)
                        kind = NUMBER
                    elif self._has_commas(name, found):
                        self.with_commas.add(name)
                        kind = NUMBER
                self.begin(name, kind or guess(name, found, self.missing), is_final=given is not None, is_settled=True)

    def declare(self, name: str, kind: str) -> None:
        """Settle the kind of a field that a table declares, unless the user gave one, or its name says another."""
        given = self.given_kind(name)
        usual = IGNORE if last_name(name) in IGNORED_NAMES else kind
        self.begin(name, given or usual, is_final=given is not None, is_settled=True)

    def reopen_kinds(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Rest the kinds of fields on as much evidence as there is in the flattened rows that settled them."""
        values: dict[str, list[Any]] = {}
        for row in rows:
            for name, value in row.items():
                if not self.missing.covers(value):
                    values.setdefault(name, []).append(value)
        for name, kind in self.kinds.items():
            if kind != IGNORE and name in self.evidence:
                self.evidence.reopen(name, values.get(name, []))

    def count_numbers(self, name: str, values: int) -> None:
        """A field of numbers has had so many values more, all of them numbers."""
        if name in self.evidence.unsettled:
            self.evidence.count_numbers(name, values)
        self.mismatches.take(name, values)

    def begin(self, name: str, kind: str, is_final: bool, is_settled: bool = False) -> None:
        """Make a field known, or give it a wider kind; one that is not final rests on evidence, enough or none yet."""
        self.encoder.add(name, kind)
        self.mismatches.forget(name)
        if is_final or not may_be_promoted(name, kind):
            self.evidence.finish(name)
        elif is_settled and kind != IGNORE:
            self.evidence.settle(name)
        else:
            self.evidence.begin(name)

    def _has_commas(self, name: str, values: Sequence[Any]) -> bool:
        """Whether the numbers of a field are texts with a decimal comma; refuses separators between thousands."""
        present = [value for value in values if value is not None]
        if not any(isinstance(value, str) for value in present) or any(isinstance(v, list | tuple) for v in present):
            return False
        written = find_notation([word_of(value).strip() for value in present], self.missing)
        if written is not None and written[0] == THOUSANDS:
            refuse_thousands("there are", written[1], f"field {name!r}")
        return written is not None

    def given_kind(self, name: str) -> str | None:
        """The kind that a user gave to a field, or to one that it is nested in."""
        if name.count(".") > FEW_DOTS:
            longest = max(map(len, self.given), default=0)
            if len(name) > longest:  # what it is nested in is no longer than those that were given
                name, dot, _ = name[: longest + 1].rpartition(".")
                if not dot:
                    return None
        while name not in self.given and "." in name:
            name = name.rsplit(".", 1)[0]
        return self.given.get(name)

    # --- one row -----------------------------------------------------------------------------------------

    def plan(
        self, row: Mapping[str, Any], promoted: Mapping[str, str] | None = None, is_from_log: bool = False
    ) -> Plan:
        """What a flattened row becomes, or why it cannot be taken. Changes nothing.

        A row ``is_from_log`` was taken once. The same settled fields are ``promoted`` as then, whatever came since;
        values that the present kinds cannot take are left out.
        """
        plan = Plan(row)
        try:
            plan.time = self._time(row)
        except FieldError as why:
            plan.refuse(why)
        mismatches: list[str] = []
        kinds, unsettled, sentinels = self.kinds, self.evidence.unsettled, self.missing.numbers
        for name, value in row.items():
            kind = kinds.get(name)
            if kind == NUMBER and value.__class__ is float and -LARGEST <= value <= LARGEST and value not in sentinels:
                plan.numbers.append((name, value))
                continue
            if kind in TEXTUAL and name not in unsettled:
                plan.others.append((name, kind, value))
                continue
            kind = self._kind_now(plan, name, value)
            error = None if kind is None else self._encode(plan, name, kind, value)
            if error is None:
                continue
            if name in self.evidence and (kind == DATE or not looks_like_a_number(value)):
                new = (promoted or {}).get(name)
                if new is None and not self.evidence.is_settled(name):
                    new = promoted_kind(name, value)
                if new is not None:
                    plan.kinds[name] = new
                    self._encode(plan, name, new, value)
                    continue
                mismatches.append(name)
            if not is_from_log:
                plan.refuse(error)
        if plan.error is not None:
            plan.mismatches = tuple(mismatches)
            if len(mismatches) == plan.refused and all(map(self.mismatches.are_too_many, mismatches)):
                self._promote_mismatched(plan)
        return plan

    def _kind_now(self, plan: Plan, name: str, value: Any) -> str | None:
        """The kind of a field, which may turn up, begin, or prove to be text with this value; None if unknown."""
        kind = self.kinds.get(name)
        if kind is None:
            kind = self.given_kind(name)
            if kind is None and self.missing.covers(value):
                return None  # says nothing of the kind
            plan.kinds[name] = kind = kind or guess_first(name, value, self.missing)
        elif name in self.evidence.unsettled:
            is_there = not self.missing.covers(value)
            if kind == IGNORE and is_there:
                plan.kinds[name] = kind = guess_first(name, value, self.missing)
            elif kind == CATEGORY and is_there and self.evidence.reads_as_text(name, value):
                plan.kinds[name] = kind = TEXT
        return kind

    def plan_transform(self, row: Mapping[str, Any], is_from_log: bool = False) -> Plan:
        """As ``plan``, with the fields as they are: new ones, and what would make a kind wider, are left out."""
        plan = Plan(row)
        for name, value in row.items():
            kind = self.kinds.get(name)
            error = None if kind is None else self._encode(plan, name, kind, value)
            is_open = name in self.evidence.unsettled and not looks_like_a_number(value)
            if error is not None and not is_from_log and not is_open:
                plan.refuse(error)
        return plan

    def _promote_mismatched(self, plan: Plan) -> None:
        """Take a row in that only type mismatches kept out, for there were too many of them lately."""
        for name in plan.mismatches:
            value = plan.row[name]
            plan.kinds[name] = plan.promoted[name] = promoted_kind(name, value)
            self._encode(plan, name, plan.kinds[name], value)
        plan.error, plan.mismatches = None, ()

    def _encode(self, plan: Plan, name: str, kind: str, value: Any) -> FieldError | None:
        """Add what a value becomes to a plan; the error if its kind cannot take it."""
        try:
            if kind == NUMBER:
                if not self.missing.covers(value):
                    plan.numbers.append((name, self._number(name, value)))
            elif kind == DATE:
                plan.others.append((name, kind, self._date(name, value)))
            elif kind not in (IGNORE, TIME):
                plan.others.append((name, kind, value))
        except FieldError as error:
            return error
        return None

    def take(self, cells: Cells, plan: Plan) -> None:
        """Add a row that was planned to others."""
        for name, kind in plan.kinds.items():
            self.begin(name, kind, is_final=self.given_kind(name) is not None)
            if self.reads_words_alike and kind == NUMBER and isinstance(plan.row[name], bool | np.bool_):
                self.with_truths.add(name)
        self.fill(cells, plan)
        unsettled = self.evidence.unsettled
        if unsettled:
            for name in plan.row.keys() & unsettled:
                if not self.missing.covers(plan.row[name]):
                    self.evidence.count(name, plan.row[name])
        if self.mismatches.names:
            for name in plan.row.keys() & self.mismatches.names:
                if not self.missing.covers(plan.row[name]):
                    self.mismatches.take(name, 1)

    def fill(self, cells: Cells, plan: Plan) -> None:
        """Add the cells of a row that was planned to others; the fields stay as they are."""
        cells.add_row(cells.n_rows, self.encoder.slots, plan.numbers)
        for name, kind, value in plan.others:
            if kind == CATEGORY and value.__class__ is str:
                cells.add_category(cells.n_rows, name, self.category_of(name, value))
            elif kind in (CATEGORY, DATE):
                weight = DATE_WEIGHT if kind == DATE else 1.0
                for word in value if isinstance(value, list | tuple) else (value,):
                    cells.add_category(cells.n_rows, name, self.category_of(name, word), weight)
            elif text := self.text_of(name, value):
                if kind == EMBEDDING:
                    cells.add_embedded(cells.n_rows, name, text, self.encoder.embeddings[name].width)
                else:
                    cells.add_text(cells.n_rows, name, text)
        if plan.time is not None:
            cells.times.append(plan.time)
        cells.n_rows += 1

    def category_of(self, name: str, value: Any) -> str:
        """A value of a field of categories; the missing one is empty."""
        return "" if self._is_missing_word(name, value) else word_of(value)

    def text_of(self, name: str, value: Any) -> str:
        """A value of a field of text; a missing one is empty."""
        if isinstance(value, list | tuple):
            return " ".join(value)
        return "" if self._is_missing_word(name, value) else word_of(value)

    def _is_missing_word(self, name: str, value: Any) -> bool:
        return self.reads_words_alike and self.missing.covers(value, self.declared.get(name, ()))

    def add(self, cells: Cells, row: Mapping[str, Any]) -> None:
        """Add a flattened row to others. After a FieldError, only its type mismatches are remembered."""
        plan = self.plan(row)
        if plan.error is not None:
            self.mismatches.add(plan.mismatches)
            raise plan.error
        self.take(cells, plan)

    def add_known(self, cells: Cells, row: Mapping[str, Any], is_from_log: bool = False) -> None:
        """Add a flattened row to others with the fields as they are, see ``plan_transform``."""
        plan = self.plan_transform(row, is_from_log)
        if plan.error is not None:
            raise plan.error
        self.fill(cells, plan)

    def _time(self, row: Mapping[str, Any]) -> float | None:
        """When the row came; None without a field of the kind ``time``."""
        if self.time_field is None:
            return None
        try:
            return seconds_in(row.get(self.time_field))
        except ValueError as error:
            raise FieldError(self.time_field, str(error)) from None

    def _number(self, name: str, value: Any) -> float:
        if isinstance(value, str):
            if name in self.with_commas:
                value = value.replace(",", ".")
            if name in self.with_truths:
                value = number_for(value)
        try:
            return number_of(value)
        except ValueError as error:
            hint = "" if isinstance(value, int | float) else "; the kind 'category' allows any value"
            raise FieldError(name, str(error).rstrip(".") + hint + ".") from None

    def _date(self, name: str, value: Any) -> tuple[str, ...] | None:
        """What is learned from a date; None from a missing one."""
        if self.missing.covers(value):
            return None
        text = word_of(value).strip()
        found = date_words(text)
        if found is None:
            raise FieldError(name, why_not_a_date(text))
        return found

    def row(self, row: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """One nested row: its columns and their values."""
        cells = Cells()
        try:
            self.add(cells, flatten(row))
        except FieldError as error:
            raise InvalidInput(str(error)) from error
        _, columns, values = self.encoder.rows(cells)
        return columns, values

    def transform_row(self, row: Mapping[str, Any], scale: Scale, is_from_log: bool = False) -> tuple[Any, Any]:
        """The columns and values of a flattened row, with fields and running statistics left as they are.

        Fields never seen are left out, and so are values that would make a kind wider: nothing was learned of them.
        """
        cells = Cells()
        self.add_known(cells, row, is_from_log)
        _, columns, values = self.encoder.rows(cells, scale)
        return columns, values

    def to_dict(self) -> dict[str, Any]:
        """All it knows, for ``from_dict``."""
        return {
            "given": self.given,
            "na_values": list(self.missing.added),
            "with_commas": sorted(self.with_commas),
            "with_truths": sorted(self.with_truths),
            "reads_words_alike": self.reads_words_alike,
            "declared": {name: list(values) for name, values in self.declared.items()},
            "evidence": self.evidence.to_dict(),
            "strays": self.mismatches.to_dict(),
            **self.encoder.to_dict(),
            **({} if self.label is None else {"label": self.label}),
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any], embeddings: Mapping[str, Any] | None = None) -> RowFeatures:
        """What ``to_dict`` gave, also after a way through JSON, with the encoders of the fields that are embedded."""
        given = dict(kept.get("given") or {})
        encoders = match_encoders([name for name, kind in given.items() if kind == EMBEDDING], embeddings)
        new = cls(given | encoders, na_values=kept.get("na_values"))
        new.encoder = Encoder.from_dict(kept, encoders)
        new.with_commas = set(kept.get("with_commas", ()))
        new.with_truths = set(kept.get("with_truths", ()))
        new.reads_words_alike = bool(kept.get("reads_words_alike", False))
        new.label = kept.get("label")
        try:
            new.declared = dict(kept.get("declared", {}))
            if "evidence" in kept:
                new.evidence = KindEvidence.from_dict(kept["evidence"])
                new.mismatches = TypeMismatches.from_dict(kept.get("strays", {}))
            elif "given" in kept:  # of a time when kinds were final; of tables, it is not known which were given
                final = [name for name in new.kinds if new.given_kind(name) is not None]
                new.evidence = KindEvidence.of_old(new.kinds, final)
        except (AttributeError, TypeError, ValueError) as error:
            raise InvalidInput(f"this is no saved state of features: {str(error).rstrip('.')}.") from None
        return new
