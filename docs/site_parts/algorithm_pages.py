"""One page per algorithm, put together from the table of algorithms, the docstrings of its rules, and ``formulas``."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import askance
from askance.compare.random_baseline import random_baseline_of
from askance.learner.presets import PAPERS, PRESETS, Preset, key_of
from site_parts import pictures
from site_parts.families import FAMILIES, Family
from site_parts.formulas import QUERIES, UPDATES

KINDS = {
    "Always": "It asks for every label as long as the budget lasts: a baseline, beside which one sees what choosing is "
    "worth.",
    "Random": "It asks by the toss of a coin: a baseline, beside which one sees what choosing is worth.",
}
PER_CLASS = (
    "For more than two classes: one weight vector each, and $p$ is the best score minus the second best. An answer "
    "moves the vectors of its class and of the best wrong one."
)
MEASURED = ("1 %", "5 %", "20 %")
OWN = "the other parameters of [ActiveClassifier](../api/askance.md)"


def page_name(row: Preset) -> str:
    """The name of its file.

    >>> page_name(next(row for row in PRESETS if row.name == "CSPAA(a)"))
    'cspaa-a'
    """
    return "-".join(re.findall(r"\w+", row.name.lower()))


def algorithm_page(row: Preset, folder: Path, measured: dict[str, dict[str, float]]) -> str:
    """When to use it, the formula, parameters, cost, what was measured, a picture of what it asks, its paper."""
    family = family_of(row)
    update, query = row.update.__name__, row.query.__name__
    caption = pictures.draw_questions(folder / f"{page_name(row)}.png", row.name, {"budget": 0.1}, classes_of(row))
    return "\n".join(
        [
            f"# {row.name}\n",
            *([f"Also called {', '.join(row.aliases)}.\n"] if row.aliases else []),
            f"- **Learns** by `{update}`: {first_sentence(row.update)}",
            f"- **Asks** by `{query}`: {first_sentence(row.query)}\n",
            "## When to use it\n",
            f"{KINDS.get(query, family.when)}\n",
            *([PER_CLASS + "\n"] if row.fixed.get("per_class") else []),
            *twin_line(row),
            "## What is computed\n",
            f"Ask, for an event with the margin $p${' and its variance $v$' if row.query.reads_variance else ''}:\n",
            *display(QUERIES[query]),
            "Learn from the answer $y$, which is -1 or 1:\n",
            *display(UPDATES[update].formula),
            *weight_line(row),
            f"The page of the family, [{family.title}]({family.module}.md), has the rest: every rule in words, and "
            "what is done where the paper is silent.\n",
            f"**Cost of an event**: {UPDATES[update].cost}, where nnz is the number of its non-zero features"
            f"{' and d that of all features' if 'd' in re.findall(r'[a-z]+', UPDATES[update].cost) else ''}.\n",
            "## Parameters\n",
            *parameter_table(row),
            f"\n{'`weighted`, ' if row.can_be_weighted else ''}`budget`, `classes`, `random_state` and {OWN} go with "
            "it as with every algorithm.\n",
            "```python\n" + example(row) + "\n```\n",
            *measured_lines(row, measured),
            "## What it asks\n",
            f"```{{figure}} {page_name(row)}.png\n:alt: What {row.name} asks, and how likely a question is\n",
            f"{caption}\n```\n",
            "## Its paper\n",
            f"{PAPERS[row.paper]}. [The five papers, line by line](../../papers.md) says where each equation is.\n"
            if row.name != "SOAL-AUC"
            else "The name and the rule are ours: AUC as the objective is what paper 3 leaves to the future.\n",
        ]
    )


def family_of(row: Preset) -> Family:
    module = row.update.__module__.rpartition(".")[2]
    return next(family for family in FAMILIES if family.module == module)


def rows_of(family: Family) -> list[Preset]:
    """The algorithms of a family, in the order of the table."""
    return [row for row in PRESETS if family_of(row) is family]


def classes_of(row: Preset) -> int:
    return 3 if row.fixed.get("per_class") else 2


def first_sentence(rule: type) -> str:
    return inspect.getdoc(rule).split("\n\n")[0].replace("\n", " ").replace("``", "`")


def display(lines: tuple[str, ...]) -> list[str]:
    return [f"$$\n{line}\n$$\n" for line in lines]


def twin_line(row: Preset) -> list[str]:
    twin = random_baseline_of(row.name)
    if twin is None:
        return []
    shown = f"[{twin}]({page_name(own)}.md)" if (own := named(twin)) else f"`{twin}`, a name for `askance compare`"
    return [f"The same learner asking at random is {shown}.\n"]


def named(name: str) -> Preset | None:
    return next((row for row in PRESETS if row.name == name), None)


def weight_line(row: Preset) -> list[str]:
    if row.fixed.get("weighted"):
        return ["An answer counts with the weight $1 / P(\\text{ask})$, so that what is learned is unbiased.\n"]
    return []


def parameter_table(row: Preset) -> list[str]:
    if not row.parameters:
        return ["It has none of its own."]
    lines = ["| parameter | default | what it is |", "| --- | --: | --- |"]
    for letter, value in row.parameters.items():
        lines.append(f"| `{letter}` | {value:g} | {meaning_of(row, letter)} |")
    return lines


def meaning_of(row: Preset, letter: str) -> str:
    """What the docstring of its rule says of a parameter."""
    for rule in (row.query, row.update):
        found = described(rule).get(letter)
        if found and not found.startswith("As in the update rule"):
            return found
    raise LookupError(f"{letter} of {row.name} is described nowhere.")


def described(rule: type) -> dict[str, str]:
    """The parameters of a rule by name, as its docstring describes them."""
    section = re.search(r"Parameters\n-+\n(.*?)(\n\n\w|\Z)", inspect.getdoc(rule), re.DOTALL)
    entries = re.findall(r"^(\w.*)\n((?:    .*\n?)+)", section[1], re.MULTILINE) if section else []
    found = {}
    for names, text in entries:
        words = " ".join(text.split()).replace("``", "`").replace("|", "\\|")
        other = re.match(r"As for `(\w+)`", words)
        for name in names.partition(" :")[0].split(", "):
            found[name] = described(getattr(askance.updates, other[1]))[name] if other else words
    return found


def example(row: Preset) -> str:
    letters = ", ".join(f"{letter}={value:g}" for letter, value in row.parameters.items())
    given = f"{letters}, " if letters else ""
    return (
        f'clf = askance.make("{row.name}", budget=500, random_state=0)\n'
        "trace = clf.run(X, y)  # asks for 500 labels at most\n"
        f'clf = askance.make("{row.name}", {given}random_state=0)  # its defaults'
    )


def measured_lines(row: Preset, measured: dict[str, dict[str, float]]) -> list[str]:
    """The row of AUTO.md, if it was played there."""
    numbers = next((cells for name, cells in measured.items() if key_of(name) == key_of(row.name)), None)
    if numbers is None:
        return []
    shown = ", ".join(f"{numbers[rate]:.1f} at {rate}" for rate in MEASURED)
    auto = ", ".join(f"{numbers['auto ' + rate]:.1f}" for rate in MEASURED)
    return [
        "## Measured\n",
        f"Balanced accuracy at its defaults, in points, the mean over the real sets that it can play: {shown} of the "
        f"labels; `auto` on the same sets: {auto}. [Every case](../benchmarks/AUTO.md).\n",
    ]
