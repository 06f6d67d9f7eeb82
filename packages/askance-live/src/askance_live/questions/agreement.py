"""How far people agree about the events that several of them labeled."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import isnan
from typing import NamedTuple, TypedDict

import numpy as np

from askance.evaluate.metrics.agreement import Agreement, cohen_kappa, krippendorff_alpha, wilson
from askance_live.engine.label_space import each_known, is_set
from askance_live.engine.state import EngineState
from askance_live.questions.consensus import majority
from askance_live.questions.states import BY_ONE, KEPT, one_of
from askance_live.store.database import Session
from askance_live.store.rows import Query

RECENT = 10_000  # answers that are looked at
MOST_PAIRS = 50


class GivenLabel(NamedTuple):
    """What somebody said of an event."""

    event: int
    annotator: str
    label: int


LABELS = Query(
    GivenLabel,
    "answers",
    f"WHERE kind IN {one_of(BY_ONE)} AND label IS NOT NULL AND state IN {one_of(KEPT)} ORDER BY seq DESC LIMIT ?",
)


class Measure(TypedDict):
    """A number with its 95 % interval; null where it is not defined."""

    estimate: float | None
    low: float | None
    high: float | None


class Pair(TypedDict):
    """Two people."""

    people: list[str]
    both: int
    agreed: float
    kappa: Measure


class Person(TypedDict):
    """One person beside the others."""

    name: str
    compared: int
    agreed: Measure


class AgreementReport(TypedDict):
    """What /v1/agreement says."""

    events: int
    answers: int
    alpha: Measure
    pairs: list[Pair]
    people: list[Person]  # fmt: skip


def measure_agreement(session: Session, state: EngineState) -> AgreementReport:
    """Alpha of all, kappa of each pair, and of each person the share of answers that most of the others gave, too.

    It is about the last answers, to events that two or more people labeled; of one person's several the newest counts.
    Of label sets, each label that two or more people spoke of counts on its own, as yes or no.
    """
    said: dict[tuple[int, int], dict[str, int]] = {}
    for row in LABELS.all(session, (RECENT,)):
        for place, label in each_known(row.label) if is_set(row.label) else [(0, row.label)]:
            said.setdefault((row.event, place), {}).setdefault(row.annotator, int(label))
    found = {unit: by_person for unit, by_person in said.items() if len(by_person) > 1}
    shared, n_classes = list(found.values()), 2 if state.labels.are_sets else len(state.classes)
    counts = np.zeros((len(shared), n_classes))
    for place, by_person in enumerate(shared):
        for label, n in Counter(by_person.values()).items():
            counts[place, label] = n
    return {
        "events": len({event for event, _ in found}),
        "answers": int(counts.sum()),
        "alpha": _round(krippendorff_alpha(counts)),
        "pairs": _pairs(shared, n_classes),
        "people": _people(shared),
    }


def _pairs(shared: list[dict[str, int]], n_classes: int) -> list[Pair]:
    tables: dict[tuple[str, str], np.ndarray] = {}
    for by_person in shared:
        for one, other in combinations(sorted(by_person), 2):
            table = tables.setdefault((one, other), np.zeros((n_classes, n_classes)))
            table[by_person[one], by_person[other]] += 1
    most = sorted(tables.items(), key=lambda item: (-item[1].sum(), item[0]))[:MOST_PAIRS]
    return [
        {
            "people": list(pair),
            "both": int(table.sum()),
            "agreed": round(float(np.trace(table) / table.sum()), 4),
            "kappa": _round(cohen_kappa(table)),
        }
        for pair, table in most
    ]


def _people(shared: list[dict[str, int]]) -> list[Person]:
    """Each against the majority of the others; where these have none, there is nothing to compare with."""
    compared: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    for by_person in shared:
        for name, label in by_person.items():
            others = majority([given for other, given in by_person.items() if other != name])
            if others is not None:
                compared[name] += 1
                agreed[name] += others == label
    return [
        {"name": name, "compared": n, "agreed": _round(wilson(agreed[name], n))}
        for name, n in sorted(compared.items(), key=lambda item: (-item[1], item[0]))
    ]


def _round(measure: Agreement) -> Measure:
    estimate, low, high = (None if isnan(value) else round(value, 4) for value in measure)
    return {"estimate": estimate, "low": low, "high": high}
