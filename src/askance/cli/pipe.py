"""``askance pipe``: events in, decisions out, one line of JSON each."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from askance.cli.command import Command
from askance.cli.output import plain
from askance.cli.run_options import (
    add_algorithm,
    add_fields,
    add_na_values,
    add_quarantine,
    kinds_of,
    model_of,
    read_spec,
    timed_limits,
)
from askance.plural import format_count

if TYPE_CHECKING:
    from askance.playing import Pipe


def configure(parser: argparse.ArgumentParser) -> None:
    add_algorithm(parser)
    data = parser.add_argument_group("the data")
    add_fields(data)
    add_na_values(data)
    data.add_argument(
        "--label", metavar="FIELD", help="the field with the label, in events that carry\none (default: label)"
    )
    data.add_argument(
        "--time-field", metavar="FIELD", help="the field with the time, for --per-day\n(default: when the line comes)"
    )
    add_quarantine(data)
    data.add_argument("--raw", action="store_true", help="no scaling, no intercept, as in the papers")
    model = parser.add_argument_group("the model")
    model.add_argument("--load", metavar="MODEL", help="go on with this model, of a pipe or of askance run")
    model.add_argument("--save", metavar="MODEL", help="write the model at the end, also on SIGTERM and SIGINT")


def run(options: argparse.Namespace) -> int:
    from askance.playing.lines import Lines
    from askance.playing.model import check_can_be_written
    from askance.playing.overwrites import files_read, refuse_overwrites
    from askance.stream.quarantine import Keeper, read_earlier

    refuse_overwrites([("--save", options.save), ("--quarantine", options.quarantine)], files_read("-"))
    refuse_overwrites([("--quarantine", options.quarantine)], [("the model of --load", options.load)])
    pipe = prepare(options)
    if options.save:
        check_can_be_written(options.save)
    with ExitStack() as stack, Lines(sys.stdin.fileno()) as lines:
        if options.quarantine:
            check_can_be_written(options.quarantine)
            head = {"format": "jsonl"}
            is_begun = bool(read_earlier(options.quarantine, head))
            file = stack.enter_context(open(options.quarantine, "a", encoding="ascii"))
            pipe.keeper = Keeper(file, head, is_begun)
        try:
            for line in lines:
                reply = pipe.refuse_long_line() if line is None else pipe.answer(line)
                if reply is not None:
                    write(reply)
        finally:
            if options.save:
                pipe.model().save(options.save)
            report(pipe, options.save)
    if lines.were_interrupted:
        return 130
    return 2 if pipe.bad_lines else 0


def write(reply: dict[str, Any]) -> None:
    """One line, at once; characters that the output cannot have are escaped, so that an id comes back as it was."""
    from askance.errors import InvalidInput

    line = json.dumps(plain(reply), ensure_ascii=False, allow_nan=False)
    try:
        line.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        line = json.dumps(plain(reply), allow_nan=False)
    try:
        print(line, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InvalidInput(f"the standard output cannot be written to: {error.strerror}.") from None


def prepare(options: argparse.Namespace) -> Pipe:
    """A pipe as the options want it."""
    from askance.errors import InvalidParameter
    from askance.playing import Pipe

    if options.time_field and not timed_limits(options) and not options.load:
        raise InvalidParameter(f"--time-field is for {timed_limits(options, given=False)}, which is missing.")
    if options.load:
        own: dict[str, Any] = {
            "--algorithm": options.algorithm, "--set": options.settings, "--objective": options.objective,
            "--costs": options.costs, "--classes": options.classes,
            "--field": options.kinds, "--raw": options.raw, "--explore": options.explore, "--seed": options.seed,
        }  # fmt: skip
        model = model_of(options, own)
        return Pipe.of(model, options.label, options.time_field, options.na_values)
    if options.classes is None:
        raise InvalidParameter("name the labels there are, for example --classes ham,spam: the first may come late.")
    return Pipe(
        options.classes,
        read_spec(options, intercept=not options.raw),
        features=kinds_of(options),
        raw=options.raw,
        label=options.label or "label",
        time_field=options.time_field,
        na_values=options.na_values,
    )


def report(pipe: Pipe, saved: str | None) -> None:
    """One line on standard error: what there was."""
    bad = f"; lines that could not be used: {pipe.bad_lines:,}" if pipe.bad_lines else ""
    kept = f"; model saved to {saved}" if saved else ""
    print(
        f"askance pipe: {format_count(pipe.events, 'event')}, {pipe.asked:,} asked, "
        f"{pipe.answers:,} answered{bad}{kept}.",
        file=sys.stderr,
        flush=True,
    )


command = Command(
    name="pipe",
    summary="answer a live stream of JSON lines",
    description="Read events as JSON lines on standard input, and write for each, at once, what\n"
    "is predicted and whether its label is wanted. Answers are lines on the same\n"
    'input, whenever they come: {"ticket": 17, "label": "spam"}, or with the id of\n'
    "the event in place of the ticket.",
    epilog="examples:\n"
    "  tail -f events.jsonl | askance pipe --classes ham,spam --rate 0.02\n"
    "  askance pipe --classes ham,spam --save mail.model < events.jsonl\n"
    "  askance pipe --load mail.model --save mail.model < more.jsonl\n",
    configure=configure,
    run=run,
)
