"""Three other libraries on the same streams, steered to the same number of labels.

- Vowpal Wabbit ``--active --simulation``: scanned over mellowness and three losses; of the runs that bought 80 to 115 %
  of the labels wanted, the best; two classes only.
- river's ``EntropySampler``: its discount factor is moved as the stream goes.
- scikit-activeml's ``VariableUncertainty`` and ``Split`` hold a rate themselves; sets of many columns are left out, for
  it takes dense events only.

The last two get the first labels of the stream, as many as the head start of the others, without a question. Each plays
every preparation (scikit-activeml, which is slow, only the standardised one) with its default learner, and is credited
with the best.
"""

import tempfile
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.auto_data import PREPARATIONS, Stream, balanced_accuracy, stream, whole
from benchmarks.auto_field import BURST

PAID_BACK = 0.96  # as askance.budgets.Rate
DENSE_UP_TO = 1000  # columns
LOSSES = ("logistic", "hinge", "squared")
LEAST, MOST = 0.8, 1.15  # of the labels wanted: what counts as the same number
CLOSER_LOOKS = 3


def candidates(part: str, name: str, rate: float, order: int, n: int) -> Iterator[tuple[str, str, Any]]:
    """Who, in which preparation, and a function that plays."""
    classes = np.unique(whole(name)[1])
    if part == "vowpal" and len(classes) == 2:
        for preparation in PREPARATIONS:
            yield "Vowpal Wabbit", preparation, lambda p=preparation: vowpal(name, p, order, n, rate)
    if part == "river":
        for preparation in PREPARATIONS:
            yield "river", preparation, lambda p=preparation: river(stream(name, p, order, n), rate, len(classes))
    if part == "activeml" and whole(name)[0].shape[1] <= DENSE_UP_TO:
        preparation = "standard"
        for strategy in ("VariableUncertainty", "Split"):
            yield (
                f"scikit-activeml {strategy}",
                preparation,
                lambda s=strategy: activeml(stream(name, preparation, order, n), rate, classes, s, order),
            )


def allowed(rate: float, seen: int) -> float:
    """What may have been asked for, as for the others."""
    return max(rate * seen, BURST + PAID_BACK * rate * seen)


# --- Vowpal Wabbit -----------------------------------------------------------------------------------------


def vowpal(name: str, preparation: str, order: int, n: int, rate: float) -> tuple[float | None, int]:
    """The best run whose number of labels fits; None where there is none.

    More mellowness does not always mean more labels, so that searching for a number by halving an interval ends
    anywhere: a scan, and closer looks between neighbours on either side of what is wanted.
    """
    events = stream(name, preparation, order, n)
    wanted = allowed(rate, len(events.y))
    best: tuple[float | None, int] = (None, 0)
    for loss in LOSSES:
        found = scan(name, preparation, order, n, loss)
        for _ in range(CLOSER_LOOKS):
            if any(fits(labels, wanted) for _, labels in found.values()):
                break
            powers = sorted(found)
            crossing = [(a, b) for a, b in pairwise(powers) if (found[a][1] < wanted) != (found[b][1] < wanted)]
            for a, b in crossing:
                middle = 0.5 * (a + b)
                found[middle] = one_run(events, loss, middle)
        for balanced, labels in found.values():
            if fits(labels, wanted) and (best[0] is None or balanced > best[0]):
                best = (balanced, labels)
    return best


def fits(labels: int, wanted: float) -> bool:
    return LEAST * wanted <= labels <= MOST * wanted


@cache
def scan(name: str, preparation: str, order: int, n: int, loss: str) -> dict[float, tuple[float, int]]:
    """Runs over the range of mellowness, by its power of ten; shared by the rates."""
    events = stream(name, preparation, order, n)
    return {power: one_run(events, loss, power) for power in np.arange(-5.0, 0.51, 0.5).tolist()}


