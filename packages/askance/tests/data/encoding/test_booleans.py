"""Truth values written as words are numbers, in every format."""

import json

import numpy as np
import pytest

from askance.data import open_stream


def rows_of(path, **options):
    with open_stream(path, label="label", **options) as stream:
        found = np.vstack([batch.X.toarray() for batch in stream])
        return {field.name: field.kind for field in stream.fields}, found


@pytest.mark.parametrize("words", [("True", "False"), ("true", "false"), ("TRUE", "False")])
def test_a_column_of_true_and_false_is_one_of_numbers(words, tmp_path):
    values = [words[i % 3 == 0] if i % 5 else "" for i in range(60)]
    path = tmp_path / "a.csv"
    path.write_text("flag,label\n" + "".join(f"{value},{i % 2}\n" for i, value in enumerate(values)))
    kinds, table = rows_of(path, raw=True)
    assert kinds["flag"] == "number"
    assert table[:, 0].tolist() == [float(value.lower() == "true") for value in values]
    lines = tmp_path / "a.jsonl"
    truths = {words[0]: True, words[1]: False, "": None}
    for write in (truths.get, lambda value: value or None):
        lines.write_text("".join(json.dumps({"flag": write(v), "label": i % 2}) + "\n" for i, v in enumerate(values)))
        assert np.array_equal(rows_of(lines, raw=True)[1], table)


def test_beside_other_words_they_are_words_and_a_kind_that_is_given_holds(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("flag,other,label\n" + "True,true,0\nmaybe,false,1\n" * 10)
    kinds, _ = rows_of(path, features={"other": "category"}, hash_bits=4)
    assert kinds == {"flag": "category", "other": "category", "label": "label"}


def test_a_late_word_in_such_a_column_is_a_bad_line_that_tells_what_it_says(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("flag,label\n" + "True,0\nFalse,1\n" * 600 + "perhaps,0\nTrue,1\n")
    with open_stream(path, skip_bad_lines=True) as stream:
        assert sum(batch.X.shape[0] for batch in stream) == 1201
        assert "line 1202 of 'a.csv', column 1 ('flag'): 'perhaps' is not a number" in stream.bad_line_examples[0]
        state = stream.state()
    (tmp_path / "b.csv").write_text("flag,label\nTRUE,0\n0,1\n")
    with open_stream(tmp_path / "b.csv", state=state) as stream:
        assert [batch.X.shape[0] for batch in stream] == [2]
