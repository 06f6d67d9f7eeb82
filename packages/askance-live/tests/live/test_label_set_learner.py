"""The model of a stream of label sets: the library's, question by question, as a function of the log."""

import random

import numpy as np
import pytest

import askance
from askance.errors import AskanceError
from askance.evaluate.metrics.label_sets import summarise_label_sets
from askance_live.config import AskingSettings, from_document
from askance_live.engine.exploration import COLD_START
from askance_live.engine.label_sets.exploration import PATIENCE, LabelSetExploration
from askance_live.engine.label_sets.learner import LabelSetLearner
from askance_live.engine.label_space import LabelSets, OneClass, each_known, known_of, pack
from askance_live.engine.learner import Answer, Incoming, learner_kind
from askance_live.problems import Problem

LABELS = ["money", "politics", "sports"]
WORDS = [["bank", "cash", "stock"], ["vote", "party", "law"], ["goal", "ball", "team"]]
OTHERS = ["the", "a", "of", "and", "day"]


def events(n, seed=0):
    """Texts, with whether each has each of the labels."""
    rng = random.Random(seed)
    for place in range(n):
        has = [rng.random() < share for share in (0.1, 0.3, 0.4)]
        words = [rng.choice(WORDS[k]) for k in range(3) if has[k] for _ in range(3)] + rng.choices(OTHERS, k=4)
        rng.shuffle(words)
        fields = {"text": " ".join(words), "size": len(words)}
        if place % 37 == 5:
            fields[f"extra{place // 37}"] = rng.random()
        yield fields, has


def settings(algorithm="D-ADA", **more):
    model = {"algorithm": algorithm, "hash_bits": 10}
    return from_document({"classes": LABELS, "label_sets": True, "fields": {"text": "text"}, "model": model, **more})


def made(algorithm="D-ADA", asking=None):
    config = settings(algorithm)
    return learner_kind(config.model)(config.model, asking or AskingSettings(rate=0.2))


def reply(decided, has):
    return pack({place: has[place] for place, _ in each_known(decided.about)})


def taught(n=400, algorithm="D-ADA", asking=None):
    """A learner whose questions are answered at once."""
    learner, decided = made(algorithm, asking), []
    for seq, (fields, has) in enumerate(events(n), 1):
        (item,) = learner.decide([Incoming(fields, float(seq))], seq - 1)
        if item.asked:
            label = reply(item, has)
            learner.learn(Answer(seq, fields, label, item.predicted, item.scores, 1.0, item.audit, float(seq)))
        decided.append(item)
    return learner, decided


class Silent(LabelSetExploration):
    """Explores nothing, so that the query rule decides alone."""

    @property
    def levels(self):
        return [0.0] * len(self.found)


@pytest.mark.parametrize("algorithm", ["D-ADA", "PAA-I", "SOAL", "auto"])
def test_it_decides_and_learns_as_the_library_does(algorithm):
    asking = AskingSettings(rate=0.3, total=150)
    learner = made(algorithm, asking)
    learner.exploring = Silent(asking, 3)
    library = None
    for seq, (fields, has) in enumerate(events(200), 1):
        fields = {"text": fields["text"]}  # so that no event makes the model wider
        (item,) = learner.decide([Incoming(fields, float(seq))], seq - 1)
        x = learner.encode(fields)
        if library is None:
            library = askance.make_multilabel(
                algorithm, labels=LABELS, n_features=learner._room, intercept=True, random_state=0, max_pending=0,
                budget=learner.clf.budget,
            )  # fmt: skip
        decisions = library.ask(x, explore=0.0)
        assert [bool(item.predicted >> k & 1) for k in range(3)] == [decisions[label].label for label in LABELS]
        assert [(q.score, q.probability, q.asked) for q in item.scores] == [
            (decisions[label].margin, decisions[label].probability, decisions[label].asked) for label in LABELS
        ]
        if item.asked:
            answer = Answer(seq, fields, reply(item, has), item.predicted, item.scores, 1.0, item.audit, float(seq))
            learner.learn(answer)
            told = {LABELS[k]: has[k] for k, _ in each_known(item.about)}
            library.tell(x, told, {label: decisions[label].weight for label in told})
    assert learner.clf.labels_asked_ == library.labels_asked_ > 30
    assert np.array_equal(learner.clf.coef_, library._learner.coef_)
    predicted, _ = learner.predict({"text": "the goal of the party"})
    x = learner.encode({"text": "the goal of the party"})
    dense = np.zeros((1, learner._room))
    dense[0, x[0]] = x[1]
    assert [bool(predicted >> k & 1) for k in range(3)] == (library.predict(dense)[0] == 1).tolist()


