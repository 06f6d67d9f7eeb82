"""Where the strings and items of a JSON text are, by pieces of any size, as a plain reader finds them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askance_live.http import json_structure
from askance_live.http.json_structure import Unbalanced, blank_strings, items_of

pytestmark = pytest.mark.hostile

TEXTS = st.text(st.sampled_from('"\\[]{},: aé\n'), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def plainly_blank(content):
    """Byte by byte."""
    found, is_inside, is_escaped = bytearray(), False, False
    for byte in content:
        if is_escaped:
            is_escaped = False
            found.append(0x20 if is_inside else byte)
        elif byte == 0x5C:
            is_escaped = True
            found.append(0x20 if is_inside else byte)
        elif byte == 0x22:
            is_inside = not is_inside
            found.append(byte)
        else:
            found.append(0x20 if is_inside else byte)
    return bytes(found)


@pytest.fixture(params=[1, 2, 3, 7, 65_536])
def piece(request):
    kept, json_structure.PIECE = json_structure.PIECE, request.param
    yield request.param
    json_structure.PIECE = kept


def test_strings_are_blanked_whatever_the_pieces(piece):
    @settings(max_examples=150, deadline=None)
    @given(st.text(st.sampled_from('"\\a:'), max_size=40).map(str.encode))
    def same(content):
        assert blank_strings(content) == plainly_blank(content)

    same()


def test_an_array_is_divided_into_its_items(piece):
    @settings(max_examples=150, deadline=None)
    @given(st.lists(VALUES, max_size=5), st.sampled_from([None, 1]), st.booleans())
    def same(values, indent, ascii_only):
        content = ("  " + json.dumps(values, indent=indent, ensure_ascii=ascii_only) + "\n").encode()
        start = content.index(b"[")
        assert [json.loads(content[first:last]) for first, last in items_of(content, start)] == values

    same()


@pytest.mark.parametrize("content", [b"[", b"[1", b"[1,", b'["]', b"[[]", b"[1}", b"[1] 2", b"[1]]", b'["\\"]'])
def test_an_array_that_does_not_end_is_told(content):
    with pytest.raises(Unbalanced):
        list(items_of(content, 0))
