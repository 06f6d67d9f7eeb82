"""
Budgets
=======

A number, a share of the events, so many a day, or several at once: none is ever exceeded. A share is held by scaling
the query rule while the stream flows, so that the labels are spread over it.
"""

import matplotlib.pyplot as plt
import numpy as np

import askance
from askance import budgets
from askance.data.generators import messages

stream = messages(10_000, random_state=0)
times = 60.0 * np.arange(10_000)  # a message a minute: a week

limits = {
    "300 labels": 300,
    "3 %": 0.03,
    "3 %, 100 of them at once": budgets.Rate(0.03, burst=100),
    "50 a day": budgets.PerPeriod(50, "1d"),
}
for name, budget in limits.items():
    clf = askance.make("SOAL-diag", delta=0.1, budget=budget, intercept=True, random_state=0)
    trace = clf.run(stream.X, stream.labels, times=times)
    accuracy = trace.summary()["accuracy"]
    plt.plot(np.cumsum(trace.asked), label=f"{name}: {trace.asked.sum()} labels, accuracy {accuracy:.3f}")
plt.xlabel("events")
plt.ylabel("labels bought")
plt.legend()
plt.show()
