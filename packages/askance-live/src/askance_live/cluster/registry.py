"""The row of a store that says which process owns its model.

It is written in transactions of the owner, which hold the store's lock, and says where fronts reach it. Every takeover
counts the epoch up. The heartbeat is the database's own time, so that no two machines' clocks are compared.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from askance_live.store.database import Session
from askance_live.store.rows import UPSERT_META

NAME = "owner"
HUNG = 6.0  # seconds without a heartbeat after which an owner that still holds the lock is cut off

BEAT = (
    "UPDATE meta SET value = (value::jsonb || jsonb_build_object('backend', ?::int, 'beat', "
    "extract(epoch from clock_timestamp())::float8))::text WHERE name = 'owner' AND (value::jsonb->>'epoch')::int = ?"
)
CUT_OFF = (
    "SELECT pg_terminate_backend((value::jsonb->>'backend')::int) FROM meta WHERE name = 'owner' "
    "AND value::jsonb->>'address' <> '' AND (value::jsonb->>'beat')::float8 < "
    "extract(epoch from clock_timestamp()) - ?::float8 AND EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' "
    "AND granted AND pid = (value::jsonb->>'backend')::int)"
)


class OwnerRow(NamedTuple):
    """Who owns the model of a store."""

    address: str
    """Where it takes calls; empty: it has stepped back."""
    epoch: int
    secret: str
    """What fronts must know; anew with every owner."""
    version: str
    backend: int
    """The process of PostgreSQL that holds the lock for it."""
    beat: float
    """When it was last heard of."""


def read_owner(session: Session) -> OwnerRow | None:
    """The owner, or the last one there was; None where nobody ever took calls."""
    found = session.value("SELECT value FROM meta WHERE name = ?", (NAME,))
    return None if found is None else OwnerRow(**json.loads(found))


def publish_owner(session: Session, address: str, secret: str, version: str) -> int:
    """Become the owner that fronts call; the epoch. In a transaction that holds the lock."""
    before = read_owner(session)
    epoch = 1 if before is None else before.epoch + 1
    backend, beat = session.all("SELECT pg_backend_pid(), extract(epoch from clock_timestamp())::float8")[0]
    row = OwnerRow(address, epoch, secret, version, backend, beat)
    session.execute(UPSERT_META, (NAME, json.dumps(row._asdict())))
    return epoch


def withdraw_owner(session: Session, epoch: int) -> None:
    """Say that nobody takes calls, unless another does by now."""
    row = read_owner(session)
    if row is not None and row.epoch == epoch:
        session.execute(UPSERT_META, (NAME, json.dumps(row._replace(address="", secret="")._asdict())))


def beat(session: Session, epoch: int, backend: int) -> bool:
    """Say that the owner of this epoch is alive; whether it still is the owner."""
    return session.execute(BEAT, (backend, epoch)) > 0


def cut_off_hung(session: Session) -> bool:
    """End the connection of an owner that has the lock and was not heard of for a while; whether there was one.

    A process that was stopped, or whose machine hangs, would keep the lock for ever. It cannot commit any more once its
    connection is gone.
    """
    return bool(session.all(CUT_OFF, (HUNG,)))
