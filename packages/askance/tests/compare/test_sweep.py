"""Sweeps: the same numbers from any number of processes, parameters chosen as said, targets kept."""

import numpy as np
import pytest
from tests.compare.streams import blobs, table

import askance
from askance.compare import Candidate, Results, Sweep, default_candidate, imbalance, powers
from askance.errors import AskanceError, IncompatibleRules, InvalidParameter

TIMES = ("seconds",)


def bare(results):
    """The records without what a clock says."""
    return [{name: value for name, value in record.items() if name not in TIMES} for record in results.records]


def sweep(algorithms=("PAA-I", "RPA-I"), ratios=(0.1,), data=None, **options):
    options = {"permutations": 3, "search_permutations": 2} | options
    return Sweep(blobs() if data is None else data, list(algorithms), ratios and list(ratios), **options)


def test_the_seed_decides_everything_whatever_the_number_of_workers(monkeypatch, tmp_path):
    monkeypatch.setattr("askance.compare.scheduler.WORTH_STARTING", -1.0)  # processes even for so little
    algorithms = [Candidate("PAA-I", {"C": [0.1, 1.0]}), "RPA-I", "SOAL-diag", "SOL-diag"]
    files = [tmp_path / f"{workers}.jsonl" for workers in (1, 2, 3)]
    alone = sweep(algorithms, [0.05, 0.2]).run(workers=1, results=files[0])
    for workers in (2, 3):
        together = sweep(algorithms, [0.05, 0.2]).run(workers=workers, results=files[workers - 1])
        assert files[workers - 1].read_bytes() == files[0].read_bytes()
        assert bare(together) == bare(alone)
        assert together.choices == alone.choices
    assert b"seconds" not in files[0].read_bytes()  # they are in a file of their own
    assert (tmp_path / "2.jsonl.times").read_bytes().count(b"\n") == files[0].read_bytes().count(b"\n")
    other = sweep(algorithms, [0.05, 0.2], seed=1).run(workers=1)
    assert bare(other) != bare(alone)


def test_a_record_is_what_the_library_itself_would_give():
    """Playing a permutation by hand, with the chosen parameters, gives the numbers of the record."""
    made = sweep(["PAA-I"], prepare="standard", intercept=True, everything=True)
    results = made.run(workers=1)
    choice, record = results.choices[0], results.records[1]
    rng = np.random.default_rng([0, 0, 1])  # seed, role, permutation
    order = rng.permutation(made.table.n_events)
    clf = askance.make("PAA-I", **choice.parameters, classes=[0, 1], random_state=int(rng.integers(2**62)))
    summary = clf.run(made.table.X[order], made.table.y[order]).summary()
    for metric in set(summary) - set(TIMES):
        assert record[metric] == summary[metric], metric


@pytest.mark.parametrize("kind", ["ratios", "budgets"])
def test_auto_has_the_rate_or_the_number_as_its_budget(kind):
    target = {"ratios": [0.2], "budgets": [150]}[kind]
    options = {"prepare": "standard", "intercept": True, "everything": True, "ratios": None} | {kind: target}
    made = sweep(["auto", "PAA-I"], **options)
    results = made.run(workers=1)
    choice, record = results.choices[0], results.records[1]
    assert record["candidate"] == "auto"
    assert choice.reached
    rng = np.random.default_rng([0, 0, 1])  # seed, role, permutation
    order = rng.permutation(made.table.n_events)
    budget = choice.parameters["rate"] if kind == "ratios" else 150
    clf = askance.make("auto", budget=budget, classes=[0, 1], random_state=int(rng.integers(2**62)))
    summary = clf.run(made.table.X[order], made.table.y[order]).summary()
    for metric in set(summary) - set(TIMES):
        assert record[metric] == summary[metric], metric
    if kind == "ratios":
        assert choice.ratio == pytest.approx(0.2, rel=0.04)


