"""Rules written by a user: they work like ours, and mistakes in them are told in a sentence."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import askance
from askance.errors import IncompatibleRules, InvalidKernel, InvalidParameter, InvalidType
from askance.queries import Always, Margin, Variance
from askance.rules import Kernels, QueryRule, UpdateRule, add, linear_margin, margin_and_variance, positive, sign

X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [-1.0, 0.5]])
Y = np.array([1, -1, 1, -1])
STEP = 0.5


def learn_plainly(parameters, state, event, answer, prediction, weight):
    add(state.table, 0, event, parameters[0] * sign(answer))


@dataclass
class Plain(UpdateRule):
    rate: float = positive(1.0)

    binary: ClassVar = Kernels(margin=linear_margin, learn=learn_plainly)


def play(update, query=None):
    clf = askance.ActiveClassifier(update, query or Always(), classes=[-1, 1], random_state=0)
    clf.run(X, Y)
    return clf


def test_a_rule_of_ones_own_runs_asks_and_tells_alike():
    together = play(Plain(rate=0.5), Margin(delta=1.0))
    clf = askance.ActiveClassifier(Plain(rate=0.5), Margin(delta=1.0), classes=[-1, 1], n_features=2, random_state=0)
    for x, y in zip(X, Y, strict=True):
        if clf.ask(x).asked:
            clf.tell(x, y)
    assert np.array_equal(clf.coef_, together.coef_)


def test_learn_sees_no_variance_whether_the_answer_comes_at_once_or_later():
    def learn_by_variance(parameters, state, event, answer, prediction, weight):
        add(state.table, 0, event, sign(answer) * (1.0 + prediction.variance))

    @dataclass
    class ByVariance(UpdateRule):
        binary: ClassVar = Kernels(margin=linear_margin, learn=learn_by_variance, score=margin_and_variance)

        def start_values(self):
            return (0.0, 1.0)

    query = Variance(delta=100.0, eta=1.0, gamma=1.0)
    together = play(ByVariance(), query)
    later = askance.ActiveClassifier(ByVariance(), query, classes=[-1, 1]).partial_fit(X, Y)
    assert np.array_equal(together.coef_, later.coef_)


def test_a_helper_may_have_the_name_of_what_it_wraps():
    def exp(x):
        return math.exp(min(x, 30.0))

    def learn_with_exp(parameters, state, event, answer, prediction, weight):
        add(state.table, 0, event, sign(answer) * helpers_exp(-prediction.margin))  # noqa: F821

    globals()["helpers_exp"] = exp

    @dataclass
    class WithExp(UpdateRule):
        binary: ClassVar = Kernels(margin=linear_margin, learn=learn_with_exp)

    assert np.isfinite(play(WithExp()).coef_).all()


def test_a_constant_changed_in_a_running_session_counts_at_once():
    def learn_by_step(parameters, state, event, answer, prediction, weight):
        add(state.table, 0, event, sign(answer) * STEP)

    @dataclass
    class ByStep(UpdateRule):
        binary: ClassVar = Kernels(margin=linear_margin, learn=learn_by_step)

    before = play(ByStep()).coef_
    globals()["STEP"] = 1.0
    after = play(ByStep()).coef_
    globals()["STEP"] = 0.5
    assert np.array_equal(after, 2.0 * before)


def test_an_edit_put_into_the_function_there_was_counts_at_once():
    def never_due(parameters, margin, variance, squared_length, tally, chance=0.0):
        return chance

    def always(parameters, margin, variance, squared_length, tally, chance=0.0):
        return chance + 1.0

    class Edited(QueryRule):
        probability: ClassVar = staticmethod(never_due)

    clf = askance.ActiveClassifier(query=Edited(), random_state=0)
    assert clf.run(X, Y).probability.tolist() == [0.0] * 4
    never_due.__code__ = always.__code__
    assert clf.run(X, Y).probability.tolist() == [1.0] * 4
    never_due.__defaults__ = (-0.5,)
    assert clf.run(X, Y).probability.tolist() == [0.5] * 4


def test_a_kernel_that_calls_itself_is_refused():
    def again(n):
        return again_by_name(n - 1) if n > 0 else 0  # noqa: F821

    globals()["again_by_name"] = again

    def learn_again(parameters, state, event, answer, prediction, weight):
        state.table[0, 0, 0] = again_by_name(3)  # noqa: F821

    @dataclass
    class Again(UpdateRule):
        binary: ClassVar = Kernels(margin=linear_margin, learn=learn_again)

    with pytest.raises(InvalidParameter, match="calls itself"):
        play(Again())


def test_an_index_out_of_bounds_is_an_error_and_not_somebody_elses_memory():
    def learn_beyond(parameters, state, event, answer, prediction, weight):
        state.extra[3] = 1.0

    @dataclass
    class Beyond(UpdateRule):
        binary: ClassVar = Kernels(margin=linear_margin, learn=learn_beyond)

    with pytest.raises(
        InvalidKernel, match="a kernel of Beyond, Always, Unlimited used an index that is out of bounds"
    ):
        play(Beyond())


def test_a_kernel_that_makes_arrays_or_names_nothing_says_so():
    def learn_with_arrays(parameters, state, event, answer, prediction, weight):
        state.table[0, 0, 0] = np.zeros(3).sum()

    @dataclass
    class WithArrays(UpdateRule):
        binary: ClassVar = Kernels(margin=linear_margin, learn=learn_with_arrays)

    def learn_nothing_known(parameters, state, event, answer, prediction, weight):
        state.table[0, 0, 0] = nothing_of_this_name  # noqa: F821

    @dataclass
    class NothingKnown(UpdateRule):
        binary: ClassVar = Kernels(margin=linear_margin, learn=learn_nothing_known)

    for rule in (WithArrays(), NothingKnown()):
        with pytest.raises(InvalidKernel, match="cannot be compiled: .* NUMBA_DISABLE_JIT=1"):
            play(rule)


def test_a_class_without_its_decorator_or_parts_says_what_is_missing():
    class NoDataclass(UpdateRule):
        rate: float = 1.0
        binary: ClassVar = Kernels(margin=linear_margin, learn=learn_plainly)

    @dataclass
    class NoKernels(UpdateRule):
        pass

    def half(parameters, margin, variance, squared_length, tally):
        return 0.5

    @dataclass
    class NoStaticmethod(QueryRule):
        probability: ClassVar = half

    with pytest.raises(InvalidType, match="put @dataclass above it"):
        play(NoDataclass())
    with pytest.raises(InvalidType, match="binary must be Kernels"):
        play(NoKernels())
    with pytest.raises(InvalidType, match="staticmethod"):
        play(Plain(), NoStaticmethod())


def test_a_probability_beyond_one_counts_as_one():
    def seven(parameters, margin, variance, squared_length, tally):
        return 7.0

    @dataclass
    class Seven(QueryRule):
        probability: ClassVar = staticmethod(seven)

    clf = askance.ActiveClassifier(Plain(), Seven(), classes=[-1, 1], random_state=0)
    assert clf.run(X, Y).probability.tolist() == [1.0] * 4


def test_a_query_rule_that_reads_what_it_does_not_declare_is_told():
    def by_variance(parameters, margin, variance, squared_length, tally):
        return min(1.0, variance)

    def by_length(parameters, margin, variance, squared_length, tally):
        return 1.0 / (1.0 + squared_length)

    class ByVariance(QueryRule):
        probability: ClassVar = staticmethod(by_variance)

    class ByLength(QueryRule):
        probability: ClassVar = staticmethod(by_length)

    class Declared(ByLength):
        reads_length: ClassVar = True

    def by_inner(parameters, margin, variance, squared_length, tally):
        def root():
            return variance

        return root()

    def by_star(parameters, margin, *rest):
        return rest[0]

    update = askance.updates.AdaptiveRegularizationDiagonal()
    for kernel in (by_inner, by_star):

        class Indirect(QueryRule):
            probability: ClassVar = staticmethod(kernel)

        with pytest.raises(IncompatibleRules, match="reads the variance"):
            askance.ActiveClassifier(update, Indirect())._check_rules()
    with pytest.raises(IncompatibleRules, match="reads the variance .*, which comes as 0 unless .* reads_variance"):
        askance.ActiveClassifier(update, ByVariance())._check_rules()
    with pytest.raises(IncompatibleRules, match="reads the length .* reads_length"):
        askance.ActiveClassifier(update, ByLength())._check_rules()
    trace = askance.ActiveClassifier(update, Declared(), random_state=0).run([[1.0, 1.0], [2.0, 0.0]], [0, 1])
    np.testing.assert_array_equal(trace.probability, [1 / 3, 1 / 5])
