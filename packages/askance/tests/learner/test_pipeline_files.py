"""Pipelines in files: they go on where they stood, without pickle; what cannot be written is refused in a sentence."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)

import askance
from askance.errors import InvalidInput, ModelFileError
from askance.learner.classifier import StreamClassifier
from askance.learner.files import read, save
from askance.learner.pipeline import PIPELINE

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4)) + 1.0
Y = np.where(X[:, 0] > X[:, 1], "yes", "no")
GAPS = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
TEXTS = [f"{'win a prize' if label == 'yes' else 'lunch today'} {number % 13}" for number, label in enumerate(Y)]
TABLE = pd.DataFrame({"size": X[:, 0], "age": X[:, 1], "city": np.where(X[:, 2] > 1, "Oslo", "Bergen")})


def columns():
    return ColumnTransformer([
        ("numbers", Pipeline([("fill", SimpleImputer()), ("scale", StandardScaler())]), ["size", "age"]),
        ("words", OneHotEncoder(handle_unknown="ignore"), ["city"]),
    ])  # fmt: skip


PIPELINES = {
    "scaler": ([StandardScaler()], X),
    "words": ([TfidfVectorizer(ngram_range=(1, 2), stop_words=["a"])], TEXTS),
    "counts": ([CountVectorizer(max_features=20), "passthrough"], TEXTS),
    "hashed": ([HashingVectorizer(n_features=256)], TEXTS),
    "components": ([TfidfVectorizer(), TruncatedSVD(3, random_state=0)], TEXTS),
    "gaps": ([SimpleImputer(strategy="median", add_indicator=True), PolynomialFeatures(2)], GAPS),
    "bins": ([KBinsDiscretizer(3, strategy="uniform")], X),
    "a table": ([columns()], TABLE),
    "nothing": ([], X),
}


def part(events, rows):
    return events.iloc[rows] if hasattr(events, "iloc") else events[rows]


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_goes_on_where_it_stood(name, tmp_path):
    steps, events = PIPELINES[name]
    model = askance.make_pipeline(*steps, askance.make("SOAL-diag", random_state=0))
    model.run(part(events, slice(150)), Y[:150])
    model.save(tmp_path / "a.model")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = askance.load_pipeline(tmp_path / "a.model")
    assert [step for step, _ in again.steps] == [step for step, _ in model.steps]
    one, other = (each.run(part(events, slice(150, None)), Y[150:]) for each in (model, again))
    np.testing.assert_array_equal(one.margin, other.margin)
    np.testing.assert_array_equal(one.asked, other.asked)
    np.testing.assert_array_equal(model.predict(events), again.predict(events))
    again.save(tmp_path / "b.model")
    model.save(tmp_path / "a.model")
    np.testing.assert_array_equal(
        model.predict_proba(events), askance.load_pipeline(tmp_path / "b.model").predict_proba(events)
    )


class Own(StandardScaler):
    """A transformer of a user's own."""


