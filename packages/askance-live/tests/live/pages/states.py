"""Every page in every state it can be in, for checks that hold for all of them.

A walk starts a service, leads one browser from state to state, and yields the page with a name for each state.
"""

from tests.live.pages.content import TWELVE, hard_events

LONG_WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
LONG_CLASSES = [*TWELVE[:10], LONG_WORD, TWELVE[11]]
TITLE = "Support mail of a company with a long name"
HOSTILE_NAMES = (
    "<img src=/stolen onerror=alert(1)>",
    '"><script>alert(2)</script>',
    "' onclick=alert(3) x='",
    "{{7*7}}",
)
PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}


def open_shop(serve, classes=LONG_CLASSES):
    """A service with a model that has learned some words, and events that are hard to show."""
    service = serve(classes=classes, title=TITLE)
    words = ("refund lamp please", "parcel broken prize", "order arrived late")
    known = [{"id": f"known-{place}", "fields": {"text": words[place % 3], "size": place}} for place in range(36)]
    assert service.post("/v1/events", known).status_code == 200
    labels = [{"event": event["id"], "label": classes[place % 3 % len(classes)]} for place, event in enumerate(known)]
    assert service.post("/v1/labels", labels).status_code == 200
    service.wait_until_learned(len(classes) + len(known))
    events = [{"id": f"hard-{place}", "fields": fields} for place, fields in enumerate(hard_events())]
    assert service.post("/v1/events", events).status_code == 200
    return service


def log_in(service, visit, path, **options):
    """Somebody who may do everything, at a page."""
    secret = service.tokens(ana="label read admin")["ana"]
    service.log_in(secret)
    annotator = visit(service, path, **options)
    annotator.page.fill("#token", secret)
    annotator.page.press("#token", "Enter")
    annotator.page.wait_for_selector("#app, #tiles")
    return annotator


def walk_questions(serve, visit, **options):
    """Every event that is hard to show, readable and raw."""
    annotator = visit(open_shop(serve), **options)
    page = annotator.page
    for _ in hard_events():
        event = annotator.sees_question()
        yield page, f"question {event}"
        page.click("[data-act=raw]")
        yield page, f"question {event}, raw"
        page.click("[data-act=later]")


def walk_label_page(serve, visit, **options):
    """From a question to the end of the queue and of the session, with the network and without."""
    annotator = log_in(open_shop(serve), visit, "/label", **options)
    page, service = annotator.page, annotator.service
    annotator.sees_question()
    annotator.badge("saved")
    yield page, "a question with a suggestion"
    page.click("[data-act=comment]")
    yield page, "a note"
    page.keyboard.press("Escape")
    page.click("#open-help")
    yield page, "the help"
    page.keyboard.press("Escape")
    page.click(".choice >> nth=-1")
    annotator.badge("saved")
    annotator.sees_question()
    yield page, "the next question"
    page.click("[data-act=undo]")
    annotator.badge("saved")
    answer_elsewhere(service, annotator.sees_question())
    page.click(".choice >> nth=0")
    page.wait_for_selector("#toast:visible")
    yield page, "a refused answer"
    annotator.sees_question()
    page.click("[data-act=bad_data]")
    annotator.badge("saved")
    open_history(page)
    yield page, "the history"
    page.keyboard.press("Escape")
    annotator.sees_question()
    annotator.context.set_offline(True)
    page.click(".choice >> nth=1")
    annotator.badge("offline · 1 kept")
    yield page, "offline with an answer kept"
    leave_for_later(page)
    yield page, "offline without a question"
    annotator.context.set_offline(False)
    annotator.badge("saved")
    page.wait_for_selector(".empty:has-text('No connection')", state="detached")
    leave_for_later(page)
    yield page, "an empty queue"
    service.send("last")
    annotator.sees_question()
    annotator.context.clear_cookies()
    page.click(".choice >> nth=1")
    annotator.badge("log in again · 1 kept")
    yield page, "an ended session with an answer kept"


