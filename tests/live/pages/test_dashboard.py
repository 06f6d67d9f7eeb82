"""The dashboard answers its questions, live."""

from tests.live.pages.screens import with_box
from tests.live.pages.states import open_shop

QUESTIONS = [
    "Is the model right?",
    "Is it improving per label?",
    "Is the world changing?",
    "Are we keeping up?",
    "How long is the queue?",
    "Do its probabilities mean what they say?",
    "How long do labels take?",
    "Who labels?",
    "What does it confuse?",
    "Is the budget spent?",
]


def tile(page, name):
    return page.locator(".tile", has_text=name).locator("b").inner_text()


def test_an_empty_service_has_an_answer_to_every_question(serve, visit):
    page = visit(serve(warm=False), "/").page
    page.wait_for_selector(".tile")
    assert page.locator(".cards h2").all_inner_texts() == QUESTIONS
    assert all(page.locator(".answer-line").all_inner_texts())
    page.locator("#live", has_text="live").wait_for()


def test_numbers_change_as_they_happen_and_every_chart_has_words_and_a_table(serve, visit):
    service = serve(warm=False, asking={"audit": 0.2, "per_day": 50})
    service.send(*(f"e{place}" for place in range(60)))
    for place, ask in enumerate(service.next(10)):
        service.answer(ask, ("ham", "spam")[place % 2], ms=900)
    service.wait_until_learned(10)
    service.send(*(f"f{place}" for place in range(20)))  # now the model says something
    service.post("/v1/labels", [{"event": f"f{place}", "label": "ham"} for place in range(5)])
    service.wait_until_idle()
    stats = service.stats()
    annotator = visit(service, "/")
    page = annotator.page
    page.wait_for_selector(".matrix")
    assert tile(page, "Labels") == str(stats["labels"]["total"])
    assert tile(page, "Open questions") == str(stats["queue"]["open"])
    for picture in page.locator(".plot svg[role=img]").all():
        assert len(picture.get_attribute("aria-label")) > 3
    for summary in page.locator("summary").all():
        summary.click()
    page.wait_for_function(
        "() => document.querySelectorAll('details').length === document.querySelectorAll('details table').length"
    )
    assert page.locator("details").count() >= 6
    assert page.locator("details th[scope=col]").count() > 12

    before = stats["events"]["total"]
    service.send("new-1", "new-2", "new-3")
    page.locator(".tile", has_text=f"{before + 3} in all").wait_for()
    page.get_by_role("button", name="Pause learning").click()
    page.locator("#alert", has_text="Learning is paused").wait_for()
    page.get_by_role("button", name="Resume learning").click()
    page.wait_for_selector("#alert", state="hidden")
    with page.expect_response("**/v1/stats/series?minutes=10080*") as series:
        page.select_option("#range", "10080")
    assert series.value.ok
    assert annotator.troubles == []


def card(page, question):
    return page.locator("section.card", has=page.locator("h2", has_text=question)).locator(".answer-line").inner_text()


def test_it_passes_no_judgment_before_there_are_enough_answers(serve, visit):
    service = serve(warm=False, asking={"rate": 1.0, "audit": 0.2})
    service.send(*(f"a{k}" for k in range(40)))
    page = visit(service, "/").page
    page.wait_for_selector(".tile")
    assert tile(page, "Right") == tile(page, "Change") == "too early"
    assert card(page, "Is the model right?") == "Too early to say: no question has been answered."
    page.get_by_role("link", name="Answer the first questions").wait_for()
    # the model has learned nothing and calls everything spam, which is all wrong: that says nothing about the model
    service.post("/v1/labels", [{"event": f"a{k}", "label": "ham"} for k in range(1, 40)])
    service.post("/v1/labels", {"event": "a0", "label": "spam"})
    page.locator(".tile", has_text="model version 40").wait_for()
    assert tile(page, "Right") == "too early"
    assert card(page, "Is the model right?").startswith("Too early to say: 0 answers so far")
    asked = [item["id"] for item in service.send(*(f"b{k}" for k in range(60))) if item["asked"]]
    service.post("/v1/labels", [{"event": name, "label": "ham"} for name in asked])
    page.locator(".answer-line", has_text=f"from {len(asked)} answers").wait_for()
    said = card(page, "Is the model right?")
    assert "of the 60 events since it began to learn" in said
    assert "Always saying ham would be right on" in said
    assert tile(page, "Right").endswith("%")


def test_it_says_when_the_service_is_gone_and_comes_back_by_itself(serve, connect, visit):
    service = serve(warm=False)
    annotator = visit(connect(service), "/")
    badge = annotator.page.locator("#live")
    badge.filter(has_text="live").wait_for()
    service.kill()
    badge.filter(has_text="reconnecting").wait_for()
    service.start()
    badge.filter(has_text="live").wait_for()


def test_a_table_keeps_its_position_and_the_focus_while_the_numbers_change(serve, visit):
    service = open_shop(serve)
    page = visit(service, "/", viewport={"width": 360, "height": 640}).page
    page.wait_for_selector(".matrix td")
    page.locator("#live", has_text="live").wait_for()
    with_box(page, "box => { box.focus(); box.scrollTo(120, 0); }")
    total = service.stats()["events"]["total"]
    service.send("new-1", "new-2")
    page.locator(".tile", has_text=f"{total + 2} in all").wait_for()
    assert with_box(page, "box => [box.scrollLeft, box === document.activeElement]") == [120, True]


def test_it_tells_what_is_in_quarantine_and_why(serve, visit):
    service = serve(warm=False)
    service.send("a")
    page = visit(service, "/").page
    page.wait_for_selector(".tile")
    assert page.locator("#quarantine").is_hidden()
    assert service.post("/v1/events", {"id": "odd", "fields": {"size": "<b>many</b>"}}).status_code == 202
    page.reload()
    page.wait_for_selector("#quarantine:visible")
    assert "1 event; the newest: odd, field 'size': '<b>many</b>' is not a number" in page.inner_text("#quarantine")
