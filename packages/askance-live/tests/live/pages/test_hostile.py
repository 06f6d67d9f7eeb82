"""Text from events, settings and people is only ever text, wherever the pages show it."""

from urllib.parse import quote, urlencode, urlsplit

import pytest
from tests.live.pages.content import HOSTILE, hostile_events
from tests.live.pages.network import Reply

pytestmark = pytest.mark.hostile

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
    assert [address for address in annotator.requests if urlsplit(address).path.endswith("/stolen")] == []
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
    page = annotator.open("/classes")
    page.locator(".person").nth(len(CLASSES) - 1).wait_for()
    assert page.locator(".person h2").all_inner_texts() == list(CLASSES)
    page.fill("#label", HOSTILE[0])
    page.fill("#name", HOSTILE[1])
    page.click("#add button")
    page.locator("#sure h2", has_text=HOSTILE[1]).wait_for()
    assert HOSTILE[0] in page.inner_text("#effects")
    page.click("#sure [value=yes]")
    page.locator(".person h2", has_text=HOSTILE[1]).wait_for()
    page.get_by_role("button", name=f"Rename: {HOSTILE[1]}", exact=True).click()
    page.fill("#new-name", HOSTILE[2])
    page.click("#rename [value=yes]")
    page.locator("#effects", has_text=HOSTILE[2]).wait_for()
    page.click("#sure [value=yes]")
    page.locator(".person h2", has_text=HOSTILE[2]).wait_for()
    for path in ("/label", "/review", "/"):
        page = annotator.open(path)
        page.wait_for_selector("#stage .item, #new-label, .tile")
    check(annotator)
    for address in ("javascript:alert(6)", "//example.org", '/"><script>alert(7)</script>', "<svg onload=alert(8)>"):
        annotator.open(f"/login?next={address}")
        assert annotator.page.locator("input[name=next]").get_attribute("value").startswith("/")
    check(annotator)


def tell(service, path, body):
    """Send what must be taken; the answer."""
    response = service.post(path, body)
    assert response.status_code == 200, response.text
    return response.json()


def test_nothing_that_people_write_of_each_other_or_of_events_runs(serve, visit):
    """Instructions, names of people, notes, reasons, comments and filters, on every page that shows them."""
    names = [text for text in HOSTILE if len(text) <= 64 and text.isprintable()]
    told = {"text": "\n\n- ".join(HOSTILE), "examples": HOSTILE}
    service = serve(
        classes=CLASSES[:2],
        title=TITLE,
        instructions={"text": told["text"], "classes": dict.fromkeys(CLASSES[:2], told)},
    )
    events = hostile_events()
    tell(service, "/v1/events", events)
    for event, text in zip(events, HOSTILE, strict=True):
        tell(service, "/v1/review/note", {"event": event["id"], "text": text})
        tell(service, "/v1/review/correct", {"events": [event["id"]], "label": CLASSES[0], "reason": text})
    asked = [f"asked-{place}" for place in range(4)]
    service.send(*asked)
    service.log_in(service.tokens(root="label read admin")["root"])
    link, *_ = [tell(service, "/v1/people", {"name": name, "role": "admin"})["link"] for name in names]

    annotator = visit(service, link.removeprefix(service.url))
    page = annotator.page
    assert names[0] in page.inner_text("main")
    page.click("button.primary")
    page.wait_for_selector(".matrix td")
    assert names[0] in page.inner_text("header")

    page.goto(f"{service.url}/label")
    page.wait_for_selector("#instructions[open]")
    assert all(text in page.inner_text("#instructions") for text in names)
    page.keyboard.press("Escape")  # keys mean nothing to the question while it is open
    page.wait_for_function("() => !document.querySelector('#instructions').open")
    annotator.sees_question()
    annotator.press("n")
    page.fill("#comment", HOSTILE[1])
    page.keyboard.press("Enter")
    annotator.press("1")
    annotator.badge("saved")
    page.click("#open-help")
    page.check("#by-topic")
    page.keyboard.press("Escape")
    check(annotator)

    page.goto(f"{service.url}/people")
    page.locator(".person").nth(len(names) - 1).wait_for()
    assert sorted(page.locator(".person h2").all_inner_texts()) == sorted([f"{names[0]} (you)", *names[1:]])
    for act, place in (("New invitation", "#link"), ("Activity", "#activity[open]"), ("Revoke", "#sure[open]")):
        page.locator(".person", has_text=names[1]).get_by_role("button", name=act).click()
        page.locator(f"{place} h2", has_text=names[1]).wait_for()
        page.keyboard.press("Escape")  # not sooner: it would close nothing, and what opens then covers the page
        page.wait_for_selector("dialog[open]", state="hidden")
    page.fill("#name", names[1])
    page.click("#invite button")
    page.locator("#problem", has_text=names[1]).wait_for()  # the name is taken
    check(annotator)

    page.goto(f"{service.url}/review?{urlencode({'text': '<', 'person': HOSTILE[1], 'label': HOSTILE[2]})}")
    page.locator("#events", has_text="No event is like this.").wait_for()
    assert page.input_value("[name=person]") == HOSTILE[1]
    page.click("text=Clear")
    page.locator("#events > li").nth(len(events)).wait_for()
    for summary in page.locator("#events summary").all():
        summary.click()
    shown = page.inner_text("#events")
    assert all(text in shown for text in names)
    page.check("#all")
    page.fill("#reason", HOSTILE[3])
    page.select_option("#new-label", CLASSES[1])
    page.click("#correct")
    page.locator("#chosen", has_text="corrected.").wait_for()
    check(annotator)

    page.goto(f"{service.url}/")
    page.wait_for_selector(".matrix td")
    for path in (f"/enter?key={quote(HOSTILE[0])}", f"/nowhere/{quote(HOSTILE[1])}", f"/label?{quote(HOSTILE[2])}"):
        page.goto(service.url + path)
        check(annotator)
    annotator.context.clear_cookies()
    page.goto(f"{service.url}/login")
    page.fill("#token", HOSTILE[2])
    page.press("#token", "Enter")
    page.wait_for_selector("#error")
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
