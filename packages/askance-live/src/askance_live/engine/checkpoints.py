"""Checkpoints: the model at some entry of the log, compressed, with a hash of its content.

They save time and nothing else: whatever is wrong with one, an older one or the log alone gives the same model, bit for
bit. So one that cannot be used is told and left out. What it decompresses to is bounded before it is in memory, by the
settings and by what it says of its own features.

At the sequence number 0 stands no checkpoint but the file that the model starts from, where the settings name one
(``askance_live.engine.start``): it is nowhere else once the file is gone, so that a store with a damaged one does not
start.
"""

from __future__ import annotations

import hashlib
import json
import logging
import zlib
from math import inf
from typing import Any

from askance.data.encoding.rows import RowFeatures
from askance_live.config import AskingSettings, Config, ModelSettings
from askance_live.engine.learner import Learner, learner_kind
from askance_live.engine.start import MOST_BYTES, Start, start_from
from askance_live.problems import StartError
from askance_live.store.database import Session
from askance_live.store.rows import insert
from askance_live.store.schema import CheckpointRow

INSERT_CHECKPOINT = insert(CheckpointRow)
KEPT = 3
DESCRIPTION, PER_FIELD = 8_000_000, 1_000  # bytes, at most, of what stands before the model, and for each field
WORDS_ALIKE = "words_alike"
"""The name of what a store says of itself if it began when words meant the same wherever events come from (see
``RowFeatures.reads_words_alike``); the log of one that does not say so is played as it was."""
log = logging.getLogger("askance")


class OtherSettings(ValueError):
    """A checkpoint of a model with other settings, which may be sound."""


def newest_checkpoint(session: Session, config: Config, last: int) -> tuple[Learner, int]:
    """The newest usable checkpoint of a log that ends with the entry ``last``, and its sequence number; or a model that
    knows nothing and 0."""
    start = stored_start(session, config)
    for seq in checkpoints(session):
        try:
            return _load(session, seq, config, last, start), seq
        except ValueError as error:
            log.warning("checkpoint %s is not used, so that more of the log is read again: %s", seq, error)
    return fresh_learner(session, config, start), 0


def fresh_learner(session: Session, config: Config, start: Start | None = None) -> Learner:
    """A model to play the log of this store with: one that knows nothing, or that which the store starts from, which is
    read from there unless it is given."""
    start = start or stored_start(session, config)
    learner = learner_kind(config.model)(config.model, AskingSettings(), config.server.fields, start)
    if start is not None:
        return learner
    found = session.value("SELECT value FROM meta WHERE name = ?", (WORDS_ALIKE,))
    learner.features.reads_words_alike = found is not None
    return learner


def checkpoints(session: Session) -> list[int]:
    """The sequence numbers of those that there are, newest first."""
    return [int(row[0]) for row in session.all("SELECT seq FROM checkpoints WHERE seq > 0 ORDER BY seq DESC")]


def remove_checkpoints(session: Session) -> None:
    """Forget all of them; the model that the store starts from is none of them."""
    session.execute("DELETE FROM checkpoints WHERE seq > 0")


def read_checkpoint(session: Session, seq: int, config: Config, start: Start | None) -> bytes:
    """The content of a checkpoint, once type, size and hash are found right; a ValueError says what is wrong."""
    digest, packed = _row(session, seq)
    content = unpack(packed, config.model, config.server.fields, start)
    if hashlib.sha256(content).hexdigest() != digest:
        raise ValueError("its hash differs")
    return content


def _row(session: Session, seq: int) -> tuple[str, bytes]:
    """The hash and the compressed content at a place."""
    session.execute("SAVEPOINT checkpoint")
    try:
        ((digest, packed),) = session.all("SELECT digest, content FROM checkpoints WHERE seq = ?", (seq,))
    except Exception as error:  # such as text that is none
        session.execute("ROLLBACK TO SAVEPOINT checkpoint")  # which fails if it is the connection that is gone
        raise ValueError(f"it cannot be read ({str(error).rstrip('.')})") from None
    session.execute("RELEASE SAVEPOINT checkpoint")
    if not isinstance(packed, bytes | bytearray | memoryview):
        raise ValueError(f"its content is stored as {type(packed).__name__} where bytes belong")
    return digest, bytes(packed)


def _load(session: Session, seq: int, config: Config, last: int, start: Start | None) -> Learner:
    if seq > last:
        raise ValueError(f"the log ends before it, at {last}")
    content = read_checkpoint(session, seq, config, start)
    try:
        learner = learner_kind(config.model).load(content, config.model, config.server.fields, start)
    except Exception as error:  # damaged before it was stored, or of another version
        raise ValueError(str(error).rstrip(".") or type(error).__name__) from None
    if learner.time == -inf:
        _find_times(session, learner, seq)
    learned = session.value("SELECT n FROM learned WHERE seq <= ? ORDER BY seq DESC LIMIT 1", (seq,)) or 0
    if learner.version != learned:
        raise ValueError(f"it has learned {learner.version} answers where the log has {learned}")
    return learner


