"""Pages of other sites, in a real browser: their links lead to us, still logged in; their requests change nothing."""

import re
import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.patience import PATIENCE

from askance_live import routes
from askance_live.http.routing import ROUTES

pytestmark = pytest.mark.hostile

PAGE = """<!doctype html><title>elsewhere</title><a id="link" href="{url}/label">a question for you</a>
<form id="form" method="post" action="{url}{path}"><input name="token" value="{token}"></form>"""

SEND = """addresses => Promise.all(addresses.map(address =>
    fetch(address, {method: "POST", mode: "no-cors", credentials: "include", body: "{}"}).catch(() => null)))"""


@contextmanager
def foreign_site(url, path="/logout", token=""):
    """A page of another site; to a browser, localhost is another than 127.0.0.1."""
    content = PAGE.format(url=url, path=path, token=token).encode()

    class Site(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answered(service, paths):
    """How many POST requests to these paths were answered how."""
    found = re.findall(r"askance_requests_total\{(.*)\} (\S+)", service.get("/metrics").text)
    labels = [(dict(re.findall(r'(\w+)="(.*?)"', text)), int(float(number))) for text, number in found]
    return Counter(
        {(row["path"], row["status"]): n for row, n in labels if row["method"] == "POST" and row["path"] in paths}
    )


def logged_in(browser, service, secret):
    """Somebody with a session, at an address that has no requests of its own."""
    context = browser.new_context()
    context.set_default_timeout(1000 * PATIENCE)
    page = context.new_page()
    page.goto(f"{service.url}/login?next=/v1/me")
    page.fill("#token", secret)
    page.click("button")
    page.wait_for_url(f"{service.url}/v1/me")
    return context, page


def test_a_link_on_another_site_leads_to_the_label_page_without_a_new_login(serve, browser):
    service = serve()
    secrets = service.tokens(ana="label read", root="admin")
    context, page = logged_in(browser, service, secrets["ana"])
    with foreign_site(service.url) as port:
        page.goto(f"http://localhost:{port}/")
        with page.expect_navigation():
            page.click("#link")
        assert page.url == f"{service.url}/label"
    context.close()


def test_a_form_on_another_site_neither_logs_out_nor_in(serve, browser):
    service = serve()
    secrets = service.tokens(ana="label read", ben="label read", root="admin")
    context, page = logged_in(browser, service, secrets["ana"])
    for host in ("localhost", "127.0.0.1"):  # another site, and another origin of the same site
        for path in ("/logout", "/login"):
            with foreign_site(service.url, path, secrets["ben"]) as port:
                page.goto(f"http://{host}:{port}/")
                with page.expect_navigation() as arrived:
                    page.evaluate("document.getElementById('form').submit()")
                assert arrived.value.status == 403
    me = page.goto(f"{service.url}/v1/me").json()
    assert me["name"] == "ana"
    context.close()


def test_no_request_of_another_site_changes_anything(serve, browser):
    routes.load()
    assert {route.method for route in ROUTES} == {"GET", "POST"}  # all that changes something is a POST
    service = serve()
    secrets = service.tokens(ana="label read admin", root="admin")
    service.log_in(secrets["root"])
    service.send("a")
    service.wait_until_idle()
    context, page = logged_in(browser, service, secrets["ana"])
    posts = [route.path for route in ROUTES if route.method == "POST"]
    addresses = [service.url + re.sub(r"\{\w+\}", "1", path) for path in posts]
    before = (service.get("/v1/events/a").json()["ask"], service.get("/v1/audit").json())
    counted = answered(service, posts)
    for host in ("localhost", "127.0.0.1"):
        with foreign_site(service.url) as port:
            page.goto(f"http://{host}:{port}/")
            page.evaluate(SEND, addresses)
    # from another site the browser keeps the cookie to itself; from another origin of the same site it sends it along
    arrived = answered(service, posts) - counted
    assert {path for path, _ in arrived} == set(posts)
    assert {status for _, status in arrived} <= {"401", "403"}
    assert arrived.total() == 2 * len(posts)
    assert sum(number for (_, status), number in arrived.items() if status == "403") >= len(posts)
    assert (service.get("/v1/events/a").json()["ask"], service.get("/v1/audit").json()) == before
    assert page.goto(f"{service.url}/v1/me").json()["name"] == "ana"
    context.close()
