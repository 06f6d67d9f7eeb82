"""What others offer for the same task, each fed in the fastest way it has.

Vowpal Wabbit plays a whole file inside its C++ when a workspace is made with ``-d``; once from text, which it
parses, and once from its own binary cache of the same file. river gets dictionaries that were made
beforehand. scikit-learn has no active learner: its passive-aggressive update learns from every label, in one
call.
"""

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.measure import Contestant
from benchmarks.report import Section
from benchmarks.streams import Stream

VOWPAL_OPTIONS = "--active --simulation --mellowness 0.0001 --loss_function hinge --noconstant"


def write_vowpal_text(stream: Stream, path: Path) -> None:
    """The stream in Vowpal Wabbit's text format; a value of one is left out, which parses faster."""
    words = stream.X.indices.astype(str).tolist()
    for k in np.flatnonzero(stream.X.data != 1.0).tolist():
        words[k] = f"{words[k]}:{stream.X.data[k]:.6g}"
    starts = stream.X.indptr.tolist()
    with path.open("w", encoding="ascii") as lines:
        for event, label in enumerate(stream.y.tolist()):
            lines.write(f"{label} | {' '.join(words[starts[event] : starts[event + 1]])}\n")


@dataclass
class VowpalWabbit(Contestant):
    """``--active --simulation`` over a text file, or over the binary cache of it.

    It parses in a second thread. With two cores the threads may spend more processor time waiting for one another than
    they save; held to one core they cannot.
    """

    text_file: Path
    stream: Stream
    from_cache: bool
    on_one_core: bool = False
    asked: int = 0

    def __post_init__(self) -> None:
        bits = max(18, int(np.ceil(np.log2(self.stream.n_features))))
        self.options = f"{VOWPAL_OPTIONS} -b {bits} -d {self.text_file}"
        self.n_events = self.stream.n_events

    def prepare(self) -> None:
        if self.from_cache:
            cache = self.text_file.with_suffix(".cache")
            options = f"{self.options} --cache_file {cache}"
            if not cache.exists():  # reading the text once writes the cache
                self._run(options)
            self.options_now = options
        else:
            self.options_now = self.options

    def play(self) -> None:
        if not self.on_one_core:
            self._run(self.options_now)
            return
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(cores)})
        try:
            self._run(self.options_now)
        finally:
            os.sched_setaffinity(0, cores)

    def _run(self, options: str) -> None:
        from vowpalwabbit import pyvw

        workspace = pyvw.Workspace(options, enable_logging=True)
        workspace.finish()
        for line in workspace.get_log():
            if line.startswith("total queries"):
                self.asked = int(line.split("=")[1])


def vowpal_wabbits(
    stream: Stream, text_file: Path, forms: Mapping[str, bool], section: Section
) -> dict[str, VowpalWabbit]:
    """A contestant for each of the forms, which are names and whether that is the cache file: with all cores and, where
    that can be said, held to one. None where Vowpal Wabbit is not installed, and the section says so."""
    try:
        import vowpalwabbit  # noqa: F401
    except ImportError:
        section.skip("Vowpal Wabbit", "pip install vowpalwabbit")
        return {}
    write_vowpal_text(stream, text_file)
    found = {}
    for name, from_cache in forms.items():
        found[name] = VowpalWabbit(text_file, stream, from_cache)
        if hasattr(os, "sched_setaffinity"):
            found[f"{name}, one core"] = VowpalWabbit(text_file, stream, from_cache, on_one_core=True)
    return found


@dataclass
class River(Contestant):
    """``EntropySampler`` over ``LogisticRegression``, with the events as dictionaries made beforehand."""

    stream: Stream
    asked: int = 0
    events: list[dict[int, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        columns, values = self.stream.X.indices.tolist(), self.stream.X.data.tolist()
        starts = self.stream.X.indptr.tolist()
        for start, end in pairwise(starts):
            self.events.append(dict(zip(columns[start:end], values[start:end], strict=True)))
        self.labels = (self.stream.y > 0).tolist()
        self.n_events = self.stream.n_events

    def prepare(self) -> None:
        from river import active, linear_model

        self.model = active.EntropySampler(linear_model.LogisticRegression(), seed=0)

    def play(self) -> None:
        predict, learn = self.model.predict_one, self.model.learn_one
        asked = 0
        for event, label in zip(self.events, self.labels, strict=True):
            _, is_asked = predict(event)
            if is_asked:
                asked += 1
                learn(event, label)
        self.asked = asked


@dataclass
class ScikitLearn(Contestant):
    """``SGDClassifier`` with the passive-aggressive step, one ``partial_fit`` over everything: not active."""

    stream: Stream

    def __post_init__(self) -> None:
        self.n_events = self.asked = self.stream.n_events

    def prepare(self) -> None:
        from sklearn.linear_model import SGDClassifier

        self.model = SGDClassifier(
            loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0, fit_intercept=False, shuffle=False
        )

    def play(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model.partial_fit(self.stream.X, self.stream.y, classes=[-1, 1])
