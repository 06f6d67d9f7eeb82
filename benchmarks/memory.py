"""How much memory a model of 3.2 million features holds."""

import gc
import tracemalloc
from collections.abc import Callable

import askance
from benchmarks.report import Section, at_most, figure
from benchmarks.streams import URL_FEATURES, url_like

BYTES_PER_NUMBER = 8
MOST_PER_ARRAY = 3 * BYTES_PER_NUMBER

# How many numbers per feature the rule cannot do without.
ARRAYS = {
    "PAA-I": 1,  # the weight
    "SOAL-diag": 2,  # mean and variance
    "OA3-diag": 2,
    "SOP-diag": 2,  # sum of answers and correlation
    "CW-diag": 2,
    "D-ADA": 2,  # sum of gradients and of their squares
    "D-AMD": 2,  # weight and sum of squares
    "UOAL-entropy": 2,  # mean and variance
    "SSOA3": 6,  # mean and five rows of sketch
}


def held_and_peak(algorithm: str, n_features: int) -> tuple[int, int]:
    """Bytes a model keeps after a hundred events, and the most it had at any moment on the way."""
    stream = url_like(n_events=100, n_features=n_features)
    askance.make(algorithm, random_state=0).run(stream.X, stream.y)  # compiles what is not compiled yet
    gc.collect()
    tracemalloc.start()
    model = askance.make(algorithm, random_state=0)
    model.run(stream.X, stream.y)
    gc.collect()
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return held, peak


def run(quick: bool, report: Callable[[str], None]) -> list[Section]:
    section = Section(
        "Memory",
        f"Bytes per feature that a model of {URL_FEATURES:,} features holds after 100 events, as Python's "
        "tracemalloc counts them. Allowed are three times eight bytes for each number per feature that the "
        "rule needs.",
    )
    names = list(ARRAYS)[:2] if quick else list(ARRAYS)
    for algorithm in names:
        report(f"memory of {algorithm}")
        held, peak = held_and_peak(algorithm, URL_FEATURES)
        numbers = ARRAYS[algorithm]
        remark = f"{numbers} x 8 needed; {figure(peak / URL_FEATURES)} at the highest moment"
        target = MOST_PER_ARRAY * numbers
        section.rows.append(at_most(algorithm, held / URL_FEATURES, target, " bytes/feature", remark))
    return [section]
