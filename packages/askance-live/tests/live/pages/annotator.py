"""Somebody at a browser."""

from tests.live.pages.network import Network
from tests.patience import PATIENCE, wait_until

WATCH = """
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));
    window.shown = [];
    new MutationObserver(() => {
        const item = document.querySelector("#stage .item");
        const name = item && item.getAttribute("aria-label").replace("Question about event ", "");
        if (name && shown.at(-1) !== name) shown.push(name);
    }).observe(document, { childList: true, subtree: true });
"""
HARMLESS = ("Failed to load resource", "net::ERR_INTERNET_DISCONNECTED")


class Annotator:
    """A browser's context with its pages; ``troubles`` collects dialogs, errors and forbidden content.

    ``place`` is a service, or a network between the browser and a service.
    """

    def __init__(self, context, place):
        self.context, self.url = context, place.url
        self.network = place if isinstance(place, Network) else None
        self.service = place.service if self.network else place
        self.troubles, self.requests = [], []
        context.set_default_timeout(1000 * PATIENCE)
        context.add_init_script(WATCH)
        context.on("request", lambda request: self.requests.append(request.url))
        context.on("dialog", self._dialog)
        context.on("weberror", lambda error: self.troubles.append(f"error: {error.error}"))
        context.on("console", self._console)

    def _dialog(self, dialog):
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _console(self, message):
        if message.type in ("error", "warning") and not any(word in message.text for word in HARMLESS):
            self.troubles.append(f"console: {message.text}")

    def open(self, path="/label"):
        """Another tab."""
        self.page = self.context.new_page()
        self.page.goto(self.url + path)
        return self.page

    def sees_question(self, page=None):
        page = page or self.page
        page.wait_for_selector("#stage .item")
        page.wait_for_timeout(100)  # no one reads faster, and the page ignores keys that come sooner
        return self.question(page)

    @staticmethod
    def question(page):
        return page.get_attribute("#stage .item", "aria-label").removeprefix("Question about event ")

    def press(self, key, page=None):
        """A key, after a look at the question."""
        page = page or self.page
        page.wait_for_timeout(100)
        page.keyboard.press(key)

    def badge(self, words, page=None):
        """Wait until the badge says this."""
        (page or self.page).wait_for_function(
            "words => document.getElementById('badge').textContent.includes(words)", arg=words
        )

    def answers(self):
        """What the service has, newest first; without the labels by which the test began."""
        found = self.service.get("/v1/answers?mine=1&limit=200").json()["answers"]
        return [answer for answer in found if answer["kind"] != "label"]

    def wait_for_answers(self, n):
        wait_until(lambda: self.page.wait_for_timeout(1) or len(self.answers()) >= n, f"answer {n}")
        found = self.answers()
        assert len(found) == n, found
        return found
