"""Text in other encodings than UTF-8, which is what all readers read: it is converted on the way."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from askance.data.formats.source import Conversion, Input
from askance.errors import InvalidInput, InvalidParameter

PIECE = 1 << 16  # bytes
NOT_UTF8 = "it is not UTF-8 text; if it has another encoding, say which, such as --encoding latin-1."


def recode(encoding: str) -> Conversion:
    """The conversion of files from this encoding to UTF-8.

    >>> import io
    >>> b"".join(recode("latin-1")(Input(io.BytesIO(b"gr\\xf6\\xdfe"), "example"))).decode()
    'größe'
    """
    try:
        decoder = codecs.getincrementaldecoder(encoding)
        is_text = isinstance(decoder().decode(b"", True), str)
    except (LookupError, TypeError):
        is_text = False
    if not is_text:
        raise InvalidParameter(
            f"there is no encoding {encoding!r}; known are such as utf-8, latin-1, cp1252 and utf-16."
        )

    def convert(part: Input) -> Iterator[bytes]:
        text, line = decoder(), 1
        while True:
            piece = part.read(PIECE)
            try:
                decoded = text.decode(piece, not piece)
            except UnicodeError:
                raise InvalidInput(
                    f"{part.name!r} is no {encoding} text: see line {line} and those after it."
                ) from None
            line += decoded.count("\n")
            if decoded:
                yield decoded.encode("utf-8", "surrogatepass")
            if not piece:
                return

    return convert
