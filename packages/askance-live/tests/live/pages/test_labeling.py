"""The label page in a real browser: the way of an annotator, and everything that must not lose or double an answer."""

import time

import pytest
from tests.live.pages.network import Cut, Hold, Lose, Reply, refuse
from tests.patience import PATIENCE


@pytest.fixture
def desk(serve, connect, visit):
    """A service with twelve questions, and somebody at the label page, with a network in between."""
    service = serve()
    service.send(*(f"e{place}" for place in range(12)))
    annotator = visit(connect(service))
    annotator.sees_question()
    return annotator


def said(answers):
    return {answer["event"]: answer["label"] or answer["reason"] for answer in answers if answer["state"] != "undone"}


def test_each_key_means_what_the_help_says(desk):
    events = []
    for key in ("1", "2", "Enter", "Space", "x", "l"):
        events.append(desk.sees_question())
        suggested = desk.page.get_attribute(".choice.suggested", "data-label")
        if key == "Enter":
            accepted = suggested
        desk.press(key)
    desk.badge("saved")
    expected = ["ham", "spam", accepted, "unsure", "bad_data", "later"]
    assert said(desk.wait_for_answers(6)) == dict(zip(events, expected, strict=True))
    desk.page.keyboard.press("?")
    assert desk.page.locator("#help").is_visible()
    desk.page.keyboard.press("1")  # means nothing while the help is open
    desk.page.keyboard.press("Escape")
    event = desk.sees_question()
    desk.page.keyboard.press("r")
    assert f'"id": "{event}"' in desk.page.inner_text(".raw")
    assert len(desk.answers()) == 6


def test_undo_takes_the_last_answers_back_one_by_one(desk):
    first = desk.question(desk.page)
    desk.press("1")
    second = desk.sees_question()
    desk.press("2")
    desk.wait_for_answers(2)
    desk.badge("saved")
    desk.press("z")
    assert desk.question(desk.page) == second
    desk.press("Backspace")
    assert desk.question(desk.page) == first
    desk.badge("saved")
    assert {answer["state"] for answer in desk.answers()} == {"undone"}
    desk.press("2")
    desk.press("1")
    desk.badge("saved")
    assert said(desk.wait_for_answers(4)) == {first: "spam", second: "ham"}
    desk.service.wait_until_learned(4)
    assert desk.service.stats()["labels"]["per_class"] == {"ham": 2, "spam": 2}


def test_history_takes_any_answer_back(desk):
    events = [desk.sees_question()]
    for _ in range(3):
        desk.press("1")
        events.append(desk.sees_question())
    desk.badge("saved")
    for key in ("j", "j", "j", "k"):
        desk.page.keyboard.press(key)
    desk.page.keyboard.press("Enter")
    assert desk.question(desk.page) == events[1]
    desk.badge("saved")
    assert sorted(answer["event"] for answer in desk.answers() if answer["state"] != "undone") == sorted(
        [events[0], events[2]]
    )


def test_answers_given_offline_arrive_when_the_network_is_back(desk):
    desk.context.set_offline(True)
    events = []
    for key in ("1", "2", "1"):
        events.append(desk.sees_question())
        desk.press(key)
    desk.badge("offline · 3 kept")
    assert desk.answers() == []
    desk.press("z")  # never sent: taken back without the network
    desk.badge("2 kept")
    desk.context.set_offline(False)
    desk.badge("saved")
    assert said(desk.wait_for_answers(2)) == dict(zip(events[:2], ("ham", "spam"), strict=True))
    assert desk.sees_question() == events[2]


def test_the_whole_deck_offline_says_what_happens_next(desk):
    desk.context.set_offline(True)
    for _ in range(4):  # three were fetched ahead
        desk.sees_question()
        desk.press("1")
    desk.page.wait_for_selector(".empty")
    assert "4 answers kept in this browser" in desk.page.inner_text(".empty")
    desk.context.set_offline(False)
    desk.badge("saved")
    assert desk.sees_question()
    assert len(desk.wait_for_answers(4)) == 4


def test_a_tab_closed_offline_loses_nothing(desk):
    desk.context.set_offline(True)
    event = desk.question(desk.page)
    desk.press("2")
    desk.badge("1 kept")
    desk.page.close()
    desk.context.set_offline(False)
    desk.open()
    assert said(desk.wait_for_answers(1)) == {event: "spam"}


def wait_for_worker(desk):
    """Until the page is kept for the time without a network: from then on its requests pass the service worker."""
    desk.page.wait_for_selector("html[data-kept=true]", state="attached")
    desk.page.wait_for_function("() => navigator.serviceWorker.controller")


