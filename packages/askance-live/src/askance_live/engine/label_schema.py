"""The classes of a stream and the kinds that its fields were given, as they are by now.

Settings say what they are at first. Whoever leads the stream may change them while it runs
(``askance_live.engine.label_schema_changes``); then the log says what holds, and since which entry. A label keeps its
place for ever, since predictions and answers are stored by places:

    place    0      1      2
    label    ham    spam   phishing       added later
    name     Ham    Spam   Phishing       what people see; programs use the label
    retired  no     yes    no             no longer offered nor predicted; what was said with it stays

The model is a function of the last label schema and of the whole log:

    model = f(settings, label schema, log[1..n])

so that a change of classes or kinds makes it anew. What was said of earlier events stays as it was said.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from askance_live.config import Config, ModelSettings, default_hash_bits
from askance_live.engine.label_space import LabelSpace
from askance_live.problems import StartError
from askance_live.store.database import Session
from askance_live.store.rows import Query
from askance_live.store.schema import LabelSchemaRow

NEWEST = Query(LabelSchemaRow, "schemes", "ORDER BY seq DESC LIMIT 1")
NOT_YET = 1 << 62
"""An entry of the log that is still to come: the label schema of a change that is not made yet."""


class Label(NamedTuple):
    """A label at its place."""

    label: str
    """What programs, settings and exports call it."""
    name: str = ""
    """What people see instead, if that differs."""
    retired: bool = False
    added: bool = False
    """Whether it came later than the stream."""

    @property
    def shown(self) -> str:
        """What people see."""
        return self.name or self.label


@dataclass(frozen=True)
class LabelSchema:
    """The labels by their places, and the kinds that were given to fields."""

    labels: tuple[Label, ...]
    fields: dict[str, str]
    since: int = 0
    """The entry of the log since which the model's part of it holds; 0: from the beginning."""
    seq: int = 0
    """The entry that says all this; 0: the settings do."""

    @property
    def classes(self) -> list[str]:
        """What is offered and predicted, by place."""
        return [label.label for label in self.labels if not label.retired]

    @property
    def retired(self) -> list[str]:
        """The other labels."""
        return [label.label for label in self.labels if label.retired]

    @property
    def names(self) -> dict[str, str]:
        """What people see, of labels that are called otherwise."""
        return {label.label: label.name for label in self.labels if label.name}

    def find(self, label: str) -> int | None:
        """The place of a label."""
        return next((place for place, known in enumerate(self.labels) if known.label == label), None)

    def in_order(self, wanted: Sequence[str]) -> list[str]:
        """The classes as the pages show them: those of the settings in their order, then what was added."""
        classes = self.classes
        return [label for label in wanted if label in classes] + [label for label in classes if label not in wanted]

    def settings_of(self, model: ModelSettings) -> ModelSettings:
        """The settings of a model of this label schema, from those of one of another."""
        classes, labels = sorted(self.classes), [label.label for label in self.labels]
        bits = model.hash_bits
        if bits == default_hash_bits(model.algorithm, len(model.classes)):
            bits = default_hash_bits(model.algorithm, len(classes))
        return replace(
            model, classes=classes, fields=dict(self.fields), labels=[] if labels == classes else labels,
            added=[label.label for label in self.labels if label.added], since=self.since, hash_bits=bits,
        )  # fmt: skip

    def makes_same_model(self, other: LabelSchema) -> bool:
        """Whether a model of one is a model of the other, too."""
        return [label._replace(name="") for label in self.labels] == [
            label._replace(name="") for label in other.labels
        ] and self.fields == other.fields

    def document(self) -> str:
        """As the log keeps it."""
        labels = [label._asdict() for label in self.labels]
        return json.dumps({"labels": labels, "fields": self.fields, "since": self.since}, sort_keys=True)

    @classmethod
    def from_document(cls, text: str, seq: int) -> LabelSchema:
        kept: dict[str, Any] = json.loads(text)
        return cls(tuple(Label(**label) for label in kept["labels"]), kept["fields"], kept["since"], seq)


def first_label_schema(model: ModelSettings) -> LabelSchema:
    """What settings say."""
    return LabelSchema(tuple(Label(label) for label in model.places), dict(model.fields))


def stored_label_schema(session: Session, model: ModelSettings) -> LabelSchema:
    """What holds by now: the log's last word, or the stored settings of the model."""
    found = NEWEST.one(session)
    if found is None:
        return first_label_schema(model)
    try:
        return LabelSchema.from_document(found.document, int(found.seq))
    except (TypeError, ValueError, LookupError):
        raise StartError(
            f"the classes at {found.seq} of the log cannot be read; restore a backup with 'askance restore'."
        ) from None


class LabelSchemaState:
    """What a process knows of the classes, to read and to show what is stored by places."""

    def use_label_schema(self, config: Config, label_schema: LabelSchema) -> None:
        """These are the classes and kinds of fields, and the settings with them."""
        self.config, self.label_schema = config, label_schema
        self.classes = [label.label for label in label_schema.labels]
        """Every label by its place, the retired ones among them."""
        self.place_of = {label: place for place, label in enumerate(self.classes)}
        self.offered = sorted(self.place_of[label] for label in label_schema.classes)
        """The places of those that people may choose and the model predicts."""
        self.names = [label.shown for label in label_schema.labels]
        """What people see of them, by place."""
        self.shown = [*config.classes, *label_schema.retired]
        """All labels in the order of the pages."""
        self.labels: LabelSpace = config.labels
        """What labels are."""

    def is_offered(self, label: int) -> bool:
        """Whether people may choose a label, and the model learns it: a class that is not retired, or any set."""
        return self.labels.are_sets or label in self.offered
