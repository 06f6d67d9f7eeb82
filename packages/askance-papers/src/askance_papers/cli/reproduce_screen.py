"""What ``askance reproduce`` shows: the list, the progress, the tables with the paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from rich import box
from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from askance.cli.output import console
from askance.compare.progress import SweepProgress
from askance.data.datasets import available
from askance.learner.presets import PAPERS
from askance_papers.experiment import Experiment
from askance_papers.outcome import ABOVE, BELOW, LEVEL, WITHIN, Compared, Outcome, Verdict

MARKS = {WITHIN: ("=", "green"), ABOVE: ("+", "yellow"), BELOW: ("-", "yellow")}
LEGEND = (
    "= within two standard deviations of the paper, + above, - below; * the means differ (Welch's test, 5 %); "
    "(...) at another query ratio."
)


def list_all(experiments: list[Experiment]) -> None:
    """Every experiment, by paper, with its data sets; those not on this machine in brackets."""
    screen = console(width_in_a_pipe=120)
    for paper, group in groupby(experiments, key=lambda experiment: experiment.paper):
        screen.print(f"Paper {paper}. {PAPERS[paper]}\n", style="bold", soft_wrap=True)
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(style="cyan", no_wrap=True)
        table.add_column(ratio=3)
        table.add_column(style="dim", ratio=2)
        for experiment in group:
            sets = ", ".join(name if available(name) else f"({name})" for name in experiment.sets)
            table.add_row(experiment.key, experiment.title, sets)
        screen.print(table)
        screen.print()
    screen.print("(Data sets in brackets are not on this machine; 'askance data get NAME' fetches them.)")


class ReproduceScreen:
    """Tables on standard output, progress on standard error; the latter only if that is a terminal."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.out = console(width_in_a_pipe=120)
        self.err = Console(stderr=True, highlight=False)

    def introduce(self, experiment: Experiment) -> None:
        """Say what is played, and how."""
        if self.quiet:
            return
        self.out.print(f"{experiment.key}: {experiment.title}", style="bold")
        for name, text in (("how", experiment.protocol), ("data", experiment.absent), ("paper", experiment.numbers)):
            if text and (name != "paper" or text != "as printed"):
                self.out.print(f"  {name + ':':<7}{text}", style="dim", soft_wrap=True)

    @contextmanager
    def progress(self, key: str) -> Iterator[Callable[[str, int, int, SweepProgress | None], None] | None]:
        """A bar for the data set under way, by what its plays have cost so far."""
        if not self.err.is_terminal:
            yield None
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[left]}"),
        )
        with Bar(*columns, console=self.err, transient=True) as bar:
            task = bar.add_task(key, total=1.0, left="")

            def report(dataset: str, place: int, count: int, progress: SweepProgress | None) -> None:
                stage = "loading" if progress is None else progress.stage
                left = ""
                if progress is not None and progress.remaining is not None and progress.done:
                    left = f"{progress.remaining:.0f} s left on this one"
                description = f"{key}, {dataset} ({place} of {count}), {stage}"
                bar.update(task, description=description, completed=progress.fraction if progress else 0.0, left=left)

            yield report

    def show_interrupted(self, folder: Path | None) -> None:
        """Say what is kept."""
        kept = f" What was played is kept in {folder}; the same command goes on from there." if folder else ""
        self.err.print(f"\nInterrupted.{kept}", soft_wrap=True)

    def show(self, outcome: Outcome, written: list[Path]) -> None:
        """Tables, then statements, then what is to be said about differences."""
        if self.quiet:
            return
        compared = outcome.compare_cells()
        counts = outcome.count_by_mark()
        for dataset in dict.fromkeys(one.cell.dataset for one in compared):
            self.out.print()
            preparation = outcome.preparations.get(dataset)
            title = dataset + (f" (scaling: {preparation})" if preparation else "")
            here = [one for one in compared if one.cell.dataset == dataset]
            for table in tables(here, title, self.out.width):
                self.out.print(table)
        self.out.print()
        if sum(counts.values()):
            self.out.print(
                f"{counts[WITHIN]} of {sum(counts.values())} numbers within two standard deviations of the paper, "
                f"{counts[ABOVE]} above, {counts[BELOW]} below."
            )
        differ, tested = outcome.count_differing()
        if tested:
            self.out.print(
                f"{differ} of {tested} means differ from the printed ones (Welch's test at 5 %; "
                f"{LEVEL * tested:.0f} would by chance).",
                soft_wrap=True,
            )
        for line in statements(outcome.verdicts()):
            self.out.print(line, soft_wrap=True)
        for name, sentence in outcome.experiment.remarks.items():
            if not name or name in {one.cell.dataset for one in compared}:
                self.out.print(f"{name}: {sentence}" if name else sentence, soft_wrap=True)
        for sentence in outcome.missing.values():
            self.out.print(f"Left out: {sentence}", style="yellow", soft_wrap=True)
        if sum(counts.values()):
            self.out.print(LEGEND, style="dim")
        self.out.print(f"{permutations(outcome)}, {outcome.seconds:.0f} s.", style="dim")
        for path in written:
            self.out.print(f"Written: {path}", soft_wrap=True)
        self.out.print()


