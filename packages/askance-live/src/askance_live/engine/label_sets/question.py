"""What is stored of the questions about an event's labels."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from askance_live.engine.label_space import pack


class LabelQuestion(NamedTuple):
    """What was decided for a label of an event as it came."""

    score: float
    probability: float
    """With which it could be asked."""
    asked: bool
    audit: bool


_decode = msgspec.json.Decoder(list[LabelQuestion]).decode


def read_questions(stored: str) -> list[LabelQuestion]:
    """A question for each label, by what is stored as the scores of an event."""
    return _decode(stored)


def asked_about(stored: str) -> int:
    """The labels that an event was asked about: a number of ``label_space`` in which they are known."""
    return pack({place: False for place, question in enumerate(read_questions(stored)) if question.asked})
