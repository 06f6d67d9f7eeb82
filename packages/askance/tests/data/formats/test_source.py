"""Where bytes come from: files, folders, pipes, compressed or not."""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.formats import slow

from askance.data import open_stream
from askance.data.formats.source import Input, Source, without_compression
from askance.errors import BadLine, InvalidInput, InvalidType

CONTENT = b"".join(b"%d %d:1 7:0.5\n" % (row % 2, row % 5 + 1) for row in range(400))
COMPRESS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("suffix", list(COMPRESS))
@pytest.mark.parametrize("named", [True, False])
def test_compressed_files_are_decompressed_whatever_they_are_called(suffix, named, tmp_path):
    plain, packed = tmp_path / "a.libsvm", tmp_path / (f"b.libsvm.{suffix}" if named else "b.libsvm")
    plain.write_bytes(CONTENT)
    packed.write_bytes(COMPRESS[suffix](CONTENT))
    assert slow.played(open_stream(packed)) == slow.played(open_stream(plain))


def test_a_plain_file_with_a_compressed_name_is_read_as_it_is(tmp_path):
    path = tmp_path / "a.libsvm.gz"
    path.write_bytes(CONTENT)
    assert len(slow.played(open_stream(path))[0]) == 400


def test_a_compressed_file_cut_off_after_a_few_bytes_is_refused(tmp_path):
    path = tmp_path / "a.libsvm.bz2"
    path.write_bytes(bz2.compress(CONTENT)[:4])
    with pytest.raises(InvalidInput, match="too short for a compressed file"):
        open_stream(path)


def test_several_compressed_pieces_in_a_row_are_one_file():
    content = gzip.compress(CONTENT) + gzip.compress(CONTENT)
    assert len(slow.played(open_stream(io.BytesIO(content)))[0]) == 800


@settings(max_examples=150, deadline=None)
@given(how=st.sampled_from(list(COMPRESS)), data=st.data())
def test_damaged_compression_is_an_error_in_one_sentence(how, data):
    packed = COMPRESS[how](CONTENT)
    place = data.draw(st.integers(10, len(packed) - 1))  # before that, it is no compressed file at all
    if data.draw(st.booleans()):
        packed = packed[:place]
    else:
        packed = packed[:place] + bytes([data.draw(st.integers(0, 255))]) + packed[place + 1 :]
    with slow.clear_errors():
        rows, _ = slow.played(open_stream(io.BytesIO(packed), format="libsvm"))
        assert len(rows) in (0, 400)


def test_a_folder_is_played_in_the_order_of_names_without_hidden_files(tmp_path):
    for name, label in (("b.libsvm", 2), ("a.libsvm.gz", 1), ("c.libsvm", 3)):
        content = b"%d 1:1\n" % label * 3
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    (tmp_path / ".hidden").write_text("junk")
    (tmp_path / "sub").mkdir()
    _, labels = slow.played(open_stream(tmp_path, batch_rows=2))
    assert labels == [1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_an_error_in_a_folder_names_the_file_and_its_own_line(tmp_path):
    (tmp_path / "a.libsvm").write_text("1 1:1\n" * 5)
    (tmp_path / "b.libsvm").write_text("1 1:1\n1 x:1\n")
    with pytest.raises(BadLine, match="line 2 of 'b.libsvm', column 3"):
        slow.played(open_stream(tmp_path))


@pytest.mark.parametrize("header", ['a,"b c",y\n', ""])
def test_csv_files_in_a_folder_all_have_the_names_of_the_first_or_none(header, tmp_path):
    (tmp_path / "1.csv").write_text(f"{header}1,2,0\n")
    (tmp_path / "2.csv").write_text(f"{header}3,4,1\n")
    (tmp_path / "3.csv").write_text("")
    assert slow.played(open_stream(tmp_path, raw=True)) == ([{0: 1.0, 1: 2.0}, {0: 3.0, 1: 4.0}], [0, 1])


@pytest.mark.parametrize("second", ["b,a,y\n4,3,1\n", "c,d,y\n3,4,1\n", "a,b,c,y\n3,4,5,1\n", "3,4,1\n"])
@pytest.mark.parametrize("skip_bad_lines", [False, True])
def test_a_csv_file_with_other_columns_than_the_first_of_its_folder_is_refused(second, skip_bad_lines, tmp_path):
    (tmp_path / "1.csv").write_text("a,b,y\n1,2,0\n")
    (tmp_path / "2.csv").write_text(second)
    with pytest.raises(InvalidInput, match=r"'2\.csv' cannot follow .* its columns are not those of '1\.csv', a, b, y"):
        slow.played(open_stream(tmp_path, skip_bad_lines=skip_bad_lines))


@pytest.mark.parametrize(
    ("source", "reason"), [("/nowhere/x.csv", "there is no file or folder"), ("folder", "holds no files")]
)
def test_what_is_not_there_is_told(source, reason, tmp_path):
    path = tmp_path if source == "folder" else source
    with pytest.raises(InvalidInput, match=reason):
        open_stream(path)


def test_a_folder_of_different_formats_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,0\n")
    (tmp_path / "b.jsonl").write_text("{}\n")
    with pytest.raises(InvalidInput, match="mixes formats: 'a.csv' is csv, 'b.jsonl' jsonl"):
        open_stream(tmp_path)


@pytest.mark.parametrize("source", [5, None, io.StringIO("1 1:1\n")])
def test_sources_that_cannot_be_read_are_refused(source):
    with pytest.raises(InvalidType, match="binary mode"):
        open_stream(source)


def test_a_stream_can_be_played_again_from_a_file_but_only_once_from_a_pipe(tmp_path):
    path = tmp_path / "a.libsvm"
    path.write_bytes(CONTENT)
    stream = open_stream(path)
    assert slow.played(stream) == slow.played(stream)
    stream = open_stream(io.BytesIO(CONTENT))
    slow.played(stream)
    with pytest.raises(InvalidInput, match="can be played only once"):
        slow.played(stream)


@pytest.mark.parametrize("content", [CONTENT, gzip.compress(CONTENT)], ids=["plain", "gzip"])
def test_the_standard_input_is_a_source(content):
    code = "from askance.data import open_stream; print(sum(b.X.shape[0] for b in open_stream('-')))"
    result = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True, check=False)
    assert result.stdout == b"400\n", result.stderr


