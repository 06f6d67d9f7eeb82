"""CSV and TSV files: cells, names, kinds, damage, any division into pieces."""

import csv
import io
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.formats import slow

from askance.data import open_stream
from askance.data.missing import is_missing
from askance.errors import BadLine, InvalidInput, InvalidParameter


def read(content, **options):
    content = content.encode() if isinstance(content, str) else content
    return open_stream(io.BytesIO(content), **({"raw": True, "format": "csv"} | options))


def rows_of(content, **options):
    return slow.played(read(content, **options))


def kinds(stream):
    return {field.name: field.kind for field in stream.fields}


# --- names and labels ------------------------------------------------------------------------------------


def test_the_first_line_has_the_names_of_the_fields():
    stream = read("age,income,label\n42,1000,yes\n17,,no\n")
    assert kinds(stream) == {"age": "number", "income": "number", "label": "label"}
    assert slow.played(stream) == ([{0: 42.0, 1: 1000.0}, {0: 17.0}], ["yes", "no"])


@pytest.mark.parametrize(
    ("content", "has_names"),
    [
        ("a,b\n1,2\n", True),
        ("1,2\n3,4\n", False),
        ("text,label\nhello,spam\n", True),
        ("v1,v2\nham,hello\nspam,win\n", True),
        ("ham,hello\nspam,win\nham,lunch?\n", False),
        ("p,x,s\ne,x,y\np,b,s\n", False),
        ("x,1\ny,2\n", False),
        (",a,y\n0,5,1\n1,6,0\n", True),
        ("2019,2020,city,label\n0,0,oslo,a\n1,1,rome,b\n", True),
        (",0,1,y\n0,1.5,2.5,0\n1,3.5,4.5,1\n", True),
        ("7,4,y\n5,6,n\n2,1,n\n", False),
        ("1.5,2.5,label\n3.5,4.5,other\n", False),
        ("3,4,target\n5,6,miss\n7,8,target\n", False),
    ],
)
def test_names_are_told_from_values(content, has_names):
    stream = read(content)
    n_lines = content.count("\n")
    assert len(slow.played(stream)[0]) == n_lines - has_names
    assert (stream.fields[0].name == "0") == (not has_names or content.startswith(","))


def test_the_numbers_of_the_columns_are_names():
    for content in ("0,1,2,3\n1.5,2.5,3.5,1\n2.5,1.5,0.5,0\n", "0,1,2,label\n1.5,2.5,3.5,1\n2.5,1.5,0.5,0\n"):
        assert len(rows_of(content)[0]) == 2


def test_the_user_may_say_whether_there_are_names():
    assert len(rows_of("1,2\n3,4\n", header=True)[0]) == 1
    assert len(rows_of("a,b\n3,4\n", header=False)[0]) == 2


@pytest.mark.parametrize(
    ("names", "place"),
    [("a,b,c", 2), ("label,b,c", 0), ("a,Y,c", 1), ("target,class,c", 1), ("y,label,c", 1), ("a, Class ,c", 1)],
)
def test_the_label_is_found_by_its_name_else_it_is_the_last_field(names, place):
    stream = read(f"{names}\n1,2,3\n4,5,6\n")
    assert [field.kind for field in stream.fields].index("label") == place


@pytest.mark.parametrize(
    ("label", "labels"), [("a", [1, 4]), (0, [1, 4]), (-1, [3, 6]), (1, [2, 5]), (False, [None] * 2)]
)
def test_the_label_can_be_given_by_name_or_number(label, labels):
    rows, found = rows_of("a,b,c\n1,2,3\n4,5,6\n", label=label)
    assert found == labels
    assert len(rows[0]) == (3 if label is False else 2)


@pytest.mark.parametrize("label", ["z", 3, -4])
def test_a_label_that_is_not_there_is_refused(label):
    with pytest.raises(InvalidParameter, match="has no field 'z'|no field number"):
        read("a,b,c\n1,2,3\n", label=label)


def test_names_that_are_empty_or_repeated_are_made_different():
    stream = read("a,,a,a,y\n1,2,3,4,0\n")
    assert [field.name for field in stream.fields] == ["a", "1", "a (2)", "a (3)", "y"]


def test_missing_labels_are_none():
    batch = next(iter(read("a,y\n1,0\n2,\n3,1\n")))
    assert batch.y.dtype == object
    assert batch.y.tolist() == [0, None, 1]


# --- cells -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("delimiter", "format"), [(",", "csv"), ("\t", "tsv"), (";", "csv"), ("|", "csv"), ("\t", "csv")]
)
def test_the_delimiter_is_found(delimiter, format):
    content = f"a{delimiter}b{delimiter}y\n1{delimiter}2{delimiter}0\n"
    assert rows_of(content, format=format) == ([{0: 1.0, 1: 2.0}], [0])


