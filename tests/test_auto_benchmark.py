"""The comparison of ``auto`` with other libraries is a fair one, and its report says what was played."""

import numpy as np
from benchmarks.auto_report import write
from benchmarks.auto_threshold import MovedThreshold, move_threshold


def test_the_threshold_of_the_other_libraries_moves_as_that_of_auto():
    threshold = MovedThreshold()
    assert threshold.predict(2.0)
    threshold.learn(2.0, True)  # one answer at one usual size: theta = (0 + 1 / (1 + 10)) / 2
    assert threshold.predict(0.1)  # 0.095 of the usual size
    assert not threshold.predict(0.01)  # 0.014
    rng = np.random.default_rng(0)
    truth = rng.random(4_000) < 0.1
    scores = rng.normal(size=4_000) + 2.0 * truth - 3.0  # half way lies at -2
    recalls = [np.mean(move_threshold(scores, truth)[truth == label] == label) for label in (False, True)]
    assert np.mean(scores[truth] >= 0.0) < 0.2
    assert min(recalls) > 0.65


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
