"""Files in which some labels are missing."""

import numpy as np
import pytest

from askance.errors import InvalidInput
from askance.runner import run_file
from askance.runner.algorithm_spec import AlgorithmSpec

WORDS = ["nan", "?", "N/A", "null", ""]


def write(path, word, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    rows, is_missing = ["a,b,label"], []
    for _ in range(600):
        x = rng.normal()
        is_missing.append(bool(rng.random() < share))
        rows.append(f"{x},{rng.random()},{word if is_missing[-1] else 'spam' if x > 0 else 'ham'}")
    path.write_text("\n".join(rows) + "\n")
    return np.array(is_missing)


@pytest.mark.parametrize("word", WORDS)
def test_an_event_without_a_label_is_predicted_and_is_no_class(tmp_path, word):
    is_missing = write(tmp_path / "x.csv", word)
    outcome = run_file(tmp_path / "x.csv", AlgorithmSpec("PAA-I", random_state=1), trace=tmp_path / "trace.npz")
    assert outcome.totals.classes.tolist() == ["ham", "spam"]
    assert (outcome.totals.events, outcome.unlabeled) == (600 - is_missing.sum(), is_missing.sum())
    with np.load(tmp_path / "trace.npz") as trace:
        assert np.array_equal(trace["truth"] == "", is_missing)
        assert not trace["asked"][is_missing].any()
        assert set(trace["predicted"]) == {"ham", "spam"}
        assert np.array_equal(trace["event"], np.where(is_missing, 0, np.cumsum(~is_missing)))


def test_batches_of_any_size_give_the_same(tmp_path):
    write(tmp_path / "x.csv", "?")
    results = [
        run_file(tmp_path / "x.csv", AlgorithmSpec("PAA-I", random_state=1), classes=["ham", "spam"], batch_rows=rows)
        for rows in (7, 8192)
    ]
    one, other = ({**outcome.summary(), "seconds": 0} for outcome in results)
    assert one == other
    assert np.array_equal(results[0].model.classifier.coef_, results[1].model.classifier.coef_)


def test_labels_may_begin_late(tmp_path):
    lines = [f"{n % 7},{n % 3},?" for n in range(50)] + [f"{n % 7},{n % 3},{'xy'[n % 2]}" for n in range(50)]
    (tmp_path / "x.csv").write_text("a,b,label\n" + "\n".join(lines) + "\n")
    outcome = run_file(tmp_path / "x.csv", AlgorithmSpec("PAA-I"), batch_rows=10)
    assert (outcome.totals.events, outcome.unlabeled) == (50, 50)


def test_a_file_without_any_label_is_told_in_a_sentence(tmp_path):
    write(tmp_path / "x.csv", "?", share=1.1)
    with pytest.raises(InvalidInput, match=r"'x.csv' has 600 events, but none has a label; is it the right field\?"):
        run_file(tmp_path / "x.csv", AlgorithmSpec("PAA-I"))


def test_a_word_that_is_named_as_a_class_is_one_also_for_a_model_that_goes_on(tmp_path):
    is_missing = write(tmp_path / "x.csv", "?")
    outcome = run_file(tmp_path / "x.csv", AlgorithmSpec("MPAA-I"), classes=["ham", "spam", "?"])
    assert outcome.unlabeled == 0
    assert outcome.totals.classes.tolist() == ["?", "ham", "spam"]
    assert outcome.totals.matrix[0].sum() == is_missing.sum()
    assert run_file(tmp_path / "x.csv", model=outcome.model).unlabeled == 0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", "id,label\n1,x\n2,y\n"),
        ("x.jsonl", '{"id": 1, "label": "x"}\n{"id": 2, "label": "y"}\n'),
    ],
)
def test_a_stream_without_a_field_to_learn_from_is_refused(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    with pytest.raises(InvalidInput, match="has no field to learn from: id is ignored"):
        run_file(tmp_path / name, AlgorithmSpec("PAA-I"))


def test_rows_without_any_feature_are_refused(tmp_path):
    (tmp_path / "x.libsvm").write_text("1\n-1\n1\n")
    with pytest.raises(InvalidInput, match="have no features at all"):
        run_file(tmp_path / "x.libsvm", AlgorithmSpec("PAA-I"))
