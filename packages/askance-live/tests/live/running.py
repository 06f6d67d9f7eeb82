"""A real service in a real process, for tests."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from tests.patience import PATIENCE, wait_until

CLASSES = ["ham", "spam"]
postgres_is_proven = pytest.mark.parametrize(
    "store", ["sqlite", pytest.param("postgres", marks=pytest.mark.prove)], indirect=True
)
"""For a test that takes long on either store: on SQLite with the others, on PostgreSQL with the proofs."""


def to_half_past(hour=None):
    """By how much a clock must be ahead to stand at half past the next hour of UTC, or past this one of the next day:
    no hour and no day turns while a test runs, and a day's budget is spread over enough of it."""
    now = time.time()
    begun = now - now % 3600 + 3600 if hour is None else now - now % 86400 + 86400 + 3600 * hour
    return begun + 1800 - now


class Done(NamedTuple):
    """What came of a command."""

    returncode: int
    stdout: str
    stderr: str


class Running:
    """``askance serve`` on a free port, with settings and a store in ``folder``."""

    me = "/v1/me"

    def __init__(
        self,
        folder,
        store=None,
        queue=None,
        server=None,
        asking=None,
        model=None,
        log=None,
        instructions=None,
        display=None,
        webhooks=(),
        oidc=None,
        mail=None,
        nursery=None,
        file_bytes=None,
        holds=None,
        patience=None,
        classes=CLASSES,
        settings=None,
    ):
        self.folder = Path(folder)
        self.config = self.folder / "askance.toml"
        self.store = store or str(self.folder / "askance.db")
        self.process = None
        self.nursery, self.file_bytes, self.holds = nursery, file_bytes, holds
        self.clock, self.patience = None, patience
        self.count = 0
        self.headers = {}
        self.trusted = True  # or the certificate that is
        sections = {
            "queue": {"learn_after": 0.0, **(queue or {})},
            "server": {"port": 0, "disk_reserve": 0, "wrong_tokens_per_minute": 0, **(server or {})},
            "asking": asking or {},
            "log": log or {},
            "display": display or {},
            **({"mail": mail} if mail else {}),
            "model": {"hash_bits": 12, **(model or {})},  # a small model is saved and compared sooner
        }
        lines = ['title = "Test"', f"classes = {json.dumps(list(classes))}", f"store = {json.dumps(self.store)}"]
        lines += [*(f"{key} = {json.dumps(value)}" for key, value in (settings or {}).items()), "[fields]"]
        lines += ['text = "text"', 'size = "number"']
        for name, values in sections.items():
            lines.append(f"[{name}]")
            lines += [f"{key} = {json.dumps(value)}" for key, value in values.items()]
        told = instructions or {}
        lines += ["[instructions]", f"text = {json.dumps(told.get('text', ''), ensure_ascii=False)}"]
        for label, of_class in told.get("classes", {}).items():
            lines.append(f"[instructions.classes.{json.dumps(label)}]")
            lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in of_class.items()]
        if oidc:
            lines.append("[oidc]")
            lines += [f"{key} = {json.dumps(value)}" for key, value in oidc.items() if key != "roles"]
            lines.append("[oidc.roles]")
            lines += [f"{key} = {json.dumps(value)}" for key, value in oidc.get("roles", {}).items()]
        for hook in webhooks:
            lines.append("[[webhooks]]")
            lines += [f"{key} = {json.dumps(value)}" for key, value in hook.items()]
        self.text = "\n".join(lines) + "\n"

    def create(self):
        from askance_live.cli.init import create

        create(self.config, self.text)
        return self

    def run(self, *words, check=True):
        """Another command of askance on the same settings."""
        self.count += 1
        out, err = (self.folder / f"{name}-{self.count}.txt" for name in ("out", "err"))
        child = self.nursery.start(
            [words[0], "--config", str(self.config), *words[1:]],
            self.folder,
            out,
            err,
            clock=self.clock,
            patience=self.patience,
        )
        code = child.wait()
        done = Done(code, out.read_text(), err.read_text())
        if check:
            assert code == 0, done.stderr
        return done

    def set_clock(self, seconds):
        """From now on the machine's clock, as the service and the commands see it, is wrong by so much."""
        self.clock = self.clock or self.folder / "clock.txt"
        part = self.folder / "clock.part"
        part.write_text(repr(float(seconds)))
        part.rename(self.clock)

    def serve_words(self):
        return ["serve", "--config", str(self.config)]

    def start(self):
        self.count += 1
        out, err = self.folder / f"serve-{self.count}.txt", self.folder / "log.txt"
        self.process = self.nursery.start(
            self.serve_words(), self.folder, out, err, self.file_bytes, self.clock, self.holds, self.patience
        )
        deadline = time.monotonic() + PATIENCE  # an edited kernel is compiled anew
        found = None
        while found is None and time.monotonic() < deadline and self.process.poll() is None:
            found = re.search(r"https?://\S+(?=\n)", out.read_text()) if out.exists() else None
            time.sleep(0.01)
        if found is None:
            self.process.kill()
            raise AssertionError(f"it did not start: {err.read_text()[-2000:]}")
        self.url = found.group()
        self.port = int(self.url.rsplit(":", 1)[1])
        self.client = httpx.Client(base_url=self.url, timeout=PATIENCE, headers=self.headers, verify=self.trusted)
        return self

    def tokens(self, **scopes):
        """Make tokens, name=scopes, and wait until the service, if it runs, knows them: a second or so."""
        from askance_live.access.auth import create_token
        from askance_live.store import open_store

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
        if self.process is not None:
            wait_until(lambda: self.get(self.me, headers=last).status_code != 401, "a service that knows its tokens")
        return secrets

    def log_in(self, secret):
        """Use a token from now on."""
        self.headers["authorization"] = self.client.headers["authorization"] = f"Bearer {secret}"

    def as_user(self, secret):
        """A client with a token."""
        return httpx.Client(base_url=self.url, headers={"authorization": f"Bearer {secret}"}, timeout=PATIENCE)

    def kill(self):
        """As if the power went."""
        self.process.kill()
        self.process.wait()
        self.client.close()

    def stop(self):
        """In good order; the exit code."""
        if self.process is None:
            return 0
        self.process.terminate()
        try:
            code = self.process.wait()
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

    def wait_until_learned(self, n):
        def version():
            return int(float(re.search(r"^askance_model_version (\S+)", self.get("/metrics").text, re.MULTILINE)[1]))

        wait_until(lambda: version() >= n, f"a model of {n} answers")

    def wait_until_idle(self):
        """Until every answer is learned."""
        wait_until(lambda: not self.stats()["model"]["waiting"], "a model that has learned all answers")

    def digest(self):
        """The hash of the model by a replay of the whole log, which must be that of its checkpoint; it must not run."""
        done = self.run("rebuild", "--check")
        return re.search(r"digest (\w+)", done.stdout)[1]
