"""A new rule of ours: a class in the file of its family and a line in the table of presets, and nothing else."""

import json
import os
import shutil
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest

import askance
from askance.learner.make import COMMON, KERNEL, MakeParameters

PACKAGE = Path(askance.__file__).parent
RULES = {
    "update": (
        "learner/update/perceptron.py",
        "Perceptron",
        '''

def learn_half(parameters, state, event, answer, prediction, weight):
    if sign(answer) * prediction.margin <= 0.0:
        add(state.table, 0, event, parameters[0] * sign(answer))


@dataclass
class Halved(UpdateRule):
    """A toy."""

    kappa: float = positive(0.5)

    binary: ClassVar = Kernels(linear_margin, learn_half)
''',
        'preset("TOY", 1, u.Halved, q.Margin, "PLAYTHING"),',
    ),
    "query": (
        "learner/query/simple.py",
        "Random",
        '''

def probability_of_every_third(parameters, margin, variance, squared_length, tally):
    return 1.0 if tally.seen % 3 == 0 else parameters[0]


@dataclass
class EveryThird(QueryRule):
    """A toy."""

    kappa: float = share(0.5)

    probability: ClassVar = staticmethod(probability_of_every_third)
''',
        'preset("TOY", 1, u.Perceptron, q.EveryThird, "PLAYTHING"),',
    ),
}
SCRIPT = """
import json, sys
import askance
clf = askance.make("plaything", kappa=0.25, classes=["no", "yes"], random_state=0)
trace = clf.run([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] * 20, ["no", "yes", "yes"] * 20)
clf.save("toy.model")
row = next(row for row in askance.algorithms() if row["name"] == "TOY")
same = askance.load("toy.model").predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
public = [name for module in (askance.updates, askance.queries) for name in module.__all__]
rules = [type(rule).__name__ for rule in (clf.update, clf.query)]
print(json.dumps([askance.__file__, row, rules, set(rules) <= set(public), same, int(trace.asked.sum())]))
"""


@pytest.mark.parametrize("kind", RULES)
def test_a_rule_needs_two_files(kind, tmp_path):
    file, neighbour, source, row = RULES[kind]
    copy = tmp_path / "askance"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "live"))
    name = source.split("class ")[1].split("(")[0]
    edit(copy / file, f'"{neighbour}"', f'"{neighbour}", "{name}"')
    (copy / file).write_text((copy / file).read_text() + source)
    edit(copy / "learner/presets.py", "PRESETS = (\n", f"PRESETS = (\n    {row}\n")
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "1"}
    words = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    where, listed, rules, are_public, predicted, asked = json.loads(done.stdout)
    assert where.startswith(str(tmp_path))
    assert listed["aliases"] == ["PLAYTHING"]
    assert "kappa" in listed["parameters"]
    assert name in rules
    assert are_public
    assert predicted == ["no", "yes"]
    assert 0 < asked <= 60


def edit(path, before, after):
    text = path.read_text()
    assert text.count(before) == 1
    path.write_text(text.replace(before, after))


def test_the_parameters_of_every_classifier_are_declared_and_described():
    names = [name for name in signature(askance.ActiveClassifier).parameters if name not in ("update", "query")]
    assert list(COMMON) == names
    assert all(f"\n    {name} : " in askance.ActiveClassifier.__doc__ for name in names)


def test_the_declared_parameters_are_those_that_algorithms_have():
    letters = {name for row in askance.algorithms() for name in row["parameters"]}
    choices = {"weighted", "costs", "kernel", *KERNEL}
    assert set(MakeParameters.__annotations__) == {*letters, *COMMON, *choices}
