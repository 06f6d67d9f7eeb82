"""Starts askance in processes of its own that need not import everything anew.

A process imports the package once, then forks a child for each command it is told on its standard input: real processes
that can be killed, in a tenth of the time. ``python -m askance`` itself is tried in test_commands.py.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.patience import PATIENCE


class Child:
    """A command under way; as much of ``subprocess.Popen`` as the tests need."""

    def __init__(self, pid, exit_file):
        self.pid, self.exit_file = pid, Path(exit_file)
        self.returncode = None

    def poll(self):
        if self.returncode is None and self.exit_file.exists():
            text = self.exit_file.read_text()
            self.returncode = int(text) if text else None
        return self.returncode

    def wait(self, seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        while self.poll() is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"process {self.pid} has not ended within {seconds} seconds")
            time.sleep(0.005)
        return self.returncode

    def kill(self, number=signal.SIGKILL):
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self):
        self.kill(signal.SIGTERM)


class Nursery:
    """The process that forks."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.live.nursery"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout.readline() == "ready\n"
        self.count = 0

    def start(
        self, words, folder, out, err, file_bytes=None, clock=None, holds=None, patience=None, module="askance.cli"
    ):  # fmt: skip
        """Run ``askance``, or ``main`` of another module, with these words; its output goes into files. The file
        ``clock`` says by how many seconds the machine's clock is wrong; with ``holds``, a service is watched by
        watchdog.py; ``patience`` are the seconds it waits for a store that is away, held or owned."""
        self.count += 1
        exit_file = f"{out}.exit-{self.count}"
        order = {
            "words": words,
            "folder": str(folder),
            "out": str(out),
            "err": str(err),
            "exit": exit_file,
            "file_bytes": file_bytes,
            "clock": None if clock is None else str(clock),
            "holds": None if holds is None else str(holds),
            "patience": patience,
            "module": module,
        }
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return Child(int(self.process.stdout.readline()), exit_file)

    def run(self, folder, *words):
        """A command to its end, in a folder."""
        with tempfile.TemporaryDirectory() as place:
            out, err = Path(place) / "out", Path(place) / "err"
            code = self.start(words, folder, out, err).wait()
            return subprocess.CompletedProcess(words, code, out.read_text(), err.read_text())

    def stop(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)


def grow(order):
    """The child: become ``askance``."""
    main = importlib.import_module(order["module"]).main
    os.setsid()
    os.chdir(order["folder"])
    for path, handle in ((order["out"], 1), (order["err"], 2)):
        opened = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        os.dup2(opened, handle)
        os.close(opened)
    os.close(0)
    if order["file_bytes"]:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["file_bytes"], resource.RLIM_INFINITY))
    if order["clock"]:
        right = time.time
        time.time = lambda: right() + float(Path(order["clock"]).read_text())
    if order["patience"] is not None:
        set_patience(order["patience"])
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        if order["holds"]:
            from tests.live.watchdog import serve_watched

            serve_watched(order["words"][-1], order["holds"])
            code = 0
        else:
            code = main(order["words"])
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def set_patience(seconds):
    """Wait so long for a store, in place of the few seconds that suit people."""
    from askance_live import server, service
    from askance_live.engine import thread
    from askance_live.store import sqlite

    thread.PATIENCE = server.PATIENCE = service.PATIENCE = sqlite.PATIENCE = seconds
    with contextlib.suppress(ImportError):  # PostgreSQL's driver
        from askance_live.store import postgres

        postgres.OWNER_PATIENCE = seconds


def tend():
    """The parent: fork on demand, and write down how the children end."""
    import scipy.sparse
    import scipy.special  # noqa: F401
    import uvloop  # noqa: F401

    with contextlib.suppress(ImportError):
        import psycopg  # noqa: F401

    from askance_live import routes, server  # noqa: F401
    from askance_live.cli.live import need_live_packages
    from askance_live.config import from_document
    from askance_live.engine import thread as engine
    from askance_live.store import open_store  # noqa: F401

    need_live_packages()
    routes.load()
    engine.warm_up(from_document({"classes": ["ham", "spam"]}))
    gc.collect()
    gc.freeze()  # what is there by now is no garbage that a child need look through
    exits = {}

    def reap(*_):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            part = Path(f"{exits[pid]}.part")
            part.write_text(str(os.waitstatus_to_exitcode(status)))
            part.rename(exits[pid])

    signal.signal(signal.SIGCHLD, reap)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        order = json.loads(line)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        pid = os.fork()
        if not pid:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
            grow(order)
        exits[pid] = order["exit"]
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    tend()
