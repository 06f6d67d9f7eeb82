"""The comparison of ``auto`` with other libraries is a fair one, and its report says what was played."""

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.auto_data import Stream, stream, whole
from benchmarks.auto_field import ABLATIONS, play_auto
from benchmarks.auto_peers import as_lines, run_vowpal
from benchmarks.auto_report import write
from benchmarks.auto_threshold import MovedThreshold, move_threshold

import askance
from askance.budgets import Rate


def test_the_threshold_of_the_other_libraries_moves_as_that_of_auto():
    threshold = MovedThreshold()
    assert threshold.predict(2.0)
    threshold.learn(2.0, True)  # one answer at one usual size: theta = (0 + 1 / (1 + 10)) / 2
    assert threshold.predict(0.1)  # 0.095 of the usual size
    assert not threshold.predict(0.01)  # 0.014
    rng = np.random.default_rng(0)
    truth = rng.random(4_000) < 0.1
    scores = rng.normal(size=4_000) + 2.0 * truth - 3.0  # half way lies at -2
    asked = rng.random(4_000) < 0.2
    moved = move_threshold(scores, truth, asked)
    assert np.mean(scores[truth] >= 0.0) < 0.2
    assert min(np.mean(moved[truth == label] == label) for label in (False, True)) > 0.65
    unknown = np.where(asked, truth, ~truth)  # what nobody asked for counts for nothing
    np.testing.assert_array_equal(move_threshold(scores, unknown, asked), moved)
    np.testing.assert_array_equal(move_threshold(scores, truth, np.zeros(4_000, bool)), scores >= 0.0)


def test_vowpal_wabbit_tells_what_it_asked_for(tmp_path):
    pyvw = pytest.importorskip("vowpalwabbit.pyvw")
    rng = np.random.default_rng(0)
    truth = rng.random(2_000) < 0.4
    lines = as_lines(Stream(sp.csr_matrix(rng.normal(size=(2_000, 4)) + truth[:, None]), 2 * truth - 1))
    scores, asked = run_vowpal(lines, "logistic", 0.003, 0.5)
    (tmp_path / "events.txt").write_text("\n".join(lines) + "\n")
    files = f"-d {tmp_path / 'events.txt'} -p {tmp_path / 'scores.txt'}"
    whole_file = pyvw.Workspace(f"--active --simulation --mellowness 0.003 --learning_rate 0.5 -b 18 "
                                f"--loss_function logistic {files}", enable_logging=True)  # fmt: skip
    whole_file.finish()
    assert f"total queries = {asked.sum()}" in whole_file.get_log()
    said = [float(line.split()[0]) for line in (tmp_path / "scores.txt").read_text().splitlines()]
    np.testing.assert_allclose(scores, said, atol=1e-5)


def test_auto_plays_as_make_makes_it_and_every_ablation_is_something_else(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=600)
    np.savez(tmp_path / "made.npz", X=(rng.normal(size=(600, 5)) + y[:, None]).astype(np.float32), y=2 * y - 1)
    monkeypatch.setenv("ASKANCE_DATA", str(tmp_path))
    played = play_auto("made", {}, 0.2, 0, 600)
    events = stream("made", "raw", 0, 600)
    clf = askance.make("auto", budget=Rate(0.2, burst=40), classes=[-1, 1], random_state=0)
    trace = clf.run(events.X, events.y)
    assert (played.accuracy, played.labels) == (np.mean(trace.predicted == events.y), trace.asked.sum())
    others = [label for label, options in ABLATIONS.items() if play_auto("made", options, 0.2, 0, 600) == played]
    assert others[0] == "auto"
    assert set(others) <= {"auto", "equal events asked as others"}  # there are none here
    for cache in (whole, stream):
        cache.cache_clear()


def test_the_report_compares_on_the_orders_that_both_played(tmp_path):
    def row(part, who, order, balanced, **more):
        key = {"part": part, "set": "a8a", "rate": 0.05, "order": order, "n": 4000, "who": who, **more}
        return {"key": key, "balanced": balanced, "accuracy": balanced + 0.01, "labels": 220}

    rows = [row("auto", "auto", order, value) for order, value in enumerate((0.70, 0.80))]
    rows += [row("random", "at random", order, value) for order, value in enumerate((0.69, 0.78))]
    rows += [row("river", "river", 1, 0.75, parameters={"lr": 0.1}, preparation="l2")]
    rows += [row("grid", "PAA-I", 0, 0.73, parameters={"C": 0.3}, preparation="raw")]
    write(tmp_path / "AUTO.md", rows)
    (case,) = [line for line in (tmp_path / "AUTO.md").read_text().splitlines() if line.startswith("| a8a |")][:1]
    own, tuned = "75.0, 76.0 | 73.5, 74.5 | +1.5", "73.0 | PAA-I, C 0.3, raw | -3.0"
    assert case == f"| a8a | 5 % (220) | {own} | {tuned} |  | 75.0, 76.0 (+5.0) |  |"
