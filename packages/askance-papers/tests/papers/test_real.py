"""On the real data, where there is a folder of them: the numbers of the papers themselves, quickly."""

import dataclasses
import os

import pytest

from askance.data.datasets import available
from askance_papers import find, run


def needs(*names):
    if not os.environ.get("ASKANCE_DATA"):
        pytest.skip("the environment variable ASKANCE_DATA names no folder with the benchmark sets")
    for name in names:
        if not available(name):
            pytest.skip(f"{name} is not in the folder that ASKANCE_DATA names")


def only_for(experiment, *labels):
    """The experiment with these algorithms alone."""
    settings = [
        dataclasses.replace(setting, candidates=tuple(one for one in setting.candidates if one.label in labels))
        for setting in experiment.settings
    ]
    return dataclasses.replace(experiment, settings=tuple(setting for setting in settings if setting.candidates))


def test_oa3_and_its_variants_on_w8a_are_within_two_standard_deviations_of_paper_4():
    needs("w8a")
    experiment = only_for(find("paper4-table2"), "OA3-diag", "SSOA3")
    outcome = run(experiment, only=["w8a"], permutations=3, workers=1)
    assert len(outcome.compare_cells()) == 16  # two algorithms in two settings: three metrics and the seconds
    for one in outcome.compare_cells():
        if one.cell.metric in ("sum%", "cost"):
            assert one.mark == "within", (one.cell.algorithm, one.cell.metric, one.cell.mean, one.printed)


def test_perceptrons_and_hard_margins_on_svmguide1_are_within_two_standard_deviations_of_paper_1():
    needs("svmguide1")
    experiment = only_for(find("paper1-table2"), "PEA", "RPE", "RPA", "PAA")
    outcome = run(experiment, only=["svmguide1"], permutations=10, workers=1)
    assert outcome.count_by_mark() == {"within": 8, "above": 0, "below": 0}
    assert all(verdict.holds for verdict in outcome.verdicts())


def test_query_ratios_and_accuracies_on_letter_are_near_those_of_the_authors_of_paper_3():
    needs("letter")
    experiment = only_for(find("paper3-fig1"), "SOL", "SOAL", "SOAL-M", "APE")
    outcome = run(experiment, only=["letter:25"], permutations=3, workers=1)
    compared = [one for one in outcome.compare_cells() if one.printed is not None]
    assert compared
    for one in compared:
        slack = 0.006 if one.cell.metric == "accuracy" else 0.02
        assert one.cell.mean == pytest.approx(one.printed.mean, abs=slack), one.cell
