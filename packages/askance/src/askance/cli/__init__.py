"""The ``askance`` command: one file per command, each a thin skin over the library.

To add a command, write ``cli/<name>.py`` with a ``command = Command(...)`` and put it into ``OWN``. Another package
adds a tuple of commands by an entry point of the group ``askance.commands``. One with the name of a command of ours
replaces it. Command files import nothing heavy at the top and the rest inside ``run``, so that help is there at once.

Exit codes: 0 done, 2 bad input (one sentence on stderr), 130 interrupted.
"""

from __future__ import annotations

import argparse
import functools
import importlib.metadata
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import askance
from askance.cli import algorithms, check, compare, convert, data, demo, pipe, predict, run
from askance.cli.command import Command, Parser, nearest
from askance.cli.output import since_now, since_the_process_began
from askance.errors import AskanceError, DataWarning
from askance.extras import how_to_install

OWN = (demo, algorithms, check, run, predict, pipe, compare, convert, data)
GROUP = "askance.commands"
ELSEWHERE = {
    **dict.fromkeys(
        [
            "init",
            "serve",
            "people",
            "classes",
            "token",
            "import",
            "export",
            "quarantine",
            "backup",
            "restore",
            "rebuild",
            "doctor",
        ],
        "live",
    ),
    "reproduce": "papers",
}
"""Commands of packages that may not be installed, and the extra that brings each."""


@functools.cache
def all_commands() -> dict[str, Command]:
    """The commands of the library, then those of the packages that are installed beside it."""
    commands = {module.command.name: module.command for module in OWN}
    for entry in sorted(importlib.metadata.entry_points(group=GROUP)):
        commands |= {command.name: command for command in entry.load()}
    return commands


DESCRIPTION = """\
Online active learning: predict every event of a stream, ask for few labels.

commands:
"""
EPILOG = """\
examples:
  askance demo
  askance run mail.csv --budget 500
"""


def parsers() -> tuple[Parser, dict[str, Parser]]:
    """The parser of ``askance`` itself and those of its commands."""
    # argparse's own list of commands breaks the line after every name longer than most.
    names = "\n".join(f"  {name:<14}{command.summary}" for name, command in all_commands().items())
    top = Parser(prog="askance", usage="askance COMMAND [options]", description=DESCRIPTION + names, epilog=EPILOG)
    top.add_argument("--version", action="store_true", help="print the version and exit")
    listed = top.add_subparsers(dest="command", prog="askance", help=argparse.SUPPRESS, parser_class=Parser)
    commands = {}
    for name, command in all_commands().items():
        commands[name] = listed.add_parser(name, description=command.description, epilog=command.epilog)
        command.configure(commands[name])
    return top, commands


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv`` (default: the process's own) and return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # "?" for what the terminal cannot show
            stream.reconfigure(errors="replace")
    try:
        with warnings_as_sentences(words):
            code = dispatch(words, since_the_process_began if argv is None else since_now())
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        forget_output()
        return 1
    except (AskanceError, OSError) as error:
        forget_output()
        complain(words, str(error))
        return 2
    except MemoryError as error:
        forget_output()
        why = f" ({str(error)[0].lower()}{str(error)[1:]})" if str(error) else ""
        complain(words, f"there is not enough memory{why}; give it fewer features, or a simpler algorithm.")
        return 2


def complain(words: list[str], sentence: str) -> None:
    """Say on standard error what is wrong."""
    name = command_in(words)
    print(f"askance {name}: {sentence}" if name else f"askance: {sentence}", file=sys.stderr)


@contextmanager
def warnings_as_sentences(words: list[str]) -> Iterator[None]:
    """Say on standard error what the library warns of in the data, without the line of code that warns."""
    others = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, DataWarning):
            complain(words, str(message))
        else:
            others(message, category, *where, **more)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def forget_output() -> None:
    """What could not be written now cannot be written at exit either, and Python would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def command_in(words: list[str]) -> str | None:
    """The command a command line names: no option stands before it."""
    return next((word for word in words if not word.startswith("-")), None)


def dispatch(words: list[str], elapsed: Callable[[], float]) -> int:
    """Do what a command line asks for; ``elapsed`` tells the seconds since it was given."""
    top, commands = parsers()
    options = parse(words, top, commands)
    if options.version:
        print(f"askance {askance.__version__}")
        return 0
    if options.command is None:
        top.print_help()
        return 0
    options.elapsed = elapsed
    return all_commands()[options.command].run(options)


def parse(words: list[str], top: Parser, commands: dict[str, Parser]) -> argparse.Namespace:
    """The options of a command line; what is not known ends the process with a sentence."""
    name = command_in(words)
    if name in ELSEWHERE and name not in all_commands():
        top.error(f"{name!r} comes with another package; install it with: {how_to_install(ELSEWHERE[name])}")
    if name is not None and name not in all_commands():
        top.error(f"there is no command {name!r}{nearest(name, all_commands())}")
    options, unknown = top.parse_known_args(words)
    if unknown:
        asked = commands.get(options.command, top)
        asked.error(f"{unknown[0]!r} is not known here{nearest(unknown[0], asked.option_strings())}")
    return options
