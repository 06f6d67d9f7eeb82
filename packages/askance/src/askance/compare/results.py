"""What came of a sweep: a record for every play, and what was chosen for every target."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from askance.atomic import write_text
from askance.errors import InvalidInput


@dataclass(frozen=True)
class TunedSetting:
    """The parameters with which a candidate plays for a target, and how they were found."""

    dataset: str
    candidate: str
    algorithm: str
    target: float
    """The wanted query ratio, the budget or the scale; 1.0 for an algorithm that asks for every label."""
    parameters: dict[str, Any]
    scale: float | None
    """Where the query scale ended up; None where there was none to find."""
    ratio: float
    """The mean query ratio of the reported plays."""
    reached: bool
    """Whether that is the wanted one, within the tolerance."""
    note: str
    """Why not."""
    score: float | None
    """The mean metric on the choosing permutations; None where there was nothing to choose."""
    points: int
    """How many points the grid had."""


@dataclass
class Results:
    """Records of all plays, tidy: one dictionary per dataset, candidate, target and permutation.

    A record has ``dataset``, ``candidate``, ``algorithm``, ``target``, ``permutation``, ``reached``, and the metrics of
    ``Trace.summary`` by name.
    """

    settings: dict[str, Any]
    records: list[dict[str, Any]] = field(default_factory=list)
    choices: list[TunedSetting] = field(default_factory=list)
    seconds: float = 0.0
    """How long it took, that of earlier, interrupted runs left out."""

    def about(self, dataset: str | None = None) -> dict[str, Any]:
        """The settings with which a data set was played."""
        return self.settings.get("parts", {}).get(dataset, self.settings)

    def metrics(self, dataset: str | None = None) -> list[str]:
        """The metrics that were measured."""
        about = ("dataset", "candidate", "algorithm", "target", "permutation", "reached")
        for record in self.records:
            if dataset is None or record["dataset"] == dataset:
                return [name for name in record if name not in about]
        return []

    @property
    def datasets(self) -> list[str]:
        """The data sets, in order."""
        return list(dict.fromkeys(choice.dataset for choice in self.choices))

    @property
    def candidates(self) -> list[str]:
        """The labels of the candidates, in order."""
        return list(dict.fromkeys(choice.candidate for choice in self.choices))

    @property
    def targets(self) -> list[float]:
        """The query ratios or budgets that were wanted, ascending; without the 1.0 of passive algorithms."""
        return sorted(self.settings["targets"])

    def values(self, metric: str, candidate: str, target: float, dataset: str | None = None) -> np.ndarray:
        """One metric of one candidate for one target, by permutation; empty if it did not play for it."""
        dataset = self.datasets[0] if dataset is None and self.datasets else dataset
        rows = [
            record
            for record in self.records
            if (record["dataset"], record["candidate"], record["target"]) == (dataset, candidate, target)
        ]
        if rows and metric not in rows[0]:
            known = ", ".join(name for name, value in rows[0].items() if isinstance(value, float | int))
            raise InvalidInput(f"there is no metric {metric!r} in these results; there are {known}.")
        return np.array([row[metric] for row in sorted(rows, key=lambda row: row["permutation"])], dtype=float)

    def choice(self, candidate: str, target: float, dataset: str | None = None) -> TunedSetting | None:
        """What was chosen for a target."""
        dataset = self.datasets[0] if dataset is None and self.datasets else dataset
        for choice in self.choices:
            if (choice.dataset, choice.candidate, choice.target) == (dataset, candidate, target):
                return choice
        return None

    def frame(self) -> Any:
        """The records as a pandas DataFrame (pandas must be installed)."""
        import pandas as pd  # type: ignore[import-untyped]

        return pd.DataFrame(self.records)

    def as_json(self) -> dict[str, Any]:
        """Everything, in types that JSON knows."""
        return {
            "settings": self.settings,
            "seconds": self.seconds,
            "choices": [asdict(choice) for choice in self.choices],
            "records": self.records,
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a JSON file."""
        write_text(Path(path), json.dumps(self.as_json(), indent=1))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """What ``save`` wrote."""
        content = json.loads(Path(path).read_text())
        choices = [TunedSetting(**choice) for choice in content["choices"]]
        return cls(content["settings"], content["records"], choices, content["seconds"])

    @classmethod
    def merge(cls, parts: Iterable[Results]) -> Results:
        """Several data sets in one."""
        merged = Results({})
        for part in parts:
            merged.settings = merged.settings or part.settings | {"parts": {}}
            merged.settings["parts"] |= part.settings.get("parts", {part.settings["dataset"]: part.settings})
            merged.records += part.records
            merged.choices += part.choices
            merged.seconds += part.seconds
        return merged
