"""Five hundred labels by keyboard alone, and the time from each key to the next question."""

import statistics

import pytest

QUESTIONS = 500
WORDS = ("refund lamp please", "parcel broken prize", "order arrived late", "win a cruise today")
WATCH = """() => {
    window.times = [];
    let began = null, last = document.querySelector("#stage .item");
    document.addEventListener("keydown", (event) => { began = event.timeStamp; }, true);
    new MutationObserver(() => {
        const item = document.querySelector("#stage .item");
        if (!item || item === last || began === null) return;
        const from = began;
        [began, last] = [null, item];
        requestAnimationFrame(() => setTimeout(() => times.push(performance.now() - from))); // once it is painted
    }).observe(document.querySelector("#stage"), { childList: true, subtree: true });
}"""


@pytest.mark.prove
@pytest.mark.alone
def test_nothing_but_a_tenth_of_a_second_between_a_key_and_the_next_question(serve, visit, capsys):
    service = serve()
    events = [
        {"id": f"e-{k}", "fields": {"text": f"{WORDS[k % 4]}, number {k} of {7 * k % 13} and {k % 17}", "size": k}}
        for k in range(2 * QUESTIONS)
    ]
    items = service.post("/v1/events", events).json()["items"]
    assert sum(item["asked"] for item in items) > QUESTIONS
    annotator = visit(service)
    page = annotator.page
    annotator.sees_question()
    page.evaluate(WATCH)
    for place in range(QUESTIONS):
        annotator.press(("1", "2", "Enter")[place % 3])
        page.wait_for_function("n => times.length === n", arg=place + 1)
    annotator.badge("saved")
    service.wait_until_learned(2 + QUESTIONS)  # each answered once
    times = sorted(page.evaluate("times"))
    p50, p99 = statistics.median(times), times[int(0.99 * len(times))]
    with capsys.disabled():
        print(
            f"\n{len(times)} labels, from key to question: p50 {p50:.0f} ms, p99 {p99:.0f} ms, most {times[-1]:.0f} ms"
        )
    assert p50 < 100
