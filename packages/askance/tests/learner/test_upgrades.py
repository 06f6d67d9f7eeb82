"""Model files that earlier versions wrote are read, and go on as they would have gone on there.

``models/format-N`` holds files written by the code of that format after 300 events (``plain`` with 30 open questions
more), and what that code decided about events 330 to 600 after loading them: ``python -m tests.keep models`` writes it.
"""

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import askance
from askance.learner import classifier, engine, files
from askance.learner.model_fields import MODEL_FIELDS, VERSION, ModelField
from askance.learner.upgrades import OLDEST, STEPS

MODELS = Path(__file__).parent / "models"
NAMES = ("plain", "rate", "per-period", "auto")


def the_stream():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 6))
    weights = rng.normal(size=6)
    y = np.where(X @ weights + 0.3 * rng.normal(size=600) > 0, "spam", "ham")
    return X, y, np.arange(600) * 120.0


def play_on(clf, name):
    X, y, times = the_stream()
    return clf.run(X[330:], y[330:], **({"times": times[330:]} if name == "per-period" else {}))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("format_", [3, 4, 5, 6, 7, 8, 9])
def test_a_model_of_an_earlier_format_decides_as_it_would_have(format_, name):
    folder = MODELS / f"format-{format_}"
    expected = json.loads((folder / "decisions.json").read_text())[name]
    clf = askance.load(folder / f"{name}.model")
    assert clf.events_seen_ == (330 if name == "plain" else 300)
    trace = play_on(clf, name)
    assert np.flatnonzero(np.asarray(trace.predicted) == "spam").tolist() == expected["spam"]
    assert np.flatnonzero(trace.asked).tolist() == expected["asked"]
    assert clf.pending == expected["pending"]


def test_probabilities_of_a_model_of_an_earlier_format_rest_on_the_answers_to_come():
    X, _, _ = the_stream()
    clf = askance.load(MODELS / "format-6" / "rate.model")
    assert (clf.predict_proba(X) == 0.5).all()
    play_on(clf, "rate")
    assert clf.predict_proba(X).max() > 0.9


@pytest.mark.parametrize("name", NAMES)
def test_a_model_of_an_earlier_format_is_saved_in_the_present_one(name, tmp_path):
    clf = askance.load(MODELS / "format-3" / f"{name}.model")
    clf.save(tmp_path / "new.model")
    again = askance.load(tmp_path / "new.model")
    assert again.get_params().keys() == clf.get_params().keys()
    for column in ("predicted", "asked", "margin", "probability"):
        one, other = (getattr(play_on(askance.load(path), name), column) for path in (
            MODELS / "format-3" / f"{name}.model", tmp_path / "new.model",
        ))  # fmt: skip
        assert np.array_equal(one, other)


def test_an_initial_burst_is_spent_as_it_was_under_the_former_name():
    auto, rate = (askance.load(MODELS / "format-9" / f"{name}.model") for name in ("auto", "rate"))
    assert auto.update.front_load
    assert not rate.budget.front_load
    assert rate._labels_asked_by_class == [0, 0]  # not known by class


def test_every_format_has_a_step_or_a_field_more_and_files_that_show_it():
    earlier = range(OLDEST, VERSION)
    assert {*STEPS, *(field.since - 1 for field in MODEL_FIELDS if field.since > OLDEST)} == set(earlier)
    for format_ in earlier:
        assert {path.stem for path in (MODELS / f"format-{format_}").glob("*.model")} == set(NAMES)


def test_a_probit_model_from_when_decay_was_local_forgets_as_it_did(tmp_path):
    """``models/local-decay`` was written with ``decay=0.95`` before paper 5's own memory factor was there."""
    folder = MODELS / "local-decay"
    expected = json.loads((folder / "decisions.json").read_text())
    X, y, _ = the_stream()
    X *= np.random.default_rng(1).random(X.shape) < 0.4
    clf = askance.load(folder / "probit.model")
    assert (clf.update.decay, clf.update.local_decay) == (1.0, 0.95)
    clf.save(tmp_path / "new.model")
    for model in (clf, askance.load(tmp_path / "new.model")):
        trace = model.run(X[300:], y[300:])
        assert np.flatnonzero(trace.asked).tolist() == expected["asked"]
        assert trace.margin.tolist() == pytest.approx(expected["margin"], rel=1e-12)


CAPPED = MODELS / "capped"


@pytest.mark.parametrize("name", ["biased", "unbiased", "kernel", "label-sets"])
def test_a_probit_model_from_when_variances_stopped_at_the_prior_forgets_as_it_did(name, tmp_path):
    """``models/capped`` was written with ``decay`` below 1, before ``max_variance_ratio`` was there."""
    expected = json.loads((CAPPED / "decisions.json").read_text())[name]
    X, y, _ = the_stream()
    X *= np.random.default_rng(1).random(X.shape) < 0.4
    load = askance.load
    if name == "label-sets":
        load = askance.MultiLabelClassifier.load
        y = [{label} & {"spam"} | ({"new"} if x[0] > 0.3 else set()) for label, x in zip(y, X, strict=True)]
    clf = load(CAPPED / f"{name}.model")
    clf.save(tmp_path / "new.model")
    for model in (clf, load(tmp_path / "new.model")):
        assert model.update.innermost.max_variance_ratio == 1.0
        trace = model.run(X[300:], y[300:])
        assert np.flatnonzero(trace.asked).tolist() == expected["asked"]
        assert trace.margin.ravel().tolist() == expected["margin"]


