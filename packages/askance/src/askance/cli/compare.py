"""``askance compare``: several algorithms at several query ratios, on one file."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askance.cli.command import Command, whole_number
from askance.cli.output import print_json
from askance.cli.run_options import (
    BAD_LINE_ADVICE,
    add_fields,
    add_reading,
    add_weights,
    add_workers,
    read_options,
    weights_of,
    workers_of,
)
from askance.learner.budget_kinds import read_share

if TYPE_CHECKING:
    from askance.compare import Candidate, Results, Sweep

TWO_CLASSES = ("auto", "PAA-I", "SOAL-diag", "D-ADA", "SOL-diag")
MANY_CLASSES = ("auto", "MPAA-I", "MD-ADA", "MDA")
"""Who takes part if nobody is named: the default of ``askance run``, rules of the papers, and one that asks always."""


class MetricNames:
    """The metrics there are. They are looked up when ``--help`` shows them: what measures them takes time to load."""

    def __str__(self) -> str:
        from askance.evaluate.metrics.register import comparable

        *names, last = sorted(comparable())
        return f"{', '.join(names)} or {last}"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="FILE", help="a file, or the name of a data set")
    who = parser.add_argument_group("what to compare")
    who.add_argument(
        "-a", "--algorithm", action="append", default=[], metavar="NAME",
        help="an algorithm; repeat for more. PAA-I:C=0.1 fixes a parameter,\nPAA-I:C=0.1/1/10 chooses among values\n"
        f"(default: {', '.join(TWO_CLASSES)};\nfor more than two classes: {', '.join(MANY_CLASSES)})",
    )  # fmt: skip
    who.add_argument(
        "--twins", action=argparse.BooleanOptionalAction, default=True,
        help="beside each, the same learner asking at random (default: yes)",
    )  # fmt: skip
    targets = who.add_mutually_exclusive_group()
    targets.add_argument(
        "--ratios", type=shares, metavar="LIST", help="shares of labels to buy (default: 1%%,5%%,10%%,20%%)"
    )
    targets.add_argument("--budgets", type=counts, metavar="LIST", help="or numbers of labels to buy at most")
    who.add_argument(
        "--permutations", type=whole_number(1), default=20, metavar="N", help="orders played (default: 20)"
    )
    who.add_argument(
        "--search-permutations", type=whole_number(1), default=5, metavar="N",
        help="other orders, to choose parameters on (default: 5)",
    )  # fmt: skip
    who.add_argument("--grid", choices=("quick", "papers", "none"), default="quick", help="parameters to choose from")
    metric = who.add_argument(
        "--metric", default=None, metavar="NAME",
        help="what to choose and rank by: %(names)s\n(default: balanced_accuracy). "
        "auto optimizes it, where it\nhas such an objective",
    )  # fmt: skip
    vars(metric)["names"] = MetricNames()
    add_weights(who)
    who.add_argument("--positive", metavar="LABEL", help="the positive class (default: the second of two)")
    who.add_argument("--seed", type=whole_number(0), default=0, metavar="N", help="other orders (default: 0)")
    data = parser.add_argument_group("the data")
    add_reading(data)
    add_fields(data)
    data.add_argument(
        "--scale", choices=("auto", "none", "standard", "l2", "minmax"), default="auto",
        help="auto: columns to variance 1 for numbers, events to length 1 for words",
    )  # fmt: skip
    data.add_argument(
        "--intercept", action=argparse.BooleanOptionalAction, default=True, help="append a constant 1 (default: yes)"
    )
    data.add_argument("--raw", action="store_true", help="--scale none --no-intercept")
    data.add_argument("--keep-order", action="store_true", help="do not permute: a stream with drift")
    output = parser.add_argument_group("the outcome")
    output.add_argument("--report", metavar="FILE.html", help="write a report to look at")
    output.add_argument("--plot", action="append", default=[], metavar="FILE", help="write the curves, .png or .svg")
    output.add_argument("--json", action="store_true", help="print the results as JSON")
    output.add_argument(
        "--results", metavar="FILE.jsonl", help="where finished plays are kept\n(default: in the cache folder)"
    )
    output.add_argument("--fresh", action="store_true", help="play again what was played before")
    add_workers(parser.add_argument_group("who plays"))


def numbers(text: str, kind: Callable[[str], Any], is_fine: Callable[[Any], bool], what: str) -> list[Any]:
    try:
        values = [kind(word) for word in text.split(",") if word.strip()]
    except ValueError:
        values = []
    if not values or not all(is_fine(value) for value in values):
        raise argparse.ArgumentTypeError(f"must be {what}, got {text!r}")
    return values


def shares(text: str) -> list[float]:
    return numbers(text, read_share, lambda share: 0.0 < share <= 1.0, "shares in (0, 1], such as 5%,10% or 0.05,0.1")


def counts(text: str) -> list[int]:
    return numbers(text, int, lambda count: count >= 1, "numbers of labels, such as 100,500")


def run(options: argparse.Namespace) -> int:
    from askance.cli.compare_screen import CompareScreen
    from askance.compare.results_cache import refuse_foreign, remove_results
    from askance.errors import BadLine, InvalidInput
    from askance.runner.sources import files_read, refuse_overwrites

    screen = CompareScreen(quiet=options.json)
    outputs = [
        ("--results", options.results),
        ("--quarantine", options.quarantine),
        ("--report", options.report),
        *(("--plot", name) for name in options.plot),
    ]
    refuse_overwrites(outputs, files_read(options.source))
    if options.results:
        check_folder(options.results)
        refuse_foreign(options.results)
    check_can_be_written(options)
    path = None
    try:
        sweep = prepare(options)
        path = None if options.fresh and not options.results else results_path(options, sweep)
        if options.fresh and path is not None:
            remove_results(path)
        screen.introduce(sweep)
        with screen.progress() as progress:
            results = sweep.run(progress, results=path, **workers_of(options))
    except BadLine as error:
        raise InvalidInput(f"{error} {BAD_LINE_ADVICE}") from None
    except KeyboardInterrupt:
        screen.show_interrupted(path)
        return 130
    written = write(options, results)
    if options.json:
        print_json(as_json(results))
    else:
        screen.show(results, written)
    return 0


def prepare(options: argparse.Namespace) -> Sweep:
    """The sweep that the options ask for."""
    from askance.compare import Sweep, Table
    from askance.evaluate.metrics.objectives import USUAL_METRIC

    running = options.scale == "auto" and not options.raw
    table = Table.of(options.source, read_options(options), positive=options.positive, running=running)
    is_binary = len(table.classes) == 2
    names = options.algorithm or (TWO_CLASSES if is_binary else MANY_CLASSES)
    return Sweep(
        table,
        list(candidates(names, options)),
        options.ratios or (None if options.budgets else [0.01, 0.05, 0.1, 0.2]),
        budgets=options.budgets,
        permutations=options.permutations,
        search_permutations=options.search_permutations,
        metric=options.metric or USUAL_METRIC,
        prepare="none" if options.raw else options.scale,
        intercept=options.intercept and not options.raw,
        seed=options.seed,
        shuffle=not options.keep_order,
        **weights_of(options),
    )


def candidates(names: Sequence[str], options: argparse.Namespace) -> Iterator[Candidate]:
    """Who takes part: each algorithm once and, beside it, its twin with the same parameters."""
    named = [candidate(text, options.grid, options.budgets is not None) for text in names]
    played = list(named)
    for text, own in zip(names, named, strict=True):
        yield own
        twin = twin_text(text) if options.twins else None
        twin_candidate = None if twin is None else candidate(twin, options.grid, options.budgets is not None)
        if twin_candidate is not None and not any(are_alike(twin_candidate, other) for other in played):
            played.append(twin_candidate)
            yield twin_candidate


def are_alike(one: Candidate, other: Candidate) -> bool:
    """Whether two play the same algorithm with the same parameters."""
    return (one.algorithm, one.grid, one.fixed) == (other.algorithm, other.grid, other.fixed)


def twin_text(text: str) -> str | None:
    """The twin of an algorithm, with those of its parameters that the twin has.

    >>> twin_text("PAA-I:C=0.1/1,delta=2"), twin_text("auto"), twin_text("SOL-diag")
    ('RPA-I:C=0.1/1', 'auto-random', None)
    """
    from askance.compare.random_baseline import random_baseline_of
    from askance.compare.search import parameters_of

    name, _, rest = text.partition(":")
    twin = random_baseline_of(name)
    if twin is None:
        return None
    kept = [part for part in rest.split(",") if part.partition("=")[0].strip() in parameters_of(twin)]
    return ":".join(filter(None, (twin, ",".join(kept))))


def candidate(text: str, grid: str, budgets: bool) -> Candidate:
    """An algorithm with its parameters, from ``NAME:letter=value/value,letter=value``."""
    from askance.compare import default_candidate, imbalance
    from askance.errors import InvalidParameter
    from askance.runner.algorithm_spec import WORDS

    name, _, rest = text.partition(":")
    given: dict[str, list[Any]] = {}
    for part in filter(None, rest.split(",")):
        letter, _, values = part.partition("=")
        try:
            given[letter.strip()] = [
                word.strip() if letter.strip() in WORDS else imbalance if word.strip() == "imbalance" else float(word)
                for word in values.split("/")
            ]
        except ValueError:
            raise InvalidParameter(
                f"{text!r} is not understood; write an algorithm such as PAA-I, PAA-I:C=0.1 or PAA-I:C=0.1/1/10, "
                "with numbers or the word imbalance as values."
            ) from None
    fixed = {letter: values[0] for letter, values in given.items() if len(values) == 1}
    choices = {letter: values for letter, values in given.items() if len(values) > 1}
    return default_candidate(name, grid, fixed, choices, with_scale=budgets, label=text.strip() if rest else "")


def results_path(options: argparse.Namespace, sweep: Sweep) -> Path:
    """Where finished plays are kept: so that the same command, given again, goes on."""
    if options.results:
        return Path(options.results)
    from askance.compile import cache_directory

    return (
        cache_directory().parent / "compare" / f"{sweep.table.name.replace(':', '-')}-{sweep.table.digest[:12]}.jsonl"
    )


def check_can_be_written(options: argparse.Namespace) -> None:
    """Say before the work, not after it, that a report or a plot cannot be written."""
    from askance.errors import InvalidParameter

    for name in options.plot:
        check_folder(name)
        if Path(name).suffix.lower() not in (".png", ".svg"):
            raise InvalidParameter(f"the plot {name!r} must end in .png or .svg.")
    if options.report:
        check_folder(options.report)
        if Path(options.report).suffix.lower() != ".html":
            raise InvalidParameter(f"the report {options.report!r} must end in .html.")
    if options.plot:
        from askance.compare.charts import need_matplotlib

        need_matplotlib()


def check_folder(name: str) -> None:
    """Refuse a file in a folder that is not there."""
    from askance.errors import InvalidParameter

    path = Path(name)
    if not path.parent.is_dir():
        raise InvalidParameter(f"there is no folder {str(path.parent)!r} to write {path.name} to.")


def write(options: argparse.Namespace, results: Results) -> list[str]:
    """Write the report and the plots that are asked for."""
    written = []
    for name in options.plot:
        from askance.compare.plots import save_curves

        save_curves(results, name)
        written.append(name)
    if options.report:
        from askance.compare.report import save_report

        save_report(results, options.report)
        written.append(options.report)
    return written


def as_json(results: Results) -> dict[str, Any]:
    """Everything, with the statistics; a single play has no standard deviation."""
    from dataclasses import asdict

    from askance.compare.statistics import find_shared_places, lines, rank_table

    table = rank_table(results)
    mean_over = [{"dataset": dataset, "target": target} for dataset, target in find_shared_places(table)]
    ranking = [
        {
            **asdict(row),
            "by_cell": [{"dataset": place[0], "target": place[1], "rank": rank} for place, rank in row.by_cell.items()],
            "mean_over": mean_over,
        }
        for row in table
    ]
    found = [asdict(line) | {"std": line.std if line.plays > 1 else None} for line in lines(results)]
    return results.as_json() | {"lines": found, "ranking": ranking}


command = Command(
    name="compare",
    summary="compare algorithms at several label rates on one file",
    description="Play one file with several algorithms, each asking for the same share of the\n"
    "labels, over many random orders. Parameters are chosen on other orders, as the\n"
    "papers do. Prints means, paired t-tests and ranks; an interrupted comparison\n"
    "goes on where it ended when the same command is given again.",
    epilog="examples:\n"
    "  askance compare w8a\n"
    "  askance compare mail.libsvm -a PAA-I -a SOAL-diag --ratios 0.01,0.05\n"
    "  askance compare w8a -a OA3-diag:rho=imbalance -a OAAL --budgets 1000,5000\n"
    "  askance compare w8a --report w8a.html --plot w8a.png\n",
    configure=configure,
    run=run,
)
