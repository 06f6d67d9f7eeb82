"""Has the world changed? By the answers, which say whether mistakes become more frequent, and by the events alone."""

from askance.evaluate.drift.answers import Detector, DriftSignal, PageHinkley, alarms, uniform_of
from askance.evaluate.drift.events import EventSignal

__all__ = ["Detector", "DriftSignal", "EventSignal", "PageHinkley", "alarms", "uniform_of"]
