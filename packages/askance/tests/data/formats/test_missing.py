"""The same words stand for what is missing in every format, in features and in labels."""

import io
import json
import re

import numpy as np
import pytest
import scipy.sparse as sp
from tests.data.formats import slow

from askance.data import open_stream
from askance.data.encoding.rows import RowFeatures
from askance.data.missing import WORDS
from askance.errors import BadLine, InvalidInput, InvalidParameter

SORTED = sorted(WORDS)


def read(content, format, **options):
    return open_stream(io.BytesIO(content), format=format, raw=True, **options)


def table(word, delimiter=","):
    return "\n".join(
        delimiter.join(row)
        for row in (["a", "b", "label"], ["1", "2", "x"], [word, "3", "y"], ["4", "5", word], ["6", "7", "y"])
    ).encode()


@pytest.mark.parametrize("word", SORTED)
@pytest.mark.parametrize(("format", "delimiter"), [("csv", ","), ("csv", ";"), ("tsv", "\t")])
def test_in_a_table_of_text(word, format, delimiter):
    rows, labels = slow.played(read(table(word, delimiter), format))
    assert rows == [{0: 1.0, 1: 2.0}, {1: 3.0}, {0: 4.0, 1: 5.0}, {0: 6.0, 1: 7.0}]
    assert labels == ["x", "y", None, "y"]


@pytest.mark.parametrize("word", [json.dumps(word) for word in SORTED] + ["null", "NaN"])
def test_in_json_lines(word):
    content = f'{{"a": 1, "label": "x"}}\n{{"a": {word}, "b": 2, "label": "y"}}\n{{"a": 3, "label": {word}}}\n'.encode()
    assert slow.played(read(content, "jsonl")) == ([{0: 1.0}, {1: 2.0}, {0: 3.0}], ["x", "y", None])


@pytest.mark.parametrize("word", [word for word in SORTED if word and "#" not in word])
def test_in_libsvm(word):
    content = f"1 1:2 2:3\n-1 1:{word} 2:4\n{word} 1:5\n".encode()
    assert slow.played(read(content, "libsvm")) == ([{0: 2.0, 1: 3.0}, {1: 4.0}, {0: 5.0}], [1, -1, None])
    assert slow.played(read(content, None))[1] == [1, -1, None]


@pytest.mark.parametrize("word", [word for word in SORTED if word])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_in_arff(word, is_sparse):
    head = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute class {x,y}\n@data\n"
    rows = "{0 1,1 2,2 x}\n{0 %s,1 3,2 y}\n{0 4,1 5,2 %s}\n" if is_sparse else "1,2,x\n%s,3,y\n4,5,%s\n"
    found = slow.played(read((head + rows % (word, word)).encode(), "arff"))
    assert found == ([{0: 1.0, 1: 2.0}, {1: 3.0}, {0: 4.0, 1: 5.0}], ["x", "y", None])


def test_a_word_declared_in_arff_is_a_class():
    head = "@relation r\n@attribute a numeric\n@attribute class {None,Mild}\n@data\n"
    assert slow.played(read((head + "1,None\n2,Mild\n3,?\n").encode(), "arff"))[1] == ["None", "Mild", None]


@pytest.mark.parametrize("is_sparse", [False, True])
def test_in_arrays(is_sparse):
    X = np.array([[1.0, 2.0], [np.nan, 3.0], [4.0, 5.0]])
    csr = sp.csr_matrix(X)
    arrays = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": np.array(X.shape)}
    for y, expected in (
        (np.array([0.0, 1.0, np.nan]), [0.0, 1.0, None]),
        (np.array(["x", "y", "nan"]), ["x", "y", None]),
        (np.array(["x", " y", "?"]), ["x", "y", None]),
    ):
        file = io.BytesIO()
        np.savez(file, y=y, **(arrays if is_sparse else {"X": X}))
        found = slow.played(read(file.getvalue(), "npz"))
        assert found == ([{0: 1.0, 1: 2.0}, {1: 3.0}, {0: 4.0, 1: 5.0}], expected)


