"""Hand-fused loops: what one would write for a single algorithm, with nothing general left in it.

They are the local limit askance is measured against, for sums in the order of the columns: two sums at once would be a
sixth faster on short events, and not the same to the last bit. Score, query rule, budget-free decision and update are
one function; the state is laid out for this algorithm alone; every index is unsigned, so that numba does not
test for negative ones; and where the table of weights is larger than the cache, the entries an event will
need, and the events themselves, are fetched while earlier ones are still being scored. They write
predictions, margins and asked flags into arrays made beforehand and read uniform numbers drawn beforehand,
the same numbers askance draws, so that their decisions can be compared with ours one by one.
"""

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from llvmlite import ir
from numba import njit, types, uint64
from numba.core import cgutils
from numba.extending import intrinsic

from benchmarks.measure import Contestant, best_after_the_first
from benchmarks.streams import Stream

AHEAD = 256  # non-zeros between the one being used and the one whose weights are being fetched
FAR_AHEAD = 1024  # non-zeros between the one being used and the one being fetched itself
LARGE_TABLE = 2 << 20  # bytes; a smaller table mostly stays in the nearer caches by itself


@intrinsic
def prefetch(typing_context, array, row):
    """Ask the processor for ``array[row]``, in its second-level cache, without waiting for it."""

    def generate(context, builder, signature, arguments):
        array_type = signature.args[0]
        table = context.make_array(array_type)(context, builder, arguments[0])
        indices = [arguments[1], *[cgutils.intp_t(0)] * (array_type.ndim - 1)]
        entry = cgutils.get_item_pointer(context, builder, array_type, table, indices)
        byte_pointer, integer = ir.IntType(8).as_pointer(), ir.IntType(32)
        signature_of_prefetch = ir.FunctionType(ir.VoidType(), [byte_pointer, integer, integer, integer])
        call = cgutils.get_or_insert_function(builder.module, signature_of_prefetch, "llvm.prefetch.p0")
        builder.call(call, [builder.bitcast(entry, byte_pointer), integer(0), integer(2), integer(1)])
        return context.get_dummy_value()

    return types.void(array, row), generate


def _fetch_events(columns, values, start, end):
    """As much of the stream as these non-zeros are, from where it will be read in a while."""
    for k in range(start + uint64(FAR_AHEAD), end + uint64(FAR_AHEAD), uint64(16)):
        prefetch(columns, k)
        prefetch(values, k)
        prefetch(values, k + uint64(8))


def _paa1(weights, starts, columns, values, labels, uniform, cap, delta, fetch, predicted, margins, asked):
    """PAA-I: margin query, passive-aggressive step of at most ``cap`` (C)."""
    ahead = uint64(AHEAD)
    nonzeros = uint64(len(columns))
    start = uint64(starts[uint64(0)])
    for event in range(uint64(len(labels))):
        end = uint64(starts[event + uint64(1)])
        margin = 0.0
        if fetch:
            fetch_events(columns, values, start, end)
        if fetch and end + ahead <= nonzeros:
            for k in range(start, end):
                prefetch(weights, uint64(columns[k + ahead]))
                margin += weights[columns[k]] * values[k]
        else:
            for k in range(start, end):
                margin += weights[columns[k]] * values[k]
        ask = uniform[event] < delta / (delta + abs(margin))
        if ask:
            squared_length = 0.0
            for k in range(start, end):
                squared_length += values[k] * values[k]
            # An empty event has margin 0, so it always comes here, and is never asked.
            ask = squared_length > 0.0
            loss = 1.0 - labels[event] * margin
            if ask and loss > 0.0:
                step = labels[event] * min(cap, loss / squared_length)
                for k in range(start, end):
                    weights[columns[k]] += step * values[k]
        margins[event] = margin
        predicted[event] = 1 if margin >= 0.0 else -1
        asked[event] = ask
        start = end


