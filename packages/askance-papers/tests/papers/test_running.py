import dataclasses

import numpy as np
import pytest
from tests.papers.standins import stand_in

from askance.compare.candidate import Candidate
from askance.data.datasets import Dataset
from askance.data.datasets.registry import find as find_dataset
from askance.errors import DatasetError, InvalidParameter
from askance_papers import Experiment, Setting, experiments, find, run
from askance_papers.paper4.sweep import empty_rows, empty_rows_are_mistakes
from askance_papers.reproduce import prepare


def test_keys_are_those_of_the_papers_tables_and_figures():
    assert all(key == experiment.key for key, experiment in experiments().items())
    assert {experiment.paper for experiment in experiments().values()} == {1, 2, 3, 4, 5}
    with pytest.raises(InvalidParameter, match="there is no experiment 'paper4-tabel2'; did you mean 'paper4-table2'?"):
        find("paper4-tabel2")


def test_what_the_specification_asks_for_is_there():
    wanted = {
        *("paper1-table2", "paper1-table3", "paper1-fig1", "paper1-fig4", "paper1-table6", "paper1-table8"),
        *("paper2-table2", "paper2-table4", "paper2-fig1", "paper2-fig2", "paper2-fig3", "paper2-fig5", "paper2-fig6"),
        *("paper3-fig1", "paper3-fig2"),
        *("paper4-table2", "paper4-table3", *(f"paper4-fig{number}" for number in range(1, 8))),
        *("paper5-table1", "paper5-fig4", "paper5-fig5", "paper5-fig6"),
    }
    assert wanted <= experiments().keys()


def test_every_experiment_says_how_the_data_were_prepared():
    assert all(experiment.protocol for experiment in experiments().values())
    without_data = {key for key, experiment in experiments().items() if not experiment.sets}
    assert without_data == {"paper5-fig1", "paper5-fig2", "paper5-example1", "paper5-example2"}  # they make their own


def tiny(**changes):
    setting = Setting("svmguide1", (Candidate("PEA"), Candidate("PE")), {"30 %": 0.3}, permutations=2)
    return Experiment("paper1-table2", "a test", (dataclasses.replace(setting, **changes),))


def test_permutations_and_quick_are_obeyed():
    assert {len(cell.values) for cell in run(tiny(), load=stand_in, workers=1).cells} == {2}
    assert {len(cell.values) for cell in run(tiny(), permutations=3, load=stand_in, workers=1).cells} == {3}
    thin = tiny(permutations=20, candidates=(Candidate("PAA-I", {"C": (1.0, 2.0, 3.0, 4.0, 5.0)}),))
    assert thin.settings[0].quick().candidates[0].grid["C"] == (1.0, 3.0, 5.0)
    assert {len(cell.values) for cell in run(thin, quick=True, load=stand_in, workers=1).cells} == {3}


def test_a_metric_in_percent_is_a_hundred_times_the_metric():
    plain = run(tiny(report=("f1",)), load=stand_in, workers=1).cells
    percent = run(tiny(report=("f1%",)), load=stand_in, workers=1).cells
    assert [cell.mean for cell in percent] == pytest.approx([100 * cell.mean for cell in plain])


def test_the_data_set_must_be_one_of_the_experiment():
    with pytest.raises(InvalidParameter, match="paper1-table2 has no data set 'letter'; it has svmguide1"):
        run(tiny(), only=["letter"], load=stand_in)


def test_without_data_there_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setenv("ASKANCE_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("ASKANCE_DATA", raising=False)
    with pytest.raises(DatasetError, match="svmguide1 is not on this machine: run 'askance data get svmguide1'"):
        run(tiny())
    with pytest.raises(
        DatasetError, match="none of the data sets of paper1-table2 .* 'askance data get svmguide1 mush"
    ):
        run(find("paper1-table2"))


def test_data_that_are_missing_are_told_and_the_others_played(monkeypatch, tmp_path):
    monkeypatch.setenv("ASKANCE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("ASKANCE_DATA", str(tmp_path))
    rng = np.random.default_rng(0)
    entry = find_dataset("german")
    y = np.repeat([-1, 1], entry.counts)
    np.savez(tmp_path / "german.npz", X=rng.integers(0, 5, size=(entry.rows, entry.columns)), y=y)
    one = tiny(dataset="german").settings[0]
    experiment = Experiment("paper1-table2", "a test", (one, tiny().settings[0]))
    outcome = run(experiment, workers=1)
    assert {cell.dataset for cell in outcome.cells} == {"german"}
    assert list(outcome.missing) == ["svmguide1"]


def test_an_interrupted_experiment_goes_on(tmp_path):
    first = run(tiny(), load=stand_in, workers=1, folder=tmp_path)
    lines = (tmp_path / "plays.jsonl").read_text().splitlines()
    again = run(tiny(), load=stand_in, workers=1, folder=tmp_path)
    assert (tmp_path / "plays.jsonl").read_text().splitlines() == lines
    assert [cell.values for cell in again.cells] == [cell.values for cell in first.cells]


def test_progress_is_told_for_each_data_set():
    told = []
    run(tiny(), load=stand_in, workers=1, report=lambda *what: told.append(what[:3]))
    assert told[0] == ("svmguide1", 1, 1)


def test_scalings_are_applied_in_order():
    table = prepare(stand_in("svmguide1"), ("standard", "l2"))
    X = stand_in("svmguide1").X
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    expected = X / np.sqrt((X**2).sum(axis=1, keepdims=True))
    assert np.allclose(table.X.toarray(), expected)


def test_empty_rows_are_counted_as_the_authors_of_paper_4_do():
    X = np.array([[1.0], [0.0], [0.0], [2.0]])
    table = prepare(Dataset("w8a", X, np.array([1, 1, -1, -1]), find_dataset("w8a")), ("l2",))
    assert empty_rows(table).tolist() == [False, True, True, False]
    # Predicted positive throughout: both positives found, no negative cleared.
    record = {
        "sensitivity": 1.0,
        "recall": 1.0,
        "specificity": 0.0,
        "sum": 0.5,
        "cost": 0.2,
        "mistakes": 2,
        "accuracy": 0.5,
    }
    setting = Setting("w8a", (), {})
    recounted = empty_rows_are_mistakes(table, record, setting)
    assert recounted["sensitivity"] == 0.5
    assert recounted["specificity"] == 0.0
    assert recounted["sum"] == 0.25
    assert recounted["cost"] == pytest.approx(0.9 * 1 + 0.1 * 2)
    assert recounted["mistakes"] == 3
