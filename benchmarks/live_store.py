"""A live service in a process of its own, and stores that hold as much as one wants to know about."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from askance_live.config import is_postgres
from askance_live.dashboard.stored_counts import count_all
from askance_live.store import open_store
from askance_live.store.database import Session
from benchmarks.live_load import PEOPLE, Connection, event

SETTINGS = """\
classes = ["ham", "spam"]
store = "{store}"
[asking]
audit = 0.05
[queue]
learn_after = {grace}
[server]
port = 0
requests_per_second = 0
"""
GRACE = 1  # seconds in which an answer can be taken back before it is learned
FIRST = 1_000  # events that really come in; larger stores hold copies of them
LABELED = 50


class Service:
    """``askance serve`` with settings in ``folder``, on a store there or elsewhere."""

    def __init__(self, folder: str, store: str = "askance.db") -> None:
        from askance_live.access.auth import create_token
        from askance_live.cli.init import create
        from askance_live.config import load

        self.config = Path(folder) / "askance.toml"
        self.folder = folder
        create(self.config, SETTINGS.format(store=store, grace=GRACE))
        self.place = load(self.config).store
        database = open_store(self.place)
        names = [*(f"p{k}" for k in range(PEOPLE)), "root"]
        with database.write() as session:
            self.tokens = [
                create_token(session, name, ["admin" if name == "root" else "label"], time.time(), None)[1]
                for name in names
            ]
        database.close()
        self.token = self.tokens[-1]

    def start(self) -> float:
        """Seconds until it says that it listens."""
        began = time.perf_counter()
        words = [sys.executable, "-m", "askance", "serve", "--config", str(self.config)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=self.folder)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])
        return time.perf_counter() - began

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def megabytes(self) -> float:
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * 4096 / 1e6

    def processor_seconds(self) -> float:
        """What the service has used so far, in user and in system mode."""
        times = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")

    def begin(self) -> None:
        """The first events, some of them labeled; the service is stopped afterwards."""
        self.start()
        asyncio.run(self._begin())
        self.stop()

    async def _begin(self) -> None:
        rng = random.Random(5)
        connection = await Connection(self.port, self.token).open()
        for _ in range(FIRST // 100):
            batch = [event(rng) for _ in range(100)]
            status, _ = await connection.post("/v1/events", batch)
            assert status == 200, status
            labels = [{"event": item["id"], "label": rng.choice(["ham", "spam"])} for item in batch]
            await connection.post("/v1/labels", labels[: LABELED // (FIRST // 100)])
        await asyncio.sleep(2.0)  # until all of them are learned

    def grow(self, events: int) -> None:
        """Let the store hold so many events: copies of the first ones under other names, as one model saw them all."""
        database = open_store(self.place)
        try:
            with database.read() as session:
                block = Block(session)
            copies = events // FIRST
            for first in range(1, copies, 100):
                with database.write() as session:
                    block.copy(session, first, min(copies, first + 100))
            with database.write() as session:
                block.finish(session, copies)
            if is_postgres(self.place):
                database.writer.execute("VACUUM ANALYZE")  # type: ignore[attr-defined]  # as it does by itself in time
        finally:
            database.close()


class Block:
    """The rows of the first events, and how far apart their copies lie."""

    def __init__(self, session: Session) -> None:
        self.log = max(session.value(f"SELECT max(seq) FROM {name}") for name in ("events", "learned"))
        self.asks = session.value("SELECT max(id) FROM asks")
        self.answers = session.value("SELECT max(seq) FROM answers")
        self.learned = session.value("SELECT max(n) FROM learned")

    def copy(self, session: Session, first: int, end: int) -> None:
        """The copies from ``first`` on, before ``end``."""
        moved = {
            "events": {"seq": self.log, "id": None, "asked": self.asks},
            "asks": {"id": self.asks, "event": self.log},
            "answers": {"seq": self.answers, "id": None, "ask": self.asks, "event": self.log},
            "learned": {"seq": self.log, "n": self.learned, "answer": self.answers, "event": self.log},
        }
        keys = {"events": self.log, "asks": self.asks, "answers": self.answers, "learned": self.log}
        for table, changes in moved.items():
            columns = self._columns(session, table)
            cells = ", ".join(self._cell(table, name, changes) for name in columns)
            key = "id" if table == "asks" else "seq"
            session.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) "
                f"WITH RECURSIVE copies(k) AS (SELECT {first} UNION ALL SELECT k + 1 FROM copies WHERE k + 1 < {end}) "
                f"SELECT {cells} FROM copies CROSS JOIN {table} t WHERE t.{key} <= {keys[table]}"
            )

    @staticmethod
    def _columns(session: Session, table: str) -> list[str]:
        connection = session.connection  # type: ignore[attr-defined]
        return [column[0] for column in connection.execute(f"SELECT * FROM {table} LIMIT 0").description]

    @staticmethod
    def _cell(table: str, name: str, changes: dict[str, int | None]) -> str:
        if name not in changes:
            return f"t.{name}"
        if changes[name] is None:
            return f"t.{name} || '-' || copies.k"
        moved = f"t.{name} + copies.k * {changes[name]}"
        return f"CASE WHEN t.asked > 0 THEN {moved} ELSE 0 END" if (table, name) == ("events", "asked") else moved

    def finish(self, session: Session, copies: int) -> None:
        """The newest checkpoint stands for all of them, so that a start does not play the copies."""
        last = self.log * copies
        session.execute(
            "UPDATE checkpoints SET seq = ?, n = ? WHERE seq = (SELECT max(seq) FROM checkpoints)",
            (last, self.learned * copies),
        )
        session.execute("UPDATE asks SET state = 'expired' WHERE state = 'open' AND id > ?", (10_000,))
        count_all(session, anew=True)
