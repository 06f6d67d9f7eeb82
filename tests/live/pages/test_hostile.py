"""Text from events, settings and people is only ever text, wherever the pages show it."""

from tests.live.pages.content import HOSTILE, hostile_events
from tests.live.pages.network import Reply

CLASSES = [
    "<img src=/stolen onerror=alert(1)>",
    '"><script>alert(2)</script>',
    "' onclick=alert(3) x='",
    "{{7*7}}</span><b>",
]
TITLE = "</title><script>alert(4)</script>\"'><img src=/stolen onerror=alert(5)>"


def check(annotator):
    for page in annotator.context.pages:
        assert page.evaluate("violations") == []
        assert page.locator("script:not([src]), iframe, object, embed, main img, main a[href^=javascript]").count() == 0
    assert [address for address in annotator.requests if "stolen" in address] == []
    assert annotator.troubles == []


def test_nothing_in_an_event_runs_anywhere(serve, visit):
    service = serve(classes=CLASSES[:2], title=TITLE)
    events = hostile_events()
    items = service.post("/v1/events", events).json()["items"]
    assert all(item["asked"] for item in items), items
    annotator = visit(service)
    page, seen = annotator.page, []
    for place in range(len(HOSTILE)):
        seen.append(annotator.sees_question())
        page.keyboard.press("r")
        page.wait_for_selector(".raw:visible")
        page.keyboard.press("r")
        page.hover(".text")
        annotator.press("Enter" if place % 2 else "1")
    assert sorted(seen) == sorted(event["id"] for event in events)
    annotator.badge("saved")
    page.keyboard.press("j")
    page.reload()
    page.wait_for_function("n => document.querySelectorAll('#history-list button').length >= n", arg=len(HOSTILE))
    shown = page.inner_text("#history-list")
    assert "<script>alert(1)</script>" in shown
    assert TITLE in page.title()
    check(annotator)

    annotator.open("/")
    annotator.page.wait_for_selector(".matrix td")
    for summary in annotator.page.locator("summary").all():
        summary.click()
    annotator.page.wait_for_selector("details table")
    assert CLASSES[0] in annotator.page.inner_text(".matrix")
    service.send("one more")
    annotator.page.locator(".tile", has_text=f"{len(events) + 3} in all").wait_for()  # all of it is drawn anew
    check(annotator)


def test_nothing_in_the_settings_or_an_address_runs(serve, visit):
    service = serve(classes=CLASSES, title=TITLE, warm=False)
    service.send(*"abcdef")
    annotator = visit(service)
    annotator.sees_question()
    annotator.press("3")
    annotator.badge("saved")
    assert annotator.page.locator(".choice").all_inner_texts()[0].endswith(CLASSES[0])
    for address in ("javascript:alert(6)", "//example.org", '/"><script>alert(7)</script>', "<svg onload=alert(8)>"):
        annotator.open(f"/login?next={address}")
        assert annotator.page.locator("input[name=next]").get_attribute("value").startswith("/")
    check(annotator)


def test_a_sentence_of_the_service_is_text(serve, connect, visit):
    service = serve()
    service.send("a", "b")
    annotator = visit(connect(service))
    annotator.sees_question()
    detail = "<img src=/stolen onerror=alert(9)>"
    headers = {"X-Askance-Reason": detail, "X-Askance-Detail": detail, "Retry-After": "60"}
    annotator.network.meet_always("/answer", Reply(409, {"code": "conflict", "detail": detail}))
    annotator.network.meet_always("/v1/asks/next", Reply(204, headers=headers))
    annotator.press("1")
    annotator.page.locator("#toast", has_text=detail).wait_for()
    annotator.sees_question()
    annotator.press("2")
    annotator.page.locator(".empty", has_text=detail).wait_for()
    check(annotator)
