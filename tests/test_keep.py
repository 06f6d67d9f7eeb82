"""What ``python -m tests.keep`` writes is what the tests of earlier formats and schemas read."""

import hashlib
import json

import numpy as np
from tests.keep import MAKERS, dump_tables, keep_model
from tests.learner.test_upgrades import NAMES, play_on
from tests.live.test_migrations import BEFORE, Raw, kept

import askance


def test_a_kept_model_decides_as_written_down(tmp_path):
    assert tuple(MAKERS) == NAMES
    expected = keep_model(tmp_path, "plain")
    clf = askance.load(tmp_path / "plain.model")
    assert clf.events_seen_ == 330
    assert len(clf.pending) > 0
    assert np.flatnonzero(play_on(clf, "plain").asked).tolist() == expected["asked"]


def test_a_kept_store_is_written_down_as_it_was_built(tmp_path):
    version = BEFORE[-1]
    raw = Raw(str(tmp_path / "askance.db")).build(version)
    found, before = json.loads(dump_tables(raw, "CREATE")), kept(version)
    assert found["migration"] == hashlib.sha256(b"CREATE").hexdigest()
    assert found["tables"].keys() == before["tables"].keys()
    for name in ("events", "answers", "learned"):
        assert found["tables"][name] == before["tables"][name]
