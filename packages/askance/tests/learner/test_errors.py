"""Errors: one sentence, a built-in's subclass, and the model as it was."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import askance
from askance import budgets, queries, updates
from askance.errors import AskanceError

X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0], [1.0, 1.0, 0.0]])
Y = np.array([1, -1, 1])


def a_model():
    return askance.make("PAA-I", random_state=0).partial_fit(X, Y)


def changed(value):
    copy = X.copy()
    copy[1, 2] = value
    return copy


def broken_csr(indices):
    matrix = sp.csr_matrix(X)
    matrix.indices = np.array(indices, dtype=np.int32)
    return matrix


def bent_csr(**arrays):
    row = sp.csr_matrix(X[:1])
    for name, values in arrays.items():
        setattr(row, name, np.array(values, dtype=getattr(row, name).dtype))
    return row


BAD_CALLS = {
    "infinity": (lambda clf: clf.run(changed(np.inf), Y), r"row 1, column 2 of X is \+inf"),
    "minus infinity": (lambda clf: clf.partial_fit(changed(-np.inf), Y), "row 1, column 2 of X is -inf"),
    "infinity in float32 CSR": (
        lambda clf: clf.run(sp.csr_matrix(changed(np.inf).astype(np.float32)), Y),
        r"row 1, column 2 of X is \+inf",
    ),
    "infinity in float32": (
        lambda clf: clf.run(changed(np.inf).astype(np.float32), Y),
        r"row 1, column 2 of X is \+inf",
    ),
    "too large": (lambda clf: clf.run(changed(1e200), Y), "beyond 1e150: sums of squares overflow; scale the features"),
    "a finite square": (lambda clf: clf.run(changed(1e154), Y), r"row 1, column 2 of X is 1e\+154, beyond 1e150"),
    "too large in CSR": (
        lambda clf: clf.run(sp.csr_matrix(changed(1e200)), Y),
        r"row 1, column 2 of X is 1e\+200, beyond 1e150",
    ),
    "a number beyond floats": (lambda clf: clf.run([[10**400, 1, 0]] * 3, Y), "real numbers that fit a float"),
    "dates": (lambda clf: clf.run(np.full((3, 3), "2026-01-01", "datetime64[D]"), Y), "real numbers"),
    "complex event": (lambda clf: clf.ask([1j, 0, 0]), "real numbers"),
    "indptr beyond the data": (lambda clf: clf.ask(bent_csr(indptr=[0, 4_000_000])), "not a valid CSR matrix"),
    "indices cut short": (lambda clf: clf.ask(bent_csr(indices=[0])), "not a valid CSR matrix"),
    "data cut short": (lambda clf: clf.ask(bent_csr(data=[1.0])), "not a valid CSR matrix"),
    "weight as text": (lambda clf: clf.tell(X[0], 1, weight="1"), "weight must be"),
    "label as a list": (lambda clf: clf.tell(X[0], [1, 1]), "not one of the classes"),
    "widened by words": (lambda clf: clf.widen("5"), "n_features must be a whole number"),
    "widened beyond reason": (lambda clf: clf.widen(2**40), "n_features must be a whole number"),
    "wrong width": (lambda clf: clf.run(X[:, :2], Y), "2 features, but ActiveClassifier is expecting 3"),
    "wrong width to predict": (lambda clf: clf.predict(X[:, :2]), "2 features"),
    "infinity to predict": (lambda clf: clf.predict(changed(np.inf)), "inf"),
    "column beyond the width": (
        lambda clf: clf.run(broken_csr([0, 3, 1, 2, 0, 1]), Y),
        "row 0 of X has column index 3",
    ),
    "negative column": (lambda clf: clf.run(broken_csr([0, -2, 1, 2, 0, 1]), Y), "column index -2"),
    "unknown label": (lambda clf: clf.run(X, [1, -1, 7]), r"y\[2\] is 7, which is not one of the classes -1, 1"),
    "label of another kind": (lambda clf: clf.run(X, ["a", "b", "a"]), r"y\[0\] is 'a'"),
    "unknown label told": (lambda clf: clf.tell(X[0], "spam"), "the label is 'spam', which is not one of the classes"),
    "lengths differ": (lambda clf: clf.run(X, Y[:2]), "X has 3 events and y has 2 labels; each event needs one"),
    "one-dimensional X of another length": (lambda clf: clf.run(X[0], Y[:2]), "its rows is an event"),
    "more asked than seen": (
        lambda clf: clf._set_labels_asked(4_000),
        "whole one from 0 to .*, the events seen, got 4000",
    ),
    "one-dimensional X": (lambda clf: clf.run(X[0], Y), "its rows is an event"),
    "text": (lambda clf: clf.run([["a", "b", "c"]] * 3, Y), "words in columns without names"),
    "event of wrong width": (lambda clf: clf.ask([1.0, 2.0]), "one event has 3 features, got an array of shape"),
    "event with infinity and NaN": (lambda clf: clf.ask([np.nan, np.inf, 0.0]), r"column 1 of the event is \+inf"),
    "infinity after NaN": (lambda clf: clf.run(np.array([[np.nan] * 3, X[1], [0, 0, -np.inf]]), Y), "row 2, column 2"),
    "event with infinity": (lambda clf: clf.ask(([1], [np.inf])), "inf"),
    "several events at once": (lambda clf: clf.ask(X), "one event has 3 features"),
    "several CSR rows": (lambda clf: clf.ask(sp.csr_matrix(X)), r"shape \(1, 3\), got shape \(3, 3\)"),
    "event column beyond the width": (lambda clf: clf.ask(([1, 3], [1.0, 1.0])), "the event has column 3"),
    "event columns and values differ": (lambda clf: clf.ask(([1, 2], [1.0])), "2 columns but 1 values"),
    "event columns not whole": (lambda clf: clf.ask(([1.5], [1.0])), "must be whole numbers"),
    "event of words": (lambda clf: clf.ask(["a", "b", "c"]), "made of real numbers"),
    "negative weight": (lambda clf: clf.tell(X[0], 1, weight=-1.0), "weight must be"),
    "NaN weight": (lambda clf: clf.tell(X[0], 1, weight=np.nan), "weight must be"),
    "other classes later": (lambda clf: clf.partial_fit(X, Y, classes=[0, 1]), "differs from the classes at first"),
}


@pytest.mark.parametrize("case", BAD_CALLS)
def test_a_bad_call_says_why_in_one_sentence_and_leaves_the_model_alone(case):
    call, message = BAD_CALLS[case]
    clf = a_model()
    before, counts, random = (
        clf.coef_.copy(),
        clf._engine.budget_state.counts.copy(),
        str(clf._engine.rng.bit_generator.state),
    )
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        call(clf)
    assert "\n\n" not in str(caught.value)
    assert np.array_equal(clf.coef_, before)
    assert np.array_equal(clf._engine.budget_state.counts, counts)
    assert str(clf._engine.rng.bit_generator.state) == random


BAD_BEGINNINGS = {
    "one class only": (lambda: askance.make("PAA-I").run(X, [1, 1, 1]), "only one class, .*1"),
    "one class named": (lambda: askance.make("PAA-I", classes=["a"]).run(X, ["a"] * 3), "only one class"),
    "continuous labels": (lambda: askance.make("PAA-I").fit(X, [0.1, 0.7, 2.5]), "a quantity rather than classes"),
    "NaN label": (lambda: askance.make("PAA-I").fit(X, [0.0, np.nan, 1.0]), r"the label y\[1\] is missing"),
    "labels that cannot be sorted": (lambda: askance.make("PAA-I", classes=[1, "a"]), "cannot be sorted together"),
    "three classes for a binary rule": (lambda: askance.make("SOAL", classes=[0, 1, 2]), "Only binary classification"),
    "classes unknown at ask": (lambda: askance.make("PAA-I").ask(X[0]), "classes are not known"),
    "width unknown at ask": (
        lambda: askance.make("PAA-I", classes=[0, 1]).ask(([0], [1.0])),
        "does not tell the number of features",
    ),
    "n_features contradicts X": (lambda: askance.make("PAA-I", n_features=5).run(X, Y), "n_features=5"),
    "too wide for a matrix": (
        lambda: askance.make("OA3", classes=[0, 1], n_features=3_200_000).ask(([0], [1.0])),
        "3,200,000 x 3,200,000 numbers.*diagonal or sketched",
    ),
    "infinity in the first call": (lambda: askance.make("PAA-I").run(changed(np.inf), Y), "inf"),
    "empty": (lambda: askance.make("PAA-I").run(np.empty((0, 3)), []), "0 sample"),
}


@pytest.mark.parametrize("case", BAD_BEGINNINGS)
def test_a_bad_beginning_says_why(case):
    call, message = BAD_BEGINNINGS[case]
    with pytest.raises((ValueError, TypeError), match=message):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda clf: clf.tell(X[0], "unknown"),
        lambda clf: clf.partial_fit(X, Y, sample_weight=[1.0, 2.0, 3.0]),
        lambda clf: clf.partial_fit(X, Y, sample_weight=[1.0]),
    ],
    ids=["unknown label", "weights for an unweighted rule", "too few weights"],
)
def test_a_refused_first_call_does_not_begin_a_model(call):
    clf = askance.make("PAA-I", classes=[-1, 1], random_state=0)
    with pytest.raises(ValueError, match="."):
        call(clf)
    assert not hasattr(clf, "classes_")


def test_a_parameter_assigned_directly_is_checked_with_the_next_call():
    clf = a_model()
    clf.update.C = -1.0
    with pytest.raises(ValueError, match="C must be a finite number above 0, got -1"):
        clf.run(X, Y)


def test_a_bad_first_call_leaves_no_trace():
    clf = askance.make("PAA-I", random_state=0)
    with pytest.raises(ValueError, match="inf"):
        clf.run(changed(np.inf), Y)
    assert not hasattr(clf, "n_features_in_")
    clf.run(X[:, :2], Y)


BAD_PARAMETERS = {
    "C of zero": (lambda: askance.make("PAA-I", C=0), "C must be a finite number above 0, got 0"),
    "negative C": (lambda: updates.PassiveAggressive1(C=-2.0), "C must be a finite number above 0, got -2"),
    "infinite C": (lambda: updates.PassiveAggressive1(C=np.inf), "got inf"),
    "NaN eta": (lambda: askance.make("SOAL", eta=np.nan), "got nan"),
    "C beyond floats": (lambda: askance.make("PAA-I", C=10**400), "C must be a finite number"),
    "C as text": (lambda: askance.make("PAA-I", C="1"), "got '1'"),
    "rate of zero": (lambda: askance.make("RPA", rate=0.0), r"rate must be in \(0, 1\], got 0"),
    "rate of 20": (
        lambda: askance.make("RPA", rate=20),
        r"rate must be in \(0, 1\], got 20. To allow 20 labels in total use budget=20.",
    ),
    "epsilon of a half": (lambda: askance.make("UOAL-entropy", epsilon=0.5), r"epsilon must be in \[0, 0.5\)"),
    "decay above one": (lambda: askance.make("UOAL-entropy", decay=1.5), "decay must be in"),
    "sketch size": (lambda: askance.make("SOA3", sketch_size=2.5), "sketch_size must be a whole number"),
    "unknown parameter": (lambda: askance.make("PAA-I", eta=1.0), "PAA-I has no parameter 'eta'; it takes C, delta"),
    "budget of half a label more": (lambda: askance.make("PAA-I", budget=2.5), "neither a whole number of labels"),
    "budget of all": (lambda: askance.make("PAA-I", budget=1.0), "nor a share of the events, such as 0.02"),
    "negative budget": (
        lambda: askance.make("PAA-I", budget=-1),
        "budget must be a number of labels, 0 or more",
    ),
    "budget as text": (lambda: askance.make("PAA-I", budget="ten"), "budget must be"),
    "normalize": (lambda: askance.make("PAA-I", normalize="l1"), 'normalize must be None or "l2"'),
    "intercept": (lambda: askance.make("PAA-I", intercept="yes"), "intercept must be True or False"),
    "n_features": (lambda: askance.make("PAA-I", n_features=0), "n_features must be"),
    "random_state": (lambda: askance.make("PAA-I", random_state=-1), "random_state must be"),
    "update is a string": (lambda: askance.ActiveClassifier(update="PA").fit(X, Y), "update must be an update rule"),
    "query is a class": (
        lambda: askance.ActiveClassifier(query=queries.Margin).fit(X, Y),
        "query must be a query rule",
    ),
    "no variance": (
        lambda: askance.ActiveClassifier(updates.Perceptron(), queries.Variance()).fit(X, Y),
        "Variance reads the variance of a margin, which Perceptron does not have",
    ),
    "no gamma": (
        lambda: askance.ActiveClassifier(updates.DualAveraging(), queries.Variance()).fit(X, Y),
        "Variance needs gamma, which DualAveraging does not have",
    ),
    "name is not text": (lambda: askance.make(3), "is a string"),
    "no such name": (lambda: askance.make("PAA1"), "no algorithm 'PAA1'. Did you mean .*PAA"),
    "near name": (lambda: askance.make("soal-diagonal"), "SOAL-diag"),
}


@pytest.mark.parametrize("case", BAD_PARAMETERS)
def test_a_bad_parameter_says_what_would_be_right(case):
    call, message = BAD_PARAMETERS[case]
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        call()
    assert isinstance(caught.value, AskanceError)


def test_predicting_before_learning_is_refused_as_scikit_learn_does():
    with pytest.raises(NotFittedError, match="has not seen any event yet"):
        askance.make("PAA-I").predict(X)


def test_names_are_found_in_any_case_and_by_alias():
    assert askance.make("paa-i").update == askance.make("APAI").update == updates.PassiveAggressive1()
    assert askance.make("PAA-I", budget=3).budget == 3
    assert askance.make("PAA-I", budget=budgets.Fixed(3)).budget == budgets.Fixed(3)


def test_the_largest_values_leave_room_for_sums_over_features_and_events():
    """With 1e154, whose square is finite, the last score would be infinite: four mistakes add up in the weights."""
    largest = 1e150
    clf = askance.make("PE", classes=["ham", "spam"])
    clf.partial_fit(np.eye(4) * largest, ["ham"] * 4)
    assert clf.decision_function(np.full((1, 4), largest / 2)).tolist() == [pytest.approx(-2.0 * largest**2)]
    assert np.isinf(4 * 1e154 * (1e154 / 2))
