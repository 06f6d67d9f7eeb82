"""``askance.toml``: what the service is about, read and checked."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from askance.data.encoding.kinds import check_features
from askance.data.missing import MissingValues
from askance.errors import AskanceError, InvalidParameter
from askance.learner.budget import SECONDS
from askance.learner.budget_kinds import BUDGET_KINDS, Limits, read_limits
from askance_live.access.company import OidcSettings, read_oidc
from askance_live.access.mail import MailSettings, read_mail
from askance_live.display import Display, Instructions, read_display, read_instructions
from askance_live.engine.label_space import MOST_LABELS, SEPARATOR, LabelSpace, label_space
from askance_live.engine.preset_versions import preset_version_of_new_store
from askance_live.http.proxies import read_networks, read_public_url
from askance_live.webhooks.settings import Webhook, read_webhooks

ALGORITHM = "auto"
"""What learns unless the configuration says otherwise."""

HASH_BITS, AUTO_HASH_BITS, AUTO_HASH_BITS_OF_MANY = 18, 16, 14
"""Columns for words and categories, as a power of two. ``auto`` keeps twelve learners, and one of each for each class
where there are more than two: 18 MB for two classes, 3.5 MB for each of several."""

MOST_ANSWERS = 25  # to one question
MOST_HASH_BITS, MOST_NGRAMS, LAST_PORT, GREATEST = 24, 5, 65_535, 2**53
SHORTEST_LEASE = 1.0
LATER_SETTINGS = ("na_values", "load", "labels", "added", "since", "label_sets", "edition")
"""Of the model, that stores from before do not have."""
RATE, AUDIT_SHARE = 0.05, 0.05  # of the events asked about, and of these a random sample


@dataclass(frozen=True)
class ModelSettings:
    """What the model is a function of, beside the log. A change takes a rebuild."""

    classes: list[str]
    fields: dict[str, str] = field(default_factory=dict)
    algorithm: str = ALGORITHM
    parameters: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    hash_bits: int = HASH_BITS
    ngrams: int = 2
    na_values: list[str | float] = field(default_factory=list)
    """What counts as missing besides the usual words."""
    load: str = ""
    """The model file that it starts from, which then says everything but classes and fields."""
    labels: list[str] = field(default_factory=list)
    """Every label that there ever was, by its place in the log, where these are not the classes (``label_schema``)."""
    added: list[str] = field(default_factory=list)
    """Those of the labels that were added later: no cold start waits for them."""
    since: int = 0
    """The entry of the log since which classes and kinds of fields are these; 0: from the beginning."""
    label_sets: bool = False
    """Whether an event has any number of the classes rather than one."""
    edition: int = 0
    """The preset version of ``auto`` and ``Probit`` (``engine.preset_versions``): its store's, if there is one."""

    @property
    def places(self) -> list[str]:
        """The labels by their places in the log, which they keep for ever."""
        return self.labels or self.classes

    def document(self) -> str:
        """All of it, as one line that is the same for the same settings, in whatever version they are written down."""
        document = asdict(self) | {"edition": max(self.edition, 0)}
        kept = {name: value for name, value in document.items() if value or name not in LATER_SETTINGS}
        return json.dumps(kept, sort_keys=True)

    @classmethod
    def from_document(cls, text: str) -> ModelSettings:
        return cls(**json.loads(text))


class AskingSettings(Limits):
    """How much is asked. These may change at any restart; the log keeps from which event on they held."""

    def __init__(self, *, rate: float = RATE, audit: float = AUDIT_SHARE, **given: Any) -> None:
        super().__init__(rate=rate, **given)
        self.audit = audit

    def document(self) -> str:
        return json.dumps(self.to_dict(), sort_keys=True)

    @classmethod
    def from_document(cls, text: str) -> AskingSettings:
        return cls(**json.loads(text))


@dataclass(frozen=True)
class Queue:
    """How questions wait for people."""

    lease: float = 600.0
    learn_after: float = 3.0
    time_to_live: float = 7 * 86400.0
    freshness: float = 3600.0
    most_open: int = 10_000
    park_after: int = 3
    later: float = 600.0
    answers: int = 1
    """Of how many different people a question takes an answer; their consensus is learned."""
    audit_answers: int = 0
    """The same of questions of the random sample; 0: as many as of others."""
    weigh_agreement: bool = False
    """Whether a consensus moves the model by the share of people who said so."""

    def wanted(self, is_audit: bool) -> int:
        """How many people answer a question."""
        return (self.audit_answers if is_audit else 0) or self.answers


