"""The options of commands whose work is done side by side."""

from __future__ import annotations

import argparse
from typing import Any

from askance.cli.command import whole_number
from askance.engines import ENGINES


def add_workers(parser: Any, workers: str = "processes (default: one per processor)") -> None:
    """Add ``--workers``, ``--engine`` and ``--address``."""
    parser.add_argument("--workers", type=whole_number(1), metavar="N", help=workers)
    parser.add_argument(
        "--engine", choices=ENGINES, default="local",
        help="where they are: on this machine, or on a cluster of Ray or Dask",
    )  # fmt: skip
    parser.add_argument(
        "--address", metavar="WHERE", help="of the cluster, such as ray://head:10001\n(default: start one here)"
    )


def workers_of(options: argparse.Namespace) -> dict[str, Any]:
    """What the user said about workers, as options of ``Sweep.run``; refused here if it cannot work."""
    from askance.engines import make_engine

    chosen = {name: getattr(options, name) for name in ("workers", "engine", "address")}
    make_engine(options.engine, options.workers, options.address)
    return chosen
