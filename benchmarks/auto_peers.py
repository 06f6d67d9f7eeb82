"""Three other libraries on the same streams, steered to the same number of labels, with their step sizes over a grid.

- Vowpal Wabbit ``--active --simulation``: scanned over mellowness and three losses; of the runs that bought 80 to 115 %
  of the labels wanted, the best; two classes only.
- river's ``EntropySampler``: its discount factor is moved as the stream goes.
- scikit-activeml's ``VariableUncertainty`` and ``Split`` hold a rate themselves; sets of many columns are left out, for
  it takes dense events only.

The last two get the first labels of the stream, as many as the head start of the others, without a question. Each plays
every preparation (scikit-activeml, which is slow, only the standardised one) with every step size of its grid. Of two
classes, each run predicts twice: with the threshold at 0, and with one moved by the labels that it bought, nearly as
``auto`` moves its own (see ``auto_threshold``); the better counts.
"""

from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise, product
from typing import Any

import numpy as np

from benchmarks.auto_data import PREPARATIONS, Played, Stream, judge, stream, whole
from benchmarks.auto_field import BURST
from benchmarks.auto_threshold import MovedThreshold, move_threshold

PAID_BACK = 0.96  # as askance.budgets.Rate
DENSE_UP_TO = 1000  # columns
LOSSES = ("logistic", "hinge", "squared")
LEAST, MOST = 0.8, 1.15  # of the labels wanted: what counts as the same number
CLOSER_LOOKS = 3
VOWPAL_STEPS = (0.05, 0.5, 5.0)  # --learning_rate; 0.5 is its default
RIVER_STEPS = (0.01, 0.1, 1.0)  # of optim.SGD; 0.01 is its default
ACTIVEML_STEPS = (0.0, 0.01, 0.1)  # constant ones of SGDClassifier; 0 stands for its default, which falls


def candidates(part: str, name: str, rate: float, order: int, n: int) -> Iterator[tuple[str, dict, str, Any]]:
    """Who, with which step size, in which preparation, and a function that plays."""
    classes = np.unique(whole(name)[1])
    if part == "vowpal" and len(classes) == 2:
        for preparation, step in product(PREPARATIONS, VOWPAL_STEPS):
            yield (
                "Vowpal Wabbit",
                {"l": step},
                preparation,
                lambda p=preparation, step=step: vowpal(name, p, order, n, rate, step),
            )
    if part == "river":
        for preparation, step in product(PREPARATIONS, RIVER_STEPS):
            yield (
                "river",
                {"lr": step},
                preparation,
                lambda p=preparation, step=step: river(stream(name, p, order, n), rate, len(classes), step),
            )
    if part == "activeml" and whole(name)[0].shape[1] <= DENSE_UP_TO:
        preparation = "standard"
        for strategy, step in product(("VariableUncertainty", "Split"), ACTIVEML_STEPS):
            yield (
                f"scikit-activeml {strategy}",
                {"eta0": step},
                preparation,
                lambda s=strategy, step=step: activeml(
                    stream(name, preparation, order, n), rate, classes, s, order, step
                ),
            )


def allowed(rate: float, seen: int) -> float:
    """What may have been asked for, as for the others."""
    return max(rate * seen, BURST + PAID_BACK * rate * seen)


# --- Vowpal Wabbit -----------------------------------------------------------------------------------------


def vowpal(name: str, preparation: str, order: int, n: int, rate: float, step: float) -> Played | None:
    """The best run whose number of labels fits; None where there is none.

    More mellowness does not always mean more labels, so that searching for a number by halving an interval ends
    anywhere: a scan, and closer looks between neighbours on either side of what is wanted.
    """
    events = stream(name, preparation, order, n)
    wanted = allowed(rate, len(events.y))
    fitting = []
    for loss in LOSSES:
        found = scan(name, preparation, order, n, loss, step)
        for _ in range(CLOSER_LOOKS):
            if any(fits(played.labels, wanted) for played in found.values()):
                break
            powers = sorted(found)
            crossing = [(a, b) for a, b in pairwise(powers) if (found[a].labels < wanted) != (found[b].labels < wanted)]
            for a, b in crossing:
                middle = 0.5 * (a + b)
                found[middle] = one_run(events, loss, middle, step)
        fitting += [played for played in found.values() if fits(played.labels, wanted)]
    return max(fitting, default=None)


def fits(labels: int, wanted: float) -> bool:
    return LEAST * wanted <= labels <= MOST * wanted


@cache
def scan(name: str, preparation: str, order: int, n: int, loss: str, step: float) -> dict[float, Played]:
    """Runs over the range of mellowness, by its power of ten; shared by the rates."""
    events = stream(name, preparation, order, n)
    return {power: one_run(events, loss, power, step) for power in np.arange(-5.0, 0.51, 0.5).tolist()}


def one_run(events: Stream, loss: str, power: float, step: float) -> Played:
    scores, asked = run_vowpal(as_lines(events), loss, 10.0**power, step)
    truth = events.y > 0
    labels = int(asked.sum())
    return max(judge(truth, scores >= 0.0, labels), judge(truth, move_threshold(scores, truth, asked), labels))


