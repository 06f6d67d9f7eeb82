"""Fields that are links or images: the settings, and what a browser is told of the hosts."""

import pytest

from askance.errors import InvalidParameter
from askance.live.config import from_document
from askance.live.display import Display
from askance.live.service import security_headers


def read(**display):
    return from_document({"classes": ["ham", "spam"], "display": display}).display


def test_nothing_is_a_link_or_an_image_unless_it_is_said():
    assert read() == Display()
    found = read(links=["url"], images=["photo"], image_hosts=["https://Images.example.org:8443", "http://10.0.0.1"])
    assert found.document() == {
        "links": ("url",),
        "images": ("photo",),
        "hosts": ["https://images.example.org:8443", "http://10.0.0.1"],
    }


@pytest.mark.parametrize(
    ("display", "sentence"),
    [
        ({"pictures": []}, "there is no setting display.pictures; there are: image_hosts, images, links."),
        ({"links": "url"}, "display.links must be a list of texts, got 'url'."),
        ({"links": ["url", 3]}, "display.links must be a list of texts"),
        ({"images": ["photo"]}, "display.images needs display.image_hosts"),
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
    with pytest.raises(InvalidParameter, match="display.image_hosts must name hosts such as"):
        read(images=["photo"], image_hosts=[host])


def test_the_policy_names_the_hosts_for_images_and_for_nothing_else():
    def policy(*hosts):
        text = dict(security_headers(hosts))[b"content-security-policy"].decode()
        return dict(part.strip().split(" ", 1) for part in text.split(";"))

    plain, more = policy(), policy("https://images.example.org")
    assert plain["img-src"] == "'self' data:"
    assert more == {**plain, "img-src": "'self' data: https://images.example.org"}
