"""A store and an engine within the test's own process, for what needs no HTTP."""

import threading
from contextlib import contextmanager

from tests.live.running import Running
from tests.patience import PATIENCE

from askance_live.config import from_document, load
from askance_live.engine.state import first_rows
from askance_live.engine.thread import Engine
from askance_live.exchange.received import read_event
from askance_live.questions.labels import give_label
from askance_live.store import open_store


def create_store(folder, store=None, **options):
    """Make settings and a store; the settings, read."""
    made = Running(folder, store=store, **options).create()
    return load(made.config)


@contextmanager
def running_engine(config, clock=None):
    """An engine that works on a store until the block ends."""
    engine = Engine(open_store(config.store), config, clock)
    try:
        engine.start()
        yield engine
    finally:
        engine.stop()


@contextmanager
def new_engine(folder, settings=None, **server):
    """An engine on a new store, with the fewest settings and those that are given, mostly of the server."""
    config = from_document({
        "classes": ["ham", "spam"],
        "store": str(folder / "askance.db"),
        "queue": {"learn_after": 0.0},
        "model": {"hash_bits": 12},
        "server": {"disk_reserve": 0, **server},
        **(settings or {}),
    })  # fmt: skip
    database = open_store(config.store, create=True)
    with database.write() as session:
        first_rows(session, config)
    database.close()
    with running_engine(config) as engine:
        yield engine


def hold_writer(engine):
    """Keep the writer from its work, so that others wait together; setting what is returned lets it go on."""
    begun, let_go = threading.Event(), threading.Event()

    def hold(session, state):
        begun.set()
        assert let_go.wait(PATIENCE)

    engine.submit(hold)
    assert begun.wait(PATIENCE)
    return let_go


@contextmanager
def opened(config):
    """The store itself, while no engine works on it."""
    database = open_store(config.store)
    try:
        yield database
    finally:
        database.close()


def send(engine, *identifiers):
    """Events, as the service's client sends them; what was said of each."""
    items = [
        read_event({"id": name, "fields": {"text": f"hello {name}", "size": len(name)}}, 10_000) for name in identifiers
    ]
    return engine.ingest(items).result(PATIENCE)


def label(engine, event, place):
    """A label by event."""
    return engine.submit(lambda session, state: give_label(session, state, "test", event, place, None, False)).result(
        PATIENCE
    )
