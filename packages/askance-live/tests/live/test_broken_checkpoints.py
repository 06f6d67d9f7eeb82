"""A checkpoint saves time and nothing else: broken in whatever way, the start tells, and makes the same model."""

import hashlib
import json
import subprocess
import sys
import zlib
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.live.in_process import create_store, label, opened, running_engine, send

from askance_live.clock import Clock
from askance_live.config import Config, is_postgres
from askance_live.doctor import examine_rest, examine_store
from askance_live.engine.checkpoints import checkpoints, pack, unpack
from askance_live.engine.state import EngineState


class Made(NamedTuple):
    """A store for the tests."""

    config: Config
    digest: str
    settings: Path


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def made(request, tmp_path_factory):
    """Settings with a store that has three checkpoints, and the model's hash."""
    folder = tmp_path_factory.mktemp("checkpoints")
    place = request.getfixturevalue("postgres").new_database() if request.param == "postgres" else None
    config = create_store(folder, place, server={"checkpoint_every": 20}, model={"algorithm": "SOAL-diag"})
    with running_engine(config) as engine:
        for first in range(0, 100, 20):
            send(engine, *(f"e{number}" for number in range(first, first + 20)))
            label(engine, f"e{first}", first // 20 % 2)
    with opened(config) as database, database.read() as session:
        assert len(checkpoints(session)) == 3
        state = EngineState(config, Clock())
        state.load(session)
    return Made(config, state.learner.digest(), folder / "askance.toml")


def change(config, sql, values=()):
    with opened(config) as database, database.write() as session:
        assert session.execute(sql, values)


@pytest.fixture
def kept(made):
    """The checkpoints as they were, again after the test."""
    config = made.config
    with opened(config) as database, database.read() as session:
        rows = session.all("SELECT seq, n, digest, created, content FROM checkpoints ORDER BY seq")
    yield rows
    with opened(config) as database, database.write() as session:
        session.execute("DROP TABLE checkpoints")
        session.execute(
            "CREATE TABLE checkpoints (seq {BIG} PRIMARY KEY, n {BIG} NOT NULL, digest TEXT NOT NULL, "
            "created {REAL} NOT NULL, content {BYTES} NOT NULL)".format(**database.words)
        )
        session.many("INSERT INTO checkpoints (seq, n, digest, created, content) VALUES (?, ?, ?, ?, ?)", rows)


def loaded(config):
    """The state as a start reads it, and the checkpoint it began with."""
    with opened(config) as database, database.read() as session:
        state = EngineState(config, Clock())
        state.load(session)
    return state


def with_digest(content):
    return pack(content), hashlib.sha256(content).hexdigest()


def flipped(packed, place):
    broken = bytearray(packed)
    broken[place] ^= 0x10
    return bytes(broken)


def described(content, without=(), **changes):
    """A dump with another description."""
    length = int.from_bytes(content[:8], "big")
    document = {**json.loads(content[8 : 8 + length]), **changes}
    document = {name: value for name, value in document.items() if name not in without}
    head = json.dumps(document, sort_keys=True).encode()
    return len(head).to_bytes(8, "big") + head + content[8 + length :]


BROKEN = {
    "empty": lambda packed: (b"", None),
    "cut short": lambda packed: (packed[: len(packed) // 2], None),
    "without its last byte": lambda packed: (packed[:-1], None),
    "a bit flipped at the front": lambda packed: (flipped(packed, 0), None),
    "a bit flipped in what is compressed": lambda packed: (flipped(packed, 100), None),
    "a bit flipped in the description": lambda packed: (pack(flipped(zlib.decompress(packed), 100)), None),
    "a bit flipped in a weight": lambda packed: (pack(flipped(zlib.decompress(packed), -20_000)), None),
    "another hash": lambda packed: (packed, "0" * 64),
    "an empty hash": lambda packed: (packed, ""),
    "not compressed": lambda packed: (zlib.decompress(packed), None),
    "of another compression": lambda packed: (b"\x1f\x8b\x08" + packed, None),
    "another format": lambda packed: with_digest(described(zlib.decompress(packed), format=3)),
    "other settings": lambda packed: with_digest(described(zlib.decompress(packed), model="{}")),
    "another number of answers": lambda packed: with_digest(described(zlib.decompress(packed), version=77)),
    "a description that is a list": lambda packed: with_digest((2).to_bytes(8, "big") + b"[]" + b"x" * 100),
    "nested deeply": lambda packed: with_digest((10**6).to_bytes(8, "big") + b"[" * 10**6),
    "no model": lambda packed: with_digest(zlib.decompress(packed)[:-100]),
    "another model": lambda packed: with_digest(zlib.decompress(packed) + b"more"),
    "nothing but zeros": lambda packed: with_digest(bytes(1000)),
}


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("which", ["the newest", "all"])
def test_a_broken_checkpoint_is_told_and_the_same_model_comes_of_an_older_one_or_of_the_log(
    made, kept, kind, which, caplog
):
    config, digest, _ = made
    for seq, _, before, _, packed in kept[-1:] if which == "the newest" else kept:
        content, hashed = BROKEN[kind](bytes(packed))
        change(
            config,
            "UPDATE checkpoints SET content = ?, digest = ? WHERE seq = ?",
            (content, before if hashed is None else hashed, seq),
        )
    state = loaded(config)
    assert state.learner.digest() == digest
    assert state.checkpoint == (kept[-2][0] if which == "the newest" else 0)
    assert caplog.text.count("is not used") == (1 if which == "the newest" else 3)
    assert f"checkpoint {kept[-1][0]} is not used" in caplog.text


def test_what_a_checkpoint_of_format_4_lacks_is_found_in_the_log(made, kept, caplog):
    config, digest, _ = made
    before = loaded(config).learner
    older = described(zlib.decompress(bytes(kept[-1][4])), without=("time", "asked_in"), format=4)
    change(config, "UPDATE checkpoints SET content = ?, digest = ? WHERE seq = ?", (*with_digest(older), kept[-1][0]))
    state = loaded(config)
    assert state.checkpoint == kept[-1][0]
    assert not caplog.text
    assert (state.learner.digest(), state.learner.time) == (digest, before.time)
    assert state.learner.asked_in == before.asked_in


TYPES = {
    "text": ("'some text'", "TEXT USING 'some text'"),
    "bytes called text": ("CAST(content AS TEXT)", "TEXT USING encode(content, 'escape')"),
    "a whole number": ("5", "BIGINT USING 5"),
    "a number": ("2.5", "DOUBLE PRECISION USING 2.5"),
    "null": ("NULL", "BYTEA USING NULL"),
}


@pytest.mark.parametrize("kind", TYPES)
def test_a_checkpoint_of_another_type_is_told_and_the_log_gives_the_same_model(made, kept, kind, caplog):
    config, digest, _ = made
    on_sqlite, on_postgres = TYPES[kind]
    with opened(config) as database, database.write() as session:
        if is_postgres(config.store):
            session.execute("ALTER TABLE checkpoints ALTER content DROP NOT NULL")
            session.execute(f"ALTER TABLE checkpoints ALTER content TYPE {on_postgres}")
        else:
            session.execute("ALTER TABLE checkpoints RENAME TO other")
            session.execute("CREATE TABLE checkpoints (seq INTEGER PRIMARY KEY, n, digest, created, content)")
            session.execute(f"INSERT INTO checkpoints SELECT seq, n, digest, created, {on_sqlite} FROM other")
            session.execute("DROP TABLE other")
    state = loaded(config)
    assert state.learner.digest() == digest
    assert caplog.text.count("is not used") == 3
    with opened(config) as database:
        assert examine_store(database, config, deep=True) == []
        assert [sentence.partition(" is damaged")[0] for sentence in examine_rest(database, config)] == [
            f"the checkpoint at {row[0]}" for row in reversed(kept)
        ]


def test_a_checkpoint_of_a_later_moment_than_the_log_is_left_out_and_removed(made, kept, caplog):
    config, digest, _ = made
    seq, n, hashed, created, packed = kept[-1]
    change(
        config,
        "INSERT INTO checkpoints (seq, n, digest, created, content) VALUES (?, ?, ?, ?, ?)",
        (seq + 1000, n, hashed, created, packed),
    )
    with running_engine(config):
        pass
    assert f"checkpoint {seq + 1000} is not used" in caplog.text
    with opened(config) as database, database.read() as session:
        assert checkpoints(session)[0] == seq
    assert loaded(config).learner.digest() == digest


LOAD_TWICE = """
import resource, sys
from pathlib import Path
from askance_live.clock import Clock
from askance_live.config import load
from askance_live.engine.state import EngineState
from askance_live.store import open_store

config = load(sys.argv[1])
database = open_store(config.store)

def load_state():
    with database.read() as session:
        state = EngineState(config, Clock())
        state.load(session)
    return state.learner.digest()

load_state()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with database.write() as session:
    values = Path(sys.argv[2]).read_bytes(), int(sys.argv[3])
    session.execute("UPDATE checkpoints SET content = ? WHERE seq = ?", values)
print(load_state(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("where", ["the description", "the name of a field", "the model"])
def test_a_checkpoint_that_decompresses_to_100_megabytes_takes_no_memory(made, kept, where, tmp_path):
    content, size = zlib.decompress(bytes(kept[-1][4])), 100_000_000
    length = int.from_bytes(content[:8], "big")
    begun = {
        "the description": size.to_bytes(8, "big"),
        "the name of a field": (5_000_000).to_bytes(8, "big") + b'{"features": {"fields": [["',
        "the model": content[: 8 + length],
    }[where]
    deflate = zlib.compressobj(1)
    packed = deflate.compress(begun)
    for _ in range(size // 10_000_000):
        packed += deflate.compress(bytes(10_000_000))
    bomb = tmp_path / "packed"
    bomb.write_bytes(packed + deflate.flush())
    assert bomb.stat().st_size < 1_000_000
    done = subprocess.run(
        [sys.executable, "-c", LOAD_TWICE, str(made.settings), str(bomb), str(kept[-1][0])],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found, grown = done.stdout.split()
    assert found == made.digest
    assert "is not used" in done.stderr
    assert int(grown) < 60_000  # kilobytes


def test_what_was_packed_is_unpacked(made):
    config = made.config
    content = loaded(config).learner.dump()
    assert unpack(pack(content), config.model, config.server.fields) == content
