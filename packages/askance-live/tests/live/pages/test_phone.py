"""The pages on a phone: nothing is wider than the screen, and everything is large enough for a finger."""

import pytest
from tests.live.pages.content import TWELVE
from tests.live.pages.screens import resize
from tests.live.pages.states import PHONE, WALKS

FINGER = 44  # pixels
TARGETS = """() => {
    const targets = "button, select, summary, input:not([type=hidden]), a[href]";
    const pressed = (element) => element.closest("label") ?? element;
    return [...document.querySelectorAll(targets)].filter((element) => element.checkVisibility())
        .map((element) => [element, pressed(element).getBoundingClientRect()])
        .filter(([, box]) => box.height > 0)
        .map(([element, box]) => [Math.round(box.width), Math.round(box.height), element.outerHTML.slice(0, 90)]);
}"""
WIDE_PARTS = """width => {
    const clipped = ".hidden, .skip, .scroll-x, .word, .last *, svg";
    return [...document.querySelectorAll("header, header *, main, main *, #answer, #answer *, dialog[open] *")]
        .filter((element) => element.checkVisibility() && !element.closest(clipped))
        .filter((element) => element.getBoundingClientRect().right > width + 1)
        .map((element) => element.outerHTML.slice(0, 90));
}"""


@pytest.mark.parametrize("walk", WALKS)
def test_no_state_scrolls_sideways_or_has_a_target_too_small_for_a_finger(serve, visit, walk):
    wide, small = {}, {}
    for page, name in walk(serve, visit, **PHONE):
        for width in (320, 360):
            resize(page, width, 640)
            # a phone shows a page that is too wide smaller, so innerWidth grows with it
            if page.evaluate("Math.max(document.scrollingElement.scrollWidth, innerWidth)") > width:
                wide[name, width] = "the page"
            elif parts := page.evaluate(WIDE_PARTS, width):
                wide[name, width] = parts
            targets = page.evaluate(TARGETS)
            assert targets
            if found := [target for target in targets if target[1] < FINGER or target[0] < 24]:
                small[name, width] = found
    assert (wide, small) == ({}, {})


@pytest.mark.parametrize("size", [(360, 640), (320, 640), (412, 915)])
def test_twelve_classes_are_all_in_sight_and_leave_room_for_the_question(serve, visit, size):
    service = serve(classes=TWELVE)
    service.send(*"abcdef")
    page = visit(service, **{**PHONE, "viewport": {"width": size[0], "height": size[1]}}).page
    page.wait_for_selector(".choice.suggested")
    list_ = page.locator("#classes").bounding_box()
    boxes = [choice.bounding_box() for choice in page.locator(".choice").all()]
    assert len(boxes) == 12
    assert min(box["height"] for box in boxes) >= FINGER
    assert max(box["y"] + box["height"] for box in boxes) <= list_["y"] + list_["height"] + 1
    assert page.locator("#main").bounding_box()["height"] >= 0.35 * size[1]
    clipped = page.evaluate(
        "[...document.querySelectorAll('.choice .name')].filter((name) => name.scrollHeight > name.clientHeight + 2)"
        ".map((name) => name.textContent)"
    )
    assert clipped == []


def test_nine_long_classes_scroll_in_their_own_place(serve, visit):
    classes = [f"a class whose name takes a line of its own, number {place}" for place in range(9)]
    service = serve(classes=classes)
    service.send("a", "b")
    annotator = visit(service, **PHONE)
    annotator.sees_question()
    page = annotator.page
    assert page.locator("#main").bounding_box()["height"] >= 0.3 * 640
    undo = page.locator("[data-act=undo]").bounding_box()
    assert undo["y"] + undo["height"] <= 640
    page.tap(".choice >> nth=-1")
    annotator.badge("saved")
    assert [answer["label"] for answer in annotator.wait_for_answers(1)] == [classes[-1]]
