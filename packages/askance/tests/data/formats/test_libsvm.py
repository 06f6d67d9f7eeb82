"""LIBSVM files: every form of line, every kind of damage, any division into pieces."""

import io
import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.formats import slow
from tests.real_data import load

from askance.data import open_stream
from askance.data.formats import buffer
from askance.data.missing import is_missing
from askance.errors import BadLine, InvalidInput


def read(content, **options):
    return open_stream(io.BytesIO(content), format="libsvm", **({"raw": True} | options))


def rows_of(content, **options):
    return slow.played(read(content, **options))


def test_a_line_is_a_label_and_features():
    rows, labels = rows_of(b"+1 1:0.5 3:-2e1\n-1 2:1\n")
    assert rows == [{0: 0.5, 2: -20.0}, {1: 1.0}]
    assert labels == [1, -1]


def test_comments_blank_lines_and_query_ids_are_left_out():
    rows, labels = rows_of(b"# head\n\n 1 qid:7 1:1 2:2 # tail 3:3\n   \n\t2\t2:5\t#x\n3 # no features\n")
    assert rows == [{0: 1.0, 1: 2.0}, {1: 5.0}, {}]
    assert labels == [1, 2, 3]


def test_unsorted_indices_are_sorted_and_repeated_ones_added():
    rows, _ = rows_of(b"1 5:1 2:2 5:3 1:4\n0 3:1 3:-1\n")
    assert rows == [{0: 4.0, 1: 2.0, 4: 4.0}, {}]


def test_a_long_unsorted_row_is_sorted():
    order = np.random.default_rng(0).permutation(5000)
    text = "1 " + " ".join(f"{index + 1}:{index + 0.5}" for index in order) + "\n"
    rows, _ = rows_of(text.encode())
    assert rows == [{index: index + 0.5 for index in range(5000)}]


def test_numbers_that_only_their_last_digits_decide_are_rounded_rightly():
    text = "9007199254740993.0000000000000000000000001"  # just above the middle of two floats
    content = f"1 1:{text} 2:1\n0 2:{text} 1:-{text}\n".encode()
    assert rows_of(content)[0] == [{0: float(text), 1: 1.0}, {0: -float(text), 1: float(text)}]
    many = b"1" + b"".join(b" %d:%s" % (k, text.encode()) for k in range(1, 70_000)) + b"\n"
    assert set(rows_of(many)[0][0].values()) == {float(text)}


def test_zeros_are_left_out_but_count_for_the_width():
    batch = next(iter(read(b"1 1:1 7:0\n")))
    assert batch.X.shape == (1, 7)
    assert batch.X.nnz == 1


def test_an_index_of_zero_among_the_first_rows_means_that_counting_begins_there():
    assert rows_of(b"1 0:1 2:1\n0 1:1\n")[0] == [{0: 1.0, 2: 1.0}, {1: 1.0}]
    assert rows_of(b"1 1:1\n0 2:1\n", zero_based=True)[0] == [{1: 1.0}, {2: 1.0}]


def test_a_late_index_of_zero_is_refused_with_the_way_out():
    content = b"1 1:1\n" * 2000 + b"0 0:1\n"
    with pytest.raises(BadLine, match="line 2001 of 'stream', column 3: .* zero_based=True"):
        rows_of(content)


@pytest.mark.parametrize(
    ("content", "kind", "labels"),
    [
        (b"1 1:1\n-1 1:1\n", "i", [1, -1]),
        (b"1.0 1:1\n0.0 1:1\n", "i", [1, 0]),
        (b"0.5 1:1\n1 1:1\n", "f", [0.5, 1.0]),
        (b"spam 1:1\nham 1:1\n", "U", ["spam", "ham"]),
        (b"1 1:1\nham 1:1\n", "U", ["1", "ham"]),
        (
            b"12345678901234567890 1:1\n12345678901234567891 1:1\n",
            "U",
            ["12345678901234567890", "12345678901234567891"],
        ),
    ],
)
def test_labels_are_whole_numbers_numbers_or_text(content, kind, labels):
    batch = next(iter(read(content)))
    assert batch.y.dtype.kind == kind
    assert batch.y.tolist() == labels


def test_labels_can_be_read_as_text():
    assert rows_of(b"1 1:1\n0 1:1\n", labels="text")[1] == ["1", "0"]


def test_without_labels_there_are_none_even_if_they_are_written():
    batch = next(iter(read(b"1:1 2:2\n5 1:3\n", label=False)))
    assert batch.y is None
    assert batch.X.toarray().tolist() == [[1, 2], [3, 0]]


