"""Estimates from bought labels alone: accuracy and the like of a stream of which few labels are known."""

from askance.evaluate.quality import *  # noqa: F403
from askance.evaluate.quality import __all__ as __all__
