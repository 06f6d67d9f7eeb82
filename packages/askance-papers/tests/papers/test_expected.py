import csv
import math

import pytest

from askance_papers import experiments
from askance_papers.outcome import COLUMNS, FOLDER, Printed, read_expected

PATHS = sorted(FOLDER.glob("paper*/expected.csv"))


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_paper_has_its_numbers():
    assert [path.parent.name for path in PATHS] == ["paper1", "paper2", "paper3", "paper4", "paper5"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.parent.name)
def test_a_file_of_printed_numbers_is_well_formed(path):
    seen = set()
    for row in rows(path):
        assert tuple(row) == COLUMNS
        assert row["experiment"] in experiments()
        assert row["experiment"].startswith(path.parent.name)
        assert all(row[name] for name in COLUMNS[:6])
        assert math.isfinite(float(row["mean"]))
        assert row["std"] == "" or float(row["std"]) >= 0.0
        place = tuple(row[name] for name in COLUMNS[:5])
        assert place not in seen, place
        seen.add(place)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.parent.name)
def test_printed_shares_are_shares(path):
    for row in rows(path):
        if row["metric"] in ("f1", "accuracy", "query_ratio"):
            assert 0.0 < float(row["mean"]) <= 1.0, row
        if row["metric"].endswith("%"):
            assert 1.0 < float(row["mean"]) <= 100.0, row


def test_sum_is_the_mean_of_sensitivity_and_specificity_as_printed():
    for key in ("paper4-table2", "paper4-table3"):
        printed = read_expected(key)
        for (dataset, setting, algorithm, metric), number in printed.items():
            if metric == "sum%":
                both = [
                    printed[dataset, setting, algorithm, f"{name}%"].mean for name in ("sensitivity", "specificity")
                ]
                assert sum(both) / 2 == pytest.approx(number.mean, abs=0.002), (dataset, algorithm)


def test_cost_follows_from_sensitivity_and_specificity_as_printed():
    printed = read_expected("paper4-table2")
    for (dataset, setting, algorithm, metric), number in printed.items():
        if metric == "cost" and dataset == "w8a":
            missed, alarms = (
                1 - printed[dataset, setting, algorithm, f"{name}%"].mean / 100
                for name in ("sensitivity", "specificity")
            )
            assert 0.9 * 1933 * missed + 0.1 * 62767 * alarms == pytest.approx(number.mean, abs=0.2), algorithm


def test_rounding_counts_for_what_is_near():
    number = Printed.of("0.996", "0.000")
    assert number.is_near(0.9971)
    assert not number.is_near(0.9976)
    assert Printed.of("83.313", "0.951").is_near(81.42)
    assert not Printed.of("83.313", "0.951").is_near(81.40)
    assert Printed.of("65.8", "").is_near(65.8) is None


def test_most_printed_numbers_of_a_table_have_an_algorithm_of_ours_beside_them():
    for key in ("paper1-table2", "paper1-table3", "paper2-table2", "paper2-table4", "paper3-fig1", "paper4-table2"):
        experiment = experiments()[key]
        ours = {
            (setting.dataset, name, candidate.label, metric)
            for setting in experiment.settings
            for name in setting.targets
            for candidate in setting.candidates
            for metric in setting.report
        }
        printed = {place for place in read_expected(key) if place[0] in experiment.sets}
        of_interest = {place for place in printed if key == "paper3-fig1" or not place[3].startswith("query_ratio")}
        assert of_interest <= ours, of_interest - ours