def test_an_infinite_label_of_an_array_is_told():
    file = io.BytesIO()
    np.savez(file, X=np.ones((3, 2)), y=np.array([0.0, np.inf, 1.0]))
    with pytest.raises(BadLine, match="row 1 of 'stream': its label is infinite"):
        slow.played(read(file.getvalue(), "npz"))


def test_in_parquet():
    pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow, the extra 'parquet'")
    pytest.importorskip("pyarrow.parquet")
    numbers = pyarrow.array([1.0, float("nan"), None, 4.0])
    for labels, expected in (
        (pyarrow.array(["x", "y", "NaN", None]), ["x", "y", None, None]),
        (pyarrow.array([0.0, 1.0, float("nan"), None]), [0, 1, None, None]),
        (pyarrow.array([0, 1, None, None]), [0, 1, None, None]),
    ):
        file = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.table({"a": numbers, "label": labels}), file)
        assert slow.played(read(file.getvalue(), "parquet")) == ([{0: 1.0}, {}, {}, {0: 4.0}], expected)


def test_a_word_that_is_named_as_a_class_is_one():
    assert slow.played(read(table("?"), "csv", classes=["?", "x", "y"]))[1] == ["x", "y", "?", "y"]


# --- categories and texts --------------------------------------------------------------------------------

WITH_WORDS = "colour,text,label\n" + "red,one two,x\n" * 3 + "%s,%s,y\n" + "blue,three four,y\n" * 3


def words_as(word, format):
    """A table with one word among its categories and texts."""
    text = WITH_WORDS % (word, word)
    if format == "csv":
        return text.encode()
    if format == "arff":
        head = "@relation r\n@attribute colour string\n@attribute text string\n@attribute label {x,y}\n@data\n"
        rows = text.split("\n")[1:]
        return (head + "\n".join(",".join(f"'{cell}'" for cell in row.split(",")) for row in rows if row)).encode()
    names, *rows = (line.split(",") for line in text.splitlines())
    return written_as([dict(zip(names, row, strict=True)) for row in rows], format)


@pytest.mark.parametrize("format", ["csv", "jsonl", "arff", "parquet"])
def test_a_word_is_the_missing_category_and_the_missing_text(format):
    for word in (word for word in [*SORTED, " NA "] if word and "\\" not in word):
        stream = read(words_as(word, format), format, hash_bits=12)
        assert [field.kind for field in stream.fields if field.kind != "label"] == ["category", "text"]
        assert slow.played(stream)[0][3] == {slow.column_of("colour", "", 12): 1.0}, word


@pytest.mark.parametrize("format", ["csv", "jsonl", "arff", "parquet"])
def test_what_a_user_adds_is_missing_in_a_category_too(format):
    for word in ("unknown", "-999", "-9.99e2"):
        stream = read(words_as(word, format), format, hash_bits=12, na_values=["unknown", -999])
        assert slow.played(stream)[0][3] == {slow.column_of("colour", "", 12): 1.0}


def test_blanks_that_are_not_ascii_do_not_count_around_a_word_either():
    rows, _ = slow.played(read(words_as("\u00a0NA\u2003", "csv"), "csv", hash_bits=12))
    assert rows[3] == {slow.column_of("colour", "", 12): 1.0}


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_word_declared_in_arff_is_a_value_there_and_wherever_its_model_goes(is_sparse):
    head = "@relation r\n@attribute region {NA,EU,?}\n@attribute class {x,y}\n@data\n"
    rows = ["{0 %s, 1 x}", "{0 %s, 1 y}", "{0 %s, 1 y}"] if is_sparse else ["%s,x", "%s,y", "%s,y"]
    content = (head + "\n".join(rows) % ("NA", "EU", "?")).encode()
    stream = read(content, "arff", hash_bits=12)
    expected = [{slow.column_of("region", value, 12): 1.0} for value in ("NA", "EU", "")]
    assert slow.played(stream)[0] == expected
    if not is_sparse:
        lines = b"region,class\nNA,x\nEU,y\nnull,y\n"
        assert slow.played(read(lines, "csv", state=stream.state()))[0] == expected


