"""ARFF files: heads, dense and sparse rows, damage."""

import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.formats import slow

from askance.data import open_stream
from askance.errors import BadLine, InvalidInput

HEAD = """% a comment
@RELATION 'some data'

@attribute size NUMERIC
@attribute 'the colour' {red, 'light blue', "o\\"k"}
@attribute note string
@attribute class {no,yes}
@data
"""


def read(content, **options):
    content = content.encode() if isinstance(content, str) else content
    return open_stream(io.BytesIO(content), **({"raw": True, "format": "arff", "hash_bits": 12} | options))


def rows_of(content, **options):
    return slow.played(read(content, **options))


def colour(value):
    return 1 + slow.column_of("the colour", value, 12)


def test_the_head_declares_the_fields():
    stream = read(HEAD + "1.5,red,'some words to be read',yes\n")
    assert [tuple(field) for field in stream.fields] == [
        ("size", "number"), ("the colour", "category"), ("note", "text"), ("class", "label"),
    ]  # fmt: skip


def test_dense_rows_have_quotes_escapes_comments_and_missing_values():
    rows, labels = rows_of(
        HEAD + "% comment\n1.5, red, ?, yes\n\n?, 'light blue', 'it\\'s', no\n" + '3,"o\\"k",?,?\n',
        features={"note": "ignore"},
    )
    assert rows == [{0: 1.5, colour("red"): 1.0}, {colour("light blue"): 1.0}, {0: 3.0, colour('o"k'): 1.0}]
    assert labels == ["yes", "no", None]


def test_sparse_rows_leave_out_zeros_and_first_values():
    rows, labels = rows_of(HEAD + "{0 1.5, 1 'light blue', 3 yes}\n{}\n{ 0  -2 , 3 no }\n", features={"note": "ignore"})
    assert rows == [{0: 1.5, colour("light blue"): 1.0}, {colour("red"): 1.0}, {0: -2.0, colour("red"): 1.0}]
    assert labels == ["yes", "no", "no"]


def test_dense_and_sparse_rows_of_the_same_data_are_the_same():
    head = "@relation r\n@attribute a real\n@attribute b integer\n@attribute c {x,y}\n@attribute class {0,1}\n@data\n"
    dense = "0,5,y,1\n2.5,0,x,0\n0,0,x,0\n"
    sparse = "{1 5,2 y,3 1}\n{0 2.5}\n{}\n"
    assert rows_of(head + dense) == rows_of(head + sparse)
    assert rows_of(head + dense)[1] == [1, 0, 0]


def test_sparse_rows_of_a_table_are_standardised_as_dense_ones_are():
    head = "@relation r\n@attribute a real\n@attribute b real\n@attribute c {x,y}\n@attribute class {0,1}\n@data\n"
    dense = "3000,0,x,0\n0,?,y,1\n1000,0.5,y,1\n0,0,x,0\n" * 3
    sparse = "{0 3000}\n{1 ?,2 y,3 1}\n{0 1000,1 0.5,2 y,3 1}\n{}\n" * 3
    expected = rows_of(head + dense, raw=False)
    assert max(abs(value) for row in expected[0] for value in row.values()) < 4.0
    assert rows_of(head + sparse, raw=False) == expected