def test_a_delimiter_inside_quotes_does_not_count_when_the_delimiter_is_looked_for():
    stream = read('text;y\n"one, two, three, four, five";0\n"six, seven";1\n')
    assert kinds(stream) == {"text": "text", "y": "label"}


def test_quotes_enclose_delimiters_quotes_and_line_ends():
    content = 'text,n,y\n"one, ""two""\r\nthree\nfour",5,0\n"",6,1\n'
    stream = read(content, features={"text": "category"}, hash_bits=10)
    rows, _ = slow.played(stream)
    words = ['one, "two"\r\nthree\nfour', ""]
    assert rows == [{slow.column_of("text", word, 10): 1.0, 1024: n} for word, n in zip(words, (5.0, 6.0), strict=True)]


def test_blanks_around_cells_do_not_count():
    rows, labels = rows_of('a, b ,y\n 1 ,\t2\t,"no" \n3,  "4",yes\n')
    assert rows == [{0: 1.0, 1: 2.0}, {0: 3.0, 1: 4.0}]
    assert labels == ["no", "yes"]


def test_quotes_can_be_switched_off():
    rows, labels = rows_of('a\ty\n"x\t0\ny"\t1\n', delimiter="\t", quote="", features={"a": "category"}, hash_bits=10)
    assert rows == [{slow.column_of("a", '"x', 10): 1.0}, {slow.column_of("a", 'y"', 10): 1.0}]
    assert labels == [0, 1]


@pytest.mark.parametrize("word", ["", "NA", "N/A", "null", "NULL", "None", "?"])
def test_missing_numbers_are_as_if_they_were_not_there(word):
    rows, _ = rows_of(f"a,b,y\n1,2,0\n3,{word},1\n4,5,0\n")
    assert rows == [{0: 1.0, 1: 2.0}, {0: 3.0}, {0: 4.0, 1: 5.0}]


def test_a_missing_category_is_a_value_of_its_own():
    rows, _ = rows_of("c,y\nred,0\n,1\n", hash_bits=10)
    assert rows == [{slow.column_of("c", "red", 10): 1.0}, {slow.column_of("c", "", 10): 1.0}]


def test_text_is_hashed_words_and_pairs_of_words_of_unit_length():
    rows, _ = rows_of("text,y\nBuy now buy NOW,1\n,0\n", hash_bits=12, raw=False)
    expected = {}
    for gram in slow.ngrams("Buy now buy NOW"):
        column = slow.column_of("text", gram, 12)
        expected[column] = expected.get(column, 0.0) + 1.0
    length = sum(value * value for value in expected.values()) ** 0.5
    assert rows == [pytest.approx({column: value / length for column, value in expected.items()}), {}]


def test_kinds_are_guessed_and_can_be_given():
    content = "id,n,code,city,note,y\n7,1,5,Oslo,a b c d e f,0\n8,2,6,New York,g h i j,1\n"
    assert kinds(read(content)) == {
        "id": "ignore", "n": "number", "code": "number", "city": "category", "note": "text", "y": "label",
    }  # fmt: skip
    given = read(content, features={"code": "category", "note": "ignore", "id": "number"})
    assert kinds(given)["code"] == "category"
    assert kinds(given)["note"] == "ignore"
    assert kinds(given)["id"] == "number"


@pytest.mark.parametrize("features", [{"nope": "number"}, {"a": "colour"}])
def test_kinds_that_make_no_sense_are_refused(features):
    with pytest.raises(InvalidParameter, match="no field 'nope'|must be one of number"):
        read("a,y\n1,2\n", features=features)


def test_numbers_are_standardised_as_they_run():
    values = [3.0, 5.0, 1.0, 8.0]
    rows, _ = rows_of("x,y\n" + "".join(f"{value},0\n" for value in values), raw=False)
    for t, row in enumerate(rows):
        seen = np.array(values[: t + 1])
        z = (seen[-1] - seen.mean()) / seen.std() if t else 0.0
        assert row.get(0, 0.0) == pytest.approx(z, abs=1e-12)


# --- bad lines -------------------------------------------------------------------------------------------

GOOD = "a,b,y\n" + "1,2,0\n" * 30