def test_archives_are_read_from_pipes_and_compressed_files():
    file = io.BytesIO()
    np.savez(file, X=np.eye(3), y=np.arange(3))
    for content in (file.getvalue(), gzip.compress(file.getvalue())):
        assert len(slow.played(open_stream(io.BytesIO(content), format="npz"))[0]) == 3


def test_a_pipe_that_trickles_gives_the_same_rows():
    def trickle(descriptor):
        with os.fdopen(descriptor, "wb", buffering=0) as pipe:
            for start in range(0, len(CONTENT), 7):
                pipe.write(CONTENT[start : start + 7])

    reading, writing = os.pipe()
    writer = threading.Thread(target=trickle, args=(writing,))
    writer.start()
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        found = slow.played(open_stream(pipe))
    writer.join()
    assert found == slow.played(open_stream(io.BytesIO(CONTENT)))


def test_the_callers_own_object_stays_open():
    file = io.BytesIO(CONTENT)
    with open_stream(file) as stream:
        slow.played(stream)
    del stream
    assert not file.closed


def test_progress_goes_from_nothing_to_all(tmp_path):
    path = tmp_path / "a.libsvm"
    path.write_bytes(CONTENT * 2000)
    stream = open_stream(path)
    shares = []
    for _ in stream:
        shares.append(stream.share_read())
    assert 0.0 < shares[0] < 0.5
    assert shares == sorted(shares)
    assert stream.share_read() == 1.0


def test_look_reads_nothing_away():
    part = Input(io.BytesIO(CONTENT), "x")
    assert part.peek(2, 1000).startswith(b"0 1:1")
    assert part.read(len(CONTENT) + 1) == CONTENT


def test_names_without_compression():
    assert without_compression("a.csv.GZ") == "a.csv"
    assert without_compression("a.csv") == "a.csv"
    assert len(Source(io.BytesIO(b""))) == 1


@pytest.mark.parametrize("skip_bad_lines", [False, True])
def test_a_file_with_names_after_one_without_is_refused(skip_bad_lines, tmp_path):
    (tmp_path / "a.csv").write_text("1,2,x\n3,4,y\n")
    (tmp_path / "b.csv").write_text("size,age,label\n1,2,x\n3,4,y\n")
    with pytest.raises(
        InvalidInput, match="'b.csv' begins with a line of names, size, age, label, but 'a.csv' does not"
    ):
        slow.played(open_stream(tmp_path, skip_bad_lines=skip_bad_lines))


@pytest.mark.parametrize("content", [b'{"a": 1, "y": 0}', CONTENT], ids=["one line without an end", "many lines"])
def test_a_second_look_shows_what_the_first_did_and_changes_nothing(content):
    source = Source(io.BytesIO(content))
    for _ in range(3):
        assert source.peek(500, 1 << 16) == content
    assert source.open(0).read(1 << 16) == content


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "svm"])
@pytest.mark.parametrize("empty", [("0",), ("2",), ("4",), ("0", "00", "2", "4")])
def test_empty_files_among_several_are_passed_over(tmp_path, suffix, empty):
    head, row = {"csv": ("a,label\n", "{n},{label}\n"), "jsonl": ("", '{{"a": {n}, "label": "{label}"}}\n'),
                 "svm": ("", "{sign} 1:{n}\n")}[suffix]  # fmt: skip
    lines = [row.format(n=n, label="xy"[n % 2], sign=(-1, 1)[n % 2]) for n in range(1, 9)]
    for folder in ("full", "mixed"):
        (tmp_path / folder).mkdir()
        for name, part in (("1", lines[:4]), ("3", lines[4:])):
            (tmp_path / folder / f"{name}.{suffix}").write_text(head + "".join(part))
    for name in empty:
        (tmp_path / "mixed" / f"{name}.{suffix}").touch()

    def rows(source):
        for batch in open_stream(source):
            yield from zip(batch.X.toarray().tolist(), batch.y.tolist(), strict=True)

    full, mixed = list(rows(tmp_path / "full")), list(rows(tmp_path / "mixed"))
    assert len(mixed) == 8
    assert full == mixed
    assert list(rows(sorted((tmp_path / "mixed").iterdir()))) == full  # named one by one