@lru_cache(maxsize=3)
def as_lines(events: Stream) -> list[str]:
    columns, values, starts = events.X.indices.tolist(), events.X.data.tolist(), events.X.indptr.tolist()
    lines = []
    for (start, stop), label in zip(pairwise(starts), events.y.tolist(), strict=True):
        lines.append(f"{label} | " + " ".join(f"{columns[k]}:{values[k]:.6g}" for k in range(start, stop)))
    return lines


def run_vowpal(lines: list[str], loss: str, mellowness: float, step: float) -> tuple[np.ndarray, np.ndarray]:
    """The score of every event before it is learned, and whether its label was bought: it takes the label away from an
    event for which it does not ask."""
    from vowpalwabbit import pyvw

    asking = f"--active --simulation --mellowness {mellowness}"
    workspace = pyvw.Workspace(f"{asking} --loss_function {loss} --learning_rate {step} -b 18 --quiet")
    scores, asked = np.empty(len(lines)), np.empty(len(lines), bool)
    for t, line in enumerate(lines):
        example = workspace.example(line)
        workspace.learn(example)
        scores[t] = example.get_simplelabel_prediction()
        asked[t] = abs(example.get_simplelabel_label()) == 1.0
        workspace.finish_example(example)
    workspace.finish()
    return scores, asked


# --- river -------------------------------------------------------------------------------------------------


def river(events: Stream, rate: float, n_classes: int, step: float) -> Played:
    from river import active, linear_model, optim

    learners = linear_model.LogisticRegression if n_classes == 2 else linear_model.SoftmaxRegression
    learner = learners(optimizer=optim.SGD(step))
    model = active.EntropySampler(learner, seed=0)
    columns, values, starts = events.X.indices.tolist(), events.X.data.tolist(), events.X.indptr.tolist()
    labels = (events.y > 0).tolist() if n_classes == 2 else events.y.tolist()
    threshold = MovedThreshold()
    predicted, moved = [], []
    asked = 0
    for seen, (start, stop) in enumerate(pairwise(starts), 1):
        event = dict(zip(columns[start:stop], values[start:stop], strict=True))
        said, wants = model.predict_one(event)
        predicted.append(labels[0] if said in (None, {}) else said)
        score = logit(learner.predict_proba_one(event)[True]) if n_classes == 2 else 0.0
        moved.append(threshold.predict(score))
        may = allowed(rate, seen)
        if seen > BURST:
            model.discount_factor = float(
                np.clip(model.discount_factor * np.exp(0.1 * (asked + 5 - may) * rate), 0.01, 1e6)
            )
        if asked + 1 <= may and (wants or asked < BURST):
            asked += 1
            threshold.learn(score, labels[seen - 1] is True)
            model.learn_one(event, labels[seen - 1])
    return better_threshold(np.array(labels), np.array(predicted), np.array(moved), asked, n_classes)


def logit(probability: float) -> float:
    """The score that has this probability of the second class."""
    inside = min(1.0 - 1e-12, max(1e-12, probability))
    return float(np.log(inside / (1.0 - inside)))


def better_threshold(truth: np.ndarray, at_zero: np.ndarray, moved: np.ndarray, asked: int, n_classes: int) -> Played:
    """With more than two classes there is no threshold to move."""
    plain = judge(truth, at_zero, asked)
    return max(plain, judge(truth, moved, asked)) if n_classes == 2 else plain


# --- scikit-activeml -----------------------------------------------------------------------------------------


def activeml(events: Stream, rate: float, classes: np.ndarray, strategy: str, seed: int, step: float) -> Played:
    from skactiveml import stream as strategies
    from skactiveml.classifier import SklearnClassifier
    from sklearn.linear_model import SGDClassifier

    constant: dict[str, Any] = {"learning_rate": "constant", "eta0": step} if step > 0.0 else {}
    learner = SGDClassifier(loss="log_loss", random_state=seed, **constant)
    clf = SklearnClassifier(learner, classes=classes, random_state=seed)
    query = getattr(strategies, strategy)(budget=rate, random_state=seed)
    rows = events.X.toarray()
    truth = events.y == classes[-1] if len(classes) == 2 else events.y
    threshold = MovedThreshold()
    predicted = np.empty_like(events.y)
    moved = np.empty(len(events.y), bool)
    asked = 0
    is_fitted = False
    for t in range(len(events.y)):
        row = rows[t : t + 1]
        predicted[t] = clf.predict(row)[0] if is_fitted else classes[0]
        score = float(clf.estimator_.decision_function(row)[0]) if is_fitted and len(classes) == 2 else 0.0
        moved[t] = threshold.predict(score)
        if asked < BURST:
            wanted = True
        else:
            indices, utilities = query.query(row, clf, return_utilities=True)
            query.update(row, indices, budget_manager_param_dict={"utilities": utilities})
            wanted = len(indices) > 0
        if wanted and asked + 1 <= allowed(rate, t + 1):
            asked += 1
            threshold.learn(score, bool(events.y[t] == classes[-1]))
            clf.partial_fit(row, events.y[t : t + 1])
            is_fitted = True
    at_zero = predicted == classes[-1] if len(classes) == 2 else predicted
    return better_threshold(truth, at_zero, moved, asked, len(classes))
