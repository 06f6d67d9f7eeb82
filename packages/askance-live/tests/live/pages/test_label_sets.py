"""Label sets in a real browser: labels are ticked by keys or clicks, and Enter sends them."""

import pytest
from tests.live.pages.screens import resize
from tests.live.pages.test_accessibility import SCREENS, violations_of

LABELS = ["sports", "politics", "money"]


@pytest.fixture
def desk(serve, visit):
    """A service that asks about every label, and somebody at the label page."""
    service = serve(
        LABELS, warm=False, settings={"label_sets": True}, model={"algorithm": "PAA-I"},
        queue={"learn_after": 0.2, "answers": 1},
    )  # fmt: skip
    service.send(*(f"e{place}" for place in range(8)))
    annotator = visit(service)
    annotator.sees_question()
    return annotator


def ticked(page):
    return page.eval_on_selector_all(".choice[aria-checked=true]", "boxes => boxes.map((box) => box.dataset.label)")


def said(desk, n):
    return [answer["label"] for answer in reversed(desk.wait_for_answers(n))]


def test_keys_tick_labels_and_enter_sends_them(desk):
    page = desk.page
    assert page.get_attribute(".choice >> nth=0", "role") == "checkbox"
    assert ticked(page) == []  # the first questions are blind
    desk.press("1")
    desk.press("3")
    assert ticked(page) == ["sports", "money"]
    desk.press("3")
    desk.press("2")
    assert ticked(page) == ["sports", "politics"]
    assert desk.answers() == []  # nothing is sent by a tick
    first = desk.question(page)
    desk.press("Enter")
    assert desk.sees_question() != first
    assert ticked(page) == []
    desk.press("Enter")  # nothing ticked: none of them
    desk.badge("saved")
    assert said(desk, 2) == [["politics", "sports"], []]
    assert page.inner_text("#last").startswith("none")
    desk.press("z")
    desk.badge("saved")
    assert desk.answers()[0]["state"] == "undone"


@pytest.mark.parametrize(("width", "height", "scheme"), SCREENS)
def test_axe_finds_nothing_and_everything_fits(desk, width, height, scheme):
    pytest.importorskip("axe_playwright_python", reason="axe is not installed: pip install --group test")
    resize(desk.page, width, height)
    desk.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    desk.press("2")
    assert violations_of(desk.page) == []
    assert desk.page.evaluate("document.documentElement.scrollWidth") <= width
    for name in ("[data-act=accept]", ".choice >> nth=2"):
        box = desk.page.locator(name).first.bounding_box()
        assert box["y"] + box["height"] <= height


def test_a_mouse_ticks_and_sends_and_the_focus_stays_with_the_question(desk):
    page = desk.page
    page.click(".choice[data-label=politics]")
    assert ticked(page) == ["politics"]
    page.wait_for_timeout(100)
    page.click("[data-act=accept]")
    desk.sees_question()
    assert said(desk, 1) == [["politics"]]
    page.focus(".choice[data-label=money]")
    page.keyboard.press("Space")  # ticks the box that has the focus
    assert ticked(page) == ["money"]
    desk.press("Enter")
    assert said(desk, 2)[1] == ["money"]
    assert page.locator("#history-list .pill").first.inner_text() == "money"


def test_a_question_shows_the_labels_it_is_about_and_the_suggestion_is_ticked(serve, visit):
    service = serve(
        LABELS, warm=False, settings={"label_sets": True}, asking={"audit": 0.0, "rate": 0.3},
        model={"algorithm": "PAA-I"}, queue={"learn_after": 0.0},
    )  # fmt: skip
    words = {"sports": "goal ball team", "politics": "vote party law", "money": "bank cash stock"}
    number = 0
    while True:
        for _ in range(20):
            has = [label for place, label in enumerate(LABELS) if number >> place & 1]
            text = " ".join(words[label] for label in has) or "the day"
            service.post("/v1/events", {"id": f"e{number}", "fields": {"text": f"{text} {number}"}})
            number += 1
        asks = service.next(10)
        if any(ask["suggestion"] and len(ask["about"]) < 3 for ask in asks):
            break
        assert number < 2000
        for ask in asks:
            event = int(ask["event"]["id"][1:])
            yes = [label for place, label in enumerate(LABELS) if event >> place & 1 and label in ask["about"]]
            service.answer(ask, yes)
        service.wait_until_idle()
    wanted = {ask["event"]["id"]: ask for ask in asks}
    annotator = visit(service)
    for _ in asks:
        ask = wanted[annotator.sees_question()]
        visible = annotator.page.eval_on_selector_all(
            ".choice:not([hidden])", "boxes => boxes.map((box) => box.dataset.label)"
        )
        assert visible == ask["about"]
        assert ticked(annotator.page) == (ask["suggestion"]["label"] if ask["suggestion"] else [])
        annotator.press(str(1 + LABELS.index(next((x for x in LABELS if x not in visible), LABELS[0]))))
        annotator.press("Enter")
    annotator.badge("saved")


def test_the_dashboard_and_the_review_page_speak_of_sets(desk, visit):
    for _ in range(3):
        desk.press("1")
        desk.press("Enter")
        desk.sees_question()
    desk.wait_for_answers(3)
    service = desk.service
    dashboard = visit(service, "/")
    dashboard.page.wait_for_selector("section[aria-label='How good are the sets?']")
    assert "Too early to say" in dashboard.page.inner_text("section[aria-label='How good are the sets?'] .answer-line")
    review = visit(service, "/review")
    review.page.wait_for_selector("#events .card")
    assert "sports, by" in review.page.inner_text("#events")
    review.page.select_option("#new-label", ["politics", "money"])
    review.page.check("#events .card input[type=checkbox] >> nth=0")
    review.page.fill("#reason", "both")
    review.page.click("#correct")
    review.page.wait_for_function("() => document.getElementById('chosen').textContent.includes('corrected')")
    assert "money, politics, by" in review.page.inner_text("#events")


def test_single_labels_have_no_ticks(serve, visit):
    service = serve()
    service.send("a")
    annotator = visit(service)
    annotator.sees_question()
    assert annotator.page.locator(".choice[role=checkbox], [data-act=accept]").count() == 0
