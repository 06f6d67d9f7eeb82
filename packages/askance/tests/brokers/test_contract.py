"""What every broker does, with a real server: read in order from any place, commit, publish once."""

import gc
from itertools import count

import pytest
from tests.brokers.servers import serve
from tests.patience import PATIENCE, wait_until

from askance.brokers import Numbered, Unreachable, make_sink, make_source
from askance.errors import InvalidParameter

names = (f"stream{number}" for number in count())


@pytest.fixture
def name(broker):
    name = next(names)
    broker.create(name)
    return name


def bodies(start, end):
    return [b'{"number": %d}' % number for number in range(start, end)]


def read_all(source, wanted):
    """So many messages with something in them."""
    found = []
    while len(found) < wanted:
        found += [message for message in source.read(wanted, PATIENCE) if message.body.strip()]
    return found


@pytest.fixture
def opened(broker):
    """Sources and sinks that are closed in the end."""
    all_of_them = []

    def keep(one):
        all_of_them.append(one)
        return one

    yield keep
    for one in all_of_them:
        one.close()


def test_messages_come_in_order_as_soon_as_they_are_there(broker, name, opened):
    source = opened(make_source(broker.url(name)))
    source.open({})
    broker.send(name, bodies(0, 30))
    assert [message.body for message in read_all(source, 30)] == bodies(0, 30)
    assert source.read(10, 0.01) == []
    broker.send(name, bodies(30, 31))
    assert [message.body for message in read_all(source, 1)] == bodies(30, 31)


def test_no_more_messages_come_at_once_than_wanted(broker, name, opened):
    source = opened(make_source(broker.url(name)))
    source.open({})
    broker.send(name, bodies(0, 10))
    wait_until(lambda: len(source.read(1, 1.0)) == 1)
    assert len(read_all(source, 3)) == 3


def test_it_goes_on_after_any_message_whatever_was_committed(broker, name, opened):
    broker.send(name, bodies(0, 20))
    first = opened(make_source(broker.url(name)))
    position = first.open({})
    messages = read_all(first, 20)
    first.commit(position | {message.partition: message.offset for message in messages})
    again = opened(make_source(broker.url(name)))
    again.open(position | {messages[4].partition: messages[4].offset})
    assert read_all(again, 15) == messages[5:]


def test_a_new_reader_begins_where_its_group_has_come_to(broker, name, opened):
    broker.send(name, bodies(0, 20))
    first = opened(make_source(broker.url(name)))
    position = first.open({})
    messages = read_all(first, 20)
    first.commit(position | {messages[6].partition: messages[6].offset})
    wait_until(lambda: broker.lag(name) == 13)
    second = opened(make_source(broker.url(name)))
    second.open({})
    assert read_all(second, 13) == messages[7:]
    other = opened(make_source(broker.url(name) + "?group=other"))
    other.open({})
    assert read_all(other, 20) == messages


def test_what_is_published_again_is_published_once(broker, name, opened):
    if broker.scheme == "kafka":
        pytest.skip("Kafka cannot tell; readers see it by the number")
    messages = [Numbered(number, "", body) for number, body in enumerate(bodies(1, 500), 1)]
    sink = opened(make_sink(broker.url(name)))
    sink.open("series")
    sink.publish(messages[:300])
    again = opened(make_sink(broker.url(name)))
    again.open("series")
    again.publish(messages)
    again.publish(messages)
    assert [reply["number"] for reply in broker.published(name)] == list(range(1, 500))
    other = opened(make_sink(broker.url(name)))
    other.open("another series")
    other.publish(messages[:1])
    assert len(broker.published(name)) == 500


def test_kafka_says_the_number_in_a_header(broker, name, opened):
    if broker.scheme != "kafka":
        pytest.skip("this is about Kafka")
    from confluent_kafka import Consumer, TopicPartition

    sink = opened(make_sink(broker.url(name)))
    sink.open("series")
    sink.publish([Numbered(7, "m1", b'{"number": 7}')])
    assert broker.published(name) == [{"number": 7}]
    reader = Consumer({"bootstrap.servers": f"127.0.0.1:{broker.port}", "group.id": "test"})
    reader.assign([TopicPartition(name, partition, 0) for partition in range(4)])
    found = [reader.consume(1, PATIENCE)[0] for _ in range(2)]
    reader.close()
    [message] = [message for message in found if message.key()]
    assert message.key() == b"m1"
    assert dict(message.headers()) == {"askance-number": b"series:7"}


def test_a_closed_connection_leaves_no_task_behind(broker, name, caplog):
    if broker.scheme != "nats":
        pytest.skip("only the client of NATS has tasks of its own")
    source = make_source(broker.url(name))
    for _ in range(3):  # a pipe opens its connection again after it was lost
        source.open({})
        source.read(1, 0.01)
        source.close()
    del source
    gc.collect()
    assert caplog.records == []


def test_a_stream_that_is_not_there_is_one_sentence(broker):
    for make in (make_source, make_sink):
        if make is make_sink and broker.scheme != "nats":
            continue  # a stream of Redis, and often a topic, is there from its first message on
        one = make(broker.url("nowhere"))
        with pytest.raises(InvalidParameter, match=r"^there is no (stream|topic).* 'nowhere' at .*; .*\.$"):
            one.open("series" if make is make_sink else {})
        one.close()


def test_a_server_that_is_not_there_is_one_sentence(tmp_path, broker, name):
    lost = serve(broker.scheme, tmp_path)
    lost.kill()
    for make in (make_source, make_sink):
        one = make(lost.url(name))
        with pytest.raises(Unreachable, match=rf"^cannot reach {broker.scheme}://127.0.0.1:{lost.port}: .*\.$"):
            one.open("series" if make is make_sink else {})
        one.close()


