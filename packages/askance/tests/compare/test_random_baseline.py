"""The same learner, asking at random."""

import pytest
from tests.compare.streams import blobs

import askance
from askance.compare import Candidate, Sweep
from askance.compare.random_baseline import build, preset_of, random_baseline_of
from askance.errors import InvalidParameter, UnknownAlgorithm
from askance.learner import query as q
from askance.learner.auto.layout import view_head
from askance.learner.presets import PRESETS


def test_a_twin_learns_alike_and_asks_at_random():
    with_twin = {row.name: random_baseline_of(row.name) for row in PRESETS if random_baseline_of(row.name)}
    assert [row.name for row in PRESETS if row.name not in with_twin] == [
        row.name for row in PRESETS if row.query in (q.Random, q.Always)
    ]
    for name, twin in with_twin.items():
        own, other = preset_of(name), preset_of(twin)
        assert (own.update, own.fixed) == (other.update, other.fixed)
        assert other.query is q.Random
        assert own.query not in (q.Random, q.Always)
    assert random_baseline_of("APAI") == "RPA-I"  # by any of its names
    assert random_baseline_of("MPAA-I") == "MRPA-I"
    assert random_baseline_of("UOAL-entropy") == "UOAL-random"
    assert random_baseline_of("SEL-2nd") == "SEL-2nd-random"  # which no paper has
    assert preset_of("sop_random") == preset_of("SEL-2nd-random")
    assert preset_of("SOAL-diag-random").name == "SORL-diag"


def test_a_twin_that_no_paper_has_takes_the_learner_s_parameters_and_a_rate():
    _, X, y = blobs(n_events=1_000)
    twin = build("OA3-diag-random", rho=3.0, eta=0.5, rate=0.2, random_state=0)
    own = build("OA3-diag", rho=3.0, eta=0.5)
    assert twin.update == own.update
    assert twin.query == q.Random(rate=0.2)
    assert 150 < twin.run(X, y).asked.sum() < 250
    with pytest.raises(InvalidParameter, match="OA3-diag-random has no parameter 'delta_pos'"):
        Candidate("OA3-diag-random", fixed={"delta_pos": 1.0})


def test_the_twin_of_auto_spends_the_same_budget_and_watches_the_same_events():
    _, X, y = blobs(n_events=3_000)
    own = build("auto", budget=0.1, random_state=0)
    twin = build("Auto-Random", budget=0.1, random_state=0)
    assert twin.update == own.update
    assert twin.budget == own.budget
    labels = [int(clf.run(X, y).asked.sum()) for clf in (own, twin)]
    assert labels[1] == pytest.approx(labels[0], rel=0.05)
    assert view_head(twin._engine.state).watched == view_head(own._engine.state).watched == 3_000


def test_auto_is_compared_with_its_twin_at_equal_numbers_of_labels():
    results = Sweep(blobs(), ["auto", "auto-random"], [0.2], permutations=2).run(workers=1)
    labels = [results.values("labels", name, 0.2).mean() for name in ("auto", "auto-random")]
    assert labels == pytest.approx([240, 240], rel=0.03)
    at_budgets = Sweep(blobs(), ["auto", "auto-random"], budgets=[60], permutations=2).run(workers=1)
    assert all(at_budgets.values("labels", name, 60).max() <= 60 for name in ("auto", "auto-random"))


def test_the_twin_of_auto_is_for_comparisons_only():
    with pytest.raises(UnknownAlgorithm):
        askance.make("auto-random")
