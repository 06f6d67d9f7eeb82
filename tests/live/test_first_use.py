"""The first minutes: settings written by hand or changed before anything came in."""

import pytest


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
    said = {service.run(*words, check=False).stderr.split(": ", 1)[1] for words in (("serve",), ("rebuild",))}
    assert len(said) == 1
    sentence = said.pop()
    assert "the classes changed from ham, spam to eggs, ham" in sentence
    assert "rebuild" not in sentence
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
