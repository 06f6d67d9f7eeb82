"""
scikit-activeml with our rules and budgets
==========================================

Our query rule as one of its stream query strategies, and our budget under one of its own: both keep to a tenth of the
labels at every moment. ``query`` decides and changes nothing, ``update`` counts.
"""

import matplotlib.pyplot as plt
import numpy as np
from skactiveml.classifier import ParzenWindowClassifier
from skactiveml.stream import StreamProbabilisticAL, StreamRandomSampling
from skactiveml.utils import MISSING_LABEL, call_func
from sklearn.datasets import make_blobs

import askance
from askance.adapters.skactiveml import PacingBudgetManager, QueryRuleStrategy

X, truth = make_blobs(600, centers=4, cluster_std=2.0, random_state=0)
strategies = {
    "theirs, at random": StreamRandomSampling(budget=0.1, random_state=0),
    "our rule, our budget": QueryRuleStrategy(askance.queries.Margin(), budget=0.1, random_state=0),
    "their rule, our budget": StreamProbabilisticAL(
        budget_manager=PacingBudgetManager(budget=0.1, random_state=0), random_state=0
    ),
}
BEGINNING, AT_ONCE = 8, 8
for name, strategy in strategies.items():
    clf = ParzenWindowClassifier(classes=range(4), random_state=0)
    y = np.full(len(X), MISSING_LABEL)
    y[:BEGINNING] = truth[:BEGINNING]
    right, bought = [], []
    for t in range(BEGINNING, len(X), AT_ONCE):
        clf.fit(X[:t], y[:t])
        candidates = X[t : t + AT_ONCE]
        right += (clf.predict(candidates) == truth[t : t + AT_ONCE]).tolist()
        queried, utilities = call_func(
            strategy.query, candidates=candidates, clf=clf, X=X[:t], y=y[:t], return_utilities=True
        )
        call_func(
            strategy.update,
            candidates=candidates,
            queried_indices=queried,
            budget_manager_param_dict={"utilities": utilities},
        )
        y[t + np.asarray(queried, int)] = truth[t + np.asarray(queried, int)]
        bought.append(np.isfinite(y[BEGINNING:]).sum())
    plt.plot(
        AT_ONCE * np.arange(1, len(bought) + 1),
        bought,
        label=f"{name}: {bought[-1]} labels, {np.mean(right):.1%} right",
    )
plt.xlabel("events")
plt.ylabel("labels bought")
plt.legend()
plt.show()
