"""``askance pipe --format vw``: the protocol of ``vw --active``, over a real socket and over the standard input.

``interact`` does what Vowpal Wabbit's own ``utl/active_interactor.py`` does, step by step."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
from tests.cli.forked import Process, forked, launch
from tests.cli.here import complaint, here
from tests.patience import PATIENCE

from askance.runner import Model
from askance.runner.algorithm_spec import AlgorithmSpec
from askance.runner.vw_pipe import VwPipe

CLASSES = "--classes=-1,1"
WEIGHTED = ["-a", "PAA-I", "--set", "weighted=true", "--set", "delta=0.3"]


def mail(n: int, seed: int = 0) -> tuple[list[str], list[int]]:
    """Unlabeled lines, and their labels; some lines occur twice."""
    rng = np.random.default_rng(seed)
    lines, labels = [], []
    for k in range(n):
        label = int(rng.choice([-1, 1]))
        words = rng.choice(["win", "prize", "now", "free", "x"] if label > 0 else ["lunch", "plan", "friday", "x"], 3)
        tag = "" if k % 3 == 0 else f"'m{k}"
        lines.append(f"{tag}|text {' '.join(words)} |n size:{rng.normal():.3f}")
        labels.append(label)
    return lines, labels


class Connection:
    """A client, as the interactor is one."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self._file = self.socket.makefile("rb")

    def say(self, line: str) -> str:
        self.socket.sendall(line.strip().encode() + b"\n")
        return self.hear()

    def hear(self) -> str:
        reply = self._file.readline()
        assert reply.endswith(b"\n"), "the connection ended"
        return reply.decode()

    def close(self) -> None:
        self._file.close()
        self.socket.close()


@contextmanager
def listening(*words: str) -> Iterator[tuple[int, Process]]:
    process = launch("pipe", "--format", "vw", "--listen", "0", *words)
    try:
        assert process.stderr is not None
        first = b""
        while not first.endswith(b"\n"):
            piece = process.stderr.read(1)
            assert piece, first
            first += piece
        yield int(first.rsplit(b":")[-1].rstrip(b".\n")), process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()  # type: ignore[union-attr]


def interact(connection: Connection, lines: list[str], answer: Callable[[int], int | None]) -> tuple[list[str], int]:
    """The interactor's loop; the replies, and how many labels were asked for."""
    replies, asked = [], 0
    for number, line in enumerate(lines):
        response = connection.say(line)
        replies.append(response)
        parts = response.split(" ")
        if len(parts) == 2:
            continue
        _, tag, importance = parts
        asked += 1
        label = answer(number)
        if label is None:
            continue
        _, rest = line.split("|", 1)
        connection.say(f"{label} {float(importance)} {tag or QUOTED_EMPTY} |{rest}")
    return replies, asked


QUOTED_EMPTY = "'empty"


def test_an_interactor_teaches_the_model_with_the_importances_it_was_asked_with(tmp_path):
    lines, labels = mail(150)
    saved = tmp_path / "m.model"
    with listening(CLASSES, *WEIGHTED, "--save", str(saved)) as (port, process):
        with closing(Connection(port)) as connection:
            replies, asked = interact(connection, lines, labels.__getitem__)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
        assert f"150 events, {asked} asked, {asked} answered" in process.stderr.read().decode()
    assert 10 < asked < 140
    # the same in this process, by tickets: each decision and each weight is the same
    mine = VwPipe(["-1", "1"], AlgorithmSpec("PAA-I", {"weighted": True, "delta": 0.3}))
    clf = mine.model().classifier
    for line, label, reply in zip(lines, labels, replies, strict=True):
        features = mine._namespaces.read(line.split("|", 1)[1].encode())
        X = mine._scaling.matrix([features])
        decision = clf.ask((X.indices, X.data))
        tag = line.split("|")[0].lstrip("'")
        assert reply == f"{decision.margin:.6f} {tag}" + (f" {decision.weight!r}" if decision.asked else "") + "\n"
        if decision.asked:
            clf.tell(ticket=decision.ticket, y=label)
    taught = Model.load(saved).classifier
    np.testing.assert_array_equal(taught.coef_, clf.coef_)
    X = mine._scaling.matrix([mine._namespaces.read(b"text prize win |n size:0"), mine._namespaces.read(b"text lunch")])
    assert taught.predict(X).tolist() == [1, -1]


