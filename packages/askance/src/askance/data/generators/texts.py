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
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from askance.errors import InvalidParameter

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Choice = TypeVar("Choice")

WORDS = {
    "who": """
        grandma | your sister | my brother | our landlady | the plumber | Uncle Pip | the cat sitter
        the new intern | Cousin Dot | the librarian | my dentist | the beekeeper | our neighbour
        the conductor | the goalkeeper | the lighthouse keeper
    """,
    "day": """
        Monday | Tuesday | Wednesday | Thursday | Friday | Saturday | Sunday | tomorrow | next week
        the 14th
    """,
    "past": """
        yesterday | this morning | last night | last week | last Monday | last Tuesday | last Friday
        the other day
    """,
    "time": """
        at 7 | at half past five | at noon | after work | before lunch | at 9 sharp | around 8 | at sunrise
        at tea time
    """,
    "place": """
        the station | the old bakery | our place | the library | the harbour | the office | the park
        platform 4 | the swimming pool | the corner shop | the town hall | the cinema | the observatory
    """,
    "food": """
        lasagne | pancakes | lentil soup | a mountain of dumplings | the good bread | rhubarb cake
        two pizzas | curry | potato salad | mushroom risotto | oat milk | a dozen eggs | plum jam
    """,
    "animal": """
        cat | dog | hamster | parrot | goat | tortoise | hedgehog | rabbit | llama
    """,
    "mood": """
        happy | a bit tired | very proud | mildly confused | starving | ready | stuck in traffic | fine now
    """,
    "tool": """
        drill | ladder | bike pump | blue suitcase | tent | big pot | sewing machine | charger
        folding chair | spare key
    """,
    "team": """
        the under twelves | our side | the chess club | the pub quiz team | the rowing crew
        the knitting circle
    """,
    "code": """
        the parser | the build | the login page | the report | the nightly job | the test suite
        the old printer
    """,
    "prize": """
        cruise | sports car | golden toaster | shopping spree | tropical island | diamond watch | new phone
        hot tub
    """,
    "money": """
        $500 | $5000 | $1000000 | 10000 coins | 999 euros | a fortune | real cash | a pot of gold
    """,
    "urge": """
        now | today only | before midnight | within 24 hours | immediately | while stocks last | this minute
        at once
    """,
    "link": """
        moon-prizes.example | win-big.example | secure-login.example | miracle-shop.example
        coin-rocket.example | parcel-desk.example | lucky-loans.example
    """,
    "cure": """
        miracle beans | moonlight tea | the slimming sock | unicorn collagen | the snoring crystal
        magnetic insoles
    """,
    "coin": """
        MoonCheese coin | TurtleCoin | CloudToken | BananaCash | RocketBond
    """,
    "bank": """
        your bank | the tax office | your mail provider | the parcel service | your streaming service
    """,
}

