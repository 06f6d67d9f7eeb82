"""Starts askance in processes of its own that need not import everything anew.

A process imports the package once, then forks a child for each command it is told on its standard input: real processes
that can be killed, in a tenth of the time. ``python -m askance`` itself is tried in test_commands.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path


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

    def wait(self, seconds=30.0):
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

    def start(self, words, folder, out, err, file_bytes=None):
        """Run ``askance`` with these words; its output goes into files."""
        self.count += 1
        exit_file = f"{out}.exit-{self.count}"
        order = {
            "words": words,
            "folder": str(folder),
            "out": str(out),
            "err": str(err),
            "exit": exit_file,
            "file_bytes": file_bytes,
        }
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return Child(int(self.process.stdout.readline()), exit_file)

    def stop(self):
        self.process.stdin.close()
        self.process.wait(10)


def grow(order):
    """The child: become ``askance``."""
    from askance.cli import main

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
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    code = 70
    with contextlib.suppress(SystemExit):
        code = main(order["words"])
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def tend():
    """The parent: fork on demand, and write down how the children end."""
    from askance.live import engine, server  # noqa: F401
    from askance.live.config import from_document

    engine.warm_up(from_document({"classes": ["ham", "spam"]}))
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
