"""Our classifiers in river, river's under our rules: with its own checks, its own loops and its own data."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest

import askance
from askance.budgets import PerPeriod
from askance.errors import IncompatibleRules, InvalidInput, InvalidParameter, InvalidType
from askance.queries import Always, Entropy, Margin, MistakeDrivenMargin

pytest.importorskip("river", reason="the adapter for river needs river: pip install './packages/askance[river]'")

from river import (
    active,
    checks,
    datasets,
    evaluate,
    linear_model,
    metrics,
    multiclass,
    naive_bayes,
    preprocessing,
    stream,
    tree,
)

from askance.adapters.river import QuerySampler, RiverActiveClassifier, RiverClassifier

FAILS_FOR_RIVER_TOO = {
    "check_predict_proba_one_binary": "an active classifier returns a pair, and this check expects a dict; river's "
    "own EntropySampler fails it, too, around a binary classifier",
}
LONG = "check_bounded_memory_growth"  # thousands of events


@pytest.fixture(scope="module")
def phishing():
    return list(datasets.Phishing().take(300))


@pytest.fixture(scope="module")
def segments():
    data = list(datasets.ImageSegments())
    return [data[i] for i in np.random.default_rng(0).permutation(len(data))[:250]]


def failures(model, names=lambda name: True):
    """The names of river's checks that fail."""
    found = set()
    for check in checks.yield_checks(model):
        if names(check.__name__) and check.__name__ not in model._unit_test_skips():
            try:
                check(model.clone())
            except Exception:
                found.add(check.__name__)
    return found


def all_models():
    for kind in (RiverClassifier, RiverActiveClassifier, QuerySampler):
        for parameters in kind._unit_test_params():
            yield pytest.param(kind(**parameters), id=f"{kind.__name__} {type(parameters['classifier']).__name__}")


def test_rivers_short_checks_pass():
    model = QuerySampler(linear_model.LogisticRegression(), budget=0.2)
    assert failures(model, lambda name: name != LONG) <= FAILS_FOR_RIVER_TOO.keys()


@pytest.mark.prove
@pytest.mark.parametrize("model", list(all_models()))
def test_rivers_checks_pass(model):
    assert failures(model) <= FAILS_FOR_RIVER_TOO.keys()


def test_what_fails_for_us_fails_for_rivers_own_sampler_too():
    sampler = active.EntropySampler(linear_model.LogisticRegression())
    assert failures(sampler, lambda name: name != LONG) >= FAILS_FOR_RIVER_TOO.keys()


# --- our classifiers in river ------------------------------------------------------------------------------


def test_ours_learns_in_river_what_it_learns_alone(phishing):
    model, alone = RiverClassifier(askance.make("PAA-I")), askance.make("PAA-I", classes=[False, True])
    assert model.predict_one(phishing[0][0]) is None
    assert model.predict_proba_one(phishing[0][0]) == {False: 0.5, True: 0.5}
    for x, y in phishing:
        model.learn_one(x, y)
        alone.partial_fit([x], [y])
    for x, _ in phishing[:20]:
        assert model.predict_one(x) is alone.predict([x]).item()
        assert list(model.predict_proba_one(x).values()) == alone.predict_proba([x])[0].tolist()


def test_ours_stands_behind_rivers_transformers_and_scores(phishing):
    model = preprocessing.StandardScaler() | RiverClassifier(askance.make("PAA-I"))
    assert evaluate.progressive_val_score(phishing, model, metrics.Accuracy()).get() > 0.75
    assert (
        evaluate.progressive_val_score(phishing, RiverClassifier(askance.make("PAA-I")), metrics.ROCAUC()).get() > 0.8
    )


def test_several_classes_are_named_or_left_to_river(segments):
    labels = sorted({y for _, y in segments})
    named = RiverClassifier(askance.make("MPAA-I", classes=labels))
    assert named._multiclass
    score = evaluate.progressive_val_score(segments, preprocessing.StandardScaler() | named, metrics.Accuracy())
    assert score.get() > 0.6
    rest = multiclass.OneVsRestClassifier(RiverClassifier(askance.make("PAA-I")))
    score = evaluate.progressive_val_score(segments[:100], preprocessing.StandardScaler() | rest, metrics.Accuracy())
    assert score.get() > 0.4
    with pytest.raises(InvalidInput, match="not one of the classes False, True"):
        RiverClassifier(askance.make("PAA-I")).learn_one({"a": 1.0}, "sky")


