"""Kinds of budgets as users write them: one declaration for the commands and for the service."""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from types import SimpleNamespace

import pytest

from askance.budgets import Both, Budget, Fixed, PerPeriod, PerPredictedClass, Rate, Unlimited
from askance.cli.run_options import add_algorithm, budget_of, name_timed_limits
from askance.errors import InvalidParameter
from askance.learner.auto import DecayingRate
from askance.learner.budget_kinds import BUDGET_KINDS, DAY, Limits, Span, count, per, read_limits
from askance_live.cli.init import example_budgets
from askance_live.clock import iso
from askance_live.config import AskingSettings, from_document
from askance_live.dashboard.counts import PeriodCounts
from askance_live.engine.exploration import budget_of as service_budget
from askance_live.engine.label_sets import LabelSetLearner
from askance_live.engine.learner import Incoming, Learner
from askance_live.engine.spending import spending

DOCS = Path(__file__).parents[4] / "docs"


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_algorithm(parser)
    return parser.parse_args(words)


@pytest.mark.parametrize("name", BUDGET_KINDS)
def test_a_kind_is_an_option_a_setting_and_documented(name: str) -> None:
    kind = BUDGET_KINDS[name]
    assert hasattr(options(), kind.destination)
    assert hasattr(AskingSettings(), name)
    assert f"| `{kind.option} {kind.metavar}` | `{name}` |" in (DOCS / "commands.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", BUDGET_KINDS)
@pytest.mark.parametrize("text", ["0", "1", "7", "0.25", "-3", "1.5", "20", "x", "nan", "", str(2**60)])
def test_the_command_line_and_the_settings_take_the_same_values(name: str, text: str) -> None:
    kind = BUDGET_KINDS[name]
    try:
        typed = int(text)
    except ValueError:
        try:
            typed = float(text)
        except ValueError:
            typed = text
    outcomes = []
    for read in (lambda: kind.parse(text), lambda: read_limits({name: typed}, "asking")[name]):
        try:
            outcomes.append(read())
        except ValueError:
            outcomes.append(ValueError)
    assert outcomes[0] == outcomes[1] or (kind.may_be_share and text == "0.25")


@pytest.mark.parametrize(
    ("words", "budget"),
    [
        ([], None),
        (["--budget", "500"], 500),
        (["--budget", "0.02"], 0.02),
        (["--rate", "0.02"], 0.02),
        (["--rate", "2%"], 0.02),
        (["--budget", "0.1%"], 0.001),
        (["--rate", "100%"], Rate(1.0)),
        (["--rate", "1"], Rate(1.0)),
        (["--rate", "0"], Fixed(0)),
        (["--per-hour", "5"], PerPeriod(5, "1h")),
        (["--per-day", "0"], Fixed(0)),
        (["--per-day", "5", "--budget", "50"], Both(Fixed(50), PerPeriod(5, "1d"))),
        (["--rate", "0.1", "--budget", "50"], Both(Fixed(50), Rate(0.1))),
        (["--per-class", "7"], PerPredictedClass(7)),
        (["--per-class", "0"], Fixed(0)),
        (["--per-class", "7", "--rate", "0.1"], Both(Rate(0.1), PerPredictedClass(7))),
        (["--budget", "0.1", "--per-day", "9"], Both(Rate(0.1), PerPeriod(9, "1d"))),
    ],
)
def test_options_mean_a_budget(words: list[str], budget: object) -> None:
    assert budget_of(options(*words)) == budget


def test_two_rates_are_refused() -> None:
    with pytest.raises(ValueError, match=r"--budget 0.1 means --rate 0.1; leave one of the two out"):
        budget_of(options("--budget", "0.1", "--rate", "0.2"))


def test_settings_are_checked_by_name() -> None:
    with pytest.raises(ValueError, match=r"asking.rate must be a share of the events, from 0 to 1, got 2"):
        read_limits({"rate": 2}, "asking")
    with pytest.raises(ValueError, match=r"asking.total must be a whole number, 0 or more, got 0.02"):
        read_limits({"total": 0.02}, "asking")
    with pytest.raises(ValueError, match=r"asking.per_day must be a whole number from 0 to 9007199254740992"):
        read_limits({"per_day": 2**60}, "asking")
    assert read_limits({"rate": 1, "per_hour": 3}, "asking") == {"rate": 1.0, "per_hour": 3}


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        (Unlimited(), "no limit"),
        (Fixed(1500), "at most 1,500 labels"),
        (DecayingRate(20), "at most 20 labels"),
        (Rate(0.02), "about 2% of the events, at most 10 labels ahead at the start"),
        (Rate(0.5, burst=0), "about 50% of the events"),
        (PerPeriod(5, "1h"), "at most 5 labels an hour"),
        (PerPeriod(5, "2w"), "at most 5 labels every 2w"),
        (PerPredictedClass(5000), "at most 5,000 labels of each predicted class"),
        (Fixed(9) & PerPeriod(5), "at most 9 labels and at most 5 labels a day"),
    ],
)
def test_a_budget_describes_itself(budget: Budget, words: str) -> None:
    assert budget.describe() == words


