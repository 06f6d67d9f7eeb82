"""What the fields of a file are may become wider while it is read; the same in CSV, in JSON lines and in pieces."""

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askance.data import open_stream
from askance.data.encoding.kind_evidence import MAX_MISMATCHES
from askance.errors import BadLine

MANY = 1000


def as_csv(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def as_jsonl(rows):
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def read(content, format, **options):
    """All rows as (columns, values), the labels, and the stream."""
    stream = open_stream(io.BytesIO(content), format=format, hash_bits=6, **options)
    rows, labels = [], []
    for batch in stream:
        X = batch.X
        rows += [(X.indices[a:b].tolist(), X.data[a:b].tolist()) for a, b in zip(X.indptr, X.indptr[1:], strict=False)]
        labels += list(batch.y)
    return rows, labels, stream


def kinds(stream):
    return {field.name: field.kind for field in stream.fields}


def both(rows, **options):
    """The rows by both readers, which must agree in everything."""
    table, table_labels, table_stream = read(as_csv(rows), "csv", **options)
    lines, line_labels, line_stream = read(as_jsonl(rows), "jsonl", **options)
    assert kinds(table_stream) == kinds(line_stream)
    assert table_stream.bad_lines == line_stream.bad_lines
    assert table == lines
    assert list(map(str, table_labels)) == list(map(str, line_labels))
    states = [json.dumps(s.state(), default=lambda a: a.tolist()) for s in (table_stream, line_stream)]
    for name in ("evidence", "strays", "scaling", "fields"):
        assert json.loads(states[0])[name] == json.loads(states[1])[name]
    return table, table_stream


@pytest.mark.parametrize("later", ["7", "Oslo", "a sentence of five words"])
def test_a_column_that_is_empty_at_first_is_learned_when_it_begins(later):
    rows = [{"a": "1", "late": "", "label": str(k % 2)} for k in range(MANY + 50)]
    rows += [{"a": "1", "late": later, "label": "1"} for _ in range(5)]
    found, stream = both(rows)
    kind = {"7": "number", "Oslo": "category"}.get(later, "text")
    assert kinds(stream) == {"a": "number", "late": kind, "label": "label"}
    assert stream.promoted == [("late", "ignore", kind)]
    if later != "7":  # a number that does not vary is 0
        assert len(found[-1][0]) > len(found[0][0])


def test_a_column_that_begins_with_a_number_and_goes_on_with_words_is_a_category():
    rows = [{"a": "1", "late": "", "label": str(k % 2)} for k in range(MANY + 50)]
    rows += [{"a": "1", "late": late, "label": "1"} for late in ("7", "8", "x", "9")]
    _, stream = both(rows)
    assert kinds(stream)["late"] == "category"
    assert stream.promoted == [("late", "ignore", "number"), ("late", "number", "category")]


def test_a_column_without_values_that_counts_rows_or_is_an_id_is_never_learned():
    rows = [{"id": "", "a": "1", "label": str(k % 2)} for k in range(MANY + 5)] + [{"id": "7", "a": "1", "label": "1"}]
    assert kinds(both(rows)[1])["id"] == "ignore"


def test_a_stray_word_after_the_first_rows_is_a_bad_line_as_ever():
    rows = [{"a": str(k), "label": str(k % 2)} for k in range(MANY + 50)] + [{"a": "x", "label": "1"}]
    for content, format in ((as_csv(rows), "csv"), (as_jsonl(rows), "jsonl")):
        with pytest.raises(BadLine, match="'x' is not a number"):
            read(content, format)


@pytest.mark.parametrize("batch_rows", [1, 7, 64, 8192])
def test_strays_that_keep_coming_make_a_settled_column_wider_wherever_batches_end(batch_rows):
    rows = [{"a": str(k % 9), "day": "2026-05-01", "label": str(k % 2)} for k in range(MANY + 50)]
    rows += [{"a": str(k % 9) if k % 3 else f"w{k}", "day": "2026-05-01", "label": "1"} for k in range(90)]
    rows += [{"a": "4", "day": f"d{k}", "label": "1"} for k in range(30)]
    found, stream = both(rows, skip_bad_lines=True, batch_rows=batch_rows)
    assert kinds(stream) == {"a": "category", "day": "category", "label": "label"}
    assert stream.bad_lines == 2 * MAX_MISMATCHES
    assert found == both(rows, skip_bad_lines=True, batch_rows=100)[0]
    assert len(found) == len(rows) - stream.bad_lines


def test_a_given_kind_never_gives_way():
    rows = [{"a": "1", "label": str(k % 2)} for k in range(20)] + [{"a": "x", "label": "1"}] * 40
    _, stream = both(rows, skip_bad_lines=True, features={"a": "number"})
    assert kinds(stream) == {"a": "number", "label": "label"}
    assert stream.bad_lines == 40


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_a_second_pass_begins_with_the_kinds_of_the_first(tmp_path, format):
    rows = [{"a": str(k % 9), "late": "", "label": str(k % 2)} for k in range(MANY)]
    rows += [{"a": "x", "late": "5", "label": "1"}] * 40
    path = tmp_path / f"rows.{format}"
    path.write_bytes(as_csv(rows) if format == "csv" else as_jsonl(rows))
    stream = open_stream(path, skip_bad_lines=True)
    first, second = ([batch.X for batch in stream] for _ in range(2))
    assert [X.shape for X in first] == [X.shape for X in second]
    assert all((one != other).nnz == 0 for one, other in zip(first, second, strict=True))
    assert stream.bad_lines == MAX_MISMATCHES


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_a_file_read_in_two_parts_with_the_state_between_is_the_whole_file(tmp_path, format):
    rows = [{"a": str(k % 9), "late": "", "label": str(k % 2)} for k in range(MANY + 40)]
    rows += [{"a": str(k % 9) if k % 4 else f"w{k}", "late": "5", "label": "1"} for k in range(100)]
    write = as_csv if format == "csv" else as_jsonl
    whole, _, stream = read(write(rows), format, skip_bad_lines=True)
    for cut in (MANY + 30, MANY + 50, MANY + 90):
        first, _, before = read(write(rows[:cut]), format, skip_bad_lines=True)
        kept = json.loads(json.dumps(before.state(), default=lambda array: array.tolist()))
        second, _, after = read(write(rows[cut:]), format, skip_bad_lines=True, state=kept)
        assert first + second == whole
        assert before.bad_lines + after.bad_lines == stream.bad_lines
        assert json.dumps(after.state(), default=np.ndarray.tolist) == json.dumps(
            stream.state(), default=np.ndarray.tolist
        )


cells = st.sampled_from(["1", "2.5", "x", "", "NA", "inf", "1e200", "2026-05-01", "a b c d e", "7"])
runs = st.lists(st.tuples(st.tuples(cells, cells), st.integers(1, 30)), min_size=2, max_size=12)


@settings(max_examples=40, deadline=None)
@given(runs, st.integers(1, 50))
def test_any_order_of_mixed_cells_is_judged_alike_in_both_formats_and_nothing_is_lost(course, batch_rows):
    rows = [{"a": "1", "b": "", "label": str(k % 2)} for k in range(30)]
    rows += [{"a": a, "b": b, "label": "1"} for (a, b), times in course for _ in range(times)]
    found, stream = both(rows, skip_bad_lines=True, batch_rows=batch_rows)
    assert len(found) + stream.bad_lines == len(rows)


@pytest.mark.parametrize("lines", [300, 1_500])
def test_cells_of_many_lines_leave_the_kinds_open_until_enough_rows_were_seen(lines):
    """Of cells with so many lines only a few rows, or none, are among the first lines that kinds are guessed by."""
    mail = "hello 1, dear, friend\n" * lines
    rows = [{"text": mail, "size": str(k), "code": "2024-01-01", "label": k % 2} for k in range(4)]
    rows += [{"text": "short", "size": str(k), "code": f"c{k % 3}", "label": k % 2} for k in range(300)]
    found, labels, stream = read(as_csv(rows), "csv")
    assert (len(found), stream.bad_lines) == (304, 0)
    assert [int(label) for label in labels] == [row["label"] for row in rows]
    assert kinds(stream) == {"text": "text", "size": "number", "code": "category", "label": "label"}
