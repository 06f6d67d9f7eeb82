"""Behind a proxy: login, labels, numbers as they change, large bodies, addresses; and no way in without tokens."""

import json

import pytest
from tests.live.fronts import (
    caddy_example,
    find,
    free_port,
    make_certificate,
    nginx_example,
    start_caddy,
    start_nginx,
)

from askance.errors import InvalidParameter
from askance_live.config import from_document
from askance_live.http.proxies import Proxies
from askance_live.problems import Problem

FRONTS = {
    "nginx": lambda *place: start_nginx(place[0], nginx_example(*place), f"https://localhost:{place[1]}"),
    "nginx that rewrites Host": lambda *place: start_nginx(
        place[0], nginx_example(*place, rewrites_host=True), f"https://localhost:{place[1]}"
    ),
    "caddy": lambda *place: start_caddy(place[0], caddy_example(*place), f"https://localhost:{place[1]}"),
}


@pytest.fixture(scope="module", params=FRONTS)
def front(request, make_for_all, tmp_path_factory):
    """A service with tokens behind a proxy, which runs with the settings of the documentation."""
    find("openssl")
    find(request.param.split()[0])
    folder, port = tmp_path_factory.mktemp("front"), free_port()
    make_certificate(folder)
    service = make_for_all()
    secrets = service.tokens(ana="label read", root="admin")
    service.stop()
    settings = f'[server]\npublic_url = "https://localhost:{port}"\ntrusted_proxies = ["127.0.0.1"]\n'
    service.text = service.text.replace("wrong_tokens_per_minute = 0", "wrong_tokens_per_minute = 2")
    service.config.write_text(service.text.replace("[server]\n", settings))
    service.start()
    service.log_in(secrets["root"])
    running = FRONTS[request.param](folder, port, service.port)
    running.kind, running.service, running.secrets = request.param, service, secrets
    yield running
    running.stop()


def log_in(browser, front, **form):
    data = {"token": front.secrets["ana"], "next": "/label", **form}
    return browser.post("/login", data=data, headers={"origin": front.url})


def test_a_person_logs_in_and_labels_through_the_proxy(front):
    front.service.send("a")
    with front.client() as browser:
        away = browser.get("/label")
        assert (away.status_code, away.headers["location"]) == (303, "/login?next=/label")
        entered = log_in(browser, front)
        assert (entered.status_code, entered.headers["location"]) == (303, "/label")
        cookie = entered.headers["set-cookie"]
        assert cookie.startswith("__Host-askance_session=")
        for part in ("HttpOnly", "Secure", "Path=/", "SameSite=lax"):
            assert part in cookie, part
        assert browser.get("/label").status_code == 200
        ours = {"origin": front.url}
        ask = browser.post("/v1/asks/next", headers=ours).json()["asks"][0]
        body = {"answer_id": "one", "token": ask["token"], "label": "ham"}
        given = browser.post(f"/v1/asks/{ask['id']}/answer", json=body, headers=ours)
        assert given.json()["outcome"] == "accepted"
        # another site, and this one without TLS
        for origin in ("https://evil.example", front.url.replace("https", "http"), "null"):
            refused = browser.post("/v1/asks/next", headers={"origin": origin})
            assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        # over TLS a session counts under its own name only
        secret = browser.cookies["__Host-askance_session"]
        with front.client(headers={"cookie": f"askance_session={secret}"}) as other:
            assert other.get("/v1/me").status_code == 401
        assert browser.post("/logout", headers=ours).status_code == 303
        assert browser.get("/v1/me").status_code == 401


def test_numbers_come_through_as_they_happen(front):
    headers = {"authorization": f"Bearer {front.secrets['ana']}"}
    with front.client(headers=headers) as client, client.stream("GET", "/v1/live") as response:
        lines = response.iter_lines()
        assert json.loads(next(line for line in lines if line.startswith("data: "))[6:])
        front.service.send("live")
        assert next(line for line in lines if line.startswith("data: "))  # held back, it would not come


