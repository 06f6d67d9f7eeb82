"""A machine's clock that is wrong, and set right: times become right, nothing ends early, nothing hangs."""

import random
import time
from collections import Counter
from datetime import datetime

import pytest
from tests.live.in_process import create_store, label, opened, running_engine, send
from tests.patience import PATIENCE, wait_until

from askance_live.access import keys as keys_module
from askance_live.access.auth import SESSION_SECONDS, create_token
from askance_live.access.keys import Keys
from askance_live.clock import Clock
from askance_live.config import AskingSettings, ModelSettings
from askance_live.dashboard.stats import series
from askance_live.doctor import examine_rest, examine_store
from askance_live.engine.learner import Incoming, Learner
from askance_live.questions import queue

DAY, YEAR = 86_400.0, 365.25 * 86_400.0


class Wall:
    """The machine's clock, wrong by ``off`` seconds."""

    def __init__(self, off=0.0):
        self.off = off

    def __call__(self):
        return time.time() + self.off


def is_now(seconds, off=0.0):
    return abs(seconds - time.time() - off) < PATIENCE  # far less than the clock is wrong


def stored(engine, sql, *values):
    with engine.database.read() as session:
        return session.value(sql, values)


RECEIVED = "SELECT received FROM events WHERE id = ?"


@pytest.mark.parametrize("off", [4 * YEAR, -4 * YEAR, 3600.0, -3600.0])
def test_times_are_right_again_within_the_process_and_after_a_restart(tmp_path, store, off):
    config, wall = create_store(tmp_path, store), Wall(off)
    with running_engine(config, Clock(wall)) as engine:
        send(engine, "wrong")
        assert is_now(stored(engine, RECEIVED, "wrong"), off)
        wall.off = 0.0
        send(engine, "right")
        assert is_now(stored(engine, RECEIVED, "right"))
        assert is_now(engine.clock.now())
        wall.off = off
        send(engine, "wrong again")
        assert is_now(stored(engine, RECEIVED, "wrong again"), off)
    with running_engine(config) as engine:
        send(engine, "after")
        assert is_now(stored(engine, RECEIVED, "after"))
        order = "SELECT seq FROM events WHERE id = ?"
        assert stored(engine, order, "wrong again") < stored(engine, order, "after")


def test_the_start_and_doctor_say_by_how_much_the_newest_stored_time_is_ahead(tmp_path, store, caplog):
    config = create_store(tmp_path, store)
    with running_engine(config, Clock(Wall(3 * DAY))) as engine:
        send(engine, "a")
    assert not caplog.text
    with opened(config) as database:
        assert examine_store(database, config) == []
        (sentence,) = examine_rest(database, config)
    assert "lies 3 days ahead of this machine's clock" in sentence
    with running_engine(config):
        pass
    assert "3 days ahead of this machine's clock" in caplog.text


def test_the_log_says_when_the_clock_was_set_while_the_service_runs(tmp_path, caplog):
    wall = Wall()
    with running_engine(create_store(tmp_path), Clock(wall)) as engine:
        wall.off = 3 * DAY
        wait_until(lambda: "clock was set forward by 3 days" in caplog.text)
        wall.off = 0.0
        wait_until(lambda: "clock was set back by 3 days" in caplog.text)
        assert is_now(engine.clock.now())


def test_a_token_that_expired_by_the_wrong_clock_alone_is_valid_again(tmp_path, store):
    config, wall = create_store(tmp_path, store), Wall()
    with opened(config) as database, database.write() as session:
        _, secret = create_token(session, "ana", ["label"], time.time(), DAY)
    with running_engine(config, Clock(wall)) as engine:
        keys = Keys(engine.database, engine.clock)
        keys.refresh()
        assert keys.bearer(secret)
        wall.off = YEAR
        wait_until(lambda: keys.bearer(secret) is None)
        wall.off = 0.0
        wait_until(lambda: keys.bearer(secret) is not None)
    with running_engine(config, Clock(Wall(YEAR))) as engine:
        keys = Keys(engine.database, engine.clock)
        keys.refresh()
        assert keys.bearer(secret) is None
    with running_engine(config) as engine:
        keys = Keys(engine.database, engine.clock)
        keys.refresh()
        assert keys.bearer(secret)


