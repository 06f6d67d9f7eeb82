"""Schema migrations: from every schema that was ever written, and killed at every place in the middle."""

import hashlib
import json
import random
import signal
import sqlite3
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from tests.live.migrating import LATER
from tests.live.running import Running, postgres_is_proven
from tests.patience import PATIENCE, wait_until

from askance_live.config import is_postgres
from askance_live.store import schema
from askance_live.store.sqlite import SqliteDatabase

KEPT = Path(__file__).with_name("schemas")  # what a store of each schema held, as JSON
BEFORE = range(1, len(schema.MIGRATIONS))
KEPT_TABLES = ("events", "asks", "answers", "learned", "settings")


def kept(version):
    path = KEPT / f"{version}.json"
    assert path.exists(), (
        f"{path.name} is missing: 'python -m tests.keep schema' writes it, before there is a new migration"
    )
    return json.loads(path.read_text())


class Raw:
    """A store without our code around it."""

    def __init__(self, place):
        self.place = place

    def connect(self):
        if not is_postgres(self.place):
            return closing(sqlite3.connect(self.place, isolation_level=None))
        import psycopg

        return psycopg.connect(self.place, autocommit=True)

    def all(self, sql):
        with self.connect() as connection:
            return [tuple(row) for row in connection.execute(sql).fetchall()]

    def version(self):
        return int(self.all("SELECT value FROM meta WHERE name = 'schema'")[0][0])

    def columns(self, table):
        with self.connect() as connection:
            return [column[0] for column in connection.execute(f"SELECT * FROM {table} LIMIT 0").description]

    def fill(self, version, tables):
        """A store of a schema, with these rows."""
        if is_postgres(self.place):
            from askance_live.store.postgres import PostgresDatabase

            words, mark = PostgresDatabase.words, "%s"
        else:
            words, mark = SqliteDatabase.words, "?"
            Path(self.place).touch(0o600)
        with self.connect() as connection:
            connection.execute("BEGIN")
            for migration in schema.MIGRATIONS[:version]:
                for statement in schema.statements(migration, words):
                    connection.execute(statement)
            for name, table in tables.items():
                marks = ", ".join([mark] * len(table["columns"]))
                for row in table["rows"]:
                    cells = [bytes.fromhex(cell["hex"]) if isinstance(cell, dict) else cell for cell in row]
                    columns = ", ".join(table["columns"])
                    connection.execute(f"INSERT INTO {name} ({columns}) VALUES ({marks})", cells)
            connection.execute("COMMIT")
        return self

    def build(self, version):
        """A store as an askance of that schema left it."""
        self.fill(version, kept(version)["tables"])
        mark = "%s" if is_postgres(self.place) else "?"
        with self.connect() as connection:
            # As if it was left just now: otherwise the first sweep of a service ends leases and questions.
            ends = f"{mark} - (SELECT max(created) FROM asks)"
            move = f"UPDATE asks SET deadline = deadline + {ends}, expires = expires + {ends}"
            connection.execute(move, [time.time() + PATIENCE] * 2)
        return self

    def content(self, version=1):
        """What was acknowledged: the columns that there were from the beginning."""
        tables = kept(version)["tables"]
        return {
            name: self.all(f"SELECT {', '.join(tables[name]['columns'])} FROM {name} ORDER BY 1")
            for name in KEPT_TABLES
        }


class Later:
    """Another process that opens the store with migrations of its own."""

    def __init__(self, nursery, folder, place, *words):
        self.out, self.err = (Path(tempfile.mkstemp(dir=folder)[1]) for _ in range(2))
        words = [place, *map(str, words)]
        self.child = nursery.start(words, folder, self.out, self.err, module="tests.live.migrating")

    def has_begun(self):
        return self.out.read_text() == "begun\n"

    def end(self):
        """The exit code, and all that it said."""
        return self.child.wait(), self.out.read_text() + self.err.read_text()


@pytest.fixture
def later_askance(nursery, tmp_path):
    return partial(Later, nursery, tmp_path)


@pytest.mark.parametrize("version", BEFORE)
def test_a_released_migration_is_never_edited(version):
    assert hashlib.sha256(schema.MIGRATIONS[version - 1].encode()).hexdigest() == kept(version)["migration"]


