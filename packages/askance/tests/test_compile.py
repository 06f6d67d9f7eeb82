"""Compiling: found again by a second process, never stale, and optional."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pytest

pytestmark = pytest.mark.prove  # each test compiles in processes of its own, for tens of seconds together

REPORT = """
import json, sys
import numpy as np, askance
from askance.learner.make import make_stream_classifier as make  # without scikit-learn, which takes a second
from askance.learner.classifier import StreamClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 5)); y = (X @ rng.normal(size=5) > 0).astype(int)
def play(clf):
    trace = clf.run(X, y)
    play = clf._ready().compiled.play
    stats = getattr(play if hasattr(play, "stats") else getattr(play, "__wrapped__", None), "stats", None)
    hits, misses = (sum(stats.cache_hits.values()), sum(stats.cache_misses.values())) if stats else (None, None)
    return {"hits": hits, "misses": misses, "asked": trace.asked.tolist(), "weights": clf.coef_.ravel().tolist()}
"""


def in_a_new_process(code, cache, **environment):
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(REPORT) + textwrap.dedent(code)],
        env=os.environ | {"ASKANCE_CACHE_DIR": str(cache)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", ["PAA-I", "SOAL", "SSOA3"])
def test_second_process_finds_the_machine_code_on_disk(name, tmp_path):
    code = f"print(json.dumps(play(make({name!r}, random_state=0))))"
    first = in_a_new_process(code, tmp_path)
    second = in_a_new_process(code, tmp_path)
    assert (first["hits"], first["misses"]) == (0, 1)
    assert (second["hits"], second["misses"]) == (1, 0)
    assert first["asked"] == second["asked"]


def test_interpreted_kernels_decide_as_compiled_ones(tmp_path):
    code = "print(json.dumps(play(make('SOAL-diag', random_state=0))))"
    compiled = in_a_new_process(code, tmp_path)
    interpreted = in_a_new_process(code, tmp_path, NUMBA_DISABLE_JIT="1")
    assert interpreted["hits"] is None
    assert compiled["asked"] == interpreted["asked"]
    assert compiled["weights"] == pytest.approx(interpreted["weights"], abs=1e-12)


OWN_RULE = """
from dataclasses import dataclass
from typing import ClassVar
from askance.rules import Kernels, UpdateRule, linear_margin, positive
from helper_functions import step_for
from constants import SCALE
import constants

def learn(parameters, state, event, answer, said, weight):
    step = constants.FACTOR * SCALE * step_for(parameters[0], answer)
    for i in range(event.start, event.stop):
        state.table[event.columns[i], 0, 0] += step * event.values[i]

@dataclass
class Own(UpdateRule):
    rate: float = positive(1.0)
    binary: ClassVar = Kernels(margin=linear_margin, learn=learn)
"""
HELPER = "def step_for(rate, answer):\n    return rate * (2.0 * answer - 1.0)\n"


FILES = {"own_rule.py": OWN_RULE, "helper_functions.py": HELPER, "constants.py": "SCALE = 1.0\nFACTOR = 1.0\n"}


@pytest.fixture(scope="module")
def own_rule(tmp_path_factory):
    """A folder with a rule of somebody's own, what plays it, and the weights that gives; a second process finds its
    machine code."""
    folder = tmp_path_factory.mktemp("own")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    code = f"""
        sys.path.insert(0, {str(folder)!r})
        sys.dont_write_bytecode = True
        from own_rule import Own
        print(json.dumps(play(StreamClassifier(Own(), askance.queries.Always(), random_state=0))))
    """
    before = in_a_new_process(code, folder)
    assert in_a_new_process(code, folder)["hits"] == 1
    return folder, code, before["weights"]


@pytest.mark.parametrize(
    ("file", "old", "new", "factor"),
    [
        ("own_rule.py", "* step_for", "* 2.0 * step_for", 2.0),
        ("helper_functions.py", "rate * (2.0", "3.0 * rate * (2.0", 3.0),
        ("constants.py", "SCALE = 1.0", "SCALE = 5.0", 5.0),
        ("constants.py", "FACTOR = 1.0", "FACTOR = 7.0", 7.0),
    ],
    ids=["the kernel", "a helper in another file", "a constant in a third file", "a constant of a module"],
)
def test_an_edit_to_anything_a_kernel_uses_takes_effect_at_once(file, old, new, factor, own_rule):
    folder, code, weights = own_rule
    (folder / file).write_text(FILES[file].replace(old, new))
    after = in_a_new_process(code, folder)
    (folder / file).write_text(FILES[file])
    assert after["misses"] == 1
    assert after["weights"] == pytest.approx([factor * weight for weight in weights])


TYPES = """
from typing import NamedTuple
import numpy as np

