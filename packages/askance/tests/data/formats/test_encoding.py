"""Text in another encoding than UTF-8 is converted on the way, and gives the same rows."""

import io

import numpy as np
import pytest

from askance.data import open_stream
from askance.errors import InvalidInput, InvalidParameter

TEXTS = {
    "csv": "größe,stadt,label\n" + "1,Zürich,ä\n2,Genève,b\n" * 40,
    "jsonl": '{"größe": 1, "stadt": "Zürich", "label": "ä"}\n{"größe": 2, "stadt": "Genève", "label": "b"}\n' * 40,
}


def rows_of(content, **options):
    with open_stream(io.BytesIO(content), **options) as stream:
        batches = list(stream)
        return np.vstack([batch.X.toarray() for batch in batches]), np.concatenate([batch.y for batch in batches])


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("format", TEXTS)
def test_the_same_text_in_any_encoding_gives_the_same_rows(format, encoding):
    X, y = rows_of(TEXTS[format].encode(), format=format, hash_bits=8)
    other_X, other_y = rows_of(TEXTS[format].encode(encoding), format=format, hash_bits=8, encoding=encoding)
    np.testing.assert_array_equal(X, other_X)
    assert y.tolist() == other_y.tolist()


def test_characters_are_not_torn_where_a_piece_ends(monkeypatch):
    monkeypatch.setattr("askance.data.formats.source.PIECE", 3)
    _, y = rows_of(TEXTS["csv"].encode("utf-16"), encoding="utf-16", format="csv")
    assert set(y.tolist()) == {"ä", "b"}


def test_what_is_not_in_the_encoding_is_said_with_its_line():
    with pytest.raises(InvalidInput, match="is no ascii text: see line 1 and"):
        rows_of(TEXTS["csv"].encode("latin-1"), encoding="ascii", format="csv")
    with pytest.raises(InvalidParameter, match="there is no encoding 'klingon'"):
        rows_of(b"", encoding="klingon")
    with pytest.raises(InvalidParameter, match="encoding means nothing for npz"):
        rows_of(b"PK\x03\x04", encoding="latin-1", format="npz")
