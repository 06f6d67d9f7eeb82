import csv
import io
import re

import pytest
from rich.console import Console

from askance_papers import Cell, Claim, Experiment, Outcome, experiments
from askance_papers.cli.reproduce_screen import MARKS, ReproduceScreen
from askance_papers.experiment import every
from askance_papers.outcome import read_expected


def outcome(*cells, claims=(), key="paper1-table2"):
    return Outcome(Experiment(key, "a test", claims=claims), list(cells))


def cell(algorithm, *values, dataset="svmguide1", setting="10 %", metric="f1", note=""):
    return Cell(dataset, setting, algorithm, metric, values, note=note)


def test_a_number_is_marked_by_its_distance_from_the_print():
    result = outcome(cell("PEA", 0.84, 0.84), cell("RPE", 0.9, 0.9), cell("RPA", 0.7, 0.7), cell("new", 0.5))
    assert [one.mark for one in result.compare_cells()] == ["within", "above", "below", ""]
    assert result.count_by_mark() == {"within": 1, "above": 1, "below": 1}


def test_means_are_compared_by_the_test_of_welch():
    from scipy.stats import ttest_ind_from_stats

    values = tuple(0.83 + 0.002 * k for k in range(20))
    (one,) = outcome(cell("PEA", *values)).compare_cells()
    rounded = max(0.0, abs(one.cell.mean - one.printed.mean) - one.printed.unit / 2)
    truth = ttest_ind_from_stats(rounded, one.cell.std, 20, 0.0, one.printed.std, 20, equal_var=False).pvalue
    assert one.p_value == pytest.approx(truth, rel=1e-9)
    assert one.mark == "within"
    assert one.differs == (truth < 0.05)


def test_what_has_no_deviation_in_print_or_one_value_of_ours_is_not_tested():
    result = outcome(cell("PEA", 0.84), cell("new", 0.5, 0.6))
    assert [one.p_value for one in result.compare_cells()] == [None, None]
    assert result.count_differing() == (0, 0)


def test_mean_and_standard_deviation_are_those_of_the_permutations():
    assert cell("PEA", 1.0, 2.0, 3.0).mean == 2.0
    assert cell("PEA", 1.0, 2.0, 3.0).std == 1.0
    assert cell("PEA", 1.0).std == 0.0


PRINTED = [key for key in experiments() if any(printed.std for printed in read_expected(key).values())]


@pytest.mark.parametrize("key", PRINTED)
def test_what_is_counted_is_what_is_marked_in_every_table(key):
    """Numbers around the printed ones, every third at another query ratio, which is shown in brackets."""
    cells = []
    for number, (place, printed) in enumerate(read_expected(key).items()):
        off = (0.0, 5.0, -5.0, 1.5)[number % 4] * ((printed.std or 0.0) + printed.unit)
        values = tuple(printed.mean + off + jitter * printed.unit for jitter in (-1.0, 0.0, 1.0))
        cells.append(Cell(*place, values, note="asks for 20 %" if number % 3 == 0 else ""))
    result = Outcome(experiments()[key], cells)
    shown = io.StringIO()
    screen = ReproduceScreen(quiet=False)
    screen.out = Console(file=shown, width=200)
    screen.show(result, [])
    body = shown.getvalue().partition(" numbers within two standard deviations")[0]
    counts = result.count_by_mark()
    assert sum(counts.values()) > 0
    assert {mark: len(re.findall(rf"\d {re.escape(sign)}[* ]", body)) for mark, (sign, _) in MARKS.items()} == counts
    differ, tested = result.count_differing()
    assert len(re.findall(r"\d [=+-]\*", body)) == differ
    assert tested == sum(counts.values())
    assert not any(compared.mark for compared in result.compare_cells() if compared.cell.note)


def test_a_claim_is_judged_wherever_both_algorithms_played():
    claim = Claim("active beats random", (("PEA", "RPE"), ("PAA", "RPA")), "f1")
    cells = [cell("PEA", 0.9), cell("RPE", 0.8), cell("PEA", 0.7, setting="20 %"), cell("RPE", 0.8, setting="20 %")]
    verdicts = outcome(*cells, claims=(claim,)).verdicts()
    assert [(verdict.setting, verdict.holds) for verdict in verdicts] == [("10 %", True), ("20 %", False)]
    assert verdicts[1].difference == pytest.approx(-0.1)


def test_lower_can_be_better():
    claim = Claim("cheaper", (("OA3", "PAA"),), "cost", lower_is_better=True)
    cells = [cell("OA3", 100.0, metric="cost"), cell("PAA", 200.0, metric="cost")]
    assert outcome(*cells, claims=(claim,)).verdicts()[0].holds


@pytest.mark.parametrize(("ties_count", "holds"), [(True, True), (False, False)])
def test_a_difference_within_two_standard_errors_is_a_tie_where_ties_count(ties_count, holds):
    claim = Claim("at least as good", (("A", "B"),), "f1", ties_count=ties_count)
    cells = [cell("A", 0.80, 0.82, 0.80), cell("B", 0.81, 0.82, 0.80)]
    assert outcome(*cells, claims=(claim,)).verdicts()[0].holds is holds


def test_an_algorithm_that_used_another_number_of_labels_is_not_judged():
    claim = Claim("beats", (("A", "B"),), "f1")
    assert not outcome(cell("A", 0.9, note="asks for 20 %"), cell("B", 0.8), claims=(claim,)).verdicts()


def test_every_pairs_one_list_with_another():
    assert every(("a", "b"), ("c",)) == (("a", "c"), ("b", "c"))


def test_the_csv_has_a_line_per_number(tmp_path):
    result = outcome(Cell("svmguide1", "10 %", "PEA", "f1", (0.8, 0.9), 0.1, {"delta": 0.5}), cell("new", 0.5))
    result.write_csv(tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2
    assert rows[0]["paper_mean"] == "0.837"
    assert rows[0]["parameters"] == "delta=0.5"
    assert rows[1]["paper_mean"] == ""
