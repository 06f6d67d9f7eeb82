"""Transformers of scikit-learn before a stream: a pipeline that also runs, asks and takes answers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.pipeline import make_pipeline as steps_of
from sklearn.utils.validation import check_is_fitted

from askance.errors import InvalidInput, InvalidType, ModelFileError
from askance.learner.estimator import ActiveClassifier
from askance.learner.files import PIPELINE, read, save
from askance.learner.shards import batches_of
from askance.learner.trace import Decision, Trace
from askance.learner.transformer_files import describe_transformer, revive_transformer

FIRST = 1000  # events to which transformers are fitted that are not fitted yet


class ActivePipeline(Pipeline):
    """Transformers, then an ``ActiveClassifier``: what ``make_pipeline`` gives.

    Transformers change nothing but the events. Those that learn, such as ``StandardScaler``, are fitted beforehand, or
    to the first 1000 events that ``run`` or ``partial_fit`` gets, without their labels. They stay as they are then.
    """

    @property
    def classifier(self) -> ActiveClassifier:
        """The last step."""
        classifier: ActiveClassifier = self.steps[-1][1]
        return classifier

    def run(
        self, X: Any, y: Any = None, times: Any = None, *, workers: int | None = None, progress: bool = False
    ) -> Trace:
        """As ``ActiveClassifier.run``, on the transformed events."""
        if y is None:
            return self.classifier.run(self._transform_batches(X), workers=workers, progress=progress)
        return self.classifier.run(self._transform(X, y), y, times, workers=workers, progress=progress)

    def ask(self, x: Any, time: float | datetime | None = None, explore: float | None = None) -> Decision:
        """As ``ActiveClassifier.ask``, on the transformed event."""
        return self.classifier.ask(self._transform_one(x), time, explore)

    def tell(
        self, x: Any = None, y: Any = None, weight: float = 1.0, *, ticket: int | None = None, replace: bool = False
    ) -> Self:
        """As ``ActiveClassifier.tell``; by ticket, or with an event that is transformed once more."""
        event = None if x is None else self._transform_one(x)
        self.classifier.tell(event, y, weight, ticket=ticket, replace=replace)
        return self

    def forget(self, ticket: int) -> Self:
        """Stop waiting for an answer that will not come."""
        self.classifier.forget(ticket)
        return self

    @property
    def pending(self) -> list[int]:
        """The tickets that wait for an answer, oldest first."""
        return self.classifier.pending

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """As ``ActiveClassifier.partial_fit``, on the transformed events."""
        self.classifier.partial_fit(self._transform(X, y), y, classes, sample_weight)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write transformers and classifier to one file, which ``load_pipeline`` reads. It holds no pickle and no code.

        Transformers of scikit-learn can be written if they hold plain values and arrays, as most do; one that holds a
        function, or is of another library, is refused."""
        arrays: dict[str, np.ndarray] = {}
        steps = [[name, describe_transformer(name, step, arrays)] for name, step in self.steps[:-1]]
        document = json.dumps({"steps": steps, "last": self.steps[-1][0]}).encode()
        save(self.classifier, path, **{PIPELINE: np.frombuffer(document, np.uint8)}, **arrays)

    def _transform_batches(self, batches: Any) -> Iterator[tuple[Any, ...]]:
        for X, y, times in batches_of(batches):
            yield self._transform(X, y), y, times

    def _transform(self, X: Any, y: Any) -> Any:
        if isinstance(y, str):
            raise InvalidInput(f"in a pipeline y is the labels themselves, not the name of a column, got {y!r}.")
        for _, transformer in self.steps[:-1]:
            if transformer in (None, "passthrough"):
                continue
            if not _is_fitted(transformer):
                transformer.fit(X[:FIRST])
            X = transformer.transform(X)
        return X

    def _transform_one(self, x: Any) -> Any:
        for name, transformer in self.steps[:-1]:
            if transformer not in (None, "passthrough") and not _is_fitted(transformer):
                raise NotFittedError(
                    f"the transformer {name!r} is not fitted; fit it to some events before the first ask."
                )
        X = self._transform(_as_rows(x), None)
        return X[0] if isinstance(X, np.ndarray | list) else X  # a list has raw events, which no step has changed


def make_pipeline(*steps: Any) -> ActivePipeline:
    """Put transformers of scikit-learn before a classifier: a ``Pipeline`` that also has ``run``, ``ask`` and ``tell``.

    Parameters
    ----------
    *steps
        Transformers, and as the last step an ``ActiveClassifier``.

    Examples
    --------
    >>> import askance
    >>> from sklearn.feature_extraction.text import HashingVectorizer
    >>> model = askance.make_pipeline(HashingVectorizer(n_features=2**10), askance.make("PAA-I", random_state=0))
    >>> trace = model.run(["win a prize", "lunch today"] * 20, ["spam", "ham"] * 20)
    >>> decision = model.ask("win the prize")
    >>> decision.label
    'spam'
    """
    if not steps or not isinstance(steps[-1], ActiveClassifier):
        last = type(steps[-1]).__name__ if steps else "nothing"
        raise InvalidType(f'the last step must be a classifier such as askance.make("auto"), got {last}.')
    return ActivePipeline(steps_of(*steps).steps)


def load_pipeline(path: str | os.PathLike[str]) -> ActivePipeline:
    """Read a pipeline that its ``save`` wrote. It goes on exactly where the saved one stood.

    Nothing in the file is run: transformers are made by their names among scikit-learn's estimators. If it was written
    with another version of scikit-learn, scikit-learn warns of it.
    """
    classifier, arrays = read(path, ActiveClassifier)
    if PIPELINE not in arrays:
        raise ModelFileError(f"{str(path)!r} holds a classifier and no pipeline; load it with askance.load.")
    try:
        document = json.loads(arrays[PIPELINE].tobytes())
        steps = [(str(name), revive_transformer(step, arrays)) for name, step in document["steps"]]
        return ActivePipeline([*steps, (str(document["last"]), classifier)])
    except ModelFileError as error:
        raise ModelFileError(f"{str(path)!r}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        raise ModelFileError(f"{str(path)!r} is not a pipeline this version can read ({error}).") from None


def _is_fitted(transformer: Any) -> bool:
    try:
        check_is_fitted(transformer)
    except NotFittedError:
        return False
    return True


def _as_rows(x: Any) -> Any:
    """One event as several that are one."""
    if isinstance(x, str | dict):
        return [x]
    if hasattr(x, "to_frame") and hasattr(x, "index"):  # a row of a table
        return x.to_frame().T.infer_objects()
    return x if getattr(x, "ndim", 1) == 2 else np.reshape(np.asarray(x), (1, -1))
