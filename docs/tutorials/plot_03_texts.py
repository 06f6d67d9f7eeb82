"""
Texts
=====

A list of texts is a stream, too. One text at a time works as well: ``ask`` gives a decision and, if the label is
wanted, a ticket; ``tell`` takes the answer.
"""

import askance
from askance.data.generators import messages

stream = messages(4_000, random_state=1)
texts, labels = list(stream.texts), stream.labels

clf = askance.make("SOAL-diag", delta=0.03, budget=400, classes=["ham", "spam"], normalize="l2", random_state=0)
for text, truth in zip(texts, labels, strict=True):
    decision = clf.ask(text)
    if decision.asked:
        clf.tell(ticket=decision.ticket, y=truth)  # in your program, this is what a person says

print(f"{clf.labels_asked_} labels bought")
print(clf.predict(["You won a prize! Claim it now", "Lunch on Friday?"]))

# %%
# Which words pushed the prediction, and which way:

for word, push in clf.explain("You won a prize! Claim it now")[:6]:
    print(f"{push:+.2f}  {word}")

# %%
# A model is one file without pickle. Loaded, it goes on with exactly the same decisions.

import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "spam.model"
    clf.save(path)
    again = askance.load(path)
assert again.ask(texts[0]) == clf.ask(texts[0])
