"""A model file takes no more memory than it has bytes, whatever it says of itself."""

import hashlib
import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest

import askance
from askance.errors import ModelFileError
from askance.learner.files import FORMAT, VERSION

LARGE = 300_000_000


@pytest.fixture
def parts(tmp_path):
    """The members of a model's archive, in NumPy's own format, by name."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    clf = askance.make("SOAL-diag", random_state=0)
    clf.run(X, (X[:, 0] > 0).astype(int))
    clf.save(tmp_path / "model")
    body = (tmp_path / "model").read_bytes().split(b"\n", 1)[1]
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, parts, compression=zipfile.ZIP_STORED, alter=bytes):
    """A file whose length and checksum are right."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        for name, member in parts.items():
            archive.writestr(name, member)
    body = alter(content.getvalue())
    header = {"format": FORMAT, "version": VERSION, "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    path.write_bytes(json.dumps(header).encode() + b"\n" + body)
    return path


def refused(path, match):
    """How much memory it took to refuse a file."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=match):
            askance.load(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def document_of(parts):
    return json.loads(np.load(io.BytesIO(parts["document.npy"])).tobytes())


def with_document(parts, document):
    return {**parts, "document.npy": npy(np.frombuffer(json.dumps(document).encode(), np.uint8))}


def test_a_file_written_like_this_is_a_model(parts, tmp_path):
    assert askance.load(write(tmp_path / "again", parts)).events_seen_ == 200


def test_compressed_arrays_are_refused_before_they_are_read(parts, tmp_path):
    table = npy(np.zeros(LARGE // 8))
    path = write(tmp_path / "bomb", {**parts, "table.npy": table}, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < LARGE // 100
    del table
    assert refused(path, "its arrays are compressed") < 10_000_000


def test_an_array_that_is_said_to_be_longer_than_it_is_is_refused(parts, tmp_path):
    table = parts["table.npy"]
    shape = str(np.load(io.BytesIO(table)).shape).encode()
    longer = table.replace(shape, b"(99999999999,)".ljust(len(shape)), 1)
    path = write(tmp_path / "long", {**parts, "table.npy": longer})
    assert refused(path, "has .* bytes") < 10_000_000


def test_members_that_share_their_bytes_are_refused(parts, tmp_path):
    large = npy(np.zeros(1_000_000))

    def name_all_the_first(body):
        """Every entry of the directory points to the first member."""
        entries = [place for place in range(len(body)) if body.startswith(b"PK\x01\x02", place)]
        altered = bytearray(body)
        first = entries[0]
        for place in entries[1:]:
            altered[place + 16 : place + 28] = body[first + 16 : first + 28]  # checksum and sizes
            altered[place + 42 : place + 46] = body[first + 42 : first + 46]  # where it begins
        return bytes(altered)

    members = {f"a{number:02}.npy": large if not number else b"x" for number in range(50)}
    path = write(tmp_path / "shared", members, alter=name_all_the_first)
    assert refused(path, "longer than the file") < 30_000_000


def test_a_width_that_the_arrays_do_not_have_is_refused_before_there_is_room_made_for_it(parts, tmp_path):
    document = document_of(parts)
    document["learned"]["n_features"] = LARGE
    path = write(tmp_path / "wide", with_document(parts, document))
    assert refused(path, "does not suit 300000000 features") < 10_000_000


def test_more_classes_than_the_arrays_have_are_refused_before_there_is_room_made_for_them(parts, tmp_path):
    document = document_of(parts)
    document["learned"]["classes"] = {"kind": "array", "dtype": "<i8", "values": list(range(100_000))}
    path = write(tmp_path / "many", with_document(parts, document))
    assert refused(path, "does not suit 6 features and 100000 classes") < 30_000_000


def test_labels_of_a_type_that_takes_a_gigabyte_are_refused(parts, tmp_path):
    document = document_of(parts)
    document["learned"]["classes"] = {"kind": "array", "dtype": "<U250000000", "values": ["a", "b"]}
    path = write(tmp_path / "labels", with_document(parts, document))
    assert refused(path, "2 labels are said to be of type") < 10_000_000


def test_a_document_nested_without_end_is_refused(parts, tmp_path):
    nested = {**parts, "document.npy": npy(np.frombuffer(b"[" * 1_000_000, np.uint8))}
    refused(write(tmp_path / "nested", nested), "not a model this version can read")
