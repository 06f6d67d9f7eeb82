"""A model with its stream in one file."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import askance
from askance.data.encoding.columns import encode
from askance.data.encoding.rows import RowFeatures
from askance.data.encoding.table import RawRows
from askance.errors import DataWarning, ModelFileError
from askance.learner.files import save
from askance.runner import Model, run_file
from askance.runner.algorithm_spec import AlgorithmSpec
from askance.runner.pipe import Pipe


@pytest.fixture
def model():
    features = RowFeatures({"text": "text"})
    X, _ = encode(features, RawRows([{"text": "win a prize", "size": 1.5}, {"text": "lunch", "size": -2.25}] * 5))
    clf = askance.make("PAA-I", random_state=0)
    clf.run(X, ["spam", "ham"] * 5)
    return Model(clf, {"format": "rows", **features.to_dict()}, {"algorithm": "PAA-I", "odd": ["ä", None, 0.1]})


def test_what_is_saved_comes_back(model, tmp_path):
    model.save(tmp_path / "m")
    again = Model.load(tmp_path / "m")
    assert np.array_equal(again.classifier.coef_, model.classifier.coef_)
    assert again.about == model.about
    row = {"text": "win lunch", "size": 0.5}
    before, after = RowFeatures.from_dict(model.stream).row(row), RowFeatures.from_dict(again.stream).row(row)
    assert np.array_equal(before[0], after[0])
    assert np.array_equal(before[1], after[1])
    again.save(tmp_path / "n")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "n"]


def test_the_library_loads_the_classifier_of_it(model, tmp_path):
    model.save(tmp_path / "m")
    assert np.array_equal(askance.load(tmp_path / "m").coef_, model.classifier.coef_)


@pytest.mark.parametrize("place", [0.2, 0.5, 0.9, 0.999])
def test_a_damaged_file_is_refused(model, tmp_path, place):
    model.save(tmp_path / "m")
    content = bytearray((tmp_path / "m").read_bytes())
    content[int(place * len(content))] ^= 1
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(ModelFileError):
        Model.load(tmp_path / "m")


def test_a_file_that_cannot_be_written_is_one_sentence_and_the_old_one_stays(model, tmp_path):
    with pytest.raises(ModelFileError, match="there is no folder"):
        model.save(tmp_path / "no" / "m")
    (tmp_path / "m").write_text("old")
    model.about["bad"] = object()
    with pytest.raises(TypeError):
        model.save(tmp_path / "m")
    assert (tmp_path / "m").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_model_that_an_earlier_version_saved_goes_on_and_takes_raw_events(tmp_path):
    """``models/format-5.model`` was saved by the code of format 5, which then decided about more rows as told there."""
    folder = Path(__file__).parent / "models"
    kept = json.loads((folder / "format-5.json").read_text())
    rows = [dict(row) for row in kept["rows"]]
    labels = [row.pop("label") for row in rows]
    trace = askance.load(folder / "format-5.model").run(rows, labels)
    assert trace.margin.tolist() == kept["margin"]
    assert trace.asked.tolist() == kept["asked"]
    with (tmp_path / "more.csv").open("w", newline="") as file:
        lines = csv.DictWriter(file, kept["rows"][0])
        lines.writeheader()
        lines.writerows(kept["rows"])
    again = Model.load(folder / "format-5.model")
    assert again.about["algorithm"] == "SOAL-diag"
    played = run_file(tmp_path / "more.csv", model=again, save=tmp_path / "m")
    assert played.totals.events == len(rows)
    assert askance.load(tmp_path / "m").fields_ == {
        "size": "number", "country": "category", "text": "text", "sent": "date",
    }  # fmt: skip


def test_a_model_that_python_saved_after_raw_events_goes_on_in_a_pipe(tmp_path):
    clf = askance.make("PAA-I", random_state=0)
    clf.fit([{"text": "win a prize"}, {"text": "lunch today"}] * 5, ["spam", "ham"] * 5)
    clf.save(tmp_path / "m")
    expected = clf.ask({"text": "a prize"})
    reply = Pipe.of(Model.load(tmp_path / "m")).answer(b'{"text": "a prize"}')
    assert (reply["label"], reply["margin"]) == (expected.label, expected.margin)
    askance.make("PAA-I", random_state=0).fit([[1.0], [2.0]], [0, 1]).save(tmp_path / "arrays")
    with pytest.raises(ModelFileError, match="not how events become its columns"):
        Model.load(tmp_path / "arrays")


@pytest.mark.parametrize(("scale", "done"), [("auto", "standardised"), ("l2", None), ("none", None)])
def test_python_is_told_that_features_without_names_were_scaled(tmp_path, recwarn, scale, done):
    """With "l2" the classifier itself does it, to arrays as well."""
    lines = [f"{(-1) ** k} 1:{k % 7} 2:{k % 3} 3:{k % 5}\n" for k in range(1, 60)]
    (tmp_path / "a.libsvm").write_text("".join(lines))
    run_file(tmp_path / "a.libsvm", AlgorithmSpec("PAA-I", {}), scale=scale, save=tmp_path / "m")
    askance.load(tmp_path / "m")
    told = [str(warning.message) for warning in recwarn if warning.category is DataWarning]
    assert len(told) == (done is not None)
    assert all(f"features that askance run {done} as it read them" in sentence for sentence in told)


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"stream": 3}', b"{}"])
def test_what_is_no_description_of_a_stream_is_refused_in_a_sentence(model, tmp_path, content):
    save(model.classifier, tmp_path / "m", stream=np.frombuffer(content, np.uint8))
    for read in (askance.load, Model.load):
        with pytest.raises(ModelFileError, match="is not a model this version can read"):
            read(tmp_path / "m")
