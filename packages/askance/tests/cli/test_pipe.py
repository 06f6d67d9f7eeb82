"""``askance pipe`` as a program beside it meets it: real pipes, real signals."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.forked import forked, launch
from tests.cli.here import complaint, here
from tests.patience import PATIENCE, wait_until

import askance

CLASSES = ["--classes", "ham,spam"]
EVERYTHING = [*CLASSES, "-a", "PA"]  # asks for every event
WORDS = {"spam": ["win", "prize", "free", "now"], "ham": ["lunch", "friday", "report", "plan"]}


class Session:
    """A running ``askance pipe``: say a line, hear the answer."""

    def __init__(self, *words: str) -> None:
        self.process = launch("pipe", *words)
        self._rest = b""

    def send(self, content: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(content)

    def say(self, line: dict[str, Any] | bytes, seconds: float = PATIENCE) -> dict[str, Any]:
        """Send one line, and wait for its answer while the pipe stays open."""
        self.send((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")
        return self.hear(seconds)

    def hear(self, seconds: float = PATIENCE) -> dict[str, Any]:
        assert self.process.stdout is not None
        while b"\n" not in self._rest:
            assert select.select([self.process.stdout], [], [], seconds)[0], "no answer"
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            assert piece, self.process.stderr.read()  # type: ignore[union-attr]
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        answer = json.loads(line)
        assert isinstance(answer, dict)
        return answer

    def has_read_all(self) -> bool:
        """Whether nothing of what was sent is still on its way."""
        assert self.process.stdin is not None
        return fcntl.ioctl(self.process.stdin, termios.FIONREAD, bytes(4)) == bytes(4)

    def hang_up(self) -> tuple[int, str]:
        """Close the input; the exit code and the last words."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.end()

    def end(self) -> tuple[int, str]:
        assert self.process.stderr is not None
        code = self.process.wait(PATIENCE)
        return code, self.process.stderr.read().decode()


@contextmanager
def pipe(*words: str) -> Iterator[Session]:
    session = Session(*words)
    try:
        yield session
    finally:
        session.process.kill()
        session.process.wait()
        for stream in (session.process.stdin, session.process.stdout, session.process.stderr):
            if stream is not None:
                stream.close()


def messages(n: int, seed: int = 0) -> list[tuple[dict[str, Any], str]]:
    rng = np.random.default_rng(seed)
    labels = rng.choice(["ham", "spam"], n)
    return [
        ({"id": f"m{k}", "text": " ".join(rng.choice(WORDS[label], 3)), "size": float(rng.normal())}, str(label))
        for k, label in enumerate(labels.tolist())
    ]