def test_a_server_that_goes_away_is_told(tmp_path, broker):
    if broker.scheme == "kafka":
        pytest.skip("librdkafka itself waits for its cluster")
    server = serve(broker.scheme, tmp_path)
    server.create("mail")
    source, sink = make_source(server.url("mail")), make_sink(server.url("mail"))
    source.open({})
    sink.open("series")
    server.kill()
    with pytest.raises(Unreachable):
        wait_until(lambda: source.read(1, 0.1))
    with pytest.raises(Unreachable):
        sink.publish([Numbered(1, "", b"{}")])
    source.close()
    sink.close()


# --- each broker's own ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory):
    server = serve("redis", tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


def test_an_entry_of_redis_with_several_fields_is_an_event(redis_server):
    redis_server.client.xadd("fields", {"text": "win", "size": "12", "id": "7", "at": "1e999", "flag": "true"})
    source = make_source(redis_server.url("fields"))
    source.open({})
    [message] = source.read(5, 1.0)
    assert message.body == b'{"text": "win", "size": 12, "id": 7, "at": "1e999", "flag": "true"}'
    source.close()


def test_a_group_with_consumers_of_its_own_is_left_alone(redis_server):
    redis_server.create("shared")
    redis_server.send("shared", bodies(0, 3))
    redis_server.client.xgroup_create("shared", "askance", "0")
    redis_server.client.xreadgroup("askance", "somebody", {"shared": ">"})
    source = make_source(redis_server.url("shared"))
    with pytest.raises(InvalidParameter, match="'askance' of the Redis stream 'shared' has consumers of its own; name"):
        source.open({})
    source.close()


def test_entries_that_redis_deleted_unread_are_told(redis_server):
    redis_server.create("short")
    redis_server.send("short", bodies(0, 5))
    source = make_source(redis_server.url("short"))
    source.open({})
    first = source.read(1, 1.0)[0]
    redis_server.client.xtrim("short", maxlen=2, approximate=False)
    again = make_source(redis_server.url("short"))
    with pytest.warns(match="the oldest entry of .* comes after .*: some may have been deleted"):
        again.open({first.partition: first.offset})
    source.close()
    again.close()


def test_what_is_no_stream_of_redis_is_refused(redis_server):
    redis_server.client.set("word", "a")
    for one, argument in ((make_source(redis_server.url("word")), {}), (make_sink(redis_server.url("word")), "series")):
        with pytest.raises(InvalidParameter, match="WRONGTYPE|is a string, not a stream"):
            one.open(argument)
        one.close()


@pytest.fixture(scope="module")
def nats_server(tmp_path_factory):
    server = serve("nats", tmp_path_factory.mktemp("nats"))
    yield server
    server.kill()


def test_a_subject_of_a_stream_of_nats_can_be_chosen(nats_server):
    nats_server.create("ALL", subjects=["mail.*"])
    nats_server.send("mail.in", bodies(0, 3))
    nats_server.send("mail.out", bodies(3, 6))
    source = make_source(nats_server.url("ALL") + "?subject=mail.out")
    source.open({})
    assert [message.body for message in read_all(source, 3)] == bodies(3, 6)
    source.close()


def test_a_work_queue_of_nats_is_refused(nats_server):
    nats_server.create("QUEUE", retention="workqueue")
    source = make_source(nats_server.url("QUEUE"))
    with pytest.raises(InvalidParameter, match="has the retention 'workqueue', which deletes what is acknowledged"):
        source.open({})
    source.close()


def test_a_consumer_of_another_program_is_left_alone(nats_server):
    nats_server.create("THEIRS")
    nats_server.do(lambda streams: streams.pull_subscribe("THEIRS", "askance", "THEIRS"))
    source = make_source(nats_server.url("THEIRS"))
    with pytest.raises(InvalidParameter, match="consumer 'askance' of .* 'THEIRS' belongs to another"):
        source.open({})
    source.close()


def test_messages_that_nats_deleted_unread_are_told(nats_server):
    nats_server.create("SHORT", max_msgs=2)
    nats_server.send("SHORT", bodies(0, 7))
    source = make_source(nats_server.url("SHORT"))
    with pytest.warns(match="has lost 2 messages"):
        source.open({"0": 3})
    source.close()


def test_kafka_goes_on_in_every_partition(tmp_path):
    server = serve("kafka", tmp_path)
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": f"127.0.0.1:{server.port}"})
    for number in range(40):
        producer.produce("mail", b"%d" % number, partition=number % 4)
    producer.flush()
    source = make_source(server.url("mail"))
    position = source.open({})
    assert position == {"0": -1, "1": -1, "2": -1, "3": -1}
    first = source.read(15, PATIENCE)
    position |= {message.partition: message.offset for message in first}
    source.commit(position)
    for begin in (position, {}):  # from the place that was kept, and from the one that was committed
        again = make_source(server.url("mail"))
        again.open(begin)
        rest = []
        while len(first) + len(rest) < 40:
            rest += again.read(100, 1.0)
        assert sorted(int(message.body) for message in first + rest) == list(range(40))
        again.close()
    source.close()
    server.kill()


def test_an_option_that_librdkafka_does_not_know_is_one_sentence():
    pytest.importorskip("confluent_kafka")
    source = make_source("kafka://localhost:9092/mail?no.such=1")
    with pytest.raises(InvalidParameter, match=r"has an option that cannot be: .*no\.such.*\.$"):
        source.open({})
