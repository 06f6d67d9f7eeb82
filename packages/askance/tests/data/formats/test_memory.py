"""Files larger than memory: playing takes the same memory at the end as at the beginning."""

import os
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("resource", reason="memory is measured with the resource module, which this system does not have")

ALLOWED = 24  # megabytes of growth, for what the allocator keeps

PLAY = """
import json, pathlib, resource, sys
import askance
from askance.data import open_stream


class Endless:
    '''A file of so many bytes, whose content is one block over and over.'''

    def __init__(self, block, size):
        self.block, self.left, self.held = block, size, b""

    def read(self, size):
        size = min(size, self.left)
        while len(self.held) < size:
            self.held += self.block
        piece, self.held = self.held[:size], self.held[size:]
        self.left -= size
        return piece


def peak():
    status = pathlib.Path("/proc/self/status")
    if status.exists():  # what getrusage says there begins with the memory of the parent
        return next(int(line.split()[1]) / 1024 for line in status.open() if line.startswith("VmHWM"))
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS, kilobytes elsewhere
    return used / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def play(stream, size):
    clf = askance.make("PAA-I", classes=[0, 1], intercept=True, random_state=0)
    early = None
    for number, batch in enumerate(stream):
        if number and clf.n_features_in_ < batch.X.shape[1]:
            clf.widen(2 * batch.X.shape[1])
        X = batch.X if number == 0 else batch.to_width(clf.n_features_in_)
        clf.run(X, batch.y)
        if early is None and number >= 12:
            early = peak()
    print(stream.rows_read, early, peak())
"""

ROWS = {
    "libsvm": "f'{n % 2} ' + ' '.join(f'{(n * k) % 5000 + 1}:{k / 7:.4f}' for k in range(1, 20))",
    "csv": "f'{n % 2},{n / 7:.4f},{n * n},c{n % 50},\"some words {n % 90}, quoted\"'",
    "jsonl": "json.dumps({'y': n % 2, 'n': n / 7, 'c': f'c{n % 50}', 'text': f'a few words {n % 90} of text'})",
    "arff": "f'{n / 7:.4f},{n % 2}'",
}
OPTIONS = {"csv": ', label=0, header=False, features={"4": "text"}'}
HEADS = {"arff": b"@relation r\n@attribute a real\n@attribute class {0,1}\n@data\n"}


def run(code, **environment):
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PLAY) + textwrap.dedent(code)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    rows, early, late = result.stdout.split()
    return int(rows), float(early), float(late)


@pytest.mark.parametrize(("format", "megabytes"), [("libsvm", 80), ("csv", 40), ("jsonl", 30), ("arff", 20)])
def test_memory_is_flat_while_a_long_file_is_played(format, megabytes):
    head = HEADS.get(format, b"")
    rows, early, late = run(f"""
    block = b''.join(({ROWS[format]} + chr(10)).encode() for n in range(3000))
    file = Endless(block, {megabytes} << 20)
    file.held = {head!r}
    stream = open_stream(file, format={format!r}, skip_bad_lines=True, hash_bits=16{OPTIONS.get(format, "")})
    play(stream, {megabytes} << 20)
    assert stream.bad_lines <= 1, stream.bad_line_examples
    """)
    assert rows > 150_000
    assert late - early < ALLOWED, f"{early:.0f} MB at first, {late:.0f} MB at the end"


@pytest.mark.prove
@pytest.mark.parametrize("format", ["libsvm", "csv"])
def test_a_file_of_two_gigabytes_is_played_in_flat_memory(format, tmp_path):
    path = tmp_path / f"large.{format}"
    code = f"""
    block = b''.join(({ROWS[format]} + chr(10)).encode() for n in range(3000))
    path = pathlib.Path({str(path)!r})
    with path.open("wb") as file:
        while file.tell() < 2 << 30:
            file.write(block)
    stream = open_stream(path, hash_bits=16{OPTIONS.get(format, "")})
    play(stream, 2 << 30)
    """
    rows, early, late = run(code)
    path.unlink()
    print(f"{rows:,} rows, {early:.0f} MB at first, {late:.0f} MB at the end")
    assert rows > 5_000_000
    assert late - early < ALLOWED
    assert late < 700
