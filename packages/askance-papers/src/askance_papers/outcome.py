"""What came of an experiment: numbers, each beside the printed one, and whether the paper's statements hold.

The printed numbers are in ``expected.csv`` in the folder of a paper. A line has ``experiment, dataset, setting,
algorithm, metric, mean, std``, the last two as they are printed: their digits say how far they were rounded.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isnan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtr

from askance.atomic import atomic_write
from askance_papers.experiment import Claim, Experiment

COLUMNS = ("experiment", "dataset", "setting", "algorithm", "metric", "mean", "std")
FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Printed:
    """A number of a paper, with its standard deviation where one is printed."""

    mean: float
    std: float | None
    unit: float
    """One unit of the last printed digit."""
    text: str
    """As printed."""

    @property
    def tolerance(self) -> float | None:
        """Two standard deviations, and what rounding can hide."""
        return None if self.std is None else 2.0 * (self.std + self.unit / 2.0) + self.unit / 2.0

    def is_near(self, value: float) -> bool | None:
        """Whether a value lies within the tolerance; None without a standard deviation."""
        return None if self.tolerance is None else abs(value - self.mean) <= self.tolerance

    @classmethod
    def of(cls, mean: str, std: str) -> Printed:
        """From the strings of a line.

        >>> round(Printed.of("0.837", "0.006").tolerance, 6)
        0.0135
        """
        decimals = len(mean.partition(".")[2])
        text = f"{mean} ± {std}" if std else mean
        return cls(float(mean), float(std) if std else None, 10.0**-decimals, text)


Key = tuple[str, str, str, str]
"""Data set, setting, algorithm, metric."""


def read_expected(experiment: str) -> dict[Key, Printed]:
    """What the paper prints for an experiment; empty for a figure."""
    paper = experiment.partition("-")[0]
    return {key[1:]: value for key, value in _all_of(paper).items() if key[0] == experiment}


@functools.cache
def _all_of(paper: str) -> dict[tuple[str, str, str, str, str], Printed]:
    path = FOLDER / paper / "expected.csv"
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {
            (row["experiment"], row["dataset"], row["setting"], row["algorithm"], row["metric"]): Printed.of(
                row["mean"], row["std"]
            )
            for row in csv.DictReader(file)
        }


WITHIN, ABOVE, BELOW, UNKNOWN = "within", "above", "below", ""
LEVEL = 0.05
"""Of the test of two means: of twenty equal ones, one is said to differ."""


@dataclass(frozen=True)
class Cell:
    """One number of a table, or one point of a figure: the values of all permutations."""

    dataset: str
    setting: str
    algorithm: str
    metric: str
    values: tuple[float, ...]
    x: float = float("nan")
    """Where it stands in a figure; the measured query ratio unless the experiment says otherwise."""
    parameters: dict[str, float] = field(default_factory=dict)
    note: str = ""
    """Why the comparison is not at the wanted place, if it is not."""
    query_ratio: float = float("nan")
    """The share of labels that were asked for, where it was measured."""
    is_passive: bool = False
    """Whether it asks for every label, whatever the place it stands at."""

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))

    @property
    def std(self) -> float:
        """The standard deviation over permutations (n - 1)."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else 0.0


@dataclass(frozen=True)
class Compared:
    """A number of ours beside the paper's."""

    cell: Cell
    printed: Printed | None
    runs: int = 20
    """Over how many runs the printed mean is."""

    @property
    def at_printed_place(self) -> Printed | None:
        """The printed number, if ours was measured at the place that it is of."""
        return None if self.cell.note else self.printed

    @property
    def mark(self) -> str:
        """``within`` two standard deviations of the print, ``above``, ``below``; empty without a print of this place.
        What is shown and what is counted are both this."""
        printed = self.at_printed_place
        near = None if printed is None else printed.is_near(self.cell.mean)
        if near is None or printed is None:
            return UNKNOWN
        if near:
            return WITHIN
        return ABOVE if self.cell.mean > printed.mean else BELOW

    @property
    def p_value(self) -> float | None:
        """Of Welch's test that both means are those of one distribution; None where it cannot be made."""
        printed = self.at_printed_place
        if printed is None or printed.std is None or len(self.cell.values) < 2:
            return None
        difference = max(0.0, abs(self.cell.mean - printed.mean) - printed.unit / 2.0)
        return welch(difference, (self.cell.std, len(self.cell.values)), (printed.std, self.runs))

    @property
    def differs(self) -> bool:
        """Whether the two means differ, by Welch's test at the level of 5 %."""
        return self.p_value is not None and self.p_value < LEVEL


@dataclass(frozen=True)
class Verdict:
    """Whether a pair of a claim holds at one place."""

    claim: Claim
    dataset: str
    setting: str
    better: str
    worse: str
    difference: float
    """By how much the better one is better."""
    holds: bool


