"""A type checker finds a misspelt method, argument or attribute in a program that uses the package."""

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import askance
from askance.learner.presets import AlgorithmName

SLIPS = """\
import askance
clf = askance.make("auto", budget=5, random_state=0)
trace = clf.run([[1.0], [0.0]], ["a", "b"])
rules = askance.updates.PassiveAggressive1(C=0.5), askance.queries.Margin(delta=1.0)
askance.make("auto", buget=5)
askance.mak("auto")
askance.ActiveClassifier(buget=5)
clf.rnu([[1.0]], ["a"])
clf.run([[1.0]], ["a"], tmes=[1])
clf.predict_probs([[1.0]])
clf.ask([1.0]).lable
trace.askd
askance.budgets.Rate(share=0.1)
askance.updates.Perceptorn()
askance.queries.Margin(delat=1.0)
clf.fit([[1.0]], ["a"]).score([[1.0]], ["a"], sample_weigth=[1.0])
askance.make("atuo", budget=5)
askance.rules.UpdateRul
"""
FIRST = 5  # the lines before are right


def test_every_misspelt_name_is_found(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "slips.py").write_text(SLIPS)
    source = str(Path(askance.__file__).parents[1])
    words = ["--follow-imports=silent", "--ignore-missing-imports", "--no-error-summary", "--cache-dir", "cache"]
    found = subprocess.run(
        [sys.executable, "-m", "mypy", *words, "slips.py"], cwd=tmp_path, env={"MYPYPATH": source, "PATH": ""},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = {int(line.split(":")[1]) for line in found.stdout.splitlines() if ": error:" in line}
    assert lines == set(range(FIRST, SLIPS.count("\n") + 1)), found.stdout + found.stderr


def test_type_checkers_know_every_algorithm():
    rows = askance.algorithms()
    assert list(get_args(AlgorithmName)) == [name for row in rows for name in (row["name"], *row["aliases"])]


def test_only_public_names_are_listed():
    assert set(dir(askance)) == {*askance.__all__, "__version__"}
    for module in (askance.updates, askance.queries):
        assert all(name[0].isupper() for name in dir(module))


@pytest.mark.parametrize("module", [askance.updates, askance.queries])
def test_what_rules_are_written_with_is_still_found_where_it_was(module):
    with pytest.warns(DeprecationWarning, match=f"{module.__name__}.share is askance.rules.share now"):
        assert module.share is askance.rules.share
    with pytest.raises(AttributeError, match="no attribute 'no_such_rule'"):
        module.no_such_rule  # noqa: B018
