"""``python -m benchmarks.libraries``: four libraries at equal label counts, as they come. Writes ``LIBRARIES.md``.

Nobody is tuned here: each has the defaults that its users meet first. ``AUTO.md`` has the same with everybody tuned in
hindsight, at three rates. The peers get standardised features, with statistics of the whole set; ``auto`` gets the data
as they are. See ``auto_peers`` for how each is brought to the same number of labels.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks import auto_peers
from benchmarks.auto_data import Played, stream, whole
from benchmarks.auto_field import BURST, play_auto, play_preset
from benchmarks.measure import versions

SETS = (
    "a8a", "codrna_train", "elec2", "german", "ijcnn1", "magic04", "mushrooms", "spambase", "splice", "svmguide1",
    "w8a",
)  # fmt: skip
RATE = 0.05
RESULTS = Path(__file__).with_name("LIBRARIES.md")
NO_STEP_GIVEN = 0.0  # scikit-learn's own


def askance_auto(name: str, order: int, n: int) -> Played:
    return play_auto(name, {}, RATE, order, n)


def askance_soal(name: str, order: int, n: int) -> Played:
    return play_preset(name, "SOAL-diag", {}, "standard", RATE, order, n)


def vowpal_wabbit(name: str, order: int, n: int) -> Played | None:
    return auto_peers.vowpal(name, "standard", order, n, RATE, step=0.5)


def river(name: str, order: int, n: int) -> Played:
    return auto_peers.river(stream(name, "standard", order, n), RATE, 2, step=0.01)


def scikit_activeml(name: str, order: int, n: int) -> Played:
    events, classes = stream(name, "standard", order, n), np.unique(whole(name)[1])
    return auto_peers.activeml(events, RATE, classes, "VariableUncertainty", order, NO_STEP_GIVEN)


PLAYERS: dict[str, Callable[[str, int, int], Played | None]] = {
    "askance, auto": askance_auto,
    "askance, SOAL-diag": askance_soal,
    "Vowpal Wabbit `--active`": vowpal_wabbit,
    "river `EntropySampler`": river,
    "scikit-activeml `VariableUncertainty`": scikit_activeml,
}


def play_all(name: str, orders: int, n: int) -> dict[str, list[Played]]:
    """What came of each player's runs; an order in which the number of labels could not be reached is left out."""
    return {
        player: [played for order in range(orders) if (played := play(name, order, n)) is not None]
        for player, play in PLAYERS.items()
    }


def cell(runs: list[Played], best: float) -> str:
    """Balanced accuracy, accuracy and the labels bought, means over the orders; the best in bold."""
    if not runs:
        return ""
    balanced, accuracy, labels = (np.mean([run[k] for run in runs]) for k in range(3))
    shown = f"{100 * balanced:.1f}"
    return f"{f'**{shown}**' if balanced == best else shown}, {100 * accuracy:.1f} ({labels:.0f})"


def table(played: dict[str, dict[str, list[Played]]]) -> list[str]:
    """A line for each set, and their means."""
    lines = ["| set | " + " | ".join(PLAYERS) + " |", "| --- |" + " --: |" * len(PLAYERS)]
    for name, by_player in played.items():
        means = {player: np.mean([run.balanced for run in runs]) for player, runs in by_player.items() if runs}
        cells = [cell(by_player[player], max(means.values())) for player in PLAYERS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    complete = [by_player for by_player in played.values() if all(by_player.values())]
    means = [np.mean([run.balanced for row in complete for run in row[player]]) for player in PLAYERS]
    heading = f"mean of the {len(complete)} sets that all played"
    return [*lines, f"| {heading} | " + " | ".join(f"{100 * mean:.1f}" for mean in means) + " |"]


def report(played: dict[str, dict[str, list[Played]]], orders: int, n: int) -> str:
    return "\n".join(
        [
            "# Four libraries at equal label counts, as they come\n",
            "Written by `python -m benchmarks.libraries`. Balanced accuracy over all events, each predicted before it "
            "was asked, then accuracy, in points, and in brackets the labels bought. Everybody may ask for "
            f"{RATE:.0%} of the events and {BURST:.0f} more at the start; {len(played)} real sets with two classes, "
            f"the first {n:,} events of each of {orders} orders (streams with an order of their own: stretches of "
            "it).\n",
            "Nobody is tuned: each library has the defaults that its users meet first. Two things favour the others. "
            "They get features standardised with statistics of the whole set, which a stream does not have (`auto` "
            "gets the data as they are), and each is credited with the better of two thresholds, 0 and one moved as "
            "`auto` moves its own. Vowpal Wabbit cannot be told how many labels to buy: the best of its losses and "
            "mellownesses with 80 to 115 % of them counts. [AUTO.md](AUTO.md) has the same with everybody tuned in "
            "hindsight, at three rates.\n",
            *table(played),
            f"\n{versions()}.\n",
        ]
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="sets, with commas between them")
    parser.add_argument("--orders", type=int, default=2)
    parser.add_argument("--events", type=int, default=3_000)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    played = {}
    for name in options.only.split(",") if options.only else SETS:
        played[name] = play_all(name, options.orders, options.events)
        print(table({name: played[name]})[2], flush=True)
    options.output.write_text(report(played, options.orders, options.events))
    return 0


if __name__ == "__main__":
    sys.exit(main())