def test_ours_asks_in_river_as_it_does_alone(phishing):
    clf = askance.make("SOAL-diag", budget=0.2, explore=0.02)
    model = RiverActiveClassifier(clf, seed=4)
    alone = askance.make("SOAL-diag", budget=0.2, explore=0.02, classes=[False, True], random_state=4)
    for x, y in phishing:
        decision = alone.ask(x)
        assert model.predict_one(x) == (decision.label, decision.asked)
        if decision.asked:
            model.learn_one(dict(reversed(x.items())), y)  # the same event
            alone.tell(ticket=decision.ticket, y=y)
    assert model.labels_asked_ == alone.labels_asked_ > 20
    assert model.pending == []
    assert np.array_equal(model._clf.coef_, alone.coef_)
    assert not clf._has_begun


@pytest.mark.parametrize("delay", [None, 15])
@pytest.mark.parametrize(
    "model",
    [
        RiverActiveClassifier(askance.make("PAA-I", budget=0.2), seed=0),
        QuerySampler(preprocessing.StandardScaler() | linear_model.LogisticRegression(), budget=0.2, seed=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_progressive_validation_buys_what_is_asked_however_late_it_comes(model, delay, phishing):
    model = model.clone()
    steps = list(evaluate.iter_progressive_val_score(phishing, model, metrics.Accuracy(), delay=delay, step=300))
    assert steps[-1]["Samples used"] == model.labels_asked_
    assert 40 < model.labels_asked_ <= 70
    assert model.events_seen_ == 300
    assert model.pending == []  # every label found its question
    assert steps[-1]["Accuracy"].get() > 0.7


# --- river's classifiers under our rules -------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_decisions_are_those_of_the_formula(weighted, phishing):
    delta, limit, explore = 0.3, 60, 0.05
    model = QuerySampler(
        linear_model.LogisticRegression(), Margin(delta), limit, explore=explore, weighted=weighted, seed=7
    )
    rng, river, bought = np.random.default_rng(7), linear_model.LogisticRegression(), 0
    for x, y in phishing:
        chances = river.predict_proba_one(x)
        margin = math.log(chances[True]) - math.log(chances[False])
        chance = max(explore, delta / (delta + abs(margin))) if bought < limit else 0.0
        is_asked = rng.random() < chance
        decision = model.ask(x)
        assert decision.margin == pytest.approx(margin, abs=1e-12)
        assert decision.probability == pytest.approx(chance, abs=1e-12)
        assert (decision.asked, decision.label) == (is_asked, chances[True] > chances[False])
        if is_asked:
            model.tell(decision.ticket, y)
            river.learn_one(x, y, w=decision.weight if weighted else 1.0)
            bought += 1
    assert bought == limit
    assert model.classifier.weights == river.weights


def test_run_chunks_ask_tell_and_rivers_loop_are_the_same(phishing):
    make = lambda: QuerySampler(  # noqa: E731
        naive_bayes.GaussianNB(), MistakeDrivenMargin(0.2), 0.3, classes=[False, True], explore=0.02, seed=1
    )
    trace = make().run(phishing)
    pieces = make()
    joined = askance.Trace.join([pieces.run(phishing[a:b]) for a, b in itertools.pairwise([0, 1, 77, 300])])
    looped, told = make(), make()
    for t, (x, y) in enumerate(phishing):
        label, is_asked = looped.predict_one(x)
        assert (label, is_asked) == (trace.predicted[t], trace.asked[t])
        if is_asked:
            looped.learn_one(copy.deepcopy(x), y)
        decision = told.ask(x)
        assert (decision.margin, decision.probability) == (trace.margin[t], trace.probability[t])
        if decision.asked:
            told.tell(decision.ticket, y)
    for name in ("margin", "probability", "asked", "audit"):
        assert np.array_equal(getattr(trace, name), getattr(joined, name))
    assert 50 < trace.asked.sum() <= 100
    assert askance.quality.estimate(trace).accuracy.low <= np.mean(trace.predicted == trace.truth)


def test_classes_are_met_as_they_come(segments):
    model = QuerySampler(preprocessing.StandardScaler() | tree.HoeffdingTreeClassifier(), budget=0.5, seed=0)
    assert model.predict_one(segments[0][0]) in [(False, True), (None, True)]  # a pipeline does not tell its classes
    model = QuerySampler(tree.HoeffdingTreeClassifier(grace_period=20), budget=0.5, seed=0)
    assert model.predict_one(segments[0][0]) == (None, True)
    model.learn_one(*segments[0])
    decision = model.ask(segments[1][0])
    assert (decision.label, decision.margin) == (segments[0][1], 0.0)  # it knows one class, and nothing else
    assert decision.probability > 0.5
    model.forget(decision.ticket) if decision.asked else None
    for x, y in segments:
        if model.predict_one(x)[1]:
            model.learn_one(x, y)
    assert set(model.predict_proba_one(segments[0][0])[0]) == {y for _, y in segments}
    assert 80 < model.labels_asked_ <= 140


def test_a_model_that_has_learned_elsewhere_brings_its_classes(segments):
    river = naive_bayes.GaussianNB()
    for x, y in segments[:100]:
        river.learn_one(x, y)
    model = QuerySampler(river, Always(), seed=0)
    decision = model.ask(segments[100][0])
    assert decision.label == river.predict_one(segments[100][0])
    assert decision.margin > 0.0
    model.tell(decision.ticket, segments[100][1])
    assert model.labels_asked_ == 1


def test_late_answers_go_to_their_own_events(phishing):
    model, alone = QuerySampler(linear_model.LogisticRegression(), Always(), seed=0), linear_model.LogisticRegression()
    events = [dict(x) for x, _ in phishing[:30]]
    tickets = [model.ask(x).ticket for x in events]
    for x in events:
        x.clear()  # the ticket has its own
    order = np.random.default_rng(0).permutation(30)
    for t in order:
        model.tell(tickets[t], phishing[t][1])
        alone.learn_one(*phishing[t])
    assert model.classifier.weights == alone.weights
    again = pickle.loads(pickle.dumps(model))
    assert again.ask(phishing[40][0]) == model.ask(phishing[40][0])
    with pytest.raises(LookupError, match="no open ticket 99"):
        model.tell(99, True)


def test_equal_events_and_odd_features_find_their_questions():
    model = QuerySampler(naive_bayes.BernoulliNB(), Always(), seed=0)
    for x in ({"a": 1}, {"a": 1}, {3: 1.0, "b": 0}):
        model.predict_one(x)
    for x in ({"b": 0, 3: 1.0}, {"a": 1}):
        model.learn_one(x, "yes")
    assert model.pending == [2]
    ours = RiverActiveClassifier(askance.make("PAA-I"), seed=0)
    ours.predict_one({"tags": ["x", "y"], 7: 1.0})
    ours.learn_one({"tags": ["x", "y"], 7: 1.0}, True)
    assert ours.pending == []


def test_forgotten_questions_leave_no_trace(phishing):
    model = QuerySampler(linear_model.LogisticRegression(), Always(), seed=0, max_pending=5)
    for x, _ in phishing:
        model.predict_one(x)
    assert len(model.pending) == 5
    assert sum(map(len, model._asked._tickets.values())) <= 26
    model.learn_one(*phishing[0])  # dropped: a label that nobody waits for is learned all the same
    assert model.pending == [296, 297, 298, 299, 300]


def test_budgets_by_time_take_the_time_of_an_event(phishing):
    model = QuerySampler(linear_model.LogisticRegression(), budget=PerPeriod(5, 100.0), seed=0)
    asked = [model.ask(x, time=float(t)).asked for t, (x, _) in enumerate(phishing)]
    assert [sum(asked[a : a + 100]) for a in (0, 100, 200)] == [5, 5, 5]
    with pytest.raises(InvalidInput, match="needs the time of each event"):
        model.predict_one(phishing[0][0])


def test_it_reads_any_stream_of_river():
    rows = stream.iter_array(np.eye(4), [True, False, True, False], feature_names=list("abcd"))
    assert QuerySampler(linear_model.LogisticRegression(), Always(), seed=0).run(rows).asked.all()


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: QuerySampler(askance.make("PAA-I")), InvalidType, "takes a classifier of river"),
        (lambda: QuerySampler(linear_model.LogisticRegression), InvalidType, "takes a classifier of river"),
        (lambda: QuerySampler(linear_model.LogisticRegression(), Entropy()), IncompatibleRules, "reads the variance"),
        (lambda: QuerySampler(linear_model.LogisticRegression(), budget=1.5), InvalidParameter, "budget=1.5"),
        (lambda: QuerySampler(tree.ExtremelyFastDecisionTreeClassifier(), weighted=1), InvalidType, "weighted must"),
        (lambda: QuerySampler(naive_bayes.GaussianNB(), weighted=True), InvalidParameter, "takes no weight w"),
        (lambda: RiverClassifier(linear_model.LogisticRegression()), InvalidType, "must be one of ours"),
        (lambda: RiverActiveClassifier(askance.make("PAA-I", budget=1.5)), InvalidParameter, "budget=1.5"),
        (lambda: RiverClassifier(askance.make("PAA-I")).learn_one(["a"], True), InvalidInput, "is a dict of features"),
        (lambda: QuerySampler(naive_bayes.GaussianNB()).run([({"a": 1.0}, 1)]), InvalidInput, "name them with classes"),
        (lambda: QuerySampler(naive_bayes.GaussianNB()).learn_one({"a": 1.0}, None), InvalidInput, "label is None"),
    ],
)
def test_what_cannot_work_is_refused_in_a_sentence(make, error, words):
    with pytest.raises(error, match=words):
        make()
