"""``askance run``: one algorithm on one file."""

from __future__ import annotations

import argparse
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from askance.atomic import remove_unfinished
from askance.cli.command import Command, whole_number
from askance.cli.output import print_json
from askance.cli.run_options import (
    BAD_LINE_ADVICE,
    add_algorithm,
    add_fields,
    add_reading,
    add_weights,
    add_workers,
    model_of,
    name_timed_limits,
    read_options,
    read_spec,
    weights_of,
)

if TYPE_CHECKING:
    from askance.data.formats.read_options import ReadOptions

ERASE_LINE_AND_SHOW_CURSOR = b"\x1b[0m\r\x1b[2K\x1b[?25h"  # where the progress bar was


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source", metavar="FILE", nargs="+",
        help="a file, a folder, the name of a data set, or - for the standard\ninput; several files are one stream",
    )  # fmt: skip
    add_algorithm(parser)
    data = parser.add_argument_group("the data")
    add_reading(data)
    data.add_argument(
        "--label-separator", type=separator, metavar="TEXT",
        help="an event has several labels, with this between them:\n"
        "--label-separator / (the default algorithm is then D-ADA)",
    )  # fmt: skip
    data.add_argument("--positive", metavar="LABEL", help="the positive class (default: the second of two)")
    add_fields(data)
    data.add_argument("--time-field", metavar="FIELD", help="the field with the time, for --per-day")
    data.add_argument(
        "--scale", choices=("auto", "none", "l2"), default="auto",
        help="auto: numbers standardized by running statistics,\ntexts and sparse events to length 1",
    )  # fmt: skip
    data.add_argument(
        "--intercept", action=argparse.BooleanOptionalAction, default=True, help="append a constant 1 (default: yes)"
    )
    data.add_argument("--raw", action="store_true", help="--scale none --no-intercept, as in the papers")
    output = parser.add_argument_group("the outcome")
    output.add_argument("--save", metavar="MODEL", help="write the model, to resume it later")
    output.add_argument("--load", metavar="MODEL", help="resume this model exactly where it ended")
    output.add_argument("--trace", metavar="FILE", help="write every decision, .csv, .jsonl, .npz or .parquet")
    output.add_argument(
        "--curve",
        action="append",
        default=[],
        metavar="FILE",
        help="write a metric over the run, .csv, .json, .png or .svg",
    )
    output.add_argument(
        "--metric",
        metavar="NAME",
        help="of the curve: accuracy, f1, cost, ...\n(default: what the algorithm optimizes)",
    )
    output.add_argument("--over", choices=("events", "labels"), help="what the curve goes over (default: events)")
    output.add_argument(
        "--window", type=whole_number(1), metavar="N", help="the curve of the latest N events (default: of all so far)"
    )
    output.add_argument(
        "--save-every", type=whole_number(1), metavar="N", help="save the model after every N events, too"
    )
    output.add_argument(
        "--continue", action="store_true", dest="resume",
        help="if --save has a model that was saved on the way, resume there",
    )  # fmt: skip
    add_weights(output)
    output.add_argument("--json", action="store_true", help="print the result as JSON")

    workers = parser.add_argument_group("workers, for large files")
    add_workers(workers, "processes that parse the files; answers are learned in\nrounds (default: none)")
    workers.add_argument(
        "--update-immediately", "--at-once", action="store_true",
        help="with workers: learn each answer before the next event,\nas without them",
    )  # fmt: skip


def separator(text: str) -> str:
    """What stands between labels."""
    if not text or not text.isprintable() or text.isalnum():
        raise argparse.ArgumentTypeError(f"must be a sign that is in no label, such as ';' or '|', got {text!r}")
    return text


@contextmanager
def ending_with_a_message() -> Iterator[None]:
    """A signal ends the process with a message, and no file is left half written; a bad line ends it with advice."""
    from askance.errors import BadLine, InvalidInput

    is_main = threading.current_thread() is threading.main_thread()
    signals = (signal.SIGTERM, signal.SIGINT) if is_main else ()
    heeded = [number for number in signals if signal.getsignal(number) is not signal.SIG_IGN]  # a job in the background
    before = {number: signal.signal(number, stop) for number in heeded}
    try:
        yield
    except BadLine as error:
        raise InvalidInput(f"{error} {BAD_LINE_ADVICE}") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def stop(number: int, frame: FrameType | None) -> None:
    """End the process where it stands: what it is in the midst of, such as the loading of a library in C, may not bear
    an exception."""
    remove_unfinished()
    if os.isatty(2):
        os.write(2, ERASE_LINE_AND_SHOW_CURSOR)
    os.write(2, b"askance run: stopped before the end; no file was left half written.\n")
    os._exit(128 + number)


