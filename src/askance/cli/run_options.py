"""Options that commands share: which algorithm, how many labels, how a file is read, what its fields are."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from askance.cli.command import whole_number

if TYPE_CHECKING:
    from askance.playing import Model
    from askance.playing.choice import Choice

USUAL_RATE = 0.05  # of the labels, where neither an algorithm nor a limit is named


def add_algorithm(parser: argparse.ArgumentParser) -> None:
    """What plays, and how many labels it may buy."""
    who = parser.add_argument_group("the algorithm")
    who.add_argument(
        "-a", "--algorithm", metavar="NAME",
        help="an algorithm, PAA-I or PAA-I:C=0.1,delta=2 (default:\nD-ADA for two classes, MD-ADA for more)",
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
        help="of auto, instead: what a missed event of the second class\nand a false alarm cost",
    )
    who.add_argument("--seed", type=whole_number(0), default=0, metavar="N", help="other random numbers (default: 0)")
    budget = parser.add_argument_group("how many labels (with no algorithm named either, 5 in 100)")
    budget.add_argument("--budget", type=whole_number(0), metavar="N", help="at most N labels in all")
    budget.add_argument(
        "--rate", type=share, metavar="R",
        help="about this share of the events, such as 0.02,\nat most 10 labels ahead of that at first, 40 with auto",
    )  # fmt: skip
    budget.add_argument("--per-day", type=whole_number(1), metavar="N", help="at most N labels a day (UTC)")
    budget.add_argument(
        "--explore", type=share, default=0.0, metavar="P",
        help="ask every event with at least this probability:\nan unbiased sample, such as 0.01",
    )  # fmt: skip


def add_reading(data: argparse._ArgumentGroup) -> None:
    """How a file is read."""
    data.add_argument("--format", metavar="NAME", help="libsvm, csv, tsv, jsonl, arff, npz or parquet (default: told)")
    data.add_argument(
        "--label", metavar="FIELD", help="the field with the label (default: label, y, class, target, or the last)"
    )
    data.add_argument(
        "--header", action=argparse.BooleanOptionalAction, default=None,
        help="whether a CSV file begins with a line of names (default: found out)",
    )  # fmt: skip
    data.add_argument("--skip-bad-lines", action="store_true", help="leave out lines that cannot be read")


def reading_of(options: argparse.Namespace) -> dict[str, Any]:
    """What was said of how a file is read, as options of ``open_stream``."""
    said = {"format": options.format, "label": options.label, "header": options.header}
    said["skip_bad_lines"] = options.skip_bad_lines or None
    return {name: value for name, value in said.items() if value is not None}


def add_fields(parser: argparse._ArgumentGroup) -> None:
    """What the fields of events are."""
    parser.add_argument(
        "--field", action="append", default=[], metavar="NAME=KIND", dest="kinds",
        help="what a field is: number, category, text, date, time or\nignore (default: told by its values)",
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


def costs(text: str) -> dict[str, float]:
    """What the two kinds of mistakes cost."""
    try:
        found = {name.strip(): float(value) for name, value in (part.split("=") for part in text.split(","))}
    except ValueError:
        found = {}
    if found.keys() != {"fn", "fp"} or not all(0.0 < value < float("inf") for value in found.values()):
        raise argparse.ArgumentTypeError(f"must be two costs above 0, such as fn=9,fp=1, got {text!r}")
    return found


def share(text: str) -> float:
    """A number in (0, 1]."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= 1.0:
        raise argparse.ArgumentTypeError(f"must be a share in (0, 1], such as 0.02, got {text!r}")
    return value


def words(text: str) -> list[str]:
    """Words with commas between them, at least two."""
    found = [word.strip() for word in text.split(",") if word.strip()]
    if len(set(found)) < 2:
        raise argparse.ArgumentTypeError(f"must be two labels or more with commas between them, got {text!r}")
    return found


def kinds_of(options: argparse.Namespace) -> dict[str, str] | None:
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
    return found or None


def choice_of(options: argparse.Namespace, intercept: bool) -> Choice:
    """The algorithm, the parameters and the budget that the options ask for."""
    from askance.errors import InvalidParameter
    from askance.learner.presets import is_auto
    from askance.playing.choice import Choice, named, parameters_in

    if options.algorithm:
        name, parameters = named(options.algorithm, options.settings)
    else:
        name, parameters = None, parameters_in(options.settings)
    for option, value in (("objective", options.objective), ("costs", options.costs)):
        if value is not None and not is_auto(name):
            raise InvalidParameter(f"--{option} is for the algorithm auto: add -a auto.")
        if value is not None:
            parameters[option] = value
    budget = budget_of(options)
    if budget is None and name is None:
        from askance.budgets import Rate

        budget = Rate(USUAL_RATE)
    if is_auto(name) and budget_is_one(options) and 0.0 < (options.rate or 0.0) < 1.0:
        budget = options.rate  # which auto spends with a head start
    return Choice(name, parameters, budget, options.explore, None, intercept, options.seed)


def budget_is_one(options: argparse.Namespace) -> bool:
    """Whether there is one limit only."""
    return sum(value is not None for value in (options.budget, options.rate, options.per_day)) == 1


def budget_of(options: argparse.Namespace) -> Any:
    """The budget that the options ask for, all limits at once; None if there is none."""
    from askance.budgets import Fixed, PerPeriod, Rate

    limits: list[tuple[Any, Callable[[Any], Any]]] = [
        (options.budget, Fixed),
        (options.rate, Rate),
        (options.per_day, lambda n: PerPeriod(n, "1d")),
    ]
    budget = None
    for value, kind in limits:
        if value is not None:
            budget = kind(value) if budget is None else budget & kind(value)
    return budget


def model_of(options: argparse.Namespace, which: str, path: str, words: dict[str, Any]) -> Model:
    """The model to go on with. Only its budget can be changed: of other options, it brings its own."""
    from askance.errors import InvalidParameter
    from askance.playing import Model

    for name, given in words.items():
        if given:
            raise InvalidParameter(f"{name} cannot be changed with {which}: the model brings its own.")
    model = Model.load(path)
    budget = budget_of(options)
    if budget is not None:
        model.classifier.set_params(budget=budget)
    return model
