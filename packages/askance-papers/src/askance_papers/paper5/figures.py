"""What the table and the figures of paper 5 play."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from askance.compare.progress import SweepProgress
from askance.compare.search import scale_parameter_of
from askance_papers.outcome import Cell, read_expected
from askance_papers.paper5.drift import METRICS, TENTHS, EvaluatedStream, PlayCache, scales, stream_of
from askance_papers.reproduce import Context

RULES = ("entropy", "margin", "random")
TRIALS = 20


def decay_factors(context: Context, factors: Sequence[tuple[str, float]]) -> list[Cell]:
    """Table 1: every label is revealed; nothing is left to chance. A factor is a parameter and its value."""
    cells = []
    for stream, kept, report in _streams(context):
        for place, (letter, factor) in enumerate(factors):
            report(place / len(factors))
            gains = kept.play(stream, "UOAL-random", 0, None, rate=1.0, **{letter: factor})
            cells += _gains(
                stream.name, "all labels", describe_factor(letter, factor), [gains], factor, {letter: factor}
            )
    return cells


def against_the_first_model(context: Context) -> list[Cell]:
    """Figure 3: the area under ROC in each tenth of the stream."""
    cells = []
    for stream, kept, report in _streams(context):
        report(0.0)
        areas = kept.areas_by_tenth(stream)
        for tenth in range(1, TENTHS + 1):
            for name in ("first model", "online"):
                if f"{name}, tenth {tenth}" in areas:
                    area = areas[f"{name}, tenth {tenth}"]
                    cells.append(Cell(stream.name, f"tenth {tenth}", name, "auc", (area,), tenth / TENTHS))
    return cells


def labeling_rates(context: Context, rates: Sequence[float]) -> list[Cell]:
    """Figure 4: three query rules, unbiased and biased, without forgetting."""
    names = [f"{kind}OAL-{rule}" for kind in "UB" for rule in RULES]
    return _all(context, lambda stream: [(name, name, {}, None) for name in names], rates)


def with_and_without_decay(
    context: Context, rates: Sequence[float], factors: Sequence[tuple[str, float]]
) -> list[Cell]:
    """Figure 5: the unbiased rules, with and without forgetting."""
    plain: list[Variant] = [(f"UOAL-{rule}", f"UOAL-{rule}", {}, None) for rule in RULES]
    fading: list[Variant] = [
        (f"UOAL-{rule}, {describe_factor(letter, factor)}", f"UOAL-{rule}", {letter: factor}, None)
        for letter, factor in factors
        for rule in RULES
    ]
    return _all(context, lambda stream: [*plain, *fading], rates)


def stream_and_shuffled(context: Context, rates: Sequence[float]) -> list[Cell]:
    """Figure 6: the order of the stream, and another order for each trial."""

    def shuffle(stream: EvaluatedStream) -> Callable[[int], np.ndarray]:
        return lambda trial: np.random.default_rng([7, trial]).permutation(len(stream.rest[1]))

    def variants(stream: EvaluatedStream) -> list[Variant]:
        names = ("UOAL-entropy", "UOAL-random")
        return [
            *((name, name, {}, None) for name in names),
            *((f"{name}, shuffled", name, {}, shuffle(stream)) for name in names),
        ]

    return _with_lifts(_all(context, variants, rates))


def _with_lifts(cells: list[Cell]) -> list[Cell]:
    """And what entropy gains over random labels, on the stream and shuffled, trial by trial."""
    known = {(cell.dataset, cell.setting, cell.algorithm, cell.metric): cell for cell in cells}
    lifts = []
    for (dataset, setting, algorithm, metric), cell in known.items():
        if not algorithm.startswith("UOAL-entropy"):
            continue
        other = known[dataset, setting, algorithm.replace("entropy", "random"), metric]
        values = tuple(np.subtract(cell.values, other.values).tolist())
        name = algorithm.replace("UOAL-entropy", "lift of entropy")
        lifts.append(Cell(dataset, setting, name, metric, values, cell.x, {}, cell.note or other.note))
    return cells + lifts


def as_printed(experiment: str) -> list[Cell]:
    """The paper's own numbers, which are of private data, as a table beside ours."""
    return [
        Cell("the paper's comments", setting, algorithm, metric, (printed.mean,), note="as printed")
        for (_, setting, algorithm, metric), printed in read_expected(experiment).items()
    ]


def describe_factor(letter: str, factor: float) -> str:
    """What to call a memory factor.

    >>> describe_factor("local_decay", 0.999)
    'local decay 0.999'
    """
    return f"{letter.replace('_', ' ')} {factor:g}"


# --- common ----------------------------------------------------------------------------------------------

Variant = tuple[str, str, dict[str, float], Callable[[int], np.ndarray] | None]
"""What to call it, the algorithm, its parameters, and the order of a trial if it is not that of the stream."""


def _streams(context: Context) -> Iterator[tuple[EvaluatedStream, PlayCache, Callable[[float], None]]]:
    for place, name in enumerate(context.datasets, 1):

        def report(share: float, name: str = name, place: int = place) -> None:
            context.report(name, place, len(context.datasets), SweepProgress("playing", 0, 0, share, 1.0 - share))

        report(0.0)
        stream = stream_of(context.load(name))
        yield stream, PlayCache(context, stream), report


def _all(
    context: Context, variants: Callable[[EvaluatedStream], Iterable[Variant]], rates: Sequence[float]
) -> list[Cell]:
    cells, trials = [], context.trials(TRIALS)
    for stream, kept, report in _streams(context):
        rows = list(variants(stream))
        for place, (label, name, parameters, order) in enumerate(rows):
            scale_parameter = scale_parameter_of(name)
            assert scale_parameter is not None
            report(place / len(rows))
            for rate, found in sorted(scales(stream, name, rates, kept.play, **parameters).items()):
                turned = scale_parameter.apply(dict(parameters), found.scale)
                results = [
                    kept.play(stream, name, trial, order(trial) if order else None, **turned) for trial in range(trials)
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