def test_several_clients_share_one_model_and_answers_may_cross_over():
    with listening(CLASSES, "-a", "PA") as (port, _):  # asks for every event
        ana, ben = Connection(port), Connection(port)
        with closing(ana), closing(ben):
            assert ana.say("'a|t win prize") == "0.000000 a 1.0\n"
            assert ben.say("'b|t lunch") == "0.000000 b 1.0\n"
            assert ben.say("1 1.0 a |t win prize") == "0.000000 a\n"
            assert float(ana.say("|t win prize").split()[0]) > 0.5
            ana.say("-1 1.0 b |t lunch")
            assert float(ben.say("'c|t lunch").split()[0]) < 0.0
        with closing(Connection(port)) as later:
            assert float(later.say("|t win").split()[0]) > 0.0


def test_a_line_that_cannot_be_used_is_answered_in_two_words_and_kept(tmp_path):
    bad = ["no bar", "7 1.0 'x| a", "1 -3 'x|f a", "'x|f a:inf"]
    with listening(CLASSES, "-a", "PA", "--quarantine", str(tmp_path / "bad.jsonl")) as (port, process):
        with closing(Connection(port)) as connection:
            for line in bad:
                reply = connection.say(line)
                assert reply.startswith("nan ")
                assert len(reply.split(" ")) == 2
            connection.socket.sendall(b"\n\r\n")  # which is no event
            connection.socket.sendall(b"\0" * 8 + b"'g|f greeting\n")
            assert connection.hear() == "0.000000 g 1.0\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 2
        complaints = process.stderr.read().decode()
    assert "line 2: the label '7' is not one of the classes -1, 1." in complaints
    assert "lines that could not be used: 4" in complaints
    kept = (tmp_path / "bad.jsonl").read_text().splitlines()
    assert '"format": "vw"' in kept[0]
    assert len(kept) == 5
    again = forked("pipe", "--format", "vw", "--classes=-1,7", "-a", "PA", text="\n".join(kept) + "\n")
    assert again.stdout == "nan \n0.000000 x\nnan \nnan x\n"  # of the four, a label that is known now


def test_a_client_that_goes_away_in_the_middle_of_a_line_changes_nothing():
    with listening(CLASSES, "-a", "PA") as (port, _):
        gone = Connection(port)
        gone.say("'a|t win")
        gone.socket.sendall(b"1 1.0 a |t w")  # an answer that is cut off
        gone.close()
        with closing(Connection(port)) as reset:  # without a farewell, and with a reply unread
            reset.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            reset.socket.sendall(b"'b|t x\n" * 10)
        with closing(Connection(port)) as connection:
            assert connection.say("|t win w").split(" ")[0] == "0.000000"
            assert connection.say("1 1.0 |t win") == "0.000000 \n"
            assert float(connection.say("|t win").split()[0]) > 0.5


def test_a_client_that_reads_nothing_does_not_keep_others_waiting():
    with (
        listening(CLASSES, "-a", "PA") as (port, _),
        closing(Connection(port)) as deaf,
        closing(Connection(port)) as connection,
    ):
        deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.socket.setblocking(False)
        line = b"'" + b"t" * 2000 + b"|f a\n"  # whose reply is as long
        sent = 0
        while sent < 1 << 26:  # until no more is taken, which is soon
            try:
                sent += deaf.socket.send(line * 100)
            except BlockingIOError:
                break
        assert connection.say("'x|t win").startswith("0.000000 x")


def test_killed_and_started_again_it_goes_on_from_the_last_save(tmp_path):
    saved = str(tmp_path / "m.model")
    with listening(CLASSES, "-a", "PA", "--save", saved) as (port, process):
        with closing(Connection(port)) as connection:
            connection.say("'a|t win")
            connection.say("'b|t lunch")
            connection.say("1 1.0 a |t win")
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
    with listening("--load", saved, "--save", saved) as (port, process):
        with closing(Connection(port)) as connection:
            assert float(connection.say("|t win").split()[0]) > 0.5
            connection.say("-1 1.0 b |t lunch")  # the answer to a question from before
            assert float(connection.say("|t lunch").split()[0]) < 0.0
        process.kill()
        process.wait()
    model = Model.load(saved)
    assert model.classifier.events_seen_ == 2
    assert len(model.about["asked"]) == 1


