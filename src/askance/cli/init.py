"""``askance init``: settings with comments, and an empty store."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from askance.cli.command import Command
from askance.cli.live import add_config
from askance.errors import InvalidParameter

TEMPLATE = """\
# Settings of 'askance serve'. Everything but classes can be left out; what is shown is what holds then.

# name = "..."    # among several streams: its part of the addresses; the name of this file unless given
title = {title}

# The labels there are, two or more. Of two, the second in the alphabet is the positive one.
classes = {classes}

# Where everything is kept: a file beside this one, or "postgresql://user@host/database".
store = {store}

# What the fields of an event are: "number", "category", "text" or "ignore". Others are guessed by their first value.
[fields]
# text = "text"
# amount = "number"
# country = "category"

# Changing this section, classes or fields takes an 'askance rebuild'.
[model]
# algorithm = "auto"    # needs no tuning; 'askance algorithms' lists the others
# seed = 0

# [model.parameters]
# objective = "balanced"    # what auto is to be good at: the mean recall of the classes, or "accuracy", or "f1"

# How much is asked. May be changed at any restart.
[asking]
# rate = 0.05         # share of the events that are asked about
# audit = 0.05        # share of the questions that are a random sample, by which the model is judged
# per_hour = 60       # questions, at most
# per_day = 500
# total = 10000

[queue]
# lease = "10m"         # how long a question stays with the person who took it
# learn_after = "3s"    # grace for an undo before an answer is learned
# time_to_live = "7d"   # how long a question waits for an answer
# freshness = "1h"      # older questions come later: by this age a question has lost two thirds of its priority
# most_open = 10000

[server]
# host = "127.0.0.1"    # any other address needs a token: 'askance token create'
# port = 8017
# requests_per_second = 5000     # of one client
# concurrency = 256
# disk_reserve = 32000000        # bytes that stay free
"""


def configure(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument("--classes", required=True, metavar="A,B", help="the labels there are, with commas between")
    parser.add_argument("--title", default="askance", metavar="TEXT", help="what the pages say at the top")


def run(options: argparse.Namespace) -> int:
    from askance.live.config import is_postgres

    classes = [word.strip() for word in options.classes.split(",") if word.strip()]
    path = Path(options.config)
    if path.exists():
        raise InvalidParameter(f"{str(path)!r} exists already; choose another name with --config, or remove it.")
    store = options.store or "askance.db"
    text = TEMPLATE.format(
        title=json.dumps(options.title, ensure_ascii=False),
        classes=json.dumps(classes, ensure_ascii=False),
        store=json.dumps(store, ensure_ascii=False),
    )
    create(path, text)
    where = "the tables in " + store.rsplit("@")[-1] if is_postgres(store) else repr(str(path.parent / store))
    print(f"Wrote {str(path)!r} and {where}. Next: askance serve --config {path}")
    return 0


def create(path: Path, text: str) -> None:
    """Write the settings and create the store; neither is left behind if the other fails."""
    import tomllib

    from askance.live.config import from_document
    from askance.live.state import first_rows
    from askance.live.store import open_store

    config = from_document(tomllib.loads(text), path.parent)
    database = open_store(config.store, create=True)
    try:
        with database.write() as session:
            first_rows(session, config)
    finally:
        database.close()
    path.write_text(text, "utf-8")
    path.chmod(0o600)


command = Command(
    name="init",
    summary="write settings and an empty store for the live service",
    description="Write askance.toml, with every setting explained, and create the store it names.",
    epilog="examples:\n  askance init --classes ham,spam\n"
    "  askance init --classes ok,fraud --store postgresql://askance@db/askance\n",
    configure=configure,
    run=run,
)
