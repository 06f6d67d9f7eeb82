"""Run an experiment: load the data, play the sweeps, collect the numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from askance.compare.progress import SweepProgress
from askance.compare.provenance import digest_code
from askance.compare.results import Results
from askance.compare.results_cache import KeptPlays, ResultsFile, key_of
from askance.compare.sweep import Sweep
from askance.compare.table import Table, digest_data
from askance.data.datasets import Dataset, available, load_dataset
from askance.data.datasets.fetch import missing
from askance.data.datasets.registry import find as find_dataset
from askance.errors import DatasetError, InvalidParameter
from askance_papers.experiment import Experiment, Setting
from askance_papers.outcome import Cell, Outcome

Report = Callable[[str, int, int, SweepProgress | None], None]
"""Told the data set, which one of how many it is, and how far its sweep is."""
Loader = Callable[[str], Dataset]


@dataclass(frozen=True)
class Context:
    """What a function that plays an experiment by itself is given."""

    datasets: tuple[str, ...]
    load: Loader
    permutations: int | None
    """How many were asked for; None: as many as the paper."""
    quick: bool
    report: Report
    file: ResultsFile
    """Where finished plays are kept."""

    def plays(self, module: str, dataset: str, *data: Any) -> KeptPlays:
        """Plays, by the code of a module, on these arrays of a data set: what was played before is not played again."""
        return KeptPlays(self.file, dataset, key_of(digest_code(module), digest_data(*data)))

    def trials(self, usual: int) -> int:
        """How many permutations or trials to play."""
        return self.permutations or (min(3, usual) if self.quick else usual)


def run(
    experiment: Experiment,
    *,
    only: Sequence[str] | None = None,
    permutations: int | None = None,
    quick: bool = False,
    workers: int | None = None,
    engine: str = "local",
    address: str | None = None,
    folder: Path | None = None,
    report: Report | None = None,
    load: Loader | None = None,
) -> Outcome:
    """Play an experiment.

    Parameters
    ----------
    experiment : Experiment
        What to play.
    only : sequence of str, optional
        Only these of its data sets.
    permutations : int, optional
        As many as in the paper unless given.
    quick : bool
        Three permutations, thinner grids: minutes become seconds, standard deviations become guesses.
    workers : int, optional
        Processes that play; as many as there are processors unless given.
    engine, address
        Where these are, as for ``Sweep.run``.
    folder : Path, optional
        Where finished plays are kept, so that an interrupted run goes on.
    report : callable, optional
        Told how far it is.
    load : callable, optional
        Where data sets come from; ``load_dataset`` unless given.
    """
    began = monotonic()
    report = report or (lambda *_: None)
    names, absent = _present(experiment, only, load is not None)
    load = load or load_dataset
    outcome = Outcome(experiment, [], missing=absent)
    cache = folder / "plays.jsonl" if folder is not None else None
    settings = [setting for setting in experiment.settings if setting.dataset in names]
    for place, setting in enumerate(settings, 1):
        setting = setting.quick() if quick else setting
        if permutations is not None:
            setting = dataclasses.replace(setting, permutations=permutations)
        report(setting.dataset, place, len(settings), None)
        table = prepare(load(setting.dataset), setting.prepare)

        def follow(progress: SweepProgress, dataset: str = setting.dataset, place: int = place) -> None:
            report(dataset, place, len(settings), progress)

        outcome.cells += play(table, setting, cache, follow, workers=workers, engine=engine, address=address)
        outcome.preparations[setting.dataset] = " + ".join(setting.prepare) or "as it is"
        outcome.permutations = max(outcome.permutations, setting.permutations)
    if experiment.play is not None:
        with ResultsFile(cache) as file:
            outcome.cells += experiment.play(Context(names, load, permutations, quick, report, file))
        outcome.permutations = max((len(cell.values) for cell in outcome.cells), default=0)
    outcome.seconds = monotonic() - began
    return outcome


def _present(
    experiment: Experiment, only: Sequence[str] | None, everything: bool
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Which data sets to play, and what to say of those that are not there."""
    for name in only or ():
        if name not in experiment.sets:
            raise InvalidParameter(f"{experiment.key} has no data set {name!r}; it has {', '.join(experiment.sets)}.")
    wanted = [name for name in experiment.sets if not only or name in only]
    absent = {}
    if not everything:
        absent = {name: missing(_first_missing(name)) for name in wanted if not available(name)}
    present = tuple(name for name in wanted if name not in absent)
    if wanted and not present:
        if len(wanted) == 1:
            raise DatasetError(absent[wanted[0]])
        raise DatasetError(
            f"none of the data sets of {experiment.key} is on this machine: run 'askance data get {' '.join(wanted)}', "
            "or put their .npz files into a folder and name it with ASKANCE_DATA; 'askance data list NAME' says more "
            "about each."
        )
    return present, absent


def _first_missing(name: str) -> Any:
    entry = find_dataset(name.partition(":")[0])
    return next((_first_missing(part) for part in entry.parts if not available(part)), entry)


def prepare(dataset: Dataset, scalings: Sequence[str]) -> Table:
    """A data set as a table, scaled in this order; of two classes +1 is the positive one."""
    table = Table.of((dataset.name, dataset.X, dataset.y))
    for scaling in scalings:
        table = table.prepare(scaling)
    return table


def play(
    table: Table,
    setting: Setting,
    cache: Path | None,
    report: Callable[[SweepProgress], None] | None = None,
    **workers: Any,
) -> list[Cell]:
    """Play one setting on its table; ``workers`` are options of ``Sweep.run``."""
    targets = {name: target(table) if callable(target) else target for name, target in setting.targets.items()}
    places = list(dict.fromkeys(targets.values()))
    sweep = Sweep(
        table,
        setting.candidates,
        ratios=places if setting.kind == "ratio" else None,
        budgets=[int(place) for place in places] if setting.kind == "budget" else None,
        scales=places if setting.kind == "scale" else None,
        permutations=setting.permutations,
        search_permutations=setting.search_permutations,
        metric=setting.metric,
        tolerance=setting.tolerance,
        settle_rates=False,  # the papers' random variants take the ratio as their rate
        alpha_p=setting.alpha_p,
        c_p=setting.c_p,
    )
    results = sweep.run(report, results=cache, **workers)
    if setting.correct_counts is not None:
        results.records = [setting.correct_counts(table, record, setting) for record in results.records]
    return [cell for name, target in targets.items() for cell in _cells(setting, name, target, results)]


def _cells(setting: Setting, name: str, target: float, results: Results) -> list[Cell]:
    cells = []
    for candidate in setting.candidates:
        asks_for_all = candidate.scale_parameter is None and setting.kind != "budget"
        at = 1.0 if asks_for_all else target
        choice = results.choice(candidate.label, at)
        if choice is None:
            continue
        ratio = float(results.values("query_ratio", candidate.label, at).mean())
        x = ratio if setting.kind != "budget" else target
        x = x if setting.x is None else setting.x
        for metric in setting.report:
            factor = 100.0 if metric.endswith("%") else 1.0
            values = factor * results.values(metric.removesuffix("%"), candidate.label, at)
            note = "" if choice.reached else choice.note
            cells.append(
                Cell(
                    setting.dataset,
                    name,
                    candidate.label,
                    metric,
                    tuple(values.tolist()),
                    x,
                    choice.parameters,
                    note,
                    ratio,
                    asks_for_all,
                )
            )
    return cells
