"""The ``askance`` command as a user meets it: real processes, real pipes, a real terminal."""

from __future__ import annotations

import errno
import json
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.here import here
from tests.patience import PATIENCE

import askance
from askance.cli import all_commands


def run(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "askance", *words], capture_output=True, text=True, timeout=PATIENCE, **options
    )


def heed_ctrl_c() -> None:
    """A process that a job in the background started would not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def in_a_terminal(*words: str, columns: int = 80) -> tuple[subprocess.Popen[bytes], Iterator[bytes]]:
    """Start a command on a terminal of its own; the iterator yields what appears there until it ends."""
    ours, theirs = pty.openpty()
    environment = os.environ | {
        "COLUMNS": str(columns),
        "TERM": "xterm-256color",
        "PYTHONIOENCODING": "utf-8",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "askance", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
        preexec_fn=heed_ctrl_c,
    )
    os.close(theirs)

    def output() -> Iterator[bytes]:
        try:
            while True:
                assert select.select([ours], [], [], PATIENCE)[0], "nothing more appears on the terminal"
                seen = os.read(ours, 65536)
                if not seen:
                    return
                yield seen
        except OSError:  # Linux says so when the other side is closed
            return
        finally:
            os.close(ours)

    return process, output()


# Help and version


def test_help_lists_every_command_with_its_summary() -> None:
    result = run("--help")
    assert result.returncode == 0
    for name, command in all_commands().items():
        assert any(name in line and command.summary in line for line in result.stdout.splitlines())


def test_no_command_at_all_shows_the_help() -> None:
    assert run().stdout == run("--help").stdout


@pytest.mark.parametrize("name", all_commands())
def test_every_command_has_help_with_an_example(name: str) -> None:
    result = run(name, "--help")
    assert result.returncode == 0
    assert f"usage: askance {name}" in result.stdout
    assert "examples:" in result.stdout
    assert f"  askance {name}" in result.stdout.split("examples:")[1]
    assert all(len(line) <= 80 for line in result.stdout.splitlines())


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys, askance.cli; askance.cli.parsers();"
        "print(*{'numpy', 'scipy', 'sklearn', 'numba', 'rich'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""


def test_version_is_that_of_the_package() -> None:
    result = run("--version")
    assert (result.returncode, result.stdout) == (0, f"askance {askance.__version__}\n")


# Bad input


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["dmeo"], "there is no command 'dmeo'; did you mean 'demo'?"),
        (["fly"], "there is no command 'fly'."),
        (["--nope"], "'--nope' is not known here."),
        (["demo", "--sed", "3"], "'--sed' is not known here; did you mean '--seed'?"),
        (["demo", "extra"], "'extra' is not known here."),
        (["demo", "--seed", "x"], "--seed: must be a whole number, 0 or more, got 'x'."),
        (["demo", "--seed", "-1"], "--seed: must be a whole number, 0 or more, got '-1'."),
        (["demo", "--events", "10"], "--events: must be a whole number, 1000 or more, got '10'."),
        (["algorithms", "--jso"], "'--jso' is not known here; did you mean '--json'?"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_two(words: list[str], sentence: str) -> None:
    result = run(*words)
    assert result.returncode == 2
    assert result.stdout == ""
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("words", [["algorithms"], ["algorithms", "--json"], ["--version"]])
def test_a_full_disk_is_one_sentence_too(words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "askance", *words], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert result.returncode == 2
    assert "No space left on device" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_disk_that_fills_up_while_a_file_is_converted_is_told_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(path: str, stream: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("askance.data.formats.vw.write_vw", write)
    (tmp_path / "a.csv").write_text("a,label\n1,x\n2,y\n")
    result = here("convert", str(tmp_path / "a.csv"), str(tmp_path / "a.vw"))
    assert result.returncode == 2
    assert result.stderr == f"askance convert: cannot write '{tmp_path / 'a.vw'}': No space left on device.\n"


# algorithms


def test_algorithms_json_is_the_table_of_the_library() -> None:
    result = run("algorithms", "--json")
    assert json.loads(result.stdout) == askance.algorithms()


@pytest.mark.parametrize("columns", [None, "80", "200"])
def test_algorithms_table_names_every_algorithm_alias_and_rule(columns: str | None) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    result = run("algorithms", env=environment | ({"COLUMNS": columns} if columns else {}))
    assert result.returncode == 0
    assert all(len(line) <= int(columns or 132) for line in result.stdout.splitlines())
    words = result.stdout.replace("(", " ").replace(")", " ").replace(",", " ").split()
    for row in askance.algorithms():
        for word in (
            row["name"].split("(")[0],
            *row["aliases"],
            row["update"],
            row["query"],
            *row["parameters"],
        ):
            assert any(seen == word or seen.startswith(word + "=") for seen in words), word


def test_in_a_pipe_one_line_says_all_about_an_algorithm() -> None:
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    lines = run("algorithms", env=environment).stdout.splitlines()
    (line,) = (line for line in lines if line.startswith("PAA-I "))
    assert line.split() == ["PAA-I", "APAI", "PassiveAggressive1", "Margin", "C=1,", "delta=1"]


def test_a_reader_that_leaves_early_causes_no_complaint() -> None:
    command = f"{sys.executable} -m askance algorithms --json | head -1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("[\n", "")


# demo


@pytest.fixture(scope="module")
def demo() -> subprocess.CompletedProcess[str]:
    return run("demo", "--seed", "1")


def test_demo_in_a_pipe_is_plain_text_without_progress(demo: subprocess.CompletedProcess[str]) -> None:
    assert demo.returncode == 0
    assert demo.stderr == ""
    assert "\x1b" not in demo.stdout
    assert "\r" not in demo.stdout
    assert all(len(line) <= 80 for line in demo.stdout.splitlines())


def test_demo_says_in_words_what_the_labels_bought(demo: subprocess.CompletedProcess[str]) -> None:
    results = json.loads(here("demo", "--seed", "1", "--json").stdout)["runs"]
    text = " ".join(demo.stdout.split())
    chosen, random, everything = results
    assert f"For {chosen['labels']} of them" in text
    assert f"{chosen['accuracy']:.1%} of its predictions were right" in text
    assert f"would have given {everything['accuracy']:.1%}" in text
    assert f"{random['labels']} labels bought at random give {random['accuracy']:.1%}" in text
    assert "Asked: nothing was known yet." in text
    assert text.count("Asked: ") == 4
    assert text.count("Not asked: ") == 1


def test_demo_json_shows_that_few_labels_go_a_long_way() -> None:
    first, again = (json.loads(here("demo", "--json").stdout) for _ in range(2))
    for results in (first, again):
        for played in results["runs"]:
            assert played.pop("seconds") >= 0
    assert first == again
    chosen, random, everything = first["runs"]
    assert first["events"] == chosen["events"] == everything["labels"] == 20_000
    assert chosen["labels"] == random["labels"] < 1_000
    assert first["baseline_accuracy"] + 0.1 < chosen["accuracy"]
    assert random["accuracy"] + 0.02 < chosen["accuracy"]
    assert everything["accuracy"] - 0.02 < chosen["accuracy"]


def test_demo_takes_another_seed_and_length() -> None:
    results = json.loads(here("demo", "--json", "--seed", "3", "--events", "1500").stdout)
    assert (results["seed"], results["events"]) == (3, 1500)
    assert all(played["events"] == 1500 for played in results["runs"])


@pytest.mark.parametrize("columns", [80, 120])
def test_demo_on_a_terminal_shows_live_progress_and_then_the_table(columns: int) -> None:
    process, output = in_a_terminal("demo", "--events", "2000", columns=columns)
    seen = b"".join(output).decode()
    assert process.wait(PATIENCE) == 0
    live = seen[: seen.rindex("labels bought")]
    assert "labels bought" in live
    assert "█" in live
    assert seen.count("of 2,000") > 20
    assert "\x1b[?25l" in seen
    assert seen.rindex("\x1b[?25h") < seen.rindex("askance asks")  # the cursor is back before the table


def test_ctrl_c_ends_the_demo_quietly() -> None:
    process, output = in_a_terminal("demo")
    seen = b""
    for piece in output:
        seen += piece
        if b"labels bought" in seen:
            break
    process.send_signal(signal.SIGINT)
    rest = b"".join(output)
    assert process.wait(PATIENCE) == 130
    assert b"Traceback" not in rest
    assert b"KeyboardInterrupt" not in rest
    assert b"\x1b[?25h" in rest  # the cursor is back