class Point(NamedTuple):
    x: float
    y: float

RECORD = np.dtype([("left", "f8"), ("right", "f8")])
"""
READERS = """
from types_of_arguments import RECORD

def read(point, array):
    return 100.0 * point.x + array.view(RECORD)[0].left
"""


def test_fields_that_change_places_are_read_where_they_are(tmp_path):
    (tmp_path / "types_of_arguments.py").write_text(TYPES)
    (tmp_path / "readers.py").write_text(READERS)
    code = f"""
        sys.path.insert(0, {str(tmp_path)!r})
        sys.dont_write_bytecode = True
        from askance.compile import specialise
        from readers import read
        from types_of_arguments import Point
        print(specialise(read)(Point(x=1.0, y=2.0), np.array([3.0, 4.0])))
    """
    assert in_a_new_process(code, tmp_path) == 103.0
    points_turned = TYPES.replace("    x: float\n    y: float", "    y: float\n    x: float")
    (tmp_path / "types_of_arguments.py").write_text(points_turned)
    assert in_a_new_process(code, tmp_path) == 103.0
    record_turned = TYPES.replace('("left", "f8"), ("right", "f8")', '("right", "f8"), ("left", "f8")')
    (tmp_path / "types_of_arguments.py").write_text(record_turned)
    assert in_a_new_process(code, tmp_path) == 104.0


@pytest.fixture(scope="module")
def filled_cache(tmp_path_factory):
    """What makes a process compile, and a cache in which it finds the result."""
    code = """
        from askance.compile import specialise
        from askance.data.encoding.hashing import murmur3
        compiled = specialise(murmur3)
        compiled(np.frombuffer(b"abc", np.uint8), 0, 3, np.uint64(1))
        counts = {"hits": compiled.stats.cache_hits, "misses": compiled.stats.cache_misses}
        print(json.dumps({name: sum(count.values()) for name, count in counts.items()}))
    """
    folder = tmp_path_factory.mktemp("cache")
    in_a_new_process(code, folder)
    assert in_a_new_process(code, folder)["hits"] == 1
    return code, folder


@pytest.mark.parametrize("damage", [b"", b"junk", None], ids=["emptied", "garbled", "cut"])
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_damaged_cache_is_compiled_anew(damage, suffix, filled_cache, tmp_path):
    code, filled = filled_cache
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    for path in tmp_path.rglob(f"*.{suffix}"):
        path.write_bytes(path.read_bytes()[:40] if damage is None else damage)
    assert in_a_new_process(code, tmp_path)["misses"] == 1
    assert in_a_new_process(code, tmp_path)["hits"] == 1


def test_a_cache_folder_that_cannot_be_written_does_no_harm(filled_cache, tmp_path):
    code, _ = filled_cache
    (tmp_path / "file").write_text("in the way")
    assert in_a_new_process(code, tmp_path / "file")["misses"] == 1


def test_an_edit_behind_two_dots_takes_effect(tmp_path):
    package = tmp_path / "settings_of_mine"
    package.mkdir()
    (package / "__init__.py").write_text("from settings_of_mine import inner\n")
    code = """
        import sys
        sys.path.insert(0, sys.argv[1])
        import settings_of_mine
        import askance.rules
        def rate(parameters, margin, variance, squared_length, tally): return settings_of_mine.inner.RATE
        class Mine(askance.rules.QueryRule):
            probability = staticmethod(rate)
        clf = StreamClassifier(query=Mine(), random_state=0)
        print(json.dumps({"probability": clf.run(X, y).probability[0]}))
    """.replace("sys.argv[1]", repr(str(tmp_path)))
    for wanted in (0.25, 0.75):
        (package / "inner.py").write_text(f"RATE = {wanted}\n")
        found = in_a_new_process(code, tmp_path / "cache", PYTHONDONTWRITEBYTECODE="1")
        assert found["probability"] == wanted


def test_a_redefinition_reaches_a_classifier_that_has_begun(tmp_path):
    code = """
        from askance.rules import Kernels, UpdateRule, add, linear_margin, sign
        from typing import ClassVar
        STEP = 1.0
        def step(): return STEP
        def learn(parameters, state, event, answer, said, weight): add(state.table, 0, event, sign(answer) * step())
        class Mine(UpdateRule):
            binary: ClassVar = Kernels(linear_margin, learn)
        clf = StreamClassifier(Mine(), askance.queries.Always(), classes=[0, 1])
        seen = []
        def look(): seen.append(clf.partial_fit([[1.0, 0.0]], [1]).coef_[0, 0])
        look()
        STEP = 5.0
        look()
        def step(): return 20.0
        look()
        def twice(parameters, state, event, answer, said, weight): add(state.table, 0, event, 100.0)
        Mine.binary = Kernels(linear_margin, twice)
        look()
        print(json.dumps(seen))
    """
    assert in_a_new_process(code, tmp_path) == [1.0, 6.0, 26.0, 126.0]


def test_a_misspelt_name_is_told(tmp_path):
    code = """
        def rate(parameters, margin, variance, squared_length, tally): return marging
        class Mine(askance.rules.QueryRule):
            probability = staticmethod(rate)
        try:
            StreamClassifier(query=Mine()).run(X, y)
        except askance.errors.InvalidKernel as error:
            print(json.dumps(str(error)))
    """
    assert "marging" in in_a_new_process(code, tmp_path)


def test_processes_that_compile_for_different_types_at_once_never_find_each_others_code(tmp_path, monkeypatch):
    from askance import compile as compiling

    def kernel(x):
        return x

    monkeypatch.setenv("ASKANCE_CACHE_DIR", str(tmp_path))
    first, second, third = (compiling._cache_for(kernel, "digest")._cache_file for _ in range(3))
    monkeypatch.setattr(second, "_load_index", dict)  # as it was before the first came
    save_data = first._save_data

    def interrupted(name, data):
        second.save("for int64", "code for int64")
        save_data(name, data)

    monkeypatch.setattr(first, "_save_data", interrupted)
    first.save("for int32", "code for int32")
    for types in ("for int32", "for int64"):
        assert third.load(types) in (f"code {types}", None)  # None: it is compiled once more
    assert any(third.load(types) for types in ("for int32", "for int64"))


def test_processes_that_start_together_compile_once_between_them(tmp_path):
    code = "print(json.dumps(play(make('PAA-I', random_state=0))))"
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: in_a_new_process(code, tmp_path), range(4)))
    assert sorted(one["misses"] for one in found) == [0, 0, 0, 1]
    assert all(one["asked"] == found[0]["asked"] for one in found)


NEEDS_LOCKS = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks: everybody compiles")
TAKE_LOCK = """
from askance import compile as compiling
compiling.LONGEST_WAIT = 0.2
with compiling._compile_lock(5):
    print(json.dumps(compiling._wait_for_lock(compiling._lock_file(compiling.cache_directory()), 5)))
