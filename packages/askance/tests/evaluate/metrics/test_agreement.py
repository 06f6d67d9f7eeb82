"""Agreement between people, beside published examples and the formulas written out."""

from itertools import permutations

import numpy as np
import pytest

from askance.evaluate.metrics.agreement import cohen_kappa, krippendorff_alpha, wilson

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), example C: four observers, twelve units, gaps
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def counted(observers, labels):
    return [[sum(row[unit] == label for row in observers) for label in labels] for unit in range(len(observers[0]))]


def test_alpha_is_the_one_that_krippendorff_prints():
    assert krippendorff_alpha(counted(OBSERVERS, range(1, 6))).estimate == pytest.approx(0.743, abs=5e-4)


def alpha_by_pairs(units):
    """The definition, pair by pair."""
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    n = len(values)
    observed = sum(sum(a != b for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units) / n
    expected = sum(a != b for a, b in permutations(values, 2)) / (n * (n - 1))
    return 1 - observed / expected


def test_alpha_agrees_with_its_definition_for_any_numbers_of_answers():
    rng = np.random.default_rng(1)
    for _ in range(20):
        units = [rng.integers(0, 3, rng.integers(0, 5)).tolist() for _ in range(30)]
        table = [[unit.count(label) for label in range(3)] for unit in units]
        assert krippendorff_alpha(table).estimate == pytest.approx(alpha_by_pairs(units))


def test_kappa_agrees_with_scikit_learn():
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(2)
    one = rng.integers(0, 4, 200)
    other = np.where(rng.random(200) < 0.6, one, rng.integers(0, 4, 200))
    table = np.zeros((4, 4))
    np.add.at(table, (one, other), 1)
    found = cohen_kappa(table)
    assert found.estimate == pytest.approx(cohen_kappa_score(one, other))
    assert found.low < found.estimate < found.high


@pytest.mark.parametrize("measure", ["alpha", "kappa"])
def test_the_interval_has_the_truth_in_it_about_as_often_as_it_says(measure):
    rng = np.random.default_rng(3)
    hits, runs, keep = 0, 200, 0.7  # two people who both say the truth with 0.7, or else anything: kappa = alpha = 0.49
    for _ in range(runs):
        truth = rng.integers(0, 2, 150)
        one, other = (np.where(rng.random(150) < keep, truth, rng.integers(0, 2, 150)) for _ in range(2))
        if measure == "kappa":
            table = np.zeros((2, 2))
            np.add.at(table, (one, other), 1)
            found = cohen_kappa(table)
        else:
            found = krippendorff_alpha(
                [[int(a == c) + int(b == c) for c in (0, 1)] for a, b in zip(one, other, strict=True)]
            )
        hits += found.low <= keep**2 <= found.high
    assert 0.9 <= hits / runs <= 0.99


def test_what_chance_cannot_be_told_from_is_not_a_number():
    assert np.isnan(krippendorff_alpha([[2, 0], [3, 0]]).estimate)
    assert np.isnan(krippendorff_alpha([[1, 0], [0, 1]]).estimate)  # nobody was compared with anybody
    assert np.isnan(krippendorff_alpha(np.zeros((0, 2))).estimate)
    assert np.isnan(cohen_kappa([[5, 0], [0, 0]]).estimate)
    assert np.isnan(cohen_kappa([[0, 0], [0, 0]]).estimate)
    assert np.isnan(wilson(0, 0).estimate)


def test_full_agreement_is_one():
    assert krippendorff_alpha([[2, 0], [0, 2]] * 10).estimate == 1.0
    assert cohen_kappa([[5, 0], [0, 5]]) == (1.0, 1.0, 1.0)
