"""Numbers as they were sent, reasons for an empty table, and a matrix wider than its card."""

from tests.live.pages.content import TWELVE
from tests.live.pages.screens import resize, with_box

FIELDS = {
    "text": 'an order "1234567890123456789" with a backslash \\ and 12345678901234567890',
    "user_id": 1234567890123456788,
    "owner": -9007199254740993,
    "nested": {"ids": [2**63 - 1, 5, 0.1234567890123456]},
    "small": 9007199254740991,
    "share": 1.5e-7,
}
EXACT = ("1234567890123456788", "-9007199254740993", str(2**63 - 1), "9007199254740991", "0.1234567890123456")


def test_large_whole_numbers_are_shown_digit_by_digit(serve, visit):
    service = serve()
    assert service.post("/v1/events", {"id": "big", "fields": FIELDS}).status_code == 201
    annotator = visit(service)
    page = annotator.page
    assert annotator.sees_question() == "big"
    assert FIELDS["text"] in page.inner_text(".readable")
    values = page.locator(".fields dd").all_inner_texts()
    assert values == [EXACT[0], EXACT[1], f'{{"ids":[{2**63 - 1},5,0.1234567890123456]}}', EXACT[3], "1.5e-7"]
    annotator.press("r")
    raw = page.inner_text(".raw")
    for digits in EXACT:
        assert digits in raw
        assert f'"{digits}"' not in raw
    annotator.press("r")
    annotator.press("1")
    assert [answer["event"] for answer in annotator.wait_for_answers(1)] == ["big"]


def test_what_was_put_off_says_when_it_is_back(serve, visit):
    service = serve(queue={"later": 600.0, "learn_after": 0.2})
    service.send("a")
    annotator = visit(service)
    annotator.sees_question()
    annotator.page.locator("button", has_text="Later").click()
    words = annotator.page.locator(".empty", has_text="comes back to you at").inner_text()
    assert "others" not in words
    assert "T" not in words.split("back to you at ")[1].split("\n")[0]  # a time of day


def test_a_matrix_of_twelve_classes_is_whole_or_says_that_it_goes_on(serve, visit):
    service = serve(classes=TWELVE)
    page = visit(service, "/").page
    page.wait_for_selector(".matrix.many")
    assert with_box(page, "box => box.scrollWidth <= box.clientWidth + 1")  # all of it, at 1280 pixels
    assert not page.locator(".cue").is_visible()
    resize(page, 700, 800)
    page.wait_for_selector(".cue:visible")
    assert with_box(page, "box => box.classList.contains('more')")
    with_box(page, "box => box.scrollTo(10000, 0)")
    page.wait_for_function("() => !document.querySelector('.matrix.many').parentElement.classList.contains('more')")
