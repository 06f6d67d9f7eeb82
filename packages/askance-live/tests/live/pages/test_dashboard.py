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


ANSWER = """async ([question, stats, series]) => {
    const { CARDS } = await import("/static/cards.js");
    return CARDS.find((card) => card.question === question).answer(stats, series);
}"""
HEADLINE = {"enough": True, "span": "all", "baseline": {"estimate": 0.5}}


def bins(*rows):
    """Of calibration: how many answers, the mean probability, the share that was right, and its interval."""
    return [
        {"from": 0.1 * place, "to": 0.1 * place + 0.1, "n": n, "share": 0.1, "predicted": said, "right": right,
         "low": low, "high": high}
        for place, (n, said, right, low, high) in enumerate(rows)
    ]  # fmt: skip


def test_what_is_said_agrees_with_what_is_drawn(serve, visit):
    page = visit(serve(warm=False), "/").page
    page.wait_for_selector(".tile")

    def said(question, stats, series=None):
        return page.evaluate(ANSWER, [question, stats, series])

    def calibrated(found, error=None):
        estimates = {"calibration_error": dict(zip(("value", "low", "high"), error, strict=True))} if error else {}
        stats = {
            "calibration": found,
            "accuracy": {"headline": HEADLINE},
            "quality": {"overall": {"estimates": estimates}},
        }
        return said("Do its probabilities mean what they say?", stats)

    few = bins((1, 0.55, 0.0, 0.0, 0.8), (4, 0.65, 1.0, 0.5, 1.0), (40, 0.95, 0.95, 0.83, 0.99))
    assert "may be off by up to 21\u00a0% on average, or not at all" in calibrated(few, (0.0, 0.0, 0.21))
    assert "at most 4\u00a0% on average" in calibrated(few, (0.0, 0.0, 0.04))
    assert "off by 8\u00a0% (95 % interval 3\u00a0% to 12\u00a0%) on average" in calibrated(few, (0.08, 0.03, 0.12))
    assert "every interval reaches the dotted line" in calibrated(few)
    off = bins((5, 0.55, 0.0, 0.0, 0.5), (40, 0.95, 0.5, 0.4, 0.6))
    assert "off where they say 95\u00a0% (right: 40\u00a0% to 60\u00a0%)." in calibrated(off)

    def improved(*points):
        names = ("labels", "estimate", "low", "high")
        series = {"by_label": [dict(zip(names, point, strict=True)) for point in points]}
        return said("Is it improving per label?", {"accuracy": {"headline": HEADLINE}}, series)

    told = improved((20, 0.81, 0.7, 0.9), (100, 0.93, 0.88, 0.97))
    assert told.startswith(
        "Too early to say: right on 81\u00a0% (95 % interval 70\u00a0% to 90\u00a0%) after 20 labels and on 93"
    )
    assert "may be chance" in told
    assert improved((20, 0.6, 0.5, 0.7), (100, 0.93, 0.88, 0.97)).startswith("Yes, it improved: right on 60")
    assert "chance" not in improved((20, 0.93, 0.88, 0.97), (100, 0.6, 0.5, 0.7))

    busy = {"events": {"per_second": 5, "today": 9}, "latency_ms": {}, "paused": False, "queue": {"open": 1030}}
    points = {"points": [{"time": "2026-01-01T10:00:00Z", "open": n} for n in (None, 0, 1030)]}
    kept_up = said("Are we keeping up?", {**busy, "model": {"waiting": 0, "lag_seconds": 0}}, points)
    assert "has learned every answer. 1,030 questions wait for people, 1,030 more than at" in kept_up
    late = said("Are we keeping up?", {**busy, "model": {"waiting": 7, "lag_seconds": 30}}, points)
    assert "7 answers wait to be learned, the oldest for 30\u00a0s too long." in late

    confusion = {"labels": ["ham", "spam"], "audit": [[0, 0], [0, 0]], "all": [[3, 1], [0, 1]]}
    assert said("What does it confuse?", {"confusion": confusion}) == "Too early to say: 5 answers of 30."


def test_an_axis_has_numbers_that_can_be_read(serve, visit):
    page = visit(serve(warm=False), "/").page

    def ticks(*arguments):
        return page.evaluate("async (a) => (await import('/static/charts.js')).ticksTo(...a)", list(arguments))

    assert ticks(0, 3, True) == [0, 1]
    assert ticks(0) == [0, 0.5, 1]
    assert ticks(2, 3, True) == [0, 1, 2]
    assert ticks(0.03) == [0, 0.01, 0.02, 0.03]
    shown = """async ([values]) => {
        const { timeChart } = await import("/static/charts.js");
        const rows = values.map((open, place) => ({ time: 60000 * place, open }));
        const chart = timeChart(400, rows, ["open"], "x");
        return [...chart.querySelectorAll("text[text-anchor=end]")].map((text) => text.textContent);
    }"""
    assert page.evaluate(shown, [[0, 0, 0]])[:2] == ["0", "1"]


def test_few_answers_of_a_bin_are_drawn_as_an_interval_alone(serve, visit):
    page = visit(serve(warm=False), "/").page
    drawn = """async ([bins]) => {
        const chart = (await import("/static/charts.js")).calibrationChart(300, bins, 10, "x");
        return ["circle", ".whisker", "path.line"].map((part) => chart.querySelectorAll(part).length);
    }"""
    few, many = (3, 0.55, 0.0, 0.0, 0.6), (30, 0.65, 0.6, 0.4, 0.8)
    assert page.evaluate(drawn, [bins(few, many)]) == [1, 2, 0]
    assert page.evaluate(drawn, [bins(few, many, many)]) == [2, 3, 1]


def test_the_first_invitation_is_a_success_and_looks_like_one(serve, visit):
    page = visit(serve(warm=False), "/people").page
    page.fill("#name", "Ana")
    page.click("#invite button")
    page.locator("#link-words", has_text="From now on people log in").wait_for()
    assert page.locator("#link").get_attribute("role") == "status"
    assert page.locator("#problem").is_hidden()