def test_in_a_model_from_before_a_word_is_a_value_of_a_category_and_of_a_text():
    stream = read(words_as("NA", "csv"), "csv", hash_bits=12)
    state = stream.state()
    del state["reads_words_alike"], state["declared"]
    expected = {slow.column_of("colour", "NA", 12): 1.0, slow.column_of("text", "na", 12): 1.0}
    found, _ = slow.played(read(words_as("NA", "csv"), "csv", state=state))
    assert found[3] == expected
    again = read(words_as("NA", "csv"), "csv", state=state).state()
    assert not again["reads_words_alike"]
    columns, values = RowFeatures.from_dict(state).row({"colour": "NA", "text": "NA"})
    assert dict(zip(columns.tolist(), values.tolist(), strict=True)) == expected


# --- what a user adds ------------------------------------------------------------------------------------

ADDED = ["unknown", -999, "–"]
ROWS = [
    {"size": 1.5, "flag": "true", "when": "2024-03-01", "city": "Oslo", "label": "x"},
    {"size": -999.0, "flag": "unknown", "when": "–", "city": "Bern", "label": "y"},
    {"size": 2.5, "flag": "false", "when": "2024-03-02", "city": "Oslo", "label": "unknown"},
    {"size": 0.5, "flag": "true", "when": "2024-03-03", "city": "Lima", "label": "y"},
]


def without_added(rows):
    """The rows with gaps where a value counts as missing."""
    return [{name: None if value in ADDED else value for name, value in row.items()} for row in rows]


def written_as(rows, format):
    if format in ("parquet", "feather"):
        pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow, the extra 'parquet'")
        write = pytest.importorskip(f"pyarrow.{format}")
        file = io.BytesIO()
        (write.write_table if format == "parquet" else write.write_feather)(pyarrow.Table.from_pylist(rows), file)
        return file.getvalue()
    if format == "jsonl":
        return "\n".join(map(json.dumps, rows)).encode()
    lines = [",".join("" if value is None else str(value) for value in row.values()) for row in rows]
    head = [",".join(rows[0])]
    if format == "arff":
        kinds = {"size": "numeric", "when": "date", "city": "string", "label": "{x,y}"}
        head = ["@relation r", *(f"@attribute {name} {kind}" for name, kind in kinds.items()), "@data"]
        lines = [",".join("?" if value is None else str(value) for value in row.values()) for row in rows]
    text = "\n".join([*head, *lines])
    return (text.replace(",", "\t") if format == "tsv" else text).encode()


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "arff", "parquet", "feather"])
def test_words_and_numbers_that_a_user_adds_are_as_good_as_nothing(format):
    rows = [{name: row[name] for name in row if name != "flag" or format != "arff"} for row in ROWS]  # no such kind
    stream = read(written_as(rows, format), format, na_values=ADDED)
    plain = read(written_as(without_added(rows), format), format)
    assert stream.fields == plain.fields
    found = slow.played(stream)
    assert found == slow.played(plain)
    assert found[1] == ["x", "y", None, "y"]
    again = read(written_as(rows, format), format, state=stream.state())  # a model reads new rows the same way
    assert slow.played(again)[1] == ["x", "y", None, "y"]


def test_a_number_counts_as_missing_however_it_is_written_and_a_word_only_as_it_is():
    content = b"a,label\n1,x\n-999,y\n-9.99e2,x\n -999.0 ,y\n2,Unknown\n3,unknown\n"
    rows, labels = slow.played(read(content, "csv", na_values=["unknown", -999]))
    assert rows == [{0: 1.0}, {}, {}, {}, {0: 2.0}, {0: 3.0}]
    assert labels == ["x", "y", "x", "y", "Unknown", None]


@pytest.mark.parametrize(
    ("format", "na_values", "sentence"),
    [
        ("libsvm", ["x"], "na_values means nothing for libsvm; it is for csv, tsv, jsonl, arff, parquet and feather."),
        ("csv", {"a": "x"}, "na_values is a list of words and numbers that count as missing in every field, such as"),
        ("csv", [None, True], "na_values has words and numbers, got None."),
    ],
)
def test_what_cannot_count_as_missing_is_said(format, na_values, sentence):
    with pytest.raises(InvalidParameter, match=re.escape(sentence)):
        read(table("1"), format, na_values=na_values)