def leave_for_later(page):
    """Every question, until none is left."""
    while not page.locator(".empty").count():
        page.wait_for_selector("#stage .item, .empty")
        page.wait_for_timeout(100)  # the page ignores answers that come sooner
        if page.locator("#stage .item").count():
            page.click("[data-act=later]")


def open_history(page):
    """On a wide screen it is open already."""
    if page.locator("#open-history").is_visible():
        page.click("#open-history")
    page.wait_for_selector("#history-list button:visible")


def answer_elsewhere(service, event):
    """The same person gives another answer on another device, so that the next one is refused."""
    (ask,) = (ask for ask in service.next(10) if ask["event"]["id"] == event)
    assert service.answer(ask, LONG_CLASSES[5]).status_code == 200


def walk_dashboard(serve, visit, **options):
    """With charts and a matrix, with all its tables, and while learning is paused."""
    page = log_in(open_shop(serve), visit, "/", **options).page
    page.wait_for_selector(".matrix td")
    page.locator("#live", has_text="live").wait_for()
    yield page, "the dashboard"
    for summary in page.locator("summary").all():
        summary.click()
    page.wait_for_function(
        "() => [...document.querySelectorAll('details')].every((part) => part.querySelector('table'))"
    )
    yield page, "the dashboard with its tables"
    page.click("#pause")
    page.locator("#alert", has_text="Learning is paused").wait_for()
    yield page, "the dashboard while learning is paused"


def walk_simple_pages(serve, visit, **options):
    """Pages that say one thing, and pages with nothing to show yet."""
    service = serve(warm=False, title=TITLE)
    page = visit(service, "/", **options).page
    page.wait_for_selector(".tile")
    yield page, "a dashboard without events"
    page.goto(f"{service.url}/label")
    page.wait_for_selector(".empty")
    yield page, "a label page without events"
    page.goto(f"{service.url}/nowhere/{LONG_WORD * 4}")
    page.wait_for_selector("h1")
    yield page, "an address that does not exist"
    service.tokens(bob="read")
    page.goto(f"{service.url}/login")
    page.wait_for_selector("#token")
    yield page, "the login"
    page.fill("#token", "wrong")
    page.press("#token", "Enter")
    page.wait_for_selector("#error")
    yield page, "the login with a wrong token"


INSTRUCTIONS = {
    "text": "Is this message wanted by whoever got it?\n\nSee https://example.org/policy?a=1&b=2, and mind:\n"
    f"- newsletters that were ordered are wanted\n- {LONG_WORD} is no reason",
    "classes": {
        "ham": {"text": "Written by a person, or ordered.", "examples": ["Lunch at noon?", "line one\nline two"]},
        "spam": {"text": "Everything else.\n\nIn doubt: unsure.", "examples": ["You won <b>a cruise</b> 🎉" * 3]},
    },
}


def walk_instructions(serve, visit, **options):
    """On the first visit, and called for."""
    service = serve(instructions=INSTRUCTIONS, title=TITLE)
    service.send("a")
    page = visit(service, **options).page
    page.wait_for_selector("#instructions[open]")
    yield page, "the instructions on the first visit"
    page.keyboard.press("Escape")
    page.click("#open-help")
    page.check("#by-topic")
    yield page, "the help, with the instructions and similar questions together"
    page.click("#help-instructions")
    page.wait_for_selector("#instructions[open]")
    yield page, "the instructions once more"
    page.keyboard.press("Escape")
    yield page, "a question, with the instructions"


