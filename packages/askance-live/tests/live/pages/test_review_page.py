"""The review page in a browser: found, corrected, closed, noted, by a lead."""

from urllib.parse import parse_qs, urlsplit

from tests.live.pages.states import log_in
from tests.patience import PATIENCE


def open_review(serve, visit, **sections):
    service = serve(title="Mail", **sections)
    service.send("a", "b", "c", text="<img src=x onerror=alert(1)>")
    service.post("/v1/labels", [{"event": "a", "label": "spam"}, {"event": "b", "label": "ham"}])
    page = log_in(service, visit, "/label").page
    page.click("nav >> text=Review")
    page.wait_for_selector("[data-event=c]")
    return service, page


def names(page):
    return [row.get_attribute("data-event") for row in page.locator("#events > li").all()]


def test_a_lead_corrects_and_closes_what_a_filter_finds(serve, visit):
    service, page = open_review(serve, visit)
    page.select_option("[name=label]", "spam")
    page.click("text=Find")
    page.wait_for_function("() => !document.querySelector('[data-event=b]')")
    assert "a" in names(page)
    assert "c" not in names(page)
    export = page.locator("[data-export=csv]").get_attribute("href")
    assert parse_qs(urlsplit(export).query) == {"label": ["spam"]}
    assert page.locator("#correct").is_disabled()
    page.check("[data-event=a] input[type=checkbox]")
    page.fill("#reason", "it is from a colleague")
    page.select_option("#new-label", "ham")
    page.click("#correct")
    page.locator("#chosen", has_text="1 event corrected.").wait_for()
    page.wait_for_function("() => !document.querySelector('[data-event=a]')")  # it is no spam any more
    said = service.get("/v1/events/a").json()["answers"][-1]
    assert (said["label"], said["comment"]) == ("ham", "it is from a colleague")
    page.click("text=Clear")
    page.wait_for_selector("[data-event=c]")
    page.check("[data-event=c] input[type=checkbox]")
    page.fill("#reason", "no text")
    page.click("#close")
    page.locator("[data-event=c] .pill", has_text="closed").wait_for()
    # what cannot be done is said
    page.check("[data-event=a] input[type=checkbox]")
    page.fill("#reason", "again")
    page.click("#close")
    page.locator("#message", has_text="1 event could not be").wait_for()


def test_notes_are_written_and_shown_as_text(serve, visit):
    _, page = open_review(serve, visit)
    page.click("[data-event=a] summary")
    page.fill("[data-event=a] .note-form input", "<b>ask</b> the sender")
    page.click("[data-event=a] .note-form button")
    page.locator("[data-event=a] .notes", has_text="<b>ask</b> the sender").wait_for()
    page.reload()
    page.locator("[data-event=a] summary", has_text="1 note").wait_for()
    assert page.locator("#events img, #events b >> text=ask").count() == 0


def test_pages_go_on_and_the_address_keeps_the_filter(serve, visit):
    service = serve()
    service.send(*(f"e{k:03}" for k in range(70)))
    page = visit(service, "/review?sort=oldest").page
    page.wait_for_function("() => document.querySelectorAll('#events > li').length === 50")
    page.click("#more")
    page.wait_for_function("() => document.querySelectorAll('#events > li').length > 50", timeout=1000 * PATIENCE)
    shown = [name for name in names(page) if name.startswith("e")]
    assert shown == sorted(shown)
    assert page.locator("[name=sort]").input_value() == "oldest"


def test_agreement_of_a_few_answers_is_shown_with_its_interval(serve, visit):
    _, page = open_review(serve, visit)
    measure = {"estimate": 1.0, "low": 0.2, "high": 1.0}
    people = [{"name": name, "compared": 1, "agreed": measure} for name in ("ana", "bob")]
    nothing = {"estimate": None, "low": None, "high": None}
    found = {"events": 1, "answers": 2, "alpha": nothing, "pairs": [], "people": people}
    page.route("**/v1/agreement", lambda route: route.fulfill(json=found))
    page.reload()
    words = "As most of the others: ana 100\u00a0% of 1 (20\u00a0% to 100\u00a0%), bob 100"
    page.locator("#agreement", has_text=words).wait_for()
