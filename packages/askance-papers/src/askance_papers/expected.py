"""The numbers that a paper prints, from ``expected.csv`` in its folder.

A line has ``experiment, dataset, setting, algorithm, metric, mean, std``, the last two as they are printed: their
digits say how far they were rounded.
"""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass
from pathlib import Path

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