@dataclass
class Outcome:
    """All numbers of an experiment."""

    experiment: Experiment
    cells: list[Cell]
    preparations: dict[str, str] = field(default_factory=dict)
    """How each data set was prepared, in words."""
    missing: dict[str, str] = field(default_factory=dict)
    """Data sets that are not on this machine, with what to do."""
    permutations: int = 0
    seconds: float = 0.0

    def compare_cells(self) -> list[Compared]:
        """Every number beside the printed one."""
        printed = read_expected(self.experiment.key)
        return [Compared(cell, printed.get(_key(cell)), self.experiment.runs) for cell in self.cells]

    def count_by_mark(self) -> dict[str, int]:
        """How many of the compared numbers lie within two standard deviations of the print, above and below."""
        marks = [compared.mark for compared in self.compare_cells()]
        return {mark: marks.count(mark) for mark in (WITHIN, ABOVE, BELOW)}

    def count_differing(self) -> tuple[int, int]:
        """How many means differ from the printed ones, by Welch's test, and of how many."""
        tested = [compared for compared in self.compare_cells() if compared.p_value is not None]
        return sum(compared.differs for compared in tested), len(tested)

    def verdicts(self) -> list[Verdict]:
        """Each claim of the experiment, pair by pair, wherever both algorithms played at the wanted place."""
        cells = {_key(cell): cell for cell in self.cells}
        places = list(dict.fromkeys((cell.dataset, cell.setting) for cell in self.cells))
        verdicts = []
        for claim in self.experiment.claims:
            for dataset, setting in places:
                if claim.settings and setting not in claim.settings:
                    continue
                for better, worse in claim.pairs:
                    one = cells.get((dataset, setting, better, claim.metric))
                    other = cells.get((dataset, setting, worse, claim.metric))
                    if one is not None and other is not None and not one.note and not other.note:
                        verdicts.append(_judge(claim, one, other))
        return verdicts

    def as_json(self) -> dict[str, Any]:
        """Everything, in types that JSON knows."""
        rows = [
            {
                "dataset": cell.dataset,
                "setting": cell.setting,
                "algorithm": cell.algorithm,
                "metric": cell.metric,
                "mean": cell.mean,
                "std": cell.std,
                "permutations": len(cell.values),
                "x": cell.x,
                "query_ratio": cell.query_ratio,
                "paper_mean": printed.mean if printed else None,
                "paper_std": printed.std if printed else None,
                "mark": compared.mark,
                "p_value": compared.p_value,
                "parameters": cell.parameters,
                "note": cell.note,
            }
            for compared in self.compare_cells()
            for cell, printed in [(compared.cell, compared.printed)]
        ]
        verdicts = [
            {
                "claim": verdict.claim.sentence,
                "dataset": verdict.dataset,
                "setting": verdict.setting,
                "better": verdict.better,
                "worse": verdict.worse,
                "difference": verdict.difference,
                "holds": verdict.holds,
            }
            for verdict in self.verdicts()
        ]
        return {
            "experiment": self.experiment.key,
            "title": self.experiment.title,
            "protocol": self.experiment.protocol,
            "preparations": self.preparations,
            "numbers": self.experiment.numbers,
            "permutations": self.permutations,
            "seconds": self.seconds,
            "rows": rows,
            "tally": self.count_by_mark(),
            "differing": self.count_differing(),
            "claims": verdicts,
            "missing": self.missing,
            "remarks": dict(self.experiment.remarks),
        }

    def write_csv(self, path: Path) -> None:
        """One line per number."""
        rows = self.as_json()["rows"]
        with atomic_write(path) as part, open(part, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            names = [name for name in (rows[0] if rows else {}) if name != "parameters"]
            writer.writerow([*names, "parameters"])
            for row in rows:
                letters = " ".join(f"{letter}={value:.6g}" for letter, value in row["parameters"].items())
                writer.writerow([*("" if row[name] is None else row[name] for name in names), letters])


def _key(cell: Cell) -> tuple[str, str, str, str]:
    return cell.dataset, cell.setting, cell.algorithm, cell.metric


def _judge(claim: Claim, one: Cell, other: Cell) -> Verdict:
    sign = -1.0 if claim.lower_is_better else 1.0
    difference = sign * (one.mean - other.mean)
    slack = 2.0 * standard_error(one.values, other.values) if claim.ties_count else 0.0
    holds = difference > 0.0 or (claim.ties_count and difference >= -slack)
    return Verdict(claim, one.dataset, one.setting, one.algorithm, other.algorithm, difference, holds)


def welch(difference: float, one: tuple[float, int], other: tuple[float, int]) -> float:
    """The p-value of a difference of two means, each given by its standard deviation and how many values it is of.

    t = difference / sqrt(s1^2 / n1 + s2^2 / n2), with the degrees of freedom of Welch and Satterthwaite.

    >>> round(welch(1.0, (1.0, 20), (1.5, 20)), 4)
    0.0184
    """
    parts = [std * std / n for std, n in (one, other)]
    if sum(parts) == 0.0:
        return 1.0 if difference == 0.0 else 0.0
    freedom = sum(parts) ** 2 / sum(part**2 / (n - 1) for part, (_, n) in zip(parts, (one, other), strict=True))
    return float(2.0 * stdtr(freedom, -abs(difference) / sqrt(sum(parts))))


def standard_error(one: Iterable[float], other: Iterable[float]) -> float:
    """The standard error of the mean difference of paired values."""
    differences = np.subtract(tuple(one), tuple(other))
    if len(differences) < 2:
        return 0.0
    error = float(np.std(differences, ddof=1)) / sqrt(len(differences))
    return 0.0 if isnan(error) else error
