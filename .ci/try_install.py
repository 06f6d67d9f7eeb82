"""Install the built wheel into an empty environment, for each Python at hand, and do what a newcomer does first.

python .ci/try_install.py UV dist

Base dependencies only: what an extra brings must not be needed. The source archive is built into a wheel of its own,
which must hold the same files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

MINORS = (11, 12, 13, 14)
FIRST_STEPS = """
import askance
from askance.stream.generators import messages

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


def try_one(uv: Path, wheel: Path, python: Path) -> str:
    """Install and use it in a folder of its own; raises if a step fails. Returns how long that took and how large it
    is."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.monotonic()
        subprocess.run([uv, "venv", "--quiet", "--python", python, folder / "env"], check=True)
        inside = folder / "env" / "bin" / "python"
        subprocess.run([uv, "pip", "install", "--quiet", "--python", inside, wheel], check=True)
        installed = time.monotonic() - began
        clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        clean["ASKANCE_CACHE_DIR"] = str(folder / "cache")
        (folder / "mail.csv").write_text(MAIL)
        command = folder / "env" / "bin" / "askance"
        for step in (
            [inside, "-c", FIRST_STEPS],
            [command, "--help"],
            [command, "algorithms"],
            [command, "check", "mail.csv"],
            [command, "run", "mail.csv", "--algorithm", "SOAL-diag", "--budget", "20", "--save", "mail.model"],
            [command, "predict", "mail.csv", "--load", "mail.model"],
        ):
            done = subprocess.run(step, cwd=folder, env=clean, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"{' '.join(map(str, step[1:]))} failed with {python}:\n{done.stdout}{done.stderr}")
        used = time.monotonic() - began - installed
        files = (path for path in (folder / "env").rglob("*") if path.is_file() and not path.is_symlink())
        size = sum(path.stat().st_size for path in files) / 1e6
        return f"installed in {installed:.0f} s, {size:.0f} MB; first steps took {used:.0f} s"


def main(uv: Path, folder: Path) -> None:
    (wheel,) = folder.glob("*.whl")
    (archive,) = folder.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", name, archive], check=True)
        (again,) = Path(name).glob("*.whl")
        odd = files_in(wheel) ^ files_in(again)
        if odd:
            raise SystemExit(f"the wheel and the one made from the source archive differ in {sorted(odd)}.")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e3:.0f} kB, the same files from {archive.name}")
    at_hand = pythons_at_hand()
    if not any(at_hand.values()):
        raise SystemExit("there is no Python to try it with.")
    for version, python in at_hand.items():
        outcome = try_one(uv, wheel, python) if python else "not on this machine, not tried"
        print(f"Python {version}: {outcome}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]))
