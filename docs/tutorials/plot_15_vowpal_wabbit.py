"""
Vowpal Wabbit's lines
=====================

Files of Vowpal Wabbit are read and written, and ``askance pipe --format vw --listen 26542`` answers its active clients.
This is what such a client does, without the network between.
"""

import tempfile
from pathlib import Path

from askance.data import open_stream, write_vw
from askance.data.generators import messages
from askance.runner.algorithm_spec import AlgorithmSpec
from askance.runner.vw_pipe import VwPipe

stream = messages(2_000, random_state=1)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "mail.vw"
write_vw(path, list(stream.texts), [1 if label == "spam" else -1 for label in stream.labels])
lines = path.read_text().splitlines()
print(lines[0])

# %%
# A client sends a line without its label, and reads the prediction, the tag and, if the label is wanted, an importance.
# It sends the line back with the label and that importance.

pipe = VwPipe(["-1", "1"], AlgorithmSpec("auto", {"objective": "accuracy"}, budget=100))
right = 0
for line in lines:
    label, _, features = line.partition(" |")
    prediction, tag, *importance = pipe.answer(f"|{features}".encode()).decode().split(" ")
    right += (float(prediction) >= 0) == (label == "1")
    if importance:
        pipe.answer(f"{label} {importance[0]} {tag} |{features}".encode())

print(f"{pipe.asked} labels, accuracy {right / len(lines):.3f}")

# %%
# The file itself is a stream like any other. Its columns are those of ``vw -b 18``.

with open_stream(path) as vw:
    print(vw.fields)
    print(next(iter(vw)).X.shape)
folder.cleanup()
