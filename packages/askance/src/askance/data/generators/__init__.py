"""Streams made on the spot, for demonstrations, tests and experiments: no download, the same for the same seed.

==========================  ==========================================================================================
:func:`messages`            short text messages, some of them spam
:func:`abrupt`              one linear concept, from a moment on another
:func:`gradual`             the second concept comes up little by little
:func:`recurring`           two or more concepts in turn, each again and again
:func:`novel_spam_attack`   paper 5, example 1: every day a message never seen before
:func:`splitting_the_difference`  paper 5, example 2: a spammer who creeps up to the boundary
:func:`imbalance`           any stream, thinned until the positive class has a given share
:func:`label_noise`         any labels, some of them wrong
:func:`verification_delay`  how long the answer to each event takes, and whether it comes at all
:func:`answers_by_arrival`  who is answered when, given the delays
==========================  ==========================================================================================
"""

from askance.data.generators.concepts import (
    Concepts,
    abrupt,
    answers_by_arrival,
    gradual,
    imbalance,
    label_noise,
    novel_spam_attack,
    recurring,
    splitting_the_difference,
    verification_delay,
)
from askance.data.generators.texts import Messages, messages

__all__ = [
    "Concepts",
    "Messages",
    "abrupt",
    "answers_by_arrival",
    "gradual",
    "imbalance",
    "label_noise",
    "messages",
    "novel_spam_attack",
    "recurring",
    "splitting_the_difference",
    "verification_delay",
]
