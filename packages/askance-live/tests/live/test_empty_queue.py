"""An empty queue says why it is empty and until when; what /metrics says of all this."""

import re
import time
from datetime import datetime
from types import SimpleNamespace

import pytest
from tests.live.running import to_half_past
from tests.patience import PATIENCE, wait_until

from askance_live.config import AskingSettings, ModelSettings
from askance_live.dashboard.counts import PeriodCounts
from askance_live.engine.learner import Incoming, Learner
from askance_live.engine.spending import spending


def label_all(service):
    """Answer every question there is; the response when there is none left."""
    while True:
        asks = service.next(10)
        for ask in asks:
            service.answer(ask, "spam" if ask["id"] % 3 else "ham")
        service.wait_until_idle()
        if not asks:
            return service.post("/v1/asks/next")


def gauges(service):
    """The lines of /metrics, by name and labels."""
    lines = service.get("/metrics").text.splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_a_budget_spread_over_the_day_is_no_silence(make, rate):
    clock = to_half_past(12)
    service = make(asking={"rate": rate, "per_day": 100}, model={"algorithm": "PAA-I"}, clock=clock)
    before = time.time() + clock
    for start in range(0, 1000, 250):
        service.send(*(f"e{k}" for k in range(start, start + 250)))
        empty = label_all(service)
    spent = service.stats()["budget"]["day"]["spent"]
    assert 0 < spent < 100  # much is left, and held back
    assert empty.status_code == 204
    assert empty.headers["x-askance-reason"] == "budget_paced"
    detail = empty.headers["x-askance-detail"]
    assert f"{spent} of 100 questions were asked today; the rest is spread over the day" in detail
    due = datetime.fromisoformat(re.search(r"by about (\S+Z)\.", detail).group(1)).timestamp()
    left = 86400 - before % 86400
    assert before < due <= before + left / (100 - spent) + PATIENCE
    pace = service.stats()["budget"]["pace"]
    assert (pace["period"], pace["detail"]) == ("day", detail)
    assert pace["seconds"] == pytest.approx(left / (100 - spent), rel=0.2)