def test_a_sweep_with_auto_goes_on_where_it_ended(tmp_path):
    path = tmp_path / "results.jsonl"
    algorithms = ["PAA-I", "auto"]
    first = sweep(algorithms, prepare="standard").run(workers=1, results=path)
    size = path.stat().st_size
    again = sweep(algorithms, prepare="standard").run(workers=1, results=path)
    assert again.records == first.records
    assert path.stat().st_size == size


def test_the_quick_measures_equal_the_full_ones():
    for data in (blobs(), blobs(n_classes=4)):
        names = ["MPAA-I"]
        quick = sweep(names, data=data, metric="accuracy").run(workers=1).records
        full = sweep(names, data=data, metric="accuracy", everything=True).run(workers=1).records
        for left, right in zip(quick, full, strict=True):
            for name in set(left) - set(TIMES):
                assert left[name] == right[name], name


def test_choosing_and_reported_permutations_are_different_ones(tmp_path):
    made = sweep(["PAA-I"])
    from askance.compare.play import TablePlayer

    player = TablePlayer(made.table, made.conditions, room=10**9)
    first, second = player.stream("play", 0), player.stream("choose", 0)
    assert (first.y != second.y).any()
    assert first.seed != second.seed
    assert player.stream("play", 0) is first  # kept


def test_copies_are_made_anew_where_there_is_no_room():
    from askance.compare.play import TablePlayer

    made = sweep(["PAA-I"])
    player = TablePlayer(made.table, made.conditions, room=0)
    first, second = player.stream("play", 0), player.stream("play", 0)
    assert first is not second
    assert (first.X != second.X).nnz == 0


@pytest.mark.parametrize(("metric", "better"), [("accuracy", max), ("mistakes", min)])
def test_the_point_with_the_best_metric_is_chosen(metric, better):
    values = [1e-3, 0.1, 10.0]
    scores = {C: sweep([Candidate("PAA-I", {"C": [C]})], metric=metric).run(workers=1).choices[0].score for C in values}
    choice = sweep([Candidate("PAA-I", {"C": values})], metric=metric).run(workers=1).choices[0]
    assert choice.score == better(scores.values())
    assert choice.parameters["C"] == better(scores, key=scores.get)
    assert choice.points == 3


def test_parameters_may_depend_on_the_data():
    candidate = Candidate("CSPAA", fixed={"rho": imbalance, "C": lambda table: 2.0 * imbalance(table)})
    choice = sweep([candidate]).run(workers=1).choices[0]
    assert choice.parameters["rho"] == table().imbalance
    assert choice.parameters["C"] == 2.0 * table().imbalance


def test_passive_algorithms_play_once_for_all_ratios():
    results = sweep(["PA-I"], [0.05, 0.2]).run(workers=1)
    assert [choice.target for choice in results.choices] == [1.0]
    assert len(results.records) == 3
    assert results.choices[0].ratio == 1.0


def test_budgets_are_kept_and_the_scale_is_a_parameter_like_others():
    candidate = Candidate("PAA-I", {"delta": [0.01, 1.0]})
    results = sweep([candidate, "RPA-I", "PA-I"], None, budgets=[20, 100]).run(workers=1)
    assert all(record["labels"] <= record["target"] for record in results.records)
    assert {choice.target for choice in results.choices} == {20, 100}
    assert all(choice.parameters["delta"] in (0.01, 1.0) for choice in results.choices if choice.candidate == "PAA-I")
    spent = results.values("labels", "PA-I", 100)
    assert np.all(spent == 100)  # the first hundred


def test_scales_are_played_as_given():
    results = sweep(["PAA-I", "SOAL-diag"], None, scales=[0.01, 1.0]).run(workers=1)
    assert [choice.parameters["delta"] for choice in results.choices] == [0.01, 1.0, 0.01, 1.0]
    assert results.choices[0].ratio < results.choices[1].ratio


def test_without_settling_the_scale_stays_where_choosing_put_it():
    settled = sweep(["PAA-I"], permutations=6, search_permutations=1).run(workers=1).choices[0]
    left = sweep(["PAA-I"], permutations=6, search_permutations=1, settle=False).run(workers=1).choices[0]
    assert settled.ratio == pytest.approx(0.1, rel=0.03)
    assert left.reached  # on the choosing permutation


