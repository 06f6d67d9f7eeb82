"""Export a model to ONNX, to predict wherever onnxruntime runs.

What is exported predicts; it does not ask, and it does not learn. Only scores that are weighted sums of the features
have a place there: those of every single rule but the second-order Perceptron and the probit models.

    X, the events      double [n, features]
    scores             double [n], above 0 for the second class; of more than two classes, [n, classes]
    label              the predicted class of each event
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from askance.atomic import atomic_write
from askance.errors import InvalidInput, InvalidParameter
from askance.extras import how_to_install

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

__all__ = ["export"]

OPSET, IR_VERSION = 17, 8  # which runtimes since 2022 read
TYPES: dict[str, Any] = {"double": np.float64, "float": np.float32}
PROBES, PROBED_COLUMNS = 32, 64
TOLERANCE = 1e-9


def export(clf: Any, path: str | os.PathLike[str] | None = None, *, type: str = "double") -> ModelProto:
    """A classifier of numeric rows as an ONNX model, which is written to ``path``, if that is given.

    Parameters
    ----------
    clf : ActiveClassifier
        A single rule that has learned something. ``auto``, models of raw fields (texts, dicts, tables with words) and
        rules whose scores are no weighted sums of the features are refused.
    path : str or path, optional
        The file to write.
    type : {"double", "float"}
        What the events and the scores are. Scores are equal to ``decision_function`` to the last digits in double, and
        to about 6 digits in float.

    Examples
    --------
    >>> import askance
    >>> from askance.adapters.onnx import export
    >>> clf = askance.make("PAA-I", intercept=True, random_state=0)
    >>> model = export(clf.fit([[2.0, 0.0], [0.0, 1.0]] * 9, ["ham", "spam"] * 9))
    >>> [(output.name, len(output.type.tensor_type.shape.dim)) for output in model.graph.output]
    [('label', 1), ('scores', 1)]
    """
    try:
        import onnx
    except ModuleNotFoundError:
        raise InvalidInput(f"the export needs the package onnx: {how_to_install('onnx')}.") from None
    if type not in TYPES:
        raise InvalidParameter(f"type must be 'double' or 'float', got {type!r}.")
    weights, constants = _linear_scores(clf)
    graph = _Graph(TYPES[type])
    scores = graph.score(clf.n_features_in_, weights, constants, normalise=clf.normalize == "l2")
    graph.label(scores, clf.classes_, zero_is_second=len(clf.coef_) == 1)
    made = onnx.helper.make_model(
        onnx.helper.make_graph(graph.nodes, "askance", graph.inputs, graph.outputs, graph.constants),
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="askance",
    )
    onnx.checker.check_model(made, full_check=True)
    if path is not None:
        with atomic_write(Path(path)) as name:
            Path(name).write_bytes(made.SerializeToString())
    return made


def _linear_scores(clf: Any) -> tuple[np.ndarray, np.ndarray]:
    """The weights and the constants of the scores, a row for each; of two classes a single one."""
    if not hasattr(clf, "_predict_scores"):
        raise InvalidInput(f"only a classifier of askance can be exported, got {clf.__class__.__name__}.")
    if not clf._has_begun:
        raise InvalidInput("the classifier has learned nothing yet that could be exported.")
    if hasattr(clf, "_features"):
        raise InvalidInput(
            "the model reads raw fields, and ONNX has no place for their encoder; export a model of numeric rows."
        )
    rule = clf._rules().update
    if hasattr(rule, "report"):
        raise InvalidInput("auto is a committee of several models, which cannot be exported; export a single rule.")
    weights, constants = clf.coef_, clf.intercept_
    if len(clf.classes_) == 2 and len(weights) == 2:
        weights, constants = weights[1:] - weights[:1], constants[1:] - constants[:1]
    _check_by_trial(clf, weights, constants)
    return weights, constants


def _check_by_trial(clf: Any, weights: np.ndarray, constants: np.ndarray) -> None:
    """Refuse a classifier whose scores are others than the weighted sums: events with random values show it."""
    rng = np.random.default_rng(0)
    X = np.zeros((PROBES, clf.n_features_in_))
    columns = rng.permutation(clf.n_features_in_)[:PROBED_COLUMNS]
    X[:, columns] = rng.normal(size=(PROBES, len(columns)))
    X[0] = 0.0
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    rows = X / np.where(lengths > 0.0, lengths, 1.0) if clf.normalize == "l2" else X
    expected = rows @ weights.T + constants
    found = clf.decision_function(X).reshape(expected.shape)
    if not np.allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE * max(1.0, float(np.abs(expected).max()))):
        rule = clf._rules().update.__class__.__name__
        raise InvalidInput(f"the scores of {rule} are no weighted sums of the features, so that it cannot be exported.")


class _Graph:
    """The nodes of an ONNX graph, in the order in which they are computed."""

    def __init__(self, real: Any) -> None:
        import onnx

        self._helper, self._numpy = onnx.helper, onnx.numpy_helper
        self._real = np.dtype(real)
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def add(self, operation: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """One more operation; the name of its result."""
        self.nodes.append(self._helper.make_node(operation, inputs, [output], **attributes))
        return output

    def constant(self, name: str, value: Any) -> str:
        """A constant; numbers with decimals are of the graph's type."""
        array = np.asarray(value)
        if array.dtype.kind == "f":
            array = array.astype(self._real)
        elif array.dtype.kind == "U":
            array = array.astype(object)
        self.constants.append(self._numpy.from_array(array, name))
        return name

    def score(self, n_features: int, weights: np.ndarray, constants: np.ndarray, normalise: bool) -> str:
        """The scores of events, which are divided by their length first, if wanted."""
        real = self._helper.np_dtype_to_tensor_dtype(self._real)
        self.inputs.append(self._helper.make_tensor_value_info("X", real, ["n", n_features]))
        rows = "X"
        if normalise:
            squares = self.add("Mul", ["X", "X"], "squares")
            sums = self.add("ReduceSum", [squares, self.constant("features", [1])], "squared_lengths")
            length = self.add("Sqrt", [sums], "lengths")
            is_empty = self.add("Equal", [length, self.constant("zero", 0.0)], "are_empty")
            divisor = self.add("Where", [is_empty, self.constant("one", 1.0), length], "divisors")
            rows = self.add("Div", ["X", divisor], "rows")
        sums = self.add("MatMul", [rows, self.constant("weights", weights.T)], "weighted_sums")
        several = len(weights) > 1
        scores = self.add("Add", [sums, self.constant("constants", constants)], "scores" if several else "column")
        if not several:
            scores = self.add("Squeeze", [scores, self.constant("last", [1])], "scores")
        shape: list[str | int | None] = ["n", len(weights)] if several else ["n"]
        self.outputs.append(self._helper.make_tensor_value_info("scores", real, shape))
        return scores

    def label(self, scores: str, classes: np.ndarray, zero_is_second: bool) -> None:
        """The class with the highest score, the first of several; of two classes, that of the sign."""
        import onnx

        if len(classes) == 2:
            comparison = "GreaterOrEqual" if zero_is_second else "Greater"
            is_second = self.add(comparison, [scores, self.constant("threshold", 0.0)], "are_second")
            place = self.add("Cast", [is_second], "places", to=onnx.TensorProto.INT64)
        else:
            place = self.add("ArgMax", [scores], "places", axis=1, keepdims=0)
        names = classes if classes.dtype.kind in "iufU" else classes.astype(np.str_)
        names = names.astype(np.int64) if names.dtype.kind in "iu" else names
        self.add("Gather", [self.constant("classes", names), place], "label")
        kind = self._helper.np_dtype_to_tensor_dtype(
            np.dtype(object) if names.dtype.kind == "U" else self._real if names.dtype.kind == "f" else names.dtype
        )
        self.outputs.insert(0, self._helper.make_tensor_value_info("label", kind, ["n"]))
