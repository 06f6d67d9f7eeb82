"""Fields that are links, images, sound or rich text: the settings, and what a browser is told of the hosts."""

import pytest

from askance.errors import InvalidParameter
from askance_live.config import from_document
from askance_live.display import FETCHED, Display
from askance_live.service import security_headers


def read(**display):
    return from_document({"classes": ["ham", "spam"], "display": display}).display


def test_a_field_is_text_unless_something_else_is_said():
    assert read() == Display()
    hosts = ["https://Images.example.org:8443", "http://10.0.0.1"]
    found = read(links=["url"], images=["photo"], image_hosts=hosts, audio=["call"], audio_hosts=hosts[:1])
    assert found.document() == {
        "links": ("url",),
        "images": ("photo",),
        "image_hosts": ["https://images.example.org:8443", "http://10.0.0.1"],
        "audio": ("call",),
        "audio_hosts": ["https://images.example.org:8443"],
        "rich_text": (),
    }


@pytest.mark.parametrize(
    ("display", "sentence"),
    [
        ({"pictures": []}, "there is no setting display.pictures; there are: audio, audio_hosts, image_hosts,"),
        ({"links": "url"}, "display.links must be a list of texts, got 'url'."),
        ({"links": ["url", 3]}, "display.links must be a list of texts"),
        ({"images": ["photo"]}, "display.images needs display.image_hosts"),
        ({"audio": ["call"], "image_hosts": ["https://a.org"]}, "display.audio needs display.audio_hosts"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(display, sentence):
    with pytest.raises(InvalidParameter, match=sentence):
        read(**display)


@pytest.mark.parametrize(
    "host",
    ["images.example.org", "https://*", "https://*.example.org", "https://example.org/", "https://example.org/a", "*",
     "https://a;script-src *", "https://a b", "data:", "javascript:x", "https://", "https://user@example.org", "'self'",
     "https://a\nb", "https://-a"],
)  # fmt: skip
def test_only_whole_hosts_get_into_the_policy(host):
    for kind, hosts in FETCHED.items():
        with pytest.raises(InvalidParameter, match=f"display.{hosts} must name hosts such as"):
            read(**{kind: ["field"], hosts: [host]})


def test_the_policy_names_the_hosts_for_what_they_are_and_for_nothing_else():
    def policy(**display):
        text = dict(security_headers(Display(**display)))[b"content-security-policy"].decode()
        return dict(part.strip().split(" ", 1) for part in text.split(";"))

    plain = policy()
    assert (plain["img-src"], plain["media-src"]) == ("'self' data:", "'none'")
    more = policy(image_hosts=("https://images.example.org",))
    assert more == {**plain, "img-src": "'self' data: https://images.example.org"}
    more = policy(audio_hosts=("https://audio.example.org", "http://10.0.0.1"))
    assert more == {**plain, "media-src": "https://audio.example.org http://10.0.0.1"}