def walk_review(serve, visit, **options):
    """Events found, looked into, chosen; nothing found, and a request that is refused."""
    service = open_shop(serve)
    service.post("/v1/review/note", {"event": "known-3", "text": f"Ask <b>the sender</b> of {LONG_WORD}."})
    service.post("/v1/review/correct", {"events": ["known-4"], "label": LONG_CLASSES[5], "reason": "it is about money"})
    page = visit(service, "/review", **options).page
    page.wait_for_selector("#events .pill")
    yield page, "events to review"
    for summary in page.locator("#events summary").all()[:12]:
        summary.click()
    page.check("#all")
    page.fill("#reason", "they sell watches")
    yield page, "events that are chosen and looked into"
    page.fill("[name=text]", "nothing is like this")
    page.keyboard.press("Enter")
    page.locator("#events", has_text="No event is like this.").wait_for()
    yield page, "nothing found"


def walk_people(serve, visit, **options):
    """From a link to the page of people, with what it says and asks; and links that are over."""
    service = serve(warm=False, title=TITLE)
    link = service.post("/v1/people", {"name": "Ana", "role": "admin", "email": "ana@example.org"}).json()["link"]
    page = visit(service, link.removeprefix(service.url), **options).page
    page.wait_for_selector("button.primary")
    yield page, "an invitation"
    page.click("button.primary")
    page.wait_for_selector(".tile")
    page.goto(f"{service.url}/people")
    page.wait_for_selector(".person")
    yield page, "one person"
    for name in ("Ben", LONG_WORD[:64], *HOSTILE_NAMES):
        page.fill("#name", name)
        page.click("#invite button")
        page.wait_for_function(
            "name => [...document.querySelectorAll('.person h2')].some((found) => found.textContent === name)", arg=name
        )
    yield page, "an invitation that was made"
    page.click("[aria-label='Revoke: Ben']")
    yield page, "the question whether somebody is revoked"
    page.click("#sure [value=yes]")
    page.wait_for_selector("[aria-label='Restore: Ben']")
    page.click("[aria-label='Activity: Ana']")
    page.wait_for_selector("#activity[open]")
    yield page, "what somebody did"
    page.keyboard.press("Escape")
    page.fill("#name", "Ben")
    page.click("#invite button")
    page.wait_for_selector("#problem:visible")
    yield page, "a name that is taken"
    page.goto(link)
    page.wait_for_selector("#error")
    yield page, "a link that was used"


def walk_classes(serve, visit, **options):
    """Classes and fields, what a change would do, and what came of it."""
    service = open_shop(serve, classes=LONG_CLASSES[:3])
    page = visit(service, "/classes", **options).page
    page.wait_for_selector(".person")
    page.wait_for_selector(".field-list select")
    yield page, "the classes"
    page.fill("#label", HOSTILE_NAMES[0])
    page.fill("#name", LONG_WORD)
    page.click("#add button")
    page.wait_for_selector("#sure[open]")
    yield page, "what a new class would do"
    page.click("#sure [value=yes]")
    page.locator("#done", has_text="Changed.").wait_for()
    yield page, "a class that was added"
    page.click(f"[aria-label='Rename: {LONG_CLASSES[0]}']")
    page.wait_for_selector("#rename[open]")
    yield page, "another name"
    page.fill("#new-name", HOSTILE_NAMES[1])
    page.click("#rename [value=yes]")
    page.wait_for_selector("#sure[open]")
    page.click("#sure [value=yes]")
    page.locator(".person h2", has_text=HOSTILE_NAMES[1]).wait_for()
    page.click(f"[aria-label='Retire: {LONG_CLASSES[1]}']")
    page.wait_for_selector("#sure[open]")
    page.click("#sure [value=yes]")
    page.wait_for_selector(f"[aria-label='Restore: {LONG_CLASSES[1]}']")
    yield page, "a class that is retired"
    page.fill("#label", LONG_CLASSES[2])
    page.click("#add button")
    page.wait_for_selector("#problem:visible")
    yield page, "a class that is there already"


WALKS = [
    walk_questions,
    walk_label_page,
    walk_dashboard,
    walk_simple_pages,
    walk_instructions,
    walk_review,
    walk_people,
    walk_classes,
]
