"""The activity log: what was done on the command line stands beside what was done over HTTP."""

import pytest

from askance_live.access.names import COMMAND_LINE


def log_of(service):
    return [(entry["actor"], entry["action"], entry["detail"]) for entry in service.get("/v1/audit").json()["entries"]]


def test_imports_and_restores_on_the_command_line_are_in_it(make, tmp_path):
    service = make()
    lines = tmp_path / "lines.jsonl"
    lines.write_text('{"id": "a", "fields": {"text": "hello"}, "label": "ham"}\n')
    service.post("/v1/import", [{"id": "b", "fields": {"text": "hello"}}])
    service.stop()
    service.run("import", str(lines))
    service.run("backup", str(tmp_path / "monday.db"))
    service.run("restore", str(tmp_path / "monday.db"), "--force", "--verify")
    service.start()
    restored, imported, by_http = log_of(service)
    assert restored == (COMMAND_LINE, "restore", {"file": "monday.db"})
    counts = {"events": 1, "duplicates": 0, "labels": 1, "quarantined": 0, "errors": 0}
    assert imported == (COMMAND_LINE, "import", counts)
    assert by_http == ("local", "import", {**counts, "labels": 0})


@pytest.mark.parametrize("name", ["local", "nobody", "command line"])
def test_no_token_has_a_name_that_the_log_has_for_others(make, name):
    service = make()
    refused = service.run("token", "create", name, check=False)
    assert (refused.returncode, repr(name) in refused.stderr) == (2, True)
