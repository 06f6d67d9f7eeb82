"""The pages under a prefix, and the label page while the service is away."""

from urllib.parse import parse_qs, urlsplit

import httpx
from tests.live.test_streams import Several
from tests.patience import PATIENCE, wait_until


def warm(service, prefix=""):
    """Questions with a suggestion."""
    events = [{"id": f"e{place}", "fields": {"text": f"some words {place}"}} for place in range(6)]
    assert service.post(f"{prefix}/v1/events", events).status_code == 200


def test_the_pages_of_a_stream_among_several_stay_under_its_prefix(tmp_path, nursery, visit):
    service = Several(tmp_path, nursery).create().start()
    try:
        warm(service, "/spam")
        annotator = visit(service, "/")
        page = annotator.page
        page.get_by_role("link", name="Label The spam stream").click()
        event = annotator.sees_question()
        annotator.press("1")
        annotator.badge("saved")
        assert service.get(f"/spam/v1/events/{event}").json()["answers"][0]["label"] == "a"
        page.get_by_role("link", name="Dashboard").click()
        page.wait_for_selector(".tile")
        page.locator("#live", has_text="live").wait_for()
        page.goto(f"{service.url}/fraud/label")
        page.get_by_text("No events yet").wait_for()
        paths = [url.removeprefix(service.url) for url in annotator.requests if url.startswith(service.url)]
        assert [path for path in paths if not path.startswith(("/spam/", "/fraud/")) and path != "/"] == []
    finally:
        service.stop()


def test_the_label_page_reloads_without_the_service_and_sends_what_was_answered(serve, connect, visit):
    service = serve()
    service.send(*(f"e{place}" for place in range(6)))
    annotator = visit(connect(service))
    event = annotator.sees_question()
    page = annotator.page
    page.wait_for_selector("html[data-kept=true]", state="attached")
    service.kill()
    annotator.press("1")
    annotator.badge("offline")
    page.reload()
    page.wait_for_selector("#badge")
    annotator.badge("1")  # it still waits
    assert page.locator("header").is_visible()
    service.start()
    annotator.badge("saved")
    assert service.get(f"/v1/events/{event}").json()["answers"][0]["label"] == "ham"


def test_answers_for_one_store_are_never_sent_to_another_at_the_same_address(serve, connect, visit):
    first, other = serve(), serve()
    first.send("e1", "e2", "e3")
    other.send("e1", "e2", "e3")
    network = connect(first)
    annotator = visit(network)
    event = annotator.sees_question()
    first.kill()
    annotator.press("1")
    annotator.badge("offline")
    network.service = other
    annotator.badge("saved")  # the page has tried to send, was refused, and loaded itself again
    annotator.sees_question()
    found = other.get("/v1/answers?mine=1&limit=200").json()["answers"]
    assert [answer for answer in found if answer["kind"] != "label"] == []
    annotator.page.goto(f"{network.url}/livez")  # the page of the other store would load itself again meanwhile
    network.service = first.start()
    annotator.page.goto(f"{network.url}/label")
    annotator.badge("saved")
    assert [answer["label"] for answer in first.get(f"/v1/events/{event}").json()["answers"]] == ["ham"]


def test_answers_of_one_person_are_never_sent_as_those_of_another_who_logged_in_since(serve, connect, visit):
    """In another tab, which has the same cookie: here somebody else's session takes its place."""
    service = serve()
    service.send("e1", "e2", "e3")
    network = connect(service)
    annotator = visit(network, "/livez")
    page = annotator.page
    people = {name: httpx.Client(base_url=network.url, timeout=PATIENCE) for name in ("Ana", "B\u00e9n")}
    links = {name: service.run("people", "invite", name, "--role", "lead").stdout.strip() for name in people}

    def log_in(name):
        cookies = people[name].cookies.items()
        page.context.add_cookies([{"name": name, "value": value, "url": network.url} for name, value in cookies])

    wait_until(lambda: service.get("/v1/me").status_code == 401, "a service that knows of people")
    for name, client in people.items():
        assert client.post("/enter", data={"key": parse_qs(urlsplit(links[name]).query)["key"][0]}).status_code == 303
    log_in("Ana")
    page.goto(f"{network.url}/label")
    event = annotator.sees_question()
    page.wait_for_selector("html[data-kept=true]", state="attached")
    service.kill()
    annotator.press("1")
    annotator.badge("offline")
    log_in("B\u00e9n")
    service.start()
    page.wait_for_selector(
        '#app[data-user="B\u00e9n"]', state="attached"
    )  # tried, was refused, and loaded itself again
    annotator.badge("saved")
    assert people["Ana"].get(f"/v1/events/{event}").json()["answers"] == []
    page.goto(f"{network.url}/livez")  # the other one's page would load itself again meanwhile
    log_in("Ana")
    page.goto(f"{network.url}/label")

    def answers():
        return people["Ana"].get(f"/v1/events/{event}").json()["answers"]

    wait_until(lambda: page.wait_for_timeout(1) or answers(), "her answer")
    assert [(answer["annotator"], answer["label"]) for answer in answers()] == [("Ana", "ham")]