def log_in(engine, keys, secret):
    token = keys.bearer(secret)
    return engine.submit(lambda session, state: keys.begin_session(session, token, "127.0.0.1")).result(PATIENCE)


def new_token(engine, name, lasts):
    def create(session, state):
        return create_token(session, name, ["label"], state.clock.now(), lasts)

    return engine.submit(create).result(PATIENCE)


@pytest.mark.parametrize("way", ["within the process", "after a restart"])
def test_a_clock_that_was_ahead_ends_no_session_and_prolongs_nothing(tmp_path, store, way):
    config, wall = create_store(tmp_path, store), Wall()
    with running_engine(config, Clock(wall)) as engine:
        keys = Keys(engine.database, engine.clock)
        _, secret = new_token(engine, "ana", None)
        keys.refresh()
        early = log_in(engine, keys, secret)
        wall.off = YEAR
        send(engine, "ahead")
        late = log_in(engine, keys, secret)
        _, hour = new_token(engine, "short", 3600.0)
        keys.refresh()
        assert keys.session(early) is None
        assert keys.session(late)
        assert keys.bearer(hour)
        if way == "within the process":
            wall.off = 0.0
            send(engine, "right")
            check_lifetimes(engine, early, late, hour)
    if way == "after a restart":
        with running_engine(config) as engine:
            check_lifetimes(engine, early, late, hour)


def check_lifetimes(engine, early, late, hour):
    keys = Keys(engine.database, engine.clock)
    keys.refresh()
    assert keys.session(early)
    assert keys.session(late)
    assert keys.bearer(hour)
    latest = stored(engine, "SELECT max(expires) FROM sessions") - SESSION_SECONDS
    assert is_now(latest)
    assert is_now(stored(engine, "SELECT max(expires) FROM tokens") - 3600.0)
    assert stored(engine, "SELECT count(*) FROM tokens WHERE expires IS NULL") == 1
    assert stored(engine, "SELECT max(created) FROM tokens") <= engine.clock.now()


def test_a_token_made_by_a_command_while_the_clock_was_ahead_lasts_as_long_as_it_should(tmp_path, store):
    config = create_store(tmp_path, store)
    with opened(config) as database, database.write() as session:
        create_token(session, "ana", ["label"], time.time() + YEAR, DAY)
        create_token(session, "ben", ["label"], time.time() - 3600.0, DAY)
    with running_engine(config) as engine:
        assert is_now(stored(engine, "SELECT expires FROM tokens WHERE name = 'ana'") - DAY)
        assert is_now(stored(engine, "SELECT expires FROM tokens WHERE name = 'ben'") - DAY + 3600.0)


def test_sessions_that_expired_are_kept_up_to_a_number(tmp_path, store, monkeypatch):
    monkeypatch.setattr(keys_module, "EXPIRED_KEPT", 3)
    with running_engine(create_store(tmp_path, store)) as engine:
        keys = Keys(engine.database, engine.clock)
        _, secret = new_token(engine, "ana", None)
        keys.refresh()

        def expire(session, state):
            for number in range(10):
                values = (bytes([number]) * 32, "x", 0.0, 1000.0 + number)
                session.execute("INSERT INTO sessions (digest, token, created, expires) VALUES (?, ?, ?, ?)", values)

        engine.submit(expire).result(PATIENCE)
        valid = [log_in(engine, keys, secret) for _ in range(5)]
        assert stored(engine, "SELECT count(*) FROM sessions") == 3 + 5
        assert stored(engine, "SELECT min(expires) FROM sessions") == 1007.0
        assert all(keys.session(found) for found in valid)


def take(engine, n=1):
    return engine.submit(lambda session, state: queue.next_asks(session, state, "ana", n, frozenset())).result(PATIENCE)


