"""Files that are no text at all: one readable sentence, without the bytes themselves."""

import io

import numpy as np
import pytest

from askance.data import open_stream
from askance.data.encoding.kinds import format_names
from askance.errors import AskanceError, InvalidInput, InvalidParameter


@pytest.mark.parametrize("seed", range(20))
def test_what_is_said_of_random_bytes_can_be_read(seed):
    content = np.random.default_rng(seed).integers(0, 256, 3000, np.uint8).tobytes()
    with pytest.raises(AskanceError) as caught:
        for _ in open_stream(io.BytesIO(content), format="csv"):
            pass
    assert str(caught.value).isprintable()
    assert "\ufffd" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_names_in_another_encoding_are_said_to_be_so():
    with pytest.raises(InvalidInput, match="not UTF-8 text: byte 3 of its first line belongs to another encoding"):
        open_stream(io.BytesIO("Größe,label\n1,a\n2,b\n".encode("latin1")), format="csv")


def test_a_bad_first_row_of_a_file_without_names_is_only_a_bad_line():
    content = b"1,\xff\xff,a\n" + b"1,x,a\n2,x,b\n" * 20
    with open_stream(io.BytesIO(content), format="csv", skip_bad_lines=True, header=False) as stream:
        assert sum(batch.X.shape[0] for batch in stream) == 40
    assert stream.bad_lines == 1


def test_names_in_messages_have_nothing_that_moves_a_terminal():
    assert format_names(["a\x1b[31m\x00b", "\u202eevil", "x" * 99]) == f"a?[31m?b, ?evil, {'x' * 27}..."
    with pytest.raises(InvalidParameter, match=r"there are: a\?\[31m, b\.") as caught:
        open_stream(io.BytesIO(b'{"a\\u001b[31m": 1, "b": 2}\n'), format="jsonl", label="nope")
    assert str(caught.value).isprintable()