def test_no_limit_is_no_budget() -> None:
    assert Limits().budget() is None
    assert Limits().budgets() == {}


# --- a kind more -------------------------------------------------------------------------------------------------


def at_most_every(n: int) -> Budget:
    """At most one label for every n events: no more than t / n after t events."""
    return Rate(1.0 / n, burst=0.0)


WEEK = 7 * DAY
EVERY = count("--every", "at most one label for every N events", at_most_every, "20  # for example")
PER_WEEK = per("--per-week", "at most N labels a week", Span("week", "this week", "1w", WEEK), "900  # for example")


def help_text() -> str:
    parser = argparse.ArgumentParser()
    add_algorithm(parser)
    return parser.format_help()


@pytest.fixture
def more_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUDGET_KINDS, "every", EVERY)
    monkeypatch.setitem(BUDGET_KINDS, "per_week", PER_WEEK)


@pytest.mark.usefixtures("more_kinds")
def test_a_kind_that_is_declared_is_an_option_of_every_command() -> None:
    assert budget_of(options("--every", "20")) == Rate(0.05, burst=0.0)
    assert budget_of(options("--budget", "50", "--per-week", "9")) == Both(Fixed(50), PerPeriod(9, "1w"))
    assert name_timed_limits(options("--per-week", "9", "--every", "2")) == "--per-week"
    assert "at most one label for every N events" in help_text()


@pytest.mark.usefixtures("more_kinds")
def test_a_kind_that_is_declared_is_a_setting_of_the_service(tmp_path: Path) -> None:
    assert "# every = 20          # for example" in list(example_budgets())
    config = from_document({"classes": ["ham", "spam"], "asking": {"every": 20, "rate": 1}}, tmp_path)
    assert service_budget(config.asking) == Rate(0.05, burst=0.0)
    assert AskingSettings.from_document(config.asking.document()) == config.asking
    with pytest.raises(ValueError, match=r"asking.every must be a whole number, 0 or more, got 0.5"):
        from_document({"classes": ["ham", "spam"], "asking": {"every": 0.5}}, tmp_path)


@pytest.mark.usefixtures("more_kinds")
def test_a_kind_by_time_that_is_declared_is_counted_and_shown(tmp_path: Path) -> None:
    """Two labels a week, in a service without its store."""
    config = from_document(
        {"classes": ["ham", "spam"], "model": {"algorithm": "PAA-I"}, "asking": {"per_week": 2, "rate": 1}}, tmp_path
    )
    learner, counts, numbers = Learner(config.model, config.asking), PeriodCounts(), itertools.count()

    def events(*days: float) -> None:
        for day in days:
            now = 2000 * WEEK + day * DAY
            [decided] = learner.decide([Incoming({"text": "spam"}, now)], next(numbers))
            counts.count(int(now // 60), "asks", int(decided.asked))

    events(0.1, 1.1, 2.1, 3.1, 4.1)
    found = spending(SimpleNamespace(config=config, learner=learner, period_counts=counts), 2000 * WEEK + 5 * DAY)
    assert found["week"] == {"spent": 2, "limit": 2}
    assert found["spans"] == {"this hour": "hour", "today": "day", "this week": "week", "in total": "total"}
    assert found["next_at"] == iso(2001 * WEEK)
    events(2.6)  # the clock was set back, to a day of the same week
    assert learner.clf.labels_asked_ == 2
    events(7.1)
    assert learner.clf.labels_asked_ == 3


@pytest.mark.parametrize("algorithm", ["auto", "PAA-I"])
def test_the_service_limits_the_questions_of_each_predicted_class_and_reports_them(
    algorithm: str, tmp_path: Path
) -> None:
    config = from_document(
        {
            "classes": ["ham", "spam", "work"],
            "model": {"algorithm": algorithm},
            "asking": {"per_class": 3, "rate": 1, "audit": 0.5},
        },
        tmp_path,
    )
    assert service_budget(config.asking) == PerPredictedClass(3)
    learner, counts = Learner(config.model, config.asking), PeriodCounts()
    state = SimpleNamespace(config=config, learner=learner, period_counts=counts)
    assert spending(state, DAY)["by_class"] == {key: {"spent": 0, "limit": 3} for key in config.model.classes}
    asked = [0, 0, 0]
    for seq in range(60):
        word = ["free money", "lunch at noon", "the report"][seq % 3]
        [decided] = learner.decide([Incoming({"text": word}, DAY + seq)], seq)
        asked[decided.predicted] += decided.asked
    found = spending(state, DAY + 60)
    assert [part["spent"] for part in found["by_class"].values()] == asked
    assert max(asked) == 3
    assert found["exhausted"] == (asked == [3, 3, 3])
    assert found["next_at"] is None


def test_label_sets_of_the_service_refuse_a_limit_by_class(tmp_path: Path) -> None:
    document = {"classes": ["a", "b"], "label_sets": True, "asking": {"per_class": 3}}
    config = from_document(document, tmp_path)
    with pytest.raises(InvalidParameter, match="limit the answers by a number, a share or a number a period"):
        LabelSetLearner(config.model, config.asking)
