"""Three other libraries on the same streams, steered to the same number of labels.

- Vowpal Wabbit ``--active --simulation``: its mellowness is searched until the number of labels fits; two classes only.
- river's ``EntropySampler``: its discount factor is moved as the stream goes.
- scikit-activeml's ``VariableUncertainty`` and ``Split`` hold a rate themselves; sets of many columns are left out, for
  it takes dense events only.

The last two get the first labels of the stream, as many as the head start of the others, without a question. Each plays
every preparation (scikit-activeml, which is slow, only the standardised one) with its default learner, and is credited
with the best.
"""

import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.auto_data import PREPARATIONS, Stream, balanced_accuracy, stream, whole
from benchmarks.auto_field import BURST

PAID_BACK = 0.96  # as askance.budgets.Rate
DENSE_UP_TO = 1000  # columns


def candidates(part: str, name: str, rate: float, order: int, n: int) -> Iterator[tuple[str, str, Any]]:
    """Who, in which preparation, and a function that plays."""
    classes = np.unique(whole(name)[1])
    if part == "vowpal" and len(classes) == 2:
        for preparation in PREPARATIONS:
            yield "Vowpal Wabbit", preparation, lambda p=preparation: vowpal(stream(name, p, order, n), rate)
    if part == "river":
        for preparation in PREPARATIONS[1:]:
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


def vowpal(events: Stream, rate: float) -> tuple[float, int]:
    """The run whose number of labels comes closest to what is allowed."""
    wanted = allowed(rate, len(events.y))
    low, high = -9.0, 3.0  # powers of ten of the mellowness
    best = (np.inf, 0.0, 0)
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "events.txt"
        write_text(events, text)
        for _ in range(9):
            middle = 0.5 * (low + high)
            predicted, labels = run_vowpal(text, Path(folder) / "predictions.txt", 10.0**middle)
            off = abs(labels - wanted)
            if off < best[0]:
                best = (off, balanced_accuracy(events.y, np.where(predicted >= 0.0, 1, -1)), labels)
            low, high = (middle, high) if labels < wanted else (low, middle)
            if off <= 0.03 * wanted:
                break
    return best[1], best[2]


def write_text(events: Stream, path: Path) -> None:
    columns, values, starts = events.X.indices.tolist(), events.X.data.tolist(), events.X.indptr.tolist()
    with path.open("w", encoding="ascii") as lines:
        for (start, stop), label in zip(pairwise(starts), events.y.tolist(), strict=True):
            words = " ".join(f"{columns[k]}:{values[k]:.6g}" for k in range(start, stop))
            lines.write(f"{label} | {words}\n")


def run_vowpal(text: Path, out: Path, mellowness: float) -> tuple[np.ndarray, int]:
    from vowpalwabbit import pyvw

    options = f"--active --simulation --mellowness {mellowness} --loss_function logistic -b 18 -d {text} -p {out}"
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
