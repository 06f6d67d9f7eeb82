"""What the pages of the algorithm families say beyond the docstrings: when to use them, the formula, the cost."""

from __future__ import annotations

from typing import Any, NamedTuple


class Family(NamedTuple):
    """The algorithms whose update rules share a file of ``askance.learner.update``."""

    module: str
    title: str
    when: str
    formula: str
    """In TeX; what follows ``, \\qquad`` begins a line."""
    cost: str
    shown: str
    """The algorithm whose questions the picture shows."""
    settings: dict[str, Any]


QUERY_BY_MARGIN = r"P(\text{ask}) = \frac{\delta}{\delta + |p|}, \qquad p = w \cdot x"

FAMILIES = (
    Family(
        "perceptron",
        "Perceptron",
        "A baseline, or where nothing but speed counts. It has no step size to set, follows a changing world by "
        "itself, and is unsure of nothing: questions depend on the margin alone.",
        QUERY_BY_MARGIN + r", \qquad w \leftarrow w + y\,x \ \text{ if } y\,p \le 0",
        "O(nnz), and one number per feature",
        "PEA",
        {"delta": 0.3},
    ),
    Family(
        "passive_aggressive",
        "Passive-aggressive",
        "The fastest with a margin of one: millions of events a second, little to tune. PAA-I with a small C bears "
        "noisy labels. CSPAA and OAAL are for classes that cost differently; the M names are for more than two.",
        QUERY_BY_MARGIN + r", \qquad w \leftarrow w + \min\left(C, \frac{\ell}{\|x\|^2}\right) y\,x, \qquad "
        r"\ell = \max(0, 1 - y\,p)",
        "O(nnz), and one number per feature",
        "PAA-I",
        {"delta": 0.1},
    ),
    Family(
        "second_order_perceptron",
        "Second-order perceptron",
        "Up to a few hundred dense numbers that depend on one another (SEL-2nd); SOP-diag where there are more.",
        r"P(\text{ask}) = \frac{\delta}{\delta + |p|}, \qquad p = w^\top (a I + \textstyle\sum x x^\top)^{-1} x",
        "SEL-2nd: O(d²); SOP-diag: O(nnz), and two numbers per feature",
        "SEL-2nd",
        {"delta": 0.3},
    ),
    Family(
        "confidence_weighted",
        "Confidence-weighted",
        "A passive second-order learner for sparse features, as a baseline: it asks for every label unless a budget "
        "stops it.",
        r"(\mu, S) \leftarrow \arg\min D_{KL} \ \text{ such that } \ y\,\mu \cdot x \ge \varphi\, x^\top S x",
        "O(nnz), and two numbers per feature",
        "CW-diag",
        {"budget": 60},
    ),
    Family(
        "adagrad",
        "Adaptive subgradients",
        "Words and other sparse features, where rare ones tell most: D-ADA and D-AMD ask where the margin is small or "
        "the features are rare. Of the rules that play every set, D-AMD and BOAL-entropy came closest to `auto` at "
        "their defaults.",
        r"P(\text{ask}) = \frac{b}{b + \max(0, q)}, \qquad q = |p| - \frac{\eta}{2} \frac{1}{\max(1, \|x\|^2)} "
        r"\sum_i \frac{x_i^2}{H_i}",
        "O(nnz), and three or four numbers per feature",
        "D-ADA",
        {"b": 0.1, "eta": 0.5},
    ),
    Family(
        "adaptive",
        "Adaptive regularisation: SOAL and OA3",
        "The first choice among single rules. SOAL-diag for sparse features, SOAL for up to a few hundred numbers, OA3 "
        "and OA3-diag where one class is rare or costs more: `rho` above 1, `delta_pos` above `delta_neg`.",
        r"P(\text{ask}) = \frac{\delta}{\delta + \max(0, q)}, \qquad q = |p| - \frac{\eta}{2} "
        r"\frac{\gamma\, v}{\gamma + v}, \qquad v = x^\top S x",
        "-diag: O(nnz), and two numbers per feature; others: O(d nnz) to O(d²), and d² numbers",
        "SOAL",
        {"delta": 0.05, "gamma": 1.0},
    ),
    Family(
        "pairwise",
        "Pairs of answers",
        "A rare class, and what counts is that its events rank above the others: alarms that people work off from the "
        "top. At few labels its AUC is well above that of SOAL-diag and OA3-diag.",
        r"\ell_j = \max(0, 1 - y\,w \cdot (x - x_j)), \qquad g = \frac{1}{m} \sum_j \ell_j (x - x_j), \qquad "
        r"w \leftarrow w + \eta\,y\,S g",
        "O(B nnz) per answer, O(nnz) per prediction; two numbers per feature and 2 B answers",
        "SOAL-AUC",
        {"delta": 0.1},
    ),
    Family(
        "sketch",
        "Sketched OA3",
        "Many features that depend on one another, where a full covariance has no room: m directions in place of d.",
        r"S \approx I - V^\top \operatorname{diag}\left(\frac{e_i}{1 + e_i}\right) V, \qquad "
        r"V \in \mathbb{R}^{m \times d}",
        "SSOA3: O(m nnz + m³); SOA3: O(m² d); m + 1 numbers per feature",
        "SSOA3",
        {"sketch_size": 2, "delta_pos": 0.05, "delta_neg": 0.05},
    ),
    Family(
        "probit",
        "Bayesian probit",
        "Probabilities that mean something, or unbiased learning in a stream that changes: UOAL weighs every answer by "
        "one over its ask probability, BOAL does not, and learned faster on the sets of our benchmark.",
        r"P(\text{ask}) = H_2\left(\varepsilon + (1 - 2 \varepsilon)\, \Phi\left(\frac{p}{\sqrt{v + 1}}\right)\right)",
        "O(nnz), and two numbers per feature",
        "BOAL-entropy",
        {"epsilon": 0.01},
    ),
)
