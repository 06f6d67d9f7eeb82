"""Budgets: how many labels may be bought."""

from askance.learner.budget import Both, Budget, Fixed, PerPeriod, Rate, Unlimited

__all__ = ["Both", "Budget", "Fixed", "PerPeriod", "Rate", "Unlimited"]
