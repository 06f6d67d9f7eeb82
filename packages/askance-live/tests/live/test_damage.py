"""Bytes of the database, of its journal and of its checkpoints are flipped or cut, region by region.

Each time the service says so and refuses to start, or says so and serves the truth, or serves the truth because nobody
needs these bytes. What it never does is to serve something else as if nothing had happened. The truth is all that was
said: events, predictions, answers, what was learned, and the counts of it. The order of the queue and the ends of
leases may be others: whoever asks is asked something else first.
"""

import asyncio
import json
import random
import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from tests.live.faulty import Faults, copy_store
from tests.live.in_process import opened
from tests.live.scripted import Refused, Session

from askance.errors import AskanceError
from askance_live.config import load
from askance_live.doctor import examine_store
from askance_live.engine.rebuild import rebuild_offline
from askance_live.store.log_hash import COLUMNS, LogHash, damaged_tables

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None


class Made:
    """The files of a store, what is served of it, and what became of damaged copies."""

    def __init__(self, folder, is_running):
        self.session = Session(folder, Faults())
        asyncio.run(self.session.play())
        if is_running:  # some more, of which the journal alone knows
            self.session.start()
            asyncio.run(self.session.send(12, 13))
            asyncio.run(self.session.send(14))
            copy_store(self.session.store, folder / "copy.db")
            self.session.stop()
        else:
            copy_store(self.session.store, folder / "copy.db")
        self.files = {name: Path(f"{folder}/copy.db{name}").read_bytes() for name in ("", "-wal")[: 1 + is_running]}
        self.group = Path(f"{self.session.store}.lock").read_bytes()
        self.truth = self.serve(self.files)

    def serve(self, files):
        """What is served of a store with these files."""
        place = self.session.store
        for path in place.parent.glob(f"{place.name}*"):
            path.unlink()
        for name, content in files.items():
            Path(f"{place}{name}").write_bytes(content)
            Path(f"{place}{name}").chmod(0o600)
        Path(f"{place}.lock").write_bytes(self.group)
        self.session.start(tries=1)
        try:
            found = asyncio.run(self.session.look())
        finally:
            self.session.stop()
        return found

    def judge(self, files, caplog):
        """What became of a damaged store; silence is a failure."""
        caplog.clear()
        try:
            found = self.serve(files)
        except (AskanceError, Refused):
            return "refused"
        if found == self.truth:
            return "told, and the truth" if caplog.records else "harmless"
        differing = [name for name in self.truth if found[name] != self.truth[name]]
        assert caplog.records, f"other {differing} served without a word"
        return "told"


@pytest.fixture(scope="module", params=["ended", "killed"])
def made(request):
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Made(Path(folder), request.param == "killed")


def flip(content, first, size):
    """Other bytes from here on, so many."""
    return content[:first] + bytes(byte ^ 0x15 for byte in content[first : first + size]) + content[first + size :]


def sweep(made, caplog, number, sizes):
    """Flip so many regions of each file, wherever there is something; how often what became of it."""
    outcomes = Counter()
    for name, content in made.files.items():
        written = [place for place, byte in enumerate(content) if byte]
        for size in sizes:
            for first in random.Random(size).sample(written, number):
                outcomes[made.judge({**made.files, name: flip(content, first, size)}, caplog)] += 1
    return outcomes


def test_a_store_that_is_whole_serves_the_truth_without_a_word(made, caplog):
    assert made.judge(made.files, caplog) == "harmless"


def test_flipped_bytes_are_found_or_harmless(made, caplog):
    assert sweep(made, caplog, 6, sizes=(1, 16))["refused"]


@pytest.mark.prove
def test_flipped_bytes_anywhere_are_found_or_harmless(made, caplog):
    outcomes = sweep(made, caplog, 25, sizes=(1, 16))
    assert outcomes["refused"] > 10
    assert outcomes["told, and the truth"]


@pytest.mark.parametrize("part", [0.0, 0.2, 0.5, 0.8])
def test_a_file_that_is_cut_is_refused(made, part, caplog):
    for name, content in made.files.items():
        cut = content[: int(part * len(content))]
        assert made.judge({**made.files, name: cut}, caplog) == "refused"


def change(made, sql, *values):
    """The database after a change that no askance made."""
    made.serve(made.files)
    with closing(sqlite3.connect(made.session.store)) as connection, connection:
        assert connection.execute(sql, values).rowcount == 1
    return {"": made.session.store.read_bytes()}


