"""Classes that change while people label, and the page where they are changed."""

from playwright.sync_api import expect


def test_an_open_label_page_gets_the_new_choice_and_a_retired_one_goes(serve, visit):
    service = serve(classes=["eggs", "ham", "spam"])
    service.send("a", "b", "c", "d")
    annotator = visit(service)
    page = annotator.page
    annotator.sees_question()
    assert page.locator(".choice .name").all_inner_texts() == ["eggs", "ham", "spam"]
    service.post("/v1/classes", {"add": ["phishing"], "rename": {"phishing": "Phishing mail"}, "retire": ["eggs"]})
    annotator.press("2")  # the answer to it says that there is news
    page.wait_for_selector("[data-label=phishing]")
    assert page.locator(".choice .name").all_inner_texts() == ["ham", "spam", "Phishing mail"]
    toast = page.locator("#toast")
    expect(toast).to_contain_text("New: Phishing mail. No longer offered: eggs.")
    annotator.badge("saved")
    event = annotator.sees_question()
    annotator.press("3")
    annotator.badge("saved")
    assert page.locator("#last").inner_text().startswith("Phishing mail")
    (answer,) = service.get(f"/v1/events/{event}").json()["answers"]
    assert answer["label"] == "phishing"
    page.reload()
    page.wait_for_selector("[data-label=phishing]")
    assert page.locator("#history-list b").first.inner_text() == "Phishing mail"


def test_an_answer_with_a_class_that_was_just_retired_is_refused_and_said(serve, visit):
    service = serve(classes=["eggs", "ham", "spam"])
    service.send("a", "b")
    annotator = visit(service)
    page = annotator.page
    annotator.sees_question()
    annotator.badge("saved")
    annotator.context.set_offline(True)
    annotator.press("1")
    annotator.badge("offline · 1 kept")
    service.post("/v1/classes", {"retire": ["eggs"]})
    annotator.context.set_offline(False)
    page.wait_for_selector("[data-label=eggs]", state="detached")
    expect(page.locator("#history-list")).to_contain_text("the class 'eggs' is retired; choose one of ham, spam")
    assert service.stats()["labels"]["per_class"]["eggs"] == 1  # the one from before


def test_a_question_whose_answer_was_refused_comes_back_and_is_not_counted(serve, visit):
    service = serve(classes=["eggs", "ham", "spam"])
    service.send("a", "b")
    annotator = visit(service)
    page = annotator.page
    first = annotator.sees_question()
    annotator.badge("saved")
    service.post("/v1/classes", {"retire": ["eggs"]})
    before = service.stats()["labels"]["total"]
    annotator.press("1")
    expect(page.locator("#last")).to_have_text("Not saved: eggs")
    expect(page.locator("#tally")).to_have_text("")
    page.wait_for_selector("[data-label=eggs]", state="detached")
    assert annotator.sees_question() != first
    annotator.press("1")  # ham by now
    page.wait_for_selector(f"#stage [aria-label='Question about event {first}']")
    annotator.press("2")
    expect(page.locator("#tally")).to_have_text("2 answers")
    annotator.badge("saved")
    (answer,) = service.get(f"/v1/events/{first}").json()["answers"]
    assert (answer["label"], service.stats()["labels"]["total"]) == ("spam", before + 2)


def test_a_change_is_made_only_once_it_was_read(serve, visit):
    service = serve(classes=["eggs", "ham", "spam"])
    page = visit(service, "/classes").page
    page.fill("#label", "phishing")
    page.click("#add button")
    expect(page.locator("#effects li").first).to_contain_text(
        "Adds the class 'phishing': the model begins with 0 answers"
    )
    page.click("#sure [value=no]")
    assert service.get("/v1/classes").json()["scheme"] == 0
    page.click("#add button")
    page.click("#sure [value=yes]")
    page.wait_for_selector(".person[data-label=phishing]")
    page.select_option("[aria-label='Kind of text']", "category")
    expect(page.locator("#effects li").first).to_contain_text("Reads the field 'text' as 'category'")
    page.click("#sure [value=no]")
    expect(page.locator("[aria-label='Kind of text']")).to_have_value("text")
    page.select_option("[aria-label='Kind of text']", "category")
    page.click("#sure [value=yes]")
    expect(page.locator("#done")).to_contain_text("Changed.")
    expect(page.locator("[aria-label='Kind of text']")).to_have_value("category")


def test_who_looked_at_other_classes_is_told_so(serve, visit):
    service = serve(classes=["eggs", "ham", "spam"])
    page = visit(service, "/classes").page
    page.wait_for_selector(".person")
    service.post("/v1/classes", {"add": ["more"]})
    page.click("[aria-label='Retire: eggs']")
    expect(page.locator("#problem")).to_contain_text("the classes were changed meanwhile")
