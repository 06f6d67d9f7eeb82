"""The piece of a file in hand."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.formats import slow

from askance.data.formats import buffer
from askance.data.formats.buffer import Buffer, format_token
from askance.data.formats.source import Input
from askance.errors import BadLine, InvalidInput

texts = st.lists(st.sampled_from([b"a", b"bb" * 20, b"", b"\n", b"\r", b"\r\n"]), max_size=30).map(b"".join)


def open_buffer(content):
    return Buffer(Input(io.BytesIO(content), "x"))


@settings(max_examples=300, deadline=None)
@given(content=texts, piece=st.sampled_from([16, 24, 1 << 20]))
def test_lines_end_in_three_ways_wherever_pieces_end(content, piece):
    with pytest.MonkeyPatch.context() as patch:
        slow.use_pieces(patch, piece)
        expected = list(enumerate(slow.lines(content), 1))
        assert list(open_buffer(content).lines()) == expected
        taken, one_by_one = open_buffer(content), []
        while (line := taken.take_line()) is not None:
            one_by_one.append(line)
        assert one_by_one == [line for _, line in expected]
        assert taken.line == len(expected) + 1
        skipped = open_buffer(content)
        for _ in expected:
            skipped.skip_line()
        assert (skipped.line, skipped.take_line()) == (len(expected) + 1, None)


@settings(max_examples=200, deadline=None)
@given(content=texts, piece=st.sampled_from([16, 1 << 20]), n=st.integers(1, 6))
def test_looking_at_the_first_lines_reads_nothing_away(content, piece, n):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buffer, "PIECE", piece)
        looked_at = open_buffer(content)
        held = looked_at.first_lines(n)
        assert slow.lines(held) == slow.lines(content)[:n]
        assert [line for _, line in looked_at.lines()] == slow.lines(content)


def test_lines_are_skipped_wherever_a_piece_ends(monkeypatch):
    content = b"first line\r\nsecond, a longer line\r\n\r\nfourth\rfifth line here\r\nlast"
    for piece in range(16, 80):
        slow.use_pieces(monkeypatch, piece)
        for n in range(6):
            skipped = open_buffer(content)
            for _ in range(n):
                skipped.skip_line()
            assert (skipped.line, skipped.take_line()) == (n + 1, slow.lines(content)[n])


def test_only_some_megabytes_are_looked_at(monkeypatch):
    monkeypatch.setattr(buffer, "SAMPLE", 100)
    monkeypatch.setattr(buffer, "SAMPLE_LINES", 12)
    content = b"0123456789\n" * 1000
    assert len(open_buffer(content).first_lines(1000)) < 200
    assert open_buffer(b"x" * 5000 + b"\ny\n").first_lines(2) == b"x" * 5000 + b"\ny\n"
    assert open_buffer(b"x" * 5000 + b"\n" + b"y\n" * 50).first_lines(50) == b"x" * 5000 + b"\n" + b"y\n" * 11


def test_looking_at_the_first_lines_takes_no_more_memory_than_the_longest_line_may(monkeypatch):
    monkeypatch.setattr(buffer, "SAMPLE", 100)
    monkeypatch.setattr(buffer, "PIECE", 100)
    monkeypatch.setattr(buffer, "LONGEST_LINE", 1000)
    assert len(open_buffer((b"x" * 300 + b"\n") * 50).first_lines(50)) == 3 * 301


def test_a_byte_order_mark_is_left_out_at_the_beginning_only():
    mark = b"\xef\xbb\xbf"
    assert [line for _, line in open_buffer(mark + b"a\n" + mark + b"b").lines()] == [b"a", mark + b"b"]
    assert list(open_buffer(mark).lines()) == []
    with pytest.raises(InvalidInput, match="UTF-16"):
        open_buffer(b"\xfe\xff\x00a")


def test_lines_that_are_too_long_are_told_and_passed_over(monkeypatch):
    slow.use_pieces(monkeypatch, 32)
    monkeypatch.setattr(buffer, "LONGEST_LINE", 128)
    found = list(open_buffer(b"a\n" + b"x" * 1000 + b"\r\nb\n" + b"y" * 500).lines())
    assert [number for number, _ in found] == [1, 2, 3, 4]
    assert [found[0][1], found[2][1]] == [b"a", b"b"]
    assert isinstance(found[1][1], BadLine)


def test_pieces_of_lines_are_shown_on_one_line():
    assert format_token(b"abc\n\xff") == r"'abc\n\\xff'"
    assert len(format_token(b"x" * 1000)) < 50