def permutations(outcome: Outcome) -> str:
    """How many were played, in words; some data sets and algorithms may have had fewer than others."""
    counts = sorted({len(cell.values) for cell in outcome.cells}) or [0]
    between = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    return f"{between} permutation{'' if counts[-1] == 1 else 's'}"


# --- tables ----------------------------------------------------------------------------------------------


class Column(NamedTuple):
    """A heading and what stands below it."""

    heading: str
    cells: list[Text]
    style: str = ""

    @property
    def width(self) -> int:
        return max(len(self.heading), *(cell.cell_len for cell in self.cells))


def tables(compared: list[Compared], title: str, width: int) -> Iterator[Table]:
    """Our numbers and, where there are any, the paper's: a line per algorithm, or per algorithm and setting."""
    settings = dict.fromkeys(one.cell.setting for one in compared)
    algorithms = dict.fromkeys(one.cell.algorithm for one in compared)
    metrics = dict.fromkeys(one.cell.metric for one in compared)
    cells = {(one.cell.algorithm, one.cell.setting, one.cell.metric): one for one in compared}
    pairs = list(dict.fromkeys((one.cell.algorithm, one.cell.setting) for one in compared))
    passive = {one.cell.algorithm: one.cell.query_ratio for one in compared if one.cell.is_passive}

    def name_of(name: str) -> Text:
        """A name; with the labels it bought where these are not those of the column."""
        return Text(f"{name} ({100 * passive[name]:.3g} % of the labels)" if name in passive else name)

    if len(pairs) > 0.6 * len(algorithms) * len(settings):
        heads = [Column("algorithm", [name_of(name) for name in algorithms], "cyan")]
        groups = [
            pair_of(f"{setting}: {metric}", [cells.get((name, setting, metric)) for name in algorithms])
            for setting in settings
            for metric in metrics
        ]
    else:  # few algorithms share a setting
        pairs.sort(key=lambda pair: list(algorithms).index(pair[0]))
        heads = [
            Column("algorithm", [name_of(name) for name, _ in pairs], "cyan"),
            Column("setting", [Text(setting) for _, setting in pairs]),
        ]
        groups = [pair_of(metric, [cells.get((*pair, metric)) for pair in pairs]) for metric in metrics]
    for number, group in enumerate(pack(groups, width - sum(head.width + 3 for head in heads))):
        yield table_of([*heads, *group], title if number == 0 else None)


def pair_of(heading: str, compared: list[Compared | None]) -> list[Column]:
    """A column of ours and, where anything is printed, one of the paper's; none at all if nothing was played."""
    if not any(compared):
        return []
    columns = [Column(heading, [ours(one) for one in compared])]
    if any(one and one.printed for one in compared):
        printed = [Text(one.printed.text if one and one.printed else "") for one in compared]
        columns.append(Column("paper", printed, "dim"))
    return columns


def pack(groups: list[list[Column]], width: int) -> Iterator[list[Column]]:
    """As many columns side by side as there is room for; those that belong together stay together."""
    row: list[Column] = []
    for group in groups:
        if row and sum(column.width + 3 for column in [*row, *group]) > width:
            yield row
            row = []
        row = [*row, *group]
    if row:
        yield row


def table_of(columns: list[Column], title: str | None) -> Table:
    table = Table(
        title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False,
        header_style="dim",
    )  # fmt: skip
    for column in columns:
        justify: Any = "left" if column.heading in ("algorithm", "setting") else "right"
        table.add_column(column.heading, justify=justify, style=column.style, no_wrap=True)
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*row)
    return table


def ours(one: Compared | None) -> Text:
    """Our mean and standard deviation, with the mark."""
    if one is None:
        return Text("")
    cell = one.cell
    digits = decimals(cell.mean, one.printed.unit if one.printed else None)
    deviation = f" ± {cell.std:.{digits}f}" if len(cell.values) > 1 else ""
    text = "nan" if isnan(cell.mean) else f"{cell.mean:.{digits}f}{deviation}"
    if cell.note:
        return Text(f"({text})", style="dim")
    if one.mark not in MARKS:
        return Text(text)
    mark, style = MARKS[one.mark]
    return Text(text).append(f" {mark}{'*' if one.differs else ' '}", style=style)


def decimals(value: float, unit: float | None) -> int:
    """As many digits as the paper prints; otherwise as many as make sense."""
    if unit is not None:
        return len(f"{unit:.10f}".rstrip("0").partition(".")[2])
    return 4 if abs(value) < 2.0 else 2 if abs(value) < 200.0 else 0


def statements(verdicts: list[Verdict]) -> Iterator[str]:
    """Each statement of the paper, in how many places it holds, and where it does not."""
    for sentence, group in groupby(verdicts, key=lambda verdict: verdict.claim.sentence):
        all_of_it = list(group)
        fails = [verdict for verdict in all_of_it if not verdict.holds]
        head = sentence[0].upper() + sentence[1:]
        if not fails:
            yield f"{head}: holds in all {len(all_of_it)} comparisons."
            continue
        listed = ", ".join(
            f"{verdict.better} < {verdict.worse} on {verdict.dataset}, {verdict.setting}" for verdict in fails[:6]
        ).replace(" < ", " is not better than ")
        more = f" and {len(fails) - 6} more" if len(fails) > 6 else ""
        yield f"{head}: holds in {len(all_of_it) - len(fails)} of {len(all_of_it)} comparisons; {listed}{more}."
