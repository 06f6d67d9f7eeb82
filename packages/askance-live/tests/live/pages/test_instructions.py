"""Instructions for the work: shown on the first visit and when they have changed, by a key, and with nothing in them
that a browser would run."""

from tests.live.pages.states import INSTRUCTIONS

OPEN = "#instructions[open]"
BACK = "() => !document.querySelector('#instructions').open && document.activeElement.matches('#stage .item')"


def close(page):
    """Close them by a key, and wait for the page to notice: a browser tells it some time after."""
    page.keyboard.press("Escape")
    page.wait_for_function(BACK)


def test_they_are_shown_once_then_by_a_key_and_again_when_they_changed(serve, visit):
    service = serve(instructions=INSTRUCTIONS)
    service.send("a", "b")
    annotator = visit(service)
    page = annotator.page
    page.wait_for_selector(OPEN)
    text = page.inner_text("#instructions")
    for told in ("Is this message wanted", "Written by a person", "Lunch at noon?", "You won <b>a cruise</b>"):
        assert told in text
    assert page.locator("#instructions li").count() == 5
    assert page.locator("#instructions b").count() == 0  # an example is text
    link = page.locator("#instructions a")
    assert link.get_attribute("href") == "https://example.org/policy?a=1&b=2"
    assert link.get_attribute("rel") == "noopener noreferrer"

    page.keyboard.press("1")  # no answer while they are read
    close(page)
    assert annotator.answers() == []
    annotator.press("i")
    page.wait_for_selector(OPEN)
    close(page)
    annotator.press("1")
    annotator.wait_for_answers(1)

    page.reload()
    annotator.sees_question()
    assert page.locator(OPEN).count() == 0
    service.stop()
    service.config.write_text(service.config.read_text().replace("Everything else", "All the rest"))
    service.start()
    page = annotator.context.new_page()
    page.goto(service.url + "/label")  # another port is another site, whose browser has seen nothing
    page.wait_for_selector(OPEN)
    assert "All the rest" in page.inner_text("#instructions")


def test_those_of_another_day_are_shown_again(serve, visit):
    service = serve(instructions=INSTRUCTIONS)
    service.send("a")
    annotator = visit(service)
    page = annotator.page
    page.wait_for_selector(OPEN)
    close(page)
    annotator.sees_question()
    page.evaluate(
        "() => { const key = Object.keys(localStorage).find((name) => name.startsWith('askance:instructions:'));"
        " localStorage.setItem(key, JSON.stringify('of another day')); }"
    )
    page.reload()
    page.wait_for_selector(OPEN)


def test_without_instructions_there_is_nothing_to_open(serve, visit):
    service = serve()
    service.send("a")
    annotator = visit(service)
    annotator.sees_question()
    annotator.press("i")
    page = annotator.page
    assert page.locator("#instructions, #open-instructions, #help-instructions, dialog[open]").count() == 0


def test_with_many_classes_the_key_is_that_of_a_class(serve, visit):
    classes = [f"class {number:02}" for number in range(18)]
    service = serve(classes=classes, instructions={"text": "Choose."})
    service.send("a")
    annotator = visit(service)
    page = annotator.page
    page.wait_for_selector(OPEN)
    close(page)
    annotator.sees_question()
    annotator.press("i")
    (answer,) = annotator.wait_for_answers(1)
    assert answer["label"] == "class 17"
    page.click("#open-instructions")
    page.wait_for_selector(OPEN)