def test_a_lease_lasts_as_long_as_it_should_however_the_clock_is_set(tmp_path, store):
    config, wall = create_store(tmp_path, store, asking={"rate": 1.0}, queue={"lease": 600.0}), Wall()
    with running_engine(config, Clock(wall)) as engine:
        send(engine, "a")
        ((ask,), _) = take(engine)
        for off in (YEAR, -YEAR, 3 * DAY, 0.0):
            wall.off = off
            send(engine, f"at {off}")
            state, left = "SELECT state FROM asks WHERE id = ?", "SELECT deadline FROM asks WHERE id = ?"
            assert stored(engine, state, ask["id"]) == "leased"
            assert 600.0 - PATIENCE < stored(engine, left, ask["id"]) - engine.clock.now() <= 600.0


@pytest.mark.parametrize("way", ["within the process", "after a restart"])
def test_nothing_that_was_stored_ahead_of_time_hangs(tmp_path, store, way):
    config = create_store(tmp_path, store, asking={"rate": 1.0}, queue={"learn_after": 1.0, "lease": 2.0})
    wall = Wall(4 * YEAR)
    with running_engine(config, Clock(wall)) as engine:
        send(engine, "a", "b", "c")
        ((ask,), _) = take(engine)
        label(engine, next(name for name in "abc" if name != ask["event"]["id"]), 0)
        if way == "within the process":
            wall.off = 0.0
            wait_until(lambda: engine.state.learned == 1)
            wait_until(lambda: stored(engine, "SELECT state FROM asks WHERE id = ?", ask["id"]) == "open")
    if way == "after a restart":
        with running_engine(config) as engine:
            wait_until(lambda: engine.state.learned == 1)
            wait_until(lambda: stored(engine, "SELECT state FROM asks WHERE id = ?", ask["id"]) == "open")


def test_questions_given_up_only_by_the_wrong_clock_are_open_again(tmp_path, store):
    config = create_store(tmp_path, store, asking={"rate": 1.0})
    with running_engine(config) as engine:
        asked = sum(item["asked"] for item in send(engine, "a", "b", "c"))
        assert asked
    with running_engine(config, Clock(Wall(YEAR))) as engine:
        wait_until(lambda: stored(engine, "SELECT count(*) FROM asks WHERE state = 'expired'") == asked)
    with running_engine(config) as engine:
        assert stored(engine, "SELECT count(*) FROM asks WHERE state = 'open'") == asked
        assert engine.state.totals["expired"] == 0
    with opened(config) as database:
        assert examine_store(database, config) == []


def test_new_questions_are_not_behind_those_of_a_clock_that_was_ahead(tmp_path, store):
    config, wall = create_store(tmp_path, store, asking={"rate": 1.0}), Wall(YEAR)
    with running_engine(config, Clock(wall)) as engine:
        send(engine, "ahead")
        wall.off = 0.0
        send(engine, "now")
        top = stored(engine, "SELECT max(rank) FROM asks")
        assert top <= engine.clock.now() / config.queue.freshness


def test_what_is_counted_by_the_minute_and_the_day_follows_the_clock(tmp_path, store):
    config, wall = create_store(tmp_path, store, asking={"rate": 1.0}), Wall()
    with running_engine(config, Clock(wall)) as engine:
        sent = Counter()
        for number, off in enumerate([0.0, 5 * YEAR, 0.0, DAY, 0.0, DAY]):
            wall.off = off
            send(engine, *(f"e{number}-{k}" for k in range(number + 1)))
            sent[off] += number + 1
            assert engine.state.period_counts.number("events", int(DAY), engine.clock.now()) == sent[off]
        wall.off = 0.0
        send(engine, "last")
        with engine.database.read() as session:
            shown = series(session, _Shown(engine), 60, 60)
        assert sum(point["events"] for point in shown["points"]) == sent[0.0] + 1
        assert engine.state.totals["events"] == sent.total() + 1
    with running_engine(config) as engine:
        assert engine.state.period_counts.number("events", int(DAY), engine.clock.now()) == sent[0.0] + 1


