"""``askance demo --live``: the service on a made-up stream of messages that changes its ways."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from askance_live.config import from_document
from askance_live.engine.state import EngineState, first_rows
from askance_live.engine.thread import Engine
from askance_live.exchange.received import digest_of, read_event
from askance_live.problems import Problem
from askance_live.questions import answers, queue
from askance_live.questions.submissions import Submission
from askance_live.server import serve
from askance_live.service import Service
from askance_live.store import new_store
from askance_live.store.database import Session

NEW_CAMPAIGNS = ("parcel", "coin", "token", "cash", "rocket", "loan", "credit", "viruses", "horoscope", "warranty")
PHASE = 600  # events until the campaigns change, and back
BLOCK = 4_000
SETTINGS: dict[str, Any] = {
    "title": "Demo: messages",
    "classes": ["ham", "spam"],
    "fields": {"text": "text", "length": "number", "hour": "number"},
    # Many questions, a large part of them at random: within minutes one sees how good the model is, and if it changes.
    "asking": {"rate": 0.1, "audit": 0.25},
}
AT_ONCE = 100  # events at the start
PEOPLE = ("robot-1", "robot-2")


def stream(seed: int) -> Iterator[tuple[str, str]]:
    """Messages and their labels without end; in turns, spam runs the old campaigns and, more of it, the new ones."""
    from askance.data.generators import messages

    rng = np.random.default_rng([seed, 7])
    block = 0
    while True:
        made = messages(BLOCK, random_state=seed + 1000 * block, spam_rate=0.5)
        ham = [text for text, label in zip(made.texts, made.labels, strict=True) if label == "ham"]
        spam = [text for text, label in zip(made.texts, made.labels, strict=True) if label == "spam"]
        kinds: list[list[str]] = [[], []]
        for text in spam:
            kinds[any(word in text.lower() for word in NEW_CAMPAIGNS)].append(text)
        for place in range(BLOCK // 4):
            turn = (block * (BLOCK // 4) + place) // PHASE % 2
            is_spam = rng.random() < (0.15, 0.3)[turn]
            pool = kinds[turn] if is_spam else ham
            yield pool[int(rng.integers(len(pool)))], "spam" if is_spam else "ham"
        block += 1


def fields_of(place: int, text: str) -> dict[str, Any]:
    """The fields of a message, by its place in the stream."""
    return {"text": text, "length": len(text), "hour": place // 60 % 24}


def run_demo(port: int, seed: int, rate: float, robots: bool, say: Callable[[str], None]) -> None:
    """Serve a fresh store in a temporary folder until interrupted."""
    with tempfile.TemporaryDirectory(prefix="askance-demo-") as folder:
        config = from_document({**SETTINGS, "server": {"port": port}}, Path(folder))
        with new_store(config.store) as session:
            first_rows(session, config)
        ended = threading.Event()
        truth: dict[str, str] = {}

        def begin(address: str, services: list[Service]) -> None:
            say(address)
            engine = services[0].engine
            threading.Thread(target=feed, args=(engine, seed, rate, truth, ended), daemon=True).start()
            for name in PEOPLE if robots else ():
                threading.Thread(target=answer_all, args=(engine, name, truth, ended), daemon=True).start()

        try:
            serve([config], begin)
        finally:
            ended.set()


def feed(engine: Engine, seed: int, rate: float, truth: dict[str, str], ended: threading.Event) -> None:
    """Send events at a steady rate, the first ones at once."""
    began = time.monotonic()
    for place, (text, label) in enumerate(stream(seed)):
        name = f"message-{place + 1}"
        truth[name] = label
        event = read_event({"id": name, "fields": fields_of(place, text)}, 256_000)
        try:
            engine.ingest([event]).result()
        except Problem:
            return
        if place >= AT_ONCE and ended.wait(max(0.0, began + (place - AT_ONCE) / rate - time.monotonic())):
            return


def answer_all(engine: Engine, name: str, truth: dict[str, str], ended: threading.Event) -> None:
    """A made-up annotator who takes a second or two per question and is nearly always right."""
    rng = np.random.default_rng(len(name))
    classes = engine.state.classes
    while not ended.is_set():
        try:
            found = engine.submit(lambda session, state: queue.next_asks(session, state, name, 1, frozenset())).result()
            pause = float(rng.uniform(0.4, 2.5))
            if ended.wait(pause) or isinstance(found, queue.NothingToLabel):
                continue
            ask = found[0][0]
            label = classes.index(truth[ask["event"]["id"]])
            label = 1 - label if rng.random() < 0.01 else label
            identifier = uuid4().hex
            given = Submission(
                identifier, digest_of(identifier), ask["token"], label, None, int(1000 * pause), None, None
            )
            engine.submit(partial(_answer, name=name, ask=ask["id"], given=given)).result()
        except Problem:
            return


def _answer(session: Session, state: EngineState, *, name: str, ask: int, given: Submission) -> Any:
    return answers.answer(session, state, name, ask, given)
