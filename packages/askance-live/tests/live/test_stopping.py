"""SIGTERM under load: what was begun is finished, nobody who dawdles holds it up, and what was answered is there."""

import contextlib
import socket

import httpx
import pytest
from tests.live.running import postgres_is_proven
from tests.live.test_crash import Client, check, wait_for_work
from tests.live.test_locked import Holder
from tests.patience import PATIENCE


def dawdlers(service):
    """Clients that begin something and do not come to its end."""
    half = socket.create_connection(("127.0.0.1", service.port))
    half.sendall(b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
    head = socket.create_connection(("127.0.0.1", service.port))
    head.sendall(b"POST /v1/ev")
    watching = socket.create_connection(("127.0.0.1", service.port))
    watching.sendall(b"GET /v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
    export = socket.create_connection(("127.0.0.1", service.port))
    export.sendall(b"GET /v1/export.jsonl HTTP/1.1\r\nHost: localhost\r\n\r\n")  # whose answer nobody reads
    idle = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(50)]
    return [half, head, watching, export, *idle]


@postgres_is_proven
def test_sigterm_under_load_does_not_wait_for_clients_that_dawdle(make, store):
    service = make(store=store, server={"receipt_seconds": 10 * PATIENCE})
    for k in range(20):  # more than the sockets' buffers hold
        service.send(*(f"big-{k}-{j}" for j in range(10)), text="word " * 5000)
    clients = [Client(service, f"c{k}", k) for k in range(3)]
    for client in clients:
        client.start()
    slow = dawdlers(service)
    wait_for_work(clients)
    assert service.stop() == 0
    for client in clients:
        client.ended.set()
        client.join()
    for connection in slow:
        connection.close()
    service.start()
    check(service, clients)


@pytest.mark.prove
def test_sigterm_while_another_program_holds_the_store_still_ends(make, store):
    service = make(store=store)
    service.send("a")
    holder = Holder(store)
    try:
        with contextlib.suppress(httpx.TransportError):
            httpx.post(f"{service.url}/v1/events", json={"fields": {"text": "x"}}, timeout=0.5)
        assert service.stop() == 0  # after the request's patience, then the checkpoint's
    finally:
        holder.let_go()
    service.start()
    assert service.get("/v1/events/a").status_code == 200
