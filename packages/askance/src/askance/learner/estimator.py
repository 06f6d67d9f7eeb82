"""The scikit-learn estimator: the classifier with scikit-learn's contract and its checks of what comes in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _check_feature_names, _check_sample_weight, _check_y, validate_data

from askance.errors import InvalidInput
from askance.learner.classifier import StreamClassifier
from askance.learner.events import fill_gaps
from askance.learner.reader import length_of
from askance.plural import format_count

ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": "numeric", "ensure_all_finite": False}
"""What scikit-learn is to check of events that are rows of numbers; ``read_events`` checks the values."""


if TYPE_CHECKING:

    class Estimator:
        """What comes from scikit-learn, which has no types: with it, a checker would take any misspelt name."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **parameters: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def set_fit_request(self, *, sample_weight: bool | str | None = None) -> Self: ...
        def set_partial_fit_request(self, **requests: bool | str | None) -> Self: ...
        def set_score_request(self, *, sample_weight: bool | str | None = None) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...

else:

    class Estimator(ClassifierMixin, BaseEstimator):
        """A classifier of scikit-learn."""


class ActiveClassifier(StreamClassifier, Estimator):
    """Predict every event of a stream, ask for the labels worth having, and learn from the answers.

    Events are rows of numbers (arrays, sparse matrices), or raw: the rows of a pandas, polars or Arrow table, dicts, or
    texts, with words, categories, dates, truth values, gaps and nested fields. Raw events are encoded as those of files
    are, by an encoder that is a part of the model.

    A classifier belongs to one thread at a time; several of them can run in several threads.

    Parameters
    ----------
    update : UpdateRule, optional
        How to learn from an answer; ``PassiveAggressive1()`` unless given.
    query : QueryRule, optional
        The probability of asking; ``Margin()`` unless given.
    budget : None, int, float or Budget
        How many labels may be bought. None: no limit. An int: that many in all. A float below 1: that share of the
        events. ``askance.budgets`` has more: so many a day, several at once.
    classes : array-like, optional
        The labels there are. A live stream needs them: the first label may come late. Otherwise they are taken from
        the first labels seen by ``run``, ``fit`` or ``partial_fit``.
    normalize : None or "l2"
        Divide each event by its length.
    intercept : bool, default False
        Append a constant 1 to each event (after normalising).
    n_features : int, optional
        The number of features, where the first event may be a pair (columns, values), which does not tell.
    random_state : None, int or numpy.random.Generator
        Where the random numbers come from. Event t takes exactly one, whatever the rules and the size of the calls.
        Streams that are made up need another seed: ``run`` warns if their labels were drawn from the same numbers.
    explore : float, default 0.0
        The least ask probability of every event, as long as the budget allows a label at all. The events asked because
        of it (``audit``) are a uniform sample of the stream: what an unbiased estimate rests on.
    max_pending : int, default 10000
        How many asked events are kept for their answers, which come by ticket; the oldest is dropped first.
    max_pending_age : int, optional
        After how many further events a pending one is dropped.
    fields : dict, optional
        Of raw events, the kinds of fields by name: "number", "category", "text", "date", "ignore", or "time" (when the
        event came, for budgets by time). The others are found from the first 1000 events.
    na_values : str, number, or list of them, optional
        Of raw events and of labels, what counts as missing besides None, NaN and words such as "NA": ["unknown", -999].

    Attributes
    ----------
    fields_ : dict
        The fields of raw events, each with its kind.
    classes_ : ndarray
        The labels, sorted. Of two, the second is the positive one.
    n_features_in_ : int
        The number of features.
    coef_ : ndarray of shape (1 or n_classes, n_features)
        The weights.
    intercept_ : ndarray of shape (1 or n_classes,)
        The weights of the constant; zero without one.
    scores_ : ndarray of shape (1 or n_classes,)
        The scores of the event that was predicted last.
    events_seen_, labels_asked_ : int
        How many events were decided on, and for how many of them the label was asked.

    Examples
    --------
    >>> import askance
    >>> clf = askance.make("PAA-I", classes=["ham", "spam"], n_features=4, random_state=0)
    >>> decision = clf.ask(([0, 2], [1.0, 2.0]))
    >>> decision.label, decision.asked
    ('spam', True)
    >>> clf.tell(([0, 2], [1.0, 2.0]), "ham").predict([[1.0, 0.0, 2.0, 0.0]])
    array(['ham'], dtype='<U4')
    """

    _takes_encoded_rows = False
    __metadata_request__fit = {"sample_weight": None}  # noqa: RUF012

    def _check_rows(self, X: Any, reset: bool) -> Any:
        check_shape(X)
        with explaining_values():
            return validate_data(self, fill_gaps(X), reset=reset, **ROWS)

    def _check_rows_and_labels(self, X: Any, y: Any, reset: bool) -> tuple[Any, np.ndarray]:
        check_shape(X)
        with explaining_values():
            checked: tuple[Any, np.ndarray] = validate_data(
                self, fill_gaps(X), y, reset=reset, **ROWS, multi_output=False, y_numeric=False,
                ensure_min_samples=int(reset),
            )  # fmt: skip
        return checked

    def _check_label_array(self, y: Any) -> np.ndarray:
        return _check_y(y, multi_output=False, y_numeric=False, estimator=self)

    def _check_weights(self, sample_weight: Any, X: Any) -> np.ndarray:
        weights = np.asarray(sample_weight)
        if weights.ndim == 1 and length_of(X) not in (None, len(weights)):
            raise InvalidInput(
                f"X has {format_count(length_of(X) or 0, 'event')} and sample_weight has {len(weights):,}; each event "
                "needs one."
            )
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)

    def _check_names(self, X: Any, reset: bool) -> None:
        _check_feature_names(self, X, reset=reset)

    def __sklearn_is_fitted__(self) -> bool:
        return self._has_begun

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_class = self._rules().update.multiclass is not None
        return tags


@contextmanager
def explaining_values() -> Iterator[None]:
    """Say of values that NumPy cannot take what to do; scikit-learn's tests want NumPy's own words, too."""
    try:
        yield
    except ValueError as error:
        if not str(error).startswith(("could not convert", "setting an array element")):
            raise
        why = str(error).partition(". ")[0].rstrip(".")
        raise InvalidInput(
            f"this classifier learns from rows of numbers, and X has others ({why}); pass an array, or make a new one "
            "with a table or dicts."
        ) from None


def check_shape(X: Any) -> None:
    """Refuse what is no table of numbers, in a sentence that says what to do; scikit-learn checks the rest."""
    first = X[0] if isinstance(X, list | tuple) and X else None
    if getattr(X, "ndim", 2) == 1 or isinstance(first, int | float | np.number):
        raise InvalidInput(  # scikit-learn's own tests want the words in the middle
            f"X has shape {np.shape(X)}, but each of its rows is an event. Reshape your data: X.reshape(1, -1) is one "
            "event, and so is what ask takes."
        )
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if kind in ("U", "S") or (isinstance(first, list | tuple) and any(isinstance(value, str) for value in first)):
        raise InvalidInput(
            "X has words in columns without names; pass a table or a list of dicts, which have names, to learn from "
            "words."
        )