def test_more_different_labels_than_expected_find_room():
    content = "".join(f"class{k} 1:1\n" for k in range(3000)).encode()
    assert rows_of(content)[1] == [f"class{k}" for k in range(3000)]


@pytest.mark.parametrize(
    ("line", "column", "reason"),
    [
        (b"1:1 2:2", 1, "begins with the feature '1:1'; a label is missing"),
        (b"1 2", 3, "'2' is no feature; features are written index:value"),
        (b"1 a:2", 3, "'a:2' does not begin with the number of a feature"),
        (b"1 -3:2", 3, "'-3:2' does not begin"),
        (b"1 4294967296:1", 3, "larger than 2,147,483,645"),
        (b"1 1:", 5, "the value '' is not a number"),
        (b"1 1:x", 5, "the value 'x' is not a number"),
        (b"1 1:1x", 5, "the value '1x' is not a number"),
        (b"1 1:0x1F", 5, "the value '0x1F' is not a number"),
        (b"1 1:1_0", 5, "the value '1_0' is not a number"),
        (b"1 1:1,5", 5, "the value '1,5' is not a number"),
        (b"1 1:inf", 5, "'inf' is not finite"),
        (b"1 1:-inf", 5, "'-inf' is not finite"),
        (b"1 1:1e200", 5, "'1e200' is too large (beyond 1e150): sums of its squares overflow"),
        (b"1 1:1e999", 5, "'1e999' is too large"),
        (b"1 1:1 \x00", 7, "does not begin with the number of a feature"),
        (b"\xff\xfe 1:1", 1, "is not UTF-8 text"),
    ],
)
def test_a_bad_line_is_told_with_file_line_column_and_reason(line, column, reason):
    with pytest.raises(BadLine, match=re.escape(reason)) as caught:
        rows_of(b"1 1:1\n" + line + b"\n0 2:1\n")
    error = caught.value
    assert (error.file, error.line, error.column) == ("stream", 2, f"column {column}")
    assert str(error).startswith("line 2 of 'stream', column ")
    assert "\n" not in str(error)


def test_bad_lines_can_be_skipped_and_are_counted():
    stream = read(b"1 1:1\n1 x\n0 2:1\n1 3:inf\n1 2:2", skip_bad_lines=True)
    rows, labels = slow.played(stream)
    assert rows == [{0: 1.0}, {1: 1.0}, {1: 2.0}]
    assert labels == [1, 0, 1]
    assert stream.bad_lines == 2
    assert stream.bad_line_examples[0].startswith("line 2 of 'stream', column 3: 'x' does not begin")


def test_a_label_of_another_kind_than_the_first_ones_is_a_bad_line():
    content = b"1 1:1\n" * 1500 + b"spam 1:1\n" + b"0 1:2\n"
    with pytest.raises(
        BadLine, match="line 1501 .* the label 'spam' is not a whole number as the labels before it are"
    ):
        rows_of(content)
    stream = read(content, skip_bad_lines=True)
    rows, labels = slow.played(stream)
    assert (len(rows), labels[-1], rows[-1], stream.bad_lines) == (1501, 0, {0: 2.0}, 1)


def test_batches_have_the_wanted_number_of_rows_and_grow_in_width():
    batches = list(read(b"1 1:1\n0 2:1\n1 9:1\n", batch_rows=2))
    assert [batch.X.shape for batch in batches] == [(2, 2), (1, 9)]
    assert [batch.first_row for batch in batches] == [0, 2]


def test_a_batch_of_very_long_rows_ends_early():
    row = b"1 " + b" ".join(b"%d:1" % index for index in range(1, 100_001)) + b"\n"
    sizes = [batch.X.shape[0] for batch in read(row * 60, batch_rows=8192)]
    assert sum(sizes) == 60
    assert max(sizes) <= 22


def test_an_empty_file_has_no_batches():
    assert list(read(b"")) == []
    assert list(read(b"# nothing\n\n")) == []


def test_a_line_that_is_too_long_is_a_bad_line(monkeypatch):
    slow.use_pieces(monkeypatch, 64)
    monkeypatch.setattr(buffer, "LONGEST_LINE", 512)
    content = b"1 1:1\n" + b"1" + b" 2:1" * 1000 + b"\n0 3:1\n"
    with pytest.raises(BadLine, match="line 2 .* longer than"):
        rows_of(content)
    stream = read(content, skip_bad_lines=True)
    assert slow.played(stream)[0] == [{0: 1.0}, {2: 1.0}]
    assert stream.bad_lines == 1


def test_utf16_is_refused_in_one_sentence():
    with pytest.raises(InvalidInput, match="UTF-16 text; say so, --encoding utf-16"):
        read("1 1:1\n".encode("utf-16"))