class _Shown:
    """As much of a service as a chart needs."""

    def __init__(self, engine):
        self.engine, self.clock = engine, engine.clock


# --- budgets by time -------------------------------------------------------------------------------------


def decide(learner, times, after=0):
    """Which of some events are asked about, one call for each; so many came before."""
    events = [Incoming({"size": float(number % 7)}, moment) for number, moment in enumerate(times, after)]
    return [learner.decide([event], number)[0].asked for number, event in enumerate(events, after)]


def budgeted(**limits):
    return Learner(ModelSettings(["ham", "spam"], algorithm="PAA-I"), AskingSettings(rate=1.0, audit=0.0, **limits))


MONDAY = 20_000 * DAY + 3600.0


def test_a_budget_by_the_day_goes_on_after_the_clock_was_ahead():
    learner = budgeted(per_day=10)
    ahead = decide(learner, [MONDAY + 900 * DAY + 60.0 * k for k in range(600)])
    assert sum(ahead) == 10
    back = decide(learner, [MONDAY + 60.0 * k for k in range(1300)], 600)
    assert sum(back) == 10
    following = decide(learner, [MONDAY + DAY + 60.0 * k for k in range(1300)], 1900)
    assert sum(following) == 10


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("period", ["per_hour", "per_day"])
def test_no_hour_and_no_day_is_given_more_than_its_number_however_the_clock_is_set(seed, period):
    rng, length = random.Random(seed), DAY if period == "per_day" else 3600.0
    learner, spent = budgeted(**{period: 7}), Counter()
    moment = MONDAY
    for turn in range(60):
        moment += rng.choice([0.0, 0.0, length, -length, 3 * length, -3 * length, 0.4 * length, -0.4 * length, -2.0])
        times = [moment + 0.3 * length * k / 40 for k in range(40)]
        moment = times[-1]
        for when, asked in zip(times, decide(learner, times, 40 * turn), strict=True):
            spent[when // length] += asked
    assert max(spent.values()) <= 7
    assert sum(spent.values()) > 7 * len(spent) / 2


def test_a_model_that_was_stored_while_the_clock_was_wrong_goes_on_as_if_it_had_not_been():
    times = [MONDAY + 60.0 * k for k in range(50)] + [MONDAY + 9 * DAY + k for k in range(50)]
    times += [MONDAY + 3600.0 + 60.0 * k for k in range(300)]
    whole = budgeted(per_day=10, per_hour=4)
    asked = decide(whole, times)
    for cut in (49, 50, 75, 100, 101, 200):
        part = budgeted(per_day=10, per_hour=4)
        first = decide(part, times[:cut])
        again = Learner.load(part.dump(), part.model)
        assert first + decide(again, times[cut:], cut) == asked
        assert again.digest() == whole.digest()


def test_a_clock_that_never_goes_back_changes_no_decision():
    """Hours and days that follow one another are left to the budget itself."""
    learner = budgeted(per_day=10, per_hour=4)
    moved = []
    learner.clf._move_time = lambda *given: moved.append(given)
    decide(learner, [MONDAY + 600.0 * k for k in range(1000)])
    assert not moved


# --- the whole service -------------------------------------------------------------------------------------


def test_a_service_whose_clock_is_set_right_shows_right_times(make):
    service = make()
    service.stop()
    service.set_clock(4 * YEAR)
    service.start()
    service.send("ahead")

    def shown():
        return datetime.fromisoformat(service.stats()["time"]).timestamp()

    assert is_now(shown(), 4 * YEAR)
    service.set_clock(0.0)
    wait_until(lambda: is_now(shown()))
    service.send("right")
    received = service.get("/v1/events/right").json()["received"]
    assert is_now(datetime.fromisoformat(received).timestamp())
    service.restart()
    assert is_now(shown())
    service.stop()
    done = service.run("doctor", check=False)
    assert (done.returncode, "ahead of this machine's clock" in done.stdout) == (2, True)
    assert "4 years" in done.stdout
    service.digest()
