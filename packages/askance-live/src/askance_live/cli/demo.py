"""``askance demo`` with ``--live``: the same stream, served."""

from __future__ import annotations

import argparse
from dataclasses import replace

from askance.cli import demo
from askance.cli.command import whole_number


def configure(parser: argparse.ArgumentParser) -> None:
    demo.configure(parser)
    live = parser.add_argument_group("the live service")
    live.add_argument(
        "--live", action="store_true", help="serve the stream, with pages to label and watch, until Ctrl-C"
    )
    live.add_argument(
        "--port", type=whole_number(0, 65_535), default=0, metavar="N", help="which port (default: a free one)"
    )
    live.add_argument("--speed", type=whole_number(1), default=5, metavar="N", help="events a second (default: 5)")
    live.add_argument("--robots", action="store_true", help="let two made-up annotators answer too")


def run(options: argparse.Namespace) -> int:
    if not options.live:
        return demo.run(options)
    from askance_live.cli.live import need_live_packages, note_slow_start

    need_live_packages()
    from askance_live.demo import run_demo

    slow = note_slow_start()

    def say(address: str) -> None:
        slow.cancel()
        print(f"Label messages at {address}/label and watch the model at {address}/ (Ctrl-C ends it).", flush=True)

    run_demo(options.port, options.seed, float(options.speed), options.robots, say)
    return 0


command = replace(demo.command, epilog=f"{demo.command.epilog}  askance demo --live\n", configure=configure, run=run)