def one_run(events: Stream, loss: str, power: float) -> tuple[float, int]:
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "events.txt"
        text.write_text(as_text(events), encoding="ascii")
        predicted, labels = run_vowpal(text, Path(folder) / "predictions.txt", loss, 10.0**power)
    return balanced_accuracy(events.y, np.where(predicted >= 0.0, 1, -1)), labels


@lru_cache(maxsize=3)
def as_text(events: Stream) -> str:
    columns, values, starts = events.X.indices.tolist(), events.X.data.tolist(), events.X.indptr.tolist()
    lines = []
    for (start, stop), label in zip(pairwise(starts), events.y.tolist(), strict=True):
        lines.append(f"{label} | " + " ".join(f"{columns[k]}:{values[k]:.6g}" for k in range(start, stop)))
    return "\n".join(lines) + "\n"


def run_vowpal(text: Path, out: Path, loss: str, mellowness: float) -> tuple[np.ndarray, int]:
    from vowpalwabbit import pyvw

    options = f"--active --simulation --mellowness {mellowness} --loss_function {loss} -b 18 -d {text} -p {out}"
    workspace = pyvw.Workspace(options, enable_logging=True)
    workspace.finish()
    labels = 0
    for line in workspace.get_log():
        if line.startswith("total queries"):
            labels = int(line.split("=")[1])
    return np.array([float(line.split()[0]) for line in out.read_text().splitlines() if line.strip()]), labels


# --- river -------------------------------------------------------------------------------------------------


def river(events: Stream, rate: float, n_classes: int) -> tuple[float, int]:
    from river import active, linear_model

    learner = linear_model.LogisticRegression() if n_classes == 2 else linear_model.SoftmaxRegression()
    model = active.EntropySampler(learner, seed=0)
    columns, values, starts = events.X.indices.tolist(), events.X.data.tolist(), events.X.indptr.tolist()
    labels = (events.y > 0).tolist() if n_classes == 2 else events.y.tolist()
    predicted = []
    asked = 0
    for seen, (start, stop) in enumerate(pairwise(starts), 1):
        event = dict(zip(columns[start:stop], values[start:stop], strict=True))
        said, wants = model.predict_one(event)
        predicted.append(labels[0] if said in (None, {}) else said)
        may = allowed(rate, seen)
        if seen > BURST:
            model.discount_factor = float(
                np.clip(model.discount_factor * np.exp(0.1 * (asked + 5 - may) * rate), 0.01, 1e6)
            )
        if asked + 1 <= may and (wants or asked < BURST):
            asked += 1
            model.learn_one(event, labels[seen - 1])
    return balanced_accuracy(np.array(labels), np.array(predicted)), asked


# --- scikit-activeml -----------------------------------------------------------------------------------------


def activeml(events: Stream, rate: float, classes: np.ndarray, strategy: str, seed: int) -> tuple[float, int]:
    from skactiveml import stream as strategies
    from skactiveml.classifier import SklearnClassifier
    from sklearn.linear_model import SGDClassifier

    clf = SklearnClassifier(SGDClassifier(loss="log_loss", random_state=seed), classes=classes, random_state=seed)
    query = getattr(strategies, strategy)(budget=rate, random_state=seed)
    rows = events.X.toarray()
    predicted = np.empty_like(events.y)
    asked = 0
    is_fitted = False
    for t in range(len(events.y)):
        row = rows[t : t + 1]
        predicted[t] = clf.predict(row)[0] if is_fitted else classes[0]
        if asked < BURST:
            wanted = True
        else:
            indices, utilities = query.query(row, clf, return_utilities=True)
            query.update(row, indices, budget_manager_param_dict={"utilities": utilities})
            wanted = len(indices) > 0
        if wanted and asked + 1 <= allowed(rate, t + 1):
            asked += 1
            clf.partial_fit(row, events.y[t : t + 1])
            is_fitted = True
    return balanced_accuracy(events.y, predicted), asked
