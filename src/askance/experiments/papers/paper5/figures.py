"""What the table and the figures of paper 5 play."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from askance.experiments.papers.outcome import Cell
from askance.experiments.papers.paper5.drift import METRICS, Stream, learner, play, scales, stream_of
from askance.experiments.papers.run import Context
from askance.experiments.progress import Progress
from askance.experiments.search import knob_of
from askance.metrics import auc

RULES = ("entropy", "margin", "random")
TRIALS = 20
TENTHS = 10


def decay_factors(context: Context, decays: Sequence[float]) -> list[Cell]:
    """Table 1: every label is revealed; nothing is left to chance."""
    cells = []
    for stream, report in _streams(context):
        for place, decay in enumerate(decays):
            report(place / len(decays))
            gains = play(stream, "UOAL-random", 0, rate=1.0, decay=decay)
            cells += _gains(stream.name, "all labels", f"decay {decay:g}", [gains], decay, {"decay": decay})
    return cells


def against_the_first_model(context: Context) -> list[Cell]:
    """Figure 3: the area under ROC in each tenth of the stream."""
    cells = []
    for stream, report in _streams(context):
        report(0.0)
        X, y = stream.rest
        first = learner("UOAL-random", rate=1.0).partial_fit(*stream.first)
        kept = first.predict_proba(X)[:, 1]
        online = first.run(X, y).probability_positive
        for tenth, rows in enumerate(np.array_split(np.arange(len(y)), TENTHS), 1):
            if 0 < y[rows].sum() < len(rows):
                for name, probability in (("first model", kept), ("online", online)):
                    area = auc(y[rows], probability[rows], 1)
                    cells.append(Cell(stream.name, f"tenth {tenth}", name, "auc", (area,), tenth / TENTHS))
    return cells


def labeling_rates(context: Context, rates: Sequence[float]) -> list[Cell]:
    """Figure 4: three query rules, unbiased and biased, without forgetting."""
    names = [f"{kind}OAL-{rule}" for kind in "UB" for rule in RULES]
    return _all(context, lambda stream: [(name, name, {}, None) for name in names], rates)


def with_and_without_decay(context: Context, rates: Sequence[float], decay: float) -> list[Cell]:
    """Figure 5: the unbiased rules, with and without forgetting."""
    plain: list[Variant] = [(f"UOAL-{rule}", f"UOAL-{rule}", {}, None) for rule in RULES]
    fading: list[Variant] = [
        (f"UOAL-{rule}, decay {decay:g}", f"UOAL-{rule}", {"decay": decay}, None) for rule in RULES
    ]
    return _all(context, lambda stream: [*plain, *fading], rates)


def stream_and_shuffled(context: Context, rates: Sequence[float]) -> list[Cell]:
    """Figure 6: the order of the stream, and another order for each trial."""

    def shuffled(stream: Stream) -> Callable[[int], np.ndarray]:
        return lambda trial: np.random.default_rng([7, trial]).permutation(len(stream.rest[1]))

    def variants(stream: Stream) -> list[Variant]:
        names = ("UOAL-entropy", "UOAL-random")
        return [
            *((name, name, {}, None) for name in names),
            *((f"{name}, shuffled", name, {}, shuffled(stream)) for name in names),
        ]

    return _all(context, variants, rates)


# --- common ----------------------------------------------------------------------------------------------

Variant = tuple[str, str, dict[str, float], Callable[[int], np.ndarray] | None]
"""What to call it, the algorithm, its parameters, and the order of a trial if it is not that of the stream."""


def _streams(context: Context) -> Iterator[tuple[Stream, Callable[[float], None]]]:
    for place, name in enumerate(context.datasets, 1):

        def report(share: float, name: str = name, place: int = place) -> None:
            context.report(name, place, len(context.datasets), Progress("playing", 0, 0, share, 1.0 - share))

        report(0.0)
        yield stream_of(context.load(name)), report


def _all(context: Context, variants: Callable[[Stream], Iterable[Variant]], rates: Sequence[float]) -> list[Cell]:
    cells, trials = [], context.trials(TRIALS)
    for stream, report in _streams(context):
        rows = list(variants(stream))
        for place, (label, name, parameters, order) in enumerate(rows):
            knob = knob_of(name)
            assert knob is not None
            report(place / len(rows))
            for rate, found in sorted(scales(stream, name, rates, **parameters).items()):
                turned = knob.turn(dict(parameters), found.scale)
                results = [
                    play(stream, name, trial, order(trial) if order else None, **turned) for trial in range(trials)
                ]
                asked = float(np.mean([result["query_ratio"] for result in results]))
                note = "" if found.reached else f"asks for {asked:.0%}"
                cells += _gains(stream.name, f"{100 * rate:g} %", label, results, asked, turned, note)
    return cells


def _gains(
    dataset: str,
    setting: str,
    label: str,
    results: list[dict[str, float]],
    x: float,
    parameters: dict[str, float],
    note: str = "",
) -> list[Cell]:
    return [
        Cell(dataset, setting, label, name, tuple(result[name] for result in results), x, parameters, note)
        for name in (f"{metric} gain" for metric in METRICS)
    ]
