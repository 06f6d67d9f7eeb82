"""A second machine, as far as the network goes: processes in a network namespace of their own, behind one cable."""

import contextlib
import random
import shutil
import subprocess
import sys

import pytest
from tests.live.conftest import Postgres
from tests.live.members import Member


class Machine:
    """A namespace that is joined to this machine by a pair of interfaces; the cable can be pulled."""

    def __init__(self):
        self.program = shutil.which("ip", path="/usr/sbin:/sbin:/usr/bin:/bin")
        if self.program is None:
            pytest.skip("the program ip (Debian's iproute2) is not installed, which makes network namespaces")
        number = random.SystemRandom().randrange(1, 250)
        self.name, self.near, self.far = f"askance{number}", f"askn{number}", f"askf{number}"
        self.here, self.address, self.network = (f"10.213.{number}.{last}" for last in ("1", "2", "0/24"))
        try:
            self._ip("netns", "add", self.name)
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces cannot be made here: {error.stderr.strip()}")
        try:
            self._ip("link", "add", self.near, "type", "veth", "peer", "name", self.far, "netns", self.name)
            self._ip("address", "add", f"{self.here}/24", "dev", self.near)
            self._ip("link", "set", self.near, "up")
            for words in (("address", "add", f"{self.address}/24", "dev", self.far), ("link", "set", self.far, "up"),
                          ("link", "set", "lo", "up")):  # fmt: skip
                self._ip("-n", self.name, *words)
        except subprocess.CalledProcessError as error:
            self.remove()
            pytest.skip(f"network namespaces cannot be joined here: {error.stderr.strip()}")

    def _ip(self, *words):
        subprocess.run([self.program, *words], check=True, capture_output=True, text=True)

    def inside(self, *words):
        """The words of a command that runs on this machine."""
        return [self.program, "netns", "exec", self.name, *words]

    def pull_cable(self):
        """Nothing comes through any more, and nobody is told."""
        self._ip("link", "set", self.near, "down")

    def plug_in(self):
        self._ip("link", "set", self.near, "up")

    def remove(self):
        with contextlib.suppress(subprocess.CalledProcessError):
            self._ip("netns", "delete", self.name)  # and the interfaces with it


class ListeningPostgres(Postgres):
    """One that other machines reach, too."""

    def __init__(self, programs, folder, machine):
        self.machine = machine
        super().__init__(programs, folder)

    def start(self):
        with (self.data / "pg_hba.conf").open("a") as file:
            file.write(f"host all all {self.machine.network} trust\n")
        settings = f"-k {self.folder} -c listen_addresses={self.machine.here} -c max_connections=50 -c fsync=off"
        self.call("pg_ctl", "-D", str(self.data), "-w", "-l", str(self.folder / "log"), "-o", settings, "start")

    def address(self, database="postgres"):
        return f"postgresql://askance@{self.machine.here}/{database}"


class Child:
    """A process on another machine, as ``Running`` wants it."""

    def __init__(self, process):
        self._process = process
        self.poll, self.wait, self.terminate = process.poll, lambda: process.wait(60), process.terminate

    def kill(self, number=9):
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)


class Nursery:
    """Starts processes on another machine."""

    def __init__(self, machine):
        self.machine = machine

    def start(self, words, folder, out, err, *_):
        command = self.machine.inside(sys.executable, "-m", "askance", *words)
        with out.open("w") as said, err.open("w") as log:
            return Child(subprocess.Popen(command, cwd=folder, stdout=said, stderr=log))


class RemoteOwner(Member):
    """An owner on another machine."""

    def __init__(self, made, machine, folder):
        super().__init__(made, "owner", folder)
        self.machine, self.nursery = machine, Nursery(machine)

    def serve_words(self):
        return [*super().serve_words(), "--private", self.machine.address]

    def post_there(self, body):
        """A program on that machine that sends an event to the owner beside it, and prints the status."""
        words = [sys.executable, "-c", POST, f"{self.url}/askance/v1/events", body]
        return subprocess.Popen(self.machine.inside(*words), stdout=subprocess.PIPE, text=True)


POST = """\
import sys, urllib.error, urllib.request
request = urllib.request.Request(sys.argv[1], sys.argv[2].encode(), {"content-type": "application/json"})
try:
    print(urllib.request.urlopen(request, timeout=60).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""