@pytest.mark.parametrize(
    ("line", "column", "reason"),
    [
        (b"1,2", None, "it has 2 cells where 3 are expected."),
        (b"1,2,3,4", None, "it has 4 cells where 3 are expected."),
        (b"x,2,0", "column 1 ('a')", "'x' is not a number."),
        (b"1,-inf,0", "column 2 ('b')", "'-inf' is not finite; clip it or leave the line out."),
        (b"1,-Inf,0", "column 2 ('b')", "'-Inf' is not finite; clip it or leave the line out."),
        (
            b"1,1e300,0",
            "column 2 ('b')",
            "'1e300' is too large (beyond 1e150): sums of its squares overflow; scale the feature first.",
        ),
        (b"1,1_000,0", "column 2 ('b')", "'1_000' is not a number."),
        (b"1,2,x", "column 3 ('y')", "the label 'x' is not a whole number as the labels before it are; "),
        (b'1,"2"x,0', "character 6", "something follows a closing quote before the cell ends."),
        (b"1,\x00,0", "character 3", "it contains a zero byte, which no text does."),
        (b"1,\xff,0", "column 2 ('b')", "it is not UTF-8 text; if it"),
    ],
)
def test_a_bad_line_is_told_with_file_line_column_and_reason(line, column, reason):
    content = GOOD.encode() * 40 + line + b"\n1,2,0\n"
    content = content.replace(b"\na,b,y", b"")
    with pytest.raises(BadLine, match=re.escape(reason)) as caught:
        rows_of(content)
    assert (caught.value.file, caught.value.line, caught.value.column) == ("stream", 1202, column)
    stream = read(content, skip_bad_lines=True)
    assert len(slow.played(stream)[0]) == 1201
    assert stream.bad_lines == 1


def test_an_open_quote_is_told_where_it_opens_and_costs_one_line():
    content = 'a,b,y\n1,2,0\n1,"2,0\n3,4,1\n'
    with pytest.raises(BadLine, match="line 3 of 'stream', character 3: a quote is opened and never closed"):
        rows_of(content)
    stream = read(content, skip_bad_lines=True)
    assert slow.played(stream) == ([{0: 1.0, 1: 2.0}, {0: 3.0, 1: 4.0}], [0, 1])


def test_a_stray_word_among_numbers_does_not_make_them_categories():
    stream = read("x,y\n" + "1,0\n" * 50 + "oops,0\n", skip_bad_lines=True)
    assert kinds(stream)["x"] == "number"
    assert len(slow.played(stream)[0]) == 50


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_a_file_without_rows_is_refused(content):
    with pytest.raises(InvalidInput, match="has no rows"):
        read(content)


def test_a_single_field_leaves_nothing_beside_the_label():
    with pytest.raises(InvalidInput, match="a single field"):
        read("a\n1\n2\n")
    assert rows_of("a\n1\n2\n", label=False)[0] == [{0: 1.0}, {0: 2.0}]


@pytest.mark.parametrize("options", [{"delimiter": "ab"}, {"delimiter": '"'}, {"quote": "\n"}, {"batch_rows": 0}])
def test_options_that_cannot_work_are_refused(options):
    with pytest.raises(InvalidParameter):
        read("a,y\n1,2\n", **options)


def test_lines_are_counted_rightly_wherever_a_piece_ends(monkeypatch):
    content = (
        b'a,c,y\r\n1,"x\r\ny",0\r2,"""\r""",1\n\r\n3,z,0\r\n4,"\n\r\n",1\r\nbad\r\n5,"w"\r\n"6",x,0\r\n7,"q" q,1\r\n'
    )
    bad = [line for line, cells in slow.csv(content, 3) if cells == slow.BAD]
    for piece in range(16, 130):
        slow.use_pieces(monkeypatch, piece)
        stream = read(
            content, skip_bad_lines=True, delimiter=",", features={"a": "number", "c": "category"}, labels="int"
        )
        assert [row.get(0) for row in slow.played(stream)[0]] == [1.0, 2.0, 3.0, 4.0, 6.0]
        lines = [int(re.search(r"line (\d+)", example)[1]) for example in stream.bad_line_examples]
        assert lines == bad == [11, 12, 14]


# --- fuzzing ---------------------------------------------------------------------------------------------

plain = st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=("Cs",)), max_size=8)
cells = st.one_of(slow.numbers_as_text(), plain, st.sampled_from(["", "a b", "x", '"', "\n", "\r\n", ","]))


def written(rows, delimiter, line_end, quoting):
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator=line_end, quoting=quoting).writerows(rows)
    return file.getvalue().encode()