@pytest.mark.parametrize(("rate", "apart", "per_day", "held"), [
    (1.0, 600.0, 1000, False),  # fewer events than questions
    (1.0, 6.0, 1000, True),
    (0.05, 6.0, 1000, False),  # the share of the events is the smaller one
    (0.5, 6.0, 1000, True),
    (1.0, 6.0, None, False),
])  # fmt: skip
def test_only_what_a_day_holds_back_is_said_to_be_spread(rate, apart, per_day, held):
    asking = AskingSettings(rate=rate, per_day=per_day)
    config = SimpleNamespace(model=ModelSettings(classes=["ham", "spam"], algorithm="PAA-I"), asking=asking)
    learner, recent, asked = Learner(config.model, config.asking), PeriodCounts(), 0
    now = 20_000 * 86400.0
    for k in range(60):
        now += apart
        decided = learner.decide([Incoming({"text": f"hello {k}"}, now)], k)[0]
        asked += decided.asked
        recent.count(int(now // 60), "asks", int(decided.asked))
    state = SimpleNamespace(config=config, learner=learner, period_counts=recent)
    pace = spending(state, now)["pace"]
    assert (pace is not None) == held
    assert spending(state, now + 86400)["pace"] is None  # another day, of which nothing is known
    if held:
        assert pace["detail"].startswith(
            f"{asked} of 1,000 questions were asked today; the rest is spread over the day"
        )


def test_what_was_put_off_comes_back_to_me_and_when(make):
    service = make(asking={"rate": 1.0}, queue={"later": 600.0})
    service.send("a", "b")
    first, second = service.next(2)
    before = time.time()
    for ask in (first, second):
        service.post(f"/v1/asks/{ask['id']}/skip", {"token": ask["token"], "reason": "later"})
    empty = service.post("/v1/asks/next")
    assert empty.headers["x-askance-reason"] == "all_skipped"
    detail = empty.headers["x-askance-detail"]
    assert "others" not in detail
    back = datetime.fromisoformat(re.search(r"the first comes back to you at (\S+Z)\.", detail).group(1)).timestamp()
    assert before + 599 < back < time.time() + 601
    service.send("c")
    (third,) = service.next()
    service.post(f"/v1/asks/{third['id']}/skip", {"token": third["token"], "reason": "unsure"})
    detail = service.post("/v1/asks/next").headers["x-askance-detail"]
    assert detail.startswith("You put off some questions, and the others wait for other people; the first comes back")


def test_expired_questions_are_not_called_answered(make):
    service = make(asking={"rate": 1.0}, queue={"time_to_live": 0.5})
    service.send("a", "b", "c")
    wait_until(lambda: service.stats()["queue"]["expired"] == 3, "the end of three questions")
    detail = service.post("/v1/asks/next").headers["x-askance-detail"]
    assert detail == "No question is open (3 expired without an answer); the next uncertain event becomes one."


def test_metrics_carry_what_the_dashboard_shows(make):
    service = make(asking={"rate": 1.0, "per_hour": 1_000_000, "audit": 0.5}, clock=to_half_past())
    empty = gauges(service)
    assert empty['askance_queue{state="open"}'] == 0
    assert 'askance_accuracy{estimate="value"}' not in empty  # nobody knows
    assert empty['askance_drift{level="unknown"}'] == 1
    service.send(*(f"e{k}" for k in range(60)))
    label_all(service)
    service.send(*(f"f{k}" for k in range(60)))
    label_all(service)
    service.send(*(f"g{k}" for k in range(60)))
    assert len(service.next(2)) == 2

    def at_once():
        """Numbers and gauges between which no estimate was made, which happens every second."""
        first, shown, second = service.stats(), gauges(service), service.stats()
        return first["accuracy"]["headline"]["n"] and first["accuracy"] == second["accuracy"] and (first, shown)

    stats, shown = wait_until(at_once, "an estimate")
    for name in ("open", "leased", "parked"):
        assert shown[f'askance_queue{{state="{name}"}}'] == stats["queue"][name]
    assert stats["queue"]["leased"] == 2
    assert shown["askance_oldest_question_seconds"] == pytest.approx(stats["queue"]["oldest_seconds"], abs=PATIENCE)
    headline = stats["accuracy"]["headline"]
    assert shown["askance_accuracy_answers"] == headline["n"] > 0
    for name, key in (("value", "estimate"), ("low", "low"), ("high", "high")):
        assert shown[f'askance_accuracy{{estimate="{name}"}}'] == headline[key]
    assert shown["askance_accuracy_baseline"] == headline["baseline"]["estimate"]
    assert shown['askance_budget_spent{period="hour"}'] == stats["budget"]["hour"]["spent"] > 0
    assert shown['askance_budget_limit{period="hour"}'] == 1_000_000
    assert 'askance_budget_limit{period="day"}' not in shown  # there is none
    assert shown["askance_budget_exhausted"] == 0
    assert shown['askance_label_delay_seconds{quantile="0.9"}'] == stats["labels"]["delay_seconds"]["p90"]
    assert shown["askance_people_active"] == sum(person["last_hour"] > 0 for person in stats["people"]) > 0
    assert not any(person["name"] in key for person in stats["people"] for key in shown)


def test_a_line_of_the_history_is_written_like_json(make):
    service = make(asking={"rate": 1.0})
    fields = {"text": "", "size": None, "on": False, "list": [], "id": 1234567890123456788}
    service.post("/v1/events", {"id": "a", "fields": fields})
    (ask,) = service.next()
    service.answer(ask, "ham")
    summary = service.get("/v1/answers").json()["answers"][0]["summary"]
    assert summary == "text: (empty), size: null, on: false, list: [], id: 1234567890123456788"
