"""What the service says on stderr: one line each, with the request it belongs to, and nobody waits for its reader."""

import json
import logging
import re
import tomllib

import pytest

from askance.errors import InvalidParameter
from askance_live.config import LogSettings, from_document
from askance_live.logs import LineQueue, TextFormatter, logging_as, on_one_line


def lines_of(make, log, visits):
    """The log of a service that was visited: (path, headers) each; and the headers it answered with."""
    service = make(log=log)
    answered = [service.client.get(path, headers=headers).headers for path, headers in visits]
    assert service.stop() == 0
    return (service.folder / "log.txt").read_text().splitlines(), answered


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_request_has_a_line_with_the_id_that_its_response_has(make, form):
    visits = [
        ("/v1/stats?token=secret", {"X-Request-ID": "from-a-proxy/7"}),
        ("/a%0AERROR%20b", {"X-Request-ID": "x y"}),
    ]
    lines, answered = lines_of(make, {"format": form, "requests": True, "level": "info"}, visits)
    lines = [line for line in lines if "askance.access" in line]
    assert answered[0]["X-Request-ID"] == "from-a-proxy/7"
    assert re.fullmatch("[0-9a-f]{32}", answered[1]["X-Request-ID"])
    for line, answer, path in zip(lines[-2:], answered, ["/v1/stats", "/a\nERROR b"], strict=True):
        assert answer["X-Request-ID"] in line
        assert "secret" not in line
        if form == "json":
            found = json.loads(line)
            assert found["message"] == f"GET {path}"
            assert found["address"] == "127.0.0.1"
            assert found["status"] in (200, 404)
        else:
            assert f"INFO askance.access: GET {on_one_line(path)} status=" in line


def test_without_settings_there_is_no_line_for_a_request_but_an_id(make):
    lines, answered = lines_of(make, {}, [("/livez", {})])
    assert not lines
    assert answered[0]["X-Request-ID"]


def test_nobody_waits_for_a_reader_who_is_too_slow(monkeypatch):
    monkeypatch.setattr("askance_live.logs.MOST_WAITING", 3)
    lines = LineQueue(TextFormatter())
    log = logging.Logger("askance")
    log.addHandler(lines)
    for number in range(5):
        log.info("line %d", number)
    kept = [lines.queue.get_nowait().getMessage() for _ in range(3)]
    assert [line[-6:] for line in kept] == ["line 0", "line 1", "line 2"]
    log.info("line 5")
    assert lines.queue.get_nowait().getMessage().endswith("2 lines were dropped here: whoever reads them is too slow.")
    assert lines.queue.get_nowait().getMessage().endswith("line 5")


def test_a_traceback_follows_its_line_and_everything_is_written_at_the_end(capfd):
    with logging_as(LogSettings(level="error")):
        log = logging.getLogger("askance")
        log.warning("not this")
        try:
            raise ValueError("a reason")
        except ValueError:
            log.exception("a request failed\nINFO forged")
    first, *rest = capfd.readouterr().err.splitlines()
    assert first.endswith(r"ERROR askance: a request failed\nINFO forged")
    assert rest[-1] == "ValueError: a reason"


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ('format = "xml"', "log.format must be one of text, json, got 'xml'."),
        ('level = "loud"', "log.level must be one of debug, info, warning, error, got 'loud'."),
        ('requests = "yes"', "log.requests must be true or false, got 'yes'."),
        ("colour = true", "there is no setting log.colour; there are: format, level, requests."),
    ],
)
def test_a_slip_is_one_sentence(setting, sentence):
    with pytest.raises(InvalidParameter, match=re.escape(sentence)):
        from_document(tomllib.loads(f'classes = ["a", "b"]\n[log]\n{setting}\n'))


def test_a_problem_document_names_its_request(make):
    service = make()
    response = service.get("/v1/events/none", headers={"x-request-id": "mine-7"})
    assert response.json()["request"] == response.headers["x-request-id"] == "mine-7"
    made_up = service.get("/v1/events/none")
    assert made_up.json()["request"] == made_up.headers["x-request-id"]
