"""A real service in a real process, for tests."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

CLASSES = ["ham", "spam"]
postgres_is_proven = pytest.mark.parametrize(
    "store", ["sqlite", pytest.param("postgres", marks=pytest.mark.prove)], indirect=True
)
"""For a test that takes long on either store: on SQLite with the others, on PostgreSQL with the proofs."""


class Done(NamedTuple):
    """What came of a command."""

    returncode: int
    stdout: str
    stderr: str


class Running:
    """``askance serve`` on a free port, with settings and a store in ``folder``."""

    me = "/v1/me"

    def __init__(
        self, folder, store=None, queue=None, server=None, asking=None, model=None, nursery=None, file_bytes=None
    ):
        self.folder = Path(folder)
        self.config = self.folder / "askance.toml"
        self.store = store or str(self.folder / "askance.db")
        self.process = None
        self.nursery, self.file_bytes = nursery, file_bytes
        self.count = 0
        self.headers = {}
        sections = {
            "queue": {"learn_after": 0.0, **(queue or {})},
            "server": {"port": 0, "disk_reserve": 0, **(server or {})},
            "asking": asking or {},
            "model": model or {},
        }
        lines = ['title = "Test"', f"classes = {json.dumps(CLASSES)}", f"store = {json.dumps(self.store)}", "[fields]"]
        lines += ['text = "text"', 'size = "number"']
        for name, values in sections.items():
            lines.append(f"[{name}]")
            lines += [f"{key} = {json.dumps(value)}" for key, value in values.items()]
        self.text = "\n".join(lines) + "\n"

    def create(self):
        from askance.cli.init import create

        create(self.config, self.text)
        return self

    def run(self, *words, check=True):
        """Another command of askance on the same settings."""
        self.count += 1
        out, err = (self.folder / f"{name}-{self.count}.txt" for name in ("out", "err"))
        child = self.nursery.start([words[0], "--config", str(self.config), *words[1:]], self.folder, out, err)
        code = child.wait(120)
        done = Done(code, out.read_text(), err.read_text())
        if check:
            assert code == 0, done.stderr
        return done

    def serve_words(self):
        return ["serve", "--config", str(self.config)]

    def start(self, wait=180.0):  # an edited kernel is compiled anew
        self.count += 1
        out, err = self.folder / f"serve-{self.count}.txt", self.folder / "log.txt"
        self.process = self.nursery.start(self.serve_words(), self.folder, out, err, self.file_bytes)
        deadline = time.monotonic() + wait
        found = None
        while found is None and time.monotonic() < deadline and self.process.poll() is None:
            found = re.search(r"http://\S+(?=\n)", out.read_text()) if out.exists() else None
            time.sleep(0.01)
        if found is None:
            self.process.kill()
            raise AssertionError(f"it did not start: {err.read_text()[-2000:]}")
        self.url = found.group()
        self.port = int(self.url.rsplit(":", 1)[1])
        self.client = httpx.Client(base_url=self.url, timeout=30, headers=self.headers)
        return self

    def tokens(self, **scopes):
        """Make tokens, name=scopes, and wait until the service, if it runs, knows them: a second or so."""
        from askance.live.auth import create_token
        from askance.live.store import open_store

        database = open_store(self.store)
        try:
            with database.write() as session:
                secrets = {
                    name: create_token(session, name, wanted.split(), time.time(), None)[1]
                    for name, wanted in scopes.items()
                }
        finally:
            database.close()
        last = {"authorization": f"Bearer {list(secrets.values())[-1]}"}  # they are read together
        deadline = time.monotonic() + 10
        while self.process is not None and self.get(self.me, headers=last).status_code == 401:
            assert time.monotonic() < deadline, "the service does not know its tokens"
            time.sleep(0.02)
        return secrets

    def log_in(self, secret):
        """Use a token from now on."""
        self.headers["authorization"] = self.client.headers["authorization"] = f"Bearer {secret}"

    def as_user(self, secret):
        """A client with a token."""
        return httpx.Client(base_url=self.url, headers={"authorization": f"Bearer {secret}"}, timeout=30)

    def kill(self):
        """As if the power went."""
        self.process.kill()
        self.process.wait()
        self.client.close()

    def stop(self, seconds=15.0):
        """In good order; the exit code."""
        if self.process is None:
            return 0
        self.process.terminate()
        try:
            code = self.process.wait(seconds)
        finally:
            self.process.kill()
            self.client.close()
        self.process = None
        return code

    def restart(self):
        self.stop()
        return self.start()

    # --- what tests do again and again -------------------------------------------------------------------

    def post(self, path, value=None, **options):
        return self.client.post(path, json={} if value is None else value, **options)

    def get(self, path, **options):
        return self.client.get(path, **options)

    def send(self, *identifiers, text="hello there"):
        items = [{"id": name, "fields": {"text": f"{text} {name}", "size": len(name)}} for name in identifiers]
        response = self.post("/v1/events", items)
        assert response.status_code == 200, response.text
        return response.json()["items"]

    def next(self, n=1, **options):
        response = self.post(f"/v1/asks/next?n={n}", **options)
        return response.json()["asks"] if response.status_code == 200 else []

    def answer(self, ask, label, answer_id=None, **more):
        body = {"answer_id": answer_id or f"answer-{ask['id']}", "token": ask["token"], "label": label, **more}
        return self.post(f"/v1/asks/{ask['id']}/answer", body)

    def stats(self):
        """As they are now, not as somebody saw them a moment ago."""
        return self.get("/v1/stats", headers={"cache-control": "no-cache"}).json()

    def wait_until_learned(self, n, seconds=10.0):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = re.search(r"^askance_model_version (\S+)", self.get("/metrics").text, re.MULTILINE)
            if int(float(found[1])) >= n:
                return
            time.sleep(0.02)
        raise AssertionError(f"{n} answers were not learned within {seconds} seconds")

    def wait_until_idle(self, seconds=10.0):
        """Until every answer is learned."""
        deadline = time.monotonic() + seconds
        while self.stats()["model"]["waiting"]:
            assert time.monotonic() < deadline, f"answers still waited after {seconds} seconds"
            time.sleep(0.02)

    def digest(self):
        """The hash of the model by a replay of the whole log, which must be that of its checkpoint; it must not run."""
        done = self.run("rebuild", "--check")
        return re.search(r"digest (\w+)", done.stdout)[1]
