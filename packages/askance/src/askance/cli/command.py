"""What a command is, and how it reads its options."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, and keeps the line breaks of examples."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        options.setdefault("allow_abbrev", False)
        super().__init__(**options)
        # What begins with a digit after the dash is a value: argparse knows that of -999, but not of -999,unknown.
        self._negative_number_matcher = re.compile("-[0-9]")

    def error(self, message: str) -> NoReturn:
        stop = "" if message.endswith((".", "?")) else "."
        self.exit(2, f"{self.prog}: {message}{stop} See '{self.prog} --help'.\n")

    def option_strings(self) -> list[str]:
        return [option for action in self._actions for option in action.option_strings]


@dataclass(frozen=True)
class Command:
    """One word after ``askance``.

    ``summary`` is its line in ``askance --help``; ``epilog`` shows examples below its own help;
    ``configure`` adds its options; ``run`` does the work and returns the exit code.
    """

    name: str
    summary: str
    description: str
    epilog: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def whole_number(at_least: int, at_most: int | None = None) -> Callable[[str], int]:
    """An option that is a whole number, not below ``at_least`` and not above ``at_most``."""
    wanted = f", {at_least} or more" if at_most is None else f" from {at_least} to {at_most}"

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = at_least - 1
        if number < at_least or (at_most is not None and number > at_most):
            raise argparse.ArgumentTypeError(f"must be a whole number{wanted}, got {text!r}")
        return number

    return read


def nearest(word: str, known: Iterable[str]) -> str:
    """A question to append to an error, if ``word`` looks like something known."""
    names = {name.lstrip("-"): name for name in known}  # dashes, which all options share, make none alike
    close = difflib.get_close_matches(word.lower().lstrip("-"), names, n=1)
    return f"; did you mean {names[close[0]]!r}?" if close else ""
