"""A service of several processes on one PostgreSQL: fronts, an owner, and others that stand by."""

import contextlib
import itertools

import psycopg
from tests.live.running import Running
from tests.patience import wait_until


class Member(Running):
    """One process of a service whose settings and store another ``Running`` has made."""

    def __init__(self, made, role, folder):
        folder.mkdir()
        super().__init__(folder, store=made.store, nursery=made.nursery)
        self.config, self.role, self.headers = made.config, role, made.headers

    def serve_words(self):
        return [*super().serve_words(), "--role", self.role]


class LaterVersion:
    """Starts processes of a later version."""

    def __init__(self, nursery, newer):
        self.nursery, self.newer = nursery, newer

    def start(self, words, *others):
        return self.nursery.start([self.newer, *words], *others, module="tests.live.newer")


class Members:
    """Starts processes; ends them all."""

    def __init__(self, folder, store, nursery, **options):
        self.made = Running(folder, store=store, nursery=nursery, **options).create()
        self.all, self._numbers = [], itertools.count()

    def start(self, role, newer=None):
        """A process; of a later version, in which something is ``newer``."""
        member = Member(self.made, role, self.made.folder / f"{role}-{next(self._numbers)}")
        if newer is not None:
            member.nursery = LaterVersion(member.nursery, newer)
        member.start()
        self.all.append(member)
        return member

    def value(self, sql, *values):
        """The first value that a query finds in the store."""
        with psycopg.connect(self.made.store) as connection:
            row = connection.execute(sql, values).fetchone()
            return row and row[0]

    def epoch(self):
        """How many owners there were."""
        return int(self.value("SELECT value::jsonb->>'epoch' FROM meta WHERE name = 'owner'") or 0)

    def address(self):
        """Where the owner takes calls."""
        return self.value("SELECT value::jsonb->>'address' FROM meta WHERE name = 'owner'")

    def wait_for_owner(self, after=0):
        wait_until(lambda: self.epoch() > after and self.address(), "an owner")

    def owner(self):
        """Which of the processes is the owner: the one whose HTTP answers for the stream."""
        for member in self.all:
            if member.role == "owner" and member.process is not None and member.process.poll() is None:
                with contextlib.suppress(Exception):
                    if member.client.get("/askance/livez", timeout=2).status_code == 200:
                        return member
        return None

    def stop(self):
        for member in sorted(self.all, key=lambda member: member.role != "front"):
            if member.process is not None and member.process.poll() is None:
                assert member.stop() == 0, (member.folder / "log.txt").read_text()
