"""What ``askance compare`` shows: the progress, then the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich import box
from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from askance.cli.output import console, describe_omissions, percent
from askance.compare import Results, Sweep, SweepProgress
from askance.compare.curves import mean_and_deviation, mean_ranks_left_out, name_of, target_name
from askance.compare.statistics import Line, Ranking, lines, rank_table
from askance.plural import format_count


class CompareScreen:
    """Tables on standard output, progress on standard error; the latter only if that is a terminal."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.out = console(width_in_a_pipe=120)
        self.err = Console(stderr=True, highlight=False)

    def introduce(self, sweep: Sweep) -> None:
        """Say what will be compared on what."""
        if self.quiet:
            return
        settings = sweep.settings()
        share = settings["positive_share"]
        classes = f"{len(settings['classes'])} classes"
        if share is not None:
            classes += f" ({percent(share)} of class {settings['positive']})"
        size = f"{format_count(settings['events'], 'event')}, {format_count(settings['features'], 'feature')}"
        facts = f": {size}, {classes}; "
        self.out.print(Text(settings["dataset"], style="bold").append(facts, style="not bold"), end="")
        self.out.print(f"scaling: {settings['preparation']}.")
        for sentence in (f"Compared by {name_of(settings['metric'])}.", *sweep.describe_objectives()):
            self.out.print(sentence)
        for remark in describe_omissions(settings["bad_lines"], settings["unlabeled"]):
            self.out.print(remark)
        self.out.print()

    @contextmanager
    def progress(self) -> Iterator[Callable[[SweepProgress], None] | None]:
        """A bar that shows the share of the time that is over, by what plays have cost so far."""
        if not self.err.is_terminal:
            yield None
            return
        columns = (
            TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(),
            TextColumn("[dim]{task.fields[plays]}"), TextColumn("{task.fields[left]}"),
        )  # fmt: skip
        with Bar(*columns, console=self.err, transient=True) as bar:
            task = bar.add_task("starting", total=1.0, plays="", left="")

            def update(progress: SweepProgress) -> None:
                bar.update(
                    task,
                    description=progress.stage,
                    completed=progress.fraction,
                    plays=f"{progress.done:,} of about {progress.expected:,} plays",
                    left="" if progress.remaining is None else f"{duration(progress.remaining)} left",
                )

            yield update

    def show_interrupted(self, path: Path | None) -> None:
        """Say that nothing is lost."""
        kept = "nothing was played yet that is kept"
        if path is not None:
            kept = f"the same command goes on where it ended; what was played is kept in {path}"
        self.err.print(f"askance compare: stopped; {kept}.", soft_wrap=True)

    def show(self, results: Results, written: list[str]) -> None:
        """The table of means, the ranks, and what there is to say about them."""
        all_lines, settings = lines(results), results.settings
        over = f"mean ± standard deviation over {settings['permutations']} permutations"
        if settings["permutations"] == 1:
            over = "one permutation"
        self.out.print(f"{name_of(settings['metric'])}, {over}")
        self.out.print(self._means(results, all_lines))
        self.out.print()
        if len(results.candidates) > 1 and results.settings["permutations"] > 1:
            ranking = rank_table(results)
            self.out.print("ranks over all permutations")
            self.out.print(self._ranks(ranking))
            if remark := mean_ranks_left_out(results, ranking):
                self.out.print(remark, style="yellow")
            self.out.print()
        for line in all_lines:
            if line.note:
                self.out.print(f"{line.candidate} at {target_name(results, line.target)}: {line.note}.", style="yellow")
        for sentence in self._legend(results):
            self.out.print(sentence, style="dim")
        for name in written:
            self.out.print(f"Written: {name}")

    def _means(self, results: Results, all_lines: list[Line]) -> Table:
        table = plain_table()
        table.add_column("algorithm", style="cyan", no_wrap=True)
        targets = sorted({line.target for line in all_lines})
        for target in targets:
            table.add_column(target_name(results, target), justify="right", no_wrap=True)
        by_place = {(line.candidate, line.target): line for line in all_lines}
        for candidate in results.candidates:
            cells = [by_place.get((candidate, target)) for target in targets]
            table.add_row(candidate, *(cell(line) for line in cells))
        return table

    def _ranks(self, ranking: list[Ranking]) -> Table:
        table = plain_table()
        table.add_column("algorithm", style="cyan", no_wrap=True)
        table.add_column("mean rank", justify="right")
        table.add_column("best", justify="right")
        table.add_column("best or =", justify="right")
        for row in ranking:
            rank = "-" if row.rank is None else f"{row.rank:.2f}"
            table.add_row(row.candidate, rank, f"{row.wins} of {row.cells}", f"{row.as_good} of {row.cells}")
        return table

    def _legend(self, results: Results) -> list[str]:
        legend = []
        if len(results.candidates) > 1:
            same = "=: not significantly different, paired t-test p >= 0.05. "
            same = same if results.settings["permutations"] > 1 else ""
            legend.append(f"*: the best. {same}(...): used another number of labels.")
        legend.append(f"Played in {duration(results.seconds)}.")
        return legend


def plain_table() -> Table:
    """A table with a line below its head and nothing else."""
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")


def cell(line: Line | None) -> Text:
    """A mean with its spread, marked."""
    if line is None:
        return Text("")
    text = mean_and_deviation(line)
    if not line.reached:
        return Text(f"({text})", style="dim")
    if line.is_best:
        return Text(f"{text} *", style="bold")
    return Text(f"{text} =" if line.is_as_good else f"{text}  ")


def duration(seconds: float) -> str:
    """Seconds in words.

    >>> duration(0.4), duration(75), duration(7300)
    ('0 s', '1 min 15 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