def test_sparse_rows_get_unit_length_and_tables_are_standardised():
    indicators = b"1 1:1 2:1 3:1 4:1\n0 9:1\n"
    assert rows_of(indicators, raw=False)[0] == [{0: 0.5, 1: 0.5, 2: 0.5, 3: 0.5}, {8: 1.0}]
    table = b"1 1:10 2:1\n0 1:20\n1 1:30 2:2\n"
    rows, _ = rows_of(table, raw=False)
    first, second = [10.0, 20.0, 30.0], [1.0, 0.0, 2.0]
    for t, row in enumerate(rows):
        for column, values in enumerate((first, second)):
            seen = np.array(values[: t + 1])
            z = (seen[-1] - seen.mean()) / seen.std() if seen.std() else 0.0
            assert row.get(column, 0.0) == pytest.approx(z)


def test_a_real_file_comes_back_as_it_was_written(tmp_path):
    X, y = load("w8a")
    X, y = X[:3000], y[:3000]
    path = tmp_path / "w8a.libsvm"
    with path.open("w") as file:
        for row, label in enumerate(y):
            entries = zip(X[row].indices.tolist(), X[row].data.tolist(), strict=True)
            file.write(f"{label} {' '.join(f'{column + 1}:{value!r}' for column, value in entries)}\n")
    batches = list(open_stream(path, raw=True, batch_rows=700))
    read_X = sp.vstack([sp.csr_matrix((b.X.data, b.X.indices, b.X.indptr), (b.X.shape[0], 300)) for b in batches])
    assert (read_X != X).nnz == 0
    assert np.concatenate([batch.y for batch in batches]).tolist() == y.tolist()


def test_lines_are_counted_rightly_wherever_a_piece_ends(monkeypatch):
    content = b"1 1:1\r\n0 2:1 # x\r1 3:0.25\n\r\n0 22:2.5\r\n1 4:1\r\n\r0 1:x\r\n1 5:1\r\n0 y\r\n"
    bad = [line[0] for line in slow.libsvm(content) if line[1] == slow.BAD]
    for piece in range(16, 90):
        slow.use_pieces(monkeypatch, piece)
        stream = read(content, skip_bad_lines=True)
        assert len(slow.played(stream)[0]) == 6
        assert [f"line {line} " in example for line, example in zip(bad, stream.bad_line_examples, strict=True)] == [
            True
        ] * 2


# --- fuzzing ---------------------------------------------------------------------------------------------

labels = st.sampled_from(["1", "-1", "+1", "0.5", "spam", "ä", "1.0", "a,b"])
features = st.tuples(st.one_of(st.integers(0, 30), st.integers(0, 2**31)), slow.numbers_as_text()).map(
    lambda pair: f"{pair[0]}:{pair[1]}"
)
lines = st.builds(
    lambda label, tokens, blank, tail: blank.join([label, *tokens]) + tail,
    labels,
    st.lists(st.one_of(features, features, features, st.just("qid:3")), max_size=6),
    st.sampled_from([" ", "  ", "\t"]),
    st.sampled_from(["", " ", " # comment 1:1", "#"]),
)
files = st.lists(st.one_of(lines, lines, st.sampled_from(["", "#", "# x:y"])), max_size=12).map(
    lambda found: "\n".join(found).encode()
)


@settings(max_examples=300, deadline=None)
@given(content=slow.spoiled(files), zero_based=st.booleans(), piece=st.sampled_from([16, 40, 1 << 20]))
def test_any_file_is_read_as_a_slow_reader_reads_it(content, zero_based, piece):
    if slow.is_no_text(content):
        return
    expected = list(slow.libsvm(content, 0 if zero_based else 1))
    good = [line for line in expected if line[1] != slow.BAD]
    bad = [line[0] for line in expected if line[1] == slow.BAD]
    with pytest.MonkeyPatch.context() as patch:
        slow.use_pieces(patch, piece)
        stream = read(content, zero_based=zero_based, labels="text", skip_bad_lines=True, batch_rows=3)
        rows, found = slow.played(stream)
        assert found == [None if is_missing(line[1]) else line[1] for line in good]
        assert rows == [line[2] for line in good]
        assert stream.bad_lines == len(bad)
        strict = read(content, zero_based=zero_based, labels="text")
        if bad:
            with pytest.raises(BadLine) as caught:
                slow.played(strict)
            assert caught.value.line == bad[0]
        else:
            assert slow.played(strict) == (rows, found)


@settings(max_examples=100, deadline=None)
@given(content=st.binary(max_size=300))
def test_junk_is_an_error_in_one_sentence_or_rows(content):
    with slow.clear_errors():
        slow.played(open_stream(io.BytesIO(content), format="libsvm"))
