"""Budgets: how many labels may be bought."""

from askance.learner.budget import Budget, Fixed, Unlimited

__all__ = ["Budget", "Fixed", "Unlimited"]
