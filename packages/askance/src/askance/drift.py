"""Has the world changed? By the answers, which say whether mistakes become more frequent, and by the events alone."""

from askance.evaluate.drift import *  # noqa: F403
from askance.evaluate.drift import __all__ as __all__
