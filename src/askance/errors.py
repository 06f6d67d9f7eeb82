"""What askance raises. Each error also is the built-in that a caller would expect to catch."""

from __future__ import annotations


class AskanceError(Exception):
    """Base of every error of this package."""


class InvalidParameter(AskanceError, ValueError):
    """A parameter of a rule, a budget or the classifier has a value it cannot work with."""


class InvalidInput(AskanceError, ValueError):
    """Events or labels that cannot be used: NaN, wrong width, unknown label, and the like."""


class InvalidType(AskanceError, TypeError):
    """Something of the wrong kind was passed, such as a string where a rule belongs."""


class UnknownAlgorithm(AskanceError, ValueError):
    """No algorithm has this name."""


class IncompatibleRules(AskanceError, ValueError):
    """A query rule reads something that the update rule does not provide."""


class ModelFileError(AskanceError, ValueError):
    """A model file is damaged, foreign or newer than this version."""