@dataclass(frozen=True)
class ServerSettings:
    """Where the service listens, and what it bears."""

    host: str = "127.0.0.1"
    port: int = 8017
    tls_cert: str = ""
    tls_key: str = ""
    public_url: str = ""
    trusted_proxies: tuple[str, ...] = ()
    body_bytes: int = 10_000_000
    event_bytes: int = 256_000
    json_depth: int = 32
    batch_events: int = 1_000
    fields: int = 10_000
    new_fields: int = 2_000
    quarantine_events: int = 10_000
    quarantine_bytes: int = 100_000_000
    receipt_seconds: float = 15.0
    concurrency: int = 256
    requests_per_second: float = 5_000.0
    wrong_tokens_per_minute: int = 10
    disk_reserve: int = 32_000_000
    lag_limit: float = 60.0
    checkpoint_every: int = 10_000
    checkpoint_seconds: float = 60.0


@dataclass(frozen=True)
class LogSettings:
    """What is said on stderr, and how."""

    format: str = "text"
    level: str = "warning"
    requests: bool = False


LOG_CHOICES = {"format": ("text", "json"), "level": ("debug", "info", "warning", "error")}


@dataclass(frozen=True)
class Config:
    """Everything in ``askance.toml``."""

    name: str
    title: str
    store: str
    model: ModelSettings
    classes: list[str]
    """In the order of the file, which is that of the pages; the model sorts them."""
    asking: AskingSettings = field(default_factory=AskingSettings)
    queue: Queue = Queue()
    server: ServerSettings = ServerSettings()
    log: LogSettings = LogSettings()
    instructions: Instructions = field(default_factory=Instructions)
    display: Display = field(default_factory=Display)
    webhooks: tuple[Webhook, ...] = ()
    oidc: OidcSettings | None = None
    mail: MailSettings | None = None
    label_separator: str = SEPARATOR
    """What stands between the labels of a set in a text, such as a cell of a CSV file."""
    folder: Path = field(default=Path("."), compare=False)
    """Where the file is: what it names is beside it."""

    @property
    def labels(self) -> LabelSpace:
        """What labels are."""
        return label_space(self.model.places, self.classes, self.model.label_sets, self.label_separator)


def default_hash_bits(algorithm: str, n_classes: int, label_sets: bool = False) -> int:
    """The columns that hold unless the configuration says otherwise, as a power of two."""
    if algorithm != ALGORITHM:
        return HASH_BITS
    return AUTO_HASH_BITS if n_classes == 2 and not label_sets else AUTO_HASH_BITS_OF_MANY