def test_sparse_rows_of_ones_get_unit_length_also_after_a_pause():
    head = "@relation r\n@attribute a real\n@attribute b real\n@attribute class {0,1}\n@data\n"
    first = read(head + "{0 1,1 1}\n", raw=False)
    assert slow.played(first)[0] == [{0: pytest.approx(0.5**0.5), 1: pytest.approx(0.5**0.5)}]
    assert rows_of(head + "{0 3,1 4}\n", raw=False, state=first.state())[0] == [
        {0: pytest.approx(0.6), 1: pytest.approx(0.8)}
    ]
    raw = read(head + "{0 3,1 4}\n", raw=True)
    slow.played(raw)
    assert rows_of(head + "{0 3,1 4}\n", raw=False, state=raw.state())[0] == [{0: 3.0, 1: 4.0}]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1,red,x", "it has 3 cells where 4 are expected"),
        ("x,red,note,yes", "column 1 ('size'): 'x' is not a number"),
        ("1,green,note,yes", "column 2 ('the colour'): 'green' is not one of its declared values"),
        ("1,red,note,maybe", "column 4 ('class'): the label 'maybe' is not one of the declared ones"),
        ("1,'red,note,yes", "a quote is opened and never closed"),
        ("inf,red,note,yes", "'inf' is not finite"),
    ],
)
def test_a_bad_dense_row_is_told(line, reason):
    content = HEAD + "1,red,n,yes\n" * 1500 + line + "\n1,red,n,no\n"
    with pytest.raises(BadLine, match=re.escape(reason)) as caught:
        rows_of(content)
    assert caught.value.line == 1509
    stream = read(content, skip_bad_lines=True)
    assert len(slow.played(stream)[0]) == 1501
    assert stream.bad_lines == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1,red,x,yes", "it is no sparse row as those before it are"),
        ("{0 1", "it is no sparse row"),
        ("{0}", "there is no 'index value' at '0'"),
        ("{0 1 2 3 0}", "attribute 0 ('size'): '1 2 3 0' is not a number"),
        ("{0 x}", "attribute 0 ('size'): 'x' is not a number"),
        ("{9 1}", "there is no attribute 9; 4 are declared, from 0"),
        ("{0 1,0 2}", "attribute 0 occurs twice"),
        ("{1 green}", "'green' is not one of its declared values"),
        ("{3 maybe}", "attribute 3 ('class'): the label 'maybe' is not one of the declared ones"),
    ],
)
def test_a_bad_sparse_row_is_told(line, reason):
    content = HEAD + "{0 1}\n" + line + "\n{0 2}\n"
    with pytest.raises(BadLine, match=re.escape(reason)) as caught:
        rows_of(content)
    assert caught.value.line == 10
    assert len(slow.played(read(content, skip_bad_lines=True))[0]) == 2


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("", "it has no @data line"),
        ("@relation x\n@attribute a real\n", "it has no @data line"),
        ("@data\n", "no attribute was declared"),
        ("hello\n", "'hello' stands before @data"),
        ("@attribute a\n@data\n", "of a type that cannot be read: ''"),
        ("@attribute a relational\n@data\n", "of a type that cannot be read: 'relational'"),
        ("@attribute a {x,y\n@data\n", "are not closed with a brace"),
        ("@attribute a {}\n@data\n", "without values"),
        ("@attribute a {x,,y}\n@data\n", "cannot be read from"),
        ("@attribute a real\n@attribute a real\n@data\n", "is declared twice"),
        ("@attribute 'a real\n@data\n", "declares no attribute that can be read"),
    ],
)
def test_a_bad_head_is_told(head, reason):
    with pytest.raises((BadLine, InvalidInput), match=re.escape(reason)):
        read(head)


def test_files_of_a_folder_must_declare_the_same(tmp_path):
    head = "@relation r\n@attribute a real\n@attribute class {0,1}\n@data\n"
    (tmp_path / "1.arff").write_text(head + "1,0\n")
    (tmp_path / "2.arff").write_text(head + "2,1\n")
    assert slow.played(open_stream(tmp_path, raw=True)) == ([{0: 1.0}, {0: 2.0}], [0, 1])
    (tmp_path / "3.arff").write_text(head.replace("real", "{x}") + "x,1\n")
    with pytest.raises(InvalidInput, match="'3.arff' does not declare the same attributes as '1.arff'"):
        slow.played(open_stream(tmp_path))


# --- fuzzing ---------------------------------------------------------------------------------------------

