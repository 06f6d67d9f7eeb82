"""Changes of the classes and of the kinds of fields: what may be changed, what it does, in words, and how it is done.

What a change does is told before. Names alone are written down. Anything else makes the model anew from the log, beside
the service; then one transaction writes the entry of the log and changes over, so that the service has the old scheme
and the old model or the new ones, whenever it is stopped.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import msgspec

from askance.data.encoding.kinds import IGNORE, check_features
from askance.data.encoding.rows import RowFeatures, flatten
from askance.errors import AskanceError, InvalidParameter
from askance.plural import conjugate, format_count
from askance_live.config import Config
from askance_live.engine.checkpoints import fresh_learner
from askance_live.engine.label_schema import NOT_YET, Label, LabelSchema
from askance_live.engine.learner import Learner
from askance_live.engine.replay import last_seq, replay
from askance_live.problems import Problem
from askance_live.questions.states import AnswerState, QuestionState, one_of
from askance_live.store.database import Session, StoreError

LONGEST_LABEL = 200
MOST_LABELS = 1_000
MOST_FIELDS = 1_000
SAMPLE, WARM = 300, 50  # entries of the log that are played to tell how long all of it takes
LATEST = 1_000  # events whose values are tried with a new kind
HELD = f"SELECT count(*) FROM answers WHERE state = '{AnswerState.WAITING}' AND label = ?"
LEARNED = f"SELECT label, count(*) FROM answers WHERE state = '{AnswerState.LEARNED}' GROUP BY label"
IN_PLAY = one_of((QuestionState.OPEN, QuestionState.LEASED, QuestionState.PARKED))


@dataclass(frozen=True)
class LabelSchemaChange:
    """What is to be changed."""

    add: tuple[str, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    """Names for people, by label."""
    retire: tuple[str, ...] = ()
    restore: tuple[str, ...] = ()
    fields: Mapping[str, str | None] = field(default_factory=dict)
    """Kinds by field; None: guessed from its values."""

    def __bool__(self) -> bool:
        return self.changes_classes or bool(self.fields)

    @property
    def changes_classes(self) -> bool:
        return bool(self.add or self.rename or self.retire or self.restore)

    def document(self) -> dict[str, Any]:
        """As the activity log has it: what there is of it."""
        return {
            name: list(value) if isinstance(value, tuple) else dict(value)
            for name, value in vars(self).items()
            if value
        }


class Effects(NamedTuple):
    """What a change does."""

    sentences: list[str]
    rebuilds: bool
    """Whether the model is made anew."""
    seconds: float
    """How long that takes, about."""

    def in_words(self) -> str:
        """All of it, to go on after "This change"."""
        return "; it ".join(self.sentences) + "."


def apply_change(label_schema: LabelSchema, change: LabelSchemaChange) -> LabelSchema:
    """The scheme after a change; a Problem says what cannot be."""
    labels = list(label_schema.labels)
    named = [*change.add, *change.rename, *change.retire, *change.restore]
    if twice := next((label for label in named if label not in change.rename and named.count(label) > 1), None):
        raise Problem("invalid", f"{twice!r} occurs twice; change one thing of a class at a time.")
    for label in change.add:
        _check_word(label, "a class")
        if (place := label_schema.find(label)) is not None:
            hint = "; restore it instead" if labels[place].retired else ""
            raise Problem("name_taken", f"there is a class {label!r} already{hint}.")
        labels.append(Label(label, added=True))
    for label, is_retired in [
        *((label, True) for label in change.retire),
        *((label, False) for label in change.restore),
    ]:
        place = _place_of(label_schema, label)
        if labels[place].retired == is_retired:
            raise Problem("invalid", f"the class {label!r} is {'retired already' if is_retired else 'not retired'}.")
        labels[place] = labels[place]._replace(retired=is_retired)
    after = replace(label_schema, labels=tuple(labels))
    for label, name in change.rename.items():
        place = _place_of(after, label)
        _check_word(name, "a name")
        labels[place] = labels[place]._replace(name="" if name == label else name)
    shown = [label.shown for label in labels if not label.retired]
    if len(shown) < 2:
        raise Problem("invalid", "two classes must stay, or there is nothing to tell apart; retire fewer.")
    if double := next((name for name in shown if shown.count(name) > 1), None):
        raise Problem("name_taken", f"two classes would be shown as {double!r}; choose another name.")
    if len(labels) > MOST_LABELS:
        raise Problem("invalid", f"a stream has at most {MOST_LABELS:,} classes, the retired ones among them.")
    return replace(after, labels=tuple(labels), fields=_apply_kinds(label_schema.fields, change.fields))


def _apply_kinds(fields: Mapping[str, str], change: Mapping[str, str | None]) -> dict[str, str]:
    found = dict(fields)
    for name, kind in change.items():
        if kind is None:
            found.pop(name, None)
        else:
            found[name] = kind
    try:
        return check_features(found)
    except InvalidParameter as error:
        raise Problem("invalid", str(error)) from None


def _place_of(label_schema: LabelSchema, label: str) -> int:
    place = label_schema.find(label)
    if place is None:
        known = ", ".join(known.label for known in label_schema.labels[:20])
        raise Problem("unknown_label", f"there is no class {label[:40]!r}; there are: {known}.", field="label")
    return place


def _check_word(word: str, what: str) -> None:
    if not word.strip() or len(word) > LONGEST_LABEL or not word.isprintable():
        raise Problem("invalid", f"{what} must be 1 to {LONGEST_LABEL} printable characters, got {word[:40]!r}.")
    if word != word.strip():
        raise Problem("invalid", f"{what} must not begin or end with a blank, got {word[:40]!r}.")


# --- what it does --------------------------------------------------------------------------------------------


def find_effects(
    session: Session, config: Config, before: LabelSchema, after: LabelSchema, estimates: bool = True
) -> Effects:
    """What it does to go from one label schema to another; ``config`` is that of now, with the store's own classes.

    How long that takes is told where it ``estimates``, for which some of the log is played, and may be compiled before.
    """
    rebuilds = not after.makes_same_model(before)
    if rebuilds and config.model.load:
        raise Problem(
            "invalid",
            f"the model starts from the file {config.model.load!r}, which has classes and kinds of its own; train one "
            "with others, and begin another stream with it. Names can be changed.",
        )
    if rebuilds and config.model.label_sets:
        raise Problem(
            "invalid",
            "a stream of label sets keeps its classes and the kinds of its fields; export it, and import it into "
            "another that has others. Names can be changed.",
        )
    sentences = [*_of_labels(session, before, after), *_of_fields(session, before, after)]
    if not sentences:
        return Effects(["changes nothing"], False, 0.0)
    if not rebuilds:
        return Effects([*sentences, "leaves the model as it is"], False, 0.0)
    learner = make_learner(session, config, after)
    seconds = _estimate(session, learner) if estimates else 0.0
    sizes = len(before.classes), len(after.classes)
    form = "as one of two classes" if sizes[1] == 2 else f"as one of {sizes[1]} classes"
    form = f" {form} instead of {'two' if sizes[0] == 2 else sizes[0]}" if 2 in sizes and sizes[0] != sizes[1] else ""
    how_long = f" in {_duration(seconds)}, while the service goes on" if estimates else ""
    sentences.append(f"makes the model anew{form} from the log{how_long}; nothing is lost")
    return Effects(sentences, True, seconds)


def count_learned(session: Session) -> dict[int, int]:
    """The answers that a model made anew learns, by the places of their labels: those that were not taken back."""
    return dict(session.all(LEARNED))


def _of_labels(session: Session, before: LabelSchema, after: LabelSchema) -> list[str]:
    answers = count_learned(session)
    events = int(session.value("SELECT count(*) FROM events") or 0)
    waiting = int(session.value(f"SELECT count(*) FROM asks WHERE state IN {IN_PLAY}") or 0)
    sentences = []
    for place, label in enumerate(after.labels):
        was = before.labels[place] if place < len(before.labels) else None
        if was is None:
            got = "it" if events == 1 else "they"
            sentences.append(
                f"adds the class {label.label!r}: the model begins with 0 answers of it, "
                f"{format_count(events, 'event')} {conjugate(events, 'keep')} the prediction {got} got, and "
                f"{format_count(waiting, 'open question')} {conjugate(waiting, 'get')} the new choice"
            )
        elif was.retired != label.retired:
            learned = answers.get(place, 0)
            said = format_count(learned, "learned answer")
            if label.retired:
                held = int(session.value(HELD, (place,)) or 0)
                also = f" and {held:,} that {conjugate(held, 'wait')}" if held else ""
                stay, teach = (conjugate(learned + held, verb) for verb in ("stay", "teach"))
                sentences.append(
                    f"retires {label.label!r}: it is no longer offered nor predicted; {said}{also} with it {stay}, as "
                    f"do the events, and {teach} the model nothing any more"
                )
            else:
                sentences.append(
                    f"offers {label.label!r} again: {said} with it {conjugate(learned, 'teach')} the model again"
                )
        if (was.shown if was else label.label) != label.shown:
            sentences.append(f"shows {label.label!r} as {label.shown!r}; programs go on calling it {label.label!r}")
    return sentences


def _of_fields(session: Session, before: LabelSchema, after: LabelSchema) -> list[str]:
    changed = [
        name for name in sorted({*before.fields, *after.fields}) if before.fields.get(name) != after.fields.get(name)
    ]
    if not changed:
        return []
    rows = session.all("SELECT fields FROM events ORDER BY seq DESC LIMIT ?", (LATEST,))
    latest = [flatten(msgspec.json.decode(text)) for (text,) in rows]
    return [_of_field(name, before.fields.get(name), after.fields.get(name), latest) for name in changed]


def _of_field(name: str, was: str | None, now: str | None, latest: list[dict[str, Any]]) -> str:
    """What it does to give a field another kind, by the latest events; of a name with others inside, to all of them."""
    found = [
        {key: value for key, value in event.items() if key == name or key.startswith(f"{name}.")} for event in latest
    ]
    found = [values for values in found if values]
    what = (
        f"the fields inside {name!r}"
        if found and not any(name in values for values in found)
        else f"the field {name!r}"
    )
    new = f"reads {what} as {now!r}" if now else f"guesses the kind of {what}"
    sentence = new + (f", where it was {was!r}" if was else ", where it was guessed")
    if now is None:
        return sentence
    if now == IGNORE:
        sentence += ", and learns nothing from it"
    if found:
        return sentence + ("" if now == IGNORE else _say_unfit(name, now, found))
    if not latest:
        return sentence
    which = "no event so far had" if len(latest) < LATEST else f"none of the last {LATEST:,} events had"
    return f"{sentence}; {which} a field {name!r}"


def _say_unfit(name: str, kind: str, found: list[dict[str, Any]]) -> str:
    """How many of the latest values a kind cannot take, if there are any."""
    features = RowFeatures({name: kind})
    unfit = sum(features.plan(values).error is not None for values in found)
    if not unfit:
        return ""
    return (
        f"; of the last {format_count(len(found), 'event')} with it, {unfit:,} {conjugate(unfit, 'have')} none that is "
        f"a {kind}, which counts as missing, and new ones like them go to the quarantine"
    )


def _estimate(session: Session, learner: Learner) -> float:
    """How long a replay of the whole log takes, by its first entries."""
    last = last_seq(session)
    first = min(WARM, last)
    replay(session, learner, 0, first)
    reached = min(SAMPLE, last)
    began = time.perf_counter()
    replay(session, learner, first, reached)
    per_entry = (time.perf_counter() - began) / max(1, reached - first)
    return per_entry * last


def _duration(seconds: float) -> str:
    if seconds < 1.0:
        return "less than a second"
    return f"about {seconds:.0f} seconds" if seconds < 100 else f"about {seconds / 60:.0f} minutes"


# --- how it is done ------------------------------------------------------------------------------------------


def make_learner(session: Session, config: Config, label_schema: LabelSchema) -> Learner:
    """A model of a label schema that is to come, which knows nothing yet."""
    model = replace(label_schema, since=NOT_YET).settings_of(config.model)
    try:
        return fresh_learner(session, replace(config, model=model))
    except StoreError:
        raise
    except AskanceError as error:
        raise Problem("invalid", str(error)) from None
