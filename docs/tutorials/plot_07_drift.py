"""
Drift
=====

In the middle of this stream the two classes change places. Three ways to meet that: do nothing, forget all the time,
or let an alarm make the model unsure again.
"""

import matplotlib.pyplot as plt
import numpy as np

import askance
from askance.data.generators import abrupt
from askance.drift import DriftSignal

X, y, _ = abrupt(8_000, angle=180.0, random_state=0)
common = {"budget": 0.05, "explore": 0.02, "normalize": "l2", "classes": [-1, 1], "random_state": 0}


def play(clf, react):
    """Predict and learn one event after the other; at an alarm, ``react`` says what to do."""
    signal, right, alarms = DriftSignal(rate=clf.explore), [], []
    for t, (x, answer) in enumerate(zip(X, y, strict=True)):
        decision = clf.ask(x)
        right.append(decision.label == answer)
        if decision.asked:
            clf.tell(ticket=decision.ticket, y=answer)
            if signal.answer(decision.label != answer, decision.probability, decision.audit):
                alarms.append(t)
                react(clf)
    return np.array(right), alarms


plays = {
    "SOAL-diag": play(askance.make("SOAL-diag", **common), lambda clf: None),
    "with decay=0.95": play(askance.make("SOAL-diag", decay=0.95, **common), lambda clf: None),
    "unsure again at an alarm": play(askance.make("SOAL-diag", **common), lambda clf: clf.inflate_variances(1.0)),
}
for name, (right, alarms) in plays.items():
    print(f"{name:26} last 1,000 events: {right[-1000:].mean():.3f}; alarms at {alarms}")
    plt.plot(np.convolve(right, np.ones(300) / 300, mode="valid"), label=name)
plt.axvline(4_000, color="0.6", linestyle=":")
plt.xlabel("events")
plt.ylabel("accuracy of 300 events")
plt.legend()
plt.show()
