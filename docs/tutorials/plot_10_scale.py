"""
Scale
=====

Sparse events cost what their non-zero features cost, however wide the model is. Streams too large for memory are read
in batches; ``run`` takes any iterator of them.
"""

import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import askance
from askance.data import open_stream
from askance.data.generators import messages

rng = np.random.default_rng(0)
n, width, words = 100_000, 1_000_000, 20
columns = rng.zipf(1.3, size=(n, words)) % width
X = sp.csr_matrix((np.ones(n * words), columns.ravel(), np.arange(0, n * words + 1, words)), shape=(n, width))
y = np.asarray(X @ rng.standard_normal(width) > 0)

for name in ("PAA-I", "SOAL-diag", "D-ADA"):
    trace = askance.make(name, budget=0.05, normalize="l2", random_state=0).run(X, y)
    print(f"{name:10} {trace.asked.sum():6,} labels of {n:,} events")

# %%
# A file of any size, batch by batch; the result does not depend on where it is cut.

stream = messages(5_000, random_state=0)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "mail.csv"
    lines = [f'"{text}",{label}' for text, label in zip(stream.texts, stream.labels, strict=True)]
    path.write_text("\n".join(["text,label", *lines]))
    clf = askance.make("SOAL-diag", delta=0.03, budget=0.03, random_state=0)
    trace = clf.run((batch.X, batch.y) for batch in open_stream(path))
print(trace)
