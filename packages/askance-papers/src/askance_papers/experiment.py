"""What an experiment is: settings, one for each data set and half of a table, and the statements to be tested."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from askance.compare.candidate import Candidate
from askance.errors import InvalidParameter

if TYPE_CHECKING:
    from askance.compare.table import Table
    from askance_papers.outcome import Cell
    from askance_papers.reproduce import Context

Target = float | Callable[["Table"], float]
"""A query ratio, a budget or a query scale; or a function that finds it in the data."""
Record = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """One sweep: a data set, the algorithms, and where they are compared.

    ``metric`` is what parameters are chosen by, ``report`` what is printed; a metric with a percent sign is printed
    in percent. ``correct_counts``, given the table, the record of a play and this setting, corrects what authors count
    differently.
    """

    dataset: str
    candidates: tuple[Candidate, ...]
    targets: Mapping[str, Target]
    """What to call each place of comparison, and where it is."""
    kind: str = "ratio"
    """What a target is: a query ``ratio``, a ``budget`` or a query ``scale``."""
    prepare: tuple[str, ...] = ()
    """Scalings of the data, in order: those of ``Table.prepared``."""
    metric: str = "f1"
    report: tuple[str, ...] = ("f1",)
    permutations: int = 20
    search_permutations: int = 3
    tolerance: float = 0.03
    alpha_p: float = 0.5
    c_p: float = 0.9
    correct_counts: Callable[[Table, Record, Setting], Record] | None = None
    x: float | None = None
    """Where it stands in a figure, if that is neither the query ratio nor the budget."""

    def quick(self) -> Setting:
        """The same with few permutations and every other value of long grids."""
        candidates = tuple(_thinner(candidate) for candidate in self.candidates)
        permutations = min(self.permutations, 3)
        return dataclasses.replace(self, candidates=candidates, permutations=permutations, search_permutations=1)


def _thinner(candidate: Candidate) -> Candidate:
    if not isinstance(candidate.grid, Mapping):
        return candidate
    grid = {letter: values[::2] if len(values) > 4 else values for letter, values in candidate.grid.items()}
    return dataclasses.replace(candidate, grid=grid)


@dataclass(frozen=True)
class Claim:
    """A statement of a paper that some algorithms do better than others."""

    sentence: str
    pairs: tuple[tuple[str, str], ...]
    """The better one first."""
    metric: str
    lower_is_better: bool = False
    ties_count: bool = False
    """For "at least as good": a difference within two standard errors is no contradiction."""
    settings: tuple[str, ...] = ()
    """Where it is claimed; empty: everywhere."""


def every(better: Sequence[str], worse: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """All pairs of one list with the other.

    >>> every(["PAA-I", "PAA-II"], ["RPA-I"])
    (('PAA-I', 'RPA-I'), ('PAA-II', 'RPA-I'))
    """
    return tuple(itertools.product(better, worse))


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper."""

    key: str
    """``paper1-table2`` and the like."""
    title: str
    settings: tuple[Setting, ...] = ()
    play: Callable[[Context], list[Cell]] | None = None
    """Instead of settings: a function that plays, for what a sweep cannot express."""
    datasets: tuple[str, ...] = ()
    """The sets that ``play`` knows."""
    claims: tuple[Claim, ...] = ()
    protocol: str = ""
    """How the data were prepared and what else was decided here, in words."""
    absent: str = ""
    """Data of the paper that nobody can have here, and what stands in for them."""
    numbers: str = "as printed"
    """Where the numbers to compare with come from."""
    runs: int = 20
    """Over how many runs the paper's means are."""
    x_axis: str = "share of labels asked"
    """For figures."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """What is known about differences, by data set; ``""`` is for all."""

    @property
    def paper(self) -> int:
        """The number of the paper."""
        return int(self.key.partition("-")[0].removeprefix("paper"))

    @property
    def is_figure(self) -> bool:
        """Whether there is something to draw."""
        return "-fig" in self.key

    @property
    def sets(self) -> tuple[str, ...]:
        """The data sets, in order."""
        return tuple(dict.fromkeys([setting.dataset for setting in self.settings] + list(self.datasets)))


@functools.cache
def experiments() -> dict[str, Experiment]:
    """Every table, figure and theorem that can be played, in the order of the papers."""
    from askance_papers.bounds.sweep import EXPERIMENTS as THEOREMS
    from askance_papers.paper1.sweep import EXPERIMENTS as FIRST
    from askance_papers.paper2.sweep import EXPERIMENTS as SECOND
    from askance_papers.paper3.sweep import EXPERIMENTS as THIRD
    from askance_papers.paper4.sweep import EXPERIMENTS as FOURTH
    from askance_papers.paper5.sweep import EXPERIMENTS as FIFTH

    everything = [*FIRST, *SECOND, *THIRD, *FOURTH, *FIFTH, *THEOREMS]
    return {experiment.key: experiment for experiment in sorted(everything, key=lambda experiment: experiment.paper)}


def find(key: str) -> Experiment:
    """The experiment of this key, such as ``paper4-table2``."""
    known = experiments()
    if key in known:
        return known[key]
    close = difflib.get_close_matches(key.lower(), known, n=1)
    advice = f"; did you mean {close[0]!r}?" if close else "; 'askance reproduce --list' shows them."
    raise InvalidParameter(f"there is no experiment {key!r}{advice}")
