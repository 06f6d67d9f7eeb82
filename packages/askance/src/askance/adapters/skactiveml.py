"""scikit-activeml: our query rules as its stream query strategies, our budgets as its budget managers.

Both follow its contract: ``query`` decides and changes nothing, ``update`` counts. The extra ``skactiveml`` installs
it.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from askance.adapters.scored import (
    EstimatorModel,
    ForeignModel,
    ModelScore,
    ScoredStream,
    check_query,
    check_scores,
    margin_of,
)
from askance.errors import InvalidInput, InvalidParameter
from askance.extras import how_to_install
from askance.learner.budget import Budget, Rate, as_budget
from askance.learner.rule import QueryRule

try:
    from skactiveml.base import BudgetManager, SingleAnnotatorStreamQueryStrategy
except ImportError:
    raise ImportError(f"askance.adapters.skactiveml needs scikit-activeml: {how_to_install('skactiveml')}.") from None

__all__ = ["PacingBudgetManager", "QueryRuleStrategy"]

DEFAULT_SHARE = 0.1  # of every strategy and budget manager of scikit-activeml


def by_utility(parameters, margin, variance, squared_length, tally):  # type: ignore[no-untyped-def]
    return margin  # which is the utility here


@dataclass
class Utility(QueryRule):
    """Ask with a probability equal to the utility that somebody else gives, as far as it lies in [0, 1]."""

    probability: ClassVar = staticmethod(by_utility)


class GivenScore:
    """A model whose events are their own margins."""

    def begin(self, classes: np.ndarray) -> None:
        """Nothing is learned here."""

    def score(self, row: float) -> ModelScore:
        return ModelScore(1, row)

    def learn(self, row: float, answer: int, weight: float) -> None:
        """Nothing is learned here."""


class Rehearsal:
    """A stream that can be rehearsed: what would be asked, before it is counted."""

    def __init__(self, query: QueryRule | None, budget: Budget, explore: float, random_state: Any) -> None:
        self._stream = ScoredStream(
            GivenScore(),
            ForeignModel(score_per_class=False),
            query=query,
            budget=budget,
            classes=[0, 1],
            explore=explore,
            random_state=copy.deepcopy(random_state),
            max_pending=0,
        )
        self._stream._check_rules()
        self._stream._begin(np.array([0, 1]), 1)

    def rehearse(self, margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which events would be asked, and with which probability; nothing is counted, and no random number used up."""
        stream = self._stream
        numbers, kept = stream._engine.rng.bit_generator.state, [array.copy() for array in stream._engine.budget_state]
        try:
            return self._decide(margins)
        finally:
            stream._engine.rng.bit_generator.state = numbers
            for array, before in zip(stream._engine.budget_state, kept, strict=True):
                array[:] = before

    def count(self, margins: np.ndarray, n_queried: int) -> None:
        """Count events, and how many of their labels were really asked."""
        before = self._stream.labels_asked_
        self._decide(margins)
        self._stream._set_labels_asked(before + n_queried)

    def _decide(self, margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        decisions = [self._stream.ask_row(margin) for margin in margins.tolist()]
        asked = np.array([decision.asked for decision in decisions], np.bool_)
        return asked, np.array([decision.probability for decision in decisions], np.float64)


def budget_of(budget: Any) -> Budget:
    """The budget that a value means: a share, as in scikit-activeml, where None is a tenth, or one of ours."""
    if budget is None:
        budget = DEFAULT_SHARE
    found = Rate(1.0) if isinstance(budget, float) and budget == 1.0 else as_budget(budget)
    if found.reads_time:
        raise InvalidParameter(f"{found!r} needs the time of each event, which a strategy here lacks.")
    if found.reads_prediction:
        raise InvalidParameter(
            f"{found!r} needs the predicted class of each event, which a strategy here lacks; use a number or a share."
        )
    return found


def check_queried(queried_indices: Any, n_candidates: int) -> int:
    """How many candidates were queried; raises if they are not among those there are."""
    places = np.asarray(queried_indices)
    if places.size == 0:
        return 0
    if places.ndim != 1 or places.dtype.kind not in "iu" or len(np.unique(places)) != len(places):
        raise InvalidInput(f"queried_indices are the places of different candidates, got {queried_indices!r}.")
    if places.min() < 0 or places.max() >= n_candidates:
        raise InvalidInput(f"queried_indices has {places.max()}, but there are {n_candidates} candidates, from 0 on.")
    return len(places)


class QueryRuleStrategy(SingleAnnotatorStreamQueryStrategy):
    """One of our query rules, with one of our budgets, as a stream query strategy of scikit-activeml.

    Candidate t of the stream takes the t-th random number, and is asked with the probability that the rule and the
    budget give its margin: what ``askance.wrap`` decides, if candidates come one by one. The utilities are these
    probabilities; 1 / utility is the weight of an answer.

    Parameters
    ----------
    query_rule : QueryRule, optional
        The probability of asking, by the margin: ``askance.queries.Margin()`` unless given. The margin is the
        ``decision_function`` of the classifier, or else the logarithm of the odds by ``predict_proba``; with more than
        two classes, the best score minus the second best. Rules that read a variance are refused, and one that goes by
        mistakes sees none: a strategy is not told the labels.
    budget : float, int or Budget, default None
        A share of the events, as in scikit-activeml (None: a tenth), a number of labels, or one of ``askance.budgets``.
    explore : float, default 0.0
        The least ask probability of every event.
    random_state : int, RandomState or None
        Controls the randomness of the decisions.

    Examples
    --------
    >>> import numpy as np
    >>> from skactiveml.classifier import SklearnClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from askance.adapters.skactiveml import QueryRuleStrategy
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> clf = SklearnClassifier(GaussianNB(), classes=[0, 1]).fit(X[:20], X[:20, 0] > 0.0)
    >>> strategy, bought = QueryRuleStrategy(budget=0.2, random_state=0), 0
    >>> for x in X[20:]:
    ...     queried = strategy.query([x], clf)
    ...     _ = strategy.update([x], queried)
    ...     bought += len(queried)
    >>> 40 < bought <= 56
    True
    """

    def __init__(
        self,
        query_rule: QueryRule | None = None,
        budget: float | Budget | None = None,
        explore: float = 0.0,
        random_state: Any = None,
    ) -> None:
        super().__init__(budget=budget, random_state=random_state)
        self.query_rule = query_rule
        self.explore = explore

    def query(
        self,
        candidates: Any,
        clf: Any,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        fit_clf: bool = False,
        return_utilities: bool = False,
    ) -> Any:
        """Decide for which candidates the label is wanted; nothing is counted before ``update``.

        Parameters
        ----------
        candidates : array-like of shape (n_candidates, n_features)
            Events of the stream, in order.
        clf : classifier
            One of scikit-activeml or of scikit-learn, fitted.
        X, y, sample_weight : array-like, optional
            What a copy of ``clf`` is fitted to before, with ``fit_clf=True``.
        fit_clf : bool, default False
        return_utilities : bool, default False
            Whether to return the ask probabilities, too.

        Returns
        -------
        queried_indices : ndarray of shape (n_queried_indices,)
        utilities : ndarray of shape (n_candidates,)
        """
        candidates, return_utilities = self._validate_data(candidates, return_utilities)
        if fit_clf:
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            clf = clone(clf).fit(X, y, **weights)
        margins = self._margins(clf, candidates)
        asked, utilities = self._rehearsal().rehearse(margins)
        self._queried = candidates_key(candidates), margins
        return (np.flatnonzero(asked), utilities) if return_utilities else np.flatnonzero(asked)

    def update(
        self, candidates: Any, queried_indices: Any, budget_manager_param_dict: dict[str, Any] | None = None
    ) -> Self:
        """Count candidates, which the latest ``query`` was about, and the labels that were really asked.

        Parameters
        ----------
        candidates : array-like of shape (n_candidates, n_features)
        queried_indices : array-like of shape (n_queried_indices,)
        budget_manager_param_dict : dict, optional
            Not needed.
        """
        key, margins = getattr(self, "_queried", (None, np.empty(0)))
        if key is None or key != candidates_key(self._validate_data(candidates, False, reset=False)[0]):
            raise InvalidInput(
                "update is for the candidates of the latest query; call query with these candidates first."
            )
        self._rehearsal().count(margins, check_queried(queried_indices, len(margins)))
        return self

    def _rehearsal(self) -> Rehearsal:
        if not hasattr(self, "rehearsal_"):
            check_query(self.query_rule, "a classifier of scikit-activeml")
            self.rehearsal_ = Rehearsal(self.query_rule, self.budget_, self.explore, self.random_state)
        return self.rehearsal_

    def _validate_budget(self) -> None:
        self.budget_ = budget_of(self.budget)

    @staticmethod
    def _margins(clf: Any, candidates: Any) -> np.ndarray:
        check_scores(clf)
        model = EstimatorModel(clf, is_fitted=True)
        model.classes = np.asarray(getattr(clf, "classes_", ()))
        if len(model.classes) < 2:
            raise InvalidInput(
                f"{type(clf).__name__} does not know two classes yet; fit it, or name them with classes=."
            )
        return np.array([margin_of(scores) for scores in model.scores(candidates)])


def candidates_key(candidates: np.ndarray) -> tuple[Any, ...]:
    """What tells candidates from others."""
    return candidates.shape, np.ascontiguousarray(candidates).tobytes()


def as_probabilities(utilities: np.ndarray) -> np.ndarray:
    """Utilities as far as they lie in [0, 1]; 0 for NaN, which marks a candidate that is not to be asked."""
    return np.clip(np.nan_to_num(utilities, nan=0.0), 0.0, 1.0)


class PacingBudgetManager(BudgetManager):
    """One of our budgets as a budget manager of scikit-activeml, for any of its strategies.

    A candidate is asked with a probability that grows with its utility u. A share of the events is held by scaling the
    odds u / (1 - u), see ``askance.budgets.Rate``: after n candidates no more labels were asked than it allows. A mere
    number of labels, such as ``budget=500``, asks with probability u itself.

    Parameters
    ----------
    budget : float, int or Budget, default None
        A share of the events, as in scikit-activeml (None: a tenth), a number of labels, or one of ``askance.budgets``.
    explore : float, default 0.0
        The least ask probability of every event.
    random_state : int, RandomState or None
        Controls the randomness of the decisions.

    Examples
    --------
    >>> import numpy as np
    >>> from askance.adapters.skactiveml import PacingBudgetManager
    >>> manager, bought = PacingBudgetManager(budget=0.1, random_state=0), 0
    >>> for utilities in np.random.default_rng(0).random((100, 10)):
    ...     queried = manager.query_by_utility(utilities)
    ...     _ = manager.update(utilities.reshape(-1, 1), queried, utilities)
    ...     bought += len(queried)
    >>> 80 < bought <= 100
    True
    """

    def __init__(self, budget: float | Budget | None = None, explore: float = 0.0, random_state: Any = None) -> None:
        super().__init__(budget=budget)
        self.explore = explore
        self.random_state = random_state

    def query_by_utility(self, utilities: np.ndarray) -> np.ndarray:
        """The places of the candidates whose labels are wanted; nothing is counted before ``update``."""
        utilities = self._check_utilities(utilities)
        asked, _ = self._rehearsal().rehearse(as_probabilities(utilities))
        self._queried = utilities
        return np.flatnonzero(asked & ~np.isnan(utilities))

    def update(self, candidates: Any, queried_indices: Any, utilities: Any = None) -> Self:
        """Count candidates, and the labels that were really asked.

        Parameters
        ----------
        candidates : array-like of shape (n_candidates, n_features)
        queried_indices : array-like of shape (n_queried_indices,)
        utilities : array-like of shape (n_candidates,), optional
            Those of the candidates; unless given, those of the latest ``query_by_utility``.
        """
        known = getattr(self, "_queried", np.empty(0)) if utilities is None else np.asarray(utilities, np.float64)
        known = self._check_utilities(known)
        n_candidates = candidates.shape[0] if hasattr(candidates, "shape") else len(candidates)
        if len(known) != n_candidates:
            raise InvalidInput(
                f"there are {n_candidates} candidates and {len(known)} utilities; give those of the candidates: "
                'update(..., budget_manager_param_dict={"utilities": utilities}).'
            )
        self._rehearsal().count(as_probabilities(known), check_queried(queried_indices, n_candidates))
        return self

    def _check_utilities(self, utilities: Any) -> np.ndarray:
        utilities = self._validate_data(utilities)
        if utilities.ndim != 1 or utilities.dtype.kind not in "fiub":
            raise InvalidInput("utilities are a flat array of numbers, one for each candidate.")
        return utilities.astype(np.float64)

    def _rehearsal(self) -> Rehearsal:
        if not hasattr(self, "rehearsal_"):
            self.rehearsal_ = Rehearsal(Utility(), self.budget_, self.explore, self.random_state)
        return self.rehearsal_

    def _validate_budget(self) -> None:
        self.budget_ = budget_of(self.budget)
