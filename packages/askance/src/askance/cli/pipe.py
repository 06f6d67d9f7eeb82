"""``askance pipe``: events in, decisions out, one line of JSON each."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from askance.cli.command import Command
from askance.cli.output import plain
from askance.cli.run_options import (
    add_algorithm,
    add_fields,
    add_na_values,
    add_quarantine,
    budget_of,
    kinds_of,
    model_of,
    name_timed_limits,
    read_spec,
)
from askance.plural import format_count

if TYPE_CHECKING:
    from askance.brokers import Numbered
    from askance.runner import Pipe
    from askance.runner.listen import Answer
    from askance.runner.vw_pipe import VwPipe

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
    data.add_argument(
        "--from", dest="source", metavar="URL",
        help="read a broker instead of the standard input, until\nSIGTERM or SIGINT; needs --save",
    )  # fmt: skip
    data.add_argument("--to", dest="sink", metavar="URL", help="publish the replies there (default: standard output)")
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
    model.add_argument("--load", metavar="MODEL", help="resume this model, of a pipe or of askance run")
    model.add_argument("--save", metavar="MODEL", help="write the model at the end, also on SIGTERM and SIGINT")


def run(options: argparse.Namespace) -> int:
    from askance.data.formats.quarantine import Keeper, read_earlier
    from askance.errors import InvalidParameter
    from askance.runner.lines import Lines, StopSignals
    from askance.runner.listen import Listener, read_address
    from askance.runner.model import check_can_be_written
    from askance.runner.sources import files_read, refuse_overwrites
    from askance.runner.vw_pipe import VwPipe

    if options.source:
        return run_broker(options)
    if options.sink:
        raise InvalidParameter("--to is for a pipe that reads a broker: name one with --from.")
    refuse_overwrites([("--save", options.save), ("--quarantine", options.quarantine)], files_read("-"))
    refuse_overwrites([("--quarantine", options.quarantine)], [("the model of --load", options.load)])
    pipe = make_vw_pipe(options) if options.format == "vw" else make_pipe(options)
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


def run_broker(options: argparse.Namespace) -> int:
    """Answer the messages of a broker."""
    from askance.brokers import make_sink, make_source
    from askance.errors import InvalidParameter
    from askance.runner import Pipe
    from askance.runner.broker_pipe import BrokerPipe, find_saved, sole_writer
    from askance.runner.lines import StopSignals
    from askance.runner.model import check_can_be_written
    from askance.runner.sources import refuse_overwrites

    others = {"--listen": options.listen, "--quarantine": options.quarantine, "--format vw": options.format == "vw"}
    for name, given in others.items():
        if given:
            raise InvalidParameter(f"{name} does not go with --from.")
    if not options.save:
        raise InvalidParameter("--from needs --save: the model's file keeps which messages were taken.")
    refuse_overwrites([("--save", options.save)], [("the model of --load", options.load)])
    check_can_be_written(options.save)
    source = make_source(options.source)
    sink = make_sink(options.sink) if options.sink else StandardOutput()
    with sole_writer(options.save), StopSignals() as signals:
        spec = None if options.load else read_spec(options, intercept=not options.raw)
        saved = find_saved(options.save, spec, budget_of(options))
        if saved is None:
            pipe = make_pipe(options)
        else:
            pipe = Pipe.of(saved, options.label, options.time_field, options.na_values)
        broker_pipe = BrokerPipe(pipe, source, sink, options.save, encode, complain)
        if broker_pipe.begin(signals):
            try:
                broker_pipe.run(signals)
            finally:
                report(pipe, options.save)
    if signals.were_interrupted:
        return 130
    return 2 if pipe.bad_lines else 0


class StandardOutput:
    """Replies as lines."""

    def open(self, series: str) -> None:
        """Nothing to be done."""

    def publish(self, messages: Sequence[Numbered]) -> None:
        """Write the lines."""
        for message in messages:
            write(message.body)

    def close(self) -> None:
        """Nothing to be done."""


def encode(reply: Mapping[str, Any]) -> bytes:
    """A reply in plain ASCII."""
    return json.dumps(plain(reply), allow_nan=False).encode()


def complain(sentence: str) -> None:
    """Say on standard error what is wrong."""
    print(f"askance pipe: {sentence}", file=sys.stderr, flush=True)


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
    pipe.complain = complain
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


def make_pipe(options: argparse.Namespace) -> Pipe:
    """A pipe as the options want it."""
    from askance.errors import InvalidParameter
    from askance.runner import Pipe

    if options.time_field and not name_timed_limits(options) and not options.load:
        raise InvalidParameter(f"--time-field is for {name_timed_limits(options, given=False)}, which is missing.")
    if options.load:
        return Pipe.of(model_of(options), options.label, options.time_field, options.na_values)
    return Pipe(
        classes_of(options),
        read_spec(options, intercept=not options.raw),
        features=kinds_of(options) or None,
        raw=options.raw,
        label=options.label or "label",
        time_field=options.time_field,
        na_values=options.na_values,
    )


def make_vw_pipe(options: argparse.Namespace) -> VwPipe:
    """A pipe for lines of Vowpal Wabbit, as the options want it."""
    from askance.errors import InvalidParameter
    from askance.runner.vw_pipe import VwPipe

    named = {"--field": options.kinds, "--label": options.label, "--time-field": options.time_field}
    for name, given in (named | {"--na-values": options.na_values}).items():
        if given:
            raise InvalidParameter(f"{name} is for events with named fields, not for lines of Vowpal Wabbit.")
    if options.load:
        return VwPipe.of(model_of(options))
    return VwPipe(classes_of(options), read_spec(options, intercept=not options.raw), raw=options.raw)


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
    twice = getattr(pipe, "duplicates", 0)
    again = f"; {format_count(twice, 'event')} left out that came before" if twice else ""
    kept = f"; model saved to {saved}" if saved else ""
    print(
        f"askance pipe: {format_count(pipe.events, 'event')}, {pipe.asked:,} asked, "
        f"{pipe.answers:,} answered{bad}{again}{kept}.",
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
    "of vw --active. --from reads Redis streams, NATS JetStream or Kafka.",
    epilog="examples:\n"
    "  tail -f events.jsonl | askance pipe --classes ham,spam --rate 0.02\n"
    "  askance pipe --classes ham,spam --save mail.model < events.jsonl\n"
    "  askance pipe --load mail.model --save mail.model < more.jsonl\n"
    "  askance pipe --from kafka://broker:9092/mail --to kafka://broker:9092/out\n"
    "    --classes ham,spam --rate 0.02 --save mail.model\n"
    "  askance pipe --format vw --listen 26542 --classes=-1,1 --rate 0.05\n",
    configure=configure,
    run=run,
)
