"""Is a step towards a better ``make("auto")`` worth its place? The same cheap cases for every variant, side by side.

    ASKANCE_DATA=... python -m benchmarks.auto_steps NAME [--options '{"sharpness": 1.0}'] [--held-out] [--sets a8a,w8a]
    ASKANCE_DATA=... python -m benchmarks.auto_steps --table BASE,NAME,...

Plays up to 8,000 events in three orders at 1, 5 and 20 % of the labels and notes the balanced accuracy under NAME, a
line a run; ``--table`` prints what is noted. Options are those of ``Committee``, and ``delta``, ``class_power``,
``power`` and ``burst``. Constants are chosen on ``DEVELOPMENT``. ``HELD_OUT`` is for the end, to be looked at once.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from benchmarks.auto import EVENTS, RATES, RunningPool
from benchmarks.auto_data import prepared, stream, whole
from benchmarks.auto_field import play_auto

DEVELOPMENT = (
    "magic04", "svmguide1", "spambase", "elec2", "ijcnn1", "a8a", "w8a", "sms_spam", "satimage", "letter", "shuttle",
    "covtype",
)  # fmt: skip
HELD_OUT = ("codrna_train", "german", "splice", "kddcup99_10pct", "poker_25k", "dna", "connect4", "amazon_alexa")
ORDERS = 3


def measure(kept: RunningPool, name: str, options: dict[str, object], sets: tuple[str, ...], orders: int) -> None:
    """Play every case that is not noted yet."""
    for dataset in sets:
        for order in range(orders):
            for rate in RATES:
                key = {"variant": name, "set": dataset, "rate": rate, "order": order}
                if not kept.knows(key):
                    played = play_auto(dataset, options, rate, order, EVENTS)
                    kept.add(key, balanced=round(100.0 * played.balanced, 3), labels=played.labels)
        for cache in (whole, prepared, stream):
            cache.cache_clear()


def table(kept: RunningPool, names: list[str], sets: tuple[str, ...]) -> str:
    """The first variant as it is, the others as differences from it on the orders that both played."""
    found: dict[tuple[str, str, float], dict[int, float]] = defaultdict(dict)
    for row in kept.rows.values():
        key = row["key"]
        found[key["variant"], key["set"], key["rate"]][key["order"]] = row["balanced"]
    heads = [f"{name} {100 * rate:g} %" for name in names for rate in RATES]
    lines = [f"| set | {' | '.join(heads)} |", "| --- |" + " --: |" * len(heads)]
    columns: dict[str, list[float]] = defaultdict(list)
    for dataset in sets:
        cells = []
        for name in names:
            for rate in RATES:
                base, own = found[names[0], dataset, rate], found[name, dataset, rate]
                common = sorted(set(base) & set(own))
                if not common:
                    cells.append("")
                    continue
                value = np.mean([own[order] - (base[order] if name != names[0] else 0.0) for order in common])
                columns[f"{name} {100 * rate:g} %"].append(float(value))
                cells.append(f"{value:.1f}" if name == names[0] else f"{value:+.1f}")
        lines.append(f"| {dataset} | {' | '.join(cells)} |")
    means = [f"{np.mean(columns[head]):+.2f}" if columns[head] else "" for head in heads]
    return "\n".join([*lines, f"| mean | {' | '.join(means)} |"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", help="what to note the results under")
    parser.add_argument("--options", type=json.loads, default={})
    parser.add_argument("--sets", default="")
    parser.add_argument("--orders", type=int, default=ORDERS)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--table", default="")
    parser.add_argument("--results", type=Path, default=Path("auto-steps.jsonl"), help="where results are kept")
    options = parser.parse_args()
    kept = RunningPool(options.results)
    sets = tuple(filter(None, options.sets.split(","))) or (HELD_OUT if options.held_out else DEVELOPMENT)
    if options.name:
        measure(kept, options.name, options.options, sets, options.orders)
    names = list(filter(None, options.table.split(","))) or ([options.name] if options.name else [])
    print(table(kept, names, sets))


if __name__ == "__main__":
    main()