@pytest.mark.parametrize(
    ("sql", "table"),
    [
        ("UPDATE events SET fields = replace(fields, 'prize', 'price') WHERE id = 'e0'", "events"),
        ("UPDATE events SET received = received + 1 WHERE id = 'e1'", "events"),
        ("UPDATE answers SET label = 1 - label WHERE seq = 1", "answers"),
        ("UPDATE answers SET annotator = 'somebody' WHERE seq = 2", "answers"),
        ("UPDATE learned SET weight = weight / 2 WHERE n = 1", "learned"),
        ("UPDATE learned SET left_out = 1 - left_out WHERE n = 2", "learned"),
        ("UPDATE asks SET why = 'audit' WHERE id = 1", "asks"),
        ("DELETE FROM learned WHERE n = 1", "learned"),
        ("DELETE FROM events WHERE id = 'e11'", "events"),
        ("UPDATE settings SET document = replace(document, '0.05', '0.15')", "settings"),
    ],
)
def test_a_changed_row_is_named_by_its_table_and_kept_by_a_rebuild(made, sql, table, caplog):
    files = change(made, sql)
    with pytest.raises(AskanceError, match=f"rows of {table} are not those that were written; restore a backup"):
        made.serve(files)
    config = load(made.session.settings)
    with opened(config) as database:
        assert any(f"rows of {table}" in sentence for sentence in examine_store(database, config))
        if "DELETE" not in sql:
            rebuild_offline(database, config, check=False)
            assert examine_store(database, config) == []


def test_counts_that_are_damaged_are_counted_anew(made, caplog):
    for sql in (
        "UPDATE meta SET value = replace(value, '\"answers\": ', '\"answers\": 1') WHERE name = 'totals'",
        "UPDATE tallies SET n = n + 1 WHERE kind = 'labels'",
    ):
        assert made.judge(change(made, sql), caplog) == "told, and the truth"


def test_an_older_copy_of_the_store_is_not_taken_for_the_present_one(made):
    older = change(made, "UPDATE meta SET value = '1' WHERE name = 'group'")
    with pytest.raises(AskanceError, match="transactions of .* are missing; restore a backup"):
        made.serve(older)
    made.group, known = b"", made.group
    assert made.serve(older) == made.truth
    made.group = known.replace(b" ", b" x")  # of a store that was here before
    assert made.serve(older) == made.truth
    made.group = known


def test_rows_that_an_askance_without_hashes_added_are_taken_up(made):
    files = change(made, "DELETE FROM meta WHERE name = 'log_hash'")
    assert made.serve(files) == made.truth
    change(made, "DELETE FROM meta WHERE name = 'log_hash'")
    made.session.start()
    made.session.stop()
    with opened(load(made.session.settings)) as database, database.read() as session:
        assert damaged_tables(session) == []
        kept = json.loads(session.value("SELECT value FROM meta WHERE name = 'log_hash'"))
        assert kept["events"][2] == session.value("SELECT count(*) FROM events")


def test_a_column_that_a_later_askance_adds_is_no_damage(made, monkeypatch):
    made.serve(made.files)
    config = load(made.session.settings)
    with opened(config) as database, database.write() as session:
        session.execute("ALTER TABLE events ADD COLUMN later TEXT DEFAULT 'x'")
    monkeypatch.setitem(COLUMNS, "events", (*COLUMNS["events"], "later"))
    assert find_damaged_after(config, "UPDATE meta SET value = value") == []
    assert find_damaged_after(config, "UPDATE events SET digest = 'y' WHERE id = 'e0'") == ["events"]
    with opened(config) as database, database.write() as session:
        hashes = LogHash(session.value("SELECT value FROM meta WHERE name = 'log_hash'"))
        hashes.take_up(session)
        session.execute("UPDATE meta SET value = ? WHERE name = 'log_hash'", (hashes.document(),))
    assert find_damaged_after(config, "UPDATE meta SET value = value") == []
    assert find_damaged_after(config, "UPDATE events SET later = 'y' WHERE id = 'e0'") == ["events"]


def find_damaged_after(config, sql):
    with opened(config) as database:
        with database.write() as session:
            session.execute(sql)
        with database.read() as session:
            return damaged_tables(session)
