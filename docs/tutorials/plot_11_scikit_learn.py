"""
A model of scikit-learn
=======================

Any classifier with ``partial_fit`` can be put under our query rules and budgets. Here a linear model and naive Bayes
read handwritten digits; each buys a tenth of the labels, once by the margin and once at random.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB

import askance
from askance import queries

X, y = load_digits(return_X_y=True)
X, y = X[:1000] / 16.0, y[:1000]

for estimator in (SGDClassifier(random_state=0), MultinomialNB()):
    for query in (queries.Margin(), queries.Random()):
        clf = askance.wrap(estimator, query=query, budget=0.1, random_state=0)
        trace = clf.run(X, y)
        name = f"{type(estimator).__name__}, {type(query).__name__}: {trace.asked.sum()} labels"
        curve = trace.curve("accuracy", window=200)
        plt.plot(curve.events, curve.values, label=name)
plt.xlabel("events")
plt.ylabel("accuracy over the last 200 events")
plt.legend()
plt.show()

# %%
# One event at a time, with answers that come later, and the accuracy on the whole stream, estimated from the bought
# labels alone:

clf = askance.wrap(MultinomialNB(), budget=0.2, explore=0.05, classes=range(10), random_state=0)
monitor = askance.quality.Monitor(classes=range(10))
for row in X:
    decision = clf.ask(row)
    monitor.event(decision.label, decision.probability, decision.asked, ticket=decision.ticket)
    if len(clf.pending) > 20:  # a person is behind by twenty answers
        ticket = clf.pending[0]
        answer = int(y[ticket - 1])  # tickets are numbers of events
        clf.tell(ticket=ticket, y=answer)
        monitor.answer(ticket, answer)
print(f"{clf.labels_asked_} labels, accuracy {monitor.accuracy}")
