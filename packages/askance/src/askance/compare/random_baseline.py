"""The random baseline of an algorithm: the same learner, learning in the same way, that asks at random.

Only this baseline shows what choosing is worth: beside another learner that asks at random, the learners are compared,
too. Most algorithms of the papers have one among them (PAA-I has RPA-I, D-ADA has R-ADA). The others are made here, and
called after theirs (OA3 has OA3-random). That of ``auto`` is the same committee with the same budget, which tosses a
coin where ``auto`` goes by its doubt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from askance.learner import query as q
from askance.learner.auto import Committee, InverseSquareMargin
from askance.learner.make import make
from askance.learner.presets import AUTO, BY_NAME, PRESETS, AlgorithmName, Preset, find, is_auto, key_of

if TYPE_CHECKING:
    from askance.learner.estimator import ActiveClassifier

RANDOM = "random"


@dataclass
class Coin(q.Random):
    """Ask at random, by a committee that watches every event, as it does for ``InverseSquareMargin``."""

    reads_variance: ClassVar = True  # which is what makes it watch


ALONE = Preset(AUTO, 0, Committee, InverseSquareMargin, (), {})
"""``auto`` as if it were a preset: the rate of its budget is what turns its query ratio."""
ALONE_AT_RANDOM = Preset(f"{AUTO}-{RANDOM}", 0, Committee, Coin, (), {})
EVEN = 0.5
"""The coin's own rate; the pace of the budget is what moves it."""


def preset_of(algorithm: str) -> Preset:
    """The preset of this name; also ``auto`` and the random baselines, which are none."""
    base = _base_of(algorithm)
    if base is not None:
        return _at_random(preset_of(base))
    return ALONE if is_auto(algorithm) else find(algorithm)


def is_committee(algorithm: str) -> bool:
    """Whether it is ``auto`` or its random baseline, whose rate is that of the budget."""
    return preset_of(algorithm) in (ALONE, ALONE_AT_RANDOM)


def build(algorithm: str, **parameters: Any) -> ActiveClassifier:
    """As ``make``; also the random baselines."""
    row = preset_of(algorithm)
    if row is ALONE_AT_RANDOM:
        rate = 1.0 if parameters.get("budget") is None else EVEN
        return make(AUTO, **parameters).set_params(query=Coin(rate=rate))
    base = _base_of(row.name)
    if base is None:
        return make(cast(AlgorithmName, row.name), **parameters)
    query = q.Random(**{letter: parameters.pop(letter) for letter in ("rate",) if letter in parameters})
    clf = make(cast(AlgorithmName, base), **parameters).set_params(query=query)
    clf._check_rules()
    return clf


def random_baseline_of(algorithm: str) -> str | None:
    """The name of the algorithm that learns alike and asks at random; None for one that does so itself, or asks always.

    Examples
    --------
    >>> [random_baseline_of(name) for name in ("SOAL-diag", "auto", "OA3", "SOL-diag")]
    ['SORL-diag', 'auto-random', 'OA3-random', None]
    """
    own = preset_of(algorithm)
    return None if issubclass(own.query, q.Random | q.Always) else _at_random(own).name


def _at_random(own: Preset) -> Preset:
    """The same learner asking at random: by its name in the papers, if it has one."""
    for row in (*PRESETS, ALONE_AT_RANDOM):
        if issubclass(row.query, q.Random) and (row.update, row.fixed) == (own.update, own.fixed):
            return row
    return Preset(f"{own.name}-{RANDOM}", own.paper, own.update, q.Random, (), own.fixed)


def _base_of(algorithm: Any) -> str | None:
    """Whose random baseline a name such as OA3-random means; None for any other, such as UOAL-random of a paper."""
    key = key_of(algorithm) if isinstance(algorithm, str) else ""
    base = key.removesuffix(RANDOM)
    return base if base != key and key not in BY_NAME and (base in BY_NAME or is_auto(base)) else None
