"""Values of another type in a SQLite store, which takes anything: what is counted heals, what is the log is named."""

import shutil
import time

import pytest
from tests.live.in_process import create_store, label, opened, running_engine, send
from tests.patience import PATIENCE

from askance_live.access.auth import create_token
from askance_live.access.keys import Keys
from askance_live.clock import Clock
from askance_live.config import load
from askance_live.doctor import examine_store
from askance_live.problems import StartError
from askance_live.store.database import StoreError

pytestmark = pytest.mark.hostile


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a store that has a log and no checkpoint, and what is counted in it."""
    folder = tmp_path_factory.mktemp("types")
    config = create_store(folder, model={"algorithm": "SOAL-diag"}, asking={"rate": 1.0})
    with running_engine(config) as engine:
        send(engine, *(f"e{number}" for number in range(10)))
        label(engine, "e1", 1)
        totals = engine.state.totals
    with opened(config) as database, database.write() as session:
        create_token(session, "ana", ["label"], time.time(), None)
        session.execute("DELETE FROM checkpoints")
    return folder, {**totals, "learned": 1}


@pytest.fixture
def config(made, tmp_path):
    for name in ("askance.toml", "askance.db"):
        shutil.copy(made[0] / name, tmp_path / name)
    return load(tmp_path / "askance.toml", str(tmp_path / "askance.db"))


def change(config, sql):
    with opened(config) as database, database.write() as session:
        assert session.execute(sql)


@pytest.mark.parametrize("value", ["'{'", "'[1]'", "5", "x'00ff'", '\'{"events": "many"}\'', "'{\"predicted\": [1]}'"])
def test_damaged_counts_of_all_time_are_added_up_again(made, config, value):
    change(config, f"UPDATE meta SET value = {value} WHERE name = 'totals'")
    with running_engine(config) as engine:
        assert engine.state.totals == {**made[1], "open": engine.state.totals["open"]}
        send(engine, "another")


@pytest.mark.parametrize("value", ["'{'", "5", "x'00ff'"])
def test_damaged_counts_of_a_minute_are_left_out(config, value):
    change(config, f"UPDATE minutes SET document = {value}")
    with running_engine(config) as engine:
        assert engine.state.totals["events"] == 10
        send(engine, "another")


@pytest.mark.parametrize("name", ["clock", "group"])
@pytest.mark.parametrize("value", ["'soon'", "'nan'", "x'00'", "''"])
def test_a_damaged_number_of_the_services_own_is_left_out(config, name, value):
    change(config, f"UPDATE meta SET value = {value} WHERE name = '{name}'")
    with running_engine(config) as engine:
        send(engine, "another")
        assert abs(engine.clock.now() - time.time()) < PATIENCE


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("UPDATE events SET fields = 'no JSON' WHERE seq = 5", "event at 5"),
        ("UPDATE events SET fields = '[1, 2]' WHERE seq = 5", "event at 5"),
        ("UPDATE events SET fields = 7 WHERE seq = 5", "event at 5"),
        ("UPDATE events SET received = 'soon' WHERE seq = 5", "event at 5"),
        ("UPDATE events SET asked = 'yes' WHERE seq = 5", "event at 5"),
        ("UPDATE events SET scores = 'x' WHERE id = 'e1'", "answer at"),
        ("UPDATE learned SET weight = 'heavy'", "answer at"),
        ("UPDATE settings SET document = '{'", "setting at 1"),
        ("UPDATE settings SET document = x'00'", "setting at 1"),
    ],
)
def test_a_damaged_entry_of_the_log_is_named_with_the_remedy(config, sql, what):
    change(config, sql)
    with (
        pytest.raises(StoreError, match=f"the {what}.* of the log cannot be read .*; restore a backup"),
        running_engine(config),
    ):
        pass


@pytest.mark.parametrize("value", ["'{'", "5", "x'00'", "'{}'"])
def test_damaged_settings_of_the_model_are_named_with_the_remedy(config, value):
    change(config, f"UPDATE meta SET value = {value} WHERE name = 'model'")
    with pytest.raises(StartError, match="settings of the model"), running_engine(config):
        pass


@pytest.mark.parametrize("column", ["digest", "scopes", "created", "expires", "revoked"])
def test_a_damaged_token_opens_nothing_and_breaks_nothing(config, column):
    change(config, f"UPDATE tokens SET {column} = {'7' if column in ('digest', 'scopes') else chr(39) + 'x' + chr(39)}")
    with opened(config) as database:
        keys = Keys(database, Clock())
        keys.refresh()
        assert keys.bearer("anything") is None
        assert keys.exist  # else whoever is on this machine could do everything


@pytest.mark.parametrize(
    ("sql", "column"),
    [
        ("UPDATE events SET received = 'soon' WHERE seq = 5", "1 values in the column received of the table events"),
        ("UPDATE asks SET rank = x'00' WHERE id = 1", "1 values in the column rank of the table asks"),
        ("UPDATE tallies SET n = 'many' WHERE kind = 'labels'", "1 values in the column n of the table tallies"),
        ("UPDATE tokens SET digest = 'text'", "1 values in the column digest of the table tokens"),
    ],
)
def test_doctor_names_columns_with_values_of_another_type(config, sql, column):
    with opened(config) as database:
        assert examine_store(database, config) == []
    change(config, sql)
    with opened(config) as database:
        assert f"{column} are of another type; restore a backup." in examine_store(database, config)