def _find_times(session: Session, learner: Learner, seq: int) -> None:
    """Find in the log what a checkpoint of format 4 lacks: when the last event came, and what was asked when."""
    for (received,) in session.all("SELECT received FROM events WHERE seq <= ? AND asked > 0 ORDER BY seq", (seq,)):
        learner.time = received
        learner.count_asked()
    last = session.value("SELECT max(received) FROM events WHERE seq <= ?", (seq,))
    learner.time = -inf if last is None else last


def save_checkpoint(session: Session, learner: Learner, seq: int, n: int, now: float) -> None:
    """Keep the model as it is after the log's entry ``seq``, its last."""
    content = learner.dump()
    digest = hashlib.sha256(content).hexdigest()
    session.execute("DELETE FROM checkpoints WHERE seq >= ?", (seq,))
    session.execute(INSERT_CHECKPOINT, CheckpointRow(seq, n, digest, now, pack(content)))
    session.execute(
        "DELETE FROM checkpoints WHERE seq > 0 AND seq NOT IN (SELECT seq FROM checkpoints ORDER BY seq DESC LIMIT ?)",
        (KEPT,),
    )


# --- the model that a store starts from ----------------------------------------------------------------------


def keep_start(session: Session, start: Start | None, now: float) -> None:
    """Keep the content of the file that a store starts from, in the place of another; or nothing."""
    session.execute("DELETE FROM checkpoints WHERE seq = 0")
    if start is not None:
        session.execute(INSERT_CHECKPOINT, CheckpointRow(0, 0, start.digest, now, pack(start.content)))


def stored_start(session: Session, config: Config) -> Start | None:
    """The model that a store starts from; None if it is one that knows nothing."""
    if not config.model.load:
        return None
    try:
        if start_digest(session) is None:
            raise ValueError("it is not in the store")
        digest, packed = _row(session, 0)
        content = Unpacking(packed).rest(MOST_BYTES)
        if hashlib.sha256(content).hexdigest() != digest:
            raise ValueError("its hash differs")
    except ValueError as error:
        raise StartError(
            f"the model that the store starts from ({config.model.load!r}) cannot be used: {str(error).rstrip('.')}; "
            "restore a backup."
        ) from None
    return start_from(content, config.model)


def start_digest(session: Session) -> str | None:
    """The hash of the file that a store starts from, if there is one."""
    found: str | None = session.value("SELECT digest FROM checkpoints WHERE seq = 0")
    return found


# --- compressed, and bounded ---------------------------------------------------------------------------------


def pack(content: bytes) -> bytes:
    """A dump, smaller: most weights are zero."""
    return zlib.compress(content, 1)


def unpack(packed: bytes, model: ModelSettings, most_fields: int, start: Start | None = None) -> bytes:
    """What ``pack`` was given, unless it is longer than a model with these settings can be."""
    content = Unpacking(packed)
    prefix = content.take(8)
    length = int.from_bytes(prefix, "big")
    if length > DESCRIPTION + PER_FIELD * most_fields:
        raise ValueError(f"its description is said to have {length:,} bytes")
    description = content.take(length)
    width = _width(description, model.hash_bits if start is None else start.hash_bits, most_fields)
    return b"".join((prefix, description, content.rest(learner_kind(model).most_bytes(model, width, start))))


def _width(description: bytes, hash_bits: int, most_fields: int) -> int:
    """How many columns the features have that a checkpoint describes."""
    try:
        features: dict[str, Any] = json.loads(description)["features"]
        if len(features["fields"]) > most_fields:
            raise ValueError(f"it has {len(features['fields']):,} fields, where at most {most_fields:,} may be")
        if features["hash_bits"] != hash_bits:
            raise OtherSettings("it belongs to other settings")
        return RowFeatures.from_dict(features).encoder.width
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"its description cannot be read ({type(error).__name__})") from None


class Unpacking:
    """Compressed bytes, decompressed piece by piece."""

    def __init__(self, packed: bytes) -> None:
        self._inflate = zlib.decompressobj()
        self._packed = packed

    def take(self, length: int) -> bytes:
        """The next so many bytes."""
        found = self._next(length)
        if len(found) < length:
            raise ValueError("it is cut off")
        return found

    def rest(self, most: int) -> bytes:
        """All that is left, at most so many bytes."""
        found = self._next(most + 1)
        if len(found) > most:
            raise ValueError(f"its model has more than the {most:,} bytes that one with these settings can have")
        if not self._inflate.eof:
            raise ValueError("it is cut off")
        return found

    def _next(self, most: int) -> bytes:
        pieces, size = [], 0
        try:
            while size < most and not self._inflate.eof:
                piece = self._inflate.decompress(self._packed, most - size)
                self._packed = self._inflate.unconsumed_tail
                if not piece and not self._packed:
                    break
                pieces.append(piece)
                size += len(piece)
        except zlib.error as error:
            raise ValueError(f"it cannot be decompressed ({error})") from None
        return b"".join(pieces)
