"""Short text messages, some of them spam: :func:`messages`.

A message is a few sentences; every sentence comes from a topic, and has gaps that are filled from word lists:

    ham      everyday topics, and now and then a sentence of an honest advertisement
    spam     one campaign, mixed with everyday sentences for camouflage, some words in disguise ("w1nn3r")

Topics and campaigns are drawn with unequal frequencies (Zipf), so that rare ones still turn up for the first
time late in the stream. Some spam copies honest advertisements word for word and cannot be told from them,
which leaves a good linear model with about 2 mistakes in a hundred messages.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from askance.errors import InvalidParameter

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Choice = TypeVar("Choice")

SENTENCES = tomllib.loads(Path(__file__).with_name("messages.toml").read_text(encoding="utf-8"))
WORDS, EVERYDAY, CAMPAIGNS = (SENTENCES[name] for name in ("words", "everyday", "campaigns"))
ADVERTS, OPENINGS, CLOSINGS = (SENTENCES[name] for name in ("adverts", "openings", "closings"))

MOST_SENTENCES = 4
LUCK = 10 + MOST_SENTENCES * 6  # uniform numbers that one message needs at most
DISGUISE = str.maketrans("aeiost", "431057")

CAMOUFLAGE = 0.4  # share of the later sentences of spam that are everyday ones
COPYCATS = 0.12  # share of spam that copies honest advertisements instead of running a campaign
HONEST_ADVERTS = 0.1  # share of the sentences of ham that come from an advertisement
NEW_SUBJECT = 0.3  # share of the sentences of ham that leave the topic of the message
DISGUISED = 0.2  # share of a campaign's sentences with a word in disguise


class Messages(NamedTuple):
    """A generated stream: ``texts[t]`` is event t, ``X[t]`` its hashed words, ``labels[t]`` the truth."""

    texts: list[str]
    X: csr_matrix
    labels: NDArray[np.str_]


def messages(n: int, random_state: int = 0, spam_rate: float = 0.15, n_features: int = 2**14) -> Messages:
    """Write ``n`` short messages, each "ham" or "spam".

    Parameters
    ----------
    n : int
        Number of messages, 1 or more. A longer stream with the same seed begins with the shorter one.
    random_state : int, default 0
        Seed; the same seed gives the same messages.
    spam_rate : float in (0, 1), default 0.15
        Probability that a message is spam.
    n_features : int, default 2**14
        Width of ``X``: words are hashed into so many columns, and rows have length 1.

    Examples
    --------
    >>> stream = messages(3, random_state=3)
    >>> stream.texts[0]
    'Oh, CloudToken goes to the moon w17h1n 24 hours.'
    >>> stream.labels.tolist()
    ['spam', 'ham', 'ham']
    >>> stream.X.shape
    (3, 16384)
    """
    if n < 1:
        raise InvalidParameter(f"n must be 1 message or more, got {n!r}.")
    if not 0.0 < spam_rate < 1.0:
        raise InvalidParameter(f"spam_rate must be between 0 and 1, both excluded, got {spam_rate!r}.")
    from sklearn.feature_extraction.text import HashingVectorizer

    rng = np.random.default_rng(random_state)
    chances = rng.random((n, LUCK))  # one row is all the luck of one message
    is_spam = chances[:, 0] < spam_rate
    writer = MessageWriter()
    texts = [
        writer.message(spam, iter(rng)) for spam, rng in zip(is_spam.tolist(), chances[:, 1:].tolist(), strict=True)
    ]
    words = HashingVectorizer(n_features=n_features, token_pattern=r"[\w$%]+")
    return Messages(texts, words.transform(texts), np.where(is_spam, "spam", "ham"))


class Sentence(NamedTuple):
    """``texts[0]``, a word of ``gaps[0]``, ``texts[1]``, a word of ``gaps[1]``, and so on."""

    texts: list[str]
    gaps: list[list[str]]


def choices_in(block: str) -> list[str]:
    return [choice.strip() for line in block.strip().splitlines() for choice in line.split("|")]


def parse(block: str) -> list[Sentence]:
    pieces = [re.split(r"\{(\w+)\}", sentence) for sentence in choices_in(block)]
    return [Sentence(parts[::2], [choices_in(WORDS[gap]) for gap in parts[1::2]]) for parts in pieces]


def pick(choices: Sequence[Choice], rng: float) -> Choice:
    return choices[int(rng * len(choices))]


def pick_next(choices: Sequence[Choice], rng: float, step: int) -> Choice:
    """Go through the choices in turn, from a random one on, so that a message does not repeat itself."""
    return choices[(int(rng * len(choices)) + step) % len(choices)]


def pick_early(choices: Sequence[Choice], rng: float) -> Choice:
    """Prefer early choices: the r-th comes up about 1 / r as often as the first."""
    return choices[min(int((len(choices) + 1) ** rng), len(choices)) - 1]


class MessageWriter:
    """Turns uniform numbers into messages. ``rng`` yields LUCK - 1 of them; how many are used varies."""

    def __init__(self) -> None:
        self.everyday = [parse(block) for block in EVERYDAY.values()]
        self.campaigns = [parse(block) for block in CAMPAIGNS.values()]
        self.adverts = parse(ADVERTS)
        self.openings = choices_in(OPENINGS)
        self.closings = choices_in(CLOSINGS)

    def message(self, is_spam: bool, rng: Iterator[float]) -> str:
        length = 1 + int(next(rng) * MOST_SENTENCES)
        parts = self.spam(length, rng) if is_spam else self.ham(length, rng)
        if next(rng) < 0.4:
            parts[0] = pick(self.openings, next(rng)) + ", " + parts[0]
        text = " ".join(finish(part) for part in dict.fromkeys(parts))  # never the same sentence twice
        return text + " " + pick(self.closings, next(rng)) if next(rng) < 0.3 else text

    def ham(self, length: int, rng: Iterator[float]) -> list[str]:
        topic, start = pick_early(self.everyday, next(rng)), next(rng)
        parts = []
        for position in range(length):
            chance = next(rng)
            if chance < HONEST_ADVERTS:
                parts.append(fill(pick(self.adverts, next(rng)), rng))
            elif chance < HONEST_ADVERTS + NEW_SUBJECT:
                parts.append(fill(pick(pick_early(self.everyday, next(rng)), next(rng)), rng))
            else:
                parts.append(fill(pick_next(topic, start, position), rng))
        return parts

    def spam(self, length: int, rng: Iterator[float]) -> list[str]:
        is_copy = next(rng) < COPYCATS
        campaign, start = self.adverts if is_copy else pick_early(self.campaigns, next(rng)), next(rng)
        parts = []
        for position in range(length):
            if position and next(rng) < CAMOUFLAGE:
                parts.append(fill(pick(pick_early(self.everyday, next(rng)), next(rng)), rng))
                continue
            sentence = fill(pick_next(campaign, start, position), rng)
            is_disguised = not is_copy and next(rng) < DISGUISED
            parts.append(disguise(sentence, next(rng)) if is_disguised else sentence)
        if next(rng) < 0.5:
            parts.reverse()
        return parts


def fill(sentence: Sentence, rng: Iterator[float]) -> str:
    texts, gaps = sentence
    written = texts[0]
    for gap, text in zip(gaps, texts[1:], strict=True):
        written += pick(gap, next(rng)) + text
    return written


def finish(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:] + ("" if sentence[-1] in "?!" else ".")


def disguise(sentence: str, rng: float) -> str:
    """Spell one of the longer words so that a word list would not find it."""
    words = sentence.split(" ")
    long_words = [position for position, word in enumerate(words) if len(word) > 3]
    if long_words:
        position = pick(long_words, rng)
        words[position] = words[position].translate(DISGUISE)
    return " ".join(words)
