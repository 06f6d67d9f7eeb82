"""``askance convert``: a file of any format as lines for Vowpal Wabbit."""

from __future__ import annotations

import argparse

from askance.cli.command import Command
from askance.cli.output import describe_omissions, writable
from askance.cli.run_options import add_fields, add_reading, read_options
from askance.plural import format_count

ENDING = ".vw"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source", metavar="FILE", help="a file, a folder, the name of a data set, or - for the standard input"
    )
    parser.add_argument("out", metavar="OUT.vw", help="the file to write")
    data = parser.add_argument_group("the data")
    add_reading(data)
    add_fields(data)


def run(options: argparse.Namespace) -> int:
    from askance.data.formats.vw import write_vw
    from askance.errors import InvalidParameter
    from askance.runner.model import check_can_be_written
    from askance.runner.sources import files_read, open_source, refuse_overwrites

    if not options.out.lower().endswith(ENDING):
        raise InvalidParameter(f"{options.out!r} does not end with {ENDING}, the only format that is written.")
    refuse_overwrites([("OUT.vw", options.out), ("--quarantine", options.quarantine)], files_read(options.source))
    check_can_be_written(options.out)
    with open_source(options.source, read_options(options), raw=True, keep_rows=True, origins=True) as stream:
        with writable(options.out):
            written = write_vw(options.out, stream)
        remarks = list(describe_omissions(stream.bad_lines, 0, stream.bad_line_examples))
    print(f"{options.out}: {format_count(written, 'event')}.", *remarks, sep="\n")
    return 0


command = Command(
    name="convert",
    summary="write a file as lines for Vowpal Wabbit",
    description="Read a file of any format, and write it as lines that vw reads. Numbers stand\n"
    "in the namespace without a name, the words of every other field in one of its\n"
    "own; numbered features keep their numbers.",
    epilog="examples:\n  askance convert mail.csv mail.vw\n  askance convert w8a w8a.vw\n",
    configure=configure,
    run=run,
)
