"""Similar questions together: a switch of the label page, for this browser."""

from itertools import pairwise

TEXTS = {"lamp": "the lamp has not arrived at all", "prize": "win a prize in our great lottery"}


def turn(page, on):
    page.click("#open-help")
    page.set_checked("#by-topic", on)
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog[open]", state="hidden")


def send_in_turn(service, round_):
    """Four questions of each topic, one of this and one of that."""
    events = [
        {"id": f"{topic}-{round_}{k}", "fields": {"text": f"{text} number {round_}{k}"}}
        for k in range(4)
        for topic, text in TEXTS.items()
    ]
    items = service.post("/v1/events", events).json()["items"]
    assert all(item["asked"] for item in items), items
    return [event["id"] for event in events]


def answer_all(annotator, n):
    order = []
    for _ in range(n):
        order.append(annotator.sees_question())
        annotator.press("1")
    annotator.badge("saved")
    annotator.page.wait_for_selector(".empty")
    return order


def changes(order):
    """How often the topic is another one than before."""
    topics = [name.split("-")[0] for name in order]
    return sum(one != other for one, other in pairwise(topics))


def test_the_switch_brings_topics_together_and_is_kept(serve, visit):
    service = serve(queue={"learn_after": 0.2, "freshness": 1e9})
    annotator = visit(service)
    page = annotator.page
    page.wait_for_selector(".empty")
    turn(page, True)
    sent = send_in_turn(service, 1)
    page.reload()  # it would look by itself, a little later
    order = answer_all(annotator, len(sent))
    assert sorted(order) == sorted(sent)
    assert changes(order) == 1

    assert page.is_checked("#by-topic")
    turn(page, False)
    annotator.requests.clear()
    sent = send_in_turn(service, 2)
    page.reload()
    order = answer_all(annotator, len(sent))
    assert sorted(order) == sorted(sent)
    assert changes(order) > 1
    assert [address for address in annotator.requests if "topic=1" in address] == []
