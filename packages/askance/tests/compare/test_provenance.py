"""An edit of whatever decides a number changes the keys of the results file; other edits do not."""

import ast
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from tests.compare.streams import blobs, table

from askance.compare import Table
from askance.compare.play import Conditions, Play
from askance.compare.provenance import PACKAGE, _read, digest_code, follow_imports
from askance.compare.results_cache import ResultsCache, ResultsFile

PLAY = "askance.compare.play"


@pytest.fixture
def package(tmp_path):
    """A copy of the package that may be edited."""
    copy = tmp_path / "askance"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def edit(path, before, after):
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("evaluate/metrics/counts.py", "1.0 - ratio(self.mistakes()", "2.0 - ratio(self.mistakes()"),
        (
            "evaluate/metrics/register.py",
            "return self.of_matrix(per_class)",
            "return 2.0 * self.of_matrix(per_class)",
        ),
        ("compare/play.py", "rng.permutation(self.table.n_events)", "rng.permutation(self.table.n_events)[::-1]"),
        ("evaluate/metrics/counts.py", "return", "return 0.5 *"),
        ("learner/query/margin.py", "parameters[0]", "(2.0 * parameters[0])"),
        ("learner/update/passive_aggressive.py", "1.0 -", "1.5 -"),
        ("learner/presets.py", 'preset("PAA-I", 1, u.PassiveAggressive1', 'preset("PAA-I", 1, u.PassiveAggressive2'),
        ("learner/auto/query.py", "positive(0.2)", "positive(0.3)"),
        ("compare/table.py", "digest_size=16", "digest_size=12"),
    ],
)
def test_an_edit_of_what_plays_or_measures_changes_the_digest(package, file, before, after):
    old = digest_code(PLAY, package=package)
    edit(package / file, before, after)
    assert digest_code(PLAY, package=package) != old


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("compare/play.py", '"""Play, and measure."""', '"""Play, then measure."""'),
        ("compare/play.py", "from __future__", "# a remark\nfrom __future__"),
        ("learner/query/margin.py", '"""', '"""Said otherwise. '),
        ("cli/compare.py", "def configure(", "def set_up("),
        ("compare/report.py", "WIDE, NARROW = 956", "WIDE, NARROW = 950"),
        ("cli/run.py", "import", "import sys\nimport"),
    ],
)
def test_other_edits_do_not(package, file, before, after):
    old = digest_code(PLAY, package=package)
    edit(package / file, before, after)
    assert digest_code(PLAY, package=package) == old


def test_the_digest_is_that_of_the_package_in_use(package):
    assert digest_code(PLAY, package=package) == digest_code(PLAY)


def test_everything_that_is_loaded_to_play_is_followed():
    """Python itself says what it imported."""
    script = (
        "import sys, numpy as np\n"
        "from askance.compare.play import Conditions, Play, TablePlayer\n"
        "from askance.compare.table import Table\n"
        "table = Table.of((np.eye(4), np.array([0, 1, 0, 1])))\n"
        "for everything in (False, True):\n"
        "    player = TablePlayer(table, Conditions(everything=everything), 0)\n"
        "    for name, rate in (('UOAL-random', (('rate', 1.0),)), ('auto', (('rate', 0.5),))):\n"
        "        player.play(Play(name, rate, None, 'play', 0))\n"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('askance.')), sep='\\n')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    followed = {str(path) for path in follow_imports((PLAY,))}
    loaded = {line for line in done.stdout.split("\n") if line}
    assert str(PACKAGE / "evaluate" / "metrics" / "summary.py") in loaded
    # Folders' __init__ are run on the way; that of the experiments imports all of them, and who sends them the plays,
    # that of drift both signals, of which ``auto`` uses one, that of formats what opens and refuses files.
    unused = ("compare", "engines", "evaluate/drift/answers.py", "data/formats/quarantine.py", "data/formats/source.py")
    aside = tuple(str(PACKAGE / name) for name in unused)
    assert not {path for path in loaded - followed if not path.startswith(aside) and not path.endswith("__init__.py")}


def key(table, conditions=None, play=None):
    play = play or Play("PAA-I", (("C", 1.0),), None, "play", 0)
    return ResultsCache(ResultsFile(None), table, conditions or Conditions()).key(play)


def test_every_number_of_the_data_counts(tmp_path):
    path = tmp_path / "data.csv"
    lines = [f"{i % 7},{i % 3},{'ab'[i % 2]}" for i in range(40)]
    path.write_text("\n".join(["one,two,label", *lines]))
    first = key(Table.of(path))
    assert key(Table.of(path)) == first
    path.write_text("\n".join(["one,two,label", "0,1,a", *lines[1:]]))
    assert key(Table.of(path)) != first


def test_scaling_and_width_count():
    plain = table()
    wider = Table.of(("blobs", np.hstack([blobs()[1], np.zeros((1_200, 1))]), blobs()[2]))
    assert len({key(plain), key(plain.prepare("standard")), key(plain.prepare("l2")), key(wider)}) == 4


@pytest.mark.parametrize("library", ["numpy", "scipy", "numba"])
def test_another_version_of_a_library_counts(library, monkeypatch):
    first, version = key(table()), importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.0" if name == library else version(name))
    assert key(table()) != first


def test_a_comparison_after_an_edit_of_a_metric_shows_new_numbers(package, tmp_path):
    path = tmp_path / "data.csv"
    rng = np.random.default_rng(0)
    rows = [f"{a:.3f},{b:.3f},{'ab'[int(a > 0)]}" for a, b in rng.normal(size=(200, 2))]
    path.write_text("\n".join(["one,two,label", *rows]))
    results = tmp_path / "results.jsonl"

    def compare():
        words = [
            str(path),
            "-a",
            "PAA-I:C=1",
            "--ratios",
            "0.2",
            "--permutations",
            "2",
            "--json",
            "--metric",
            "accuracy",
        ]
        done = subprocess.run(
            [sys.executable, "-m", "askance", "compare", *words, "--workers", "1", "--results", str(results)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(package.parent)},
        )
        assert done.returncode == 0, done.stderr
        return [line["mean"] for line in json.loads(done.stdout)["lines"]]

    first = compare()
    assert compare() == first
    edit(
        package / "evaluate" / "metrics" / "counts.py",
        "1.0 - ratio(self.mistakes(), self.events.sum(axis=-1))",
        "0.5 - ratio(self.mistakes(), self.events.sum(axis=-1))",
    )
    assert compare() == pytest.approx([mean - 0.5 for mean in first])


class ParsesWhenCollected:
    """Garbage whose finalizer parses, as the log of a lost task does when it formats a traceback."""

    def __init__(self):
        self.cycle = self

    def __del__(self):
        ast.parse("one = 1")


def test_code_is_read_whatever_garbage_is_collected_meanwhile():
    wanted = digest_code(PLAY)
    for _ in range(3):
        ParsesWhenCollected()
        _read.cache_clear()
        assert digest_code(PLAY) == wanted
