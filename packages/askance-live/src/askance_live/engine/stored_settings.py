"""The settings of the model as the store has them, beside those of ``askance.toml``.

Algorithm, parameters and the like must be those that the stored model was made with. Classes and kinds of fields are
the store's, since they may have changed while the service ran; the store also keeps what the file said of them when it
was last taken up. So a file that was edited since is told from one that was not, and its edits are changes like any
other.
"""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import NamedTuple

from askance_live.clock import Clock
from askance_live.config import Config, ModelSettings
from askance_live.engine.checkpoints import WORDS_ALIKE, keep_start, remove_checkpoints, start_digest
from askance_live.engine.label_schema import LabelSchema, first_label_schema, stored_label_schema
from askance_live.engine.label_schema_changes import LabelSchemaChange, apply_change, find_effects
from askance_live.engine.preset_versions import BEFORE_ALL, NEWEST_PRESET_VERSION
from askance_live.engine.start import start_from_file
from askance_live.problems import Problem, StartError
from askance_live.store.database import Session
from askance_live.store.rows import UPSERT_META

log = logging.getLogger("askance")
DECLARED = "declared"
"""The name under which the store keeps what the file said of classes and fields when that was last taken up."""


class StoredSettings(NamedTuple):
    """What holds for a store: the settings, with its own classes and kinds of fields; and these."""

    config: Config
    label_schema: LabelSchema


def stored_model(session: Session) -> ModelSettings | None:
    """The settings of the model that the events of a store were predicted with; None where there are no events, and
    nobody has changed the classes."""
    stored = session.value("SELECT value FROM meta WHERE name = 'model'")
    if stored is None or (session.one("SELECT seq FROM events LIMIT 1") or last_change(session)) in (None, 0):
        return None
    try:
        model = ModelSettings.from_document(stored)
        if not 0 <= model.edition <= NEWEST_PRESET_VERSION:
            raise ValueError("of a later release")
    except (TypeError, ValueError):
        raise StartError(
            "the stored settings of the model cannot be read; if a later release of askance wrote them, install that, "
            "else restore a backup, or 'askance export' the events, 'askance init' another store, and 'askance import' "
            "them into that."
        ) from None
    is_first = not model.edition and session.value("SELECT value FROM meta WHERE name = ?", (WORDS_ALIKE,)) is None
    return replace(model, edition=BEFORE_ALL) if is_first else model


def last_change(session: Session) -> int:
    """The entry of the log that changed classes or kinds last; 0: none."""
    return int(session.value("SELECT max(seq) FROM schemes") or 0)


def read_settings(session: Session, config: Config) -> StoredSettings:
    """The settings with the classes and kinds of fields that hold by now; refuses those that the stored model was not
    made with, and says what edits of classes and fields would do."""
    before = stored_model(session)
    if before is None:
        return StoredSettings(config, first_label_schema(config.model))
    label_schema = stored_label_schema(session, before)
    _refuse_other_model(before, label_schema.settings_of(config.model))
    config = with_preset_version_of(before, config)
    edits = find_edits(session, config, label_schema)
    if edits:
        raise StartError(_say_edits(session, config, before, label_schema, edits))
    return with_label_schema(config, label_schema)


def with_stored_preset_version(session: Session, config: Config) -> Config:
    """The settings in the preset version of ``auto`` of the store, unless they are of another model by now."""
    before = stored_model(session)
    if before is None or _differences(before, stored_label_schema(session, before).settings_of(config.model)):
        return config
    return with_preset_version_of(before, config)


def with_preset_version_of(before: ModelSettings, config: Config) -> Config:
    """The settings in the preset version of these of the model."""
    return replace(config, model=replace(config.model, edition=before.edition))


def stored_label_schema_of(session: Session, config: Config) -> LabelSchema:
    """The classes and kinds of a store, whatever the settings say by now."""
    stored = stored_model(session)
    return first_label_schema(config.model) if stored is None else stored_label_schema(session, stored)


def with_label_schema(config: Config, label_schema: LabelSchema) -> StoredSettings:
    """The settings with other classes and kinds of fields."""
    model = label_schema.settings_of(config.model)
    return StoredSettings(replace(config, model=model, classes=label_schema.in_order(config.classes)), label_schema)


def refuse_other_kind(before: ModelSettings, now: ModelSettings) -> None:
    """Refuse to take sets for single classes, or these for sets."""
    if before.label_sets != now.label_sets:
        was, made = ("sets", "single classes") if before.label_sets else ("single classes", "sets")
        raise StartError(
            f"the labels of this store are {was}, and the settings make them {made} (label_sets); put that back, or "
            "'askance export' it, 'askance init' another, and 'askance import' into that."
        )


