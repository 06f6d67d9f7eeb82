"""Query rules: the probability of asking. ``askance.rules`` has what it takes to write one."""

from typing import TYPE_CHECKING

from askance.learner.query import *  # noqa: F403
from askance.learner.query import RULES as __all__  # noqa: N811

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from askance.rules import _moved

        return _moved(__name__, name)


def __dir__() -> list[str]:
    return list(__all__)
