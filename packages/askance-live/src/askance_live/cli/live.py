"""What the commands of the live service share: the configuration, and the store it names."""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from askance.errors import InvalidParameter
from askance.extras import how_to_install

if TYPE_CHECKING:
    from askance_live.config import Config
    from askance_live.store.database import Database


def add_config(parser: argparse.ArgumentParser) -> None:
    """The options every one of them has."""
    parser.add_argument("--config", default="askance.toml", metavar="FILE", help="the settings (default: askance.toml)")
    parser.add_argument(
        "--store",
        metavar="PLACE",
        help="another store than the settings name: a file, or postgresql://user@host/database",
    )


def need_live_packages() -> None:
    """Say what to install where a part is missing."""
    try:
        import httptools  # noqa: F401
        import jinja2  # noqa: F401
        import msgspec  # noqa: F401
        import prometheus_client  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise InvalidParameter(f"the live service needs {error.name}: {how_to_install('live')}.") from None


def read_config(options: argparse.Namespace, path: str | None = None) -> Config:
    """The settings, of ``--config`` or of another file."""
    need_live_packages()
    from askance_live.config import load

    return load(path or options.config, options.store)


def note_slow_start() -> threading.Timer:
    """Say why nothing happens yet, unless cancelled before."""
    sentence = "Still starting: the first start on a machine compiles, which may take a minute."
    timer = threading.Timer(5.0, lambda: print(sentence, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    return timer


@contextmanager
def open_stores(config: Config) -> Iterator[Database]:
    """The store of the settings."""
    from askance_live.store import open_store

    database = open_store(config.store)
    try:
        yield database
    finally:
        database.close()


@contextmanager
def or_by_http(config: Config, request: str) -> Iterator[None]:
    """Where a service works on the store, say which request does the same."""
    from askance_live.problems import StartError, StoreInUse

    try:
        yield
    except StoreInUse:
        raise StartError(
            f"another askance works on {config.store.rsplit('@')[-1]!r}; stop it first, or send it {request}."
        ) from None