def seconds(value: Any, name: str) -> float:
    """A duration: a number of seconds, or a text such as ``10m``.

    >>> seconds("1.5h", "lease"), seconds(3, "learn_after")
    (5400.0, 3.0)
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e10:
        return float(value)
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([smhd])\s*", value) if isinstance(value, str) else None
    if found is None:
        first = "'30s'" if isinstance(value, str) else "30 (seconds)"
        raise InvalidParameter(f"{name} must be a duration such as {first}, '10m', '2h' or '7d', got {value!r}.")
    return float(found[1]) * SECONDS[found[2]]


def load(path: str | Path, store: str | None = None) -> Config:
    """Read a configuration; relative store files are beside it."""
    path = Path(path)
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise InvalidParameter(f"there is no {str(path)!r}; write one with 'askance init'.") from None
    except OSError as error:
        raise InvalidParameter(f"cannot read {str(path)!r}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidParameter(f"{str(path)!r} is not TOML: {error}.") from None
    try:
        return from_document({"name": path.stem, **document}, path.parent, store)
    except AskanceError as error:
        raise InvalidParameter(f"{str(path)!r}: {error}") from None


def from_document(document: dict[str, Any], folder: Path = Path("."), store: str | None = None) -> Config:
    """A configuration from parsed TOML."""
    known = {
        "name", "title", "store", "classes", "fields", "model", "asking", "queue", "server", "log", "instructions",
        "display", "webhooks", "oidc", "mail", "label_sets", "label_separator",
    }  # fmt: skip
    if unknown := [name for name in document if name not in known]:
        raise InvalidParameter(f"there is no setting {unknown[0]!r}; there are: {', '.join(sorted(known))}.")
    place = store or _text(document.get("store", "askance.db"), "store")
    if not is_postgres(place):
        if scheme := re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", place):
            raise InvalidParameter(
                f"store must be a file or an address such as 'postgresql://user@host/database'; {scheme[0]!r} is not "
                "known."
            )
        place = str(folder / place)
    model = _model(document)
    server: ServerSettings = _section(
        ServerSettings, _table(document, "server"), "server", ("receipt_seconds", "lag_limit", "checkpoint_seconds")
    )
    return Config(
        name=_text(document.get("name", "askance"), "name"),
        title=_text(document.get("title", "askance"), "title"),
        store=place,
        model=model,
        classes=list(document["classes"]),
        asking=_asking(_table(document, "asking")),
        queue=_queue(_table(document, "queue"), model.label_sets),
        label_separator=_separator(document),
        server=replace(
            server,
            tls_cert=server.tls_cert and str(folder / server.tls_cert),
            tls_key=server.tls_key and str(folder / server.tls_key),
        ),
        log=_log(_table(document, "log")),
        display=read_display(_table(document, "display")),
        instructions=read_instructions(_table(document, "instructions"), document["classes"]),
        oidc=read_oidc(_table(document, "oidc"), folder),
        mail=read_mail(_table(document, "mail"), folder),
        webhooks=read_webhooks(document.get("webhooks", []), folder),
        folder=folder,
    )


def is_postgres(place: str) -> bool:
    """Whether a store is a PostgreSQL address rather than a file."""
    return place.startswith(("postgresql://", "postgres://"))


def _model(document: dict[str, Any]) -> ModelSettings:
    classes = document.get("classes")
    if not isinstance(classes, list) or len(classes) < 2:
        raise InvalidParameter('classes must list two labels or more, such as classes = ["ham", "spam"].')
    if not all(isinstance(label, str) and label and len(label) <= 200 and label.isprintable() for label in classes):
        raise InvalidParameter("classes must be words of at most 200 printable characters, in quotes.")
    if len(set(classes)) < len(classes):
        raise InvalidParameter("classes names a label twice.")
    label_sets = _read_label_sets(document, len(classes))
    table = _table(document, "model")
    _refuse_unknown(table, {"algorithm", "parameters", "seed", "hash_bits", "ngrams", "na_values", "load"}, "model")
    if "load" in table:
        return _read_loaded_model(table, sorted(classes), check_features(_table(document, "fields")))
    algorithm = _text(table.get("algorithm", ALGORITHM), "model.algorithm")
    bits = default_hash_bits(algorithm, len(classes), label_sets)
    model = ModelSettings(
        classes=sorted(classes),
        fields=check_features(_table(document, "fields")),
        algorithm=algorithm,
        parameters=_table(table, "parameters"),
        seed=_whole(table.get("seed", 0), "model.seed", 0),
        hash_bits=_whole(table.get("hash_bits", bits), "model.hash_bits", 1, MOST_HASH_BITS),
        ngrams=_whole(table.get("ngrams", 2), "model.ngrams", 1, MOST_NGRAMS),
        na_values=_na_values(table.get("na_values", [])),
        label_sets=label_sets,
        edition=preset_version_of_new_store(algorithm),
    )
    from askance_live.engine.label_sets import learner_kind

    learner_kind(model)(model, AskingSettings())  # an algorithm that cannot work is refused here
    return model


def _read_label_sets(document: dict[str, Any], n_labels: int) -> bool:
    """Whether labels are sets."""
    found = document.get("label_sets", False)
    if not isinstance(found, bool):
        raise InvalidParameter(f"label_sets must be true or false, got {found!r}.")
    if found and n_labels > MOST_LABELS:
        raise InvalidParameter(
            f"there are {n_labels} classes, and label sets in the service are of at most {MOST_LABELS}; leave out rare "
            "ones, or take 'askance run', which has no such limit."
        )
    if found and "load" in _table(document, "model"):
        raise InvalidParameter("model.load starts from a model of single labels; leave it out, or label_sets.")
    return found


def _separator(document: dict[str, Any]) -> str:
    if not document.get("label_sets", False):
        if "label_separator" in document:
            raise InvalidParameter("label_separator is for label sets; add label_sets = true, or leave it out.")
        return SEPARATOR
    separator = _text(document.get("label_separator", SEPARATOR), "label_separator")
    if within := [label for label in document["classes"] if separator in label]:
        raise InvalidParameter(
            f"the class {within[0]!r} contains {separator!r}, which stands between the labels of a set; give another "
            "label_separator in the settings, or rename the class."
        )
    return separator


def _queue(table: dict[str, Any], label_sets: bool) -> Queue:
    found: Queue = _section(Queue, table, "queue", ("lease", "learn_after", "time_to_live", "freshness", "later"))
    if label_sets and max(found.answers, found.audit_answers) > 1:
        raise InvalidParameter(
            "queue.answers and queue.audit_answers must be 1 with label_sets: a consensus of several people is for "
            "single labels."
        )
    return found


def _read_loaded_model(table: dict[str, Any], classes: list[str], kinds: dict[str, str]) -> ModelSettings:
    """The settings of a model that starts from a file."""
    if others := sorted(table.keys() - {"load"}):
        raise InvalidParameter(
            f"model.{others[0]} cannot be changed with model.load: the model brings its own; leave one of the two out."
        )
    return ModelSettings(classes=classes, fields=kinds, load=_text(table["load"], "model.load"))


def _na_values(value: Any) -> list[str | float]:
    if not isinstance(value, list) or not all(isinstance(word, str | int | float) for word in value):
        raise InvalidParameter(f'model.na_values must be a list such as ["unknown", -999], got {value!r}.')
    MissingValues(value)  # refuses what is neither word nor number
    return value


def _asking(table: dict[str, Any]) -> AskingSettings:
    _refuse_unknown(table, {"audit", *BUDGET_KINDS}, "asking")
    audit = table.get("audit", AUDIT_SHARE)
    if not isinstance(audit, int | float) or isinstance(audit, bool) or not 0 <= audit < 1:
        raise InvalidParameter(f"asking.audit must be a share of the questions, from 0 to below 1, got {audit!r}.")
    return AskingSettings(audit=float(audit), **read_limits(table, "asking"))


def _log(table: dict[str, Any]) -> LogSettings:
    found: LogSettings = _section(LogSettings, table, "log", ())
    for name, choices in LOG_CHOICES.items():
        if (value := getattr(found, name)) not in choices:
            raise InvalidParameter(f"log.{name} must be one of {', '.join(choices)}, got {value!r}.")
    return found


def _section(kind: type[Any], table: dict[str, Any], name: str, durations: tuple[str, ...]) -> Any:
    _refuse_unknown(table, {item.name for item in fields(kind)}, name)
    values: dict[str, Any] = {}
    for item in fields(kind):
        if item.name not in table:
            continue
        value, full = table[item.name], f"{name}.{item.name}"
        if item.name in durations:
            values[item.name] = seconds(value, full)
            if item.name == "lease" and values[item.name] < SHORTEST_LEASE:
                raise InvalidParameter(f"{full} must be one second or more, got {value!r}.")
        elif isinstance(item.default, bool):
            if not isinstance(value, bool):
                raise InvalidParameter(f"{full} must be true or false, got {value!r}.")
            values[item.name] = value
        elif isinstance(item.default, str):
            values[item.name] = _text(value, full)
            if item.name == "public_url":
                read_public_url(value)
        elif isinstance(item.default, tuple):
            if not isinstance(value, list):
                raise InvalidParameter(f"{full} must be a list, such as ['127.0.0.1'], got {value!r}.")
            read_networks(value)
            values[item.name] = tuple(value)
        elif isinstance(item.default, float):
            if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
                raise InvalidParameter(f"{full} must be a number of 0 or more, got {value!r}.")
            values[item.name] = float(value)
        else:
            least, most = _RANGES.get(item.name, (1, GREATEST))
            values[item.name] = _whole(value, full, least, most)
    return kind(**values)


_RANGES = {
    "port": (0, LAST_PORT), "disk_reserve": (0, GREATEST), "wrong_tokens_per_minute": (0, 1_000_000),
    "answers": (1, MOST_ANSWERS), "audit_answers": (0, MOST_ANSWERS),
}  # fmt: skip


def _table(document: dict[str, Any], name: str) -> dict[str, Any]:
    value = document.get(name, {})
    if not isinstance(value, dict):
        raise InvalidParameter(f"{name} must be a table, [{name}], got {value!r}.")
    return value


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidParameter(f"{name} must be a text in quotes, got {value!r}.")
    return value


def _whole(value: Any, name: str, least: int, most: int = GREATEST) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        is_above = isinstance(value, int) and value > most
        wanted = f" from {least} to {most}" if is_above or most < GREATEST else f", {least} or more"
        raise InvalidParameter(f"{name} must be a whole number{wanted}, got {value!r}.")
    return value


def _refuse_unknown(table: dict[str, Any], known: set[str], name: str) -> None:
    if unknown := [key for key in table if key not in known]:
        raise InvalidParameter(f"there is no setting {name}.{unknown[0]}; there are: {', '.join(sorted(known))}.")