tables = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=8)
)
files = st.builds(
    written,
    tables,
    st.sampled_from([",", "\t", ";"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)


def expected_rows(records, names):
    """What categories and labels come out, as {column: 1} and text."""
    rows, labels = [], []
    for _, found in records:
        row = {}
        for name, cell in zip(names[:-1], found[:-1], strict=True):
            column = slow.category_column(name, cell, 12)
            row[column] = row.get(column, 0.0) + 1.0
        rows.append(row)
        labels.append(None if is_missing(found[-1]) else found[-1].strip())
    return rows, labels


@settings(max_examples=300, deadline=None)
@given(
    content=slow.spoiled(files),
    n_cells=st.integers(2, 4),
    delimiter=st.sampled_from([",", "\t", ";"]),
    piece=st.sampled_from([16, 40, 1 << 20]),
)
def test_any_file_is_split_as_a_slow_reader_splits_it(content, n_cells, delimiter, piece):
    """With every field a category, nothing but the division into cells, and labels that cannot be printed, matters."""
    content = delimiter.join(["first"] * n_cells).encode() + b"\n" + content
    names = [str(place) for place in range(n_cells)]
    records = list(slow.csv(content, n_cells, delimiter))
    good = [r for r in records if r[1] != slow.BAD and r[1][-1].isprintable()]
    bad = [r[0] for r in records if r[1] == slow.BAD or not r[1][-1].isprintable()]
    options = {
        "delimiter": delimiter, "header": False, "labels": "text", "hash_bits": 12, "batch_rows": 3,
        "features": dict.fromkeys(names[:-1], "category"),
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        slow.use_pieces(patch, piece)
        stream = read(content, skip_bad_lines=True, **options)
        assert slow.played(stream) == expected_rows(good, names)
        assert stream.bad_lines == len(bad)
        if bad:
            with pytest.raises(BadLine) as caught:
                slow.played(read(content, **options))
            assert caught.value.line == bad[0]


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(st.lists(slow.numbers_as_text(), min_size=3, max_size=3), min_size=1, max_size=20),
    piece=st.sampled_from([16, 1 << 20]),
)
def test_numbers_come_back_to_the_last_bit(rows, piece):
    content = "a,b,c\n" + "".join(",".join(row) + "\n" for row in rows)
    kinds = dict.fromkeys("abc", "number")
    with pytest.MonkeyPatch.context() as patch:
        slow.use_pieces(patch, piece)
        found, _ = rows_of(content, label=False, header=True, delimiter=",", features=kinds)
    assert found == [{c: float(text) for c, text in enumerate(row) if float(text) != 0.0} for row in rows]


def test_numbers_that_only_their_last_digits_decide_are_rounded_rightly():
    text = "9007199254740993.0000000000000000000000001"
    assert rows_of(f"a,b,y\n{text},1,0\n2,-{text},1\n")[0] == [{0: float(text), 1: 1.0}, {0: 2.0, 1: -float(text)}]


@settings(max_examples=150, deadline=None)
@given(content=st.one_of(st.binary(max_size=200), slow.spoiled(files)), skip=st.booleans())
def test_junk_is_an_error_in_one_sentence_or_rows(content, skip):
    with slow.clear_errors():
        slow.played(open_stream(io.BytesIO(content), format="csv", skip_bad_lines=skip))


# --- two of a kind, other orders ---------------------------------------------------------------------------


@pytest.mark.parametrize("head", ["a,label,label", "a,Label,label", "label,a,label"])
@pytest.mark.parametrize("wanted", [None, "label"])
def test_a_second_column_called_as_the_label_is_refused_unless_it_is_said_what_it_is(head, wanted):
    content = head + "\n0.5,0,1\n0.25,1,0\n"
    with pytest.raises(InvalidInput, match="has two columns called 'label', [12] and 3, and one of them may give"):
        read(content, label=wanted)
    stream = read("a,label,label\n0.5,0,1\n0.25,1,0\n", features={"label (2)": "ignore"})
    assert slow.played(stream) == ([{0: 0.5}, {0: 0.25}], [0, 1])


def test_columns_in_another_order_are_found_by_their_names_when_a_stream_goes_on():
    first = read("u,v,w,label\n1,red,3,a\n4,blue,6,b\n", raw=False)
    slow.played(first)
    same = rows_of("u,v,w,label\n7,red,9,a\n", raw=False, state=first.state())
    assert rows_of("w,u,label,v\n9,7,a,red\n", raw=False, state=first.state()) == same
    with pytest.raises(InvalidInput, match="are not those the model was trained on: u, v, w"):
        read("u,v,label\n1,red,a\n", state=first.state())


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_the_index_of_a_data_frame_is_no_feature(name):
    def kinds(*rows, **options):
        stream = read("\n".join([f"{name},size,label", *rows]) + "\n", **options)
        return dict(stream.state()["fields"])

    rows = [f"{n},{n % 3},{'ab'[n % 2]}" for n in range(50)]
    index = name or "0"
    assert kinds(*rows) == {index: "ignore", "size": "number"}
    assert kinds(*rows, features={index: "number"}) == {index: "number", "size": "number"}
    assert kinds(*rows[:20], *rows[25:]) == {index: "number", "size": "number"}  # it does not count the rows
    assert kinds(f"{'9' * 5000},1,a", "2,2,b") == {index: "number", "size": "number"}
