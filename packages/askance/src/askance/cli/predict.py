"""``askance predict``: the events of a file, predicted by a saved model."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from askance.cli.command import Command, whole_number
from askance.cli.output import describe_omissions, percent, plain
from askance.cli.run_options import BAD_LINE_ADVICE, add_reading, read_options
from askance.spreadsheets import safe

if TYPE_CHECKING:
    from askance.runner.predict import Predictions, Predictor

USUAL_REASONS = 5


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source", metavar="FILE", help="a file, a folder, the name of a data set, or - for the standard input"
    )
    parser.add_argument(
        "--load", metavar="MODEL", required=True, help="the model, of askance run or pipe, or of clf.save in Python"
    )
    add_reading(parser.add_argument_group("the data"), "default: as in the model; it may be missing")
    parser.set_defaults(classes=None)
    output = parser.add_argument_group("the outcome")
    output.add_argument("--output", metavar="FILE", help="write it to this file, .csv or .jsonl")
    output.add_argument("--json", action="store_true", help="print JSON lines in place of a CSV table")
    output.add_argument(
        "--explain", type=whole_number(1), nargs="?", const=USUAL_REASONS, default=0, metavar="N",
        help=f"show what moved each score: the N strongest fields and\nwords (default: {USUAL_REASONS})",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    from askance.errors import BadLine, InvalidInput
    from askance.runner.model import Model, check_can_be_written
    from askance.runner.predict import open_predictor
    from askance.runner.sources import files_read, refuse_overwrites

    outputs = [("--output", options.output), ("--quarantine", options.quarantine)]
    refuse_overwrites(outputs, [*files_read(options.source), ("the model of --load", options.load)])
    writer = find_writer(options)
    for _, name in outputs:
        if name is not None:
            check_can_be_written(name)
    try:
        model = Model.load(options.load)
        with (
            open_predictor(model, options.source, read_options(options), explain=options.explain) as predictor,
            open_output(options.output) as file,
        ):
            write = writer(file, predictor)
            for found in predictor:
                write(found)
    except BadLine as error:
        raise InvalidInput(f"{error} {BAD_LINE_ADVICE}") from None
    sys.stdout.flush()
    print(f"askance predict: {summary(predictor)}", file=sys.stderr)
    return 0


@contextmanager
def open_output(path: str | None) -> Iterator[IO[str]]:
    """The standard output, or a file that appears once it is complete."""
    if path is None:
        yield sys.stdout
        return
    from pathlib import Path

    from askance.atomic import atomic_write

    with atomic_write(Path(path)) as name, open(name, "w", encoding="utf-8", newline="") as file:
        yield file


Writer = Callable[[IO[str], "Predictor"], Callable[["Predictions"], None]]


def find_writer(options: argparse.Namespace) -> Writer:
    """How predictions are written, by the options and the name of the file."""
    from askance.errors import InvalidParameter

    name = (options.output or (".jsonl" if options.json else ".csv")).lower()
    for suffix, writer in ((".csv", write_csv), (".jsonl", write_jsonl)):
        if name.endswith(suffix):
            if options.json and suffix == ".csv":
                raise InvalidParameter(
                    f"--json writes JSON lines, but {options.output!r} is to be CSV; end it in .jsonl."
                )
            return writer
    raise InvalidParameter(f"the output {options.output!r} must end in .csv or .jsonl.")


def write_csv(file: IO[str], predictor: Predictor) -> Callable[[Predictions], None]:
    """Write a table, with a line of names."""
    rows = csv.writer(file, lineterminator="\n")
    classes = [str(label) for label in predictor.classes]
    has_begun = False

    def write(found: Predictions) -> None:
        nonlocal has_begun
        columns = {name: column.tolist() for name, column in found.columns.items()}
        if "labels" in columns:
            columns["labels"] = [predictor.separator.join(labels) for labels in columns["labels"]]
        columns |= {f"probability of {name}": found.probabilities[:, k].tolist() for k, name in enumerate(classes)}
        if found.reasons is not None:
            columns["why"] = ["; ".join(f"{what} {push:+.3g}" for what, push in event) for event in found.reasons]
        if not has_begun:  # not before there is something to write: an error comes alone
            rows.writerow(map(safe, columns))
            has_begun = True
        rows.writerows(map(safe, row) for row in zip(*columns.values(), strict=True))

    return write


def write_jsonl(file: IO[str], predictor: Predictor) -> Callable[[Predictions], None]:
    """Write an object a line."""
    classes = [str(label) for label in predictor.classes]
    encode = json.JSONEncoder(ensure_ascii=file is sys.stdout, allow_nan=False).encode

    def write(found: Predictions) -> None:
        columns = {name: column.tolist() for name, column in found.columns.items()}
        columns["probabilities"] = [dict(zip(classes, row, strict=True)) for row in found.probabilities.tolist()]
        if found.reasons is not None:
            columns["why"] = found.reasons
        for row in zip(*columns.values(), strict=True):
            file.write(encode(plain(dict(zip(columns, row, strict=True)))) + "\n")

    return write


def summary(predictor: Predictor) -> str:
    """What there was, in a line."""
    stream, parts = predictor.stream, []
    parts.append("1 event predicted" if predictor.events == 1 else f"{predictor.events:,} events predicted")
    if predictor.labeled:
        parts.append(f"right for {percent(predictor.right / predictor.labeled)} of {predictor.labeled:,} with a label")
    if predictor.left_out:
        from askance.data.encoding.kinds import format_names

        fields = "the field" if len(predictor.left_out) == 1 else "the fields"
        parts.append(f"the model does not know {fields} {format_names(predictor.left_out)}")
    parts += [sentence.rstrip(".") for sentence in describe_omissions(stream.bad_lines, 0, stream.bad_line_examples)]
    return "; ".join(parts) + "."


command = Command(
    name="predict",
    summary="predict the events of a file with a saved model",
    description="Predict every event of a file, labeled or not, with a model that was saved. The\n"
    "model stays as it is: nothing is learned, and every event is predicted as if it\n"
    "came next. Labels that are there are compared with what was predicted.",
    epilog="examples:\n"
    "  askance predict new.csv --load mail.model\n"
    "  askance predict new.csv --load mail.model --explain --output labels.csv\n"
    "  cat new.jsonl | askance predict - --load mail.model --json\n",
    configure=configure,
    run=run,
)
