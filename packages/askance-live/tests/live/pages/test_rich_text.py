"""Rich text in events: a few marks become elements; HTML is text."""

import pytest
from tests.live.pages.content import HOSTILE
from tests.live.pages.test_accessibility import violations_of
from tests.live.pages.test_hostile import check

pytestmark = pytest.mark.hostile

BODY = """The lamp **has not arrived**, and *nobody* answers at `+49 30 1234`.
Order 7*7*7 of snake_case, ** not bold **.

- see https://example.org/a?b=1&c=<x>.
 - **and** `**this**`
End"""


@pytest.fixture
def show(serve, visit):
    """Show one event whose text is rich."""

    def start(text):
        service = serve(display={"rich_text": ["text"]})
        service.post("/v1/events", [{"id": "a", "fields": {"text": text, "plain": "**as it is**"}}])
        annotator = visit(service)
        annotator.sees_question()
        return annotator

    return start


def test_a_few_marks_become_elements(show):
    page = show(BODY).page
    body = page.locator("#stage .text")
    shown = body.evaluate("""(body) => {
        for (const mark of body.querySelectorAll("mark")) mark.replaceWith(...mark.childNodes);
        for (const part of body.querySelectorAll("*")) {
            for (const attribute of [...part.attributes]) part.removeAttribute(attribute.name);
        }
        return body.innerHTML;
    }""")
    assert shown == (
        "<p>The lamp <strong>has not arrived</strong>, and <em>nobody</em> answers at <code>+49 30 1234</code>.<br>"
        "Order 7*7*7 of snake_case, ** not bold **.</p>"
        "<ul><li>see <a>https://example.org/a?b=1&amp;c=</a>&lt;x&gt;.</li>"
        "<li><strong>and</strong> <code>**this**</code></li></ul><p>End</p>"
    )
    assert "**as it is**" in page.inner_text("#stage .fields")
    assert violations_of(page) == []


def test_html_in_it_is_text(show):
    marked = [f"{mark}{text}{mark}" for text in HOSTILE for mark in ("", "*", "**", "`")]
    annotator = show("\n".join([*marked, *(f"- {text} https://example.org/{text}" for text in HOSTILE)]))
    shown = annotator.page.inner_text("#stage .text")
    assert all(text in shown for text in HOSTILE if text.isprintable() and "*" not in text)
    assert annotator.page.locator("#stage .text a:not([href^='https://example.org/'])").count() == 0
    check(annotator)
