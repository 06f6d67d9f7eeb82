"""What the pages of the algorithm families say beyond the docstrings: when to use them, and what the picture shows."""

from __future__ import annotations

from typing import Any, NamedTuple


class Family(NamedTuple):
    """The algorithms whose update rules share a file of ``askance.learner.update``."""

    module: str
    title: str
    when: str
    shown: str
    """The algorithm whose questions the picture shows."""
    settings: dict[str, Any]


FAMILIES = (
    Family(
        "perceptron",
        "Perceptron",
        "A baseline, or where nothing but speed counts. It has no step size to set, follows a changing world by "
        "itself, and is unsure of nothing: questions depend on the margin alone.",
        "PEA",
        {"delta": 0.3},
    ),
    Family(
        "passive_aggressive",
        "Passive-aggressive",
        "The fastest with a margin of one: millions of events a second, little to tune. PAA-I with a small C "
        "bears noisy labels. CSPAA and OAAL are for classes that cost differently; the M names are for more than "
        "two.",
        "PAA-I",
        {"delta": 0.1},
    ),
    Family(
        "second_order_perceptron",
        "Second-order perceptron",
        "Up to a few hundred dense numbers that depend on one another (SEL-2nd); SOP-diag where there are more.",
        "SEL-2nd",
        {"delta": 0.3},
    ),
    Family(
        "confidence_weighted",
        "Confidence-weighted",
        "A passive second-order learner for sparse features, as a baseline: it asks for every label unless a "
        "budget stops it.",
        "CW-diag",
        {"budget": 60},
    ),
    Family(
        "adagrad",
        "Adaptive subgradients",
        "Words and other sparse features, where rare ones tell most: D-ADA and D-AMD ask where the margin is "
        "small or the features are rare. Of the rules that play every set, D-AMD and BOAL-entropy came closest to "
        "`auto` at their defaults.",
        "D-ADA",
        {"b": 0.1, "eta": 0.5},
    ),
    Family(
        "adaptive",
        "Adaptive regularisation: SOAL and OA3",
        "Good single rules. SOAL-diag for sparse features, SOAL for up to a few hundred "
        "numbers, OA3 and OA3-diag where one class is rare or costs more: `rho` above 1, `delta_pos` above "
        "`delta_neg`.",
        "SOAL",
        {"delta": 0.05, "gamma": 1.0},
    ),
    Family(
        "pairwise",
        "Pairs of answers",
        "A rare class, and what counts is that its events rank above the others: alarms that people work off from "
        "the top. At few labels its AUC is well above that of SOAL-diag and OA3-diag.",
        "SOAL-AUC",
        {"delta": 0.1},
    ),
    Family(
        "sketch",
        "Sketched OA3",
        "Many features that depend on one another, where a full covariance has no room: m directions in place of d.",
        "SSOA3",
        {"sketch_size": 2, "delta_pos": 0.05, "delta_neg": 0.05},
    ),
    Family(
        "probit",
        "Bayesian probit",
        "Probabilities that mean something, or unbiased learning in a stream that changes: UOAL weighs every "
        "answer by one over its ask probability, BOAL does not, and learned faster on the sets of our benchmark.",
        "BOAL-entropy",
        {"epsilon": 0.01},
    ),
)
