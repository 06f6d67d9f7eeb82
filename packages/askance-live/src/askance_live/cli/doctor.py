"""``askance doctor``: what is wrong with the settings or the store, and what to do about it."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from askance.cli.command import Command
from askance.plural import format_count
from askance_live.cli.live import add_config, open_stores, read_config

if TYPE_CHECKING:
    from askance_live.config import Config


def configure(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument(
        "--deep", action="store_true", help="also replay the log and compare the model with the checkpoint's"
    )


def run(options: argparse.Namespace) -> int:
    config = read_config(options)
    unsound, rest = examine(config, config.store, options.deep)
    findings = unsound + rest + examine_surroundings(config)
    for sentence in findings:
        print(f"problem: {sentence}")
    for sentence in remark(config):
        print(f"note: {sentence}")
    print(f"{format_count(len(findings), 'problem')}." if findings else "All is well.")
    return 2 if findings else 0


def examine(config: Config, place: str, deep: bool) -> tuple[list[str], list[str]]:
    """What is wrong with a store, in sentences: what makes it unsound, and the rest."""
    from askance_live.doctor import examine_rest, examine_store
    from askance_live.store import open_store

    database = open_store(place)
    try:
        return examine_store(database, config, deep), examine_rest(database, config)
    finally:
        database.close()


def examine_surroundings(config: Config) -> list[str]:
    """What is wrong with the way to the service, and with what it speaks to: TLS, proxies, webhooks, logins, mail."""
    from askance_live.access.mail import examine_mail
    from askance_live.access.oidc import examine_oidc
    from askance_live.http.proxies import examine_way
    from askance_live.webhooks.settings import examine_webhooks

    server = config.server
    return [
        *examine_certificate(config),
        *examine_way(server.host, server.public_url, server.trusted_proxies, bool(server.tls_cert)),
        *examine_webhooks(config.webhooks),
        *examine_oidc(config.oidc),
        *examine_mail(config.mail),
    ]


def examine_certificate(config: Config) -> list[str]:
    """What is wrong with the certificate of a service that speaks TLS, in sentences."""
    from askance_live.http.tls import examine_tls
    from askance_live.server import tls_files

    files = tls_files(config.server)
    return [] if files is None else examine_tls(files, time.time())


def remark(config: Config) -> list[str]:
    """What is worth knowing of a store, in sentences."""
    from askance_live.doctor import remark_on_store

    with open_stores(config) as database:
        return remark_on_store(database)


command = Command(
    name="doctor",
    summary="check the settings and the store of the live service",
    description="Check settings, store, log and checkpoint, and what the service speaks to: TLS,\n"
    "proxies, webhooks, a company's login, mail. Says what to do about what is wrong.",
    epilog="examples:\n  askance doctor\n  askance doctor --deep\n",
    configure=configure,
    run=run,
)
