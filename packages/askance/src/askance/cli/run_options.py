"""Options that commands share: which algorithm, how many labels, how a file is read, what its fields are."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from askance.cli.command import whole_number
from askance.data.formats import FORMATS, list_formats
from askance.engines import ENGINES
from askance.learner.budget_kinds import (
    BUDGET_KINDS,
    SHARE,
    BudgetKind,
    Limits,
    period_kinds,
    propose_percentage,
    read_share,
)

if TYPE_CHECKING:
    from askance.data.formats.read_options import ReadOptions
    from askance.runner import Model
    from askance.runner.algorithm_spec import AlgorithmSpec

USUAL_RATE = 0.05  # of the labels, where auto has no limit
USUAL_LABEL = "default: label, y, class, target, or the last"


def add_algorithm(parser: argparse.ArgumentParser) -> None:
    """Which algorithm, and how many labels it may request."""
    who = parser.add_argument_group("the algorithm")
    who.add_argument(
        "-a", "--algorithm", metavar="NAME",
        help="an algorithm, such as PAA-I or PAA-I:C=0.1,delta=2\n(default: auto, which needs no parameters)",
    )  # fmt: skip
    who.add_argument(
        "--set", action="append", default=[], metavar="P=VALUE", dest="settings", help="a parameter; repeat for more"
    )
    who.add_argument(
        "--objective", choices=("balanced", "accuracy", "f1"), help="of auto: what to be good at (default: balanced)"
    )
    who.add_argument(
        "--costs",
        type=costs,
        metavar="fn=9,fp=1",
        help="what a missed event of the second class and a false\nalarm cost; or fraud:ok=9, a fraud predicted as ok\n"
        "(other mistakes: 1). Of auto, D-ADA, D-AMD",
    )
    who.add_argument("--seed", type=whole_number(0), default=0, metavar="N", help="other random numbers (default: 0)")
    budget = parser.add_argument_group("how many labels (auto without a limit: 5 in 100)")
    for kind in BUDGET_KINDS.values():
        budget.add_argument(kind.option, type=as_option(kind), metavar=kind.metavar, help=kind.help)
    budget.add_argument(
        "--explore", type=share, default=0.0, metavar="P",
        help="ask every event with at least this probability:\nan unbiased sample, such as 1%%",
    )  # fmt: skip


def add_reading(data: argparse._ArgumentGroup, label: str = USUAL_LABEL) -> None:
    """How a file is read, and what to say of its label."""
    data.add_argument("--format", metavar="NAME", help=f"{list_formats(list(FORMATS))}\n(default: detected)")
    data.add_argument("--encoding", metavar="NAME", help="what text is written in, such as latin-1 (default: utf-8)")
    add_na_values(data)
    data.add_argument("--label", metavar="FIELD", help=f"the field with the label ({label})")
    data.add_argument(
        "--header", action=argparse.BooleanOptionalAction, default=None,
        help="whether a CSV file begins with a line of names (default: detected)",
    )  # fmt: skip
    data.add_argument("--skip-bad-lines", action="store_true", help="leave out lines that cannot be read")
    add_quarantine(data)


def add_na_values(data: argparse._ArgumentGroup) -> None:
    """What counts as missing."""
    data.add_argument(
        "--na-values", type=na_values, action="extend", metavar="A,B,...",
        help="words and numbers that count as missing, besides NA,\nnan, ? and the like: --na-values=-999,unknown",
    )  # fmt: skip


def add_quarantine(data: argparse._ArgumentGroup) -> None:
    """Where lines go that cannot be read."""
    data.add_argument(
        "--quarantine", metavar="FILE.jsonl",
        help="leave them out, but write each to this file, with\nthe reason; the file can be run again",
    )  # fmt: skip


BAD_LINE_ADVICE = "--skip-bad-lines leaves such lines out, --quarantine FILE.jsonl keeps them in a file."


def read_options(options: argparse.Namespace) -> ReadOptions:
    """How the source is read, by the options of the command."""
    from askance.data.formats.read_options import ReadOptions

    kinds = kinds_of(options) if "kinds" in options else {}
    if getattr(options, "time_field", None):
        kinds[options.time_field] = "time"
    return ReadOptions(
        format=options.format,
        label=options.label,
        header=options.header,
        encoding=options.encoding,
        na_values=options.na_values,
        skip_bad_lines=options.skip_bad_lines,
        quarantine=options.quarantine,
        classes=options.classes,
        label_separator=getattr(options, "label_separator", None),
        features=kinds or None,
    )


def add_fields(parser: argparse._ArgumentGroup) -> None:
    """What the fields of events are."""
    parser.add_argument(
        "--field", action="append", default=[], metavar="NAME=KIND", dest="kinds",
        help="what a field is: number, category, text, date, time or\nignore (default: detected from its values)",
    )  # fmt: skip
    parser.add_argument("--classes", type=words, metavar="A,B,...", help="all labels there are")


def add_weights(parser: argparse._ArgumentGroup) -> None:
    """The weights of two metrics."""
    parser.add_argument("--alpha-p", type=weight, metavar="W", help="the weight of sensitivity in sum (default: 0.5)")
    parser.add_argument("--c-p", type=weight, metavar="W", help="the cost of a missed positive in cost (default: 0.9)")


def weights_of(options: argparse.Namespace) -> dict[str, Any]:
    """Those of the two weights that were given."""
    chosen = {"alpha_p": options.alpha_p, "c_p": options.c_p}
    return {name: value for name, value in chosen.items() if value is not None}


def weight(text: str) -> float:
    """A number in [0, 1]."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"must be a weight in [0, 1], such as 0.9, got {text!r}")
    return value