numbers = st.one_of(slow.numbers_as_text(), st.just("?"))
colours = st.sampled_from(["red", "'light blue'", "?", '"o\\"k"'])
truths = st.sampled_from(["no", "yes", "?"])
NUMBERS_HEAD = (
    b'@relation r\n@attribute a real\n@attribute b {red,\'light blue\',"o\\"k"}\n@attribute class {no,yes}\n@data\n'
)
dense = st.lists(st.tuples(numbers, colours, truths).map(",".join), max_size=6)
sparse = st.lists(
    st.tuples(numbers, colours, truths).map(lambda row: "{{0 {}, 1 {}, 2 {}}}".format(*row)),
    min_size=1,
    max_size=6,
)
bodies = st.one_of(dense, sparse).map(lambda rows: "\n".join(rows).encode())
VALUES = {"red": "red", "'light blue'": "light blue", '"o\\"k"': 'o"k', "?": "?"}


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(st.tuples(numbers, colours, truths), min_size=1, max_size=8),
    piece=st.sampled_from([16, 1 << 20]),
    is_sparse=st.booleans(),
)
def test_whatever_is_written_comes_back(rows, piece, is_sparse):
    form = "{0 %s, 1 %s, 2 %s}" if is_sparse else "%s,%s,%s"
    content = NUMBERS_HEAD + "\n".join(form % row for row in rows).encode()
    with pytest.MonkeyPatch.context() as patch:
        slow.use_pieces(patch, piece)
        found, labels = rows_of(content)
    for row, (number, value, truth), label in zip(found, rows, labels, strict=True):
        expected = {1 + slow.category_column("b", VALUES[value], 12): 1.0}
        if number != "?" and float(number) != 0.0:
            expected[0] = float(number)
        assert row == expected
        assert label == (None if truth == "?" else truth)


@settings(max_examples=300, deadline=None)
@given(content=slow.spoiled(bodies), piece=st.sampled_from([16, 1 << 20]))
def test_spoiled_rows_are_refused_or_right(content, piece):
    """Rows that a plain regular expression can read come out as it reads them; every other line counts as bad."""
    form = r"\s*(%s)\s*,\s*(%s)\s*,\s*(%s)\s*" % ("[^,'\"{}%\0]*?", r"red|'light blue'|\"o\\\"k\"|\?|", "no|yes|\\?|")  # noqa: UP031
    plain = re.compile(form.encode())
    lines = slow.lines(NUMBERS_HEAD + content)[5:]
    readable = [plain.fullmatch(line) for line in lines if line.strip(b" \t")]
    is_dense = not next(
        (line.strip().startswith(b"{") for line in lines if line.strip() and not line.strip().startswith(b"%")), False
    )
    with pytest.MonkeyPatch.context() as patch:
        slow.use_pieces(patch, piece)
        stream = read(NUMBERS_HEAD + content, skip_bad_lines=True)
        found, labels = slow.played(stream)
    if is_dense and all(line is not None for line in readable):
        good = []
        for match in readable:
            number, value, truth = (part.decode("latin-1") for part in match.groups())
            number = number.strip(" \t")
            if number in ("", "?", "NA", "N/A", "null", "NULL", "None") or slow.number(number) is not None:
                good.append((number, value, truth))
        assert len(found) == len(good)
        assert stream.bad_lines == len(readable) - len(good)
        assert [row.get(0, 0.0) for row in found] == [slow.number(number) or 0.0 for number, _, _ in good]
        assert labels == [None if truth in ("", "?") else truth for _, _, truth in good]


@settings(max_examples=150, deadline=None)
@given(
    content=st.one_of(st.binary(max_size=200), slow.spoiled(bodies.map(lambda body: NUMBERS_HEAD + body))),
    skip=st.booleans(),
)
def test_junk_is_an_error_in_one_sentence_or_rows(content, skip):
    with slow.clear_errors():
        slow.played(open_stream(io.BytesIO(content), format="arff", skip_bad_lines=skip, hash_bits=10))


def test_an_attribute_called_id_is_left_out_unless_it_is_declared():
    head = "@relation r\n@attribute id numeric\n@attribute a numeric\n@attribute class {p,q}\n@data\n"
    assert rows_of(head + "1,0.5,p\n2,0.25,q\n") == ([{0: 0.5}, {0: 0.25}], ["p", "q"])
    assert rows_of(head + "1,0.5,p\n2,0.25,q\n", features={"id": "number"})[0][1] == {0: 2.0, 1: 0.25}


def test_the_time_of_a_sparse_row_is_read_and_left_out_it_is_zero():
    head = "@relation r\n@attribute when numeric\n@attribute size numeric\n@attribute class {a,b}\n@data\n"
    rows = "{0 10, 1 0.5}\n{0 ?, 1 2}\n{1 3, 2 b}\n"
    stream = open_stream(
        io.BytesIO((head + rows).encode()), format="arff", features={"when": "time"}, skip_bad_lines=True
    )
    (batch,) = stream
    assert batch.times.tolist() == [10.0, 0.0]
    assert batch.y.tolist() == ["a", "b"]
    assert "attribute 0 ('when'): '?' is no time" in stream.bad_line_examples[0]
