"""Every named algorithm once more, in plain dense NumPy, straight from the papers.

Slow on purpose, and written from the papers, not from the compiled code: `updates` (how to learn), `queries`
(when to ask), `play` (the stream), and the table `presets` that joins them under the papers' names.

The papers are cited by number:

1. Lu, Zhao, Hoi, "Online Passive-Aggressive Active learning", Machine Learning (2016)
2. Zhai et al., "Online active classification via margin-based and feature-based label queries",
   Machine Learning 111 (2022)
3. Hao et al., "SOAL: Second-order Online Active Learning" (2016)
4. Zhang et al., "Online adaptive asymmetric active learning with limited budgets", TKDE (2019)
5. Chu et al., "Unbiased online active learning in data streams", KDD 2011
"""

from . import queries, updates
from .play import Result, play, prepare
from .presets import MULTI_CLASS, PRESETS, build, parameters_of, run
from .settings import settings_of

__all__ = [
    "MULTI_CLASS",
    "PRESETS",
    "Result",
    "build",
    "parameters_of",
    "play",
    "prepare",
    "queries",
    "run",
    "settings_of",
    "updates",
]
