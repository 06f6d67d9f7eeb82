"""Odd paths, queries, cookies and headers get an answer below 500, and no traceback."""

import re
import socket

import pytest

from askance_live import routes
from askance_live.http.routing import ROUTES

pytestmark = pytest.mark.hostile

routes.load()
ODD = [
    "%00",
    "a%00b",
    "%00%00",
    "%2e%2e",
    "..%2f..%2f..%2fetc%2fpasswd",
    "%2e%2e%2f%2e%2e",
    "%ed%a0%80",
    "%ff%fe",
    "%80",
    "a" * 10_000,
    "%61" * 3_000,
    "%",
    "%zz",
    "%u0000",
    "%0d%0a",
    "%0a",
    "%09",
    "%7f",
    "%5c..%5c",
    "%e2%80%ae",
    "%F0%9F%98%80",
    "1%00",
    "999999999999999999999",
    "-1",
    "1e3",
    "%20",
    "+",
    "{ask}",
    "'",
    '"',
    "%27%3b--",
    "*",
    "~",
    ";",
    ":",
]
QUERIES = [
    "%00",
    "limit=%00",
    "limit=-1",
    "limit=1e3",
    "limit=" + "9" * 5_000,
    "limit=%d9%a1",
    "cursor=%00",
    "cursor=" + "9" * 30,
    "n=1&n=2",
    "n",
    "=",
    "&&&&",
    "exclude=%00,1",
    "exclude=" + "1," * 4_000,
    "next=//evil",
    "next=%0d%0aX: y",
    "next=%00",
    "mine=%ff",
    "minutes=0",
    "points=99999999",
    "a=" * 2_000,
    "a" * 20_000,
    "%ed%a0%80=1",
    "x=" + "%F0%9F%98%80" * 100,
]
HEADERS = [
    b"cookie: askance=\xff\xfe",
    b"cookie: ;;;=;=",
    b"cookie: askance=" + b"a" * 20_000,
    b"cookie: askance=%00",
    b"authorization: Bearer \xff",
    b"authorization: Bearer",
    b"authorization: " + b"x" * 20_000,
    b"authorization: Bearer a b",
    b"host: \xff",
    b"host:",
    b"host: " + b"a" * 20_000,
    b"content-encoding: \xff",
    b"content-encoding: " + b"g" * 20_000,
    b"accept: text/html",
    b"accept: \xff\xff",
    b"origin: \xff",
    b"origin: null",
    b"sec-fetch-site: \xff",
    b"askance-store: \xff",
    b"if-none-match: \xff",
    b"cache-control: \xff",
    b"x-forwarded-proto: \xff",
    b"content-type: \xff",
    b"content-length: \xff",
    b"content-length: -1",
    b"content-length: " + b"9" * 30,
    b"transfer-encoding: \xff",
    b"expect: 100-continue",
    b"upgrade: websocket\r\nconnection: upgrade",
    b"connection: \xff",
]
LINES = [
    b"OPTIONS * HTTP/1.1",
    b"CONNECT localhost:1 HTTP/1.1",
    b"GET http://other/livez HTTP/1.1",
    b"GET livez HTTP/1.1",
    b"GET //livez HTTP/1.1",
    b"GET /livez HTTP/9.9",
    b"BREW /livez HTTP/1.1",
    b"GET  /livez HTTP/1.1",
    b"GET /l\xc3\xa9 HTTP/1.1",
    b"GET /livez#x HTTP/1.1",
    b"GET ? HTTP/1.1",
    b"GET /?\xff HTTP/1.1",
    b"HEAD /static/%00 HTTP/1.1",
    b"PRI * HTTP/2.0",
    b"DELETE /v1/events/%00 HTTP/1.1",
    b"GET /%00 HTTP/1.1",
    b"GET /static/a%00/b HTTP/1.1",
]
BAD_REQUEST = (b"400", b"404", b"405", b"413", b"421", b"422", b"431")


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def service(request, make_for_all):
    store = request.getfixturevalue("postgres").new_database() if request.param == "postgres" else None
    running = make_for_all(store=store)
    running.send("e1", "e2")
    return running


def ask(service, line, *headers, body=b""):
    """The status of a raw request; b"" where the connection was cut without one."""
    head = b"\r\n".join([line, b"Host: localhost", b"Connection: close", *headers, b"", b""])
    with socket.create_connection(("127.0.0.1", service.port)) as one:
        one.settimeout(30)
        try:
            one.sendall(head + body)
            return one.recv(100)[9:12]
        except ConnectionError:
            return b""


def no_tracebacks(service):
    log = service.folder / "log.txt"
    text = log.read_text() if log.exists() else ""
    assert "Traceback" not in text, text[-3000:]


def test_odd_parts_of_paths_are_not_found(service):
    for route in ROUTES:
        if "{" not in route.path:
            continue
        for odd in ODD:
            path = re.sub(r"\{\w+\}", odd.replace("\\", r"\\"), route.path)
            status = ask(service, f"{route.method} {path} HTTP/1.1".encode(), b"Content-Length: 2", body=b"{}")
            assert status in (*BAD_REQUEST, b""), (path[:80], status)
    assert ask(service, b"GET /static/%00 HTTP/1.1") == b"404"
    assert ask(service, b"GET /static/a%00/b HTTP/1.1") == b"404"
    assert ask(service, b"GET /static/" + b"a" * 10_000 + b" HTTP/1.1") == b"404"
    no_tracebacks(service)


def test_odd_queries_cookies_headers_and_lines_are_answered(service):
    for route in ROUTES:
        if route.path == "/v1/live" or route.path.startswith("/v1/model"):
            continue
        path = re.sub(r"\{\w+\}", "1", route.path)
        for query in QUERIES:
            status = ask(service, f"{route.method} {path}?{query} HTTP/1.1".encode())
            assert status < b"500", (path, query[:80], status)
    for path in (b"GET /v1/me", b"GET /", b"GET /static/app.css", b"POST /login", b"POST /v1/events", b"GET /v1/stats"):
        for header in HEADERS:
            status = ask(service, path + b" HTTP/1.1", header)
            assert status < b"500", (path, header[:80], status)
    for line in LINES:
        assert ask(service, line) < b"500", line
    no_tracebacks(service)
    assert service.get("/livez").status_code == 200


def test_static_files_are_still_served(service):
    page = service.get("/login").text
    files = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
    assert files
    for path in [*files, "/worker.js", "/favicon.ico"]:
        found = service.get(path)
        assert found.status_code == 200, path
        assert service.get(path, headers={"if-none-match": found.headers["etag"]}).status_code == 304
