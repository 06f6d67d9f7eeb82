"""``make("auto")`` beside every preset tuned in hindsight, every preset at its defaults, and three other libraries.

    ASKANCE_DATA=... python -m benchmarks.auto [--parts auto,grid,...] [--sets a8a,w8a] [--orders 5]

Results are kept in a file, a line each, and a second call goes on where the first ended; ``benchmarks/AUTO.md`` is
written from whatever there is. All of it is hours of work, most of it for the other libraries.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import auto_field, auto_peers
from benchmarks.auto_data import CHOSEN_ON, HELD_OUT, PREPARATIONS, prepared, stream, whole
from benchmarks.auto_report import write
from benchmarks.auto_speed import speeds

EVENTS = 8000
RATES = (0.01, 0.05, 0.2)
PARTS = ("auto", "random", "prepared", "ablation", "defaults", "grid", "vowpal", "river", "activeml", "speed")
ORDERS = {"prepared": 3, "ablation": 2, "vowpal": 5, "river": 3, "activeml": 3}
"""How many orders a part plays at most."""


def jobs(part: str, name: str, rate: float, order: int, n: int) -> Iterator[tuple[dict[str, Any], Any]]:
    """What there is to play: who, and how."""
    if part in ("auto", "ablation"):
        for label, options in auto_field.ABLATIONS.items():
            if label == "auto" or part == "ablation":
                yield {"who": label}, lambda options=options: auto_field.play_auto(name, options, rate, order, n)
    elif part == "random":
        yield {"who": "at random"}, lambda: auto_field.play_auto(name, auto_field.AT_RANDOM, rate, order, n)
    elif part == "prepared":
        yield {"who": "auto"}, lambda: auto_field.play_auto(name, {"preparation": "standard"}, rate, order, n)
    elif part == "defaults":
        for preset in auto_field.families(name):
            for preparation in PREPARATIONS:
                yield (
                    {"who": preset, "preparation": preparation},
                    lambda p=preset, q=preparation: auto_field.play_preset(name, p, {}, q, rate, order, n),
                )
    elif part == "grid":
        for preset, parameters in auto_field.settings(name):
            for preparation in PREPARATIONS:
                yield (
                    {"who": preset, "parameters": parameters, "preparation": preparation},
                    lambda p=preset, s=parameters, q=preparation: auto_field.play_preset(name, p, s, q, rate, order, n),
                )
    else:
        for who, parameters, preparation, play in auto_peers.candidates(part, name, rate, order, n):
            yield {"who": who, "parameters": parameters, "preparation": preparation}, play


class RunningPool:
    """Results in a file, a line each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[str, dict[str, Any]] = {}
        if path.exists():
            for line in path.read_text().splitlines():
                row = json.loads(line)
                self.rows[json.dumps(row["key"], sort_keys=True)] = row

    def knows(self, key: dict[str, Any]) -> bool:
        return json.dumps(key, sort_keys=True) in self.rows

    def add(self, key: dict[str, Any], **found: Any) -> None:
        row = {"key": key, **found}
        self.rows[json.dumps(key, sort_keys=True)] = row
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")


def play(kept: RunningPool, part: str, name: str, order: int, n: int) -> None:
    """One part on one order of one set, at every rate."""
    for rate in RATES:
        for who, run in jobs(part, name, rate, order, n):
            key = {"part": part, "set": name, "rate": rate, "order": order, "n": n, **who}
            if not kept.knows(key):
                played = run()
                if played is None:  # nobody bought as many labels
                    kept.add(key, balanced=None)
                else:
                    kept.add(key, **{metric: round(value, 5) for metric, value in played._asdict().items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--sets", default=",".join(CHOSEN_ON + HELD_OUT))
    parser.add_argument("--orders", type=int, default=5)
    parser.add_argument("--events", type=int, default=EVENTS, help="of each order, at most")
    parser.add_argument("--results", type=Path, default=Path("auto-results.jsonl"), help="where results are kept")
    options = parser.parse_args()
    kept = RunningPool(options.results)
    parts = list(filter(None, options.parts.split(",")))
    for order in range(options.orders):
        for name in options.sets.split(","):
            for part in parts:
                if part != "speed" and order < ORDERS.get(part, options.orders):
                    play(kept, part, name, order, options.events)
                    print(part, order, name, flush=True)
            for cache in (whole, prepared, stream):
                cache.cache_clear()
    if "speed" in parts:
        for key, found in speeds():
            kept.add(key, speed=found)
    write(Path(__file__).parent / "AUTO.md", list(kept.rows.values()))


if __name__ == "__main__":
    main()
