"""``askance pipe``: events in, decisions out, one line of JSON each."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from askance.cli.command import Command
from askance.cli.output import plain
from askance.cli.run_options import add_algorithm, add_fields, choice_of, kinds_of, model_of

if TYPE_CHECKING:
    from askance.playing import Pipe


def configure(parser: argparse.ArgumentParser) -> None:
    add_algorithm(parser)
    data = parser.add_argument_group("the data")
    add_fields(data)
    data.add_argument(
        "--label", metavar="FIELD", help="the field with the label, in events that carry\none (default: label)"
    )
    data.add_argument(
        "--time-field", metavar="FIELD", help="the field with the time, for --per-day\n(default: when the line comes)"
    )
    data.add_argument("--raw", action="store_true", help="no scaling, no intercept, as in the papers")
    model = parser.add_argument_group("the model")
    model.add_argument("--load", metavar="MODEL", help="go on with this model, of a pipe or of askance run")
    model.add_argument("--save", metavar="MODEL", help="write the model at the end, also on SIGTERM and SIGINT")


def run(options: argparse.Namespace) -> int:
    from askance.playing.clashes import files_read, refuse_clashes
    from askance.playing.lines import Lines
    from askance.playing.model import check_can_be_written

    refuse_clashes([("--save", options.save)], files_read("-"))
    pipe = prepared(options)
    if options.save:
        check_can_be_written(options.save)
    with Lines(sys.stdin.fileno()) as lines:
        try:
            for line in lines:
                said = pipe.refuse_long_line() if line is None else pipe.answer(line)
                if said is not None:
                    write(said)
        finally:
            if options.save:
                pipe.model().save(options.save)
            report(pipe, options.save)
    if lines.were_interrupted:
        return 130
    return 2 if pipe.bad_lines else 0


def write(said: dict[str, Any]) -> None:
    """One line, at once; characters that the output cannot have are escaped, so that an id comes back as it was."""
    from askance.errors import InvalidInput

    line = json.dumps(plain(said), ensure_ascii=False, allow_nan=False)
    try:
        line.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        line = json.dumps(plain(said), allow_nan=False)
    try:
        print(line, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InvalidInput(f"the standard output cannot be written to: {error.strerror}.") from None


def prepared(options: argparse.Namespace) -> Pipe:
    """A pipe as the options want it."""
    from askance.errors import InvalidParameter
    from askance.playing import Pipe

    if options.time_field and options.per_day is None and not options.load:
        raise InvalidParameter("--time-field is for --per-day, which is missing.")
    if options.load:
        own: dict[str, Any] = {
            "--algorithm": options.algorithm, "--set": options.settings, "--objective": options.objective,
            "--costs": options.costs, "--classes": options.classes,
            "--field": options.kinds, "--raw": options.raw, "--explore": options.explore, "--seed": options.seed,
        }  # fmt: skip
        model = model_of(options, "--load", options.load, own)
        return Pipe.of(model, options.label, options.time_field)
    if options.classes is None:
        raise InvalidParameter("name the labels there are, for example --classes ham,spam: the first may come late.")
    return Pipe(
        options.classes,
        choice_of(options, intercept=not options.raw),
        features=kinds_of(options),
        raw=options.raw,
        label=options.label or "label",
        time_field=options.time_field,
    )


def report(pipe: Pipe, saved: str | None) -> None:
    """One line on standard error: what there was."""
    bad = f"; lines that could not be used: {pipe.bad_lines:,}" if pipe.bad_lines else ""
    kept = f"; model saved to {saved}" if saved else ""
    print(
        f"askance pipe: {pipe.events:,} events, {pipe.asked:,} asked, {pipe.answers:,} answered{bad}{kept}.",
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
