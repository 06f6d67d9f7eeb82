"""The tables of ``askance reproduce``."""

import dataclasses

import pytest
from rich.console import Console
from tests.papers.standins import stand_in

from askance.compare.candidate import Candidate
from askance_papers import Experiment, Setting, run
from askance_papers.cli.reproduce_screen import permutations, tables


@pytest.fixture(scope="module")
def outcome():
    setting = Setting("svmguide1", (Candidate("PEA"), Candidate("PE")), {"30 %": 0.3}, permutations=2)
    return run(Experiment("paper1-table2", "a test", (setting,)), load=stand_in, workers=1)


def test_a_passive_row_shows_that_it_buys_every_label(outcome):
    screen = Console(width=120)
    with screen.capture() as shown:
        for table in tables(outcome.compare_cells(), "svmguide1", 120):
            screen.print(table)
    assert "PE (100 % of the labels)" in shown.get()
    assert "PEA  " in shown.get()  # which buys the 30 % that the column says


def test_unequal_numbers_of_permutations_are_said(outcome):
    assert permutations(outcome) == "2 permutations"
    shorter = dataclasses.replace(outcome.cells[0], values=outcome.cells[0].values[:1])
    assert permutations(dataclasses.replace(outcome, cells=[shorter, *outcome.cells])) == "1 to 2 permutations"


def test_the_files_have_the_query_ratio_of_every_row(outcome):
    ratios = {row["algorithm"]: row["query_ratio"] for row in outcome.as_json()["rows"]}
    assert ratios["PE"] == 1.0
    assert ratios["PEA"] == pytest.approx(0.3, abs=0.02)
