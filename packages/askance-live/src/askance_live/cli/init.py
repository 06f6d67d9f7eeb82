"""``askance init``: settings with comments, and an empty store."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from askance.atomic import atomic_write
from askance.cli.command import Command
from askance.cli.output import writable
from askance.errors import InvalidParameter
from askance_live.cli.live import add_config, need_live_packages, read_config

if TYPE_CHECKING:
    from askance_live.config import Config

TEMPLATE = """\
# Settings of 'askance serve'. Everything but classes can be left out; what is shown is what holds then, except where it
# says 'for example'.

# name = "..."    # among several streams: its part of the addresses; the name of this file unless given
title = {title}

# The labels there are, two or more, in the order of the keys and buttons. The order may change at any restart. Once
# there are events, 'askance classes' adds and retires labels, or 'askance rebuild' after they were edited here
# (docs/teams.md). Of two, the second in the alphabet is the positive one.
classes = {classes}

# Whether an event has any number of these labels, or none, rather than one (docs/label-sets.md). In a text, such as a
# cell of a CSV file, they stand with a separator between.
{label_sets}
# label_separator = ";"    # for example, with label_sets = true

# Where everything is kept: a file beside this one, or "postgresql://user@host/database".
store = {store}

# What the fields of an event are: "number", "category", "text", "date" (an ISO date, of which weekday and hour are
# learned) or "ignore". Others are guessed by their first values, and become wider where they must.
# For example:
[fields]
# text = "text"
# amount = "number"
# country = "category"

# Once there are events, a change of this section or of the fields takes an 'askance rebuild'.
[model]
# algorithm = "auto"    # needs no tuning; 'askance algorithms' lists the others
# seed = 0
# hash_bits = {hash_bits}        # 2^{hash_bits} columns for words and categories: more tell more apart, and take memory
# ngrams = 2            # of a text, words and pairs of neighbours; 1: words only
# na_values = []        # what counts as missing besides empty values and words such as NA: ["unknown", -999]
{load}

# [model.parameters]
# objective = "accuracy"    # what auto is to be good at; "balanced" or "f1" find more of a rare class, at a price

# How much is asked. May be changed at any restart.
[asking]
{budgets}
# audit = 0.05        # share of the questions that are a random sample, by which the model is judged

[queue]
# lease = "10m"         # how long a question stays with the person who took it
# learn_after = "3s"    # grace for an undo before an answer is learned
# time_to_live = "7d"   # how long a question waits for an answer
# freshness = "1h"      # older questions come later: by this age a question has lost two thirds of its priority
# most_open = 10000     # questions that wait at most; beyond, those with the least priority expire
# park_after = 3        # "unsure" from so many people sets a question aside
# later = "10m"         # when "later" brings a question back to who said it
# answers = 1           # different people who answer each question; what most of them say is learned
# audit_answers = 0     # the same for the random sample; 0: as many as for other questions
# weigh_agreement = false    # whether a consensus moves the model by the share of people who said so

[server]
# host = "127.0.0.1"    # any other address needs a token: 'askance token create'
# port = 8017
# tls_cert = "fullchain.pem"    # for example: the service itself speaks TLS, with this certificate
# tls_key = "privkey.pem"       # for example: and its key; both may be renewed while it runs
# public_url = "https://labels.example.org"    # for example, behind a proxy: the address that people use
# trusted_proxies = ["127.0.0.1"]              # for example: whose X-Forwarded-For is believed

# What it bears; whatever is beyond is refused.
# requests_per_second = 5000     # of one client; 0: any number
# wrong_tokens_per_minute = 10   # of one address; 0: any number. Valid ones are never held up
# concurrency = 256              # requests at the same time
# receipt_seconds = "15s"        # in which a request must have arrived
# body_bytes = 10000000          # of a request
# batch_events = 1000            # of a request
# event_bytes = 256000           # of an event
# json_depth = 32                # objects and lists within each other
# fields = 10000                 # different names of fields that the stream may ever have
# new_fields = 2000              # of these, how many an event may bring that none before had; the first may bring any
# quarantine_events = 10000      # events that cannot be encoded, kept at most
# quarantine_bytes = 100_000_000 # and how large they may be together

# disk_reserve = 32000000        # bytes that stay free on the disk
# lag_limit = "60s"              # /readyz says no when an answer is so long overdue to be learned
# checkpoint_every = 10000       # events and answers after which the model is stored, for a quick start
# checkpoint_seconds = "60s"     # or after this time, if there were any

