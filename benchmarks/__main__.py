"""``python -m benchmarks``: measure everything, print it, and write ``RESULTS.md`` beside this file."""

import argparse
import importlib
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from benchmarks.measure import load, machine, memory_speed, versions
from benchmarks.report import Section, as_markdown, count_targets, print_section

BENCHMARKS = {
    "speed": "run on w8a and on the URL-like stream, beside fused loops, Vowpal Wabbit, river, scikit-learn",
    "full_matrix": "OA3 at d = 300 and at d = 3072",
    "pacing": "what a budget costs the loop",
    "latency": "ask and tell, one event at a time",
    "startup": "import, first ever run, later processes",
    "memory": "bytes per feature of a large model",
    "parsing": "a text file played end to end, beside Vowpal Wabbit; readers by themselves",
    "live": "the service: events a second, latency, start, memory",
}
WIDTH_OF_A_FILE = 150
RESULTS = Path(__file__).with_name("RESULTS.md")


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less of everything; RESULTS.md is kept")
    parser.add_argument(
        "--only",
        action="append",
        choices=list(BENCHMARKS),
        metavar="NAME",
        help=f"one of {', '.join(BENCHMARKS)}; may be given more than once; RESULTS.md is kept",
    )
    parser.add_argument("--output", type=Path, help="write the results there instead, whatever was measured")
    return parser.parse_args(arguments)


def header(seconds: float, bandwidth: float, load_at_start: str) -> list[str]:
    today = datetime.now(UTC).date().isoformat()
    return [
        f"Written by `make bench` on {today}, in {seconds / 60:.0f} minutes. Ratios between rows are the "
        "message: everything that is compared ran in the same process, in turn. Absolute figures move with "
        "the machine and with whatever else runs on it.",
        "",
        f"- Machine: {machine()}; one core reads {bandwidth / 1e9:.0f} GB/s from memory",
        f"- Load (processes that want a core) at the start: {load_at_start}, at the end: {load()}. By itself "
        "this benchmark is one; more than there are cores means that others were computing at the same time, "
        "and that times by the clock are too long",
        f"- Versions: {versions()}",
        "- Repeat it: `ASKANCE_DATA=<folder with w8a.npz, cifar10_part1.npz, cifar10_part2.npz> make bench`; "
        "without the folder the rows that need it are skipped",
    ]


def skipped(name: str, reason: str) -> Section:
    """In the place of what a benchmark would have found, why it could not run."""
    section = Section(f"Not measured: {name}", f"{BENCHMARKS[name].capitalize()}.")
    section.skip(name, reason)
    return section


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH_OF_A_FILE)
    started, load_at_start = time.perf_counter(), load()
    sections: list[Section] = []
    broken: list[str] = []
    for name in options.only or BENCHMARKS:
        with console.status(f"{name}: {BENCHMARKS[name]}") as status:
            try:
                module = importlib.import_module(f"benchmarks.{name}")
                found = module.run(options.quick, lambda message, name=name: status.update(f"{name}: {message}"))
            except ImportError as error:
                found = [skipped(name, f"needs {error.name}, which 'make bench' installs")]
            except Exception as error:  # what the others measured, in many minutes, is written all the same
                console.print_exception()
                found = [skipped(name, f"{type(error).__name__}: {error}")]
                broken.append(name)
        for section in found:
            print_section(console, section)
        sections += found

    reached, total, missed = count_targets(sections)
    console.print(f"[bold]{reached} of {total} targets reached.[/]")
    for row in missed:
        console.print(f"  [red]missed[/] {row}")
    is_complete = not options.only and not options.quick
    output = options.output or (RESULTS if is_complete else None)
    if output:
        text = as_markdown(sections, header(time.perf_counter() - started, memory_speed(), load_at_start))
        output.write_text(text, encoding="utf-8")
        console.print(f"Written to {output.name}.")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
