"""What everybody needs to read the pages: width, contrast, names, landmarks, quiet."""

import pytest
from tests.live.pages.content import TWELVE, hard_events

ON = {
    "bg": "ink muted accent",
    "surface": "ink muted accent bad",
    "sunken": "ink muted",
    "accent-soft": "ink accent",
    "accent": "on-accent",
    "warn-soft": "warn",
    "bad-soft": "bad",
    "towards": "ink",
    "against": "ink",
}
TEXT = [(text, ground) for ground, texts in ON.items() for text in texts.split()]
GRAPHICS = [
    ("control", "surface"),
    ("accent", "surface"),
    ("against-line", "surface"),
    *((f"c{n}", "surface") for n in range(7)),
]
NAMELESS = """() => {
    const controls = "button, a[href], input:not([type=hidden]), select, [role=img], [role=group], dialog";
    const named = (element) => element.getAttribute("aria-label") || element.getAttribute("aria-labelledby")
        || element.labels?.length || element.textContent.trim();
    return [...document.querySelectorAll(controls)]
        .filter((element) => !element.closest("[hidden]") && !named(element))
        .map((element) => element.outerHTML.slice(0, 120));
}"""
PALETTE = """names => {
    const style = getComputedStyle(document.documentElement);
    return Object.fromEntries(names.map((name) => [name, style.getPropertyValue("--" + name).trim()]));
}"""
OVERFLOW = """() => ["html", ".item-scroll", ".answer"].map((name) => document.querySelector(name))
    .map((element) => element.scrollWidth - element.clientWidth)"""
TWICE = """() => { const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    return ids.filter((id, place) => ids.indexOf(id) !== place); }"""


@pytest.fixture
def shop(serve):
    """Twelve classes and events that are hard to show."""
    service = serve(classes=TWELVE, title="Support mail of a company with a long name", warm=False)
    service.send("first")
    for round_ in range(6):
        events = [{"id": f"hard-{round_}-{place}", "fields": fields} for place, fields in enumerate(hard_events())]
        assert service.post("/v1/events", events).status_code == 200
    return service


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_palette_is_legible(serve, visit, scheme):
    page = visit(serve(warm=False), "/login", color_scheme=scheme).page
    names = {name for pair in TEXT + GRAPHICS for name in pair}
    colours = page.evaluate(PALETTE, list(names))
    poor = {
        pair: round(contrast(*(colours[name] for name in pair)), 2)
        for pair in TEXT
        if contrast(*(colours[name] for name in pair)) < 4.5
    }
    faint = {
        pair: round(contrast(*(colours[name] for name in pair)), 2)
        for pair in GRAPHICS
        if contrast(*(colours[name] for name in pair)) < 3.0
    }
    assert (poor, faint) == ({}, {})


@pytest.mark.parametrize("width", [360, 800, 1920])
def test_nothing_scrolls_sideways_and_everything_has_a_name(shop, visit, width):
    annotator = visit(shop, viewport={"width": width, "height": 740})
    page = annotator.page
    for _ in range(7):
        annotator.sees_question()
        wide = page.evaluate(OVERFLOW)
        assert wide == [0, 0, 0]
        inside = page.locator(".minor button").last.bounding_box()
        assert inside["x"] + inside["width"] <= width
        assert inside["y"] + inside["height"] <= 740
        annotator.press("Space")
        if page.locator(".empty").count():
            break
    assert page.evaluate(NAMELESS) == []
    for path in ("/", "/login"):
        page.goto(shop.url + path)
        page.wait_for_selector(".tile, #token")  # the cards are drawn with the tiles
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert page.evaluate(NAMELESS) == []
        assert page.evaluate(TWICE) == []
        assert page.locator("main").count() == page.locator("h1").count() == page.locator("header").count() == 1
        assert page.get_attribute("html", "lang") == "en"


def test_the_focus_follows_the_question_and_a_status_is_said(serve, visit):
    service = serve()
    service.send("a", "b", "c")
    annotator = visit(service, reduced_motion="reduce")
    page = annotator.page
    annotator.sees_question()
    assert page.evaluate("document.activeElement.matches('#stage .item')")
    annotator.press("1")
    assert page.evaluate("document.activeElement.matches('#stage .item')")
    assert page.locator("#last[aria-live=polite]").inner_text().startswith("ham")
    assert page.locator("#badge[role=status]").count() == 1
    assert page.evaluate("getComputedStyle(document.querySelector('.item')).animationName") == "none"
    page.focus(".choice >> nth=1")
    page.wait_for_timeout(100)
    page.keyboard.press("Enter")  # on a button, Enter is the button's
    assert page.locator("#last").inner_text().startswith("spam")


def test_long_texts_are_shown_in_part_and_marks_match_the_words(serve, visit):
    service = serve()
    text = "free prize " * 3000
    service.post("/v1/events", [{"id": "long", "fields": {"text": text}}])
    annotator = visit(service)
    annotator.sees_question()
    page = annotator.page
    assert len(page.inner_text(".text")) < 7000
    page.click(".more")
    assert len(page.inner_text(".text").strip()) == len(text.strip())