def test_bodies_of_several_megabytes_pass_and_larger_ones_are_refused(front):
    with front.client(headers={"authorization": f"Bearer {front.secrets['root']}"}) as client:
        events = [{"id": f"large-{k}", "fields": {"text": "word " * 40_000}} for k in range(30)]
        taken = client.post("/v1/events", json=events)
        assert len(taken.request.content) > 5_000_000
        assert (taken.status_code, taken.json()["accepted"]) == (200, 30)
        refused = client.post("/v1/events", content=b" " * 20_000_000)
        assert refused.status_code == 413
        if front.kind == "caddy":  # nginx refuses it by itself
            assert refused.json()["code"] == "body_too_large"


def test_wrong_tokens_count_for_the_address_behind_the_proxy(front):
    forged = {"x-forwarded-for": "192.0.2.1"}  # a client's own words
    with front.client("127.0.0.9", headers=forged) as guesser, front.client("127.0.0.8") as other:
        tried = [log_in(guesser, front, token=f"guess-{k}").status_code for k in range(3)]
        assert tried == [401, 401, 429]
        assert log_in(other, front, token="typo").status_code == 401
        assert log_in(guesser, front).status_code == 303  # who has a token comes in
    entries = front.service.get("/v1/audit").json()["entries"]  # the login that followed is committed with them
    addresses = {entry["detail"]["address"] for entry in entries if entry["action"] == "login failed"}
    assert addresses == {"127.0.0.9", "127.0.0.8"}
    assert next(entry["detail"]["address"] for entry in entries if entry["action"] == "login") == "127.0.0.9"
    log = (front.service.folder / "log.txt").read_text()
    assert "login failed: unknown, from 127.0.0.9" in log
    assert "guess-" not in log


def test_numbers_for_monitoring_are_not_for_everybody(front):
    with front.client("127.0.0.9") as other:
        assert other.get("/metrics").status_code == 403
    with front.client() as own:
        assert "askance_events" in own.get("/metrics").text


BARE = {
    "nginx": lambda folder, port, upstream: start_nginx(
        folder,
        f"server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://127.0.0.1:{upstream}; }} }}",
        f"http://localhost:{port}",
    ),
    "caddy": lambda folder, port, upstream: start_caddy(
        folder,
        f"http://localhost:{port} {{\n\treverse_proxy 127.0.0.1:{upstream} {{\n"
        "\t\theader_up Host {upstream_hostport}\n\t}\n}",
        f"http://localhost:{port}",
    ),
}


@pytest.mark.parametrize("kind", BARE)
def test_a_proxy_in_front_of_a_service_without_tokens_opens_nothing(make, tmp_path, kind):
    find(kind)
    service = make()
    front = BARE[kind](tmp_path, free_port(), service.port)
    try:
        with front.client() as client:
            for response in (client.get("/v1/me"), client.post("/v1/events", json={"fields": {"text": "hello"}})):
                assert (response.status_code, response.json()["code"]) == (403, "proxied")
                assert "askance token create" in response.json()["detail"]
            page = client.get("/label", headers={"accept": "text/html"})
            assert (page.status_code, "askance token create" in page.text) == (403, True)
    finally:
        front.stop()
    assert service.get("/v1/me").json()["open_access"] is True  # on the machine itself nothing changed


SIGNS = {
    "forwarded": "for=192.0.2.1",
    "x-forwarded-for": "192.0.2.1",
    "x-forwarded-proto": "https",
    "x-forwarded-anything": "1",
    "via": "1.1 proxy",
    "x-real-ip": "192.0.2.1",
    "cf-connecting-ip": "192.0.2.1",
}