def _refuse_other_model(before: ModelSettings, now: ModelSettings) -> None:
    refuse_other_kind(before, now)
    names = _differences(before, now)
    if not names:
        return
    if "algorithm" in names and "hash_bits" in names:
        names.remove("hash_bits")  # it follows the algorithm
    shown = ", ".join(f"model.{name}" for name in names)
    raise StartError(
        f"the settings of the model changed ({shown}), but the stored model was made with others; "
        "put them back, or let 'askance rebuild' make the model anew from the log."
    )


def _differences(before: ModelSettings, now: ModelSettings) -> list[str]:
    """The settings of the model that differ; the preset version is the store's, and no setting."""
    return [name for name in vars(before) if name != "edition" and getattr(before, name) != getattr(now, name)]


# --- what the file says of classes and fields ----------------------------------------------------------------


def find_edits(session: Session, config: Config, label_schema: LabelSchema) -> LabelSchemaChange:
    """What was edited in the file since the store took it up, and does not hold yet."""
    kept = session.value("SELECT value FROM meta WHERE name = ?", (DECLARED,))
    classes, fields = label_schema.classes, label_schema.fields
    if kept is not None:
        try:
            document = json.loads(kept)
            classes, fields = list(document["classes"]), dict(document["fields"])
        except (TypeError, ValueError, LookupError):
            log.warning("what the settings said of classes and fields is damaged, and is taken to be what holds.")
    wanted, kinds = config.classes, config.model.fields
    new = [label for label in wanted if label not in classes]
    return LabelSchemaChange(
        add=tuple(label for label in new if label_schema.find(label) is None),
        restore=tuple(label for label in new if label in label_schema.retired),
        retire=tuple(label for label in classes if label not in wanted and label in label_schema.classes),
        fields={
            name: kinds.get(name)
            for name in sorted({*fields, *kinds})
            if kinds.get(name) != fields.get(name) and kinds.get(name) != label_schema.fields.get(name)
        },
    )


def _say_edits(
    session: Session, config: Config, model: ModelSettings, label_schema: LabelSchema, edits: LabelSchemaChange
) -> str:
    """Why a service does not start with an edited file: what the edits would do, and who does it."""
    changed = " and ".join(
        part for part in ("classes" if edits.changes_classes else "", "fields" if edits.fields else "") if part
    )
    try:
        now, after = replace(config, model=model), apply_change(label_schema, edits)
        effects = find_effects(session, now, label_schema, after, estimates=False)  # at once, without the compiler
    except Problem as problem:
        raise StartError(f"the {changed} changed in the settings, which cannot be: {problem.detail}") from None
    title = session.value("SELECT value FROM meta WHERE name = 'title'")
    return (
        f"the {changed} changed in the settings since the store took them up. This change {effects.in_words()} "
        "Let 'askance rebuild' make it, or put the settings back; if this is the store of another stream "
        f"({title!r}), name one of its own in these settings."
    )


def take_up_declared(session: Session, config: Config) -> None:
    """Remember what the file says of classes and fields, once it holds."""
    document = json.dumps({"classes": config.model.classes, "fields": config.model.fields}, sort_keys=True)
    if session.value("SELECT value FROM meta WHERE name = ?", (DECLARED,)) != document:
        session.execute(UPSERT_META, (DECLARED, document))


def adopt_model(session: Session, config: Config) -> None:
    """A store without events takes the settings of the model as they are now, classes included, and the model that they
    start from."""
    stored = session.value("SELECT value FROM meta WHERE name = 'model'")
    if stored is None or stored_model(session) is not None:
        return
    is_of_now = session.value("SELECT value FROM meta WHERE name = ?", (WORDS_ALIKE,)) is not None
    is_same = is_of_now and stored == config.model.document()
    kept = start_digest(session)
    if is_same and (kept is None or not (config.folder / config.model.load).is_file()):
        return
    start = start_from_file(config)
    if is_same and start is not None and start.digest == kept:
        return
    keep_start(session, start, Clock().now())
    session.many(UPSERT_META, [("model", config.model.document()), (WORDS_ALIKE, "1")])
    session.execute("DELETE FROM meta WHERE name = 'totals'")  # counted by class
    session.execute("DELETE FROM minutes")
    remove_checkpoints(session)
