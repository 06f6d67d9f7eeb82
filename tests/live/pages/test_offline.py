"""The pages under a prefix, and the label page while the service is away."""

from tests.live.test_streams import Several


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
    network.service = first.start()
    annotator.page.goto(f"{network.url}/label")
    annotator.badge("saved")
    assert [answer["label"] for answer in first.get(f"/v1/events/{event}").json()["answers"]] == ["ham"]
