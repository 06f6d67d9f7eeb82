"""
river with a budget
===================

A river pipeline, asked for by our query rule and held to a tenth of the labels, beside river's own ``EntropySampler``,
which has no budget: it asks for as many as its discount factor happens to make.
"""

import matplotlib.pyplot as plt
from river import active, datasets, evaluate, linear_model, metrics, preprocessing

import askance
from askance.adapters.river import QuerySampler, RiverActiveClassifier


def pipeline():
    return preprocessing.StandardScaler() | linear_model.LogisticRegression()


models = {
    "EntropySampler": active.EntropySampler(pipeline(), discount_factor=3, seed=0),
    "QuerySampler, a tenth": QuerySampler(pipeline(), budget=0.1, seed=0),
    "SOAL-diag, a tenth": RiverActiveClassifier(askance.make("SOAL-diag", budget=0.1), seed=0),
}
for name, model in models.items():
    steps = list(evaluate.iter_progressive_val_score(datasets.Phishing(), model, metrics.Accuracy(), step=50))
    used = steps[-1]["Samples used"]
    plt.plot(
        [step["Step"] for step in steps],
        [step["Samples used"] for step in steps],
        label=f"{name}: {used} labels, {steps[-1]['Accuracy']}",
    )
plt.xlabel("events")
plt.ylabel("labels bought")
plt.legend()
plt.show()

# %%
# The same model with answers that come later, by ticket. ``run`` plays pairs whose labels are known and returns a
# trace, from which the accuracy on all events is estimated by the bought labels alone:

model = QuerySampler(pipeline(), budget=0.2, explore=0.05, seed=0)
waiting = []
for x, y in datasets.Phishing().take(500):
    decision = model.ask(x)
    if decision.asked:
        waiting.append((decision.ticket, y))
    if len(waiting) > 10:
        model.tell(*waiting.pop(0))
print(f"{model.labels_asked_} of {model.events_seen_} labels asked, {len(model.pending)} answers to come")

trace = QuerySampler(pipeline(), budget=0.2, explore=0.05, seed=0).run(datasets.Phishing())
print("estimated", askance.quality.estimate(trace).accuracy, "true", round(trace.summary()["accuracy"], 3))
