"""Model files: a saved model goes on as if nothing had happened, and a bad file says so."""

import gc
import json
import zipfile

import numpy as np
import pytest

import askance
from askance import queries, updates
from askance.budgets import Fixed, Rate
from askance.errors import ModelFileError
from askance.learner.files import VERSION

NAMES = [row["name"] for row in askance.algorithms()]


def stream(n_classes=2):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)) * (rng.random((200, 6)) < 0.7)
    return X, np.argmax(X @ rng.normal(size=(6, n_classes)), axis=1)


@pytest.mark.parametrize("name", NAMES)
def test_saving_and_loading_in_mid_stream_changes_no_later_decision(name, tmp_path):
    X, y = stream(3 if askance.make(name).update.per_class else 2)
    options = {"budget": 90, "intercept": True, "normalize": "l2", "random_state": 5}
    whole = askance.make(name, **options)
    expected = whole.run(X, y)
    halved = askance.make(name, **options)
    halved.run(X[:100], y[:100])
    halved.save(tmp_path / "model")
    loaded = askance.load(tmp_path / "model")
    rest = loaded.run(X[100:], y[100:])
    for field in ("asked", "margin", "probability", "predicted"):
        assert np.array_equal(getattr(rest, field), getattr(expected, field)[100:])
    assert np.array_equal(loaded.coef_, whole.coef_)
    assert loaded.labels_asked_ == whole.labels_asked_
    assert repr(loaded.get_params()) == repr(halved.get_params())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, Rate(0.1)),
        (Fixed(50), Rate(0.1)),
        (Rate(0.1), Rate(0.05)),
        (Rate(0.1), Fixed(300) & Rate(0.1)),
    ],
)
def test_a_budget_changed_since_the_last_event_is_saved_with_an_account_of_its_own(before, after, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5))
    y = X[:, 0] > 0
    clf = askance.make("PAA-I", budget=before, random_state=0).fit(X[:10], y[:10])
    clf.run(X[:2000], y[:2000])
    clf.set_params(budget=after)
    kept = clf._engine.budget_state.budget.copy()
    clf.save(tmp_path / "model")
    np.testing.assert_array_equal(clf._engine.budget_state.budget, kept)  # to save changes nothing
    loaded = askance.load(tmp_path / "model")
    there, here = (model.run(X[2000:], y[2000:]) for model in (loaded, clf))
    np.testing.assert_array_equal(there.probability, here.probability)
    np.testing.assert_array_equal(there.asked, here.asked)


@pytest.mark.parametrize(
    "labels",
    [["ham", "spam"], [0, 1], [False, True], [0.5, 1.5], np.array(["a", "b"], dtype=object)],
    ids=["strings", "ints", "bools", "floats", "objects"],
)
def test_labels_of_every_kind_come_back_as_they_were(labels, tmp_path):
    X, y = stream()
    labels = np.asarray(labels)
    clf = askance.make("PAA-I", random_state=0)
    clf.run(X, labels[y])
    clf.save(tmp_path / "model")
    loaded = askance.load(tmp_path / "model")
    assert loaded.classes_.dtype == clf.classes_.dtype
    assert loaded.predict(X).tolist() == clf.predict(X).tolist()


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64])
def test_any_of_numpys_generators_goes_on_where_it_stood(kind, tmp_path):
    X, y = stream()
    whole = askance.make("RPA", rate=0.5, random_state=np.random.Generator(kind(1))).run(X, y)
    clf = askance.make("RPA", rate=0.5, random_state=np.random.Generator(kind(1)))
    clf.run(X[:77], y[:77])
    clf.save(tmp_path / "model")
    assert np.array_equal(askance.load(tmp_path / "model").run(X[77:], y[77:]).asked, whole.asked[77:])


def test_a_model_that_has_seen_nothing_can_be_saved(tmp_path):
    askance.make("OA3", rho=3.0, classes=["a", "b"], random_state=0).save(tmp_path / "model")
    clf = askance.load(tmp_path / "model")
    assert clf.update == updates.AsymmetricAdaptive(rho=3.0)
    X, y = stream()
    clf.run(X, np.array(["a", "b"])[y])


