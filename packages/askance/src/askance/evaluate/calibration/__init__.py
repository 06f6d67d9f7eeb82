"""From scores to probabilities, in two ways.

``online`` takes answer by answer in, in five numbers and without looking back: for the live service, and for scores
from elsewhere. ``windowed`` fits to the latest 512 answers whenever somebody asks: what ``predict_proba`` does, for
every algorithm. How good the probabilities are, ``askance.quality`` estimates (``calibration_error``).
"""

from __future__ import annotations

from askance.evaluate.calibration.online import OnlineCalibration

__all__ = ["OnlineCalibration"]
