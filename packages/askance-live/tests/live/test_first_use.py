"""The first minutes: settings written by hand or changed before anything came in."""

import sqlite3

import pytest

from askance_live.store import describe_store, open_store


def edited(service, old, new):
    service.config.write_text(service.config.read_text().replace(old, new, 1))


def test_a_store_without_events_takes_changed_settings_even_classes(make, store):
    service = make(store=store)
    service.stop()
    edited(service, 'size = "number"', 'size = "ignore"')
    edited(service, "[model]", "[model]\nseed = 7")
    edited(service, '["ham", "spam"]', '["ham", "spam", "eggs"]')
    assert service.run("doctor", "--deep").stdout.endswith("All is well.\n")
    service.start()
    service.send("a")
    assert service.post("/v1/labels", {"event": "a", "label": "eggs"}).json()["outcome"] == "accepted"
    service.wait_until_learned(1)
    service.stop()
    service.digest()


def test_with_events_the_start_says_what_can_be_done_and_it_can(make):
    service = make()
    service.send("a")
    service.stop()
    text = service.config.read_text()
    edited(service, "[model]", '[model]\nalgorithm = "PA"')
    refused = service.run("serve", check=False)
    assert refused.returncode == 2
    assert "(model.algorithm)" in refused.stderr
    assert "rebuild" in refused.stderr
    service.run("rebuild")
    service.start().stop()
    service.config.write_text(service.config.read_text().replace('["ham", "spam"]', '["ham", "eggs"]'))
    sentence = service.run("serve", check=False).stderr
    assert "the classes changed in the settings since the store took them up" in sentence
    assert "adds the class 'eggs'" in sentence
    assert "retires 'spam'" in sentence
    assert "if this is the store of another stream ('Test'), name one of its own" in sentence
    service.config.write_text(text)


def test_init_creates_the_store_of_settings_that_exist(tmp_path, nursery):
    from tests.live.running import Running

    service = Running(tmp_path, nursery=nursery)
    service.config.write_text(service.text)
    assert "create it with 'askance init'" in service.run("serve", check=False).stderr
    other = service.run("init", "--classes", "a,b", check=False)
    assert (other.returncode, "other classes" in other.stderr) == (2, True)
    assert not (tmp_path / "askance.db").exists()
    done = service.run("init")
    assert "exists already; created" in done.stdout
    assert service.config.read_text() == service.text
    again = service.run("init", "--classes", "spam,ham", check=False)
    assert (again.returncode, "so does its store" in again.stderr) == (2, True)
    service.start().send("a")
    service.stop()


@pytest.mark.parametrize("words", [(), ("--title", "Mail")])
def test_init_of_nothing_needs_classes(tmp_path, nursery, words):
    from tests.live.running import Running

    done = Running(tmp_path, nursery=nursery).run("init", *words, check=False)
    assert (done.returncode, "--classes" in done.stderr) == (2, True)


@pytest.fixture
def init(tmp_path, nursery):
    from tests.live.running import Running

    service = Running(tmp_path, nursery=nursery)

    def run(name, *words):
        service.config = tmp_path / name
        return service.run("init", *words, check=False)

    return run


def test_streams_side_by_side_in_a_folder_get_a_store_each(init, tmp_path):
    assert init("askance.toml", "--classes", "ham,spam").returncode == 0
    second = init("fraud.toml", "--classes", "ok,fraud")
    assert (second.returncode, "fraud.db" in second.stdout) == (0, True)
    assert {path.name for path in tmp_path.glob("*.db")} == {"askance.db", "fraud.db"}


def test_init_beside_the_store_of_another_stream_says_whose_it_is_and_what_to_do(init, make, tmp_path):
    assert init("askance.toml", "--classes", "ham,spam", "--title", "Mail").returncode == 0
    (tmp_path / "askance.toml").rename(tmp_path / "mail.toml")
    content = (tmp_path / "askance.db").read_bytes()
    for words in (("--classes", "ok,fraud"), ("--classes", "ham,spam")):
        refused = init("askance.toml", *words)
        assert refused.returncode == 2
        assert refused.stderr.count("\n") == 1
        for part in ("askance.db", "'Mail'", "ham, spam", "without events", "--store", "--config NAME.toml", "folder"):
            assert part in refused.stderr, part
    assert (tmp_path / "askance.db").read_bytes() == content
    assert not (tmp_path / "askance.toml").exists()
    assert init("askance.toml", "--classes", "ok,fraud", "--store", "fraud.db").returncode == 0


def test_init_beside_a_file_that_is_no_store_leaves_it_alone(init, tmp_path):
    (tmp_path / "askance.db").write_text("holiday pictures")
    refused = init("askance.toml", "--classes", "ham,spam")
    assert (refused.returncode, "no store of askance" in refused.stderr) == (2, True)
    assert (tmp_path / "askance.db").read_text() == "holiday pictures"


def test_init_goes_on_with_a_store_that_was_begun_and_never_filled(init, tmp_path):
    """An empty file, one without tables, and one with tables and no row: what earlier versions left on a full disk."""
    made = sqlite3.connect(tmp_path / "no-tables.db")
    made.execute("PRAGMA journal_mode = WAL")
    made.close()
    (tmp_path / "empty.db").touch()
    open_store(str(tmp_path / "no-rows.db"), create=True).close()
    for name in ("empty", "no-tables", "no-rows"):
        done = init(f"{name}.toml", "--classes", "ham,spam")
        assert done.returncode == 0, done.stderr
        assert describe_store(str(tmp_path / f"{name}.db")).classes == ["ham", "spam"]


def test_init_of_tables_of_postgres_without_a_row_goes_on_with_them(postgres, init):
    place = postgres.new_database()
    open_store(place, create=True).close()
    done = init("mail.toml", "--classes", "ham,spam", "--store", place)
    assert done.returncode == 0, done.stderr
    assert describe_store(place).classes == ["ham", "spam"]


def test_settings_that_name_the_store_of_another_stream_are_told_apart(make, store):
    service = make(store=store)
    service.send("a")
    service.stop()
    edited(service, '["ham", "spam"]', '["ok", "fraud"]')
    for command in ("init", "serve"):
        refused = service.run(command, check=False)
        assert refused.returncode == 2
        assert refused.stderr.count("\n") == 1
        assert "'Test'" in refused.stderr  # whose store it is
        assert "of its own" in refused.stderr


def test_init_of_tables_that_are_there_says_whose_they_are(postgres, init):
    place = postgres.new_database()
    assert init("mail.toml", "--classes", "ham,spam", "--title", "Mail", "--store", place).returncode == 0
    refused = init("fraud.toml", "--classes", "ok,fraud", "--store", place)
    assert refused.returncode == 2
    assert "'Mail'" in refused.stderr
    assert "--store" in refused.stderr