def test_a_pickled_probit_from_before_a_parameter_keeps_what_it_did():
    """The bytes are those of ``Probit(decay=0.9)`` before ``max_variance_ratio`` was there."""
    rule = pickle.loads(
        b"ccopy_reg\n_reconstructor\np0\n(caskance.learner.update.probit\nProbit\np1\nc__builtin__\nobject\np2\nNtp3"
        b"\nRp4\n(dp5\nVprior_variance\np6\nF1.0\nsVdecay\np7\nF0.9\nsVlocal_decay\np8\nF1.0\nsVweighted\np9\nI00"
        b"\nsVas_printed\np10\nI00\nsb."
    )
    assert rule == askance.updates.Probit(decay=0.9, max_variance_ratio=1.0)
    for now in (askance.updates.Probit(decay=0.9), rule):
        assert pickle.loads(pickle.dumps(now)) == copy.deepcopy(now) == now


def test_a_field_that_is_declared_is_begun_saved_pickled_and_forgotten_and_older_files_begin_with_it(
    tmp_path, monkeypatch
):
    longest = ModelField(
        "longest",
        lambda model, rules: np.zeros(1),
        lambda model, rules: {"longest": model.longest},
        lambda model, arrays: model.longest.__setitem__(slice(None), arrays["longest"]),
        since=VERSION + 1,
    )
    X, y, _ = the_stream()
    before = askance.make("PAA-I", random_state=0)
    before.run(X, y)
    before.save(tmp_path / "before.model")
    pickled = pickle.dumps(before)
    for module in (engine, files):
        monkeypatch.setattr(module, "MODEL_FIELDS", (*MODEL_FIELDS, longest))
    for older in (askance.load(tmp_path / "before.model"), pickle.loads(pickled)):
        assert older._engine.longest.tolist() == [0.0]
    clf = askance.make("PAA-I", random_state=0)
    clf.run(X, y)
    clf._engine.longest[0] = 7.0
    monkeypatch.setattr(files, "VERSION", VERSION + 1)
    clf.save(tmp_path / "new.model")
    for same in (askance.load(tmp_path / "new.model"), pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)):
        assert same._engine.longest.tolist() == [7.0]
    assert clf.fit(X, y)._engine.longest.tolist() == [0.0]


def test_committees_of_label_sets_get_what_a_committee_of_its_own_gets():
    committee = {"kind": "rule", "name": "Committee", "module": None, "parameters": {}}
    learned = {"classes": {"values": [False, True]}}
    extra = np.arange(1.0, 41.0)
    alone = {"extra": extra}
    STEPS[8]({"parameters": {"update": committee}, "learned": learned}, alone)
    assert alone["extra"].tolist() == [
        *range(1, 18), *[0] * 98, *range(18, 24), 18, 19, 18, 19, *range(24, 41)
    ]  # fmt: skip
    rule = {"kind": "rule", "name": "ModelPerLabel", "module": None, "parameters": {"update": committee, "labels": 2}}
    both = {"extra": np.concatenate([[2.0], extra, -extra])}
    STEPS[8]({"parameters": {"update": rule}, "learned": learned}, both)
    np.testing.assert_array_equal(both["extra"], np.concatenate([[2.0], alone["extra"], -alone["extra"]]))
    neither = {"extra": extra}
    STEPS[8]({"parameters": {"update": None}, "learned": learned}, neither)
    assert neither["extra"] is extra


def test_a_pickle_from_before_there_were_engines_goes_on():
    X, y, _ = the_stream()
    clf = askance.make("SOAL-diag", budget=0.3, random_state=0)
    clf.run(X[:330], y[:330])
    asked = [clf.ask(x) for x in X[330:350]]
    kept, model = dict(vars(clf)), clf._engine
    del kept["_engine"]
    names = {"constraints": "_terms", "_layout": "_initial_layout", "classes": "classes_"}
    flat = {names.get(name, f"_{name}"): value for name, value in model.__getstate__().items()}
    assert {*classifier.EARLIER} <= {*flat}
    earlier = askance.ActiveClassifier.__new__(askance.ActiveClassifier)
    earlier.__setstate__(copy.deepcopy(kept | {name: flat[name] for name in classifier.EARLIER}))
    assert earlier.pending == clf.pending == [decision.ticket for decision in asked if decision.asked]
    for model in (earlier, clf):
        model.tell(ticket=model.pending[0], y="spam")
    one, other = (model.run(X[350:], y[350:]) for model in (earlier, clf))
    assert np.array_equal(one.margin, other.margin)
    assert np.array_equal(one.asked, other.asked)
    assert pickle.loads(b"caskance.learner.classifier\nActiveClassifier\n.") is askance.ActiveClassifier
