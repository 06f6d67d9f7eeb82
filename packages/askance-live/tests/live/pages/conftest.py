"""A browser, and services that ask about everything."""

import json
import re
import shutil

import pytest
from tests.live.pages.annotator import Annotator
from tests.live.pages.network import Network
from tests.live.running import Running

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first is Chromium without its own windows, menus and settings: a page opens in a fifth of the processor time."""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="package")
def browser():
    """For these tests alone: as long as it is open, playwright keeps an event loop running in this thread, in which no
    other test could start one of its own."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install --group test"
    )
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("no Chromium is installed here")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def serve(tmp_path, nursery):
    """Start a service that has seen every class and now asks about every event, with a suggestion."""
    made = []

    def start(classes=("ham", "spam"), title="Test", warm=True, **options):
        folder = tmp_path / f"service-{len(made)}"
        folder.mkdir()
        sections = {
            "asking": {"audit": 0.0, "rate": 1.0},
            "model": {"algorithm": "SOL-diag" if len(classes) == 2 else "MDA"},
            "queue": {"learn_after": 0.2},
            **options,
        }
        service = Running(folder, nursery=nursery, **sections)
        lines = f"title = {json.dumps(title)}\nclasses = {json.dumps(list(classes))}"
        service.text = re.sub(r'title = "Test"\nclasses = .*', lambda _: lines, service.text)
        made.append(service)
        service.create().start()
        if warm:
            events = [{"id": f"seed-{place}", "fields": {"text": f"seed {place}"}} for place in range(len(classes))]
            assert service.post("/v1/events", events).status_code == 200
            labels = [{"event": f"seed-{place}", "label": label} for place, label in enumerate(classes)]
            assert service.post("/v1/labels", labels).status_code == 200
            service.wait_until_learned(len(classes))
        return service

    yield start
    for service in made:
        if service.process is not None and service.process.poll() is None:
            service.kill()


@pytest.fixture
def visit(browser):
    """Open a browser of one's own at a service, or at a network that leads there; whatever goes wrong in its pages
    fails the test."""
    opened = []

    def start(place, path="/label", **options):
        options = {"viewport": {"width": 1280, "height": 800}, **options}
        annotator = Annotator(browser.new_context(**options), place)
        opened.append(annotator)
        annotator.open(path)
        return annotator

    yield start
    for annotator in opened:
        annotator.context.close()
    assert [trouble for annotator in opened for trouble in annotator.troubles] == []


@pytest.fixture
def connect():
    """Make networks that lead to services."""
    made = []

    def start(service):
        made.append(Network(service))
        return made[-1]

    yield start
    for network in made:
        network.close()
