"""Keep what the present code writes, before its format or its schema becomes an earlier one:

    python -m tests.keep models    the four models of tests/learner/models/format-N, and what is decided with them
    python -m tests.keep schema    tests/live/schemas/N.json: the store of the schema before, gone on with by this one
    python -m tests.keep logs      tests/live/logs/VERSION-*.json: logs of the service, and what was decided with them

Run it before you raise the version of model files or add a migration, and with every release for its logs.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from tests.learner.test_upgrades import MODELS, play_on, the_stream

import askance
from askance.budgets import Fixed, PerPeriod, Rate

MAKERS = {
    "plain": lambda: askance.make("PAA-I", C=0.5, delta=0.5, max_pending=50, max_pending_age=500, random_state=1),
    "rate": lambda: askance.make("SOAL-diag", budget=Rate(0.1), explore=0.01, intercept=True, random_state=2),
    "per-period": lambda: askance.make(
        "SOAL", budget=Fixed(200) & PerPeriod(20, "6h", carry=True), random_state=3
    ),
    "auto": lambda: askance.make("auto", budget=80, random_state=4),
}  # fmt: skip
NOT_KEPT = ("checkpoints", "links", "sessions", "tokens")  # tables of which only the columns are written down


def keep_model(folder: Path, name: str) -> dict[str, list[int]]:
    """Save the model after 300 events, ``plain`` with 30 more that are asked and not answered; what it decides then."""
    X, y, times = the_stream()
    clf = MAKERS[name]()
    clf.run(X[:300], y[:300], **({"times": times[:300]} if name == "per-period" else {}))
    if name == "plain":
        for x in X[300:330]:
            clf.ask(x)
    clf.save(folder / f"{name}.model")
    again = askance.load(folder / f"{name}.model")
    trace = play_on(again, name)
    return {
        "asked": np.flatnonzero(trace.asked).tolist(),
        "spam": np.flatnonzero(np.asarray(trace.predicted) == "spam").tolist(),
        "pending": again.pending,
    }


def keep_models() -> Path:
    from askance.learner.files import VERSION

    folder = MODELS / f"format-{VERSION}"
    folder.mkdir(exist_ok=True)
    decisions = {name: keep_model(folder, name) for name in MAKERS}
    (folder / "decisions.json").write_text(json.dumps(decisions) + "\n", encoding="utf-8")
    return folder


def keep_schema() -> Path:
    from tests.live.nursery import Nursery
    from tests.live.running import Running
    from tests.live.test_migrations import KEPT, Raw

    from askance_live.store import schema

    version = len(schema.MIGRATIONS)
    with tempfile.TemporaryDirectory() as name:
        nursery = Nursery()
        try:
            raw = Raw(str(Path(name) / "askance.db")).build(version - 1)
            service = Running(name, nursery=nursery)
            service.config.write_text(service.text)
            service.run("rebuild")  # settings of the model may have other defaults than they had then
            service.start()
            service.send(*(f"schema-{version}-{k}" for k in range(3)))
            for ask in service.next(1):
                service.answer(ask, "spam", f"answer-of-schema-{version}")
            service.wait_until_idle()
            service.stop()
        finally:
            nursery.stop()
        path = KEPT / f"{version}.json"
        path.write_text(dump_tables(raw, schema.MIGRATIONS[-1]), encoding="utf-8")
    return path


def dump_tables(raw, migration: str) -> str:
    """Every table as JSON, a row a line."""
    tables = []
    for (table,) in raw.all("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"):
        columns = raw.columns(table)
        rows = [] if table in NOT_KEPT else raw.all(f"SELECT {', '.join(columns)} FROM {table} ORDER BY 1, 2")
        cells = ([{"hex": cell.hex()} if isinstance(cell, bytes) else cell for cell in row] for row in rows)
        lines = ",\n".join(json.dumps(row) for row in cells)
        tables.append(f'{json.dumps(table)}: {{"columns": {json.dumps(columns)}, "rows": [\n{lines}]}}')
    digest = hashlib.sha256(migration.encode()).hexdigest()
    return f'{{"migration": "{digest}",\n"tables": {{\n' + ",\n".join(tables) + "}}\n"


def keep_logs() -> Path:
    from tests.live.kept_logs import ALGORITHMS, KEPT, write_log

    KEPT.mkdir(exist_ok=True)
    for name in ALGORITHMS:
        path = KEPT / f"{askance.__version__}-{name}.json"
        path.write_text(write_log(name), encoding="utf-8")
    return KEPT


def main(words: list[str]) -> int:
    makers = {"models": keep_models, "schema": keep_schema, "logs": keep_logs}
    if len(words) != 1 or words[0] not in makers:
        print(__doc__, file=sys.stderr)
        return 2
    print(f"Written: {makers[words[0]]()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
