"""``make("auto")`` beside every preset tuned in hindsight, every preset at its defaults, and three other libraries.

    ASKANCE_DATA=... python -m benchmarks.auto [--quick] [--parts auto,grid,...]

Results are kept in a file, a line each, and a second call goes on where the first ended; ``benchmarks/AUTO.md`` is
written from whatever there is.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import auto_field, auto_peers
from benchmarks.auto_data import PREPARATIONS, QUICK, SETS
from benchmarks.auto_report import write

RATES = (0.01, 0.05, 0.2)
PARTS = ("auto", "ablation", "defaults", "grid", "vowpal", "river", "activeml")
SLOW = ("vowpal", "river", "activeml")  # one order only


def jobs(part: str, name: str, rate: float, order: int, n: int) -> Iterator[tuple[dict[str, Any], Any]]:
    """What there is to play: who, and how."""
    if part in ("auto", "ablation"):
        for label, options in auto_field.ABLATIONS.items():
            if label == "auto" or part == "ablation":
                yield {"who": label}, lambda options=options: auto_field.play_auto(name, options, rate, order, n)
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
        for who, preparation, play in auto_peers.candidates(part, name, rate, order, n):
            yield {"who": who, "preparation": preparation}, play


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="15 sets, 8,000 events, 3 orders")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--results", type=Path, default=Path("auto-results.jsonl"), help="where results are kept")
    options = parser.parse_args()
    n, orders, sets = (8000, 3, QUICK) if options.quick else (20_000, 5, SETS)
    known = {}
    if options.results.exists():
        for line in options.results.read_text().splitlines():
            row = json.loads(line)
            known[json.dumps(row["key"], sort_keys=True)] = row
    with options.results.open("a") as file:
        for part in filter(None, options.parts.split(",")):
            for rate in RATES:
                for name in sets:
                    for order in range(orders if part not in SLOW else 1):
                        for who, play in jobs(part, name, rate, order, n):
                            key = {"part": part, "set": name, "rate": rate, "order": order, "n": n, **who}
                            if json.dumps(key, sort_keys=True) in known:
                                continue
                            balanced, labels = play()
                            found = None if balanced is None else round(balanced, 5)
                            row = {"key": key, "balanced": found, "labels": labels}
                            known[json.dumps(key, sort_keys=True)] = row
                            file.write(json.dumps(row) + "\n")
                    file.flush()
                    print(part, rate, name, flush=True)
    write(Path(__file__).parent / "AUTO.md", [row for row in known.values() if row["key"]["n"] == n], sets, RATES, n)


if __name__ == "__main__":
    main()
