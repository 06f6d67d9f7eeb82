"""Numbers with a decimal comma, and with separators between thousands."""

import io
import json

import pytest
from tests.data.formats import slow

from askance.data import open_stream
from askance.errors import InvalidInput


def read(content, **options):
    return open_stream(io.BytesIO(content.encode()), **({"raw": True, "format": "csv"} | options))


def kinds(stream):
    return {field.name: field.kind for field in stream.fields}


GERMAN = "druck;temp;label\n1,5;-0,25;ja\n;3;nein\n12,75;1,5e1;ja\n"


def test_a_decimal_comma_is_read_as_a_point(tmp_path):
    (tmp_path / "a.csv").write_text(GERMAN)
    stream = open_stream(tmp_path / "a.csv", raw=True)
    assert kinds(stream) == {"druck": "number", "temp": "number", "label": "label"}
    played = [{0: 1.5, 1: -0.25}, {1: 3.0}, {0: 12.75, 1: 15.0}], ["ja", "nein", "ja"]
    assert slow.played(stream) == played
    assert slow.played(stream) == played  # again, from the beginning


def test_a_model_that_goes_on_reads_it_too():
    stream = read(GERMAN)
    first, _ = slow.played(stream)
    assert slow.played(read(GERMAN, state=stream.state()))[0] == first


@pytest.mark.parametrize("content", ["1,5;0,25;1\n2,5;0,75;0\n", "1,5;0,25;1,0\n2,5;0,75;0,0\n"])
def test_semicolons_separate_where_every_comma_is_inside_a_number(content):
    stream = read(content, label=False)
    assert slow.played(stream)[0][0] == {0: 1.5, 1: 0.25, 2: 1.0}


def test_commas_separate_where_a_cell_is_not_a_number():
    assert [field.name for field in read("a,1;2,label\n1,3;4,y\n2,5;6,y\n").fields] == ["a", "1;2", "label"]


def test_cells_in_quotes_may_have_them_in_a_file_with_commas():
    assert slow.played(read('a,label\n"3,14",x\n"2,5",y\n"7",x\n'))[0] == [{0: 3.14}, {0: 2.5}, {0: 7.0}]


@pytest.mark.parametrize("number", ["1.234,50", "1,234.50", "1 234,5", "1'234"])
def test_separators_between_thousands_are_refused_unless_the_field_is_a_category(number):
    content = f"sum;label\n{number};x\n{number};y\n"
    with pytest.raises(InvalidInput, match="separators between thousands; write them plainly") as caught:
        read(content)
    assert repr(number) in str(caught.value)
    assert "column 1 ('sum')" in str(caught.value)
    assert kinds(read(content, features={"sum": "category"}))["sum"] == "category"


def test_a_comma_that_can_be_read_in_two_ways_is_not_guessed():
    with pytest.raises(InvalidInput, match="separators between thousands"):
        read("sum;label\n1,234;x\n5,678;y\n")
    assert slow.played(read("sum;label\n1,234;x\n0,678;y\n12,5;y\n"))[0] == [{0: 1.234}, {0: 0.678}, {0: 12.5}]


def test_points_and_commas_in_one_field_are_words():
    assert kinds(read("a;label\n1.5;x\n2,5;y\n3,5;y\n"))["a"] == "category"


def test_a_later_number_that_is_none_is_a_bad_line():
    lines = "".join(f"{n},5;{n % 2}\n" for n in range(1200))
    with pytest.raises(ValueError, match=r"line 1202 of .*column 1 \('a'\): '1.2.3' is not a number"):
        slow.played(read(f"a;label\n{lines}1,2,3;0\n"))


def json_rows(values):
    return "".join(json.dumps({"price": value, "y": place % 2}) + "\n" for place, value in enumerate(values)).encode()


def test_texts_in_json_are_read_as_cells_of_a_table_are():
    content = json_rows(["1,5", None, "-,25", "7", 3, "2,5e2"])
    stream = open_stream(io.BytesIO(content), format="jsonl", raw=True)
    assert [tuple(field) for field in stream.fields] == [("y", "label"), ("price", "number")]
    (batch,) = stream
    assert batch.X.toarray()[:, 0].tolist() == [1.5, 0.0, -0.25, 7.0, 3.0, 250.0]
    kept = json.loads(json.dumps(stream.state(), default=lambda array: array.tolist()))
    (again,) = open_stream(io.BytesIO(json_rows(["0,5"])), format="jsonl", state=kept)
    assert again.X.toarray().tolist() == [[0.5]]


def test_a_file_of_json_that_is_played_again_has_the_same_commas(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(json_rows(["1,5", "2,5"]))
    with open_stream(path, raw=True) as stream:
        assert [[batch.X.toarray().tolist() for batch in stream] for _ in range(2)] == [[[[1.5], [2.5]]]] * 2


def test_thousands_in_json_are_refused_rather_than_learned_by_heart():
    with pytest.raises(
        InvalidInput, match=r"'1\.234,50' in field 'price', which may have separators between thousands"
    ):
        open_stream(io.BytesIO(json_rows(["1.234,50", "12"])), format="jsonl")
    with open_stream(
        io.BytesIO(json_rows(["1,234", "5,678"])), format="jsonl", features={"price": "category"}
    ) as stream:
        assert ("price", "category") in [tuple(field) for field in stream.fields]


@pytest.mark.parametrize("values", [["1,5", "red"], ["1,5", 2.5], [["1,5"], ["2,5"]]])
def test_other_texts_in_json_stay_what_they_were(values):
    stream = open_stream(io.BytesIO(json_rows(values)), format="jsonl")
    assert ("price", "category") in [tuple(field) for field in stream.fields]