def test_the_order_of_a_stream_can_be_kept():
    made = sweep(["PAA-I", "PA-I"], shuffle=False)
    results = made.run(workers=1)
    passive = [record["mistakes"] for record in results.records if record["candidate"] == "PA-I"]
    assert len(set(passive)) == 1  # the same order every time, and no coin is tossed


def test_the_positive_class_decides_what_f1_means():
    spam = sweep(["PAA-I"], positive="spam").run(workers=1)
    ham = sweep(["PAA-I"], positive="ham").run(workers=1)
    assert spam.settings["positive"] == "spam"
    assert spam.records[0]["recall"] == pytest.approx(ham.records[0]["specificity"])


def test_dense_wide_data_play_as_sparse_ones_do():
    rng = np.random.default_rng(0)
    X = rng.integers(1, 9, size=(40_000, 128)).astype(np.uint8)
    y = (X[:, :64].sum(axis=1, dtype=int) > X[:, 64:].sum(axis=1, dtype=int)).astype(int)
    settings = {"permutations": 1, "search_permutations": 1, "ratios": None, "budgets": [500]}
    results = sweep(["PAA-I"], data=(X, y), **settings)
    assert isinstance(results.table.X, np.ndarray)
    assert results.run(workers=1).records[0]["labels"] == 500


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"ratios": None}, "give either ratios"),
        ({"ratios": [0.1], "budgets": [5]}, "give either ratios"),
        ({"ratios": [5]}, r"a query ratio is in \(0, 1\], got 5"),
        ({"ratios": []}, "at least one"),
        ({"ratios": None, "budgets": [0.5]}, "a budget is a whole number of labels"),
        ({"ratios": None, "scales": [0.0]}, "a query scale is a finite number above 0"),
        ({"metric": "beauty"}, "there is no metric 'beauty'; choose by one of"),
        ({"permutations": 0}, "permutations must be 1 or more"),
        ({"tolerance": 0}, "tolerance must be between 0 and 1"),
        ({"prepare": "fancy"}, "scale must be one of"),
        ({"algorithms": []}, "name at least one algorithm"),
        ({"algorithms": ["PAA-I", "paa-i"]}, "PAA-I takes part twice"),
        ({"algorithms": ["PAX"]}, "there is no algorithm 'PAX'"),
        ({"algorithms": [Candidate("PAA-I", fixed={"delta": 1.0})]}, "delta of PAA-I is what sets the ratio"),
        ({"algorithms": [Candidate("PAA-I", {"C": [-1.0]})]}, "C must be"),
    ],
)
def test_what_cannot_work_is_refused_at_once_in_one_sentence(options, sentence):
    with pytest.raises(AskanceError, match=sentence):
        sweep(**options)


def test_a_letter_that_the_algorithm_lacks_is_refused():
    with pytest.raises(InvalidParameter, match="PAA-I has no parameter 'eta'; its parameters are: C, delta"):
        Candidate("PAA-I", {"eta": [1.0]})


def test_a_rule_for_two_classes_is_refused_for_four():
    with pytest.raises(IncompatibleRules, match="separates two classes and there are 4"):
        sweep(["SOAL-diag"], data=blobs(n_classes=4), metric="accuracy")


def test_workers_must_be_a_number():
    with pytest.raises(InvalidParameter, match="workers must be 1 or more"):
        sweep().run(workers=0)


def test_results_are_saved_loaded_and_merged(tmp_path):
    first = sweep(["PAA-I"]).run(workers=1)
    _, X, y = blobs(seed=1)
    second = sweep(["PAA-I"], data=("others", X, y)).run(workers=1)
    both = Results.merge([first, second])
    both.save(tmp_path / "both.json")
    again = Results.load(tmp_path / "both.json")
    assert again.records == both.records
    assert again.choices == both.choices
    assert again.datasets == ["blobs", "others"]
    assert again.about("others")["dataset"] == "others"
    assert len(again.values("f1", "PAA-I", 0.1, "others")) == 3
    assert len(first.frame()) == 3
    with pytest.raises(AskanceError, match="there is no metric 'beauty' in these results"):
        first.values("beauty", "PAA-I", 0.1)


