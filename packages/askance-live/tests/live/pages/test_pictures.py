"""Links, images and sound in events: fetched by the browser, from the hosts of the settings alone."""

import http.server
import io
import threading
import wave
from contextlib import contextmanager

from tests.live.pages.test_accessibility import violations_of

DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cfc0000003010100c9fe92ef"
    "0000000049454e44ae426082"
)


def half_a_second():
    """Of silence, as a file."""
    written = io.BytesIO()
    with wave.open(written, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(8000))
    return written.getvalue()


@contextmanager
def picture_host(content=DOT, kind="image/png"):
    """A site with images, or other things, and what was asked of it."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, self.headers.get("Referer")))
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_images_come_from_named_hosts_and_what_is_no_address_stays_text(serve, visit):
    with picture_host() as (here, asked), picture_host() as (elsewhere, not_asked):
        service = serve(display={"links": ["url"], "images": ["photo", "scan"], "image_hosts": [here]})
        fields = {
            "text": "is this lamp broken, or is it only dirty",
            "photo": f"{here}/lamp.png?size=1",
            "scan": f"{elsewhere}/other.png",
            "url": "javascript:alert(1)",
        }
        more = {"text": "and this one, which has an address", "photo": "lamp.png", "url": f"{elsewhere}/page?a=1&b=<x>"}
        assert service.post("/v1/events", [{"id": "b", "fields": more}]).status_code == 200
        service.post("/v1/events", [{"id": "a", "fields": fields}])
        annotator = visit(service)
        page = annotator.page
        seen = set()
        for _ in range(2):
            event = annotator.sees_question()
            seen.add(event)
            links = page.locator("#stage .item a")
            if event == "a":
                image = page.locator("#stage .picture img")
                page.wait_for_function("() => document.querySelector('#stage .picture img').naturalWidth === 1")
                assert image.count() == 1
                assert image.get_attribute("alt") == "photo of the event"
                assert {link.get_attribute("href") for link in links.all()} == {fields["photo"], fields["scan"]}
                assert "javascript:alert(1)" in page.inner_text("#stage")
            else:
                assert page.locator("#stage img").count() == 0
                assert links.get_attribute("href") == f"{elsewhere}/page?a=1&b=%3Cx%3E"
                assert links.get_attribute("rel") == "noopener noreferrer"
                assert links.inner_text() == more["url"]
            assert violations_of(page) == []
            annotator.press("1")
        assert seen == {"a", "b"}
        assert asked == [("/lamp.png?size=1", None)]  # once, by the browser, without an address of ours
        assert not_asked == []


def test_sound_is_fetched_when_it_is_played_and_from_named_hosts(serve, visit):
    with picture_host(half_a_second(), "audio/wav") as (here, asked), picture_host() as (elsewhere, not_asked):
        service = serve(display={"audio": ["call", "copy"], "audio_hosts": [here]})
        fields = {"text": "is this caller angry?", "call": f"{here}/call.wav", "copy": f"{elsewhere}/call.wav"}
        service.post("/v1/events", [{"id": "a", "fields": fields}])
        annotator = visit(service)
        annotator.sees_question()
        page = annotator.page
        sound = page.locator("#stage audio")
        assert sound.count() == 1
        assert sound.get_attribute("aria-label") == "call of the event"
        links = page.locator("#stage .item a").all()
        assert {link.get_attribute("href") for link in links} == {fields["call"], fields["copy"]}
        assert violations_of(page) == []
        assert asked == []
        sound.focus()
        annotator.press("Space")  # the player's own key, no answer
        page.wait_for_function("() => document.querySelector('#stage audio').ended")
        assert set(asked) == {("/call.wav", None)}
        assert not_asked == []
        assert annotator.answers() == []
        annotator.press("1")  # the keys of classes work from there
        annotator.wait_for_answers(1)
        page.evaluate("address => new Audio(address).play().catch(() => null)", f"{elsewhere}/call.wav")
        page.wait_for_function("() => violations.includes('media-src')")
        assert not_asked == []
        annotator.troubles.clear()  # the browser's words about what it was kept from
