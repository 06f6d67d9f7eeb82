"""``askance reproduce``: the tables and figures of the papers, played again."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askance.cli.command import Command, whole_number
from askance.cli.output import print_json
from askance.cli.run_options import add_workers, workers_of

if TYPE_CHECKING:
    from askance_papers import Experiment, Outcome


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "experiments", nargs="*", metavar="EXPERIMENT", help="for example paper4-table2; or a whole paper"
    )
    parser.add_argument("--list", action="store_true", dest="listed", help="list the experiments and their data sets")
    parser.add_argument("--only", action="append", metavar="SET", help="only this data set (again for more, or a,b)")
    parser.add_argument(
        "--permutations", type=whole_number(1), metavar="N", help="permutations (default: as the paper)"
    )
    parser.add_argument("--quick", action="store_true", help="3 permutations and thinner grids: a first look")
    add_workers(parser)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write csv, json and figures; resumes what is there")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def run(options: argparse.Namespace) -> int:
    from askance.errors import InvalidParameter
    from askance_papers import experiments

    if options.listed or not options.experiments:
        if options.json:
            print_json([about(experiment) for experiment in experiments().values()])
            return 0
        from askance_papers.cli.reproduce_screen import list_all

        list_all(list(experiments().values()))
        if not options.listed:
            raise InvalidParameter("name an experiment of this list, for example 'askance reproduce paper4-table2'.")
        return 0
    return reproduce(choose(options.experiments), options)


def choose(names: list[str]) -> list[Experiment]:
    """The experiments by their keys; ``paper4`` stands for all of that paper."""
    from askance_papers import experiments, find

    found: dict[str, Experiment] = {}
    for name in names:
        whole = [experiment for experiment in experiments().values() if experiment.key.partition("-")[0] == name]
        for experiment in whole or [find(name)]:
            found[experiment.key] = experiment
    return list(found.values())


def reproduce(wanted: list[Experiment], options: argparse.Namespace) -> int:
    from askance_papers import run as play
    from askance_papers.cli.reproduce_screen import ReproduceScreen

    only = [name.strip() for part in options.only or [] for name in part.split(",") if name.strip()]
    screen, outcomes = ReproduceScreen(quiet=options.json), []
    playing = select_with_sets(wanted, only)
    if options.out is not None and any(experiment.is_figure for experiment in playing):
        from askance.compare.charts import need_matplotlib

        need_matplotlib()
    for experiment in playing:
        screen.introduce(experiment)
        folder = folder_of(options.out, experiment)
        try:
            with screen.progress(experiment.key) as report:
                outcome = play(
                    experiment,
                    only=[name for name in only if name in experiment.sets],
                    permutations=options.permutations,
                    quick=options.quick,
                    folder=folder,
                    report=report,
                    **workers_of(options),
                )
        except KeyboardInterrupt:
            screen.show_interrupted(folder)
            raise
        written = write(outcome, folder) if folder is not None else []
        screen.show(outcome, written)
        outcomes.append(outcome)
    if options.json:
        print_json([outcome.as_json() for outcome in outcomes])
    return 0


def select_with_sets(wanted: list[Experiment], only: list[str]) -> list[Experiment]:
    """The experiments that have some of the data sets, all of them if none are named."""
    from askance.errors import InvalidParameter

    for name in only:
        if not any(name in experiment.sets for experiment in wanted):
            known = ", ".join(dict.fromkeys(known for experiment in wanted for known in experiment.sets))
            if len(wanted) == 1:
                raise InvalidParameter(f"{wanted[0].key} has no data set {name!r}; it has {known}.")
            raise InvalidParameter(f"none of the {len(wanted)} experiments has a data set {name!r}; they have {known}.")
    return [experiment for experiment in wanted if not only or set(only) & set(experiment.sets)]


def folder_of(out: Path | None, experiment: Experiment) -> Path | None:
    if out is None:
        return None
    folder = out / experiment.key
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write(outcome: Outcome, folder: Path) -> list[Path]:
    """The numbers as csv and json and, where there is something to draw, the figures."""
    import json

    from askance.atomic import write_text
    from askance.cli.output import plain
    from askance_papers.draw import draw

    paths = [folder / f"{outcome.experiment.key}.csv", folder / f"{outcome.experiment.key}.json"]
    outcome.write_csv(paths[0])
    write_text(paths[1], json.dumps(plain(outcome.as_json()), indent=1, allow_nan=False))
    if outcome.experiment.is_figure:
        paths += draw(outcome, folder)
    return paths


def about(experiment: Experiment) -> dict[str, Any]:
    """An experiment, for programs."""
    from askance.data.datasets import available

    return {
        "key": experiment.key,
        "paper": experiment.paper,
        "title": experiment.title,
        "datasets": {name: available(name) for name in experiment.sets},
        "protocol": experiment.protocol,
        "absent": experiment.absent,
    }


command = Command(
    name="reproduce",
    summary="play the papers' tables and figures again, beside what is printed",
    description="Play a table or figure of one of the five papers again. Our mean and standard\n"
    "deviation stand beside the printed number, with a mark for within or outside of\n"
    "two standard deviations, and the statements of the paper are tested.",
    epilog="examples:\n  askance reproduce --list\n  askance reproduce paper4-table2 --only w8a\n"
    "  askance reproduce paper1-table2 paper1-table3\n  askance reproduce paper2-fig1 --quick --out results\n",
    configure=configure,
    run=run,
)
