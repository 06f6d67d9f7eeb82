"""
A first stream
==============

Events flow past. Each is predicted at once; for a few of them the label is bought. Here are 5,000 messages and a
budget of 3 %, of which ``auto`` may spend 40 labels at once, for early ones are worth most. Nothing else is set.
"""

import askance
from askance.stream.generators import messages

stream = messages(5_000, random_state=0)
print(stream.texts[0], "->", stream.labels[0])

# %%
# ``run`` plays a stream whose labels are known: it predicts an event, decides whether to ask, and looks at the
# label only if it asked.

clf = askance.make("auto", budget=0.03, random_state=0)
trace = clf.run(stream.X, stream.labels)
print(trace)

# %%
# How good was it? Over all events, each predicted before it was asked:

summary = trace.summary(positive="spam")
print(f"accuracy {summary['accuracy']:.3f} with {trace.asked.sum()} labels of {len(trace):,} events")

# %%
# In real life the other labels are unknown. The same figure from the bought labels alone, with an interval:

print(askance.quality.estimate(trace).accuracy)

# %%
# Was choosing worth it? The same learner, asking as often but at random, is its *twin*.

import matplotlib.pyplot as plt
import numpy as np

share = trace.asked.mean()
chosen = askance.make("SOAL-diag", delta=0.03, budget=150, random_state=0, intercept=True).run(stream.X, stream.labels)
twin = askance.make("SORL-diag", rate=share, budget=150, random_state=0, intercept=True).run(stream.X, stream.labels)

for name, played in [("auto", trace), ("SOAL-diag, chosen", chosen), ("SORL-diag, at random", twin)]:
    wrong = np.cumsum(np.asarray(played.predicted) != stream.labels)
    plt.plot(wrong, label=f"{name}: {played.asked.sum()} labels")
plt.xlabel("events")
plt.ylabel("wrong predictions so far")
plt.legend()
plt.show()