def test_any_sign_of_a_proxy_closes_a_service_without_tokens(make):
    service = make()
    for name, value in SIGNS.items():
        assert service.get("/v1/me", headers={name: value}).json()["code"] == "proxied", name
    same = {"sec-fetch-site": "same-origin"}
    for name in ("origin", "referer"):
        seen = service.get("/v1/me", headers={**same, name: "https://labels.example.org/label"})
        assert seen.json()["code"] == "proxied"
        near = service.get("/v1/me", headers={**same, name: f"http://localhost:{service.port}/label"})
        assert near.status_code == 200
    # a link on another page is no proxy
    assert service.get("/v1/me", headers={"referer": "http://wiki.example/", "sec-fetch-site": "cross-site"}).is_success
    # with tokens, a proxy is welcome
    secrets = service.tokens(ana="label")
    service.log_in(secrets["ana"])
    for name, value in SIGNS.items():
        assert service.get("/v1/me", headers={name: value}).json()["name"] == "ana"


@pytest.mark.parametrize("peer", ["10.1.2.3", "::ffff:10.1.2.3", "2001:db8::1"])
def test_without_tokens_only_senders_on_this_machine_are_served(peer):
    proxies = Proxies("127.0.0.1", "", [])
    headers = {b"host": b"127.0.0.1:8000"}
    proxies.check_local({"client": ("127.0.0.1", 1), "headers": []}, headers)
    proxies.check_local({"client": ("::1", 1), "headers": []}, headers)
    with pytest.raises(Problem, match="it comes from"):
        proxies.check_local({"client": (peer, 1), "headers": []}, headers)


def test_a_public_address_needs_a_token(make):
    service = make()
    service.stop()
    for setting in ('public_url = "https://labels.example.org"', 'trusted_proxies = ["127.0.0.1"]'):
        service.config.write_text(service.text.replace("[server]\n", f"[server]\n{setting}\n"))
        refused = service.run("serve", check=False)
        assert refused.returncode == 2
        assert "askance token create" in refused.stderr


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"public_url": "labels.example.org"}, "https://labels.example.org"),
        ({"public_url": "ftp://labels.example.org"}, "https://labels.example.org"),
        ({"public_url": "https://example.org/labels"}, "without a path"),
        ({"public_url": "https://example.org:port"}, "https://labels.example.org"),
        ({"public_url": 5}, "text in quotes"),
        ({"trusted_proxies": "127.0.0.1"}, "must be a list"),
        ({"trusted_proxies": ["proxy"]}, "'proxy'"),
        ({"trusted_proxies": [10]}, "got 10"),
        ({"trusted_proxies": ["10.0.0.1/8"]}, "'10.0.0.1/8'"),
    ],
)
def test_settings_about_proxies_are_checked(settings, word):
    with pytest.raises(InvalidParameter, match=r"server\.(public_url|trusted_proxies)") as refused:
        from_document({"classes": ["a", "b"], "server": settings})
    assert word in str(refused.value)


def request(peer, *forwarded):
    return {"client": (peer, 5), "headers": [(b"x-forwarded-for", text.encode()) for text in forwarded]}


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("127.0.0.1", [], "127.0.0.1"),
        ("127.0.0.1", ["192.0.2.7"], "192.0.2.7"),
        ("192.0.2.7", ["198.51.100.1"], "192.0.2.7"),  # nobody's proxy
        ("127.0.0.1", ["6.6.6.6, 192.0.2.7"], "192.0.2.7"),  # the first is a client's own words
        ("127.0.0.1", ["6.6.6.6", "192.0.2.7"], "192.0.2.7"),
        ("127.0.0.1", ["192.0.2.7, 10.1.2.3"], "192.0.2.7"),  # two proxies
        ("127.0.0.1", ["10.1.2.3"], "10.1.2.3"),
        ("127.0.0.1", ["rubbish, 10.1.2.3"], "10.1.2.3"),
        ("127.0.0.1", ["192.0.2.7:4711"], "192.0.2.7"),
        ("::ffff:127.0.0.1", ["2001:db8::5"], "2001:db8::5"),
    ],
)
def test_the_address_is_the_last_that_is_not_a_trusted_proxy(peer, forwarded, address):
    proxies = Proxies("127.0.0.1", "", ["127.0.0.1", "10.0.0.0/8"])
    assert proxies.client_address(request(peer, *forwarded)) == address
    assert Proxies("127.0.0.1", "", []).client_address(request(peer, *forwarded)) == peer