def costs(text: str) -> dict[str, Any]:
    """What mistakes cost: of two kinds, or for pairs of classes, the event's before the predicted one.

    >>> costs("fraud:ok=9,fraud:spam=5")
    {'fraud': {'ok': 9.0, 'spam': 5.0}}
    """
    from askance.errors import InvalidParameter
    from askance.evaluate.costs import check_costs

    found: dict[str, Any] = {}
    try:
        for part in text.split(","):
            mistake, value = part.rsplit("=", 1)
            truth, _, predicted = (name.strip() for name in mistake.partition(":"))
            if predicted:
                found.setdefault(truth, {})[predicted] = float(value)
            else:
                found[truth] = float(value)
        check_costs(found)
    except (ValueError, AttributeError, TypeError, InvalidParameter):
        raise argparse.ArgumentTypeError(
            f"must be costs above 0, such as fn=9,fp=1, or fraud:ok=9 for a fraud predicted as ok, got {text!r}"
        ) from None
    return found


def as_option(kind: BudgetKind) -> Callable[[str], Any]:
    """How argparse reads a budget of this kind."""

    def read(text: str) -> Any:
        try:
            return kind.parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def share(text: str) -> float:
    """A number in (0, 1], or a percentage."""
    try:
        value = read_share(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= 1.0:
        raise argparse.ArgumentTypeError(f"{SHARE}, got {text!r}{propose_percentage(text)}")
    return value


def words(text: str) -> list[str]:
    """Words with commas between them, at least two."""
    found = [word.strip() for word in text.split(",") if word.strip()]
    if len(set(found)) < 2:
        raise argparse.ArgumentTypeError(f"must be two labels or more with commas between them, got {text!r}")
    return found


def na_values(text: str) -> list[str]:
    """Words with commas between them."""
    found = [word.strip() for word in text.split(",") if word.strip()]
    if not found:
        raise argparse.ArgumentTypeError("must be words with commas between them; empty cells are missing anyway")
    return found


def kinds_of(options: argparse.Namespace) -> dict[str, str]:
    """The kinds of fields that were given."""
    from askance.errors import InvalidParameter

    found = {}
    for part in options.kinds:
        name, equals, kind = part.rpartition("=")
        if not (name and equals):
            raise InvalidParameter(
                f"--field {part!r} is not understood; write a field and its kind, such as zip=category."
            )
        found[name] = kind
    return found


def read_spec(options: argparse.Namespace, intercept: bool) -> AlgorithmSpec:
    """The algorithm, the parameters and the budget that the options ask for."""
    from askance.errors import InvalidParameter
    from askance.learner.presets import find, is_auto
    from askance.runner.algorithm_spec import LABEL_SET_ALGORITHM, USUAL_ALGORITHM, AlgorithmSpec, parse_algorithm

    usual = USUAL_ALGORITHM if getattr(options, "label_separator", None) is None else LABEL_SET_ALGORITHM
    name, parameters = parse_algorithm(options.algorithm or usual, options.settings)
    if options.objective is not None and not is_auto(name):
        raise InvalidParameter(f"--objective is for auto, not for {name}; leave one of the two out.")
    if options.costs is not None and not (is_auto(name) or find(name).takes_costs):
        raise InvalidParameter(
            f"--costs is for auto, D-ADA and D-AMD, not for {name}; leave one of the two out, or use rho if it has one."
        )
    for option, value in (("objective", options.objective), ("costs", options.costs)):
        if value is not None:
            parameters[option] = value
    budget = budget_of(options)
    if is_auto(name) and budget is None:
        budget = USUAL_RATE
    return AlgorithmSpec(name, parameters, budget, options.explore, None, intercept, options.seed)


def budget_of(options: argparse.Namespace) -> Any:
    """The budget that the options ask for, all limits at once; None if there is none.

    A single number or share stays what it is: ``auto`` spreads a number, and spends a share with a head start.
    """
    return Limits.of({name: getattr(options, kind.destination) for name, kind in BUDGET_KINDS.items()}).value()


def name_timed_limits(options: argparse.Namespace, *, given: bool = True) -> str:
    """List the limits that need the time of each event: those that are given, or all there are."""
    timed = period_kinds().values()
    return " or ".join(kind.option for kind in timed if not given or getattr(options, kind.destination) is not None)


def model_of(options: argparse.Namespace, more: Mapping[str, Any] | None = None) -> Model:
    """The model to resume. Only its budget can be changed: it brings what these options and ``more`` say."""
    from askance.errors import InvalidParameter
    from askance.runner import Model

    own = {
        "--algorithm": options.algorithm, "--set": options.settings, "--objective": options.objective,
        "--costs": options.costs, "--classes": options.classes, "--field": options.kinds, "--raw": options.raw,
        "--explore": options.explore, "--seed": options.seed, **(more or {}),
    }  # fmt: skip
    for name, given in own.items():
        if given:
            raise InvalidParameter(f"{name} cannot be changed with --load: the model brings its own.")
    model = Model.load(options.load)
    budget = budget_of(options)
    if budget is not None:
        model.classifier.budget = budget
    return model


def add_workers(parser: Any, workers: str = "processes (default: one per processor)") -> None:
    """Add ``--workers``, ``--engine`` and ``--address``."""
    parser.add_argument("--workers", type=whole_number(1), metavar="N", help=workers)
    parser.add_argument(
        "--engine", choices=ENGINES, default="local",
        help="where they are: on this machine, or on a cluster of Ray or Dask",
    )  # fmt: skip
    parser.add_argument(
        "--address", metavar="WHERE", help="of the cluster, such as ray://head:10001\n(default: start one here)"
    )


def workers_of(options: argparse.Namespace) -> dict[str, Any]:
    """What the user said about workers, as options of ``Sweep.run``; refused here if it cannot work."""
    from askance.engines import make_engine

    chosen = {name: getattr(options, name) for name in ("workers", "engine", "address")}
    make_engine(options.engine, options.workers, options.address)
    return chosen
