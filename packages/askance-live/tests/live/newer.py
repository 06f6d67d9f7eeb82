"""``askance`` as a later version might be: the first word says what is new in it."""

import sys

import askance
from askance.cli import main as run
from askance_live.cluster import front, gateway, messages
from askance_live.store.schema import MIGRATIONS

PATCH, PROTOCOL, TABLES = "patch", "protocol", "tables"


def main(words=None):
    what, *words = sys.argv[1:] if words is None else words
    askance.__version__ = "9.9.9"
    if what == PROTOCOL:
        for module in (messages, gateway, front):
            module.PROTOCOL += 1
    if what == TABLES:
        MIGRATIONS.append("CREATE TABLE later (number $BIG PRIMARY KEY);")
    return run(words)