# Fields of an event that the label page shows as links, images, sound or rich text. The browser fetches images and
# sound, from these hosts alone; the service fetches nothing.
[display]
# links = ["url"]                                  # for example
# images = ["photo"]                               # for example
# image_hosts = ["https://images.example.org"]     # for example
# audio = ["call"]                                 # for example
# audio_hosts = ["https://audio.example.org"]      # for example
# rich_text = ["body"]                             # for example; paragraphs, lists, **bold**, *italic*, `code`, links

# What the label page tells people about the work, on their first visit and by the key I. Blank lines part paragraphs,
# lines that begin with "- " are a list. May be changed at any restart.
[instructions]
# text = "..."

# [instructions.classes.spam]                        # for example
# text = "..."
# examples = ["You won a prize", "Cheap watches"]    # for example

# Addresses that are told what happens, as signed messages. Events are "question.asked", "answer.learned",
# "budget.spent", "drift.alarm" and "disk.low"; "openssl rand -base64 32 > hook.key" makes a key.
# [[webhooks]]                                     # for example; there may be several
# url = "https://hooks.example.org/askance"        # for example
# events = ["budget.spent", "drift.alarm"]         # for example
# secret_file = "hook.key"                         # for example
# private = true    # for example: the address may be in a private network, and without TLS

# Login by a company's OpenID Connect provider; its address for us ends in /login/oidc/callback.
# [oidc]                                           # for example
# issuer = "https://login.example.org"             # for example
# client_id = "askance"                            # for example
# client_secret_file = "oidc.secret"               # for example; left out: PKCE alone protects
# label = "Log in with your company account"       # for example
# scopes = ["openid", "email", "profile"]          # for example
# allowed_domains = ["example.org"]                # for example: of verified email addresses
# groups_claim = "groups"                          # for example
# roles = {{ lead = ["reviewers"], admin = ["ml-ops"] }}    # for example: by role, the groups that have it
# default_role = "annotator"                       # for example: of everybody else; left out: they do not get in

# A mail server that brings invitations and login links to the people whose address is known.
# [mail]                                           # for example
# host = "smtp.example.org"                        # for example
# sender = "Labels <labels@example.org>"           # for example
# port = 587                                       # for example
# security = "starttls"                            # for example; or "tls" (often port 465), or "none" on this machine
# user = "labels"                                  # for example
# password_file = "mail.secret"                    # for example
# ca_file = "company-ca.pem"                       # for example: certificates to trust instead of the machine's
# timeout = 10                                     # for example: seconds