def test_a_lost_response_makes_no_second_answer(desk):
    wait_for_worker(desk)
    lose = Lose()
    desk.network.meet("/answer", lose)
    desk.press("1")
    desk.wait_for_answers(1)
    desk.badge("saved")
    assert lose.statuses == [200]
    assert len(desk.answers()) == 1


def test_a_response_cut_in_the_middle_makes_no_second_answer(desk):
    wait_for_worker(desk)
    desk.network.meet("/answer", Cut())
    desk.press("1")
    desk.badge("saved")
    assert desk.network.is_clear()
    assert len(desk.wait_for_answers(1)) == 1


def test_answers_are_kept_while_connections_fail_though_the_browser_is_online(desk):
    wait_for_worker(desk)
    desk.network.meet_always("", refuse)
    events = []
    for key in ("1", "2"):
        events.append(desk.sees_question())
        desk.press(key)
    desk.badge("offline · 2 kept")
    assert desk.page.evaluate("navigator.onLine")
    assert desk.answers() == []
    desk.network.clear()
    desk.badge("saved")
    assert said(desk.wait_for_answers(2)) == dict(zip(events, ("ham", "spam"), strict=True))


def test_a_service_in_trouble_is_asked_again(desk):
    wait_for_worker(desk)
    desk.network.meet("/answer", Reply(507), Reply(500), Reply(503, headers={"Retry-After": "1"}))
    desk.press("1")
    desk.wait_for_answers(1)
    assert desk.network.is_clear()
    desk.badge("saved")


def test_a_refused_answer_is_shown_with_the_reason(desk):
    wait_for_worker(desk)
    problem = {"status": 422, "code": "unknown_label", "detail": "the label is not known here."}
    desk.network.meet_always("/answer", Reply(422, problem))
    desk.press("1")
    desk.page.locator("#toast", has_text="the label is not known here.").wait_for()
    assert "the label is not known here." in desk.page.inner_text("#history-list")


def test_two_tabs_never_show_the_same_question(desk):
    tabs = [desk.page, desk.open()]
    desk.sees_question()
    for place in range(10):
        page = tabs[place % 2]
        page.bring_to_front()
        desk.sees_question(page)
        desk.press("1", page)
    for page in tabs:
        desk.badge("saved", page)
    answers = desk.wait_for_answers(10)
    assert len({answer["ask"] for answer in answers}) == 10
    assert {answer["state"] for answer in answers} <= {"waiting", "learned"}
    first, second = (set(page.evaluate("shown")) for page in tabs)
    assert first & second == set()


def test_an_answer_given_on_two_devices_is_taken_back_as_one(desk, visit):
    phone = visit(desk.service)
    first = desk.sees_question()
    assert phone.sees_question() == first  # one person has the same question on both
    for device in (desk, phone):
        device.press("2")
        device.badge("saved")
    assert desk.wait_for_answers(2)[0]["state"] == "extra"
    desk.service.wait_until_learned(3)
    phone.press("z")
    phone.badge("saved")
    phone.page.wait_for_function("() => document.querySelector('#history-list li').dataset.state === 'undone'")
    assert {answer["state"] for answer in desk.answers()} == {"undone"}
    assert not phone.page.locator("#toast").is_visible()
    assert phone.sees_question() == first
    phone.press("1")
    assert [answer["label"] for answer in desk.wait_for_answers(3)] == ["ham", "spam", "spam"]
    desk.service.wait_until_learned(4)
    assert desk.answers()[0]["state"] == "learned"


def test_a_held_key_answers_once(desk):
    desk.page.keyboard.down("1")
    for _ in range(30):
        desk.page.keyboard.down("1")  # the browser marks these as repeats
    desk.page.keyboard.up("1")
    desk.wait_for_answers(1)
    desk.badge("saved")  # nothing more is on its way
    assert len(desk.answers()) == 1


BUSY = "() => { const end = performance.now() + 500; while (performance.now() < end); }"


def double_click(page, selector):
    """A tenth of a second between its halves, of which a busy page hears half a second apart."""
    box = page.locator(selector).bounding_box()
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2, "button": "left"}
    mouse, moment = page.context.new_cdp_session(page), time.time()
    for number in (1, 2):
        for kind in ("mousePressed", "mouseReleased"):
            event = {"type": kind, "clickCount": number, "timestamp": moment + 0.1 * number, **place}
            mouse.send("Input.dispatchMouseEvent", event)
        page.evaluate(BUSY)


def test_a_double_click_answers_once(desk):
    double_click(desk.page, ".choice >> nth=0")
    desk.wait_for_answers(1)
    desk.badge("saved")  # nothing more is on its way
    assert len(desk.answers()) == 1
    desk.press("Space")  # the button just clicked has no focus that would take the Space
    assert sorted(said(desk.wait_for_answers(2)).values()) == ["ham", "unsure"]


