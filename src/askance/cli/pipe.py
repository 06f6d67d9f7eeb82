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
    from askance.playing import Model, Pipe
    from askance.playing.listen import Answer
    from askance.playing.vw_pipe import VwPipe

FORMATS = ("jsonl", "vw")


def configure(parser: argparse.ArgumentParser) -> None:
    add_algorithm(parser)
    data = parser.add_argument_group("the data")
    data.add_argument(
        "--format", choices=FORMATS, default=FORMATS[0],
        help="jsonl, or vw: lines and replies of vw --active\n(default: jsonl)",
    )  # fmt: skip
    data.add_argument(
        "--listen", metavar="[HOST:]PORT",
        help="answer clients over TCP instead of the standard\ninput; the host is 127.0.0.1 unless given",
    )  # fmt: skip
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
    from askance.playing.listen import Listener, read_address
    from askance.playing.model import check_can_be_written
    from askance.playing.overwrites import files_read, refuse_overwrites
    from askance.playing.stop_signals import StopSignals
    from askance.playing.vw_pipe import VwPipe
    from askance.stream.quarantine import Keeper, read_earlier

    refuse_overwrites([("--save", options.save), ("--quarantine", options.quarantine)], files_read("-"))
    refuse_overwrites([("--quarantine", options.quarantine)], [("the model of --load", options.load)])
    pipe = prepare_vw(options) if options.format == "vw" else prepare(options)
    answer = answer_vw(pipe) if isinstance(pipe, VwPipe) else answer_json(pipe)
    if options.save:
        check_can_be_written(options.save)
    listener = None if options.listen is None else Listener(*read_address(options.listen), answer)
    with ExitStack() as stack:
        signals = stack.enter_context(StopSignals() if listener else Lines(sys.stdin.fileno()))
        if options.quarantine:
            check_can_be_written(options.quarantine)
            head = {"format": options.format}
            is_begun = bool(read_earlier(options.quarantine, head))
            file = stack.enter_context(open(options.quarantine, "a", encoding="ascii"))
            pipe.keeper = Keeper(file, head, is_begun)
        try:
            if isinstance(signals, Lines):
                for line in signals:
                    reply = answer(line)
                    if reply is not None:
                        write(reply)
            elif listener is not None:
                print("askance pipe: listening on {}:{}.".format(*listener.address), file=sys.stderr, flush=True)
                listener.serve(signals)
        finally:
            if options.save:
                pipe.model().save(options.save)
            report(pipe, options.save)
    if signals.were_interrupted:
        return 130
    return 2 if pipe.bad_lines else 0


def answer_json(pipe: Pipe) -> Answer:
    """How lines of JSON are answered; characters that the output cannot have are escaped, so that an id comes back as
    it was."""
    encoding = sys.stdout.encoding or "utf-8"

    def answer(line: bytes | None) -> bytes | None:
        reply = pipe.refuse_long_line() if line is None else pipe.answer(line)
        if reply is None:
            return None
        try:
            return json.dumps(plain(reply), ensure_ascii=False, allow_nan=False).encode(encoding)
        except UnicodeEncodeError:
            return json.dumps(plain(reply), allow_nan=False).encode()

    return answer


def answer_vw(pipe: VwPipe) -> Answer:
    """How lines of Vowpal Wabbit are answered; why one cannot be used stands on standard error."""
    pipe.complain = lambda sentence: print(f"askance pipe: {sentence}", file=sys.stderr, flush=True)
    return pipe.answer


def write(reply: bytes) -> None:
    """One line, at once."""
    from askance.errors import InvalidInput

    try:
        sys.stdout.buffer.write(reply + b"\n")
        sys.stdout.flush()
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
        return Pipe.of(loaded(options), options.label, options.time_field, options.na_values)
    return Pipe(
        classes_of(options),
        read_spec(options, intercept=not options.raw),
        features=kinds_of(options),
        raw=options.raw,
        label=options.label or "label",
        time_field=options.time_field,
        na_values=options.na_values,
    )


def prepare_vw(options: argparse.Namespace) -> VwPipe:
    """A pipe for lines of Vowpal Wabbit, as the options want it."""
    from askance.errors import InvalidParameter
    from askance.playing.vw_pipe import VwPipe

    named = {"--field": options.kinds, "--label": options.label, "--time-field": options.time_field}
    for name, given in (named | {"--na-values": options.na_values}).items():
        if given:
            raise InvalidParameter(f"{name} is for events with named fields, not for lines of Vowpal Wabbit.")
    if options.load:
        return VwPipe.of(loaded(options))
    return VwPipe(classes_of(options), read_spec(options, intercept=not options.raw), raw=options.raw)


def loaded(options: argparse.Namespace) -> Model:
    """The model to go on with."""
    own: dict[str, Any] = {
        "--algorithm": options.algorithm, "--set": options.settings, "--objective": options.objective,
        "--costs": options.costs, "--classes": options.classes,
        "--field": options.kinds, "--raw": options.raw, "--explore": options.explore, "--seed": options.seed,
    }  # fmt: skip
    return model_of(options, own)


def classes_of(options: argparse.Namespace) -> list[str]:
    """The labels there are."""
    from askance.errors import InvalidParameter

    if options.classes is None:
        raise InvalidParameter("name the labels there are, for example --classes ham,spam: the first may come late.")
    classes: list[str] = options.classes
    return classes


def report(pipe: Pipe | VwPipe, saved: str | None) -> None:
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
    summary="answer a live stream of lines",
    description="Read events as JSON lines on standard input, and write for each, at once, what\n"
    "is predicted and whether its label is wanted. Answers are lines on the same\n"
    'input, whenever they come: {"ticket": 17, "label": "spam"}, or with the id of\n'
    "the event in place of the ticket. With --format vw, lines and replies are those\n"
    "of vw --active.",
    epilog="examples:\n"
    "  tail -f events.jsonl | askance pipe --classes ham,spam --rate 0.02\n"
    "  askance pipe --classes ham,spam --save mail.model < events.jsonl\n"
    "  askance pipe --load mail.model --save mail.model < more.jsonl\n"
    "  askance pipe --format vw --listen 26542 --classes=-1,1 --rate 0.05\n",
    configure=configure,
    run=run,
)