@pytest.mark.parametrize("algorithm", ["D-ADA", "auto", "UOAL-entropy"])
def test_how_events_are_divided_into_calls_changes_nothing(algorithm):
    stream = [fields for fields, _ in events(150)]
    one, many = made(algorithm), made(algorithm)
    first = [one.decide([Incoming(fields, float(k))], k)[0] for k, fields in enumerate(stream)]
    second = []
    while len(second) < len(stream):
        at = len(second)
        part = stream[at : at + 7 + at % 5]
        second += many.decide([Incoming(fields, float(at + k)) for k, fields in enumerate(part)], at)
    assert first == second
    assert one.digest() == many.digest()


@pytest.mark.parametrize("algorithm", ["D-ADA", "auto", "SOAL"])
def test_a_dump_goes_on_as_the_original_would_have(algorithm):
    learner, _ = taught(120, algorithm)
    again = LabelSetLearner.load(learner.dump(), learner.model)
    more = [Incoming(fields, 500.0 + k) for k, (fields, _) in enumerate(events(60, seed=9))]
    assert learner.decide(more, 500) == again.decide(more, 500)
    assert learner.digest() == again.digest()


@pytest.mark.parametrize(
    "asking",
    [
        AskingSettings(rate=0.1),
        AskingSettings(rate=1.0, total=70),
        AskingSettings(rate=1.0, per_hour=40),
    ],
)
def test_the_budget_counts_questions_and_holds(asking):
    learner, decided = taught(600, asking=asking)
    asked = sum(item.n_asked for item in decided)
    assert asked == sum(q.asked for item in decided for q in item.scores) == learner.clf.labels_asked_
    assert all(known_of(item.about).bit_count() == item.n_asked for item in decided)
    most = {0.1: 0.1 * 1800 + 40, 1.0: asking.given["total"] or asking.given["per_hour"]}[asking.rate]
    assert 0.7 * most <= asked <= most + 1


def test_doubtful_labels_are_asked_about_and_others_are_not():
    _, decided = taught(600, "PAA-I", AskingSettings(rate=0.1, audit=0.0))
    late = decided[200:]
    asked = [abs(q.score) for item in late for q in item.scores if q.asked]
    left = [abs(q.score) for item in late for q in item.scores if not q.asked]
    assert np.median(asked) < 0.8 * np.median(left)
    assert any(0 < item.n_asked < 3 for item in late)


def test_a_label_that_never_comes_is_not_looked_for_for_ever():
    exploring = LabelSetExploration(AskingSettings(), 2)
    exploring.count_answer(0, True)
    assert not exploring.is_cold(0)
    for _ in range(PATIENCE):
        assert exploring.is_cold(1)
        exploring.count_answer(1, False)
    assert not exploring.is_cold(1)


def test_the_first_questions_are_a_cold_start():
    learner = made()
    (item,) = learner.decide([Incoming({"text": "hello"}, 0.0)], 0)
    assert (item.why, item.n_asked) == (COLD_START, 3)


def test_estimates_are_those_of_the_stream():
    asking = AskingSettings(rate=0.4, audit=0.3)
    learner, decided = taught(2500, "PAA-I", asking)
    truth = np.array([has for _, has in events(2500)], np.int32)
    predicted = np.array([[item.predicted >> k & 1 for k in range(3)] for item in decided], bool)
    began = next(place for place, item in enumerate(decided) if item.asked) + 1
    found = summarise_label_sets(truth[began:], predicted[began:], np.zeros_like(predicted[began:]))
    overall, _ = learner.tracker.quality()
    assert 1.0 - found["hamming_loss"] in overall.accuracy
    assert found["micro_f1"] in overall.f1
    by_label = learner.tracker.by_label()
    macro = np.mean([by_label[label]["f1"] for label in LABELS])
    assert abs(macro - found["macro_f1"]) < 0.05


