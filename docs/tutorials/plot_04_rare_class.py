"""
A rare class, and what mistakes cost
====================================

Two events in a hundred are positive, and a missed one costs nine times as much as a false alarm. The asymmetric rules
of paper 4 ask, and learn, differently for the two classes; ``auto`` takes the costs as they are.
"""

import numpy as np

import askance
from askance.data.generators import abrupt, imbalance

X, y, _ = abrupt(20_000, angle=0.0, random_state=0)
kept = imbalance(y, positive=1, rate=0.02, random_state=0)
X, y = X[kept], y[kept]
print(f"{len(y):,} events, {np.mean(y == 1):.1%} positive")

# %%
# All have the same budget of 3 %.

classifiers = {
    "auto, accuracy": askance.make("auto", objective="accuracy", budget=0.03, random_state=0),
    "auto, costs 9 : 1": askance.make("auto", objective="cost", costs={"fn": 9, "fp": 1}, budget=0.03, random_state=0),
    "PAA-I": askance.make("PAA-I", normalize="l2", intercept=True, budget=0.03, random_state=0),
    "OA3, rho 9": askance.make(
        "OA3", rho=9.0, delta_pos=10.0, normalize="l2", intercept=True, budget=0.03, random_state=0
    ),
}
costs = {}
for name, clf in classifiers.items():
    trace = clf.run(X, y)
    missed = np.sum((y == 1) & (trace.predicted != 1))
    alarms = np.sum((y != 1) & (trace.predicted == 1))
    costs[name] = 9 * missed + alarms
    print(f"{name:18} {trace.asked.sum():4} labels, {missed:3} missed, {alarms:4} false alarms, cost {costs[name]}")

# %%

import matplotlib.pyplot as plt

plt.barh(list(costs), list(costs.values()))
plt.xlabel("cost of all mistakes (missed: 9, false alarm: 1)")
plt.gca().invert_yaxis()
plt.tight_layout()
plt.show()

# %%
# The axis shows the cost, and only the classifiers that know the costs optimize it. "auto, accuracy" does not.

best = min(costs, key=costs.get)
print(f"{best} costs least: {costs[best]}, against {costs['auto, accuracy']} of auto, accuracy")
