"""
A DataFrame
===========

Tables of pandas, polars or Arrow go in as they are. Numbers are standardised as the stream goes, categories and texts
are hashed, missing values are told apart from zeros.
"""

import pandas as pd
from sklearn.datasets import load_breast_cancer

import askance

data = load_breast_cancer(as_frame=True)
table = data.frame.sample(frac=1.0, random_state=0)
table["clinic"] = pd.Series(["north", "south", "west"] * 190).head(len(table)).to_numpy()
table["target"] = table["target"].map({0: "malignant", 1: "benign"})
print(table.iloc[:3, [0, 1, -2, -1]])

# %%
# The second argument names the column that holds the labels.

clf = askance.make("auto", budget=60, random_state=0)
trace = clf.run(table, "target")
print(trace)
print(f"balanced accuracy {trace.summary(positive='malignant')['balanced_accuracy']:.3f}")

# %%
# What was made of the columns, and which of them counted for one row:

print({name: kind for name, kind in clf.fields_.items() if name in ("mean radius", "clinic")})
row = table.drop(columns="target").iloc[0].to_dict()
for field, push in clf.explain(row)[:5]:
    print(f"{push:+.3f}  {field}")

# %%
# Probabilities are calibrated on the bought labels with their weights.

print(clf.predict_proba(table.drop(columns="target").head(3)).round(2))
