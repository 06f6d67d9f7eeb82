"""Models in a real MLflow, with a store of files: nothing of it is pickled, and a model goes on where it was."""

import numpy as np
import pytest

import askance
from askance.errors import InvalidInput

pytest.importorskip("mlflow", reason="the extra mlflow is not installed", exc_type=ImportError)
pd = pytest.importorskip("pandas")

import mlflow  # noqa: E402

from askance.adapters.mlflow import load_model, log_model, save_model  # noqa: E402

FRAME = pd.DataFrame({
    "text": ["win a prize", "lunch on friday", "a prize for you", "see you friday"] * 30,
    "size": np.random.default_rng(0).normal(500, 100, 120),
})  # fmt: skip
LABELS = ["spam", "ham"] * 60


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store of its own, and the settings as they were afterwards."""
    folder = tmp_path_factory.mktemp("mlflow")
    before = mlflow.get_tracking_uri()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # without which newer ones want a database
        mlflow.set_tracking_uri(folder.as_uri())
        mlflow.set_experiment("mail")
        yield folder
        mlflow.set_tracking_uri(before)


@pytest.fixture
def clf():
    clf = askance.make("SOAL-diag", classes=["ham", "spam"], fields={"text": "text"}, random_state=0)
    clf.run(FRAME[:60], LABELS[:60])
    return clf


def test_a_model_comes_back_bit_for_bit_and_goes_on(clf, tmp_path):
    save_model(clf, tmp_path / "mail")
    again = load_model(tmp_path / "mail")
    one, other = clf.run(FRAME[60:], LABELS[60:]), again.run(FRAME[60:], LABELS[60:])
    np.testing.assert_array_equal(one.margin, other.margin)
    np.testing.assert_array_equal(one.asked, other.asked)


def test_pyfunc_predicts_raw_frames(clf, tmp_path):
    save_model(clf, str(tmp_path / "mail"), input_example=FRAME[:3])
    model = mlflow.pyfunc.load_model(str(tmp_path / "mail"))
    assert list(model.predict(FRAME)) == clf.predict(FRAME).tolist()
    assert model.metadata.signature.inputs.input_names() == ["text", "size"]


def test_pyfunc_predicts_rows_of_numbers(tmp_path):
    X = np.random.default_rng(1).normal(size=(50, 3))
    y = (X[:, 0] > 0).astype(int)
    clf = askance.make("PAA-I", random_state=0).fit(X, y)
    save_model(clf, tmp_path / "numbers")
    model = mlflow.pyfunc.load_model(str(tmp_path / "numbers"))
    assert list(model.predict(pd.DataFrame(X, columns=["a", "b", "c"]))) == clf.predict(X).tolist()
    assert list(model.predict(X)) == clf.predict(X).tolist()


def test_a_model_is_logged_to_a_run_and_found_by_its_address(clf, store):
    with mlflow.start_run():
        info = log_model(clf, "mail", metadata={"budget": 500})
    np.testing.assert_array_equal(load_model(info.model_uri).coef_, clf.coef_)
    assert list(mlflow.pyfunc.load_model(info.model_uri).predict(FRAME)) == clf.predict(FRAME).tolist()
    assert "askance" in info.flavors


def test_nothing_is_pickled(clf, tmp_path):
    save_model(clf, tmp_path / "mail")
    files = sorted(file.name for file in (tmp_path / "mail").iterdir())
    assert files == ["MLmodel", "classifier.model", "python_env.yaml", "requirements.txt"]
    assert "pickle" not in (tmp_path / "mail" / "MLmodel").read_text()


def test_slips_are_answered_in_a_sentence(clf, tmp_path):
    with pytest.raises(InvalidInput, match="only a classifier of askance that has seen an event"):
        save_model(askance.make("PAA-I"), tmp_path / "new")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(InvalidInput, match="is not empty"):
        save_model(clf, tmp_path / "full")
    other = mlflow.models.Model()
    other.add_flavor("sklearn")
    (tmp_path / "other").mkdir()
    other.save(str(tmp_path / "other" / "MLmodel"))
    with pytest.raises(InvalidInput, match="is a model of sklearn, not of askance"):
        load_model(tmp_path / "other")
