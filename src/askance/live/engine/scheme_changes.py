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

from askance.errors import AskanceError, InvalidParameter
from askance.features.kinds import IGNORE, check_features
from askance.features.rows import RowFeatures, flatten
from askance.live.config import Config
from askance.live.engine.checkpoints import fresh_learner
from askance.live.engine.learner import Learner
from askance.live.engine.replay import last_seq, replay
from askance.live.engine.scheme import NOT_YET, Label, Scheme
from askance.live.problems import Problem
from askance.live.questions.states import AnswerState, AskState, one_of
from askance.live.store.database import Session
from askance.plural import format_count

LONGEST_LABEL = 200
MOST_LABELS = 1_000
MOST_FIELDS = 1_000
SAMPLE, WARM = 300, 50  # entries of the log that are played to tell how long all of it takes
LATEST = 1_000  # events whose values are tried with a new kind
HELD = f"SELECT count(*) FROM answers WHERE state = '{AnswerState.WAITING}' AND label = ?"
IN_PLAY = one_of((AskState.OPEN, AskState.LEASED, AskState.PARKED))


@dataclass(frozen=True)
class SchemeChange:
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


def apply_change(scheme: Scheme, change: SchemeChange) -> Scheme:
    """The scheme after a change; a Problem says what cannot be."""
    labels = list(scheme.labels)
    named = [*change.add, *change.rename, *change.retire, *change.restore]
    if twice := next((label for label in named if label not in change.rename and named.count(label) > 1), None):
        raise Problem("invalid", f"{twice!r} occurs twice; change one thing of a class at a time.")
    for label in change.add:
        _check_word(label, "a class")
        if (place := scheme.find(label)) is not None:
            hint = "; restore it instead" if labels[place].retired else ""
            raise Problem("name_taken", f"there is a class {label!r} already{hint}.")
        labels.append(Label(label, added=True))
    for label, is_retired in [
        *((label, True) for label in change.retire),
        *((label, False) for label in change.restore),
    ]:
        place = _place_of(scheme, label)
        if labels[place].retired == is_retired:
            raise Problem("invalid", f"the class {label!r} is {'retired already' if is_retired else 'not retired'}.")
        labels[place] = labels[place]._replace(retired=is_retired)
    after = replace(scheme, labels=tuple(labels))
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
    return replace(after, labels=tuple(labels), fields=_apply_kinds(scheme.fields, change.fields))


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


def _place_of(scheme: Scheme, label: str) -> int:
    place = scheme.find(label)
    if place is None:
        known = ", ".join(known.label for known in scheme.labels[:20])
        raise Problem("unknown_label", f"there is no class {label[:40]!r}; there are: {known}.", field="label")
    return place


def _check_word(word: str, what: str) -> None:
    if not word.strip() or len(word) > LONGEST_LABEL or not word.isprintable():
        raise Problem("invalid", f"{what} must be 1 to {LONGEST_LABEL} printable characters, got {word[:40]!r}.")


# --- what it does --------------------------------------------------------------------------------------------


def find_effects(session: Session, config: Config, before: Scheme, after: Scheme) -> Effects:
    """What it does to go from one scheme to another; ``config`` is that of now, with the store's own classes."""
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
    sentences = [*_of_labels(session, before, after), *_of_fields(session, config, before, after)]
    if not sentences:
        return Effects(["changes nothing"], False, 0.0)
    if not rebuilds:
        return Effects([*sentences, "leaves the model as it is"], False, 0.0)
    learner = make_learner(session, config, after)
    seconds = _estimate(session, learner)
    sizes = len(before.classes), len(after.classes)
    form = "as one of two classes" if sizes[1] == 2 else f"as one of {sizes[1]} classes"
    form = f" {form} instead of {'two' if sizes[0] == 2 else sizes[0]}" if 2 in sizes and sizes[0] != sizes[1] else ""
    sentences.append(
        f"makes the model anew{form} from the log in {_duration(seconds)}, while the service goes on; nothing is lost"
    )
    return Effects(sentences, True, seconds)


def _of_labels(session: Session, before: Scheme, after: Scheme) -> list[str]:
    answers: dict[int, int] = dict(session.all("SELECT label, count(*) FROM learned WHERE left_out = 0 GROUP BY label"))
    events = int(session.value("SELECT count(*) FROM events") or 0)
    waiting = int(session.value(f"SELECT count(*) FROM asks WHERE state IN {IN_PLAY}") or 0)
    sentences = []
    for place, label in enumerate(after.labels):
        was = before.labels[place] if place < len(before.labels) else None
        if was is None:
            sentences.append(
                f"adds the class {label.label!r}: the model begins with 0 answers of it, "
                f"{format_count(events, 'event')} keep the prediction they got, and "
                f"{format_count(waiting, 'open question')} get the new choice"
            )
        elif was.retired != label.retired:
            said = format_count(answers.get(place, 0), "learned answer")
            if label.retired:
                held = int(session.value(HELD, (place,)) or 0)
                also = f" and {held:,} that wait{'s' if held == 1 else ''}" if held else ""
                sentences.append(
                    f"retires {label.label!r}: it is no longer offered nor predicted; {said}{also} with it stay, as do "
                    "the events, and teach the model nothing any more"
                )
            else:
                sentences.append(f"offers {label.label!r} again: {said} with it teach the model again")
        if (was.shown if was else label.label) != label.shown:
            sentences.append(f"shows {label.label!r} as {label.shown!r}; programs go on calling it {label.label!r}")
    return sentences


def _of_fields(session: Session, config: Config, before: Scheme, after: Scheme) -> list[str]:
    sentences = []
    for name in sorted({*before.fields, *after.fields}):
        was, now = before.fields.get(name), after.fields.get(name)
        if was != now:
            old = f", where it was {was!r}" if was else ", where it was guessed"
            new = f"reads the field {name!r} as {now!r}" if now else f"guesses the kind of the field {name!r}"
            sentences.append(
                new + old + (", and learns nothing from it" if now == IGNORE else _say_unfit(session, name, now))
            )
    return sentences


def _say_unfit(session: Session, name: str, kind: str | None) -> str:
    """How many of the latest values a kind cannot take, if there are any."""
    if kind is None:
        return ""
    features, values, unfit = RowFeatures({name: kind}), 0, 0
    for (text,) in session.all("SELECT fields FROM events ORDER BY seq DESC LIMIT ?", (LATEST,)):
        flat = flatten(msgspec.json.decode(text))
        of_field = {key: value for key, value in flat.items() if key == name or key.startswith(f"{name}.")}
        values += bool(of_field)
        unfit += features.plan(of_field).error is not None
    if not unfit:
        return ""
    return (
        f"; of the last {format_count(values, 'event')} with it, {unfit:,} have none that is a {kind}, which counts as "
        "missing, and new ones like them go to the quarantine"
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


def make_learner(session: Session, config: Config, scheme: Scheme) -> Learner:
    """A model of a scheme that is to come, which knows nothing yet."""
    model = replace(scheme, since=NOT_YET).settings_of(config.model)
    try:
        return fresh_learner(session, replace(config, model=model))
    except AskanceError as error:
        raise Problem("invalid", str(error)) from None