@pytest.mark.parametrize("version", BEFORE)
def test_a_store_of_every_earlier_schema_goes_on(tmp_path, nursery, store, version):
    raw = Raw(store).build(version)
    before = raw.content(version)
    service = Running(tmp_path, store=store, nursery=nursery)
    service.config.write_text(service.text)
    service.run("rebuild")  # settings of the model may have other defaults than they had then
    service.start()
    try:
        assert raw.version() == len(schema.MIGRATIONS)
        after = raw.content(version)
        for learned in (before["learned"], after["learned"]):
            learned[:] = [row[:-1] for row in learned]  # the rebuild left out what had been taken back
        assert after == before
        exported = [json.loads(line) for line in service.get("/v1/export.jsonl").text.splitlines()]
        rows = kept(version)["tables"]["events"]["rows"]
        assert [line["id"] for line in exported] == [row[1] for row in rows]
        answers = kept(version)["tables"]["answers"]
        valid = {row[answers["columns"].index("event")] for row in answers["rows"] if "learned" in row}
        assert sum(line["label"] is not None for line in exported) == len(valid)
        assert service.stats()["labels"]["total"] == len(valid)
        # the same answer_id gives the same response for ever, across versions too
        first = kept(version)["tables"]["answers"]["rows"][0]
        body = {"answer_id": first[1], "token": f"{first[4]}.1", "label": json.loads(first[-1])["label"]}
        assert service.post(f"/v1/asks/{first[4]}/answer", body).json() == json.loads(first[-1])
        service.send("new-1")
    finally:
        service.stop()
    assert service.run("doctor", "--deep").stdout == "All is well.\n"


@postgres_is_proven
def test_a_migration_killed_after_any_statement_leaves_whole_tables_and_everything_in_them(later_askance, store):
    raw = Raw(store).build(1)
    before = raw.content()
    latest = len(schema.MIGRATIONS) + len(LATER)
    version, statement, kills = 1, 1, 0
    while version < latest:
        code, said = later_askance(store, statement).end()
        assert code in (0, -signal.SIGKILL), said
        kills += code != 0
        found = raw.version()
        assert raw.content() == before
        assert ("source" in raw.columns("events")) == (found > len(schema.MIGRATIONS))
        assert ("who" in raw.columns("set_aside")) == (found == latest)
        statement = statement + 1 if found == version else 2  # its first statement is where this one was killed
        version = found
    assert kills >= latest + 5
    assert raw.all("SELECT count(*), count(source) FROM events") == [(10, 10)]
    assert raw.all("SELECT seq, name FROM names ORDER BY seq") == [row[:2] for row in before["events"]]
    if not is_postgres(store):
        assert raw.all("PRAGMA integrity_check") == [("ok",)]


def test_a_migration_killed_in_the_middle_of_a_statement_never_happened(later_askance, store):
    raw = Raw(store).build(1)
    before = raw.content()
    rng = random.Random(4)
    for _ in range(3):
        process = later_askance(store, "slow")
        wait_until(process.has_begun, "a process that has begun")
        wait_until(lambda: raw.version() == len(schema.MIGRATIONS), "the migrations before the slow one")
        time.sleep(rng.uniform(0.3, 1.0))
        assert process.child.poll() is None
        process.child.kill()
        process.end()
        assert raw.content() == before
        assert raw.version() == len(schema.MIGRATIONS)
    code, said = later_askance(store).end()  # and a restart does not wait for what died
    assert (code, raw.version()) == (0, len(schema.MIGRATIONS) + len(LATER)), said
    assert raw.content() == before


def test_two_starts_at_once_migrate_once(later_askance, store):
    raw = Raw(store).build(1)
    before = raw.content()
    started = [later_askance(store) for _ in range(4)]
    outcomes = [process.end() for process in started]
    assert 0 in [code for code, _ in outcomes]
    for code, said in outcomes:
        assert code == 0 or (code == 2 and "another askance works on" in said), said
    assert raw.version() == len(schema.MIGRATIONS) + len(LATER)
    assert raw.content() == before


def test_no_migration_under_a_service_that_runs_and_no_start_on_a_newer_schema(make, later_askance, store):
    service = make(store=store)
    service.send("a", "b")
    code, said = later_askance(store).end()
    assert code == 2
    assert "another askance works on" in said
    assert service.send("c")[0]["status"] == 201
    service.kill()  # its last transactions are still in the journal
    assert later_askance(store).end()[0] == 0
    assert Raw(store).all("SELECT id, source FROM events ORDER BY seq") == [(name, "http") for name in "abc"]
    for words in (["serve"], ["rebuild"], ["export"], ["doctor"]):
        done = service.run(*words, check=False)
        assert done.returncode == 2
        assert "newer askance" in done.stderr
        assert "upgrade askance" in done.stderr
