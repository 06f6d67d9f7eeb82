"""Install the built wheels into an empty environment, for each Python at hand, and do what a newcomer does first.

python .ci/try_install.py UV dist

A first stream and a first file with the library only: what an extra brings must not be needed. Then, with the newest
Python and ``askance-live``, a service, an event, and the first label. How long each step takes is printed. Each source
archive is built into a wheel of its own, which must hold the same files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from json import dumps, load
from pathlib import Path
from typing import Any

MINORS = (11, 12, 13, 14)
FIRST_STEPS = """
import askance
from askance.data.generators import messages

stream = messages(400, random_state=0)
clf = askance.make("SOAL-diag", delta=0.03, budget=50, random_state=0)
trace = clf.run(stream.X, stream.labels)
assert 0 < trace.asked.sum() <= 50, trace
clf.save("spam.model")
assert askance.load("spam.model").predict(stream.X[:5]).tolist() == clf.predict(stream.X[:5]).tolist()
print(askance.__version__, trace)
"""
MAIL = "text,label\n" + "you won a prize,spam\nlunch at noon?,ham\n" * 100


def pythons_at_hand() -> dict[str, Path | None]:
    """An interpreter for each version that we support: on the path, or in the folder of pyenv; None where there is
    none."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found: dict[str, Path | None] = {}
    for minor in MINORS:
        kept = sorted(versions.glob(f"3.{minor}.*/bin/python"))
        on_path = shutil.which(f"python3.{minor}")
        places = [*kept, *([Path(on_path)] if on_path else [])]
        found[f"3.{minor}"] = next((place for place in places if answers(place)), None)
    return found


def answers(python: Path) -> bool:
    """Whether it is more than a shim of a version that is not installed."""
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def files_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if not name.endswith("RECORD")}


def try_one(uv: Path, wheel: Path, python: Path, service: Path | None) -> str:
    """Install and use it in a folder of its own; raises if a step fails. Returns how long each step took and how large
    it is."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inside, command = folder / "env" / "bin" / "python", folder / "env" / "bin" / "askance"
        clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        clean["ASKANCE_CACHE_DIR"] = str(folder / "cache")
        (folder / "mail.csv").write_text(MAIL)

        def do(*step: Any) -> None:
            done = subprocess.run(step, cwd=folder, env=clean, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"{' '.join(map(str, step[1:]))} failed with {python}:\n{done.stdout}{done.stderr}")

        stopwatch = Stopwatch()
        do(uv, "venv", "--quiet", "--python", python, folder / "env")
        do(uv, "pip", "install", "--quiet", "--python", inside, wheel)
        files = (path for path in (folder / "env").rglob("*") if path.is_file() and not path.is_symlink())
        size = sum(path.stat().st_size for path in files) / 1e6
        stopwatch.note("installed")
        do(inside, "-c", FIRST_STEPS)
        stopwatch.note("first stream")
        do(command, "--help")
        do(command, "algorithms")
        do(command, "check", "mail.csv")
        do(command, "run", "mail.csv", "--algorithm", "SOAL-diag", "--budget", "20", "--save", "mail.model")
        do(command, "predict", "mail.csv", "--load", "mail.model")
        stopwatch.note("first own file")
        if service:
            do(uv, "pip", "install", "--quiet", "--python", inside, wheel, service)
            do(command, "init", "--classes", "ham,spam")
            label_first_event(command, folder, clean)
            stopwatch.note("first live label, with askance-live")
        return f"{', '.join(stopwatch.notes)}; {size:.0f} MB for the library"


class Stopwatch:
    """How long each step took, in words."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._since = time.monotonic()

    def note(self, step: str) -> None:
        now = time.monotonic()
        self.notes.append(f"{step} {now - self._since:.0f} s")
        self._since = now


def label_first_event(command: Path, folder: Path, environment: dict[str, str]) -> None:
    """Serve, send an event, ask what there is to answer, and answer it."""
    service = subprocess.Popen(
        [command, "serve", "--port", "0"], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        line = service.stdout.readline() if service.stdout else ""
        if " serves " not in line:
            raise SystemExit(f"askance serve said {line!r} and no address.")
        address = line.split()[-1]
        event = call(address, "/v1/events", {"id": "m-1", "fields": {"text": "you won a cruise"}})
        (question,) = call(address, "/v1/asks/next", {})["asks"]
        given = {"answer_id": "a-1", "token": question["token"], "label": "spam"}
        answer = call(address, f"/v1/asks/{question['id']}/answer", given)
        if not event["asked"] or answer["label"] != "spam":
            raise SystemExit(f"the first event gave {event}, and its answer {answer}.")
    finally:
        service.terminate()
        service.wait()


def call(address: str, path: str, body: Any) -> Any:
    request = urllib.request.Request(address + path, dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return load(response)


def check_archive(uv: Path, folder: Path, name: str) -> Path:
    """The wheel of a package, after the same was built from its source archive."""
    (wheel,), (archive,) = folder.glob(f"{name}-*.whl"), folder.glob(f"{name}-*.tar.gz")
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", place, archive], check=True)
        (again,) = Path(place).glob("*.whl")
        odd = files_in(wheel) ^ files_in(again)
        if odd:
            raise SystemExit(f"the wheel and the one made from the source archive differ in {sorted(odd)}.")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e3:.0f} kB, the same files from {archive.name}")
    return wheel


def main(uv: Path, folder: Path) -> None:
    library, service, _ = (check_archive(uv, folder, name) for name in ("askance", "askance_live", "askance_papers"))
    at_hand = pythons_at_hand()
    if not any(at_hand.values()):
        raise SystemExit("there is no Python to try it with.")
    newest = [version for version, python in at_hand.items() if python][-1]
    for version, python in at_hand.items():
        with_service = service if version == newest else None
        outcome = try_one(uv, library, python, with_service) if python else "not on this machine, not tried"
        print(f"Python {version}: {outcome}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute())
