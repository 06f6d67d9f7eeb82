"""Budgets are promises: never exceeded, spent evenly, the same for any division of the stream."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.real_data import load

import askance
from askance import queries
from askance.budgets import Fixed, PerPeriod, Rate, Unlimited
from askance.errors import InvalidInput, InvalidParameter, InvalidType
from askance.learner.pacing import front_loaded_share
from askance.learner.state import Tally
from askance.rules import QueryRule

RULES = ("PEA", "PAA-I", "SEL-ada", "CSPAA(a)", "D-ADA", "D-ADA-I", "SOAL", "SOAL-diag", "OA3-diag", "OAAL",
         "UOAL-entropy", "UOAL-margin", "RPA-I", "PA-I", "MPAA-I", "MD-ADA")  # fmt: skip
DAY = 86_400.0


def a_stream(n=20_000, d=20, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=n) * noise * d**0.5 > 0, 1, -1)
    return X, y


def allowed(rate, n, burst=10):
    t = np.arange(1, n + 1)
    return np.maximum(rate * t, burst + 0.96 * rate * t)


@pytest.fixture(scope="module")
def stream():
    return a_stream()


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("rate", [0.02, 0.1])
def test_a_rate_is_held_by_every_rule(name, rate, stream):
    X, y = stream
    trace = askance.make(name, budget=Rate(rate), random_state=1).run(X, y)
    spent = np.cumsum(trace.asked)
    assert (spent <= allowed(rate, len(y))).all()
    assert spent[-1] == pytest.approx(rate * len(y), rel=0.05)
    window = int(200 / rate)
    within = (spent[2 * window - 1 :] - spent[window - 1 : -window]) / 200
    assert within.size == 0 or (within.min() > 0.75 and within.max() < 1.25)


@pytest.mark.parametrize("name", RULES)
def test_the_weights_of_the_asked_events_add_up_to_the_events(name, stream):
    X, y = stream
    for options in (
        {"budget": Rate(0.05)},
        {"budget": Rate(0.05), "explore": 0.01},
        {"explore": 0.02},
        {"budget": 3000},
    ):
        trace = askance.make(name, random_state=3, **options).run(X, y)
        could = trace.probability > 0
        total = (trace.asked[could] / trace.probability[could]).sum()
        deviation = np.sqrt((1 / trace.probability[could] - 1).sum())
        assert abs(total - could.sum()) <= 3.5 * deviation + 1e-6


@pytest.mark.parametrize("name", ["PAA-I", "SOAL-diag", "D-ADA-I", "UOAL-entropy", "MPAA-I"])
@pytest.mark.parametrize(
    "budget",
    [
        Rate(0.1), Rate(0.02, burst=40, front_load=True), Rate(0.1, burst=40) & Fixed(300), PerPeriod(150, "1d"),
        PerPeriod(9, "1h", carry=True) & Rate(0.3),
    ],
)  # fmt: skip
def test_calls_of_any_size_and_asking_one_by_one_decide_the_same(name, budget):
    X, y = a_stream(600, 8)
    times = np.sort(np.random.default_rng(5).uniform(0, 3 * DAY, len(y)))

    def make():
        return askance.make(name, budget=budget, classes=[-1, 1], explore=0.005, random_state=7)

    whole = make().run(X, y, times=times)
    clf, parts = make(), []
    for which in np.array_split(np.arange(len(y)), [1, 2, 40, 41, 333]):
        parts.append(clf.run(X[which], y[which], times=times[which]))
    for field in ("predicted", "margin", "probability", "asked", "audit"):
        assert np.array_equal(getattr(whole, field), np.concatenate([getattr(part, field) for part in parts]))
    clf = make()
    for t in range(len(y)):
        decision = clf.ask(X[t], time=times[t])
        assert (decision.margin, decision.probability) == (whole.margin[t], whole.probability[t])
        assert (decision.asked, decision.audit) == (whole.asked[t], whole.audit[t])
        if decision.asked:
            clf.tell(ticket=decision.ticket, y=y[t])


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000), rate=st.sampled_from([0.005, 0.05, 0.3, 0.9, 1.0]),
    burst=st.sampled_from([0, 1, 12, 80]), front_load=st.booleans(),
)  # fmt: skip
def test_the_ceiling_holds_on_any_stream(seed, rate, burst, front_load):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 3000))
    X = rng.normal(size=(n, 3)) * rng.choice([1e-6, 1.0, 1e6], size=(n, 1))
    X[rng.random(n) < 0.3] = 0.0
    y = rng.integers(0, 2, n)
    budget = Rate(rate, burst=burst, front_load=front_load)
    trace = askance.make("SOAL-diag", budget=budget, classes=[0, 1], random_state=seed).run(X, y)
    assert (np.cumsum(trace.asked) <= allowed(rate, n, burst)).all()


def events_until(asked, labels):
    """After how many events so many labels were asked."""
    return int(np.searchsorted(np.cumsum(asked), labels)) + 1


@pytest.mark.parametrize("seed", range(3))
def test_a_head_start_is_spent_at_once_where_answers_surprise_and_kept_where_they_do_not(seed):
    rng = np.random.default_rng(seed)
    X, dice = rng.normal(size=(4000, 5)), rng.integers(0, 10, 4000)

    def events_needed(name, X, y, classes, burst=40, front_load=True):
        clf = askance.make(
            name, budget=Rate(0.01, burst=burst, front_load=front_load), classes=classes, random_state=seed
        )
        return events_until(clf.run(X, y).asked, 28)

    assert events_needed("MPAA-I", X, dice, range(10)) < 120
    assert events_needed("PAA-I", np.abs(X), np.zeros(len(X), int), [0, 1]) > 200  # right after one answer
    assert events_needed("MPAA-I", X, dice, range(10), front_load=False) > 200
    assert events_needed("MPAA-I", X, dice, range(10), burst=10) > 1000  # no head start


def test_a_head_start_waits_for_answers():
    X = np.random.default_rng(0).normal(size=(1000, 5))
    clf = askance.make("MPAA-I", budget=Rate(0.01, burst=40, front_load=True), classes=range(10), random_state=0)
    asked = [clf.ask(x).asked for x in X]
    assert events_until(asked, 28) > 200
    assert (np.cumsum(asked) <= allowed(0.01, len(X), 40)).all()


@pytest.mark.parametrize(
    ("burst", "asked", "before", "mistakes", "wanted"),
    [
        (40.0, 0, 0, 0, 30 / 40),  # before the first answer nothing is known to be clear
        (40.0, 10, 0, 5, 20 / 40),
        (40.0, 10, 0, 2, 20 / 40 * (6 / 12) ** 4),
        (40.0, 30, 0, 30, 0.0),  # spent
        (40.0, 110, 100, 70, 20 / 40),  # a share that was set when 100 labels had been asked
        (10.0, 0, 0, 0, 0.0),
    ],
)
def test_the_head_start_is_as_written(burst, asked, before, mistakes, wanted):
    since = type("Since", (), {"asked_before": before})
    constraint = type("Constraint", (), {"burst": burst})
    assert front_loaded_share(constraint, since, Tally(1000, asked, mistakes)) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("carry", [False, True])
def test_so_many_a_day_and_not_one_more(carry, stream):
    X, y = stream
    rng = np.random.default_rng(2)
    # busy days, a nightly lull, a day without events
    times = np.sort(np.concatenate([day * DAY + 0.6 * DAY * rng.beta(2, 3, 4000) for day in (0, 1, 3, 4, 5)]))
    trace = askance.make("SOAL-diag", budget=PerPeriod(200, "1d", carry=carry), random_state=0).run(X, y, times=times)
    days = np.floor(times / DAY).astype(int)
    spent = np.bincount(days[trace.asked], minlength=6)
    if carry:
        assert (np.cumsum(spent) <= 200 * np.arange(1, 7)).all()
        assert spent[3] > 250  # the empty day's labels
    else:
        assert spent.max() <= 200
        assert (spent[[0, 1, 3, 4, 5]] > [80, 190, 190, 190, 190]).all()  # from the second day on the lull is known
    first_hours = (times / DAY - days) < 0.1
    assert trace.asked[first_hours].sum() < 0.35 * spent.sum()  # spread, not spent at once


def test_a_day_that_is_busy_throughout_spends_nearly_all(stream):
    X, y = stream
    times = np.linspace(0, 5 * DAY, len(y), endpoint=False)
    trace = askance.make("PAA-I", budget=PerPeriod(200, "1d"), random_state=0).run(X, y, times=times)
    spent = np.bincount((times // DAY).astype(int)[trace.asked])
    assert spent.max() <= 200
    assert spent.min() >= 190


def test_budgets_combine(stream):
    X, y = stream
    times = np.linspace(0, 5 * DAY, len(y), endpoint=False)
    trace = askance.make("PAA-I", budget=Fixed(500) & PerPeriod(200, "1d") & Rate(0.02), random_state=0).run(
        X, y, times
    )
    assert trace.asked.sum() <= 400
    assert np.bincount((times // DAY).astype(int)[trace.asked]).max() <= 200
    assert askance.make("PAA-I", budget=Rate(0.5) & 100, random_state=0).run(X, y).asked.sum() == 100
    assert askance.make("PAA-I", budget=100 & Rate(0.5), random_state=0).run(X, y).asked.sum() == 100


@pytest.mark.parametrize("budget", [Fixed(300) & Fixed(500), Fixed(300) & Unlimited(), Unlimited() & 300])
def test_two_limits_are_a_limit_and_set_no_pace(budget):
    X, y = a_stream(4000)
    both, one = (askance.make("PAA-I", delta=0.1, budget=b, random_state=0).run(X, y) for b in (budget, 300))
    np.testing.assert_array_equal(both.probability, one.probability)


def test_time_that_steps_back_breaks_no_promise(stream):
    X, y = stream
    times = np.linspace(0, 3 * DAY, len(y))
    shuffled = times + np.random.default_rng(0).normal(0, 7200, len(y))
    trace = askance.make("PAA-I", budget=PerPeriod(50, "1d"), random_state=0).run(X, y, times=shuffled)
    latest = np.maximum.accumulate(shuffled)
    assert np.bincount((latest // DAY).astype(int)[trace.asked] + 1).max() <= 50


def test_audits_are_a_uniform_sample_of_the_events(stream):
    X, y = stream
    trace = askance.make("PAA-I", budget=Rate(0.05), explore=0.02, random_state=0).run(X, y)
    assert (trace.asked[trace.audit]).all()
    assert trace.probability.min() >= 0.02
    assert trace.audit.sum() == pytest.approx(0.02 * len(y), abs=3 * np.sqrt(0.02 * len(y)))
    uniforms = np.random.default_rng(0).random(len(y))
    assert np.array_equal(trace.audit, uniforms < 0.02)
    large = np.abs(trace.margin) > np.median(np.abs(trace.margin))
    share = large[trace.audit].mean()
    assert abs(share - 0.5) < 3 * np.sqrt(0.25 / trace.audit.sum())


def test_events_without_features_are_audited_but_teach_nothing():
    X = sp.csr_matrix((500, 4))
    trace = askance.make("PAA-I", classes=[0, 1], explore=0.2, random_state=0).run(X, np.zeros(500, int))
    assert trace.asked.sum() == trace.audit.sum() > 50
    assert np.isfinite(trace.margin).all()


def test_a_saved_budget_goes_on(tmp_path, stream):
    X, y = stream
    times = np.linspace(0, 5 * DAY, len(y), endpoint=False)
    for budget in (Rate(0.05), Fixed(700) & PerPeriod(200, "1d", carry=True)):
        whole = askance.make("SOAL-diag", budget=budget, random_state=0).run(X, y, times=times)
        clf = askance.make("SOAL-diag", budget=budget, random_state=0)
        clf.run(X[:7001], y[:7001], times=times[:7001])
        clf.save(tmp_path / "model")
        rest = askance.load(tmp_path / "model").run(X[7001:], y[7001:], times=times[7001:])
        assert np.array_equal(rest.probability, whole.probability[7001:])


@pytest.mark.parametrize(
    ("budget", "sentence"),
    [
        (lambda: Rate(0.0), r"Rate: r must be in \(0, 1\], got 0"),
        (lambda: Rate(500), r"To allow 500 labels in total use budget=500"),
        (lambda: Rate(0.1, front_load=40), "Rate: front_load must be True or False, got 40"),
        (lambda: Rate(0.1, burst=-1), "burst must be a finite number of 0 or more"),
        (lambda: PerPeriod(10, "1y"), 'period must be a time such as "1d"'),
        (lambda: PerPeriod(0, "1d"), "n must be a whole number of 1 or more"),
        (lambda: Rate(0.1) & "many", "budget must be None, a whole number, a share such as 0.02 or a Budget"),
        (lambda: askance.make("PAA-I", budget=1.5), "neither a whole number of labels, such as 500, nor a share"),
        (lambda: askance.make("PAA-I", budget=Rate(0.02), explore=0.05), "explore=0.05 would spend all of"),
        (lambda: askance.make("PAA-I", explore=2), r"explore must be a share of the events in \[0, 1\], got 2"),
        (
            lambda: askance.make("PAA-I", explore="much"),
            r"explore must be a share of the events in \[0, 1\], got 'much'",
        ),
    ],
)
def test_a_budget_that_cannot_work_is_refused(budget, sentence):
    with pytest.raises((InvalidParameter, InvalidType), match=sentence):
        budget()


def test_times_are_wanted_where_the_budget_reads_them(stream):
    X, y = stream
    clf = askance.make("PAA-I", budget=PerPeriod(5, "1d"), classes=[-1, 1])
    with pytest.raises(InvalidInput, match="needs the time of each event"):
        clf.run(X, y)
    with pytest.raises(InvalidInput, match="needs the time of each event"):
        clf.ask(X[0])
    with pytest.raises(InvalidInput, match="there are 3 times for 20000 events"):
        clf.run(X, y, times=[1, 2, 3])
    with pytest.raises(InvalidInput, match="a finite number of seconds"):
        clf.ask(X[0], time=float("nan"))
    assert clf.events_seen_ == 0


@pytest.mark.parametrize("name", ["w8a", "elec2", "kddcup99_10pct", "spambase"])
@pytest.mark.parametrize("rule", ["PAA-I", "D-ADA-I"])
def test_rates_hold_on_real_streams_in_their_own_order(name, rule):
    X, y = load(name)
    if not sp.issparse(X):
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    y = np.where(y == y[0], 1, -1)
    for rate in (0.005, 0.1):
        trace = askance.make(rule, budget=Rate(rate), random_state=0, intercept=True).run(X, y)
        spent, expected = np.cumsum(trace.asked), rate * len(y)
        assert (spent <= allowed(rate, len(y))).all()
        assert abs(spent[-1] - expected) <= (0.05 * expected if expected >= 400 else 2 * np.sqrt(expected))


def a_day_apart(n):
    return 1.7e9 + np.arange(n) * 60.0


@pytest.mark.parametrize(
    ("first", "second", "most"),
    [
        (PerPeriod(5, "1h"), PerPeriod(50, "1d"), 50),
        (PerPeriod(50, "1d", carry=True), PerPeriod(2, "1h"), 48),
        (PerPeriod(50, "1d") & PerPeriod(5, "1h"), PerPeriod(5, "1h") & PerPeriod(50, "1d"), 50),
        (Rate(0.01, burst=30), PerPeriod(50, "1d"), 50),
        (PerPeriod(50, "1d"), PerPeriod(50, "1d") & Fixed(10_000), 50),
    ],
)
def test_another_budget_in_mid_stream_keeps_its_promise(first, second, most, stream):
    X, y = stream
    times = a_day_apart(len(y))
    clf = askance.make("PAA-I", budget=first, random_state=0)
    before = clf.run(X[:5000], y[:5000], times=times[:5000]).asked
    clf.set_params(budget=second)
    after = clf.run(X[5000:], y[5000:], times=times[5000:]).asked
    days = (times // DAY).astype(int) - int(times[0] // DAY)
    spent = np.bincount(days[5000:][after])
    assert spent.max() <= most
    if first.constraints()[0] == second.constraints()[0]:
        assert np.bincount(days[np.concatenate([before, after])]).max() <= most


def test_a_change_that_is_refused_changes_nothing(stream):
    X, y = stream
    times = a_day_apart(len(y))
    clf = askance.make("PAA-I", budget=PerPeriod(50, "1d"), random_state=0)
    plain = askance.make("PAA-I", budget=PerPeriod(50, "1d"), random_state=0)
    budget = clf.budget
    for one in (clf, plain):
        one.run(X[:700], y[:700], times=times[:700])
    clf.set_params(budget=Fixed(3) & Rate(0.01), explore=0.5)
    with pytest.raises(InvalidParameter, match="would spend all"):
        clf.run(X[700:], y[700:], times=times[700:])
    clf.set_params(budget=None, explore=0.0).predict(X[:5])
    clf.set_params(budget=budget)
    rest = [one.run(X[700:], y[700:], times=times[700:]).probability for one in (clf, plain)]
    assert np.array_equal(*rest)


def test_the_parts_of_a_combined_budget_can_be_set():
    X, y = a_stream(2000)
    clf = askance.make("PAA-I", budget=Rate(0.5) & Fixed(500), random_state=0)
    clf.run(X[:100], y[:100])
    clf.budget.second.n = 60
    clf.run(X[100:], y[100:])
    assert clf.labels_asked_ == 60
    assert clf.get_params()["budget__second__n"] == 60
    clf.set_params(budget__second__n=70).run(X, y)
    assert clf.labels_asked_ == 70
    with pytest.raises(InvalidParameter, match="period must be a time"):
        PerPeriod(3, "1d").set_params(period="zz")


def test_dates_are_times_whatever_their_unit(stream):
    X, y = stream
    seconds = np.int64(1_700_000_000) + np.arange(len(y)) * 60
    found = [
        askance.make("PAA-I", budget=PerPeriod(100, "1d"), random_state=0).run(X, y, times=times).probability
        for times in (
            seconds,
            seconds.astype("datetime64[s]"),
            seconds.astype("datetime64[s]").astype("datetime64[ns]"),
        )
    ]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
    with pytest.raises(InvalidInput, match="a finite number of seconds"):
        askance.make("PAA-I", budget=PerPeriod(100, "1d")).run(
            X[:2], y[:2], times=np.array(["2026-01-01", "NaT"], "M8")
        )


@pytest.mark.parametrize("minutes", [0, 1, 10, 60])
def test_labels_are_bought_where_a_day_comes_in_one_batch(minutes, stream):
    X, y = stream
    times = np.concatenate([day * DAY + 43_200 + np.sort(np.linspace(0, 60 * minutes, 2000)) for day in range(10)])
    trace = askance.make("PAA-I", budget=PerPeriod(100, "1d"), random_state=0).run(X, y, times=times)
    spent = np.bincount((times // DAY).astype(int)[trace.asked], minlength=10)
    assert spent.max() <= 100
    assert spent[2:].min() >= 90


def test_times_at_the_ends_of_the_world_break_nothing(stream):
    X, y = stream
    times = np.linspace(-1e300, 1e300, len(y))
    trace = askance.make("PAA-I", budget=PerPeriod(5, "1d"), random_state=0).run(X, y, times=times)
    assert np.isfinite(trace.probability).all()


@pytest.mark.parametrize("name", RULES)
def test_no_answer_stands_for_more_events_than_the_rate_explains(name, stream):
    X, y = stream
    trace = askance.make(name, budget=Rate(0.02), random_state=1).run(X, y)
    total = (1.0 / trace.probability[trace.asked]).sum()
    assert total == pytest.approx(len(y), rel=0.5)
    assert np.quantile(trace.probability, 0.01) > 0.02 / 100


def test_a_refused_call_does_not_begin_a_classifier(stream):
    X, y = stream
    clf = askance.make("PAA-I", budget=PerPeriod(5, "1d"))
    with pytest.raises(InvalidInput, match="times for"):
        clf.run(X, y, times=[1.0, 2.0])
    assert not hasattr(clf, "classes_")


def test_another_rate_counts_from_the_change(stream):
    X, y = stream
    for first, second in ((None, Rate(0.02)), (Rate(0.3), Rate(0.02)), (Rate(0.01), Rate(0.2))):
        clf = askance.make("PAA-I", budget=first, random_state=0)
        clf.run(X[:5000], y[:5000])
        clf.set_params(budget=second)
        trace = clf.run(X[5000:], y[5000:])
        assert trace.asked.sum() == pytest.approx(second.r * len(trace.asked), rel=0.1)
        assert np.all(np.cumsum(trace.asked) <= allowed(second.r, len(trace.asked)))
        assert trace.probability.all()


def test_a_rate_that_gets_company_counts_on(stream):
    X, y = stream
    alone, joined = (askance.make("PAA-I", budget=Rate(0.05), random_state=0) for _ in range(2))
    for clf in (alone, joined):
        clf.run(X[:5000], y[:5000])
    joined.set_params(budget=Rate(0.05) & Fixed(10**6))
    rest = [int(clf.run(X[5000:], y[5000:]).asked.sum()) for clf in (alone, joined)]
    assert abs(rest[0] - rest[1]) <= 5  # no second head start


@pytest.mark.parametrize("name", ["PAA-I", "SOAL-diag", "RPA-I"])
def test_a_stream_that_begins_late_in_a_day_spreads_the_next_one(name, stream):
    X, y = stream
    times = 23 * 3600.0 + 60.0 * np.arange(60 + 1440)
    clf = askance.make(name, budget=PerPeriod(50, "1d"), random_state=0)
    asked = clf.run(X[: len(times)], y[: len(times)], times=times).asked
    by_hour = np.bincount((times[asked] // 3600).astype(int), minlength=48)[24:]
    assert by_hour.sum() >= 45
    assert by_hour.max() <= 10


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from([0.05, 1.0, 7.0, 3600.0, DAY / 3, DAY]),
    st.sampled_from([1e-3, 0.3, 40.0, 5000.0]), st.integers(1, 30), st.floats(-1e9, 2e9),
)  # fmt: skip
def test_no_period_gets_more_whatever_its_length_and_the_times(seed, period, step, most, start):
    rng = np.random.default_rng(seed)
    times = start + np.cumsum(rng.exponential(step, 400) * rng.choice([0.0, 1.0, 30.0], 400))
    X, y = a_stream(400, 5, seed)
    trace = askance.make("PAA-I", budget=PerPeriod(most, period), random_state=seed).run(X, y, times=times)
    _, spent = np.unique(np.floor(times / period)[trace.asked], return_counts=True)
    assert spent.max(initial=0) <= most


RULES_WITH_SCALES = [rule for name in queries.__all__ if getattr(rule := getattr(queries, name), "scales", 0)]


@pytest.mark.parametrize("rule", RULES_WITH_SCALES, ids=lambda rule: rule.__name__)
@settings(deadline=None)
@given(st.floats(-1e3, 1e3), st.floats(0.0, 10.0), st.floats(0.0, 100.0), st.floats(1e-6, 1e6))
def test_the_scales_of_a_rule_multiply_the_odds_of_asking(rule, margin, variance, length, factor):
    class Update(askance.rules.UpdateRule):
        eta, gamma, rho = 0.5, 2.0, 3.0

    parameters = rule().parameters(Update())
    before = rule.probability(parameters, margin, variance, length, Tally(7, 5, 3))
    parameters[: rule.scales] *= factor
    after = rule.probability(parameters, margin, variance, length, Tally(7, 5, 3))
    assert after == pytest.approx(factor * before / (1.0 - before + factor * before), rel=1e-9)


def odds_of_a_margin(parameters, margin, variance, squared_length, tally):
    return parameters[0] / (parameters[0] + abs(margin))


def test_a_rule_is_steered_alike_whether_it_says_what_its_scale_is_or_not(stream):
    @dataclass
    class Silent(QueryRule):
        delta: float = 1.0
        probability: ClassVar = staticmethod(odds_of_a_margin)

    X, y = stream
    prediction, unsaid = (
        askance.ActiveClassifier(query=query, budget=Rate(0.1), random_state=3).run(X, y)
        for query in (queries.Margin(delta=1.0), Silent(delta=1.0))
    )
    assert (prediction.asked == unsaid.asked).all()
    np.testing.assert_allclose(prediction.probability, unsaid.probability, rtol=1e-9)


def test_scales_of_any_size_can_be_steered(stream):
    X, y = stream
    for delta in (1e-320, 1e-200, 1e300):
        trace = askance.make("PAA-I", delta=delta, budget=Rate(0.1), random_state=0).run(X, y)
        assert np.isfinite(trace.probability).all()
        assert 0.0 < trace.asked.mean() <= 0.1


def labels_a_day(clf, X, y, times):
    trace = clf.run(X, y, times=times)
    return np.bincount((times // DAY).astype(int)[trace.asked], minlength=int(times[-1] // DAY) + 1)


def test_what_was_carried_over_is_gone_with_the_promise_to_carry(stream):
    X, y = stream
    days = np.linspace(0, 10 * DAY, len(y), endpoint=False)
    clf = askance.make("PAA-I", budget=PerPeriod(50, "1d", carry=True), random_state=0)
    labels_a_day(clf, X[:100], y[:100], days[:100])
    clf.set_params(budget=PerPeriod(50, "1d"))
    assert labels_a_day(clf, X, y, days + 7 * DAY)[7:].max() <= 50


@pytest.mark.parametrize("most", [PerPeriod(100, "1d"), PerPeriod(100, "1d", carry=True)])
@pytest.mark.parametrize("change", [lambda both: Fixed(10_000) & both, lambda both: both.second & both.first])
def test_of_two_promises_of_a_day_each_keeps_its_own_account_when_they_change(stream, most, change):
    X, y = stream
    minutes = np.arange(7 * 720) * 120.0
    minutes[3 * 720 :] += 3 * DAY  # for three days nothing comes
    both = PerPeriod(40, "1d", carry=True) & most
    spent = []
    for after in (both, change(both)):
        clf = askance.make("PAA-I", budget=both, random_state=0)
        early = slice(0, 3 * 720 + 20)
        first = clf.run(X[early], y[early], times=minutes[early]).asked
        clf.set_params(budget=after)
        late = slice(3 * 720 + 20, 7 * 720)
        asked = np.concatenate([first, clf.run(X[late], y[late], times=minutes[late]).asked])
        days = minutes // DAY
        assert (asked.cumsum() <= 40 * (days + 1)).all()
        spent.append(np.bincount(days[asked].astype(int), minlength=10))
    assert spent[0][6] >= 95
    assert abs(spent[0] - spent[1]).max() <= 5


def test_a_smaller_budget_that_carries_over_begins_without_debts(stream):
    X, y = stream
    days = np.linspace(0, 10 * DAY, len(y), endpoint=False)
    clf = askance.make("PAA-I", budget=PerPeriod(200, "1d", carry=True), random_state=0)
    labels_a_day(clf, X[:1900], y[:1900], days[:1900])
    clf.set_params(budget=PerPeriod(20, "1d", carry=True))
    spent = labels_a_day(clf, X[1900:], y[1900:], days[1900:])
    assert (spent[2:] >= 15).all()
    assert spent[1:].cumsum()[-1] <= 20 * 9


def test_a_budget_by_time_after_one_without_is_spread_as_a_new_one(stream):
    X, y = stream
    minutes = np.arange(6 * 1440) * 60.0
    clf = askance.make("PAA-I", budget=PerPeriod(100, "1d"), random_state=0)
    clf.run(X[:1440], y[:1440], times=minutes[:1440])
    clf.set_params(budget=Rate(0.05))
    clf.run(X[1440 : 5 * 1440], y[1440 : 5 * 1440])
    clf.set_params(budget=PerPeriod(100, "1d"))
    last = slice(5 * 1440, 6 * 1440)
    trace = clf.run(X[last], y[last], times=minutes[last])
    by_quarter = trace.asked.reshape(4, -1).sum(axis=1)
    assert by_quarter.max() < 50
    assert 50 < by_quarter.sum() <= 100


@pytest.mark.parametrize("name", ["SOAL", "SOAL-diag", "OA3-diag", "D-ADA"])
def test_even_days_are_spent_by_rules_that_ask_with_certainty(name):
    X, y = a_stream(40_000, 10, seed=1)
    days = np.linspace(0, 5 * DAY, len(y), endpoint=False)
    clf = askance.make(name, budget=PerPeriod(100, "1d"), random_state=1)
    spent = labels_a_day(clf, X, y, days)
    assert spent.max() <= 100
    assert spent.min() >= 90


def far_from_the_line(parameters, margin, variance, squared_length, tally):
    return 1.0 / (1.0 + parameters[0] * abs(margin))


def test_a_subclass_with_a_kernel_of_its_own_has_no_scale_unless_it_says_so(stream):
    @dataclass
    class Mine(queries.Margin):
        probability: ClassVar = staticmethod(far_from_the_line)

    @dataclass
    class Same(queries.Margin):
        pass

    X, y = stream
    assert (Mine.own_scales(), Same.own_scales(), queries.Margin.own_scales()) == (0, 1, 1)
    trace = askance.ActiveClassifier(query=Mine(), budget=Rate(0.05), random_state=0).run(X, y)
    assert np.median(abs(trace.margin[trace.asked])) < 0.5 * np.median(abs(trace.margin))


@pytest.mark.parametrize("wrong", [1.0, "1", -1, 2, True])
def test_a_number_of_scales_that_cannot_be_is_refused(wrong, stream):
    @dataclass
    class Mine(QueryRule):
        delta: float = 1.0
        probability: ClassVar = staticmethod(odds_of_a_margin)
        scales: ClassVar = wrong

    with pytest.raises(InvalidType, match="scales must be a whole number of parameters, from 0 to 1"):
        askance.ActiveClassifier(query=Mine()).run(*stream)