def through(lines: list[dict[str, Any]], *words: str) -> tuple[list[dict[str, Any]], subprocess.CompletedProcess[str]]:
    """All lines at once, as from a file."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = forked("pipe", *words, text=text)
    return [json.loads(line) for line in done.stdout.splitlines()], done


# Events and answers


def test_each_line_is_answered_before_the_next_is_sent_and_answers_teach() -> None:
    with pipe(*CLASSES, "-a", "PAA-I", "--rate", "0.5") as session:
        right = asked = 0
        for number, (event, label) in enumerate(messages(200)):
            decision = session.say(event)
            assert decision["id"] == event["id"]
            assert set(decision) >= {"label", "margin", "probability_of_asking", "asked"}
            right += number >= 100 and decision["label"] == label
            if decision["asked"]:
                asked += 1
                assert decision["ticket"] == number + 1  # the event's number
                answer = session.say({"ticket": decision["ticket"], "label": label})
                assert answer == {"ticket": number + 1, "id": event["id"], "label": label, "learned": True}
        code, words = session.hang_up()
    assert code == 0
    assert 20 < asked <= 112
    assert right > 90  # of the last 100
    assert words == f"askance pipe: 200 events, {asked} asked, {asked} answered.\n"


def test_answers_come_late_in_any_order_by_id_or_ticket_and_twice() -> None:
    with pipe(*EVERYTHING) as session:
        for event, _ in messages(3):
            assert session.say(event)["asked"]
        assert session.say({"id": "m2", "label": "spam"})["ticket"] == 3
        assert session.say({"ticket": 1, "label": "spam"})["learned"]
        assert not session.say({"ticket": 1, "label": "spam"})["learned"]  # the same again changes nothing
        refused = session.say({"ticket": 1, "label": "ham"})["error"]
        assert refused.endswith("was answered 'spam' before; {\"replace\": true} makes it 'ham'.")
        assert session.say({"ticket": 1, "label": "ham", "replace": True})["learned"]
        assert session.say({"ticket": 2, "label": None}) == {"ticket": 2, "id": "m1", "label": None, "learned": False}
        assert "no open ticket 2" in session.say({"ticket": 2, "label": "ham"})["error"]
        assert "no event with the id 'm9' was asked" in session.say({"id": "m9", "label": "ham"})["error"]
        assert "there is no open ticket 99" in session.say({"ticket": 99, "label": "ham"})["error"]
        assert "'egg' is not one of the classes 'ham', 'spam'" in session.say({"ticket": 3, "label": "egg"})["error"]
        assert "a ticket is a whole number" in session.say({"ticket": "3", "label": "ham"})["error"]
        assert "the answer has no label" in session.say({"ticket": 3})["error"]


def test_a_byte_order_mark_at_the_beginning_is_left_out() -> None:
    from askance.runner.pipe import Pipe

    pipe = Pipe(["ham", "spam"])
    assert "error" not in pipe.answer(b'\xef\xbb\xbf{"text": "one"}')


def test_a_word_for_a_missing_label_is_no_label() -> None:
    with pipe(*EVERYTHING) as session:
        first = session.say({"text": "one", "label": "nan"})
        assert first["asked"]
        assert "learned" not in first
        assert session.say({"ticket": first["ticket"], "label": "?"})["label"] is None
        assert "no open ticket" in session.say({"ticket": first["ticket"], "label": "ham"})["error"]


def test_a_recorded_stream_decides_as_askance_run_does(tmp_path: Path) -> None:
    events = [{**event, "label": label} for event, label in messages(400)]
    path = tmp_path / "mail.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    options = ["-a", "SOAL-diag:delta=0.3", "--rate", "0.2", "--explore", "0.05", "--seed", "3"]
    kinds = ["--field", "text=text", "--field", "size=number"]
    said, _ = through(events, *CLASSES, *options, *kinds, "--save", str(tmp_path / "pipe.model"))
    trace = tmp_path / "trace.jsonl"
    words = ["run", str(path), *options, *kinds, "--trace", str(trace), "--save", str(tmp_path / "run.model")]
    assert here(*words).returncode == 0
    rows = [json.loads(line) for line in trace.read_text().splitlines()]
    assert [row["asked"] for row in rows] == [answer["asked"] for answer in said]
    assert [row["predicted"] for row in rows] == [answer["label"] for answer in said]
    chances = [answer["probability_of_asking"] for answer in said]
    assert [row["probability"] for row in rows] == pytest.approx(chances, rel=1e-9)
    assert all(answer["learned"] for answer in said if answer["asked"])
    more, _ = through(events[:50], "--load", str(tmp_path / "run.model"))  # a model trained on a file goes live
    again, _ = through(events[:50], "--load", str(tmp_path / "pipe.model"))
    assert [answer["label"] for answer in more] == [answer["label"] for answer in again]


def test_fields_may_be_nested_and_new_ones_may_turn_up() -> None:
    with pipe(*EVERYTHING) as session:
        session.say({"id": 1, "sender": {"country": "NO"}, "tags": ["a", "b"]})
        assert session.say({"id": 1, "label": "spam"})["learned"]
        assert session.say({"id": 2, "size": 3.0, "sender": {"country": "NO"}})["label"] == "spam"
        assert session.say({"more": {"n": 1}, "size": 2.0})["asked"]


def test_probabilistic_models_say_how_likely_each_class_is() -> None:
    with pipe(*CLASSES, "-a", "UOAL-entropy") as session:
        session.say({"text": "win a prize"})
        likely = session.say({"text": "win a prize"})["probabilities"]
        assert sum(likely.values()) == pytest.approx(1.0)
        assert set(likely) == {"ham", "spam"}


def test_labels_a_day_are_counted_by_the_events_own_time() -> None:
    words = [*CLASSES, "-a", "PA", "--per-day", "5", "--time-field", "at"]
    events = [
        {"text": "win", "at": f"2026-05-0{day}T{hour:02}:{minute:02}:00Z"}
        for day in (1, 2, 3) for hour in range(24) for minute in (0, 30)
    ]  # fmt: skip
    said, done = through([*events, {"text": "no time"}, {"text": "x", "at": "noon"}], *words)
    for day in range(3):
        assert 1 <= sum(answer["asked"] for answer in said[48 * day : 48 * (day + 1)]) <= 5
    assert "field 'at': the time is missing" in said[-2]["error"]
    assert "'noon' is no time" in said[-1]["error"]
    assert done.returncode == 2


# Bad lines


def test_messages_after_a_first_one_of_digits_are_decided() -> None:
    with pipe(*EVERYTHING) as session:
        for text in ("483920", "your code is 483920", "lunch?"):
            assert "error" not in session.say({"text": text})
        assert "error" not in session.say({"size": 3})
        assert session.say({"size": "big"})["widened"] == {"size": "category"}
        assert session.hang_up()[0] == 0


def test_bad_lines_are_kept_and_can_be_sent_again(tmp_path: Path) -> None:
    bad, model = tmp_path / "bad.jsonl", tmp_path / "a.model"
    with pipe(*EVERYTHING, "--quarantine", str(bad), "--save", str(model)) as session:
        for k in range(100):
            session.say({"size": k})
        for k in range(11):
            answer = session.say({"id": k, "size": f"w{k}"})
        assert answer["widened"] == {"size": "category"}
        session.say(b"{broken")
        assert session.hang_up()[0] == 2
    head, *lines = [json.loads(line) for line in bad.read_text().splitlines()]
    assert (head, len(lines)) == ({"askance": "quarantine", "format": "jsonl"}, 11)
    assert (lines[0]["line"], lines[0]["field"], json.loads(lines[0]["raw"])) == (101, "size", {"id": 0, "size": "w0"})
    with pipe("--load", str(model)) as session:
        session.send(bad.read_bytes())
        assert [session.hear()["id"] for _ in range(10)] == list(range(10))
        assert "it is not valid JSON" in session.hear()["error"]
        session.hang_up()


def test_a_bad_line_gets_an_error_with_its_number_and_the_pipe_goes_on() -> None:
    bad = {
        b"{": "it is not valid JSON: it ends too early",
        b"[1]": "it is a list, but each event must be a JSON object",
        b'{"size": Infinity}': "Infinity cannot be learned from",
        b'{"size": 1e999}': "inf",
        b'{"text": "\xff"}': "it is not UTF-8 text at byte 11",
        b"hello": "it is not valid JSON: expecting value at column 1",
        b'{"size": "big"}': "field 'size': 'big' is not a number",
        b'{"size": ' + b"9" * 5_000 + b"}": "thousands of digits",
        b"[" * 100_000: "it is nested too deeply",
        b'{"text": "x", "label": "egg"}': "'egg' is not one of the classes",
    }
    with pipe(*CLASSES, "--field", "size=number") as session:
        first = session.say({"size": 1.0})
        for number, (line, reason) in enumerate(bad.items(), 2):
            answer = session.say(line)
            assert reason in answer["error"], (line[:40], answer)
            assert answer["error"].startswith(f"line {number}: ")
            assert answer["line"] == number
            assert answer["raw"].encode("utf-8", "surrogateescape") == line  # nothing is lost
            assert "\n" not in answer["error"]
        session.send(b"\n  \n")  # blank lines count, and are not answered
        refused = session.say({"id": "x", "size": "huge"})
        assert (refused["id"], refused["line"]) == ("x", len(bad) + 4)
        decision = session.say({"size": 1.5, "id": "y"})
        assert decision["id"] == "y"
        code, words = session.hang_up()
    assert code == 2
    assert f"2 events, {first['asked'] + decision['asked']} asked, 0 answered" in words
    assert f"; lines that could not be used: {len(bad) + 1}." in words


def test_a_line_in_pieces_is_one_line_and_the_last_needs_no_end() -> None:
    with pipe(*CLASSES) as session:
        session.send(b'{"id": 1, "te')
        wait_until(session.has_read_all, "a reader of half a line")
        session.send(b'xt": "win"}\n{"id": 2, "text": "lunch"}\n{"id": 3, ')
        assert session.hear()["id"] == 1
        assert session.hear()["id"] == 2
        session.send(b'"text": "plan"}')
        code, _ = session.hang_up()
        assert code == 0
        assert session.hear()["id"] == 3


# Ends


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_saves_the_model_with_its_open_questions(tmp_path: Path, number: int, code: int) -> None:
    model = str(tmp_path / "mail.model")
    with pipe(*EVERYTHING, "--save", model) as session:
        for event, _ in messages(20):
            session.say(event)
        session.say({"id": "m3", "label": "spam"})
        session.process.send_signal(number)  # while it waits for a line that does not come
        ended, words = session.end()
    assert ended == code
    assert f"20 events, 20 asked, 1 answered; model saved to {model}." in words
    assert "Traceback" not in words
    clf = askance.load(model)
    assert clf.events_seen_ == 20
    assert len(clf.pending) == 19
    with pipe("--load", model) as session:  # an answer to a question of the first process
        assert session.say({"id": "m7", "label": "ham"}) == {"ticket": 8, "id": "m7", "label": "ham", "learned": True}
        assert not session.say({"id": "m3", "label": "spam"})["learned"]
        assert session.say({"text": "one more"})["ticket"] == 21


def test_a_signal_under_load_loses_no_answered_line(tmp_path: Path) -> None:
    model = str(tmp_path / "mail.model")
    with pipe(*EVERYTHING, "--save", model) as session:
        session.say(messages(1)[0][0])
        session.send(b"".join(json.dumps(event).encode() + b"\n" for event, _ in messages(300)))
        for _ in range(50):
            session.hear()
        session.process.send_signal(signal.SIGTERM)
        answered = 51
        assert session.process.stdout is not None
        rest = session._rest + session.process.stdout.read()
        answered += rest.count(b"\n")
        assert session.end()[0] == 0
    assert rest.endswith(b"\n") or not rest  # no half line
    assert askance.load(model).events_seen_ == answered


def test_two_sessions_with_a_saved_model_equal_one(tmp_path: Path) -> None:
    events = [{**event, "label": label} for event, label in messages(300)]
    model = str(tmp_path / "m.model")
    options = [*CLASSES, "--rate", "0.2"]
    first, _ = through(events[:120], *options, "--save", model)
    second, _ = through(events[120:], "--load", model, "--save", model)
    whole, _ = through(events, *options)
    assert first + second == whole


def test_a_reader_that_goes_away_does_not_cost_the_model(tmp_path: Path) -> None:
    model = tmp_path / "m.model"
    with pipe(*EVERYTHING, "--save", str(model)) as session:
        session.say(messages(1)[0][0])
        assert session.process.stdout is not None
        session.process.stdout.close()
        session.process.stdout = None
        session.send(json.dumps(messages(1)[0][0]).encode() + b"\n")
        code, words = session.end()
    assert code == 1
    assert "Traceback" not in words
    assert askance.load(model).events_seen_ == 2


def test_it_works_in_a_shell_with_tail(tmp_path: Path) -> None:
    log, out = tmp_path / "events.jsonl", tmp_path / "decisions.jsonl"
    log.write_text("")
    command = f"tail -f {log} | {sys.executable} -m askance pipe --classes ham,spam > {out}"
    process = subprocess.Popen(["sh", "-c", command], start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        for count in (1, 2):
            with log.open("a") as file:
                file.write(json.dumps({"id": count, "text": "win"}) + "\n")
            wait_until(lambda count=count: out.exists() and out.read_text().count("\n") >= count, "a decision")
        assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == [1, 2]
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


# Slips


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "name the labels there are, for example --classes ham,spam"),
        (["--classes", "ham"], "must be two labels or more"),
        ([*CLASSES, "-a", "PAX"], "there is no algorithm 'PAX'"),
        ([*CLASSES, "--field", "x=letters"], "must be one of number, category, text, date, ignore, time"),
        ([*CLASSES, "--save", "no/m.model"], "there is no folder 'no'"),
        ([*CLASSES, "--time-field", "at"], "--time-field is for --per-hour or --per-day, which is missing"),
        (["--load", "nowhere.model"], "cannot read the model 'nowhere.model'"),
        (["--load", "m", "--classes", "a,b"], "--classes cannot be changed with --load"),
    ],
)
def test_a_slip_gets_one_sentence_and_exit_code_2(words: list[str], sentence: str, tmp_path: Path) -> None:
    assert sentence in complaint("pipe", *words, cwd=tmp_path)


def test_a_model_of_numbered_features_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.libsvm").write_text("1 1:1 2:2\n-1 2:1\n")
    words = ["run", str(tmp_path / "x.libsvm"), "--save", str(tmp_path / "m")]
    assert here(*words).returncode == 0
    _, done = through([], "--load", str(tmp_path / "m"))
    assert done.returncode == 2
    assert "the model was trained on libsvm data, whose features have numbers, not names" in done.stderr


# Ids, and output that cannot be written


def test_ids_that_cannot_come_back_are_refused_and_odd_ones_come_back_as_they_were() -> None:
    with pipe(*EVERYTHING) as session:
        for known in ({"x": 1}, [1], ["a"], True):
            said = session.say({"id": known, "a": 1})
            assert "an id is text or a number, got" in said["error"]
        for known in ("u\ud800", "Zürich", 7, 1.5):
            assert session.say({"id": known, "a": 1})["id"] == known
        assert session.say({"a": 1, "id": None})["asked"]


def test_a_ticket_and_an_id_belong_together_and_errors_repeat_both() -> None:
    with pipe(*EVERYTHING) as session:
        ticket = session.say({"id": "p", "a": 1})["ticket"]
        wrong = session.say({"ticket": ticket, "id": "q", "label": "ham"})
        assert wrong["error"].endswith(f"ticket {ticket} is that of the id 'p', not of 'q'.")
        assert (wrong["ticket"], wrong["id"]) == (ticket, "q")
        bad = session.say({"ticket": ticket, "label": "egg"})
        assert bad["ticket"] == ticket
        assert "is not one of the classes" in bad["error"]
        later = session.say({"id": "p", "a": 2})["ticket"]
        assert session.say({"id": "p", "label": "ham"})["ticket"] == later
        assert session.say({"ticket": ticket, "id": "p", "label": "spam"})["learned"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_sentence() -> None:
    with open("/dev/full", "w") as full:
        result = forked("pipe", *EVERYTHING, text='{"a": 1}\n', stdout=full)
    assert result.returncode == 2
    assert "the standard output cannot be written to: No space left on device." in result.stderr
    assert "Traceback" not in result.stderr
