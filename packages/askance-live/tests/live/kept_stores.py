"""Stores as services of earlier releases left them, in ``stores/``, and what these services then said of some events.

    python -m tests.live.kept_stores VERSION ASKANCE

runs the real service of a release, whose command is ASKANCE, for each of the models below: some hundred events, labels,
and once everything is learned, predictions. The store that it leaves when it is stopped has its log and a checkpoint.
"""

from __future__ import annotations

import json
import lzma
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import Request, urlopen

STORES = Path(__file__).with_name("stores")
MODELS = {
    "auto": ("ham spam", {}, "text size age"),
    "auto-numbers": ("ham spam", {}, "size age"),
    "auto-three": ("eggs ham spam", {}, "text size"),
    "second-order": ("ham spam", {"algorithm": "SOAL-diag"}, "text size age"),
    "probit": ("ham spam", {"algorithm": "UOAL-margin", "parameters": {"decay": 0.95}}, "text size"),
    "three": ("eggs ham spam", {"algorithm": "MPAA-I", "seed": 7}, "text size"),
}
"""By name: classes, settings of the model, fields of the events."""
WORDS = ["win", "prize", "now", "lunch", "tomorrow", "noon", "parcel", "account", "the", "at"]


def fields(rng: random.Random, names: str) -> dict[str, object]:
    found = {
        "text": " ".join(rng.choices(WORDS, k=rng.randrange(1, 7))),
        "size": round(rng.gauss(5.0, 4.0), 2),
        "age": rng.randrange(90),
    }
    return {name: found[name] for name in names.split()}


def probes(names: str) -> list[dict[str, object]]:
    """Events on which the model says something at the end."""
    rng = random.Random("probes")
    return [fields(rng, names) for _ in range(8)] + [{}]


def settings(name: str) -> str:
    classes, model, _ = MODELS[name]
    lines = ["=".join(pair) for pair in (("hash_bits", "8"), *((key, toml(value)) for key, value in model.items()))]
    return "\n".join([
        f'classes = {json.dumps(classes.split())}\nstore = "askance.db"\n[queue]\nlearn_after = 0.0',
        "[server]\nport = 0\ndisk_reserve = 0\n[asking]\nrate = 0.3\n[model]", *lines, "",
    ])  # fmt: skip


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value)


def call(address: str, value: object = None) -> dict:
    body = None if value is None else json.dumps(value).encode()
    with urlopen(Request(address, body, {"content-type": "application/json"})) as response:
        return json.load(response)


def live(url: str, name: str) -> list[dict[str, float]]:
    """Let a service have events and labels; what it says of the probes when it has learned all of them."""
    classes, _, names = MODELS[name]
    rng, truth = random.Random(name), {}
    for first in range(0, 200, 10):
        events = [{"id": str(number), "fields": fields(rng, names)} for number in range(first, first + 10)]
        for event in events:
            score = ("win" in event["fields"].get("text", "")) + (event["fields"]["size"] > 6)
            truth[event["id"]] = classes.split()[-1 - min(score, len(classes.split()) - 1)]
        said = call(f"{url}/v1/events", events)["items"]
        asked = [item["id"] for item in said if item["asked"]] + [str(first + rng.randrange(10))] * (first % 20 == 0)
        call(f"{url}/v1/labels", [{"event": event, "label": truth[event]} for event in dict.fromkeys(asked)])
    while call(f"{url}/v1/stats")["model"]["waiting"]:
        time.sleep(0.1)
    return [call(f"{url}/v1/predict", {"fields": probe})["probabilities"] for probe in probes(names)]


def keep(version: str, askance: str, name: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "askance.toml").write_text(settings(name))
        subprocess.run([askance, "init"], cwd=folder, check=True)
        with subprocess.Popen([askance, "serve"], cwd=folder, stdout=subprocess.PIPE, text=True) as service:
            url = next(found[0] for line in service.stdout if (found := re.search(r"http://\S+", line)))
            said = live(url, name)
            service.terminate()
        target = STORES / f"{version}-{name}"
        target.with_name(target.name + ".db.xz").write_bytes(
            lzma.compress((folder / "askance.db").read_bytes(), preset=9)
        )
        target.with_name(target.name + ".json").write_text(json.dumps(said) + "\n")


if __name__ == "__main__":
    STORES.mkdir(exist_ok=True)
    for kept in MODELS:
        keep(*sys.argv[1:], kept)
