"""``askance demo``: a made-up stream of messages, run three ways."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from askance.cli.command import Command, whole_number
from askance.cli.output import console, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from askance.data.generators import Messages
    from askance.learner.trace import Trace

# The same update rule in all three runs, so that they differ only in the labels they learn from.
# (No normalize: the rows of the generated stream have length one.)
SETTINGS: dict[str, Any] = {"eta": 2.0, "gamma": 1.0, "intercept": True, "classes": ["ham", "spam"]}
DELTA = 0.03  # how readily SOAL-diag asks
BASELINE = "ham"  # what somebody without any label would say


@dataclass(frozen=True)
class Demo:
    """What the demo found out: the same stream with chosen labels, as many random ones, and all labels."""

    stream: Messages
    seed: int
    chosen: Trace
    random: Trace
    everything: Trace

    @property
    def baseline(self) -> float:
        """Accuracy of always saying ham."""
        return float((self.stream.labels == BASELINE).mean())

    def as_json(self) -> dict[str, Any]:
        runs = {"SOAL-diag": self.chosen, "SORL-diag": self.random, "SOL-diag": self.everything}
        return {
            "events": len(self.stream.texts),
            "seed": self.seed,
            "positive": "spam",
            "baseline_accuracy": self.baseline,
            "runs": [{"algorithm": name, **trace.summary("spam")} for name, trace in runs.items()],
        }


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=whole_number(0), default=0, metavar="N", help="run another stream (default: 0)")
    parser.add_argument(
        "--events",
        type=whole_number(1_000),
        default=20_000,
        metavar="N",
        help="length of the stream, 1000 or more (default: 20000)",
    )
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def run(options: argparse.Namespace) -> int:
    from askance.cli.demo_screen import introduce, report

    screen = console(width_in_a_pipe=80)
    if not options.json:
        introduce(screen, options.events)
    demo = run_demo(options.events, options.seed, screen if screen.is_terminal and not options.json else None)
    if options.json:
        print_json(demo.as_json())
    else:
        report(screen, demo)
    return 0


def run_demo(events: int, seed: int, screen: Console | None = None) -> Demo:
    """Run the stream three times, the first time as a show on ``screen``."""
    from sklearn.base import clone

    import askance
    from askance.cli.demo_screen import show, waiting
    from askance.data.generators import messages

    with waiting(screen, f"Writing {events:,} messages, and compiling if this is the first time ..."):
        stream = messages(events, random_state=seed)
        for name in ("SOAL-diag", "SORL-diag", "SOL-diag"):
            askance.make(name, **SETTINGS).run(stream.X[:2], stream.labels[:2])

    choosing = askance.make("SOAL-diag", delta=DELTA, random_state=seed, **SETTINGS)
    if screen:  # piece by piece; the pieces do not change any decision
        show(screen, clone(choosing), stream)
    chosen = choosing.run(stream.X, stream.labels)
    labels = int(chosen.asked.sum())
    # A rate a little too high, and a budget: as many labels (in a short stream sometimes a few less).
    random = askance.make(
        "SORL-diag", rate=min(1.0, 1.2 * labels / events), budget=labels, random_state=seed, **SETTINGS
    )
    everything = askance.make("SOL-diag", random_state=seed, **SETTINGS)
    return Demo(
        stream,
        seed,
        chosen,
        random.run(stream.X, stream.labels),
        everything.run(stream.X, stream.labels),
    )


command = Command(
    name="demo",
    summary="run a made-up stream and see what a few labels achieve",
    description="Run a made-up stream of short messages, some of them spam, and request only the\n"
    "labels that are worth it. The same stream with as many labels requested at\n"
    "random, and with all labels, shows what the choice is worth. Needs no files and\n"
    "no network.",
    epilog="examples:\n  askance demo\n  askance demo --seed 7 --events 5000\n  askance demo --json\n",
    configure=configure,
    run=run,
)
