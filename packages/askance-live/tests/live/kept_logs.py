"""Logs of the service as every release left them, in ``logs/``: the rows, and what the model of that time said.

    python -m tests.keep logs

writes those of the present version.
"""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

from tests.keep import dump_tables
from tests.live.in_process import create_store, label, running_engine
from tests.live.scripted import StandingClock
from tests.live.test_migrations import Raw
from tests.patience import PATIENCE

from askance_live.config import load
from askance_live.engine.label_schema_changes import LabelSchemaChange
from askance_live.engine.rebuild import change_label_schema, rebuild
from askance_live.exchange.received import read_event
from askance_live.store import schema

KEPT = Path(__file__).with_name("logs")
ALGORITHMS = {
    "auto": {}, "second-order": {"algorithm": "SOAL-diag"}, "plain": {"algorithm": "PAA-I", "seed": 7},
    "classes": {"algorithm": "PAA-I", "seed": 8}, "classes-auto": {"seed": 9},
    "forgetting": {"algorithm": "BOAL-entropy", "parameters.decay": 0.9},
}  # fmt: skip
"""Settings of models, by what they are called here."""
PROBES = [
    {"text": "win a prize now", "size": 3, "sender": {"country": "fr"}},
    {"text": "lunch tomorrow at noon", "size": -1.5, "kind": "a"},
    {"size": 40, "kind": "never seen"},
    {},
]
"""Events on which the model says something at the end."""
CHANGES = [
    LabelSchemaChange(add=("eggs",), rename={"spam": "Spam"}),
    LabelSchemaChange(retire=("ham",), add=("more",), fields={"size": "text", "kind": "ignore"}),
]
"""What is changed in the middle of logs that are about that."""
WORDS = ["win", "prize", "now", "lunch", "tomorrow", "noon", "parcel", "account", "the", "at"]


def fields(rng):
    """An event of several kinds of fields, some of them missing."""
    found = {"text": " ".join(rng.choices(WORDS, k=rng.randrange(1, 7))), "size": round(rng.gauss(5.0, 4.0), 2)}
    if rng.random() < 0.6:
        found["kind"] = rng.choice("abc")
    if rng.random() < 0.3:
        found["sender"] = {"country": rng.choice(("fr", "de", None)), "age": rng.randrange(90)}
    return found


def write_log(name):
    """Let a model live for some events, answers, settings, corrections and restarts; all of it as JSON."""
    rng, clock = random.Random(name), StandingClock()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        config = create_store(folder, asking={"rate": 0.5}, model=ALGORITHMS[name], server={"checkpoint_every": 40})
        for rate in (0.5, 0.3):
            path = folder / "askance.toml"
            path.write_text(path.read_text().replace("rate = 0.5", f"rate = {rate}"))
            config = load(path)
            with running_engine(config, clock) as engine:
                for number in range(40):
                    clock.time += 400.0
                    event = read_event({"id": f"{rate}-{number}", "fields": fields(rng)}, 10_000)
                    (said,) = engine.ingest([event]).result(PATIENCE)
                    if said["asked"]:
                        label(engine, said["id"], int("win" in event.fields["text"]))
                if rate == 0.5:
                    rebuild(engine, "test")
                    for change in CHANGES if name.startswith("classes") else ():
                        change_label_schema(engine, change, "test")
                said = [engine.state.learner.predict(probe) for probe in PROBES]
        document = {
            "settings": path.read_text().replace(str(folder), "FOLDER"),
            "schema": len(schema.MIGRATIONS),
            "said": said,
        }
        text = dump_tables(Raw(config.store), schema.MIGRATIONS[-1])
    return json.dumps(document)[:-1] + ",\n" + text[1:]
