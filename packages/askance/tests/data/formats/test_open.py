"""Opening a stream: formats by name and by content, options."""

import gzip
import io

import numpy as np
import pytest
from tests.data.formats import slow

from askance.data import Batch, open_stream
from askance.data.formats import format_of
from askance.errors import InvalidParameter

SAMPLES = {
    "libsvm": b"1 1:0.5 7:1\n-1\n-1 2:1\n",
    "csv": b"a,b,y\n1,2,0\n3,4,1\n",
    "jsonl": b'{"a": 1, "y": 0}\n{"a": 2, "y": 1}\n',
    "arff": b"% c\n@relation r\n@attribute a real\n@attribute class {0,1}\n@data\n1,0\n2,1\n",
}


@pytest.mark.parametrize("format", list(SAMPLES))
def test_the_format_is_told_by_the_content(format):
    assert format_of(SAMPLES[format], "x") == format
    assert format_of(b"\xef\xbb\xbf\r\n" + SAMPLES[format].replace(b"\n", b"\r\n"), "x") == format
    stream = open_stream(io.BytesIO(SAMPLES[format]))
    assert len(slow.played(stream)[0]) >= 2


@pytest.mark.parametrize(
    ("content", "format"),
    [
        (b"spam 3:1 9:2\nham 4:1\n", "libsvm"),
        (b"+1 qid:3 1:1\n", "libsvm"),
        (b"# comment\n1 1:1\n", "libsvm"),
        (b"1\n2\n3\n", "csv"),
        (b"time\tvalue\n12:30\t5\n", "csv"),
        (b"12:30,5\n12:31,6\n", "csv"),
        (b"@ATTRIBUTE a real\n", "arff"),
        (b"PK\x03\x04...", "npz"),
        (b"PAR1...", "parquet"),
        (b'\n[\n  {\n    "a": 1\n  }\n]\n', "jsonl"),
        (b"", "csv"),
    ],
)
def test_formats_are_told_apart(content, format):
    assert format_of(content, "x") == format


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.svm", "libsvm"),
        ("a.svmlight.gz", "libsvm"),
        ("a.CSV", "csv"),
        ("a.ndjson", "jsonl"),
        ("a.json", "jsonl"),
        ("a.arff.xz", "arff"),
    ],
)
def test_the_format_is_told_by_the_name(name, format, tmp_path):
    path = tmp_path / name
    content = SAMPLES[format]
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    stream = open_stream(path)
    assert stream.name == name
    assert len(slow.played(stream)[0]) >= 2


def test_a_format_that_is_given_decides():
    assert len(slow.played(open_stream(io.BytesIO(b"1 1:1\n2 2:2\n"), format="csv", label=False, header=False))[0]) == 2
    with pytest.raises(InvalidParameter, match="format must be one of libsvm, csv"):
        open_stream(io.BytesIO(b""), format="xls")


@pytest.mark.parametrize(
    ("option", "format"), [("header", "libsvm"), ("delimiter", "jsonl"), ("zero_based", "csv"), ("quote", "arff")]
)
def test_options_of_other_formats_are_refused(option, format):
    with pytest.raises(InvalidParameter, match=f"{option} means nothing for {format}"):
        open_stream(io.BytesIO(SAMPLES[format]), format=format, **{option: "x"})


@pytest.mark.parametrize(
    "options",
    [{"batch_rows": "many"}, {"label": True}, {"label": 1.5}, {"labels": "words"}, {"hash_bits": 31}, {"ngrams": 0}],
)
def test_options_that_cannot_work_are_refused(options):
    with pytest.raises(InvalidParameter):
        open_stream(io.BytesIO(SAMPLES["csv"]), **options)


@pytest.mark.parametrize("format", list(SAMPLES))
@pytest.mark.parametrize("raw", [True, False])
def test_the_size_of_batches_changes_nothing(format, raw):
    content = SAMPLES[format] + SAMPLES[format].splitlines(keepends=True)[-1] * 37
    expected = slow.played(open_stream(io.BytesIO(content), format=format, raw=raw))
    for batch_rows in (1, 2, 7):
        assert slow.played(open_stream(io.BytesIO(content), format=format, raw=raw, batch_rows=batch_rows)) == expected


def test_batches_play_in_the_engine():
    import askance

    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = np.where(X @ [1.0, -2.0, 0.5] > 0, "yes", "no")
    content = "".join(f"{a!r},{b!r},{c!r},{label}\n" for (a, b, c), label in zip(X.tolist(), y, strict=True))
    clf = askance.make("SOAL-diag", delta=1.0, intercept=True, classes=["no", "yes"], random_state=0)
    right = 0
    for batch in open_stream(io.BytesIO(content.encode()), batch_rows=100):
        assert isinstance(batch, Batch)
        right += (clf.run(batch.X, batch.y).predicted == batch.y).sum()
    assert right > 430
