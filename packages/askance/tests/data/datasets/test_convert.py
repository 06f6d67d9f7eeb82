import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import numpy as np
import pytest
from scipy.io import savemat

from askance.data.datasets.fetch import convert, labels_of
from askance.data.datasets.registry import Entry
from askance.errors import DatasetError


def entry(kind="dense", rows=3, columns=2, classes=2, **more):
    return Entry("tiny", kind, rows, columns, classes, "here", "https://example.org", "none", **more)


def saved(folder, name, content):
    path = folder / name
    path.write_bytes(content)
    return path


def test_two_files_of_libsvm_text_stand_one_after_the_other(tmp_path):
    paths = [saved(tmp_path, "a", b"2 1:1\n1 2:3\n"), saved(tmp_path, "b.t", b"1 1:4 2:5\n")]
    content = convert(entry("sparse", format="libsvm", options={"positive": "1"}), paths)
    assert content.X.toarray().tolist() == [[1, 0], [0, 3], [4, 5]]
    assert content.y.tolist() == [-1, 1, 1]


@pytest.mark.parametrize(("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_packed_files_are_unpacked_on_the_way(tmp_path, ending, pack):
    path = saved(tmp_path, f"a.{ending}", pack(b"0 1:1\n1 2:1\n2 1:1\n"))
    assert convert(entry(classes=3, format="libsvm"), [path]).y.tolist() == [0, 1, 2]


def test_a_scaling_can_be_undone(tmp_path):
    path = saved(tmp_path, "a", b"1 1:-1 2:-0.866667\n2 1:0.0666667 2:1\n3 1:1 2:-1\n")
    content = convert(entry(classes=3, format="libsvm", options={"add": 1.0, "times": 7.5}), [path])
    assert content.X.tolist() == [[0, 1], [8, 15], [15, 0]]


def test_members_of_an_archive_are_read_in_order(tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("folder/test.csv", "g,5,6\n")
        archive.writestr("folder/train.csv", "h,1,2\ng,3,4\n")
    path = saved(tmp_path, "a.zip", packed.getvalue())
    options = {"members": ["train.csv", "test.csv"], "label": 0, "positive": "g"}
    content = convert(entry(format="csv", options=options), [path])
    assert content.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert content.y.tolist() == [-1, 1, 1]


def test_categories_become_codes_and_their_names_are_kept(tmp_path):
    path = saved(tmp_path, "a.csv", b"size,kind,label\n1,tcp,normal.\n2,udp,smurf.\n3,tcp,normal.\n")
    options = {"header": True, "categories": [1], "negative": "normal."}
    content = convert(entry(format="csv", options=options), [path])
    assert content.X.tolist() == [[1, 0], [2, 1], [3, 0]]
    assert content.extra["cat1"].tolist() == ["tcp", "udp"]
    assert content.y.tolist() == [-1, 1, -1]


def test_numbers_between_spaces_are_read(tmp_path):
    path = saved(tmp_path, "a.trn", b"1 2 7\n3 4 1\n\n5 6 3\n")
    content = convert(entry(classes=3, format="csv", options={"delimiter": " "}), [path])
    assert content.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert content.y.tolist() == [2, 0, 1]


def test_a_matlab_file_is_read(tmp_path):
    savemat(tmp_path / "a.mat", {"X": np.array([[1.0, 0], [0, 2], [3, 0]]), "Y": np.array([[1], [2], [1]])})
    content = convert(entry("sparse", format="mat"), [tmp_path / "a.mat"])
    assert content.X.toarray().tolist() == [[1, 0], [0, 2], [3, 0]]
    assert content.y.tolist() == [-1, 1, -1]


def test_records_of_images_are_cut_out_of_the_binary_archive(tmp_path):
    records = np.arange(4 * 3073, dtype=np.uint32).astype(np.uint8).reshape(4, 3073)
    records[:, 0] = [3, 1, 2, 1]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        member = tarfile.TarInfo("cifar/data_batch_1.bin")
        member.size = records.size
        archive.addfile(member, io.BytesIO(records.tobytes()))
    path = saved(tmp_path, "cifar.tar.gz", packed.getvalue())
    options = {"member": "data_batch_1.bin", "rows": [1, 4]}
    content = convert(entry(columns=3072, format="cifar", options=options), [path])
    assert content.y.tolist() == [1, 2, 1]
    assert np.array_equal(content.X, records[1:, 1:])


def test_labeled_texts_are_read(tmp_path):
    path = saved(tmp_path, "SMS", "ham\tOk lar\nspam\tFree £ entry\nham\ttab\there\n".encode())
    options = {"positive": "spam"}
    content = convert(entry("text", columns=0, format="labeled texts", options=options), [path])
    assert content.texts == ["Ok lar", "Free £ entry", "tab\there"]
    assert content.y.tolist() == [-1, 1, -1]


def test_a_missing_member_is_one_sentence(tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("readme", "moved")
    path = saved(tmp_path, "a.zip", packed.getvalue())
    with pytest.raises(DatasetError, match="a.zip has no data.csv"):
        convert(entry(format="csv", options={"members": ["data.csv"]}), [path])


def test_classes_of_another_size_are_refused(tmp_path):
    path = saved(tmp_path, "a", b"1 1:1\n-1 2:1\n-1 1:1\n")
    with pytest.raises(DatasetError, match=r"should have \(1, 2\) rows of its classes, but this has \(2, 1\)"):
        convert(entry(format="libsvm", counts=(1, 2)), [path])


def test_labels_keep_the_order_of_numbers_and_of_words():
    assert labels_of(["10", "9", "9", "11"], {}).tolist() == [1, 0, 0, 2]
    assert labels_of(["b", "a", "c"], {}).tolist() == [1, 0, 2]
    assert labels_of(["0", "-1", "1"], {"labels": ["0", "-1", "1"]}).tolist() == [0, 1, 2]
    assert labels_of(["1", "2"], {}).tolist() == [-1, 1]
