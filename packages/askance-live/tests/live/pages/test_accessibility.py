"""What axe checks by itself, and what it cannot: where the focus goes, what is said aloud, zoom and paper."""

import pytest
from tests.live.pages.content import TWELVE
from tests.live.pages.screens import resize
from tests.live.pages.states import WALKS, open_shop

SCREENS = [(360, 640, "dark"), (768, 1024, "light"), (1280, 800, "dark")]
RUN = "rules => axe.run(document, rules).then((found) => found.violations)"
RULES = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}  # 24 pixels, of WCAG 2.2
FOCUS = """() => {
    const focused = document.activeElement;
    if (focused === document.body) return null;
    const isMarked = (element) => {
        const style = getComputedStyle(element);
        const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
        return outlined || (element.id === "main" && style.boxShadow.includes("inset"));
    };
    let mark = focused;
    while (mark && !isMarked(mark)) mark = mark.parentElement;
    return {
        name: focused.id || focused.dataset.label || focused.dataset.act || focused.className || focused.textContent,
        part: focused.closest("header, #main, #answer, #history, #cards")?.id || "header",
        isVisible: Boolean(mark) && focused.checkVisibility(),
    };
}"""


def violations_of(page):
    """What axe finds, each as a line that says what and where."""
    from axe_playwright_python.base import AXE_SCRIPT

    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate(RUN, RULES)
    return [f"{rule['id']} ({rule['impact']}): {node['html'][:150]}" for rule in found for node in rule["nodes"]]


@pytest.mark.parametrize("every_screen", [False, pytest.param(True, marks=pytest.mark.prove)])
@pytest.mark.parametrize("walk", WALKS)
def test_axe_finds_nothing_in_any_state_light_or_dark(serve, visit, walk, every_screen):
    """On one screen after the other, a state each; or on every screen."""
    pytest.importorskip("axe_playwright_python", reason="axe is not installed: pip install --group test")
    found = {}
    for place, (page, name) in enumerate(walk(serve, visit, reduced_motion="reduce")):
        for width, height, scheme in SCREENS if every_screen else [SCREENS[place % len(SCREENS)]]:
            resize(page, width, height)
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            if lines := violations_of(page):
                found[name, width, scheme] = lines
    assert found == {}


def press_tab(page, times):
    """Where the focus is after each press."""
    stops = []
    for _ in range(times):
        page.keyboard.press("Tab")
        stops.append(page.evaluate(FOCUS))
    return [stop for stop in stops if stop]


def test_the_focus_is_visible_wherever_it_goes_and_goes_down_the_page(serve, visit):
    service = open_shop(serve, classes=["ham", "spam"])
    annotator = visit(service)
    annotator.sees_question()
    stops = press_tab(annotator.page, 19)  # once around, beginning at the question
    assert [stop["name"] for stop in stops if not stop["isVisible"]] == []
    top = [stop["name"] for stop in stops].index("skip")
    stops = stops[top:] + stops[:top]
    assert list(dict.fromkeys(stop["part"] for stop in stops)) == ["header", "main", "answer", "history"]
    names = [stop["name"] for stop in stops]
    assert names.index("item") < names.index("ham") < names.index("spam") < names.index("unsure") < names.index("raw")

    page = annotator.open("/")
    page.wait_for_selector(".matrix td")
    stops = press_tab(page, 25)
    assert [stop["name"] for stop in stops if not stop["isVisible"]] == []


def test_the_focus_never_goes_under_the_open_history(serve, visit):
    service = serve()
    service.send("a", "b", "c")
    annotator = visit(service, viewport={"width": 700, "height": 800})
    page = annotator.page
    annotator.sees_question()
    annotator.press("1")
    annotator.badge("saved")
    page.click("#open-history")
    page.wait_for_selector("#history-list button:visible")
    assert {stop["part"] for stop in press_tab(page, 16)} == {"header", "history"}
    resize(page, 1280, 800)  # now it lies beside the question
    assert page.locator("[inert]").count() == 0
    resize(page, 700, 800)
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.matches('#stage .item')")


def test_a_screen_reader_hears_the_next_question_and_whether_answers_are_saved(serve, visit):
    service = serve()
    service.post("/v1/events", [{"id": "a", "fields": {"text": "where is the lamp I ordered"}}])
    annotator = visit(service)
    page = annotator.page
    annotator.sees_question()
    heard = page.locator("#announcement[role=status]")
    suggested = page.get_attribute(".choice.suggested", "data-label")
    assert heard.inner_text().startswith(f"where is the lamp I ordered. Suggested: {suggested}, ")
    service.post("/v1/events", [{"id": "b", "fields": {"text": "thank you for the fast delivery"}}])
    annotator.press("1")
    page.wait_for_selector("#stage .item[aria-label$=' b']")
    assert heard.inner_text().startswith("thank you for the fast delivery. ")
    status = page.get_by_role("status").filter(has=page.get_by_role("link"))
    annotator.badge("saved")
    annotator.context.set_offline(True)
    annotator.press("2")
    annotator.badge("offline · 1 kept")
    assert status.get_by_role("link", name="offline · 1 kept").count() == 1
    annotator.context.set_offline(False)
    annotator.badge("saved")
    assert heard.inner_text() == ""  # the empty queue speaks for itself


def test_a_random_check_is_blind_for_a_screen_reader_as_well(serve, visit):
    service = serve(warm=False)
    service.send("a")
    annotator = visit(service)
    annotator.sees_question()
    assert annotator.page.inner_text("#announcement").endswith("No suggestion.")


@pytest.mark.parametrize(("width", "height"), [(640, 400), (320, 256)])  # 1280 x 800 at 200 %, 1280 x 1024 at 400 %
def test_zoomed_in_everything_can_still_be_reached(serve, visit, width, height):
    service = open_shop(serve, classes=TWELVE)
    annotator = visit(service, viewport={"width": width, "height": height})
    page = annotator.page
    annotator.sees_question()
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    for button in page.locator(".choice, .minor button, .item .meta").all():
        button.scroll_into_view_if_needed()
        reached = """element => { const box = element.getBoundingClientRect();
            return element.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)); }"""
        assert button.evaluate(reached), button.inner_text()
    first = annotator.question(page)
    page.click(".choice >> nth=-1")
    page.wait_for_function("name => !document.querySelector('#stage .item').ariaLabel.endsWith(name)", arg=first)
    assert page.locator("#stage .why").bounding_box()["y"] < height  # the next question begins in sight


def test_paper_shows_all_of_the_question_in_ink_whatever_the_screen(serve, visit):
    service = open_shop(serve)
    annotator = visit(service, color_scheme="dark")
    page = annotator.page
    annotator.sees_question()
    page.emulate_media(media="print", color_scheme="dark")
    colours = page.evaluate("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
    assert colours == ["rgb(26, 31, 38)", "rgb(244, 246, 248)"]
    assert page.locator("#answer, nav, #history").filter(visible=True).count() == 0
    bottom = page.evaluate("document.querySelector('.meta').getBoundingClientRect().bottom")
    assert bottom <= page.evaluate("document.scrollingElement.scrollHeight")
