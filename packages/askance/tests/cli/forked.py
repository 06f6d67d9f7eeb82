"""``askance`` in a process of its own, forked from one that has imported everything: real pipes and real signals,
without the second that a start takes. ``tests/cli/test_command_line.py`` starts the real thing.

The process that forks is told on a socket what to run, and is handed the standard streams of the child with it.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import IO

from tests.patience import PATIENCE

LONGEST_ORDER = 1 << 16


class Process:
    """A command under way; as much of ``subprocess.Popen`` as the tests need. ``ending`` tells how it ends."""

    def __init__(self, pid: int, ending: int) -> None:
        self.pid, self._ending = pid, ending
        self.returncode: int | None = None
        self.stdin: IO[bytes] | None = None
        self.stdout: IO[bytes] | None = None
        self.stderr: IO[bytes] | None = None

    def wait(self, seconds: float | None = PATIENCE) -> int:
        if self.returncode is None:
            if not select.select([self._ending], [], [], seconds)[0]:
                raise TimeoutError(f"process {self.pid} has not ended within {seconds} seconds")
            self.returncode = int(os.read(self._ending, 20))
            os.close(self._ending)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None and not select.select([self._ending], [], [], 0)[0]:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def launch(*words: str) -> Process:
    """Start a command whose standard streams are pipes."""
    (their_in, our_in), (our_out, their_out), (our_err, their_err) = os.pipe(), os.pipe(), os.pipe()
    process = _start(words, (their_in, their_out, their_err))
    for handle in (their_in, their_out, their_err):
        os.close(handle)
    process.stdin, process.stdout = os.fdopen(our_in, "wb", 0), os.fdopen(our_out, "rb", 0)
    process.stderr = os.fdopen(our_err, "rb", 0)
    return process


def forked(
    *words: str, text: str = "", stdout: IO[str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with ``text`` on its standard input."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(text.encode())
        given.seek(0)
        streams = given.fileno(), (stdout or out).fileno(), err.fileno()
        code = _start(words, streams, cwd).wait()
        said = []
        for file in (out, err):
            file.seek(0)
            said.append(file.read().decode())
    return subprocess.CompletedProcess(list(words), code, *said)


def _start(words: Sequence[str], streams: tuple[int, int, int], cwd: Path | None = None) -> Process:
    ours, theirs = os.pipe()
    order = json.dumps({"words": words, "folder": str(cwd or Path.cwd())}).encode()
    assert len(order) < LONGEST_ORDER
    connection = _forking_process()
    socket.send_fds(connection, [order], [*streams, theirs])
    os.close(theirs)
    return Process(int(connection.recv(20)), ours)


@functools.cache
def _forking_process() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.forked", str(theirs.fileno())],
        pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
    )  # fmt: skip
    theirs.close()
    assert ours.recv(20) == b"ready"

    def end() -> None:
        ours.close()
        process.wait(PATIENCE)

    atexit.register(end)
    return ours


# --- the process that forks ------------------------------------------------------------------------------


def _serve(connection: socket.socket) -> None:
    import scipy.special  # noqa: F401

    from askance.runner import Pipe
    from askance.runner.algorithm_spec import AlgorithmSpec

    for name in ("auto", "PA", "PAA-I"):
        pipe = Pipe(["ham", "spam"], AlgorithmSpec(name, budget=0.5))
        pipe.answer(b'{"text": "a few words for the compiler", "size": 1.0, "label": "ham"}')
    gc.collect()
    gc.freeze()  # what is there by now is no garbage that a child need look through
    endings: dict[int, int] = {}

    def reap(number: int, frame: FrameType | None) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                ending = endings.pop(ended[0])
                with contextlib.suppress(BrokenPipeError):  # nobody waits for it
                    os.write(ending, str(os.waitstatus_to_exitcode(ended[1])).encode())
                os.close(ending)

    signal.signal(signal.SIGCHLD, reap)
    connection.send(b"ready")
    while True:
        order, handles, _, _ = socket.recv_fds(connection, LONGEST_ORDER, 4)
        if not order:
            return
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        pid = os.fork()
        if not pid:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
            connection.close()
            for ending in endings.values():
                os.close(ending)
            _become(json.loads(order), handles)
        endings[pid] = handles[3]
        for handle in handles[:3]:
            os.close(handle)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        connection.send(str(pid).encode())


def _become(order: dict[str, str], handles: list[int]) -> None:
    from askance.cli import main

    code = 70
    try:
        os.setsid()
        os.chdir(order["folder"])
        for place, handle in enumerate(handles[:3]):
            os.dup2(handle, place)
        for handle in handles:
            os.close(handle)
        sys.stdin, sys.stdout = open(0, encoding="utf-8"), open(1, "w", encoding="utf-8")  # noqa: SIM115
        sys.stderr = open(2, "w", 1, encoding="utf-8")  # noqa: SIM115
        code = main(order["words"])
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
