"""The page of all commands, options, limits and formats, made from what the command line itself reads.

python -m askance.cli.reference > docs/commands.md
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from askance.cli import all_commands, parsers
from askance.data.formats import FORMATS
from askance.learner.budget_kinds import BUDGET_KINDS

HEAD = """\
# All commands and options

`askance COMMAND --help` says the same. This page is made from it: `python -m askance.cli.reference`.
"""


def reference() -> str:
    """The whole page."""
    _, commands = parsers()
    described = (line for name in all_commands() for line in _command(name, commands[name]))
    return "\n".join([HEAD, *described, *_limits(), *_formats()])


def _limits() -> Iterator[str]:
    yield "## Limits\n"
    yield "How many labels may be bought, as options and as settings in `[asking]`. Several hold at once.\n"
    yield "| option | setting | what it allows |\n| --- | --- | --- |"
    for name, kind in BUDGET_KINDS.items():
        yield f"| `{kind.option} {kind.metavar}` | `{name}` | {_in_one_line(kind.help % ())} |"
    yield ""


def _formats() -> Iterator[str]:
    yield "## Formats\n"
    yield "What `--format` and `open_stream(format=...)` name, and how files are called that need not say it.\n"
    yield "| format | names | what it holds |\n| --- | --- | --- |"
    for name, declared in FORMATS.items():
        yield f"| `{name}` | {' '.join(declared.suffixes)} | {declared.holds} |"
    yield ""


def _command(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"## `askance {name}`\n"
    yield f"{_in_one_line(all_commands()[name].description)}\n"
    actions = [action for action in parser._actions if action.help != argparse.SUPPRESS and action.dest != "help"]
    if actions:
        yield "| argument | meaning |\n| --- | --- |"
        described = parser._get_formatter()._expand_help  # as --help shows it, with the values of %(names)s
        yield from (f"| {_write_names(action)} | {_in_one_line(described(action))} |" for action in actions)
        yield ""


def _write_names(action: argparse.Action) -> str:
    """The names of an option and its value, or the word that stands in its place."""
    takes = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if action.choices is not None and action.metavar is None:
        takes = "|".join(map(str, action.choices))
    if not action.option_strings:
        return f"`{takes}`".replace("|", "\\|")
    value = "" if action.nargs == 0 else f" {takes}"
    return ", ".join(f"`{option}{value}`" for option in action.option_strings).replace("|", "\\|")


def _in_one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    print(reference(), end="")