def test_keys_mean_nothing_while_typing_or_with_a_modifier(desk):
    event = desk.question(desk.page)
    for key in ("Control+1", "Alt+2", "Meta+x"):
        desk.press(key)
    desk.press("n")
    desk.page.keyboard.type("1 2 x z l note")
    assert desk.question(desk.page) == event
    desk.page.keyboard.press("Enter")
    assert desk.answers() == []
    desk.press("2")
    (answer,) = desk.wait_for_answers(1)
    assert (answer["label"], answer["comment"]) == ("spam", "1 2 x z l note")


def test_keys_can_be_turned_off(desk):
    desk.page.keyboard.press("?")
    desk.page.click("#keys-on")
    desk.page.keyboard.press("Escape")
    desk.press("1")
    desk.page.click(".choice >> nth=1")
    assert said(desk.wait_for_answers(1)).popitem()[1] == "spam"
    desk.badge("saved")
    assert len(desk.answers()) == 1


def test_a_reload_shows_the_same_question(desk):
    event = desk.question(desk.page)
    desk.page.reload()
    assert desk.sees_question() == event


def test_random_checks_are_blind(serve, visit):
    service = serve(warm=False)
    service.send("a")
    annotator = visit(service)
    annotator.sees_question()
    assert annotator.page.locator(".suggested").count() == 0
    assert annotator.page.locator(".item mark").count() == 0
    assert "%" not in annotator.page.inner_text("#classes")
    annotator.press("Enter")
    assert "choose a class" in annotator.page.inner_text("#last")
    assert annotator.answers() == []


def test_an_empty_queue_says_why_and_fills_by_itself(serve, visit):
    service = serve(warm=False)
    annotator = visit(service)
    annotator.page.wait_for_selector("text=No events yet")
    service.send("a")
    assert annotator.sees_question() == "a"
    annotator.press("1")
    annotator.page.wait_for_selector("text=All caught up")


def test_twelve_classes_have_a_key_each_and_can_be_found(serve, visit):
    from tests.live.pages.content import TWELVE

    service = serve(classes=TWELVE, warm=False)
    service.send(*(f"e{place}" for place in range(40)))
    annotator = visit(service)
    classes = TWELVE
    expected = {}
    for key, place in (("9", 8), ("a", 9), ("C", 11)):
        expected[annotator.sees_question()] = classes[place]
        annotator.press(key)
    expected[annotator.sees_question()] = "fraud"
    annotator.page.keyboard.press("/")
    annotator.page.keyboard.type("frau")
    annotator.page.keyboard.press("Enter")
    annotator.wait_for_answers(4)
    assert said(annotator.answers()) == expected


def test_a_label_only_person_logs_in_and_an_ended_session_keeps_the_answers(serve, visit):
    service = serve()
    service.send("a", "b", "c")
    secrets = service.tokens(ana="label")
    annotator = visit(service)
    page = annotator.page
    assert page.url.endswith("/login?next=/label")
    page.fill("#token", "wrong")
    page.press("#token", "Enter")
    page.wait_for_selector("[role=alert]")
    page.fill("#token", secrets["ana"])
    page.press("#token", "Enter")
    event = annotator.sees_question()
    annotator.context.clear_cookies()
    annotator.press("1")
    annotator.badge("log in again · 1 kept")
    page.click("#badge")
    page.fill("#token", secrets["ana"])
    page.press("#token", "Enter")
    annotator.sees_question()
    service.log_in(secrets["ana"])
    answers = annotator.wait_for_answers(1)
    annotator.badge("saved")
    assert [(answer["event"], answer["label"], answer["annotator"]) for answer in answers] == [(event, "ham", "ana")]


def test_the_next_question_stands_there_in_the_next_frame_whatever_the_network_does(desk):
    desk.page.evaluate("""() => {
        window.drawn = [];
        document.addEventListener("keydown", () => {
            const before = document.querySelector("#stage .item");
            requestAnimationFrame(() => {
                const next = document.querySelector("#stage .item");
                drawn.push(Boolean(next && next !== before));
            });
        }, true);
    }""")
    hold = Hold()
    desk.network.meet_always("", hold)
    for _ in range(3):  # as many as are fetched ahead
        desk.press("1")
    desk.page.wait_for_function("() => drawn.length === 3")
    assert desk.page.evaluate("drawn") == [True, True, True]
    assert hold.is_holding.wait(PATIENCE)
    desk.badge("3 waiting")
    assert desk.answers() == []
    desk.network.clear()
    hold.is_released.set()
    desk.badge("saved")
    desk.wait_for_answers(3)
