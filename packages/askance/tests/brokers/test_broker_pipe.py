"""``askance pipe --from``: what is killed, the pipe or the broker, and when, cannot be seen in what comes out."""

import json
import os
import random
import signal
import sys
from contextlib import suppress

import pytest
from tests.brokers.servers import serve
from tests.cli.forked import launch
from tests.cli.here import complaint, here
from tests.patience import wait_until

from askance.brokers import make_sink, make_source
from askance.cli.pipe import encode
from askance.errors import InvalidParameter
from askance.extras import how_to_install
from askance.runner import Model, Pipe
from askance.runner.algorithm_spec import AlgorithmSpec
from askance.runner.broker_pipe import BrokerPipe
from askance.runner.lines import StopSignals
from askance.runner.pipe import MOST_RECENT, RecentIds

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends signals that Windows does not know")
OPTIONS = ["--classes", "ham,spam", "-a", "PAA-I", "--rate", "0.3"]
WORDS = {"spam": ["win", "prize", "free", "now"], "ham": ["lunch", "friday", "report", "plan"]}


def events(count, seed=0):
    rng = random.Random(seed)
    for number in range(count):
        label = rng.choice(["ham", "spam"])
        yield {
            "id": f"m{number}",
            "text": " ".join(rng.choices(WORDS[label], k=4)),
            "size": rng.random(),
            "label": label,
        }


def lines(count):
    """Events of which some come twice, and lines that cannot be used."""
    rng, found = random.Random(1), []
    for event in events(count):
        found.append(json.dumps(event).encode())
        if rng.random() < 0.1:
            found.append(rng.choice(found[-50:]))
        if rng.random() < 0.02:
            found.append(b'{"id": "bad", "text": ')
    return found


def spec():
    return AlgorithmSpec("PAA-I", budget=0.3)


def expected(bodies):
    """The replies without brokers, and the model; the messages' places are left out of them."""
    pipe = Pipe(["ham", "spam"], spec())
    pipe.recent = RecentIds()
    replies = [reply for body in bodies if (reply := pipe.answer(body, "message")) is not None]
    numbered = [json.loads(encode({"number": place, **reply})) for place, reply in enumerate(replies, 1)]
    return [without_place(reply) for reply in numbered], pipe


def without_place(reply):
    if "error" in reply:  # "message 17-0: it is not ..."
        reply["error"] = reply["error"].partition(": ")[2]
    return reply


def check(server, model, bodies):
    """The replies are published once each, in order, and the model is that of a pipe that nobody disturbed."""
    wanted, pipe = expected(bodies)
    found = [without_place(reply) for reply in server.published("decisions")]
    if not server.remembers:  # Kafka: what is published again is known by its number
        found = [dict(one) for one in {reply["number"]: reply for reply in found}.values()]
    assert [reply["number"] for reply in found] == list(range(1, len(wanted) + 1))
    assert found == wanted
    ours = Model.load(model)
    assert ours.classifier.coef_.tobytes() == pipe.classifier.coef_.tobytes()
    assert ours.about["broker"]["outbox"] == []


def start(server, model):
    return launch(
        "pipe", "--from", server.url("mail"), "--to", server.url("decisions"), *OPTIONS, "--save", str(model)
    )  # fmt: skip


def end(process):
    """End it as an orchestrator does; what it says."""
    process.send_signal(signal.SIGTERM)
    code = process.wait()
    said = process.stderr.read().decode()
    assert "Traceback" not in said
    assert code == 2, said  # for there were lines that could not be used
    return said


def number_of(server):
    """The number of the last decision; a broker that is being started has none."""
    with suppress(Exception):
        return server.last_number("decisions")
    return 0


def wait_for_number(server, number):
    wait_until(lambda: number_of(server) >= number, "decisions")


def wait_for_commit(server, bodies):
    """Wait until all that came is answered and committed. The lag alone is not enough: of a reader that was made just
    now, NATS may say that nothing is left."""
    wait_for_number(server, expected(bodies)[0][-1]["number"])
    wait_until(lambda: server.lag("mail") == 0, "the last commit")


