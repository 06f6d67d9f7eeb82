import os
import shutil
import subprocess
import tempfile
import uuid
from pathlib import Path

import pytest

pytest.importorskip("msgspec", reason="the live service is not installed: pip install ./packages/askance-live")

from tests.live.nursery import Nursery
from tests.live.running import Running


def find_postgres():
    """The folder with PostgreSQL's own programs, newest first, or None."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("pg_ctl")
    folders += [Path(found).parent] if found else []
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


class Postgres:
    """A PostgreSQL of our own, in a temporary folder, as a user who may run it."""

    def __init__(self, programs, folder):
        self.programs, self.folder = programs, Path(folder)
        self.data = self.folder / "data"
        self.user = "postgres" if os.getuid() == 0 else None
        if self.user:
            shutil.chown(self.folder, self.user)
            self.folder.chmod(0o755)
        self.call("initdb", "-D", str(self.data), "-A", "trust", "-U", "askance", "--no-sync", "-E", "UTF8")
        self.start()

    def call(self, program, *words, check=True):
        options = {"user": self.user, "group": self.user, "extra_groups": []} if self.user else {}
        return subprocess.run(
            [str(self.programs / program), *words],
            capture_output=True,
            text=True,
            check=check,
            cwd=self.folder,
            **options,
        )

    def start(self):
        # the machine itself never loses power here: what PostgreSQL has written survives any end of its processes
        settings = f"-k {self.folder} -c listen_addresses= -c max_connections=50 -c fsync=off"
        self.call("pg_ctl", "-D", str(self.data), "-w", "-l", str(self.folder / "log"), "-o", settings, "start")

    def stop(self, mode="fast"):
        self.call("pg_ctl", "-D", str(self.data), "-w", "-m", mode, "stop", check=False)

    def address(self, database="postgres"):
        return f"postgresql://askance@/{database}?host={self.folder}"

    def new_database(self):
        import psycopg

        name = f"test_{uuid.uuid4().hex}"
        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.address(name)


@pytest.fixture(scope="session")
def postgres():
    programs = find_postgres()
    if programs is None:
        pytest.skip("PostgreSQL is not installed here (initdb and pg_ctl were not found)")
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install './packages/askance-live[postgres]'")
    memory = Path("/dev/shm")  # dozens of databases are made and removed
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > 4_000_000_000
    folder = tempfile.mkdtemp(prefix="askance-pg-", dir=memory if roomy else None)
    running = Postgres(programs, folder)
    yield running
    running.stop("immediate")
    shutil.rmtree(folder, ignore_errors=True)


def new_place(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "askance.db")
    return request.getfixturevalue("postgres").new_database()


@pytest.fixture(params=["sqlite", "postgres"])
def store(request, tmp_path):
    """The place of a new store, of either kind."""
    return new_place(request, tmp_path)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.prove)])
def store_apart(request, tmp_path):
    """The same for tests of what stands above the store: on SQLite with the others, on PostgreSQL with the proofs."""
    return new_place(request, tmp_path)


@pytest.fixture(scope="session")
def nursery():
    """Starts processes."""
    running = Nursery()
    yield running
    running.stop()


def making(folder, nursery):
    """Gives a function that makes services; at the end they are ended."""
    made = []

    def start(clock=None, **options):
        own = folder / f"service-{len(made)}"
        own.mkdir()
        service = Running(own, nursery=nursery, **options).create()
        made.append(service)
        if clock is not None:
            service.set_clock(clock)
        return service.start()

    yield start
    for service in made:
        if service.process is not None and service.process.poll() is None:
            service.stop()


@pytest.fixture
def make(tmp_path, nursery):
    """Makes services that are ended with the test."""
    yield from making(tmp_path, nursery)


@pytest.fixture(scope="module")
def make_for_all(tmp_path_factory, nursery):
    """Makes services that all tests of a file share."""
    yield from making(tmp_path_factory.mktemp("shared"), nursery)
