"""Means, t-tests and ranks against SciPy and against values worked out by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from askance.compare.curves import mean_ranks_left_out
from askance.compare.results import Results, TunedSetting
from askance.compare.statistics import find_shared_places, lines, mean_ranks, p_value, places_left_out, rank_table


def results(values, metric="f1", reached=(), targets=(0.1,)):
    """Results from a table {candidate: {target: values}}."""
    made = Results({"metric": metric, "targets": list(targets), "permutations": 3, "kind": "ratio"})
    for candidate, by_target in values.items():
        for target, row in by_target.items():
            fine = (candidate, target) not in reached
            made.choices.append(
                TunedSetting(
                    "set", candidate, "PAA-I", target, {}, 1.0, target, fine, "" if fine else "cannot", None, 1
                )
            )
            for permutation, value in enumerate(row):
                made.records.append(
                    {
                        "dataset": "set", "candidate": candidate, "algorithm": "PAA-I", "target": target,
                        "permutation": permutation, "reached": fine, metric: value, "labels": 100 * target,
                    }
                )  # fmt: skip
    return made


def test_the_t_test_is_scipys_and_that_of_the_textbook():
    first, second = [0.80, 0.82, 0.81, 0.85], [0.70, 0.75, 0.72, 0.80]
    assert p_value(first, second) == stats.ttest_rel(first, second).pvalue
    difference = np.subtract(first, second)
    t = difference.mean() / (difference.std(ddof=1) / math.sqrt(4))
    assert p_value(first, second) == pytest.approx(2 * stats.t.sf(t, df=3))


def test_a_t_test_without_spread_or_pairs_has_an_answer_too():
    assert p_value([0.5, 0.5], [0.5, 0.5]) == 1.0
    assert p_value([0.5, 0.6], [0.25, 0.35]) == 0.0
    assert p_value([0.5], [0.4]) is None
    assert p_value([math.nan, 0.5], [0.4, 0.3]) is None


def test_mean_spread_best_and_p_by_hand():
    table = results({"A": {0.1: [0.8, 0.9, 1.0]}, "B": {0.1: [0.7, 0.9, 0.8]}})
    a, b = lines(table)
    assert (a.mean, b.mean) == (pytest.approx(0.9), pytest.approx(0.8))
    assert a.std == pytest.approx(0.1)  # with n - 1
    assert a.is_best
    assert a.p is None
    assert not b.is_best
    assert b.p == pytest.approx(stats.ttest_rel([0.7, 0.9, 0.8], [0.8, 0.9, 1.0]).pvalue)
    assert b.is_as_good  # p = 0.22


def test_for_a_cost_the_lowest_is_best():
    table = results({"A": {0.1: [10.0, 12.0]}, "B": {0.1: [20.0, 21.0]}}, metric="cost")
    assert [line.is_best for line in lines(table)] == [True, False]
    assert [line.rank for line in lines(table)] == [1.0, 2.0]


def test_ranks_are_those_within_each_permutation_and_ties_share():
    ranks = mean_ranks({"A": np.array([0.9, 0.8]), "B": np.array([0.7, 0.8]), "C": np.array([0.8, 0.1])}, "f1")
    assert ranks == {"A": 1.25, "B": 2.25, "C": 2.5}


def test_who_could_not_reach_a_target_is_neither_best_nor_ranked():
    table = results({"A": {0.1: [0.9, 0.9]}, "B": {0.1: [0.99, 0.99]}, "C": {0.1: [0.8, 0.7]}}, reached=[("B", 0.1)])
    a, b, c = lines(table)
    assert a.is_best
    assert (a.rank, b.rank, c.rank) == (1.0, None, 2.0)
    assert not b.is_best


def test_passive_candidates_are_a_contest_of_their_own():
    table = results({"A": {0.1: [0.8, 0.8]}, "PA": {1.0: [0.9, 0.9]}})
    a, passive = lines(table)
    assert a.is_best
    assert passive.is_best
    assert [row.candidate for row in rank_table(table)] == ["A"]


def test_the_rank_table_counts_wins_and_what_is_as_good():
    table = results(
        {
            "A": {0.1: [0.90, 0.91, 0.92], 0.2: [0.90, 0.91, 0.92]},
            "B": {0.1: [0.80, 0.81, 0.83], 0.2: [0.93, 0.90, 0.94]},
        },
        targets=(0.1, 0.2),
    )
    first, second = rank_table(table)
    by_name = {row.candidate: row for row in (first, second)}
    assert by_name["A"].wins == 1
    assert by_name["B"].wins == 1
    assert by_name["A"].as_good == 2  # at 0.2 it cannot be told from B
    assert by_name["B"].as_good == 1
    assert by_name["A"].rank == pytest.approx((1.0 + 5 / 3) / 2)
    assert first.rank <= second.rank


def uneven():
    """C is best wherever it plays, and does not play at 0.1, where A is best."""
    return results(
        {
            "A": {0.1: [0.90, 0.91, 0.92], 0.2: [0.80, 0.81, 0.82]},
            "B": {0.1: [0.80, 0.81, 0.83], 0.2: [0.93, 0.90, 0.94]},
            "C": {0.1: [0.10, 0.11, 0.12], 0.2: [0.95, 0.96, 0.97]},
            "D": {0.1: [0.10, 0.11, 0.12]},
        },
        targets=(0.1, 0.2),
        reached={("C", 0.1), ("D", 0.1)},
    )


def test_mean_ranks_go_over_what_all_reached():
    by_name = {row.candidate: row for row in rank_table(uneven())}
    assert [by_name[name].rank for name in "ABC"] == [3.0, 2.0, 1.0]  # at 0.2 alone; A was first at 0.1
    assert by_name["D"].rank is None
    assert by_name["A"].by_cell == {("set", 0.1): 1.0, ("set", 0.2): 3.0}
    assert find_shared_places(list(by_name.values())) == [("set", 0.2)]
    assert places_left_out(list(by_name.values())) == {("set", 0.1): ["C"]}


def test_what_mean_ranks_leave_out_is_said():
    table = uneven()
    said = mean_ranks_left_out(table, rank_table(table))
    assert said == "Mean ranks leave out 10 % (not reached by C). Not ranked, since nothing was reached: D."
    apart = results(
        {"A": {0.1: [0.9] * 3, 0.2: [0.1] * 3}, "B": {0.1: [0.1] * 3, 0.2: [0.9] * 3}},
        targets=(0.1, 0.2),
        reached={("A", 0.2), ("B", 0.1)},
    )
    assert [row.rank for row in rank_table(apart)] == [None, None]
    said = mean_ranks_left_out(apart, rank_table(apart))
    assert said == (
        "There are no mean ranks, since nothing was reached by all: 10 % (not reached by B); 20 % (not reached by A)."
    )
    everywhere = results({"A": {0.1: [0.9] * 3}, "B": {0.1: [0.1] * 3}})
    assert mean_ranks_left_out(everywhere, rank_table(everywhere)) == ""


def test_a_single_permutation_has_no_spread_and_no_test():
    a, b = lines(results({"A": {0.1: [0.9]}, "B": {0.1: [0.8]}}))
    assert a.std == 0.0
    assert b.p is None
    assert not b.is_as_good