# What the service says on stderr. Of several streams, the first one's settings hold.
[log]
# format = "text"     # or "json", an object a line, for programs
# level = "warning"   # debug, info, warning or error: the least that is said
# requests = false    # true: a line for every request, with its id, status, time, and who sent it
"""


def configure(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument("--classes", metavar="A,B", help="the labels there are, with commas between")
    parser.add_argument(
        "--load", metavar="FILE", help="start from this model, such as one that 'askance run --save' wrote"
    )
    parser.add_argument("--label-sets", action="store_true", help="an event has any number of the labels, or none")
    parser.add_argument("--title", metavar="TEXT", help="what the pages say at the top (default: askance)")


def run(options: argparse.Namespace) -> int:
    need_live_packages()
    path = Path(options.config)
    if path.exists():
        return create_for(path, options)
    if options.classes is None and options.load is None:
        raise InvalidParameter("say which labels there are, such as --classes ham,spam.")
    from askance_live.config import ALGORITHM, default_hash_bits
    from askance_live.problems import StoreExists

    classes = words(options.classes) if options.classes is not None else classes_of(options.load)
    text = TEMPLATE.format(
        title=json.dumps(options.title or "askance", ensure_ascii=False),
        classes=json.dumps(classes, ensure_ascii=False),
        label_sets="label_sets = true" if options.label_sets else "# label_sets = false",
        store=json.dumps(options.store or f"{path.stem}.db", ensure_ascii=False),
        hash_bits=default_hash_bits(ALGORITHM, len(classes), options.label_sets),
        load=load_line(path, options.load),
        budgets="\n".join(example_budgets()),
    )
    try:
        config = create(path, text)
    except StoreExists as error:
        raise InvalidParameter(describe_obstacle(error.place)) from None
    print(f"Wrote {str(path)!r} and {format_store(config.store)}. Next: {next_step(path)}")
    return 0


def classes_of(model: str) -> list[str]:
    """The labels of a saved model."""
    from askance_live.engine.start import read_classes

    return read_classes(Path(model))


def load_line(path: Path, model: str | None) -> str:
    """The setting that names the model to start from."""
    if model is None:
        return '# load = "spam.model"   # for example: start from what run --save wrote, which says all of this'
    place = json.dumps(way_to(path, model), ensure_ascii=False)
    return f"load = {place}    # the model to start from, which says what the others here would"


def way_to(path: Path, model: str) -> str:
    """The name of a model in settings that are at ``path``."""
    return model if os.path.isabs(model) else os.path.relpath(model, path.parent)


def example_budgets() -> Iterator[str]:
    """A line of the settings for each kind of budget."""
    from askance.learner.budget_kinds import BUDGET_KINDS

    for name, kind in BUDGET_KINDS.items():
        value, meaning = kind.example.split("  # ")
        yield f"# {name} = {value}".ljust(22) + f"# {meaning}"


def create_for(path: Path, options: argparse.Namespace) -> int:
    """Settings that exist get the store they name, where that is missing."""
    from askance_live.problems import StoreExists

    config = read_config(options)
    if options.classes is not None and sorted(words(options.classes)) != config.model.classes:
        raise InvalidParameter(
            f"{str(path)!r} exists already and names other classes; leave --classes out to create the store of that "
            "file, or choose another name with --config."
        )
    if options.label_sets and not config.model.label_sets:
        raise InvalidParameter(f"{str(path)!r} exists already; say label_sets = true there.")
    if options.load is not None and way_to(path, options.load) != config.model.load:
        raise InvalidParameter(f"{str(path)!r} exists already; name the model there, as load in the section [model].")
    if options.title not in (None, config.title):
        raise InvalidParameter(f"{str(path)!r} exists already with another title; change it in that file.")
    try:
        create_store(config)
    except StoreExists:
        from askance_live.store import describe_store

        found = describe_store(config.store)
        if found is None or (found.has_events and sorted(found.classes) != config.model.classes):
            raise InvalidParameter(
                f"{str(path)!r} names a store that is taken: {describe_obstacle(config.store)}"
            ) from None
        raise InvalidParameter(
            f"{str(path)!r} exists already, and so does its store, {format_store(config.store)}; go on with "
            f"'{next_step(path)}', or choose another name with --config."
        ) from None
    print(f"{str(path)!r} exists already; created {format_store(config.store)} for it. Next: {next_step(path)}")
    return 0


def describe_obstacle(store: str) -> str:
    """What is in the way of a new store, and where else it could be."""
    from askance_live.store import describe_store

    found = describe_store(store)
    what = found.sentence() if found is not None else "something else, no store of askance"
    return (
        f"{format_store(store)} is {what}; give this stream a store of its own with --store, a name of its own with "
        "--config NAME.toml, which keeps its events in NAME.db, or a folder of its own."
    )


def words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def format_store(store: str) -> str:
    from askance_live.config import is_postgres

    return "the tables in " + store.rsplit("@")[-1] if is_postgres(store) else repr(store)


def next_step(path: Path) -> str:
    return "askance serve" if str(path) == "askance.toml" else f"askance serve --config {path}"


def create(path: Path, text: str) -> Config:
    """Write the settings and create the store; neither is left behind if the other fails."""
    import tomllib

    from askance_live.config import from_document

    config = from_document(tomllib.loads(text), path.parent)
    with writable(path), atomic_write(path) as name:
        Path(name).write_text(text, "utf-8")
        Path(name).chmod(0o600)
        create_store(config)
    return config


def create_store(config: Config) -> None:
    """A store without events."""
    from askance_live.engine.start import start_from_file
    from askance_live.engine.state import first_rows
    from askance_live.store import new_store

    start = start_from_file(config)
    with new_store(config.store) as session:
        first_rows(session, config, start)


command = Command(
    name="init",
    summary="write settings and an empty store for the live service",
    description="Write askance.toml, with every setting explained, and create the store it names.\n"
    "Where the file exists, create only the store, if it is missing.",
    epilog="examples:\n  askance init --classes ham,spam\n  askance init --config mine.toml\n"
    "  askance init --load spam.model\n"
    "  askance init --classes ok,fraud --store postgresql://askance@db/askance\n",
    configure=configure,
    run=run,
)