def _soal_diagonal(
    table, starts, columns, values, labels, uniform, eta, gamma, delta, fetch, predicted, margins, asked
):
    """SOAL-diag: ``table`` holds mean and variance of a feature side by side, in one cache line."""
    ahead = uint64(AHEAD)
    mean, spread = uint64(0), uint64(1)
    nonzeros = uint64(len(columns))
    start = uint64(starts[uint64(0)])
    for event in range(uint64(len(labels))):
        end = uint64(starts[event + uint64(1)])
        margin = 0.0
        variance = 0.0
        if fetch:
            fetch_events(columns, values, start, end)
        if fetch and end + ahead <= nonzeros:
            for k in range(start, end):
                prefetch(table, uint64(columns[k + ahead]))
                margin += table[columns[k], mean] * values[k]
                variance += table[columns[k], spread] * (values[k] * values[k])
        else:
            for k in range(start, end):
                margin += table[columns[k], mean] * values[k]
                variance += table[columns[k], spread] * (values[k] * values[k])
        uncertainty = abs(margin) - 0.5 * eta * gamma * variance / (gamma + variance)
        ask = uncertainty <= 0.0 or uniform[event] < delta / (delta + uncertainty)
        if ask:
            # An empty event has variance 0, so it always comes here, and is never asked.
            ask = variance > 0.0
            if ask and 1.0 - labels[event] * margin > 0.0:
                denominator = gamma + variance
                step = eta * labels[event]
                for k in range(start, end):
                    spread_times_value = table[columns[k], spread] * values[k]
                    shrunk = table[columns[k], spread] - spread_times_value * spread_times_value / denominator
                    table[columns[k], spread] = shrunk
                    table[columns[k], mean] += step * shrunk * values[k]
        margins[event] = margin
        predicted[event] = 1 if margin >= 0.0 else -1
        asked[event] = ask
        start = end


compiled = njit(nogil=True, error_model="numpy")
fetch_events = njit(error_model="numpy", forceinline=True)(_fetch_events)
paa1 = compiled(_paa1)
soal_diagonal = compiled(_soal_diagonal)


@dataclass
class FusedRun(Contestant):
    """One algorithm over one stream: ``play`` makes a model, as ``run`` does, and ``loop`` is the time after it."""

    stream: Stream
    algorithm: str  # "PAA-I" or "SOAL-diag"
    parameters: dict[str, float]
    seed: int
    loop: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        n_events = self.stream.n_events
        self.uniform = np.random.default_rng(self.seed).random(n_events)
        self.predicted = np.zeros(n_events, dtype=np.int8)
        self.margins = np.zeros(n_events)
        self.asked = np.zeros(n_events, dtype=bool)
        matrix = self.stream.X
        self.starts, self.columns = matrix.indptr.view(np.uint32), matrix.indices.view(np.uint32)

    def prepare(self) -> None:
        pass  # making the model is part of the play

    def clear(self) -> None:
        del self.table

    def make(self) -> None:
        """The model that has learned nothing."""
        shape = self.stream.n_features if self.algorithm == "PAA-I" else (self.stream.n_features, 2)
        self.table = np.zeros(shape)
        if self.algorithm == "SOAL-diag":
            self.table[:, 1] = 1.0

    @property
    def best_loop(self) -> float:
        return best_after_the_first(self.loop)

    def play(self) -> None:
        self.make()
        began = perf_counter()
        given = (self.starts, self.columns, self.stream.X.data, self.stream.y, self.uniform)
        fetch = self.table.nbytes > LARGE_TABLE
        written = (fetch, self.predicted, self.margins, self.asked)
        chosen = self.parameters
        if self.algorithm == "PAA-I":
            paa1(self.table, *given, chosen["C"], chosen["delta"], *written)
        else:
            soal_diagonal(self.table, *given, chosen["eta"], chosen["gamma"], chosen["delta"], *written)
        self.loop.append(perf_counter() - began)
