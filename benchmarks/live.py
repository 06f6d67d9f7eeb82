"""The live service: a real process on SQLite with every commit on disk, or PostgreSQL; events of 20 fields.

Throughput with a few connections that always wait for their answer (and by wrk, where it is installed); latency
open-loop, at a constant rate, from the moment a request was due. ``python -m benchmarks.live`` also measures how it
changes with what the store holds, and writes ``LIVE.md``.
"""

import argparse
import asyncio
import importlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.live_load import PEOPLE, closed_loop, learning, looks, open_loop, people, percentile, wrk
from benchmarks.live_store import GRACE, Service
from benchmarks.measure import load, machine, versions
from benchmarks.report import Row, Section, as_markdown, at_least, at_most, figure

RESULTS = Path(__file__).with_name("LIVE.md")
SIZES = (1_000, 10_000, 100_000, 1_000_000)
RATE = 200  # events a second of the open loop, where sizes are compared
Report = Callable[[str], None]


class NoPostgres(Exception):
    """There is none here that could be started."""


@contextmanager
def a_store(kind: str) -> Iterator[tuple[str, str]]:
    """A folder for the settings and the place of a new store; raises ``NoPostgres`` where there is none."""
    with tempfile.TemporaryDirectory(prefix="askance-bench-") as folder:
        if kind == "SQLite":
            yield folder, "askance.db"
            return
        try:
            importlib.import_module("psycopg")
            tests = importlib.import_module("tests.live.conftest")
        except ImportError as error:
            raise NoPostgres(str(error)) from None
        programs = tests.find_postgres()
        if programs is None:
            raise NoPostgres("PostgreSQL is not installed here")
        place = tempfile.mkdtemp(prefix="askance-bench-pg-")
        running = tests.Postgres(programs, place)
        try:
            yield folder, running.new_database()
        finally:
            running.stop("immediate")
            shutil.rmtree(place, ignore_errors=True)


def speeds(kind: str, seconds: float, report: Report) -> Section:
    """What a store that is almost empty gives; the targets are SQLite's."""
    section = Section(
        f"On {kind}",
        f"`askance serve` on {'SQLite (`synchronous=FULL`)' if kind == 'SQLite' else kind}, events of 20 fields, load "
        f"from the same machine, {seconds:.0f} seconds each. Single events over 16 connections; open-loop latency "
        "counts from when a request was due.",
    )
    rows = section.rows
    with a_store(kind) as (folder, place):
        service = Service(folder, place)
        service.start()
        rows.append(at_most("memory at rest", service.megabytes(), 200, " MB"))
        report(f"{kind}: single events")
        speed = asyncio.run(closed_loop(service.port, service.token, 16, 1, seconds))
        rows.append(at_least("single events a second, predicted and committed", speed, 1000, ""))
        if (by_wrk := wrk(service.port, service.token, seconds)) is not None:
            said = f"median {by_wrk.median}, p99 {by_wrk.high}"
            rows.append(at_least("the same by wrk", by_wrk.per_second, 1000, "", said))
        else:
            section.skip("wrk", "not installed")
        report(f"{kind}: batches")
        speed = asyncio.run(closed_loop(service.port, service.token, 2, 100, seconds))
        rows.append(at_least("events a second in batches of 100", speed, 5000, ""))
        report(f"{kind}: open loop")
        times = asyncio.run(open_loop(service.port, service.token, 500, seconds))
        rows.append(Row("single events at 500 a second, open loop", _spread(times)))
        for batch, most in ((100, 0.08), (1, 0.35)):
            report(f"{kind}: processor time in batches of {batch}")
            before = service.processor_seconds()
            events = seconds * asyncio.run(closed_loop(service.port, service.token, 1, batch, seconds))
            spent = 1e3 * (service.processor_seconds() - before) / events
            what = "a single event" if batch == 1 else f"an event in batches of {batch}"
            rows.append(at_most(f"processor time of {what}, one connection", spent, most, " ms"))
        service.stop()
        rows.append(at_most("start again", service.start(), 3, " s"))
        report(f"{kind}: twenty people")
        found = asyncio.run(people(service.port, service.tokens, seconds))
        for name, values in found.items():
            what = f"`{name}` with {PEOPLE} annotators, p99 of {len(values):,}"
            rows.append(at_most(what, percentile(values, 0.99), 50, " ms", f"median {percentile(values, 0.5):.1f} ms"))
        report(f"{kind}: from answer to learned")
        waits = [wait - GRACE for wait in asyncio.run(learning(service.port, service.token, 10))]
        said = f"median {percentile(waits, 0.5) / 1e3:.2f} s; labels while 200 events a second come in"
        rows.append(
            at_most(f"from answer to learned beyond the grace, longest of {len(waits)}", max(waits), 1, " s", said)
        )
        service.stop()
    return section