HERE = {"server": ("192.168.1.5", 8017)}
MAPPED = {"server": ("::ffff:192.168.1.5", 8017)}


@pytest.mark.parametrize(
    ("host", "scope"),
    [
        ("localhost:9000", HERE), ("127.0.0.1:8017", HERE), ("[::1]:8017", HERE), ("192.168.1.5:8017", HERE),
        ("192.168.1.5", MAPPED), ("box.lan:8017", HERE), ("localhost", {}),
    ],
)  # fmt: skip
def test_links_lead_to_a_name_of_this_machine(host, scope):
    assert Proxies("Box.lan", "", []).address(scope, {b"host": host.encode()}) == f"http://{host}"
    public = Proxies("Box.lan", "https://labels.example.org", [])
    assert public.address(scope, {b"host": host.encode()}) == "https://labels.example.org"


@pytest.mark.parametrize(
    "host",
    ["evil.example", "", "192.168.1.6", "localhost:80@evil.example", "localhost:x", "[::1", "localhost/evil.example",
     "localhost.evil.example", "evil.example#localhost", "localhost:8017, evil.example", "192.168.1.5:80@evil.example"],
)  # fmt: skip
def test_links_follow_no_other_host(host):
    proxies = Proxies("0.0.0.0", "", [])
    with pytest.raises(Problem, match=r"set server\.public_url to") as refused:
        proxies.address(HERE, {b"host": host.encode()})
    assert refused.value.code == "wrong_host"
    with pytest.raises(Problem, match="does not answer"):
        Proxies("127.0.0.1", "", []).check_local({"client": ("127.0.0.1", 1), "headers": []}, {b"host": host.encode()})


def test_nobody_is_invited_by_a_link_to_another_host(make):
    service = make()
    service.log_in(service.tokens(root="admin")["root"])
    ana = {"name": "Ana", "role": "annotator"}
    refused = service.post("/v1/people", ana, headers={"host": "evil.example"})
    assert (refused.status_code, refused.json()["code"]) == (421, "wrong_host")
    assert service.get("/v1/people").json()["people"] == []
    assert service.post("/v1/people", ana).json()["link"].startswith(f"{service.url}/enter?key=")
    refused = service.post("/v1/people/Ana/link", headers={"host": "evil.example"})
    assert "server.public_url" in refused.json()["detail"]
    assert service.get("/v1/stats", headers={"host": "evil.example"}).status_code == 200  # nothing leads there


def test_an_origin_is_ours_under_the_public_address_or_the_one_that_was_asked():
    plain, public = Proxies("127.0.0.1", "", []), Proxies("127.0.0.1", "https://labels.example.org", [])

    def is_taken(proxies, **headers):
        try:
            proxies.check_origin({name.replace("_", "-").encode(): value for name, value in headers.items()})
        except Problem:
            return False
        return True

    ours, near, bare = b"https://labels.example.org", b"http://127.0.0.1:8017", b"http://labels.example.org"
    for proxies in (plain, public):
        assert is_taken(proxies, host=b"127.0.0.1:8017", origin=near)
        assert is_taken(proxies, host=b"127.0.0.1:8017")  # a program, not a page
        assert is_taken(proxies, host=b"127.0.0.1:8017", origin=ours, sec_fetch_site=b"same-origin")
        for site in (b"cross-site", b"same-site"):
            assert not is_taken(proxies, host=b"127.0.0.1:8017", origin=near, sec_fetch_site=site)
        assert not is_taken(proxies, host=b"127.0.0.1:8017", origin=b"null")
        assert not is_taken(proxies, host=b"127.0.0.1:8017", origin=b"http://127.0.0.1:8018")
    assert is_taken(public, host=b"127.0.0.1:8017", origin=ours)
    assert is_taken(public, host=b"labels.example.org", origin=ours)
    assert not is_taken(public, host=b"labels.example.org", origin=bare)
    assert not is_taken(public, host=b"127.0.0.1:8017", origin=bare)
    assert not is_taken(plain, host=b"127.0.0.1:8017", origin=ours)
