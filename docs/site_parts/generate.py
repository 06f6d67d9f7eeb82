"""Writes the pages that are made from the package itself, into ``docs/generated``."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import matplotlib as mpl

import askance
from askance import errors
from askance.learner.presets import PAPERS, PRESETS, Preset
from site_parts import algorithm_pages, pictures
from site_parts.families import FAMILIES, Family
from site_parts.formulas import QUERIES, UPDATES

API = {
    "askance": "A classifier by name, or from rules; what it decided; model files.",
    "askance.updates": "How to learn from an answer.",
    "askance.queries": "The probability of asking.",
    "askance.rules": "What it takes to write a rule.",
    "askance.budgets": "How many labels may be bought.",
    "askance.adapters.wrapped": "Any classifier of scikit-learn with `partial_fit`, under our rules and budgets.",
    "askance.adapters.river": "Our classifiers in river, and river's classifiers under our rules and budgets.",
    "askance.adapters.skactiveml": "Our query rules and budgets in scikit-activeml.",
    "askance.testing": "Checks for whoever writes a rule.",
    "askance.quality": "How good the model is, from bought labels alone.",
    "askance.drift": "Whether the world has changed.",
    "askance.metrics": "Figures over a trace.",
    "askance.data": "Files, folders, pipes and public data sets as batches of events.",
    "askance.data.generators": "Streams made on the spot.",
    "askance.adapters.onnx": "Models for onnxruntime.",
    "askance.adapters.mlflow": "Models in MLflow.",
    "askance.data.datasets": "Public data sets by name.",
    "askance.compare": "Algorithms compared.",
    "askance.errors": "What askance raises.",
}
FEWEST_WORDS = 5  # of a sentence that can be found again
OF_SCIKIT_LEARN = "get_metadata_routing, score, set_fit_request, set_partial_fit_request, set_score_request"


def write_all(docs: Path) -> None:
    """Write every generated page; those that have not changed are left alone, so that they are not built again."""
    mpl.use("agg")
    root, out = docs.parent, docs / "generated"
    for path in sorted((root / "benchmarks").glob("*.md")):
        write(out / "benchmarks" / path.name, path.read_text().replace("](../docs/", "](../../"))
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        write(out / name.lower(), (root / name).read_text().replace("](docs/", "](../"))
    algorithms, measured = out / "algorithms", presets_at_their_defaults(root / "benchmarks" / "AUTO.md")
    algorithms.mkdir(parents=True, exist_ok=True)
    for row in PRESETS:
        page = algorithm_pages.algorithm_page(row, algorithms, measured)
        write(algorithms / f"{algorithm_pages.page_name(row)}.md", page)
    for family in FAMILIES:
        write(algorithms / f"{family.module}.md", family_page(family, algorithms))
    for module, purpose in API.items():
        write(out / "api" / f"{module}.md", api_page(module, purpose))
    write(out / "errors.md", error_page(root / "packages"))
    pictures.draw_presets(out / "presets.png", played_on_all_sets(measured))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def lead_inside(app: Any, name: str, source: list[str]) -> None:
    """On the site, what is linked outside of this folder is a page of its own."""
    if not name.startswith("generated/"):
        text = source[0].replace("](../benchmarks/", "](generated/benchmarks/")
        for page in ("CONTRIBUTING.md", "CHANGELOG.md"):
            text = text.replace(f"](../{page}", f"](generated/{page.lower()}")
        source[0] = text


# --- one page per family of algorithms ---------------------------------------------------------------------


def family_page(family: Family, folder: Path) -> str:
    """When to use it, the formula, a picture, the table of its names, parameters, the rule's own words."""
    module = importlib.import_module(f"askance.learner.update.{family.module}")
    rows = algorithm_pages.rows_of(family)
    shown = algorithm_pages.named(family.shown)
    rules = [rule for _, rule in inspect.getmembers(module, inspect.isclass) if is_public_rule(rule, module.__name__)]
    caption = pictures.draw_questions(folder / f"{family.module}.png", family.shown, family.settings)
    return "\n".join(
        [
            f"# {family.title}\n",
            f"{family.when}\n",
            f"{family.shown} asks and learns so:\n",
            *algorithm_pages.display((*QUERIES[shown.query.__name__], *UPDATES[shown.update.__name__].formula)),
            f"```{{figure}} {family.module}.png\n:alt: What {family.shown} asks, and how likely a question is\n",
            f"{caption}\n```\n",
            "## Names\n",
            "Each has a page of its own, with its formula, its cost and a picture of what it asks.\n",
            *table_of(rows),
            "\n```{toctree}\n:hidden:",
            *(algorithm_pages.page_name(row) for row in rows),
            "```",
            "\n## In the papers\n",
            *(f"- Paper {paper}: {PAPERS[paper]}" for paper in sorted({row.paper for row in rows})),
            "\n[The five papers, line by line](../../papers.md) says where each equation is.\n",
            "## What is computed\n",
            f"```text\n{inspect.getdoc(module)}\n```\n",
            "## Update rules\n",
            *(directive("autoclass", f"askance.updates.{rule.__name__}", "no-index:") for rule in by_source(rules)),
            "\n## Query rules\n",
            *(directive("autoclass", f"askance.queries.{name}", "no-index:") for name in query_names(rows)),
        ]
    )


