"""``askance demo``: a made-up stream of messages, played three ways."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from askance.cli.command import Command, add_old_spelling, whole_number
from askance.cli.output import console, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from askance.learner.trace import Trace
    from askance.stream.generators import Messages

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
    parser.add_argument("--seed", type=whole_number(0), default=0, metavar="N", help="play another stream (default: 0)")
    parser.add_argument(
        "--events",
        type=whole_number(1_000),
        default=20_000,
        metavar="N",
        help="length of the stream, 1000 or more (default: 20000)",
    )
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    live = parser.add_argument_group("the live service")
    live.add_argument(
        "--live", action="store_true", help="serve the stream, with pages to label and watch, until Ctrl-C"
    )
    live.add_argument(
        "--port", type=whole_number(0, 65_535), default=0, metavar="N", help="which port (default: a free one)"
    )
    live.add_argument("--speed", type=whole_number(1), default=5, metavar="N", help="events a second (default: 5)")
    add_old_spelling(live, "--rate", "--speed", type=whole_number(1), default=5)
    live.add_argument("--robots", action="store_true", help="let two made-up annotators answer too")


def run(options: argparse.Namespace) -> int:
    if options.live:
        return run_live(options)
    from askance.cli.demo_screen import introduce, report

    screen = console(width_in_a_pipe=80)
    if not options.json:
        introduce(screen, options.events)
    demo = play(options.events, options.seed, screen if screen.is_terminal and not options.json else None)
    if options.json:
        print_json(demo.as_json())
    else:
        report(screen, demo)
    return 0


def run_live(options: argparse.Namespace) -> int:
    from askance.cli.live import need_live_packages, note_slow_start

    need_live_packages()
    from askance.live.demo import run_demo

    slow = note_slow_start()

    def say(address: str) -> None:
        slow.cancel()
        print(f"Label messages at {address}/label and watch the model at {address}/ (Ctrl-C ends it).", flush=True)

    run_demo(options.port, options.seed, float(options.speed), options.robots, say)
    return 0


def play(events: int, seed: int, screen: Console | None = None) -> Demo:
    """Play the stream three times, the first time before the eyes of whoever looks at ``screen``."""
    from sklearn.base import clone

    import askance
    from askance.cli.demo_screen import show, waiting
    from askance.stream.generators import messages

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
    summary="play a made-up stream and see what a few labels buy",
    description="Play a made-up stream of short messages, some of them spam, and buy only the\n"
    "labels that are worth it. The same stream with as many labels bought at random,\n"
    "and with all labels, shows what the choice is worth. Needs no files, no network.",
    epilog="examples:\n  askance demo\n  askance demo --seed 7 --events 5000\n  askance demo --json\n"
    "  askance demo --live\n",
    configure=configure,
    run=run,
)
