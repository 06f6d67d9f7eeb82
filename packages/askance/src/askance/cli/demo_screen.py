"""What ``askance demo`` shows: the stream going by, then the table and the words."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from askance.cli.output import percent, spark

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from askance.cli.demo import Demo
    from askance.data.generators import Messages
    from askance.learner.estimator import ActiveClassifier
    from askance.learner.trace import Trace

SECONDS = 5.0  # the show lasts
FRAMES = 125
RECENT = 1_000  # events
COLOURS = {"ham": "green", "spam": "red"}


def waiting(screen: Console | None, message: str) -> AbstractContextManager[Any]:
    return screen.status(message) if screen else nullcontext()


def introduce(screen: Console, events: int) -> None:
    write(
        screen,
        f"{events:,} made-up messages arrive one by one, some of them spam. A label is somebody's time: "
        "which ones are worth asking for?",
    )
    screen.print()


# The show


def show(screen: Console, classifier: ActiveClassifier, stream: Messages) -> None:
    """Play the stream slowly enough to be watched."""
    events = len(stream.texts)
    cuts = np.linspace(0, events, FRAMES + 1).astype(int)
    right = np.zeros(events, dtype=bool)
    asked = np.zeros(events, dtype=bool)
    with Live(console=screen, auto_refresh=False, transient=True) as live:
        for start, stop in pairwise(cuts):
            trace = classifier.run(stream.X[start:stop], stream.labels[start:stop])
            right[start:stop] = trace.predicted == trace.truth
            asked[start:stop] = trace.asked
            live.update(frame(stream, stop, right, asked), refresh=True)
            time.sleep(SECONDS / FRAMES)


def frame(stream: Messages, seen: int, right: NDArray[np.bool_], asked: NDArray[np.bool_]) -> Table:
    events = len(stream.texts)
    recent = right[max(0, seen - RECENT) : seen].mean()
    labels = np.flatnonzero(asked[:seen])
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True, min_width=13)
    grid.add_column(no_wrap=True, overflow="ellipsis")
    bar = Table.grid(padding=(0, 2))
    bar.add_row(ProgressBar(total=events, completed=seen, width=40), f"{seen:,} of {events:,}")
    grid.add_row("messages", bar)
    grid.add_row("labels bought", f"{len(labels):,}, {percent(len(labels) / seen)} of the messages")
    grid.add_row(
        "accuracy",
        f"{climb(right[:seen], pieces=40 * seen // events)} {percent(recent)} of the latest {RECENT:,}",
    )
    if len(labels):
        grid.add_row("last question", Text(stream.texts[labels[-1]]))
        grid.add_row("the answer", label_text(stream.labels[labels[-1]]))
    return grid


def climb(right: NDArray[np.bool_], pieces: int) -> str:
    return spark(piece.mean() for piece in np.array_split(right, max(1, pieces)))


def label_text(label: str) -> Text:
    return Text(str(label), style=COLOURS[str(label)])


# The closing words


def report(screen: Console, demo: Demo) -> None:
    screen.print(results(demo))
    for paragraph in conclusions(demo):
        screen.print()
        write(screen, paragraph)
    screen.print("\nSome of the messages, and why their labels were asked for:")
    for example in examples(demo.chosen):
        label = str(demo.stream.labels[example.event])
        screen.print()
        screen.print(f"  [dim]message {example.event + 1:,}[/]  [{COLOURS[label]}]{label}[/]")
        write(screen, demo.stream.texts[example.event], indent=4, style="italic")
        write(screen, example.why, indent=4)
    screen.print()
    write(
        screen,
        "Next: 'askance check yours.csv' tells what a file of yours looks like, 'askance run yours.csv --budget 500' "
        'plays it; in Python, askance.make("auto", budget=500).run(frame, "label") plays a table.',
    )


def write(screen: Console, text: str, indent: int = 0, style: str = "") -> None:
    """Wrap by hand: lines carry no spaces at their ends, and no word is taken for markup."""
    margin = " " * indent
    width = min(screen.width, 100)
    filled = textwrap.fill(text, width, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False)
    screen.print(Text(filled, style=style))


def results(demo: Demo) -> Table:
    last = len(demo.stream.texts) // 4
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("labels", no_wrap=True)
    table.add_column("bought", justify="right")
    table.add_column("accuracy", justify="right")
    table.add_column(f"last {last:,}", justify="right")
    table.add_column("spam found", justify="right")
    table.add_column("over time, 80-100%", no_wrap=True)
    rows = [
        ("askance asks", demo.chosen, "bold"),
        ("bought at random", demo.random, ""),
        ("all of them", demo.everything, ""),
    ]
    for name, trace, style in rows:
        summary = trace.summary("spam")
        right = trace.predicted == trace.truth
        table.add_row(
            name,
            f"{summary['labels']:,}",
            percent(summary["accuracy"]),
            percent(right[-last:].mean()),
            percent(summary["recall"]),
            climb(right, pieces=20),
            style=style,
        )
    always_ham = demo.stream.labels == "ham"
    table.add_row(
        "none, all is ham",
        "0",
        percent(always_ham.mean()),
        percent(always_ham[-last:].mean()),
        percent(0.0),
        climb(always_ham, pieces=20),
        style="dim",
    )
    return table


def conclusions(demo: Demo) -> Iterator[str]:
    chosen, random, everything = (trace.summary("spam") for trace in (demo.chosen, demo.random, demo.everything))
    events, labels = chosen["events"], chosen["labels"]
    times = f"{events / max(1, labels):.0f}"
    yield (
        f"Each of the {events:,} messages was predicted as it came. For {labels:,} of them, "
        f"one in {times}, askance then asked for the label and learned from it. "
        f"{percent(chosen['accuracy'])} of its predictions were right, counted from the first message on."
    )
    yield (
        f"Buying every label, {times} times as many, would have given {percent(everything['accuracy'])}. "
        f"{random['labels']:,} labels bought at random give {percent(random['accuracy'])}."
    )
    speed = events / max(demo.chosen.seconds, 1e-9) / 1e6
    yield (
        f"The learner took {1000 * demo.chosen.seconds:.1f} ms for the whole stream, "
        f"{speed:.1f} million messages a second."
    )


class Example(NamedTuple):
    """One event, and why its label was or was not asked for."""

    event: int
    why: str


def examples(trace: Trace) -> list[Example]:
    """Questions of different kinds, and one that was not worth asking, in the order of the stream."""
    events = np.arange(len(trace))
    sureness = np.abs(trace.margin)
    is_late = events >= RECENT
    must_ask = trace.probability == 1.0

    def describe(event: int) -> str:
        return f"it looked like {trace.predicted[event]} by a margin of {sureness[event]:.2f}"

    def chance(event: int) -> str:
        return f"which left a chance of {percent(trace.probability[event])}"

    kinds: list[tuple[NDArray[np.bool_], NDArray[Any], Callable[[int], str]]] = [
        (trace.asked, -events, lambda event: "Asked: nothing was known yet."),
        (
            trace.asked & is_late,
            -sureness,
            lambda event: f"Asked: it could be either, with a margin of {sureness[event]:.3f}.",
        ),
        (
            trace.asked & is_late & must_ask,
            sureness,
            lambda event: f"Asked: {describe(event)}, but with words too rare to rely on.",
        ),
        (
            trace.asked & is_late & ~must_ask,
            sureness,
            lambda event: f"Asked: a spot check; {describe(event)}, {chance(event)}.",
        ),
        (
            ~trace.asked & is_late & (trace.predicted == "spam"),
            sureness,
            lambda event: f"Not asked: {describe(event)}, {chance(event)}.",
        ),
    ]
    found: dict[int, str] = {}
    for candidates, order, why in kinds:
        if candidates.any():
            event = int(events[candidates][order[candidates].argmax()])
            found.setdefault(event, why(event))
    return [Example(event, why) for event, why in sorted(found.items())]
