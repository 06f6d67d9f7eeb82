"""The trace of a played stream."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import askance


@pytest.mark.parametrize("name", ["PAA-I", "MPAA-I", "UOAL-entropy"])
def test_auc_orders_by_the_second_class_even_with_a_weight_vector_per_class(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 6))
    y = (X @ rng.normal(size=6) + rng.normal(size=800) > 0).astype(int)
    trace = askance.make(name, random_state=0).run(X, y)
    towards_second = np.where(trace.predicted == 1, np.abs(trace.margin), -np.abs(trace.margin))
    score = trace.probability_positive if name.startswith("UOAL") else towards_second
    assert trace.summary()["auc"] == pytest.approx(roc_auc_score(y, score))
    assert trace.summary()["auc"] > 0.75


def test_a_trace_tells_its_length_and_labels():
    trace = askance.make("PA").run([[1.0], [2.0], [-1.0]], [1, 1, 0])
    assert len(trace) == 3
    assert repr(trace) == "Trace(3 events, 3 labels bought)"
    assert trace.truth.tolist() == [1, 1, 0]


def test_a_trace_becomes_a_table_a_drawing_and_a_cell_of_a_notebook():
    import matplotlib

    matplotlib.use("agg")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] > 0, "<b>", "a").astype(object)
    y[:3] = None
    trace = askance.make("PAA-I", random_state=0).run(X, y)
    table = trace.to_frame()
    assert table.columns.tolist() == ["truth", "predicted", "margin", "probability", "asked", "audit"]
    assert table["asked"].sum() == trace.asked.sum()
    assert table["truth"].isna().sum() == 3
    (line,) = trace.plot("balanced_accuracy").lines
    assert len(line.get_xdata()) == len(trace.curve("balanced_accuracy").events)
    shown = trace._repr_html_()
    assert "<th>events</th><td>200</td>" in shown
    assert "recall of &lt;b&gt;" in shown
    assert "<b>" not in shown
