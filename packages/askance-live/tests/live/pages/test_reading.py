"""What a person reads off the pages: the order of the classes, few marks, no keys where there is no keyboard."""

import re

import pytest
from tests.live.pages.content import TWELVE
from tests.live.pages.network import Hold, Late
from tests.patience import PATIENCE

LEVELS = ["low", "medium", "high"]  # not the order of the alphabet
PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}
IN_SIGHT = """name => {
    const box = document.getElementById("classes").getBoundingClientRect();
    return [...document.querySelectorAll(name)].map((button) => button.getBoundingClientRect())
        .every((place) => place.top >= box.top - 1 && place.bottom <= box.bottom + 1 && place.height >= 24);
}"""


def test_classes_keep_the_order_of_the_settings_in_a_store_that_exists(serve, visit):
    service = serve(classes=LEVELS)
    service.send("a", "b")
    annotator = visit(service)
    first = annotator.sees_question()
    assert annotator.page.locator(".choice .name").all_inner_texts() == LEVELS
    annotator.press("1")
    annotator.badge("saved")
    assert [(answer["event"], answer["label"]) for answer in annotator.wait_for_answers(1)] == [(first, "low")]
    service.wait_until_idle()
    stats = service.stats()
    assert stats["classes"] == stats["confusion"]["labels"] == list(stats["labels"]["per_class"]) == LEVELS
    assert stats["labels"]["per_class"] == {"low": 2, "medium": 1, "high": 1}
    assert [sum(row) for row in stats["confusion"]["all"]] == [2, 1, 1]

    service.stop()
    turned = LEVELS[::-1]
    service.config.write_text(service.config.read_text().replace('["low", "medium", "high"]', str(turned)))
    service.start()
    again = service.stats()
    assert again["classes"] == turned
    assert again["labels"]["per_class"] == stats["labels"]["per_class"]
    assert again["confusion"]["all"] == [row[::-1] for row in stats["confusion"]["all"][::-1]]


def test_first_questions_are_no_audits(serve, visit):
    service = serve(warm=False, asking={"rate": 1.0, "audit": 0.5})
    service.send(*"abcdefgh")
    asks = service.next(2)
    for ask, label in zip(asks, ("ham", "spam"), strict=True):
        assert ask["why"]["code"] == "cold_start"
        service.answer(ask, label)
    service.wait_until_learned(2)
    labels = service.stats()["labels"]
    assert (labels["cold_start"], labels["audit"], labels["total"]) == (2, 0, 2)
    annotator = visit(service)
    annotator.sees_question()
    assert "had not seen every class when this came" in annotator.page.inner_text(".why")


def test_a_phone_shows_twelve_classes_at_once_and_no_keys(serve, visit):
    service = serve(classes=TWELVE)
    service.send(*"abcdef")
    page = visit(service, **PHONE).page
    page.wait_for_selector(".choice.suggested")
    assert page.evaluate(IN_SIGHT, ".choice")
    assert page.locator("#classes").bounding_box()["height"] <= 0.4 * 640
    page.wait_for_timeout(100)
    page.tap(".choice.suggested")
    page.wait_for_selector("#last b")
    page.click("#open-history")
    page.wait_for_selector("#history-list button")
    assert page.locator("kbd:visible").count() == 0
    assert "undo" not in page.inner_text("#last")


def test_a_small_screen_scrolls_to_the_suggested_class(serve, visit):
    classes = [f"class {place:02d}" for place in range(40)]
    service = serve(classes=classes)
    for place in range(30):
        service.post("/v1/events", [{"id": f"l{place}", "fields": {"text": "refund please"}}])
        service.post("/v1/labels", [{"event": f"l{place}", "label": classes[-1]}])
    service.wait_until_learned(70)
    service.post("/v1/events", [{"id": "new", "fields": {"text": "refund please"}}])
    annotator = visit(service, **PHONE)
    assert annotator.sees_question() == "new"
    assert annotator.page.inner_text(".suggested .name") == classes[-1]
    assert annotator.page.evaluate(IN_SIGHT, ".choice.suggested")


def test_the_few_strongest_effects_are_marked_and_short_values_are_in_the_table(serve, visit):
    service = serve()
    words = [f"word{place}" for place in range(30)]
    for place in range(20):
        text = " ".join(words) + (" prize" if place % 2 else " meeting")
        service.post("/v1/events", [{"id": f"l{place}", "fields": {"text": text}}])
        service.post("/v1/labels", [{"event": f"l{place}", "label": ("ham", "spam")[place % 2]}])
    service.wait_until_learned(22)
    fields = {"text": " ".join([*words, "prize"]), "city": "San Francisco Bay", "plan": "a plan for small teams"}
    service.post("/v1/events", [{"id": "new", "fields": fields}])
    annotator = visit(service)
    assert annotator.sees_question() == "new"
    marks = annotator.page.locator(".item mark").all_inner_texts()
    assert "prize" in marks
    assert len(marks) <= 8
    assert annotator.page.locator(".text-field h3").all_inner_texts() == ["text"]
    assert annotator.page.locator(".fields dt").all_inner_texts() == ["city", "plan"]
    sentence = annotator.page.inner_text(".why")
    assert re.search(r"at \d+\u00a0%\. .* such events (are|is) asked about\.", sentence), sentence


@pytest.mark.parametrize("first", ["the answer", "the question after it"])
def test_the_last_answer_of_the_only_person_is_not_in_other_hands(serve, connect, visit, first):
    service = serve()
    service.send("a")
    annotator = visit(connect(service))
    page = annotator.page
    annotator.sees_question()
    titles = (
        "window.titles = new Set(); new MutationObserver(() => { const title = document.querySelector('.empty h2');"
    )
    titles += " if (title) titles.add(title.textContent); }).observe(document, { childList: true, subtree: true });"
    page.evaluate(titles)
    answer, nothing = Hold(), Late()  # without the answer, the service says that the question is in somebody's hands
    annotator.network.meet("/answer", answer)
    annotator.network.meet("/v1/asks/next", nothing)
    annotator.press("1")
    assert nothing.is_holding.wait(PATIENCE)
    if first == "the answer":
        answer.is_released.set()
        annotator.badge("saved")
        nothing.is_released.set()
    else:
        nothing.is_released.set()
        page.wait_for_selector("text=Saving your answers")
        answer.is_released.set()
    page.wait_for_selector("text=All caught up")
    assert "Others are on it" not in page.evaluate("[...titles]")
    assert "kept in this browser" not in page.inner_text("#stage")
    assert page.locator(".minor button:visible").all_inner_texts() == ["Z\nUndo"]


def test_an_unknown_address_is_a_page_for_people_and_json_for_programs(serve, visit):
    service = serve(warm=False)
    page = visit(service, "/nowhere/<b>at-all").page
    assert page.inner_text("h1") == "There is no such page"
    assert "<b>at-all" in page.inner_text("main")
    page.click("text=Label >> nth=-1")
    page.wait_for_selector("#app")
    found = service.get("/nowhere")
    assert (found.status_code, found.json()["code"]) == (404, "not_found")
    found = service.get("/v1/nowhere", headers={"accept": "text/html"})
    assert (found.status_code, found.json()["code"]) == (404, "not_found")
