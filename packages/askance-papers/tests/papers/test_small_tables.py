"""Every experiment, small and seeded, must give the numbers of the table kept beside this file.

After a change that is meant to move numbers: ``python -m tests.papers.test_small_tables`` writes it anew.
"""

import csv
from pathlib import Path

import pytest
from tests.papers.standins import small, stand_in

from askance_papers import experiments, run

STORED = Path(__file__).with_name("small_tables.csv")
TIMED = {"paper1-fig7", "paper3-fig2"}  # seconds differ from run to run
SLOW = dict.fromkeys(("paper1-fig4", "paper2-table4"), pytest.mark.prove)


def played(experiment):
    outcome = run(small(experiment), permutations=2, workers=1, load=stand_in)
    return {
        (cell.dataset, cell.setting, cell.algorithm, cell.metric): (round(cell.mean, 6), round(cell.std, 6))
        for cell in outcome.cells
        if cell.metric != "seconds" or experiment.key in TIMED
    }


def stored():
    tables = {}
    with STORED.open(newline="", encoding="utf-8") as file:
        for experiment, *key, mean, std in csv.reader(file):
            tables.setdefault(experiment, {})[tuple(key)] = float(mean), float(std)
    return tables


@pytest.mark.parametrize(
    "key", [pytest.param(key, marks=SLOW.get(key, ())) for key in experiments() if key not in TIMED]
)
def test_a_small_version_gives_its_stored_table(key):
    table, expected = played(experiments()[key]), stored()[key]
    assert table.keys() == expected.keys()
    for place, numbers in table.items():
        assert numbers == pytest.approx(expected[place], rel=1e-4, abs=1e-5, nan_ok=True), place


@pytest.mark.parametrize("key", sorted(TIMED))
def test_an_experiment_that_takes_time_plays(key):
    assert all(mean > 0.0 for mean, _ in played(experiments()[key]).values())


def write():
    with STORED.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        for key, experiment in experiments().items():
            if key not in TIMED:
                for place, numbers in played(experiment).items():
                    writer.writerow([key, *place, *numbers])


if __name__ == "__main__":
    write()