def _spread(times: list[float]) -> str:
    return f"median {percentile(times, 0.5):.1f} ms, p99 {percentile(times, 0.99):.1f} ms"


HEAD = "start, s|memory, MB|events/s|ingest p50|p99|next p50|p99|answer p50|p99|stats|series|load"


def growth(kind: str, seconds: float, sizes: tuple[int, ...], report: Report) -> list[str]:
    """A line of a table for each number of events stored."""
    lines = []
    for size in sizes:
        with a_store(kind) as (folder, place):
            report(f"{kind}: {size:,} events")
            service = Service(folder, place)
            service.begin()
            service.grow(size)
            start = service.start()
            memory = service.megabytes()
            port, token = service.port, service.token
            speed = asyncio.run(closed_loop(port, token, 16, 1, seconds / 2))
            ingest = asyncio.run(open_loop(port, token, RATE, seconds))
            found = asyncio.run(people(port, service.tokens, seconds))
            pages = [asyncio.run(looks(port, token, path, 5)) for path in ("/v1/stats", "/v1/stats/series")]
            service.stop()
        cells = [f"{start:.2f}", f"{memory:.0f}", figure(speed)]
        for times in (ingest, found["next"], found["answer"]):
            cells += [f"{percentile(times, share):.1f}" for share in (0.5, 0.99)]
        cells += [*(f"{percentile(times, 0.5):.0f}" for times in pages), f"{os.getloadavg()[0]:.1f}"]
        lines.append(f"| {kind} | {size:,} | " + " | ".join(cells) + " |")
        print(lines[-1], file=sys.stderr, flush=True)
    return lines


def run(quick: bool, report: Report) -> list[Section]:
    sections = []
    for kind in ("SQLite", "PostgreSQL"):
        try:
            sections.append(speeds(kind, 3.0 if quick else 10.0, report))
        except NoPostgres as reason:
            sections[0].skip(kind, reason)
    sections[0].title = "The live service on SQLite"
    return sections


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.live", description=__doc__)
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    parser.add_argument("--most", type=int, default=SIZES[-1], help="events of the largest store")
    options = parser.parse_args(arguments)
    started = load()

    def report(message: str) -> None:
        print(message, file=sys.stderr, flush=True)

    sections, lines = [], []
    for kind in ("SQLite", "PostgreSQL"):
        try:
            sections.append(speeds(kind, options.seconds, report))
            sizes = tuple(size for size in SIZES if size <= options.most)
            lines += growth(kind, options.seconds, sizes, report)
        except NoPostgres as reason:
            report(f"{kind} is left out: {reason}")
    header = [
        f"Written by `python -m benchmarks.live` on {datetime.now(UTC).date().isoformat()}.",
        "",
        f"- Machine: {machine()}",
        f"- Load (processes that want a core) at the start: {started}, at the end: {load()}. Client, service and "
        "database share the machine; more than two for each core means that others were computing as well, and that "
        "speeds are too low and latencies too long by as much",
        f"- Versions: {versions()}",
    ]
    text = as_markdown(sections, header).replace("# What was measured", "# The live service", 1)
    table = [
        "## With what is stored",
        "",
        f"A store with so many events of 20 fields, one in {1000 // 50} labeled: {sizes[0]:,} that came in over HTTP, "
        "and copies of their rows. Start: until it listens. Then single events over 16 connections that wait for "
        f"their answers (events/s), single events at {RATE} a second open-loop, and {PEOPLE} annotators beside 100 "
        "events a second, `next` and `answer` in milliseconds; last the median of `/v1/stats` and "
        "`/v1/stats/series` in milliseconds, computed anew, and the load average.",
        "",
        "| store | events | " + " | ".join(HEAD.split("|")) + " |",
        "|---|--:|" + "--:|" * len(HEAD.split("|")),
        *lines,
    ]
    options.output.write_text(text + "\n" + "\n".join(table) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
