"""What askance raises. Each error also is the built-in that a caller would expect to catch."""

from __future__ import annotations


class AskanceError(Exception):
    """Base of every error of this package."""


class InvalidParameter(AskanceError, ValueError):
    """A parameter of a rule, a budget or the classifier has a value it cannot work with."""


class UnfitCosts(InvalidParameter):
    """Costs of mistakes do not suit the classes there are."""


class InvalidInput(AskanceError, ValueError):
    """Events or labels that cannot be used: NaN, wrong width, unknown label, and the like."""


class InvalidType(AskanceError, TypeError):
    """Something of the wrong kind was passed, such as a string where a rule belongs."""


class UnknownAlgorithm(AskanceError, ValueError):
    """No algorithm has this name."""


class UnknownTicket(AskanceError, LookupError):
    """No asked event waits under this ticket."""


class ConflictingAnswer(AskanceError, ValueError):
    """A ticket that has its answer is given a different one."""


class IncompatibleRules(AskanceError, ValueError):
    """A query rule reads something that the update rule does not provide."""


class NoFeatureWeights(AskanceError, AttributeError):
    """A model has no weight for each feature, so there is no ``coef_`` and nothing to explain by it."""


class InvalidKernel(AskanceError, TypeError):
    """A rule's kernel cannot be compiled, or does what a kernel must not."""


class BrokenContract(AskanceError, AssertionError):
    """A rule does not do what every rule must. A sentence for each fault says what, and how to mend it."""


class DataWarning(UserWarning):
    """Something in the data looks wrong, such as a field that gives the answer away; nothing is changed or refused."""


class ModelFileError(AskanceError, ValueError):
    """A model file is damaged, foreign or newer than this version."""


class BadLine(AskanceError, ValueError):
    """A line (or row) of a file cannot be read. The sentence says which file, line and column, and why.

    Attributes
    ----------
    file : str
        The name of the file, ``-`` for the standard input.
    line : int
        Its number, from 1; for files that are not text, the number of the row, from 0.
    column : str or None
        Where in the line: ``"column 7"`` for the seventh character, or the name of a field.
    reason : str
        What is wrong.
    field : str or None
        The name of the field that it is wrong with, where it is one.
    raw : bytes or None
        The line itself, where it can be had.
    """

    field: str | None = None
    raw: bytes | None = None

    def __init__(self, file: str, line: int, column: str | None, reason: str, unit: str = "line") -> None:
        where = f"{unit} {line} of {file!r}" + (f", {column}" if column else "")
        super().__init__(f"{where}: {reason}")
        self.file, self.line, self.column, self.reason, self.unit = file, line, column, reason, unit

    def __reduce__(self) -> tuple[type[BadLine], tuple[str, int, str | None, str, str]]:
        return type(self), (self.file, self.line, self.column, self.reason, self.unit)


class DatasetError(AskanceError, OSError):
    """A data set is not on this machine, cannot be fetched, or is not what it should be."""
