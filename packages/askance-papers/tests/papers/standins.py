"""Small made-up sets in place of the real ones, so that every experiment can be played anywhere in a moment."""

import dataclasses
import zlib

import numpy as np
import scipy.sparse as sp

from askance.compare.candidate import Candidate
from askance.data.datasets import Dataset
from askance.data.datasets.registry import find

ROWS, COLUMNS = 160, 6


def stand_in(name):
    """A seeded set with the kind and the number of classes of the real one, 160 x 6."""
    base, _, label = name.partition(":")
    entry = find(base)
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    n_classes = 2 if label else min(entry.classes, 4)
    X = rng.normal(size=(ROWS, COLUMNS)).round(3)
    scores = X @ rng.normal(size=(COLUMNS, n_classes)) + 0.5 * rng.normal(size=(ROWS, n_classes))
    y = scores.argmax(axis=1)
    if n_classes == 2:
        y = np.where(scores[:, 1] - scores[:, 0] > 1.0, 1, -1)  # fewer positives
    texts = None
    if entry.kind == "text":
        X = sp.csr_matrix(np.abs(X) * (np.abs(X) > 0.8))
        texts = [""] * ROWS
    if base == "w8a":
        X[::20] = 0.0  # empty rows
    return Dataset(name, X, y, entry, texts)


def small(experiment):
    """The experiment on its first data set, with one point of each grid and the first and last of its settings."""
    first = next(iter(experiment.sets), None)  # some make their own stream
    settings = [setting for setting in experiment.settings if setting.dataset == first]
    settings = [settings[0], settings[-1]] if len(settings) > 2 else settings
    return dataclasses.replace(
        experiment,
        settings=tuple(one_point(setting) for setting in settings),
        datasets=experiment.datasets[:1],
    )


def one_point(setting):
    candidates = tuple(
        Candidate(
            candidate.name,
            {letter: values[len(values) // 2 :][:1] for letter, values in candidate.grid.items()},
            candidate.fixed,
            candidate.label,
        )
        for candidate in setting.candidates[:12]
    )
    targets = {name: fitting(target, setting.kind) for name, target in list(setting.targets.items())[:2]}
    return dataclasses.replace(setting, candidates=candidates, targets=targets, permutations=2, search_permutations=1)


def fitting(target, kind):
    """A budget or a share of labels that 160 events allow."""
    if kind == "budget":
        return target if callable(target) else 60.0
    return max(target, 0.1) if kind == "ratio" else target
