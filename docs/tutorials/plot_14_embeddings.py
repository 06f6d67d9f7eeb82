"""
Embeddings
==========

A text can become a vector, by any encoder that you have: a callable from a list of texts to an array, or a model with
``encode``, such as one of sentence-transformers. Here it is latent semantic analysis, which scikit-learn brings.
"""

import warnings

from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

import askance
from askance.data.generators import messages
from askance.errors import DataWarning

warnings.simplefilter("ignore", DataWarning)
stream = messages(2_000, random_state=1)
events = [{"text": text, "size": len(text)} for text in stream.texts]

# %%
# The encoder learns from texts without labels, such as those of last month. Nothing of it changes later.

past = messages(2_000, random_state=2).texts
encoder = make_pipeline(TfidfVectorizer(sublinear_tf=True), TruncatedSVD(50, random_state=0)).fit(past).transform

clf = askance.make("SOAL-diag", fields={"text": askance.Embedding(encoder)}, budget=100, random_state=0)
trace = clf.run(events, stream.labels)
print(clf.fields_)
print(f"{trace.asked.sum()} labels, accuracy {(trace.predicted == stream.labels).mean():.3f}")

# %%
# Beside it, the words themselves, with as many labels:

words = askance.make("SOAL-diag", budget=100, random_state=0).run(events, stream.labels)
print(f"{words.asked.sum()} labels, accuracy {(words.predicted == stream.labels).mean():.3f}")

# %%
# The file of the model holds no code, and so not the encoder. Whoever loads it brings it along.

import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "mail.model"
    clf.save(path)
    try:
        askance.load(path)
    except ValueError as error:
        print(str(error).partition(": ")[2])
    again = askance.load(path, encoders={"text": encoder})
assert again.ask(events[0]) == clf.ask(events[0])
