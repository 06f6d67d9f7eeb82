"""librdkafka's cluster for tests, in a process of its own: writes its port to the file that is named, and waits."""

import os
import signal
import sys
import threading
import time

from confluent_kafka import Producer


def end_with(parent: int) -> None:
    """End when the parent has ended, even if that was killed."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=end_with, args=[os.getppid()], daemon=True).start()
    cluster = Producer({"test.mock.num.brokers": 1, "log_level": 0})
    [broker] = cluster.list_topics(timeout=60).brokers.values()
    with open(sys.argv[1] + ".new", "w") as file:
        file.write(str(broker.port))
    os.replace(file.name, sys.argv[1])
    signal.pause()
