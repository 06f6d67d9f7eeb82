"""What the documents show runs, and what they list is complete."""

import argparse
import ast
import os
import re
import shlex
import sys
import tomllib
import warnings
from pathlib import Path

import pytest

import askance
from askance.cli import all_commands, parse, parsers
from askance.cli.reference import reference
from askance.errors import DataWarning

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def sections_of(document):
    """The sections of a document that have Python, as (heading, code): what somebody copies."""
    found = {}
    heading = "(top)"
    for language, block, title in re.findall(r"^```(\w*)\n(.*?)^```|^#+ ([^\n]*)", document, re.MULTILINE | re.DOTALL):
        heading = title or heading
        if language == "python":
            found[heading] = found.get(heading, "") + block
    return list(found.items())


SECTIONS = [
    pytest.param(code, path, id=f"{path.name}: {heading}")
    for path in DOCUMENTS
    for heading, code in sections_of(path.read_text())
]


@pytest.mark.parametrize(("code", "path"), SECTIONS)
def test_the_python_of_a_section_runs_when_it_alone_is_copied(code, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)  # nobody should begin with data that we warn of
        exec(compile(code, str(path), "exec"), {"__name__": path.stem})


PROJECTS = {
    path.parent.name: tomllib.loads(path.read_text())["project"] for path in ROOT.glob("packages/*/pyproject.toml")
}
DISTRIBUTIONS = {"sklearn": "scikit-learn", "skactiveml": "scikit-activeml", "mlflow": "mlflow-skinny"}


def name_of(requirement):
    return re.match(r"[\w.-]+", requirement)[0].lower()


def imported_by(code):
    """The distributions whose modules some code imports, those of Python itself left out."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            modules = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        for module in (module.partition(".")[0] for module in modules):
            if module not in sys.stdlib_module_names and module != "askance":
                yield DISTRIBUTIONS.get(module, module)


@pytest.mark.parametrize(("code", "path"), SECTIONS)
def test_what_a_section_imports_is_installed_by_something_that_its_page_names(code, path):
    """By askance, by an extra, or by a command of its own."""
    page = path.read_text()
    extras = PROJECTS["askance"]["optional-dependencies"]
    found = set()
    for name, project in PROJECTS.items():
        if name == "askance" or f"packages/{name}" in page:
            found |= {name.replace("-", "_"), *map(name_of, project["dependencies"])}
    found |= {name_of(line) for extra in extras if f"`{extra}`" in page for line in extras[extra]}
    found |= set(re.findall(r"pip install (\w+)", page))
    assert set(imported_by(code)) <= found


def test_sections_are_cut_at_headings():
    document = "```python\na\n```\n# One\n```sh\n# no heading\n```\n```python\nb\n```\n## Two\n```python\nc\nd\n```\n"
    assert sections_of(document) == [("(top)", "a\n"), ("One", "b\n"), ("Two", "c\nd\n")]


def commands_in(text):
    """The words of each call of askance in shell commands, one to a line."""
    for line in text.replace("\\\n", " ").splitlines():
        call: list[str] = []
        reader = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
        reader.whitespace_split = True
        for word in [*reader, ";"]:
            if word[0] not in "|&;":
                call.append(word)
                continue
            if call[:1] == ["askance"]:
                files = [place for place, word in enumerate(call) if word[0] in "<>"]
                yield call[1 : files[0] if files else None]
            call = []


def shell_of(document):
    """The commands of a document's blocks: lines after a prompt or, in a block without one, all of them."""
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", document, re.MULTILINE | re.DOTALL):
        if language in ("", "bash", "sh", "console"):
            block = block.replace("\\\n", " ")
            lines = re.findall(r"^\$ (.*)", block, re.MULTILINE)
            yield from lines or [line for line in block.splitlines() if re.search(r"(^|[|&;] *)askance ", line)]


def accepts(words):
    """Whether the command line has a meaning; none runs."""
    try:
        options = parse(words, *parsers())
    except SystemExit:
        return False
    if options.command != "init":
        return True
    return options.classes is not None or options.load is not None or options.config != "askance.toml"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_commands_in_a_document_have_options_that_exist(path, capsys):
    calls = list(commands_in("\n".join(shell_of(path.read_text()))))
    assert [words for words in calls if not accepts(words)] == [], capsys.readouterr().err


@pytest.mark.parametrize("name", all_commands())
def test_the_examples_of_the_help_have_options_that_exist(name, capsys):
    calls = list(commands_in(all_commands()[name].epilog))
    assert calls
    assert [words for words in calls if not accepts(words)] == [], capsys.readouterr().err


def test_every_option_of_every_command_is_described():
    """``python -m askance.cli.reference > docs/commands.md`` makes the page."""
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert page == reference()
    for name, parser in parsers()[1].items():
        section = page.split(f"## `askance {name}`\n")[1].split("\n## ")[0]
        described = [action for action in parser._actions if action.help != argparse.SUPPRESS and action.dest != "help"]
        for option in (option for action in described for option in action.option_strings):
            assert re.search(rf"`{option}[ `]", section), f"{name} {option}"


def test_commands_are_found_wherever_they_stand():
    block = (
        "$ askance serve a.toml &\naskance serves it\n$ x | askance pipe \\\n  --json < f && askance data list # all\n"
    )
    text = f"```\n{block}```\n"
    assert list(commands_in("\n".join(shell_of(text)))) == [["serve", "a.toml"], ["pipe", "--json"], ["data", "list"]]
    assert list(commands_in("\n".join(shell_of("```sh\naskance run 'a b' > c\nls\n```\n")))) == [["run", "a b"]]
    assert accepts(["run", "a"])
    assert not accepts(["run", "a", "--budgte", "5"])
    assert not accepts(["init"])


def test_the_table_of_algorithms_has_every_one_with_its_parameters():
    table = (ROOT / "docs" / "algorithms.md").read_text()
    for row in askance.algorithms():
        head = f"| {row['name']} | {', '.join(row['aliases'])} | {row['paper'] or ''} |"
        line = f"{head} {row['update']} | {row['query']} |"
        assert f"{line} {', '.join(row['parameters'])} |" in table


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(path):
    for target in re.findall(r"\]\((?!http)([^)#]+)", path.read_text()):
        assert os.path.exists(path.parent / target), target