def test_given_labels_count_with_their_importance_and_answers_with_the_one_they_were_asked_with():
    def pipe():
        return VwPipe(["-1", "1"], AlgorithmSpec("PAA-I", {"weighted": True, "C": 0.01}, intercept=False))

    def weight_of_a(*lines):
        one = pipe()
        for line in lines:
            assert one.answer(line.encode()) is not None
        return float(one.answer(b"|f a").split()[0])

    once = weight_of_a("1 |f a")
    assert weight_of_a("1 5 |f a") == pytest.approx(5 * once)
    assert weight_of_a("1 0 |f a") == 0.0
    assert weight_of_a("|f a", "1 1 |f a") == pytest.approx(once)  # asked with probability 1
    assert weight_of_a("|f a", "1 3 |f a") == pytest.approx(3 * once)  # another importance: not that answer
    assert weight_of_a("|f a", "1 |f a", "1 |f a") == pytest.approx(2 * once)


def test_of_events_alike_the_one_with_the_tag_is_answered():
    pipe = VwPipe(["a", "b"], AlgorithmSpec("PA"))
    for line in (b"'x|f w", b"'y|f w", b"|f w"):
        assert pipe.answer(line).endswith(b" 1.0")
    pipe.answer(b"a 1.0 y |f w")
    assert [tag for _, tag, _ in pipe._asked.values()] == ["x", ""]
    pipe.answer(b"b 1.0 'empty |f w")
    assert [tag for _, tag, _ in pipe._asked.values()] == [""]


def test_of_several_classes_the_label_is_predicted():
    pipe = VwPipe(["1", "2", "3"], AlgorithmSpec("PA"))
    assert pipe.answer(b"3 'm|f c") == b"1 m"
    assert pipe.answer(b"'n|f c") == b"3 n 1.0"


def test_numbers_are_standardised_as_the_file_was_that_the_model_is_from(tmp_path):
    rng = np.random.default_rng(1)
    rows = [f"{1 if size > 0 else -1} | size:{1000 + 100 * size:.3f}\n" for size in rng.normal(size=300)]
    (tmp_path / "sizes.vw").write_text("".join(rows))
    here("run", "sizes.vw", "-a", "PA", "--save", "m.model", cwd=tmp_path)
    answers = "| size:1200\n| size:800\n"
    replies = forked("pipe", "--format", "vw", "--load", "m.model", text=answers, cwd=tmp_path).stdout.splitlines()
    high, low = (float(reply.split()[0]) for reply in replies)
    assert high > 0 > low


def test_json_is_answered_over_tcp_too():
    process = launch("pipe", "--listen", "127.0.0.1:0", "--classes", "ham,spam", "-a", "PA")
    try:
        port = int(process.stderr.readline().rsplit(b":")[-1].rstrip(b".\n"))
        with closing(Connection(port)) as connection:
            assert '"asked": true' in connection.say('{"id": 1, "text": "win"}')
            assert '"learned": true' in connection.say('{"id": 1, "label": "spam"}')
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    finally:
        process.kill()


def test_slips_are_answered_in_a_sentence(tmp_path: Path):
    def slip(*words: str) -> str:
        return complaint("pipe", "--format", "vw", *words, cwd=tmp_path)

    assert "an address is a port, such as 26542, or host:port, got 'x'" in slip(CLASSES, "--listen", "x")
    assert "--field is for events with named fields" in slip(CLASSES, "--field", "a=text")
    assert "name the labels" in slip("--listen", "0")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "cannot listen on 127.0.0.1" in slip(CLASSES, "--listen", str(taken.getsockname()[1]))
    (tmp_path / "x.csv").write_text("size,label\n" + "1,a\n2,b\n" * 10)
    here("run", "x.csv", "-a", "PA", "--save", "m.model", cwd=tmp_path)
    assert "the lines are Vowpal Wabbit's" in slip("--load", "m.model")
