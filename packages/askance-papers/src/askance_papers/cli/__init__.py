"""The commands of the papers, which join ``askance``."""

from askance_papers.cli import reproduce

COMMANDS = (reproduce.command,)
