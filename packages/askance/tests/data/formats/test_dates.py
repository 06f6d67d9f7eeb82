"""Fields of dates: weekday and hour are learned from, in every format alike."""

import io
import json

import pytest
from tests.data.formats import slow

from askance.data import open_stream
from askance.data.encoding.rows import RowFeatures
from askance.errors import BadLine, InvalidInput

DAYS = ["2024-03-01", "2024-03-08 12:30", "2024-03-02T12:05:09.25Z", "2024-03-02 23:00:00+05:30", "NA"]
WORDS = [["Friday"], ["Friday", "12 h"], ["Saturday", "12 h"], ["Saturday", "23 h"], [""]]


def rows_of(content, **options):
    return slow.played(open_stream(io.BytesIO(content), raw=True, hash_bits=10, **options))


def expected(words):
    return [{slow.column_of("sent", word, 10): 0.5 for word in row} for row in words]


def as_csv(days):
    return ("sent,y\n" + "".join(f"{day},{place % 2}\n" for place, day in enumerate(days))).encode()


def as_json(days):
    return "".join(json.dumps({"sent": day, "y": place % 2}) + "\n" for place, day in enumerate(days)).encode()


def as_arff(days):
    head = "@relation r\n@attribute sent date 'yyyy-MM-dd'\n@attribute y {0,1}\n@data\n"
    return (head + "".join(f"'{day if day != 'NA' else '?'}',{place % 2}\n" for place, day in enumerate(days))).encode()


def as_sparse_arff(days):
    head = "@relation r\n@attribute sent date 'yyyy-MM-dd'\n@attribute y {0,1}\n@data\n"
    rows = (f"{{0 '{day if day != 'NA' else '?'}', 1 {place % 2}}}\n" for place, day in enumerate(days))
    return (head + "".join(rows)).encode()


@pytest.mark.parametrize("written", [as_csv, as_json, as_arff, as_sparse_arff])
def test_weekday_and_hour_are_learned_from(written):
    assert rows_of(written(DAYS))[0] == expected(WORDS)


@pytest.mark.parametrize("written", [as_csv, as_json])
def test_a_later_value_that_is_no_date_is_a_bad_line(written):
    content = written(["2024-03-01"] * 1000 + ["soon", "2024-03-02"])
    with pytest.raises(BadLine, match="'soon' is no date such as .*the kind 'category' allows any value"):
        rows_of(content)
    assert len(rows_of(content, skip_bad_lines=True)[0]) == 1001
    assert len(rows_of(content, features={"sent": "category"})[0]) == 1002


def test_the_kind_can_be_given_and_does_not_stand_for_other_ways_to_write_dates():
    with pytest.raises(BadLine, match="'03/01/2024' is no date"):
        rows_of(as_csv(["03/01/2024"]), features={"sent": "date"})


def test_one_event_of_a_service_goes_the_same_way():
    features = RowFeatures({"sent": "date"}, hash_bits=10)
    columns, values = features.row({"sent": "2024-03-08 12:30"})
    assert dict(zip(columns.tolist(), values.tolist(), strict=True)) == expected(WORDS)[1]
    with pytest.raises(InvalidInput, match="field 'sent': 'soon' is no date"):
        features.row({"sent": "soon"})
    again = RowFeatures.from_dict(json.loads(json.dumps(features.to_dict(), default=lambda array: array.tolist())))
    assert again.kinds == {"sent": "date"}
    assert again.row({"sent": "2024-03-08 12:30"})[0].tolist() == columns.tolist()


def test_one_date_alone_makes_no_field_of_dates():
    features = RowFeatures(hash_bits=10)
    features.row({"due": "2024-03-08"})
    assert features.kinds == {"due": "category"}
    assert len(features.row({"due": "soon"})[0]) == 1


def test_a_field_for_the_time_of_events_is_not_learned_from():
    with open_stream(io.BytesIO(as_csv(DAYS[:2])), features={"sent": "time"}, label="y") as stream:
        (batch,) = stream
    assert batch.X.nnz == 0
    assert batch.times.tolist() == [1709251200.0, 1709901000.0]
