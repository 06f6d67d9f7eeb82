"""The live service: events come in over HTTP, a few become questions, people answer, the model learns."""

__version__ = "0.3.0.dev0"
