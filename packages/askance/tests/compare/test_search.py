"""The query scale for a wanted ratio: on made-up curves, and on real data with real rules."""

import math

import numpy as np
import pytest
from tests.compare.streams import blobs
from tests.real_data import load

from askance.compare import Candidate, Sweep
from askance.compare.search import (
    DELTA,
    FoundScale,
    ScaleParameter,
    asks_at_random,
    find_scales,
    scale_parameter_for,
    scale_parameter_of,
)
from askance.learner import query


def play(ratio_of, wanted, scale_parameter=DELTA, **options):
    """Search on a made-up curve; returns what was found and the scales that were tried."""
    search, tried = find_scales(wanted, scale_parameter, **options), []
    scale = next(search)
    while True:
        tried.append(scale)
        try:
            scale = search.send(ratio_of(scale))
        except StopIteration as stop:
            return stop.value, tried


MARGINS = np.random.default_rng(0).exponential(size=5_000)


def by_margin(scale):
    return float((scale / (scale + MARGINS)).mean())


def test_a_smooth_curve_takes_few_plays_for_each_ratio():
    wanted = [0.01, 0.05, 0.1, 0.2]
    found, tried = play(by_margin, wanted)
    for ratio in wanted:
        assert found[ratio].reached
        assert found[ratio].ratio == pytest.approx(ratio, rel=0.03)
        assert by_margin(found[ratio].scale) == found[ratio].ratio
    assert len(tried) <= 4 * len(wanted)


@pytest.mark.parametrize("factor", [1e-6, 1e-2, 1e2, 1e6])
def test_the_start_need_not_be_near(factor):
    found, tried = play(lambda scale: by_margin(factor * scale), [0.1])
    assert found[0.1].reached
    assert len(tried) <= 12


def test_a_curve_that_moves_by_chance_is_still_met():
    """On few events the ratio jumps up and down with the scale; some scale near the root will do."""

    def shaken(scale):
        rng = np.random.default_rng(int(scale * 1e12) % 2**32)
        return by_margin(scale) * (1.0 + 0.04 * rng.standard_normal())

    reached = []
    for seed in range(50):
        found, tried = play(lambda scale, seed=seed: shaken(scale * (1.0 + seed / 7)), [0.05, 0.2])
        reached += [found[0.05].reached, found[0.2].reached]
        assert len(tried) <= 33
    assert sum(reached) >= 99


def test_a_rule_that_asks_for_more_at_the_least_says_so_instead_of_failing():
    found, tried = play(lambda scale: 0.12 + 0.88 * by_margin(scale), [0.01, 0.05, 0.3])
    for ratio in (0.01, 0.05):
        assert not found[ratio].reached
        assert found[ratio].limit == "at the least"
        assert found[ratio].ratio == pytest.approx(0.12, rel=0.02)
    assert found[0.05].note(0.1234) == "asks for 12.34 % at the least"
    assert FoundScale(0.01, 1.0, 0.0097, False, "jumps").note(0.0097) == "asks for 0.97 %, no scale comes nearer"
    assert found[0.3].reached
    assert len(tried) < 25


def test_a_rule_that_cannot_ask_for_so_many_says_so():
    found, _ = play(lambda scale: 0.9 * by_margin(scale), [0.95])
    assert not found[0.95].reached
    assert found[0.95].limit == "at the most"
    assert found[0.95].ratio == pytest.approx(0.9, rel=0.01)


def test_a_rule_that_jumps_past_the_ratio_gives_the_nearest():
    found, tried = play(lambda scale: 0.02 if scale < 0.37 else 0.11, [0.1])
    assert not found[0.1].reached
    assert found[0.1].limit == "jumps"
    assert found[0.1].ratio == 0.11
    assert len(tried) <= 17


def test_the_search_stays_in_the_range_of_the_letter():
    scale_parameter = scale_parameter_for(query.Entropy)
    _, tried = play(lambda scale: 0.3, [0.01, 0.9], scale_parameter)
    assert min(tried) >= scale_parameter.lowest * (1 - 1e-9)
    assert max(tried) < 0.5


def test_every_query_rule_has_a_scale_that_it_accepts():
    rules = [
        rule for rule in vars(query).values() if isinstance(rule, type) and issubclass(rule, query.Margin.__base__)
    ]
    for rule in set(rules) - {query.Margin.__base__}:
        scale_parameter = scale_parameter_for(rule)
        if scale_parameter is not None:
            for scale in (scale_parameter.lowest, scale_parameter.start, scale_parameter.highest):
                rule(**scale_parameter.apply({}, min(scale, scale_parameter.highest)))


def test_letters_that_go_together_keep_their_proportion():
    turned = scale_parameter_of("OA3").apply({"eta": 1.0, "delta_pos": 100.0}, 0.5)
    assert turned == {"eta": 1.0, "delta_pos": 50.0, "delta_neg": 0.5}
    assert scale_parameter_of("D-ADA").letters == ("b",)  # delta is the ridge there
    assert scale_parameter_of("PA-I") is None
    assert asks_at_random("SORL-diag")
    assert not asks_at_random("SOAL-diag")


def test_scales_are_searched_in_logarithms():
    assert ScaleParameter(("delta",)).lowest < 1e-6
    assert math.log(ScaleParameter(("delta",)).highest) > 20


RULES = ["PAA-I", "SEL-ada", "CSPAA(a)", "SOAL-diag", "OAAL", "OA3-diag", "D-ADA", "BOAL-margin"]


@pytest.mark.parametrize(("name", "scaling"), [("svmguide1", "standard"), ("spambase", "standard"), ("a8a", "l2")])
def test_the_wanted_ratio_is_met_within_3_percent_on_real_data(name, scaling):
    X, y = load(name)
    sweep = Sweep(
        (name, X, y), RULES, [0.05, 0.2], permutations=5, search_permutations=3, prepare=scaling, intercept=True
    )
    for choice in sweep.run(workers=1).choices:
        assert choice.reached, choice
        assert choice.ratio == pytest.approx(choice.target, rel=0.03), choice


def test_events_without_features_do_not_lower_the_rate_of_random_asking():
    """w8a has 8 % of them, which are never asked."""
    X, y = load("w8a")
    choices = Sweep(("w8a", X, y), ["RPA-I"], [0.05, 0.95], permutations=3).run(workers=1).choices
    assert choices[0].ratio == pytest.approx(0.05, rel=0.03)
    assert choices[0].parameters["rate"] > 0.054
    assert not choices[1].reached
    assert choices[1].note.startswith("asks for 91.")


def test_a_candidate_whose_points_reach_the_ratio_is_not_given_one_that_does_not():
    """SOAL with a large eta asks for much at the least; the point that does as wanted is taken."""
    name, X, y = blobs()
    soal = Candidate("SOAL-diag", {"eta": [0.03, 30.0]})
    choice = Sweep((name, X, y), [soal], [0.1], permutations=3, search_permutations=3).run(workers=1).choices[0]
    assert choice.reached
    assert choice.parameters["eta"] == 0.03
