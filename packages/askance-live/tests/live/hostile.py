"""Requests that are made to take long. Each is data: a name, a method, a path, headers, and what the body is.

Every request that takes a body is among them: those of ``BIG`` and ``SHORT`` with every body there is, all others, by
the table of routes, with a few.
"""

import gzip
import json
import re
from typing import NamedTuple

from askance_live import routes
from askance_live.http.routing import ROUTES

routes.load()

FULL = 9_900_000
JSON = {"content-type": "application/json"}
LINES = {"content-type": "application/x-ndjson"}
CSV = {"content-type": "text/csv"}
GZIP = {"content-encoding": "gzip"}
BIG = ("/v1/events", "/v1/labels", "/v1/predict", "/v1/import")
SHORT = ("/v1/asks/1/answer", "/v1/asks/1/skip", "/v1/asks/1/renew", "/v1/asks/next", "/v1/answers/x/undo")


class Hostile(NamedTuple):
    """A request; ``body`` gives its body for a number of bytes."""

    name: str
    path: str
    body: object
    headers: dict = JSON
    method: str = "POST"


def fill(unit, before=b"", after=b""):
    return lambda size: before + unit * max(1, (size - len(before) - len(after)) // len(unit)) + after


def many_names(size):
    names = [b'"%x":1' % number for number in range(size // 11)]
    return b"{" + b",".join(names) + b"," + names[-1] + b"}"


def in_an_event(body):
    return lambda size: b'{"id": "hostile", "fields": ' + body(size) + b"}"


def in_events(body, each):
    """As many events as fit, with fields of ``each`` bytes."""
    return lambda size: b"[" + b",".join([b'{"fields": ' + body(each) + b"}"] * max(1, size // (each + 20))) + b"]"


def words(size):
    return b'{"text": "' + b"ab cd " * (size // 6) + b'"}'


def numbers(size):
    return b'{"vector": [' + b",".join([b"0.123456"] * (size // 9)) + b"]}"


def fields(size):
    return json.dumps({f"f{number}": number for number in range(size // 14)}).encode()


def lines(line, number):
    return lambda size: b"\n".join([line * max(1, size // number // len(line))] * number)


def packed(body):
    return lambda size: gzip.compress(body(size), 1)


def lists_for_names(size):
    """Items with a long list where a name should be, which must not come back."""
    return b"[" + b",".join([b'{"id":[%b],"event":[%b]}' % ((b",".join([b"0.1"] * (size // 8100)),) * 2)] * 1000) + b"]"


BODIES = {
    "a name twice after many": many_names,
    "a name twice in an event": in_an_event(many_names),
    "a name twice in every event": in_events(many_names, 200_000),
    "a name twice in every line": lambda size: b"\n".join([many_names(size // 1000)] * 1000),
    "nested deep": fill(b"[", after=b"]"),
    "objects nested deep": fill(b'{"a":'),
    "nested in pairs": lambda size: b"[" * (size // 2) + b"]" * (size // 2),
    "digits": fill(b"7"),
    "a fraction": fill(b"7", b"0."),
    "exponents": fill(b"1e"),
    "e": fill(b"e"),
    "numbers out of range": fill(b"1e999,", b"[", b"1]"),
    "numbers before one out of range": in_an_event(fill(b"1,", b'{"a":[', b"1e999]}")),
    "long whole numbers": fill(b"7" * 4000 + b",", b"[", b"1]"),
    "long numbers in an event": in_an_event(lambda size: fill(b"7" * 18 + b",", b'{"a":[', b"1]}")(min(size, 250_000))),
    "quotes": fill(b'"'),
    "backslashes": fill(b"\\"),
    "backslashes in a string": fill(b"\\\\", b'{"a": "', b'"}'),
    "an escaped quote, again and again": fill(b'\\"', b'{"a": "', b'"}'),
    "colons": fill(b":"),
    "quotes and colons": fill(b'":'),
    "quotes, spaces and no colon": fill(b'"     ', b"["),
    "a quote before spaces": fill(b" ", b'"'),
    "texts about NUL": fill(rb"\\u0000 ", b'{"fields": {"text": "', b'"}}'),
    "backslashes before NUL": fill(b"\\\\", b'"', rb'\u0000"'),
    "halves of surrogate pairs": fill(rb"\ud83d\ude00", b'["', rb'\ud800"]'),
    "empty lists": fill(b"[],", b"[", b"1]"),
    "empty objects": fill(b"{},", b"[", b"1]"),
    "empty lists in an event": in_an_event(fill(b"[],", b'{"a":[', b"1]}")),
    "empty lists in many events": lambda size: in_events(fill(b"[],", b'{"a":[', b"1]}"), 140_000)(min(size, 10**6)),
    "ones": fill(b"1,", b"[", b"1]"),
    "truth": fill(b"true,", b"[", b"1]"),
    "an open string": fill(b"a", b'{"fields": {"text": "'),
    "an open array": fill(b'{"fields": {"text": "a"}},', b"["),
    "bad UTF-8 at the end": fill(b"a", b'{"fields": {"text": "', b'\xff"}}'),
    "NaN at the end": fill(b'"NaN", ', b"[", b"NaN]"),
    "spaces": fill(b" "),
    "newlines": fill(b"\n"),
    "spaces around an event": fill(b" ", b'{"fields": {}}'),
    "a thousand lines that are none": lines(b'{"a": tru', 1000),
    "a thousand lines of quotes": lines(b'"', 1000),
    "lines of one byte": fill(b"1\n"),
    "malformed lines": fill(b'{"id": 1, "fields": \n'),
    "a line after an event": lambda size: b'{"fields": {}}\n' + b"[" * size,
    "a huge first line": lambda size: b'{"a": "' + b"x" * size + b'"}\n{}',
    "events of many words": in_events(words, 240_000),
    "events of short words": in_events(fill(b"a ", b'{"text": "', b'"}'), 240_000),
    "events of many numbers": in_events(numbers, 90_000),
    "events of many fields": in_events(
        lambda size: json.dumps({f"f{k}": k for k in range(size // 14)}).encode(), 20_000
    ),
    "lists for names": lists_for_names,
    "a thousand small events": in_events(words, 9_000),
    "one event of many words": in_an_event(lambda size: words(min(size, 250_000))),
}
TABLES = {
    "commas": fill(b","),
    "lines of commas": fill(b"," * 1000 + b"\n"),
    "a wide head and short rows": lambda size: b"," * (size // 4) + b"\n" + b"1\n" * min(size // 2, 90_000),
    "an open cell": fill(b"\n", b'text\n"'),
    "quotes": fill(b'"'),
    "doubled quotes": fill(b'""', b'text\n"', b'"\n'),
    "rows": lambda size: fill(b"some words of text,ham\n", b"text,label\n")(min(size, 40_000)),
    "too many rows": lambda size: b"text\n" + b"a\n" * 110_000,
    "a cell": fill(b"a b ", b"text\n"),
    "carriage returns": fill(b"\r"),
    "columns of one name": lambda size: b"a," * (min(size, 200_000) // 2) + b"a\n" + b"1," * 10,
    "a cell of digits": lambda size: b"text\n" + b"1" * min(size, 240_000) + b"x\n",
}
TEXTS = {
    "quotes": rb"\"",
    "backslashes": rb"\\",
    "digits": b"1",
    "blanks": b" ",
    "signs": b"-",
    "dots": b"1.",
    "commas": b"1,",
    "tags": b"<Choices ",
    "accents": "\u0315\u0300".encode(),
}
"""What texts are filled with, in fields whose kind is known and whose words are compared."""


def text_of(unit, name=b"text"):
    """An event with a text of one thing, a digit before it and a letter after it."""
    return lambda size: b'{"%b": "1' % name + unit * (min(size, 240_000) // len(unit)) + b'x"}'


def long_name(size):
    """An event with a long name and many fields inside it."""
    size = min(size, 240_000)
    return b'{"' + b"a" * (size // 2) + b'": [' + b"0," * (size // 4) + b"1" * 19 + b"]}"


BODIES |= {f"a text of {name}": in_an_event(text_of(unit)) for name, unit in TEXTS.items()}
BODIES |= {f"a number of {name}": in_an_event(text_of(unit, b"size")) for name, unit in TEXTS.items()}
BODIES |= {
    "events with texts of digits": in_events(text_of(b"1"), 240_000),
    "a long name with many fields": in_an_event(long_name),
    "a name of many dots": in_an_event(lambda size: b'{"' + b"a." * (min(size, 240_000) // 2) + b'": 1}'),
}


def tasks(unit):
    """Tasks of Label Studio, with a labeling configuration that fills the body."""
    asked = b'{"tasks": [' + b",".join([b'{"id": 1, "data": {"text": "a"}}'] * 900) + b'], "label_config": "'
    return lambda size: asked + unit * (min(max(size - len(asked), 0), 990_000) // len(unit)) + b'"}'


CONFIGS = {"tags": b"<Choices", "open tags": b"<Choices name=", "names": rb"name=\"", "blanks": b" ", "quotes": rb"\""}
FEW = (
    "a name twice after many", "nested deep", "objects nested deep", "digits", "exponents", "quotes",
    "backslashes in a string", "halves of surrogate pairs", "bad UTF-8 at the end", "an open string",
)  # fmt: skip


def example(path):
    """A path with something in the place of its names."""
    return re.sub(r"\{\w+\}", "1", path)


OTHERS = [
    (example(route.path), 65_000 if route.body_bytes is not None else FULL)
    for route in ROUTES
    if route.method == "POST" and route.path not in BIG and example(route.path) not in SHORT
]
"""The other requests with a body, and how long that may be."""
CORPUS = [
    *(
        Hostile(f"{path}: {name}", path, lambda size, body=BODIES[name], most=most: body(min(size, most)))
        for path, most in OTHERS
        for name in FEW
    ),
    *(Hostile(f"{path}: {name}", path, body) for path in BIG for name, body in BODIES.items()),
    *(Hostile(f"{path}: {name}, by line", path, body, LINES) for path in BIG[:2] for name, body in BODIES.items()),
    *(
        Hostile(f"{path}: {name}, packed", path, packed(BODIES[name]), {**JSON, **GZIP})
        for path in BIG
        for name in ("quotes", "digits", "nested deep", "newlines", "empty lists")
    ),
    *(
        Hostile(f"/label-studio/predict: a configuration of {name}", "/label-studio/predict", tasks(unit))
        for name, unit in CONFIGS.items()
    ),
    *(Hostile(f"table: {name}", "/v1/import", body, CSV) for name, body in TABLES.items()),
    *(
        Hostile(f"{path}: {name}", path, lambda size, body=body: body(min(size, 65_000)))
        for path in SHORT
        for name, body in BODIES.items()
    ),
    *(
        Hostile(f"{method} {path[:20]}: long", path, lambda size: b"", {}, method)
        for method in ("GET", "POST")
        for path in (
            "/v1/events/" + "a" * 50_000,
            "/v1/events/" + "%61/" * 10_000,
            "/v1/answers/" + "/undo" * 10_000,
            "/static/" + "a/" * 20_000,
            "/v1/answers?" + "limit=1&" * 6_000,
            "/v1/asks/next?exclude=" + "1," * 25_000,
            "/login?next=" + "%2f" * 15_000,
        )
    ),
    *(
        Hostile(f"GET {path}", path, lambda size: b"", {}, "GET")  # of what the others have left in the store
        for path in (
            "/v1/export.jsonl",
            "/v1/export.csv",
            "/v1/answers?mine=0&limit=200",
            "/v1/stats",
            "/v1/stats/series?points=1000&minutes=525600",
            "/metrics",
            "/openapi.json",
            "/",
        )
    ),
    Hostile("questions about large events", "/v1/asks/next?n=10", lambda size: b"{}"),
    Hostile("cookies", "/v1/me", lambda size: b"", {"cookie": "a=b;" * 15_000}, "GET"),
    Hostile("headers", "/v1/me", lambda size: b"", {f"h{number}": "x" for number in range(5_000)}, "GET"),
    Hostile("an authorization", "/v1/me", lambda size: b"", {"authorization": "Bearer " + "a" * 60_000}, "GET"),
]