# Sentences by topic, frequent topics first. A {gap} is filled from WORDS.
EVERYDAY = {
    "plans": """
        are you free {day} {time}? | meet me at {place} {time} | {who} will join us {day}
        shall we call {who} {time}? | I will be at {place} {day} | can we move it to {day}?
        see you {day} then | running late, start without me | do not forget {who} {day}
        it is today, not {day}
    """,
    "food": """
        I made {food} | can you bring {food} {day}? | {who} finished {food} again | we are out of {food}
        we still have {food} in the fridge | the recipe needs {food} and patience
        free {food} at {place} {time}!
    """,
    "home": """
        the {animal} is on the roof again | {who} borrowed the {tool} | where did you put the {tool}?
        the boiler makes that noise | please water the plants {day} | the {animal} opened your parcel, sorry
        the warranty for the {tool} is in the drawer
    """,
    "work": """
        {code} is broken since {past} | can you review my change to {code}?
        the meeting about {code} is {day} {time} | notes from the call are on the wiki
        I fixed {code}, please check your account on the test machine | the invoice for {code} is attached
        who locked {code}? | please confirm the date for {code}
    """,
    "sport": """
        {team} won {past}! | {team} need a goalkeeper {day} | training is at {place} {time}
        what a match, we lost but I am {mood} | the cup final is {day}, get cheap tickets now
        new watch, same slow runner
    """,
    "family": """
        regards from {who} | {who} is {mood} | happy birthday to {who}! | how was the exam? {who} asked
        {who} sends love and {food} | I found the photos of the {animal}
        dear me, {who} is getting married {day}
    """,
    "travel": """
        my train leaves from {place} {day} | the flight is delayed, I am {mood} | did you pack the {tool}?
        we booked the cabin for {day} | the ferry is free for the {animal} | I won the window seat
    """,
    "school": """
        {who} needs the form signed {day} | the school play is {day} {time}
        homework: draw a {animal} and a {tool} | the teacher praised {who}, I am {mood}
        I lost the password for the school page
    """,
    "music": """
        band practice {day} at {place} | {who} broke a string on the loud song
        the choir sings at {place} {day} | the encore was {who} with a {tool}
    """,
    "garden": """
        the tomatoes won a prize at {place} | the {animal} dug up the tulips | the compost comes {day}
        the beans climb like a {animal}
    """,
    "health": """
        the doctor moved us to {day} {time} | {who} has a cold but is {mood}
        your pills are at the pharmacy near {place} | I sleep better since {past}
    """,
    "money": """
        I owe you for {food} | the rent is due {day} and my bank is slow
        shall we split the cash for the {tool}? | the refund for the {tool} is in my account
        {who} paid back the loan {past}
    """,
}
CAMPAIGNS = {
    "prize": """
        you won a {prize}! | claim your {prize} {urge} | your {prize} is waiting at {link}
        you are our lucky winner of {money} | reply WIN to get your free {prize}
    """,
    "parcel": """
        your parcel is held, pay a small fee at {link} | we could not deliver, confirm your address {urge}
        track your parcel at {link} | customs fee for your parcel: {money}
    """,
    "account": """
        {bank} has locked your account | verify your password at {link} {urge}
        unusual sign in, confirm your account {urge} | dear customer, {bank} needs your details
        your account expires {urge}
    """,
    "coins": """
        {coin} goes to the moon {urge} | turn pocket change into {money} with {coin}
        {who} made {money} with {coin} | insiders buy {coin} {urge} at {link}
    """,
    "cure": """
        doctors hate {cure} | lose ten kilos with {cure} | order {cure} at {link}, just {money}
        sleep better with {cure}, free sample
    """,
    "loan": """
        cheap loan, {money}, no questions asked | your loan of {money} is approved
        instant credit {urge} at {link} | no bank will give you {money} like this
    """,
    "job": """
        earn {money} from home | we need mystery shoppers {urge} | easy job, no experience, {money} a day
        start {day}, get paid {day}
    """,
    "warranty": """
        your warranty runs out {urge} | extend the warranty of your {tool} for {money}
        final notice for your {tool} | we have been trying to reach you about your {tool}
    """,
    "heir": """
        a forgotten prince left you {money} | I am a lawyer and have {money} for you
        send your details to inherit a {prize} | keep this secret, even from {who}
    """,
    "friend": """
        hello dear, I saw your photo and feel {mood} | lonely {animal} owner near you, write to me at {link}
        do you remember me from {place}? | I need {money} for my sick {animal} {urge}
    """,
    "stars": """
        your horoscope says {money} is coming | the stars warn you about {who}, read more at {link}
        madame {animal} sees a {prize} in your future | know your future {urge}
    """,
    "virus": """
        your device has 13 viruses | your {tool} is infected, scan it {urge}
        download the cleaner at {link} | technical support will call you {urge}
    """,
}
# What honest shops, clubs and banks write, and what spam copies word for word.
ADVERTS = """
    your order of {food} is on its way | sale {day}: {tool} at half price | free delivery {day}
    our newsletter: {food} recipes | your ticket for the {prize} raffle at {place}
    your parcel is at {place} | your code to sign in is 4815 | buy two, get one {tool} free
    thank you for your payment of $500 | last chance to vote for {team} | new in our shop: {tool} and {food}
    win a {prize} at {place} {day}
"""
OPENINGS = """
    hi | hello | hey | hi there | dear all | good morning | oh | quick one | psst | ok so | attention
    listen | hello friend
"""
CLOSINGS = """
    Thanks! | Cheers | Love, me | See you | Bye | x | Call me | Let me know | Best wishes | Do not miss it
    Ok? | Talk soon | Hurry
"""

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
        for place in range(length):
            chance = next(rng)
            if chance < HONEST_ADVERTS:
                parts.append(fill(pick(self.adverts, next(rng)), rng))
            elif chance < HONEST_ADVERTS + NEW_SUBJECT:
                parts.append(fill(pick(pick_early(self.everyday, next(rng)), next(rng)), rng))
            else:
                parts.append(fill(pick_next(topic, start, place), rng))
        return parts

    def spam(self, length: int, rng: Iterator[float]) -> list[str]:
        is_copy = next(rng) < COPYCATS
        campaign, start = self.adverts if is_copy else pick_early(self.campaigns, next(rng)), next(rng)
        parts = []
        for place in range(length):
            if place and next(rng) < CAMOUFLAGE:
                parts.append(fill(pick(pick_early(self.everyday, next(rng)), next(rng)), rng))
                continue
            sentence = fill(pick_next(campaign, start, place), rng)
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
