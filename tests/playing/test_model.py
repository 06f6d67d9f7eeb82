"""A model with its stream in one file."""

import numpy as np
import pytest

import askance
from askance.errors import ModelFileError
from askance.features.rows import RowFeatures
from askance.playing import Model


@pytest.fixture
def model():
    features = RowFeatures({"text": "text"})
    X = features.matrix([{"text": "win a prize", "size": 1.5}, {"text": "lunch", "size": -2.25}] * 5)
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
