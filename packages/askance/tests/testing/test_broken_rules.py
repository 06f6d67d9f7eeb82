"""Rules with a fault: the checks find it, and say in a sentence how to mend it."""

from dataclasses import dataclass
from math import exp, log
from typing import ClassVar

import numpy as np
import pytest

from askance.errors import InvalidType
from askance.rules import Kernels, QueryRule, Score, UpdateRule, add, linear_margin, margin_and_variance, positive, sign
from askance.testing import BrokenContract, check_query_rule, check_update_rule
from askance.testing.contract import expect, run_checks


def faults_of(check, rule):
    with pytest.raises(BrokenContract) as caught:
        check(rule)
    return str(caught.value)


# --- update rules ----------------------------------------------------------------------------------------


def learn_away(parameters, state, event, answer, prediction, weight):
    add(state.table, 0, event, -0.1 * sign(answer))


@dataclass
class Away(UpdateRule):
    rate: float = 1.0
    weighted: bool = False

    binary: ClassVar = Kernels(margin=linear_margin, learn=learn_away)


def test_a_step_away_a_weight_that_does_not_count_and_a_parameter_that_takes_nan_are_found():
    told = faults_of(check_update_rule, Away)
    assert told.startswith("Away breaks 3 rules:\n- Away: rate=nan is not refused; declare the field with positive")
    assert "learn must move the weights towards the answer" in told
    assert "an answer of weight 0.001 moved the model as far as one of weight 1; multiply the step by weight" in told


def learn_everywhere(parameters, state, event, answer, prediction, weight):
    add(state.table, 0, event, 0.1 * sign(answer))
    for column in range(state.table.shape[0]):
        state.table[column, 0, 0] *= 0.999


def count_predictions(parameters, state, event):
    state.extra[0] += 1.0
    return linear_margin(parameters, state, event)


@dataclass
class Everywhere(UpdateRule):
    binary: ClassVar = Kernels(margin=count_predictions, learn=learn_everywhere)
    own_numbers: ClassVar = 1


def test_learning_beyond_the_event_and_predicting_that_writes_are_found():
    told = faults_of(check_update_rule, Everywhere)
    assert "predicting changed the model; margin and score kernels may write to state.scores" in told
    assert "learning changed numbers of features that the event does not have" in told


def learn_by_average(parameters, state, event, answer, prediction, weight):
    total = 0.0
    for column in range(state.table.shape[0]):
        total += state.table[column, 0, 0]
    state.variances[0] += 1.0  # scratch, which no file keeps
    add(state.table, 0, event, sign(answer) / (10.0 + abs(total) + state.variances[0] + event.start))


@dataclass
class ByAverage(UpdateRule):
    binary: ClassVar = Kernels(margin=linear_margin, learn=learn_by_average)


def test_reading_beyond_the_event_its_place_in_the_block_and_unsaved_memory_are_found():
    told = faults_of(check_update_rule, ByAverage)
    assert "learning read numbers of features that the event does not have" in told
    assert "played in chunks, the stream gave another result than at once (event " in told
    assert "saved and loaded in mid-stream, it went on otherwise" in told


def learn_wildly(parameters, state, event, answer, prediction, weight):
    state.extra[0] += 1.0  # even where nothing is learned
    if sign(answer) * prediction.margin < 1.0:
        add(state.table, 0, event, 0.1 * weight * sign(answer) * exp(-0.001 * sign(answer) * prediction.margin))


def twice_as_sure(parameters, state, event):
    score = margin_and_variance(parameters, state, event)
    return Score(score.predicted, 2.0 * score.margin, score.variance)


@dataclass
class Wild(UpdateRule):
    weighted: bool = False

    binary: ClassVar = Kernels(margin=linear_margin, learn=learn_wildly, score=twice_as_sure)
    own_numbers: ClassVar = 1

    def start_values(self):
        return (0.0, 1.0)


