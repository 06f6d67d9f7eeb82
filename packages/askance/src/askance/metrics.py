"""How well a stream was predicted, and how many labels that took."""

from askance.evaluate.metrics import *  # noqa: F403
from askance.evaluate.metrics import __all__ as __all__
