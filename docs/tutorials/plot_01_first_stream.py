"""
A first stream
==============

Events flow past. Each is predicted at once; for a few of them the label is bought. Here are 5,000 messages and a
budget of 3%, of which ``auto`` may spend 40 labels at once, for early ones are worth most. The objective says what
``auto`` is judged by below: the share of right predictions.
"""

import askance
from askance.data.generators import messages

stream = messages(5_000, random_state=0)
print(stream.texts[0], "->", stream.labels[0])

# %%
# ``run`` plays a stream whose labels are known: it predicts an event, decides whether to ask, and looks at the
# label only if it asked.

clf = askance.make("auto", budget=0.03, objective="accuracy", random_state=0)
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
# Was choosing worth it? The same learner, requesting as many labels at random, is its *random baseline*.

import matplotlib.pyplot as plt
import numpy as np

from askance.compare.random_baseline import build

baseline = build("auto-random", budget=0.03, objective="accuracy", random_state=0).run(stream.X, stream.labels)

mistakes = {}
for name, run in [("chosen", trace), ("at random", baseline)]:
    wrong = np.cumsum(run.predicted != stream.labels)
    mistakes[name] = int(wrong[-1])
    plt.plot(wrong, label=f"{name}: {run.asked.sum()} labels")
plt.xlabel("events")
plt.ylabel("wrong predictions so far")
plt.legend()
plt.show()

# %%
# On this stream it was. One stream and one seed are an example, not a measurement: ``askance compare`` plays your data
# in many orders and tests the difference.

print(f"{mistakes['chosen']} wrong predictions with chosen labels, {mistakes['at random']} with labels at random")