@pytest.fixture
def server(request, tmp_path):
    server = serve(request.param, tmp_path / request.param)
    server.create("mail")
    server.create("decisions")
    yield server
    server.resume()
    server.kill()


every_broker = pytest.mark.parametrize("server", ["redis", "nats", "kafka"], indirect=True)
every_broker_that_remembers = pytest.mark.parametrize("server", ["redis", "nats"], indirect=True)


def disturb(server, tmp_path, rounds, count, disturbance):
    """Send messages, disturb so often, and let the pipe come to the end."""
    rng, model, bodies = random.Random(rounds), tmp_path / "mail.model", lines(count)
    wanted = expected(bodies)[0][-1]["number"]
    share = len(bodies) // (rounds + 1)
    process = start(server, model)
    for place in range(rounds + 1):
        before = number_of(server)
        server.send("mail", bodies[place * share : (place + 1) * share if place < rounds else None])
        if place < rounds:
            wait_for_number(server, min(wanted, before + rng.randrange(1, max(2, share // 2))))
            process = disturbance(server, process, model)
    wait_for_commit(server, bodies)
    said = end(process)
    check(server, model, bodies)
    return said


def kill_pipe(server, process, model):
    process.kill()
    assert process.wait() == -signal.SIGKILL
    return start(server, model)


def kill_broker(server, process, model):
    server.restart()
    return process


def lose_broker(server, process, model):
    """Let the pipe notice that the broker is killed before it is there again."""
    server.kill()
    assert b"cannot reach" in process.stderr.readline()
    server.restart()
    return process


def pause_broker(server, process, model):
    server.pause()
    server.resume()
    return process


@every_broker
def test_a_killed_pipe_goes_on_as_if_nothing_had_happened(server, tmp_path):
    disturb(server, tmp_path, 2, 400, kill_pipe)


@every_broker_that_remembers
def test_a_killed_broker_is_waited_for(server, tmp_path):
    assert "is reached again." in disturb(server, tmp_path, 1, 200, lose_broker)


@every_broker_that_remembers
def test_a_pipe_that_is_started_before_its_broker_goes_on(server, tmp_path):
    """As after a power cut, when both are started: the pipe has read the stream before, and waits for it."""
    model, bodies = tmp_path / "mail.model", lines(100)
    server.send("mail", bodies[:50])
    process = start(server, model)
    wait_for_commit(server, bodies[:50])
    process.kill()
    server.kill()
    process = start(server, model)
    assert b"cannot reach" in process.stderr.readline()
    server.restart()
    server.send("mail", bodies[50:])
    wait_for_number(server, expected(bodies)[0][-1]["number"])
    assert "is reached again." in end(process)
    check(server, model, bodies)


@pytest.mark.parametrize("server", ["nats"], indirect=True)
def test_a_pipe_waits_a_while_for_a_stream_that_it_knew(server, tmp_path, monkeypatch):
    """A broker that starts answers before it has found its streams; one that never finds them has lost them."""
    monkeypatch.setattr("askance.runner.broker_pipe.START_PATIENCE", 0.3)
    source, sink = make_source(server.url("elsewhere")), make_sink(server.url("decisions"))
    said, pipe = [], Pipe(["ham", "spam"], spec())
    with StopSignals() as signals:
        new = BrokerPipe(pipe, source, sink, tmp_path / "mail.model", encode, said.append)
        with pytest.raises(InvalidParameter, match="there is no stream 'elsewhere'"):
            new.begin(signals)
        assert said == []
        pipe.about["broker"] = {"source": source.name, "position": {"0": 3}}
        known = BrokerPipe(pipe, source, sink, tmp_path / "mail.model", encode, said.append)
        with pytest.raises(InvalidParameter, match="there is no stream 'elsewhere'"):
            known.begin(signals)
        assert [sentence.endswith("Trying again.") for sentence in said] == [True]
        os.kill(os.getpid(), signal.SIGTERM)
        assert not known.begin(signals)
    source.close()
    sink.close()


@pytest.mark.prove
@every_broker
def test_many_kills_of_either_side_leave_no_trace(server, tmp_path):
    rounds = 50 if server.remembers else 10  # the other takes minutes
    sides = [kill_pipe, kill_broker if server.remembers else pause_broker]
    rng = random.Random(2)
    disturb(server, tmp_path, rounds, 120 * rounds, lambda *about: rng.choice(sides)(*about))


@every_broker
def test_a_pipe_that_ends_in_the_middle_goes_on_there(server, tmp_path):
    model, bodies = tmp_path / "mail.model", [json.dumps(event).encode() for event in events(300)]
    for come in (150, 300):
        server.send("mail", bodies[come - 150 : come])
        process = start(server, model)
        wait_for_commit(server, bodies[:come])
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
        assert b"150 events" in process.stderr.read()
    check(server, model, bodies)
    assert len(server.published("decisions")) == 300  # nothing is published again after an orderly end


class Stopped:
    """Signals for a pipe in this process, which ends when all is answered."""

    stopped_by = None


class Dying:
    """A source, a sink and the file of a model, of which one ends the process at once, before or after a call."""

    def __init__(self, server, path, step, when):
        self.source, self.sink = make_source(server.url("mail")), make_sink(server.url("decisions"))
        pipe = Pipe.of(Model.load(path)) if path.exists() else Pipe(["ham", "spam"], spec())
        self.pipe = BrokerPipe(pipe, self.source, self.sink, path, encode, print)
        owner, name = {
            "read": (self.source, "read"), "save": (self.pipe, "_save"), "publish": (self.sink, "publish"),
            "commit": (self.source, "commit"),
        }[step]  # fmt: skip
        call, calls = getattr(owner, name), iter(range(100))

        def dying(*arguments):
            is_due = next(calls) == 2
            if is_due and when == "before":
                os._exit(9)
            result = call(*arguments)
            if is_due:
                os._exit(9)
            return result

        setattr(owner, name, dying)


@pytest.mark.parametrize(
    ("step", "when"),
    [
        ("save", "before"),
        ("save", "after"),
        ("publish", "after"),
        *(
            pytest.param(step, when, marks=pytest.mark.prove)
            for step, when in [("read", "after"), ("publish", "before"), ("commit", "before"), ("commit", "after")]
        ),
    ],
)
@pytest.mark.parametrize("server", ["redis"], indirect=True)
def test_no_step_is_a_bad_one_to_die_at(server, tmp_path, step, when, monkeypatch):
    monkeypatch.setattr("askance.runner.broker_pipe.MOST_TAKEN", 40)  # a save for 40 messages
    bodies, model = lines(300), tmp_path / "mail.model"
    server.send("mail", bodies)
    child = os.fork()
    if child == 0:
        try:
            dying = Dying(server, model, step, when).pipe
            dying.open()
            dying.run(Stopped())
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    process = start(server, model)
    wait_for_commit(server, bodies)
    end(process)
    check(server, model, bodies)


@pytest.mark.parametrize("server", ["redis"], indirect=True)
def test_replies_are_lines_without_to_and_answers_are_messages(server, tmp_path):
    process = launch(
        "pipe", "--from", server.url("mail"), *OPTIONS[:2], "-a", "PA", "--save", str(tmp_path / "m.model")
    )
    server.send("mail", [b'{"id": 1, "text": "win"}', b'{"id": 1, "text": "win"}', b'{"id": 1, "label": "spam"}'])
    said = [json.loads(process.stdout.readline()) for _ in range(2)] if process.stdout else []
    assert [reply["number"] for reply in said] == [1, 2]
    assert said[0]["asked"]
    assert said[1] == {"number": 2, "ticket": 1, "id": 1, "label": "spam", "learned": True}
    server.send("mail", [b'{"id": 2, "size": [1'])
    bad = json.loads(process.stdout.readline())
    assert bad["error"].startswith("message ")
    assert bad["raw"] == '{"id": 2, "size": [1'
    assert "1 event left out that came before" in end(process)


@pytest.mark.parametrize("server", ["redis"], indirect=True)
def test_two_pipes_cannot_go_on_with_one_file(server, tmp_path):
    first = start(server, tmp_path / "mail.model")
    server.send("mail", lines(20))
    wait_until(lambda: number_of(server) > 0, "a decision")
    second = start(server, tmp_path / "mail.model")
    assert second.wait() == 2
    assert b"is in use by another askance pipe; wait for its end" in second.stderr.read()
    first.send_signal(signal.SIGTERM)
    first.wait()


@pytest.mark.parametrize("server", ["redis"], indirect=True)
def test_a_saved_model_goes_on_with_its_own_command_alone(server, tmp_path):
    model = tmp_path / "mail.model"
    server.send("mail", lines(20))
    process = start(server, model)
    wait_for_commit(server, lines(20))
    process.send_signal(signal.SIGTERM)
    process.wait()
    server.create("other")
    source = ["--from", server.url("mail"), "--save", "mail.model"]
    other = ["--classes", "ham,spam", "-a", "PAA-II", "--rate", "0.3"]
    assert "is of PAA-I with other parameters; go on with" in complaint("pipe", *source, *other, cwd=tmp_path)
    assert "has read the Redis stream 'mail', and cannot go on with the Redis stream 'other'" in complaint(
        "pipe", "--from", server.url("other"), "--save", "mail.model", *OPTIONS, cwd=tmp_path
    )
    (tmp_path / "lines.jsonl").write_bytes(
        b'{"id": 1, "text": "win", "label": "spam"}\n{"text": "lunch", "label": "ham"}\n'
    )
    assert here("run", "lines.jsonl", "--save", "file.model", cwd=tmp_path).returncode == 0
    assert "has read no broker; begin with it by --load" in complaint(
        "pipe", "--from", server.url("mail"), "--save", "file.model", *OPTIONS, cwd=tmp_path
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--from", "redis://localhost/mail"], "--from needs --save"),
        (["--to", "redis://localhost/mail"], "--to is for a pipe that reads a broker"),
        (["--from", "redis://localhost:1/mail", "--save", "m", "--listen", "1"], "--listen does not go with --from"),
        (["--from", "amqp://localhost/mail", "--save", "m"], "a broker is one of redis://"),
        (["--from", "redis://localhost:1", "--save", "m"], "names no server, or not one stream of it"),
        (["--from", "redis://me:secret@localhost:1/mail", "--save", "m"], "cannot reach redis://localhost:1: "),
        (["--from", "nats://localhost:1/mail?x=1", "--save", "m"], "has the option 'x'; there are group, subject."),
    ],
)
def test_slips_are_one_sentence(words, sentence, tmp_path):
    if "localhost:1/mail" in words[1] and "--listen" not in words:  # it comes as far as the broker's own package
        pytest.importorskip(words[1].partition(":")[0])
    said = complaint("pipe", *OPTIONS, *words, cwd=tmp_path)
    assert sentence in said
    assert "secret" not in said


@pytest.mark.parametrize(("scheme", "package"), [("redis", "redis"), ("nats", "nats"), ("kafka", "confluent_kafka")])
def test_a_client_that_is_not_installed_is_one_sentence(scheme, package, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    said = complaint("pipe", *OPTIONS, "--from", f"{scheme}://localhost:1/mail", "--save", "m", cwd=tmp_path)
    assert f"needs the package {package.replace('_', '-')}; install it with: {how_to_install(scheme)}." in said


def test_ids_are_forgotten_in_the_order_they_came():
    ids = RecentIds()
    for number in range(MOST_RECENT + 5):
        ids.add(str(number))
    again = RecentIds(ids.to_text())
    assert [str(number) in again for number in (4, 5, MOST_RECENT + 4, MOST_RECENT + 5)] == [False, True, True, False]
