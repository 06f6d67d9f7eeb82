"""Threads that parse a large file beside the learner: the same decisions, traces, complaints and bad lines."""

import gzip
import threading

import numpy as np
import pytest

from askance.data.formats import pieces
from askance.data.formats.libsvm import LibsvmStream
from askance.errors import AskanceError
from askance.runner import run_file, shared_reading
from askance.runner.algorithm_spec import AlgorithmSpec
from askance.runner.curve_recorder import CurveSpec

SPEC = AlgorithmSpec("PAA-I", budget=0.3)


@pytest.fixture
def lines(monkeypatch):
    """Sparse rows, far more than a piece has, with a class that comes late."""
    monkeypatch.setattr(pieces, "PIECE_BYTES", 1 << 12)
    rng = np.random.default_rng(0)
    rows = []
    for number in range(3_000):
        columns = np.unique(rng.integers(1, 5_000, size=12))
        label = 3 if number > 2_000 and rng.random() < 0.1 else rng.integers(2)
        rows.append(f"{label} " + " ".join(f"{column}:{rng.random():.6f}" for column in columns))
    return rows


@pytest.fixture
def parsed_by(monkeypatch):
    """The threads that parsed."""
    threads = set()
    parse = LibsvmStream.parse

    def noting(self, *arguments):
        threads.add(threading.current_thread().name)
        return parse(self, *arguments)

    monkeypatch.setattr(LibsvmStream, "parse", noting)
    return threads


def play_with(cores, path, monkeypatch, **options):
    monkeypatch.setattr(shared_reading, "cores", lambda: cores)
    return run_file(str(path), SPEC, **options)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_model_trace_and_curve_are_those_of_one_thread(lines, parsed_by, tmp_path, monkeypatch, end):
    path = tmp_path / "rows.libsvm"
    path.write_bytes((end.join(lines) + end).encode())
    found = []
    for cores in (1, 2):
        assert not parsed_by
        trace, model = tmp_path / f"{cores}.csv", tmp_path / f"{cores}.model"
        curve = CurveSpec("accuracy", "labels")
        result = play_with(cores, path, monkeypatch, trace=trace, save=model, curve=curve)
        values = [getattr(result.curve, name).tolist() for name in ("events", "labels", "values")]
        found.append((trace.read_bytes(), model.read_bytes(), result.totals.events, values, result.features))
    assert found[0] == found[1]
    assert parsed_by >= {"askance-reader_0", "askance-reader_1"}


def test_bad_lines_are_told_and_kept_as_by_one_thread(lines, tmp_path, monkeypatch):
    for number in (1, 700, 2_999):
        lines[number] += " 7:x"
    path = tmp_path / "rows.libsvm"
    path.write_text("\n".join(lines))
    found = []
    for cores in (1, 2):
        with pytest.raises(AskanceError) as stopped:
            play_with(cores, path, monkeypatch)
        kept = tmp_path / f"{cores}.jsonl"
        result = play_with(cores, path, monkeypatch, skip_bad_lines=True, quarantine=kept)
        found.append((str(stopped.value), result.bad_line_examples, kept.read_bytes(), result.summary()["accuracy"]))
    assert found[0] == found[1]
    assert "line 2" in found[0][0]


def test_compressed_files_and_pipes_are_left_to_the_reader_ahead(lines, parsed_by, tmp_path, monkeypatch):
    path = tmp_path / "rows.libsvm.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode(), 1))
    assert play_with(2, path, monkeypatch).totals.events == len(lines)
    assert not parsed_by


def test_no_thread_is_left_when_the_run_ends_early(lines, tmp_path, monkeypatch):
    path = tmp_path / "rows.libsvm"
    path.write_text("\n".join(lines))

    def stop(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_with(2, path, monkeypatch, progress=stop)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("askance-reader")]
