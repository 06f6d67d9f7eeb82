"""What a user writes, and the classifier it stands for."""

import pytest

from askance.errors import InvalidParameter
from askance.runner.algorithm_spec import AlgorithmSpec, parameters_in, parse_algorithm


def test_auto_plays_if_no_algorithm_is_named():
    assert AlgorithmSpec().about() == {"algorithm": "auto", "parameters": {"objective": "balanced"}}
    assert AlgorithmSpec(parameters={"objective": "f1"}).make(["a", "b"]).update.objective == "f1"


def test_parameters_of_every_kind():
    assert parameters_in(["C=0.1", "sketch_size=5", "weighted=true", " eta = 1e-3 "]) == {
        "C": 0.1,
        "sketch_size": 5,
        "weighted": True,
        "eta": 0.001,
    }
    assert parse_algorithm("PAA-I:C=1,delta=2", ["C=3"]) == ("PAA-I", {"C": 3, "delta": 2})


@pytest.mark.parametrize("text", ["C", "C=", "=1", "C=x", "C=1/2"])
def test_what_is_not_understood_is_refused(text):
    with pytest.raises(InvalidParameter, match="is not understood; write a parameter and its value"):
        parameters_in([text])


def test_what_cannot_work_is_refused_before_anything_is_read():
    with pytest.raises(InvalidParameter, match="C must be"):
        AlgorithmSpec("PAA-I", {"C": -1}).check()
    with pytest.raises(InvalidParameter, match="has no parameter 'C'"):
        AlgorithmSpec(parameters={"C": 1.0}).check()


@pytest.mark.parametrize("letter", ["budget", "classes", "explore", "intercept", "n_features", "random_state"])
def test_what_every_algorithm_takes_is_not_one_of_its_parameters(letter):
    with pytest.raises(InvalidParameter, match=f"'{letter}' is no parameter of an algorithm; it is set on its own"):
        AlgorithmSpec("PAA-I", {letter: 1}).make([0, 1])
