"""Whether work grows in proportion to what it is given, told by inputs so long that speed makes no difference.

What is linear takes milliseconds for them, what is quadratic takes minutes; between the two stands an alarm that counts
the processor time of this process alone.
"""

import ast
import re
import re._constants as sre
import re._parser as parser
import signal
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import askance
import askance_live

PACKAGES = [Path(package.__file__).parent for package in (askance, askance_live)]
METHODS = {"match", "fullmatch", "search", "findall", "finditer", "sub", "split"}
LENGTH = 150_000
SECONDS = 1.0
ODD = "\x01"
"""A character that hardly any pattern takes, so that they fail at it and go back."""


class TooSlow(BaseException):
    """What was done did not end in time; no handler of other errors may swallow it."""


@contextmanager
def no_longer_than(seconds):
    """Raise ``TooSlow`` after so much processor time; what other processes do meanwhile does not count."""

    def stop(*_):
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


# --- the patterns of the package ---------------------------------------------------------------------------


class Use(NamedTuple):
    """A pattern, and a method of it that the package calls."""

    name: str
    pattern: re.Pattern
    method: str


def _name_of(path):
    """The module in a file."""
    (package,) = (package for package in PACKAGES if path.is_relative_to(package))
    return ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")


@cache
def list_uses():
    """Every pattern of the package with each way in which it is used, and where ``re.compile`` stands elsewhere than at
    the top of a module: such patterns cannot be found."""
    uses, hidden = set(), []
    for path in [path for package in PACKAGES for path in sorted(package.rglob("*.py"))]:
        tree = ast.parse(path.read_text())
        if not any(isinstance(node, ast.Attribute) and node.attr in METHODS for node in ast.walk(tree)):
            continue
        module = _name_of(path)
        top = {id(node) for statement in tree.body if isinstance(statement, ast.Assign) for node in ast.walk(statement)}
        called = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in METHODS]
        compiled = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_of_re(node.func)]
        if not (compiled or any(isinstance(node.value, ast.Name) and node.value.id.isupper() for node in called)):
            continue
        names = vars(import_module(module))
        by_name = [node for node in called if isinstance(node.value, ast.Name) and node.value.id != "re"]
        for node in by_name:
            if isinstance(names.get(node.value.id), re.Pattern):
                uses.add(Use(f"{module}.{node.value.id}", names[node.value.id], node.attr))
        in_loops = {node.attr for node in by_name if node.value.id not in names}
        for name, value in names.items():
            inside = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else ()
            for pattern in (part for entry in inside for part in (entry if isinstance(entry, tuple) else (entry,))):
                if isinstance(pattern, re.Pattern):
                    uses |= {Use(f"{module}.{name}", pattern, method) for method in in_loops}
        for node in compiled:
            method = node.func.attr
            if method == "compile":
                hidden += [] if id(node) in top else [f"{module}:{node.lineno}"]
            elif method in METHODS:
                written = ast.Call(ast.parse("re.compile", mode="eval").body, node.args[:1], _flags(node))
                pattern = eval(compile(ast.fix_missing_locations(ast.Expression(written)), module, "eval"), names)
                uses.add(Use(f"{module}: re.{method}({ast.unparse(node.args[0])})", pattern, method))
    return sorted(uses, key=lambda use: (use.name, use.method)), hidden


def _is_of_re(called):
    return isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "re"


def _flags(node):
    return [keyword for keyword in node.keywords if keyword.arg == "flags"]


# --- texts that are hard for a pattern ---------------------------------------------------------------------


def samples_of(pattern):
    """Texts that a pattern takes, or nearly so, each as the characters of its parts: every branch is in one of them."""
    kind = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    found = _samples(parser.parse(kind, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else 0), {})
    return list(dict.fromkeys(tuple(sample) for sample in found))


def _samples(tree, groups):
    """As many ways as the part with the most of them has; the others come again and again."""
    parts = [_samples_of_part(operation, argument, groups) for operation, argument in tree]
    n_ways = max(map(len, parts), default=1)
    return [[sign for part in parts for sign in part[way % len(part)]] for way in range(n_ways)]


def _samples_of_part(operation, argument, groups):
    """What one part of a pattern takes."""
    if operation in (sre.LITERAL, sre.NOT_LITERAL):
        return [[chr(argument) if operation is sre.LITERAL else "a"]]
    if operation is sre.ANY:
        return [["a"]]
    if operation is sre.IN:
        return [[sign] for sign in _signs(argument)]
    if operation in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        least, _, inner = argument
        return [way * max(1, min(least, 400)) for way in _samples(inner, groups)] + ([] if least else [[]])
    if operation is sre.BRANCH:
        return [way for branch in argument[1] for way in _samples(branch, groups)]
    if operation is sre.SUBPATTERN:
        number, *_, inner = argument
        groups[number] = _samples(inner, groups)
        return groups[number]
    if operation is sre.GROUPREF:
        return groups[argument][:1]
    if operation is sre.ATOMIC_GROUP:
        return _samples(argument, groups)
    return [[]]  # looks around, and the edges of words and texts, take nothing


OF_CATEGORY = {
    sre.CATEGORY_DIGIT: "1", sre.CATEGORY_SPACE: " \t", sre.CATEGORY_WORD: "a",
    sre.CATEGORY_NOT_DIGIT: "a", sre.CATEGORY_NOT_SPACE: "a", sre.CATEGORY_NOT_WORD: " ",
}  # fmt: skip


def _signs(choices):
    """A character or two of each part of a set, or some that are not in it."""
    signs, is_negated = [], False
    for operation, argument in choices:
        if operation is sre.NEGATE:
            is_negated = True
        elif operation is sre.LITERAL:
            signs.append(chr(argument))
        elif operation is sre.RANGE:
            signs.append(chr(min(argument[0] + 1, argument[1])))
        elif operation is sre.CATEGORY:
            signs += OF_CATEGORY[argument]
    return [sign for sign in "a1 .:" if sign not in signs][:3] if is_negated else signs[:4]


def texts_against(pattern, length):
    """Texts in which each place of each sample is pumped up, with the parts beside it or the whole beginning, and which
    then fail."""
    seen = set()
    for sample in samples_of(pattern):
        whole = "".join(sample)
        for place in range(min(len(sample), 12) + 1):
            before, beside = "".join(sample[:place]), sample[max(0, place - 2) : place + 1]
            for unit in dict.fromkeys([*beside, *map("".join, pairwise(beside)), before, whole, " ", "\\" + whole[:1]]):
                for after in (ODD, whole[place:] + ODD):
                    if unit and (before, unit, after) not in seen:
                        seen.add((before, unit, after))
                        text = before + unit * (length // len(unit)) + after
                        yield text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")


def attack(use, length=LENGTH, seconds=SECONDS):
    """The beginning of a text that a pattern takes too long for; None if there is none."""
    for text in texts_against(use.pattern, length):
        try:
            with no_longer_than(seconds):
                run(use.pattern, use.method, text)
        except TooSlow:
            return text[:60], text[-20:]
    return None


def run(pattern, method, text) -> Any:
    """What the package does, to the end."""
    if method == "sub":
        return pattern.sub("" if isinstance(text, str) else b"", text)
    found = getattr(pattern, method)(text)
    return sum(1 for _ in found) if method == "finditer" else found