def is_public_rule(rule: type, module: str) -> bool:
    return rule.__module__ == module and rule.__name__ in askance.updates.__all__


def by_source(rules: list[type]) -> list[type]:
    return sorted(rules, key=lambda rule: inspect.getsourcelines(rule)[1])


def query_names(rows: list[Preset]) -> list[str]:
    return list(dict.fromkeys(row.query.__name__ for row in rows))


def table_of(rows: list[Preset]) -> list[str]:
    lines = ["| algorithm | also | parameters, with their defaults | query rule | update rule |", "|---" * 5 + "|"]
    for row in rows:
        letters = ", ".join(f"{letter} = {value:g}" for letter, value in row.parameters.items())
        rules = f"{row.query.__name__} | {row.update.__name__}"
        lines.append(
            f"| [{row.name}]({algorithm_pages.page_name(row)}.md) | {', '.join(row.aliases)} | {letters} | {rules} |"
        )
    return lines


def directive(kind: str, name: str, *options: str) -> str:
    lines = [f".. {kind}:: {name}", *(f"   :{option}" for option in options)]
    return "```{eval-rst}\n" + "\n".join(lines) + "\n```\n"


# --- the reference -------------------------------------------------------------------------------------------


def api_page(module: str, purpose: str) -> str:
    """A module's public names with their docstrings."""
    names = public_names(module)
    listed = [directive(kind_of(module, name), f"{module}.{name}", *options_of(module, name)) for name in names]
    return "\n".join([f"# {module}\n", f"{purpose}\n", *listed])


def public_names(module: str) -> list[str]:
    found = importlib.import_module(module)
    names = getattr(found, "__all__", [name for name, thing in vars(found).items() if is_own_class(thing, module)])
    return [name for name in names if callable(getattr(found, name))]


def is_own_class(thing: Any, module: str) -> bool:
    return inspect.isclass(thing) and thing.__module__ == module


def kind_of(module: str, name: str) -> str:
    thing = getattr(importlib.import_module(module), name)
    if inspect.isclass(thing):
        return "autoexception" if issubclass(thing, Exception) else "autoclass"
    return "autofunction"


def options_of(module: str, name: str) -> tuple[str, ...]:
    if kind_of(module, name) == "autofunction":
        return ()
    inherits = ("inherited-members:",) if name == "ActiveClassifier" else ()
    excludes = (f"exclude-members: {OF_SCIKIT_LEARN}",) if name in ("ActiveClassifier", "WrappedClassifier") else ()
    return ("members:", *inherits, *excludes)


# --- the index of errors --------------------------------------------------------------------------------------


def error_page(packages: Path) -> str:
    """Every sentence that the packages raise, by the exception; found in the source."""
    sentences = defaultdict(set)
    for path in sorted(packages.glob("*/src/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                name, sentence = getattr(node.exc.func, "id", ""), template_of(node.exc.args[0])
                if len(re.findall(r"\w+", sentence)) >= FEWEST_WORDS and hasattr(errors, name):
                    sentences[name].add(sentence)
    lines = [
        "# Index of errors\n",
        "Every sentence that askance raises, with … where the value stands. All exceptions are `AskanceError`s, and "
        "also the built-in that you would expect. The commands print the sentence and end with exit code 2; the live "
        "service answers with it ([problems](../http.md#errors)).\n",
    ]
    for name in sorted(sentences):
        kind = getattr(errors, name)
        builtin = kind.__bases__[-1].__name__
        lines += [f"## {name}\n", f"{inspect.getdoc(kind).splitlines()[0]} Built-in: `{builtin}`.\n"]
        lines += [f"- {escape(sentence)}" for sentence in sorted(sentences[name], key=str.casefold)]
        lines.append("")
    return "\n".join(lines)


def template_of(node: ast.expr) -> str:
    """The text of a message, … for each value in it; nothing if the whole message is made elsewhere."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return template_of(node.left) + (template_of(node.right) or "…")
    return ""


def escape(sentence: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|$~])", r"\\\1", " ".join(sentence.split()))


# --- the chart of "which algorithm?" -----------------------------------------------------------------------------


def presets_at_their_defaults(path: Path) -> dict[str, dict[str, float]]:
    """The table of this name in AUTO.md: a preset's numbers by rate, and those of ``auto`` on the same sets."""
    part = path.read_text().split("## Presets at their defaults")[1].split("\n## ")[0]
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line.startswith("|")
    ]
    heads, rows = cells[0][1:], cells[2:]
    named = [head if head != "auto" else f"auto {heads[place - 1]}" for place, head in enumerate(heads)]
    return {row[0]: dict(zip(named, map(float, row[1:]), strict=True)) for row in rows}


def played_on_all_sets(measured: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """The presets that played the sets of the first row's ``auto``, and that ``auto`` beside them."""
    auto = {head: value for head, value in next(iter(measured.values())).items() if head.startswith("auto ")}
    chosen = {name: numbers for name, numbers in measured.items() if auto.items() <= numbers.items()}
    return chosen | {"auto": {head.removeprefix("auto "): value for head, value in auto.items()}}