def test_an_overflow_a_score_of_its_own_and_a_hidden_count_are_found():
    told = faults_of(check_update_rule, Wild)
    assert "asking and predicting give different predictions or margins for the same event" in told
    assert "with features of size 1e+06 a margin or a weight was no longer finite" in told
    assert "say is_idempotent: ClassVar = False" in told


def learn_too_surely(parameters, state, event, answer, prediction, weight):
    add(state.table, 0, event, 0.1 * sign(answer) * (1.0 + np.random.random()))
    for i in range(event.start, event.stop):
        state.table[event.columns[i], 1, 0] -= 0.7


@dataclass
class TooSure(UpdateRule):
    binary: ClassVar = Kernels(margin=linear_margin, learn=learn_too_surely, score=margin_and_variance)

    def start_values(self):
        return (0.0, 1.0)


def test_chance_in_a_kernel_and_a_variance_below_zero_are_found():
    told = faults_of(check_update_rule, TooSure())
    assert "a variance was below 0 or not finite" in told
    assert "the same stream with the same seed gave another result" in told


# --- query rules -----------------------------------------------------------------------------------------


def by_inverse(parameters, margin, variance, squared_length, tally):
    return parameters[0] / abs(margin)


def beyond_one(parameters, margin, variance, squared_length, tally):
    parameters[0] *= 2.0
    return parameters[0]


def by_square(parameters, margin, variance, squared_length, tally):
    return parameters[0] ** 2 / (parameters[0] ** 2 + abs(margin))


def by_logarithm(parameters, margin, variance, squared_length, tally):
    return min(1.0, -log(abs(margin)))


def at_random(parameters, margin, variance, squared_length, tally):
    return np.random.random()


FAULTS = {
    by_inverse: "the probability is inf for margin=0, variance=0, .* it must be in",
    beyond_one: "its kernel wrote to parameters",
    by_square: "with half its scale the odds of asking became 0.25 of what they were",
    by_logarithm: "failed for margin=0, variance=0, .* guard the division, root or power",
    at_random: "draw no random numbers: the loop does",
}


@pytest.mark.parametrize("kernel", FAULTS, ids=lambda kernel: kernel.__name__)
def test_a_faulty_query_rule_is_told(kernel):
    @dataclass
    class Faulty(QueryRule):
        width: float = positive(0.5)

        probability: ClassVar = staticmethod(kernel)
        scales: ClassVar = 1

    with pytest.raises(BrokenContract, match=FAULTS[kernel]):
        check_query_rule(Faulty)


def test_a_probability_beyond_one_and_a_needless_declaration_are_told():
    def seven(parameters, margin, variance, squared_length, tally):
        return 7.0

    @dataclass
    class Seven(QueryRule):
        probability: ClassVar = staticmethod(seven)
        reads_length: ClassVar = True

    told = faults_of(check_query_rule, Seven)
    assert "the probability is 7.0 for margin=0, variance=0, squared_length=1e-09, tally.seen=1; it must be in" in told
    assert "it says reads_length = True, but its kernel does not; leave it out, for it costs time." in told


def test_what_is_read_without_a_declaration_is_told():
    def unsure(parameters, margin, variance, squared_length, tally):
        return min(1.0, variance)

    @dataclass
    class Unsure(QueryRule):
        probability: ClassVar = staticmethod(unsure)

    assert "reads the variance" in faults_of(check_query_rule, Unsure)


# --- how they are told -----------------------------------------------------------------------------------


def test_what_is_no_rule_is_refused():
    for what in ("Margin", dict, Away()):
        with pytest.raises(InvalidType, match="expected a QueryRule, or a class of one, got"):
            check_query_rule(what)


def test_a_single_fault_is_a_single_sentence_and_the_same_one_is_told_once():
    def fail(case):
        expect(False, "Some: is wrong; mend it.")

    with pytest.raises(BrokenContract, match="^Some: is wrong; mend it.$"):
        run_checks("Some", [(fail, None), (fail, None)])