"""


@NEEDS_LOCKS
def test_a_process_that_holds_the_lock_for_long_is_not_waited_for(tmp_path, monkeypatch):
    from askance import compile as compiling

    monkeypatch.setenv("ASKANCE_CACHE_DIR", str(tmp_path))
    with compiling._compile_lock(5):
        assert not in_a_new_process(TAKE_LOCK, tmp_path)
    assert in_a_new_process(TAKE_LOCK, tmp_path)


@NEEDS_LOCKS
def test_all_locks_together_are_waited_for_no_longer_than_one(tmp_path, monkeypatch):
    from askance import compile as compiling

    code = """
        import time
        from askance import compile as compiling
        compiling.LONGEST_WAIT = 1.0
        file = compiling._lock_file(compiling._writable_cache_directory(compiling.cache_directory()))
        began = time.monotonic()
        had = [compiling._wait_for_lock(file, place) for place in (5, 5, 5, 6)]
        print(json.dumps([had, compiling._waited, time.monotonic() - began]))
    """
    monkeypatch.setenv("ASKANCE_CACHE_DIR", str(tmp_path))
    with compiling._compile_lock(5):
        had, waited, took = in_a_new_process(code, tmp_path)
    assert had == [False] * 4  # a process that waited in vain does not wait again
    assert 1.0 <= waited <= took


@NEEDS_LOCKS
def test_a_failure_frees_the_lock(tmp_path, monkeypatch):
    from askance import compile as compiling

    def fail(types):
        raise ValueError(types)

    monkeypatch.setenv("ASKANCE_CACHE_DIR", str(tmp_path))
    places = []
    lock = compiling._compile_lock
    monkeypatch.setattr(compiling, "_compile_lock", lambda place: lock(places.append(place) or 5))
    with pytest.raises(ValueError, match="int64"):
        compiling._lock_compiling(fail, "digest")("int64")
    assert len(places) == 1
    assert in_a_new_process(TAKE_LOCK, tmp_path)


@NEEDS_LOCKS
def test_where_nobody_can_be_told_to_wait_everybody_compiles(filled_cache, tmp_path):
    code, _ = filled_cache
    (tmp_path / "kernels" / "compile.lock").mkdir(parents=True)
    assert in_a_new_process(code, tmp_path)["misses"] == 1
    assert in_a_new_process(code, tmp_path)["hits"] == 1
