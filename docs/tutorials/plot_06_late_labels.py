"""
Labels that come late
=====================

People answer hours later, in any order, or never. A ticket keeps the event, what was predicted for it and the
probability it was asked with, so that an answer is learned as if it had come at once.
"""

import numpy as np

import askance
from askance.data.generators import messages

stream = messages(4_000, random_state=2)
rng = np.random.default_rng(0)

clf = askance.make(
    "auto", budget=200, objective="accuracy", classes=["ham", "spam"], max_pending_age=1_000, random_state=0
)
waiting = []  # (when the answer comes, ticket, label)
wrong = 0
for t, (x, truth) in enumerate(zip(stream.X, stream.labels, strict=True)):
    while waiting and waiting[0][0] <= t:
        _, ticket, label = waiting.pop(0)
        if ticket in clf.pending:  # an answer that took longer than max_pending_age finds its question gone
            clf.tell(ticket=ticket, y=label)
    decision = clf.ask(x)
    wrong += decision.label != truth
    if decision.asked and rng.random() < 0.9:  # one question in ten is never answered
        waiting.append((t + rng.exponential(200), decision.ticket, truth))
        waiting.sort()

print(f"{clf.labels_asked_} asked, {len(clf.pending)} still open, accuracy {1 - wrong / 4_000:.3f}")

# %%
# The same answer again changes nothing; another one must say that it replaces the first.

from askance.errors import ConflictingAnswer

ticket = clf.pending[0]
clf.tell(ticket=ticket, y="spam")
clf.tell(ticket=ticket, y="spam")
try:
    clf.tell(ticket=ticket, y="ham")
except ConflictingAnswer as error:
    print(error)