def test_default_candidates_search_the_letters_that_matter():
    assert default_candidate("PAA-I", "papers").grid == {"C": powers(2, range(-5, 6))}
    assert set(default_candidate("SOAL-diag").grid) == {"eta", "gamma"}
    assert set(default_candidate("D-ADA").grid) == {"eta", "delta"}  # the ridge of H
    assert default_candidate("OA3-diag").fixed == {"rho": imbalance}
    assert "delta" in default_candidate("PAA-I", with_scale=True).grid
    assert default_candidate("PAA-I", "none").grid == {}
    assert default_candidate("SOAL-diag", fixed={"eta": 1.0}).grid.keys() == {"gamma"}
    for row in askance.algorithms():
        if row["paper"]:  # auto has nothing to tune
            default_candidate(row["name"]).points(table())


def test_progress_counts_down_and_ends_at_nothing():
    seen = []
    sweep([Candidate("PAA-I", {"C": powers(2, range(-3, 3))}), "RPA-I"], [0.05, 0.1, 0.2]).run(seen.append, workers=1)
    assert seen[0].stage == "compiling"
    assert seen[0].remaining is None
    assert [one.done for one in seen] == sorted(one.done for one in seen)
    assert seen[-1].remaining == 0.0
    assert seen[-1].fraction == 1.0
    assert seen[-1].done == seen[-1].expected
    assert all(one.remaining is None or 0.0 <= one.remaining < float("inf") for one in seen)


def test_a_matrix_that_would_not_fit_is_refused_with_a_way_out():
    import scipy.sparse as sp

    wide = ("wide", sp.eye(100, 60_000, format="csr"), np.arange(100) % 2)
    with pytest.raises(InvalidParameter, match=r"SOAL keeps a matrix of 60,000 x 60,000 numbers, 27 GB; use its diag"):
        sweep(["SOAL"], data=wide)
    sweep(["SOAL-diag"], data=wide)


def test_rules_that_ask_at_random_get_as_many_labels_as_the_others():
    """The rate alone misses by chance: on so few events and orders by 6 % and more."""
    names = ["RPA-I", "SORL-diag", "PAA-I"]
    for seed in range(4):
        results = sweep(names, [0.02, 0.1], data=blobs(n_events=500), seed=seed).run(workers=1)
        for choice in results.choices:
            assert choice.reached
            assert choice.ratio == pytest.approx(choice.target, rel=0.03)
    left = sweep(["RPA-I"], [0.02, 0.1], data=blobs(n_events=500), settle_rates=False).run(workers=1)
    assert [choice.parameters["rate"] for choice in left.choices] == [0.02, 0.1]  # as in the papers


def test_rules_that_ask_at_random_spend_a_budget():
    results = sweep(["RPA-I"], None, budgets=[20, 50], permutations=20).run(workers=1)
    for budget in (20, 50):
        spent = results.values("labels", "RPA-I", budget)
        assert spent.max() == budget
        assert spent.mean() >= 0.98 * budget
    given = sweep([Candidate("RPA-I", fixed={"rate": 0.01})], None, budgets=[50]).run(workers=1).choices[0]
    assert given.parameters["rate"] == 0.01


def test_scikit_learn_can_work_side_by_side_after_a_sweep_did():
    from sklearn.datasets import make_classification
    from sklearn.model_selection import cross_val_score

    import askance
    from askance.engines import make_engine

    workers = make_engine("local", 2)
    workers.start()
    assert workers.submit(abs, -3).result() == 3
    X, y = make_classification(200, random_state=0)
    scores = cross_val_score(askance.make("PAA-I", random_state=0), X, y, cv=3, n_jobs=2)
    assert len(scores) == 3
    assert workers.submit(abs, -4).result() == 4