REFUSED = {
    "a function": (lambda: FunctionTransformer(np.log1p), "holds a value of type numpy.ufunc"),
    "an analyzer": (lambda: HashingVectorizer(analyzer=str.split), "holds a value of type builtins.method_descriptor"),
    "own": (Own, r"holds a value of type \S+Own"),
    "a memory": (lambda: Pipeline([("a", StandardScaler())], memory="/tmp"), "holds a memory"),
    "a random state": (
        lambda: TruncatedSVD(random_state=np.random.RandomState(0)),
        "holds a value of type numpy.random.*RandomState",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_written_is_refused_in_a_sentence(name, tmp_path):
    make, reason = REFUSED[name]
    model = askance.make_pipeline(make(), askance.make("PAA-I"))
    with pytest.raises(
        InvalidInput, match=f"^the step '\\w+' cannot be saved without pickle, because it {reason}.*skops"
    ):
        model.save(tmp_path / "a.model")
    assert list(tmp_path.iterdir()) == []


def test_each_reader_says_which_other_is_meant(tmp_path):
    model = askance.make_pipeline(StandardScaler(), askance.make("PAA-I"))
    model.run(X, Y)
    model.save(tmp_path / "a.model")
    model.classifier.save(tmp_path / "b.model")
    with pytest.raises(ModelFileError, match=r"holds a pipeline; load it with askance\.load_pipeline"):
        askance.load(tmp_path / "a.model")
    with pytest.raises(ModelFileError, match=r"holds a classifier and no pipeline; load it with askance\.load\."):
        askance.load_pipeline(tmp_path / "b.model")
    from askance.runner import Model

    with pytest.raises(ModelFileError, match="holds a pipeline with transformers"):
        Model.load(tmp_path / "a.model")


EVIL = {
    "a module": {"kind": "estimator", "module": "os", "name": "system", "state": {}},
    "a function": {"kind": "estimator", "module": "sklearn.datasets._base", "name": "load_files", "state": {}},
    "what a module imports": {"kind": "estimator", "module": "sklearn.utils._joblib", "name": "joblib", "state": {}},
    "another class": {"kind": "estimator", "module": "sklearn.utils._bunch", "name": "Bunch", "state": {}},
    "a way out": {"kind": "estimator", "module": "sklearn/../os", "name": "path", "state": {}},
    "nowhere": {"kind": "estimator", "module": "sklearn.nowhere", "name": "Scaler", "state": {}},
    "a classifier": {"kind": "estimator", "module": "sklearn.dummy", "name": "DummyClassifier", "state": {}},
    "an unknown kind": {"kind": "code", "values": []},
    "a lost array": {"kind": "array", "array": "transformers_9"},
    "no kind": {},
    "a memory": {"kind": "estimator", "module": "sklearn.pipeline", "name": "Pipeline", "state": {"memory": "/tmp"}},
    "depth": None,
}


@pytest.mark.parametrize("name", EVIL)
def test_an_evil_file_makes_nothing(name, tmp_path):
    model = askance.make_pipeline(StandardScaler(), askance.make("PAA-I"))
    model.run(X, Y)
    model.save(tmp_path / "a.model")
    clf, _ = read(tmp_path / "a.model", StreamClassifier)
    step = json.dumps(EVIL[name])
    if name == "depth":
        step = '{"kind": "list", "values": [' * 5000 + "]}" * 5000
    document = f'{{"steps": [["a", {step}]], "last": "b"}}'.encode()
    save(clf, tmp_path / "a.model", **{PIPELINE: np.frombuffer(document, np.uint8)})
    with pytest.raises(ModelFileError) as caught:
        askance.load_pipeline(tmp_path / "a.model")
    assert str(caught.value).startswith(f"{str(tmp_path / 'a.model')!r}")


def test_another_version_of_scikit_learn_is_warned_of(tmp_path, monkeypatch):
    from sklearn.exceptions import InconsistentVersionWarning

    model = askance.make_pipeline(StandardScaler(), askance.make("PAA-I"))
    model.run(X, Y)
    with monkeypatch.context() as patch:
        patch.setattr("sklearn.base.__version__", "0.99")
        model.save(tmp_path / "a.model")
    with pytest.warns(InconsistentVersionWarning, match=r"0\.99"):
        askance.load_pipeline(tmp_path / "a.model")


def test_sparse_values_are_kept(tmp_path):
    from askance.learner.transformer_files import describe_transformer, revive_transformer

    scaler = StandardScaler().fit(X)
    scaler.kept_ = {"csr": sp.csr_matrix(np.eye(3)), "dia": sp.diags([1.0, 2.0]), "ends": slice(1, None), "few": {1, 2}}
    arrays = {}
    again = revive_transformer(json.loads(json.dumps(describe_transformer("a", scaler, arrays))), arrays)
    for name in ("csr", "dia"):
        assert type(again.kept_[name]) is type(scaler.kept_[name])
        np.testing.assert_array_equal(again.kept_[name].toarray(), scaler.kept_[name].toarray())
    assert again.kept_["ends"] == slice(1, None)
    assert again.kept_["few"] == {1, 2}
