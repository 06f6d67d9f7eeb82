"""All experiments, by key."""

from __future__ import annotations

import difflib
import functools

from askance.errors import InvalidParameter
from askance_papers.experiment import Experiment


@functools.cache
def experiments() -> dict[str, Experiment]:
    """Every table, figure and theorem that can be played, in the order of the papers."""
    from askance_papers.bounds.multiclass_sweep import EXPERIMENTS as THEOREMS_OF_MANY
    from askance_papers.bounds.sweep import EXPERIMENTS as THEOREMS
    from askance_papers.paper1.sweep import EXPERIMENTS as FIRST
    from askance_papers.paper2.sweep import EXPERIMENTS as SECOND
    from askance_papers.paper3.sweep import EXPERIMENTS as THIRD
    from askance_papers.paper4.sweep import EXPERIMENTS as FOURTH
    from askance_papers.paper5.sweep import EXPERIMENTS as FIFTH

    everything = [*FIRST, *SECOND, *THIRD, *FOURTH, *FIFTH, *THEOREMS, *THEOREMS_OF_MANY]
    return {experiment.key: experiment for experiment in sorted(everything, key=lambda experiment: experiment.paper)}


def find(key: str) -> Experiment:
    """The experiment of this key, such as ``paper4-table2``."""
    known = experiments()
    if key in known:
        return known[key]
    close = difflib.get_close_matches(key.lower(), known, n=1)
    advice = f"; did you mean {close[0]!r}?" if close else "; 'askance reproduce --list' shows them."
    raise InvalidParameter(f"there is no experiment {key!r}{advice}")