def test_infinity_is_not_missing():
    with pytest.raises(BadLine, match="'inf' is not finite"):
        slow.played(read(b"a,label\n1,x\n2,y\ninf,x\n" + b"1,x\n" * 50, "csv"))


def test_blanks_around_a_label_do_not_count():
    rows = [{"a": n, "label": label} for n, label in enumerate(["spam", " spam", "spam ", "ham"], 1)]
    content = "\n".join(map(json.dumps, rows)).encode()
    assert slow.played(read(content, "jsonl"))[1] == ["spam", "spam", "spam", "ham"]
    assert slow.played(read(b'a,label\n1,spam\n2," spam"\n3,ham \n', "csv"))[1] == ["spam", "spam", "ham"]


def test_labels_with_the_same_text_are_the_same_class():
    labels = [1, "1", 1.0, " 1", True, "true", 0, "0", False]
    content = "\n".join(json.dumps({"a": n, "label": label}) for n, label in enumerate(labels, 1)).encode()
    assert slow.played(read(content, "jsonl"))[1] == ["1", "1", "1", "1", "true", "true", "0", "0", "false"]


@pytest.mark.parametrize("labels", [b"x\ny\n", b"1\n2\n"])
def test_a_line_of_names_among_the_rows_is_no_class(labels):
    one, other = labels.split()
    content = b"word,label\nred,%s\nblue,%s\nword,label\nred,%s\n" % (one, other, one)
    with pytest.raises(BadLine, match="line 4 of 'stream', .*repeats the names of the columns"):
        slow.played(read(content, "csv"))
    stream = read(content, "csv", skip_bad_lines=True)
    assert len(slow.played(stream)[1]) == 3
    assert stream.bad_lines == 1


# --- kinds are judged by enough rows ---------------------------------------------------------------------


def test_a_very_long_first_row_does_not_hide_what_the_fields_are():
    rows = [b"word " * 2_000_000 + b",1,ham"] + [b"hello number %d,%d,%s" % (n, n, b"ham") for n in range(50)]
    stream = read(b"text,size,label\n" + b"\n".join(rows), "csv")
    assert [field.kind for field in stream.fields] == ["text", "number", "label"]


def test_a_very_long_first_row_of_json_does_not_hide_other_fields():
    first = json.dumps({"note": "word " * 2_000_000, "label": "x"})
    others = "\n".join(json.dumps({"note": "a b c d e", "size": "7", "label": "y"}) for _ in range(50))
    kinds = {field.name: field.kind for field in read(f"{first}\n{others}".encode(), "jsonl").fields}
    assert kinds == {"label": "label", "note": "text", "size": "number"}


def test_a_first_row_that_is_nearly_empty_decides_nothing():
    content = b"text,size,label\n,,ham\n" + b"a word or two more,7,spam\n" * 30
    assert [field.kind for field in read(content, "csv").fields] == ["text", "number", "label"]


def test_very_wide_rows_are_judged_by_several():
    names = b",".join(b"f%d" % n for n in range(200_000))
    rows = b"\n".join(b",".join([b""] * 200_000 if n == 0 else [b"1.5"] * 200_000) + b",x" for n in range(5))
    stream = read(names + b",label\n" + rows + b"\n", "csv")
    assert {field.kind for field in stream.fields} == {"number", "label"}


@pytest.mark.parametrize(
    ("content", "format"),
    [
        (b"id,label\n1,x\n2,y\n", "csv"),
        (b"id\tempty\tlabel\n1\t\tx\n2\t?\ty\n", "tsv"),
        (b"@relation r\n@attribute id numeric\n@attribute class {x,y}\n@data\n1,x\n2,y\n", "arff"),
    ],
)
def test_a_table_without_a_field_to_learn_from_is_refused(content, format):
    with pytest.raises(InvalidInput, match="'stream' has no field to learn from: id.* ignored, .*say what a field is"):
        read(content, format)
