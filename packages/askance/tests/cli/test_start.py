"""What a command imports: a slip costs no library that it has no use for, and no command but ``compare`` and its like
costs scikit-learn."""

import subprocess
import sys
from pathlib import Path

import pytest

ROWS = "".join(f"{i % 7},{(i * 5) % 11},{'xyz'[i % 3]},{'yes' if i % 7 > 3 else 'no'}\n" for i in range(200))
HEAVY = {"sklearn", "pandas", "pyarrow", "joblib", "narwhals", "numba", "llvmlite", "scipy"}
SLIPS = [
    "run mail.csv --nonsense",
    "run mail.csv --rate 20",
    "run mail.csv --algorithm nonsense",
    "run mail.csv --algorithm PAA-I:C=-1",
    "run mail.csv --algorithm PAA-I:nonsense=1",
    "run mail.csv --label nonsense",
    "run mail.csv --field nonsense=number",
    "run mail.csv --load none.model",
    "run none.csv",
    "run nonsense",
    "check none.csv",
    "check mail.csv --label nonsense",
    "predict mail.csv --load none.model",
    "pipe --classes yes",
    "pipe --classes yes,no --algorithm nonsense",
    "nonsense",
]
PLAY = """
import sys
from askance.cli import main
for words in sys.argv[2:]:
    try:
        code = main(words.split())
    except SystemExit as ended:
        code = ended.code
    found = {name for name in sys.argv[1].split(",") if name in sys.modules}
    print(words, "|", code, "|", ",".join(sorted(found)), file=sys.stderr)
"""


def imported(folder: Path, modules: set[str], *commands: str) -> list[tuple[str, str, str]]:
    """Some command lines played by one new process: each with its exit code, and which of the modules are there."""
    done = subprocess.run(
        [sys.executable, "-c", PLAY, ",".join(modules), *commands],
        cwd=folder, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    lines = [line.split(" | ") for line in done.stderr.splitlines() if line.startswith(commands)]
    assert [line[0] for line in lines] == list(commands), done.stderr
    return [(words, code, found) for words, code, found in lines]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mail.csv").write_text("a,b,c,label\n" + ROWS)
    return tmp_path


def test_a_slip_costs_no_library(folder):
    for words, code, found in imported(folder, HEAVY, *SLIPS):
        assert (code, found) == ("2", ""), words


def test_commands_play_without_scikit_learn(folder):
    unused = {"sklearn", "pandas", "joblib", "narwhals", "pyarrow", "scipy.stats", "scipy.optimize"}
    commands = [
        "run mail.csv --algorithm PAA-I --save mail.model --json",
        "run mail.csv --load mail.model",
        "run mail.csv",
        "predict mail.csv --load mail.model --output found.csv",
        "check mail.csv",
        "pipe --classes yes,no --algorithm PAA-I",
    ]
    for words, code, found in imported(folder, unused, *commands):
        assert (code, found) == ("0", ""), words


def test_the_service_learns_without_scikit_learn(folder):
    code = (
        "import sys\n"
        "from askance_live.config import AskingSettings, ModelSettings\n"
        "from askance_live.engine.learner import Incoming, Learner\n"
        "learner = Learner(ModelSettings(['ham', 'spam']), AskingSettings())\n"
        "learner.decide([Incoming({'text': 'win a prize'}, 0.0)], 0)\n"
        "learner.predict({'text': 'lunch'})\n"
        "assert not {'sklearn', 'pandas', 'joblib', 'scipy.stats'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