def test_a_corrected_answer_counts_once():
    learner, _ = taught(100, asking=AskingSettings(rate=1.0))
    before = {name: list(sums) for name, sums in learner.tracker.outcomes.items()}
    fields, has = next(events(1, seed=77))
    (item,) = learner.decide([Incoming(fields, 200.0)], 100)
    assert item.asked
    wrong = reply(item, [not there for there in has])
    for label in (wrong, reply(item, has)):
        learner.learn(Answer(101, fields, label, item.predicted, item.scores, 1.0, item.audit, 200.0))
    for place, is_there in each_known(reply(item, has)):
        sums = {name: learner.tracker.outcomes[name][place] - before[name][place] for name in before}
        was_predicted = bool(item.predicted >> place & 1)
        name = ("right_yes" if is_there else "right_no") if is_there == was_predicted else (
            "wrong_yes" if was_predicted else "missed"
        )  # fmt: skip
        assert sums[name] == pytest.approx(1.0 / item.scores[place].probability)
        assert sum(map(abs, sums.values())) == pytest.approx(abs(sums[name]))


def test_probabilities_are_calibrated_over_all_labels():
    _, decided = taught(1500, "PAA-I", AskingSettings(rate=0.3))
    chances = np.array([item.probabilities for item in decided[750:]])
    truth = np.array([has for _, has in events(1500)])[750:]
    assert abs(chances.mean() - truth.mean()) < 0.05
    assert np.mean((chances - truth) ** 2) < 0.05


# --- labels as numbers and as clients have them ----------------------------------------------------------

SPACE = LabelSets(LABELS, {label: place for place, label in enumerate(LABELS)})


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (["sports", "money"], ["money", "sports"]),
        ([], []),
        ({"sports": True, "money": False}, {"money": False, "sports": True}),
        ({"money": False, "politics": False, "sports": True}, ["sports"]),
        ("sports; money", ["money", "sports"]),
        (";", []),
        ('["sports"]', ["sports"]),
        ('{"sports": false}', {"sports": False}),
    ],
)
def test_what_is_read_is_shown_again(given, shown):
    assert SPACE.show(SPACE.read(given)) == shown


@pytest.mark.parametrize(
    "given", [None, 3, True, {}, ["ham"], "ham", {"ham": True}, {"sports": 1}, [["sports"]], {"sports": "yes"}]
)
def test_what_is_no_label_set_is_refused_in_a_sentence(given):
    with pytest.raises(Problem, match="must be a list of the labels that the event has, out of money, politics") as it:
        SPACE.read(given)
    assert it.value.code == "unknown_label"


def test_an_answer_is_about_the_labels_that_were_asked():
    about = 0b101
    assert SPACE.show(SPACE.read_about(["money"], about)) == {"money": True, "sports": False}
    assert SPACE.show(SPACE.read_about([], about)) == {"money": False, "sports": False}
    with pytest.raises(Problem, match="out of money, sports, or an object"):
        SPACE.read_about(["politics"], about)


def test_a_class_is_its_place():
    space = OneClass(["ham", "spam"], {"ham": 0, "spam": 1}, ["ham", "spam"])
    assert space.show(space.read("spam")) == "spam"
    with pytest.raises(Problem, match="must be one alone of ham, spam"):
        space.read(["spam"])


# --- what is refused at the start ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"label_sets": "yes"}, "label_sets must be true or false"),
        ({"classes": [f"c{k}" for k in range(32)]}, "label sets in the service are of at most 31"),
        ({"queue": {"answers": 3}}, "queue.answers and queue.audit_answers must be 1 with label_sets"),
        ({"queue": {"audit_answers": 2}}, "must be 1 with label_sets"),
        ({"model": {"load": "some.model"}}, "model.load starts from a model of single labels"),
        ({"model": {"algorithm": "MPAA-I"}}, "whose name has no M before it, such as PAA-I"),
        ({"model": {"algorithm": "SEL-ada"}}, "MistakeDrivenMargin asks by the mistakes so far"),
        ({"label_separator": ""}, "label_separator must be a text"),
        ({"label_sets": False, "label_separator": "/"}, "label_separator is for label sets"),
    ],
)
def test_settings_that_do_not_fit_are_refused_in_a_sentence(changes, sentence):
    document = {"classes": LABELS, "label_sets": True, **changes}
    with pytest.raises(AskanceError, match=sentence):
        from_document(document)


def test_settings_of_single_labels_are_written_down_as_before():
    plain = from_document({"classes": ["ham", "spam"]})
    assert "label_sets" not in plain.model.document()
    assert "label_sets" in settings().model.document()