@pytest.fixture
def saved(tmp_path):
    X, y = stream()
    clf = askance.make("SOAL-diag", random_state=0)
    clf.run(X, y)
    path = tmp_path / "model"
    clf.save(path)
    return path


def test_a_file_cut_short_anywhere_is_recognised(saved):
    content = saved.read_bytes()
    for length in [0, 1, 10, 60, len(content) // 2, len(content) - 1]:
        saved.write_bytes(content[:length])
        with pytest.raises(ModelFileError, match="not an askance model|cut short"):
            askance.load(saved)


def test_a_file_altered_anywhere_is_recognised(saved):
    content = bytearray(saved.read_bytes())
    body = content.index(b"\n") + 1
    for place in np.linspace(body, len(content) - 1, 25).astype(int):
        altered = bytearray(content)
        altered[place] ^= 1
        saved.write_bytes(altered)
        with pytest.raises(ModelFileError, match="checksum"):
            askance.load(saved)


def test_a_file_of_another_format_is_named_as_such(saved):
    header, body = saved.read_bytes().split(b"\n", 1)
    newer = json.dumps(json.loads(header) | {"version": 99}).encode()
    saved.write_bytes(newer + b"\n" + body)
    reads = rf"this one reads 3 to {VERSION}\)"
    with pytest.raises(ModelFileError, match=rf"newer askance \(format 99; {reads}; upgrade"):
        askance.load(saved)
    saved.write_bytes(json.dumps(json.loads(header) | {"version": 2}).encode() + b"\n" + body)
    with pytest.raises(ModelFileError, match=rf"before askance 0\.1 \(format 2; {reads}; train it again"):
        askance.load(saved)


@pytest.mark.parametrize(
    "content", [b"", b"hello\n", b"PK\x03\x04", b'{"format": 1}\n', b"[]\n", b"\n", b"\x80\x04K\x01."]
)
def test_a_foreign_file_is_not_a_model(tmp_path, content):
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="is not an askance model"):
        askance.load(path)


def test_a_missing_file_and_a_missing_folder_say_so(tmp_path):
    with pytest.raises(ModelFileError, match="cannot read the model .*No such file"):
        askance.load(tmp_path / "nothing")
    with pytest.raises(ModelFileError, match="cannot write the model .*No such file"):
        askance.make("PAA-I").save(tmp_path / "no folder" / "model")
    assert list(tmp_path.iterdir()) == []


def test_no_pickle_is_in_the_file_and_none_would_be_read(saved):
    body = saved.read_bytes().split(b"\n", 1)[1]
    archive = saved.with_suffix(".zip")
    archive.write_bytes(body)
    with zipfile.ZipFile(archive) as files:
        for name in files.namelist():
            assert b"'O'" not in files.read(name)[:200]


def test_a_failed_save_leaves_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(ModelFileError, match="No space left"):
        askance.make("PAA-I").save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_a_rule_with_the_name_of_one_of_ours_is_not_mistaken_for_it(tmp_path):
    X, y = stream()
    stock = askance.make("PAA-I", random_state=0)
    stock.run(X, y)
    stock.save(tmp_path / "model")

    class Margin(queries.Margin):
        pass

    own = askance.ActiveClassifier(query=Margin(0.3), random_state=0)
    own.run(X, y)
    own.save(tmp_path / "own")
    assert type(askance.load(tmp_path / "model").query) is queries.Margin
    assert type(askance.load(tmp_path / "own").query) is Margin


def save_with_a_rule_of_ones_own(path):
    class Sometimes(queries.Random):
        pass

    X, y = stream()
    clf = askance.ActiveClassifier(query=Sometimes(0.5), random_state=0)
    clf.run(X, y)
    clf.save(path)
    return Sometimes


def test_a_rule_of_ones_own_is_found_while_it_is_known_and_missed_when_it_is_not(tmp_path):
    rule = save_with_a_rule_of_ones_own(tmp_path / "model")
    assert isinstance(askance.load(tmp_path / "model").query, rule)
    del rule
    gc.collect()
    with pytest.raises(ModelFileError, match="'Sometimes' of the module .*, which is not known here; import"):
        askance.load(tmp_path / "model")