@ending_with_a_message()
def run(options: argparse.Namespace) -> int:
    """Run the source, write the files that are wanted and show the result."""
    from askance.cli.run_screen import RunScreen
    from askance.errors import InvalidParameter
    from askance.runner import run_file

    if are_label_sets(options):
        refuse_options_of_one_label(options)
    source = check_files(options)
    model = load(options)
    spec = None if model is not None else read_spec(options, options.intercept and not options.raw)
    curve_spec = read_curve_spec(options, model.about if spec is None else spec.about())
    reading = timed_reading(options, model)
    engine = engine_of(options)
    if options.save_every and (options.trace or options.curve):
        raise InvalidParameter(
            "--save-every is for runs that may be continued, which write no --trace and no --curve; leave one out."
        )
    screen = RunScreen(quiet=options.json)
    with screen.progress() as progress:
        outcome = run_file(
            source,
            spec,
            reading,
            model=model,
            positive=options.positive,
            scale="none" if options.raw else options.scale,
            save=options.save,
            trace=options.trace,
            curve=curve_spec,
            **weights_of(options),
            progress=progress,
            engine=engine,
            in_rounds=engine is not None and not options.update_immediately,
            save_every=options.save_every,
            resume=options.resume,
        )
    for name in options.curve:
        from askance.compare.plots import save_curve

        save_curve(outcome.curve_as_json(), name, f"{outcome.model.about['algorithm']} on {outcome.name}")
    if options.json:
        print_json(outcome.as_json())
    else:
        written = [name for name in (options.save, options.trace, options.quarantine, *options.curve) if name]
        screen.show(outcome, written, list(weights_of(options)), options.elapsed())
    return 0


def are_label_sets(options: argparse.Namespace) -> bool:
    """Whether events have several labels: because the options say so, or the model."""
    if options.label_separator is not None or options.load is None:
        return options.label_separator is not None
    from askance.learner.files import holds_label_sets

    return holds_label_sets(options.load)


def refuse_options_of_one_label(options: argparse.Namespace) -> None:
    """Raise if an option is there that means nothing for label sets."""
    from askance.errors import InvalidParameter

    of_one_label = {
        "--positive": options.positive, "--trace": options.trace,
        "--curve": options.curve, "--metric": options.metric, "--over": options.over, "--window": options.window,
        "--alpha-p": options.alpha_p is not None, "--c-p": options.c_p is not None,
        "--workers": options.workers, "--address": options.address,
        "--update-immediately": options.update_immediately,
    }  # fmt: skip
    for name, given in of_one_label.items():
        if given:
            raise InvalidParameter(f"{name} is for events with one label, not for --label-separator; leave it out.")


def check_files(options: argparse.Namespace) -> Any:
    """What to read; refuses to write over it, or over the model to resume."""
    from askance.runner.sources import expand_sources, files_read, refuse_overwrites

    source = expand_sources(options.source)
    read = [named for one in (source if isinstance(source, list) else [source]) for named in files_read(one)]
    kept = ("--quarantine", options.quarantine)
    written = [("--trace", options.trace), kept, *(("--curve", name) for name in options.curve)]
    refuse_overwrites([("--save", options.save), *written], read)
    refuse_overwrites(written, [("the model of --load", options.load)])
    return source


def timed_reading(options: argparse.Namespace, model: Any) -> ReadOptions:
    """How the source is read; limits by time need the field that has it."""
    from askance.errors import InvalidParameter

    reading = read_options(options)
    limits = name_timed_limits(options)
    if limits and model is None and "time" not in (reading.features or {}).values():
        raise InvalidParameter(f"{limits} needs the time of each event: name its field with --time-field.")
    return reading


def engine_of(options: argparse.Namespace) -> Any:
    """The workers that the options ask for; None without any."""
    from askance.engines import make_engine
    from askance.errors import InvalidParameter

    if options.workers is None and options.engine == "local" and options.address is None:
        if options.update_immediately:
            raise InvalidParameter(
                "--update-immediately is for --workers; without them every answer is learned immediately."
            )
        return None
    return make_engine(options.engine, options.workers, options.address)


def read_curve_spec(options: argparse.Namespace, about: dict[str, Any]) -> Any:
    """The curve that is wanted, of what the algorithm optimizes unless a metric is named; None if there is none."""
    from askance.errors import InvalidParameter
    from askance.evaluate.metrics.objectives import headline_of
    from askance.runner.curve_recorder import CurveSpec

    chosen = {"metric": options.metric, "over": options.over, "window": options.window}
    given = {name: value for name, value in chosen.items() if value is not None}
    if not options.curve:
        if given:
            raise InvalidParameter(f"--{next(iter(given))} is for a curve: name a file for it with --curve.")
        return None
    from askance.compare.plots import check_curve_file

    for name in options.curve:
        check_curve_file(name)
    curve_spec = CurveSpec(**{"metric": headline_of(about), **given})
    curve_spec.check()
    return curve_spec


def load(options: argparse.Namespace) -> Any:
    """The model to resume, of which only the budget can be changed; None without --load."""
    if not options.load:
        return None
    named = {"--scale": options.scale != "auto", "--no-intercept": not options.intercept}
    return model_of(options, {**named, "--time-field": options.time_field})


command = Command(
    name="run",
    summary="run one algorithm on a file",
    description="Run one algorithm on a file, or on several, from beginning to end: predict every\n"
    "event, request some labels and learn from them. Files are read in pieces and may\n"
    "be larger than the memory. A terminal shows the progress. A table shows the\n"
    "results at the end.",
    epilog="examples:\n"
    "  askance run mail.csv\n"
    "  askance run mail.csv --label spam --budget 500 --trace decisions.csv\n"
    "  askance run mail.csv --curve learned.png --over labels --metric f1\n"
    "  askance run w8a -a PAA-I:C=0.1,delta=1 --raw --json\n"
    "  askance run posts.csv --label tags --label-separator / --rate 0.02\n"
    "  askance run monday.jsonl --rate 0.02 --save mail.model\n"
    "  askance run tuesday.jsonl --load mail.model --save mail.model\n"
    "  zcat events.libsvm.gz | askance run - -a SOAL-diag\n"
    "  askance run lake/*.parquet --workers 8 --save lake.model --save-every 1000000\n",
    configure=configure,
    run=run,
)
