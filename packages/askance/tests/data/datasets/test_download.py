import hashlib
import socket

import pytest

from askance.data.datasets.fetch import download, has_checksum
from askance.errors import DatasetError

BODY = b"1 1:0.5 3:1\n-1 2:1\n" * 1000


def sha256(body):
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def leftovers(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_file_arrives_whole_and_progress_is_told(server, tmp_path):
    server.answers["/a"] = (200, BODY, None)
    told = []
    download(f"{server.address}/a", tmp_path / "new" / "a", sha256(BODY), lambda *progress: told.append(progress))
    assert (tmp_path / "new" / "a").read_bytes() == BODY
    assert told[-1] == (len(BODY), len(BODY))
    assert leftovers(tmp_path) == ["a"]


def test_md5_is_checked_too_and_no_checksum_accepts_anything(server, tmp_path):
    server.answers["/a"] = (200, BODY, None)
    download(f"{server.address}/a", tmp_path / "a", f"md5:{hashlib.md5(BODY).hexdigest()}")
    download(f"{server.address}/a", tmp_path / "b")
    assert has_checksum(tmp_path / "a", sha256(BODY))
    assert not has_checksum(tmp_path / "a", sha256(b"other"))
    assert has_checksum(tmp_path / "a", "")


def test_a_download_that_breaks_off_leaves_nothing_behind(server, tmp_path):
    server.answers["/a"] = (200, BODY, len(BODY) + 10)
    with pytest.raises(DatasetError, match="broke off"):
        download(f"{server.address}/a", tmp_path / "a")
    assert leftovers(tmp_path) == []


def test_a_wrong_checksum_leaves_nothing_behind_and_keeps_what_was_there(server, tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    server.answers["/a"] = (200, BODY, None)
    with pytest.raises(DatasetError, match="sent something else than expected"):
        download(f"{server.address}/a", tmp_path / "a", sha256(b"something else"))
    assert (tmp_path / "a").read_bytes() == b"old"
    assert leftovers(tmp_path) == ["a"]


def test_a_refusal_is_told_with_its_code(server, tmp_path):
    with pytest.raises(DatasetError, match="/nowhere answered 404 Not Found"):
        download(f"{server.address}/nowhere", tmp_path / "a")
    assert leftovers(tmp_path) == []


def test_no_network_is_one_sentence(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(DatasetError, match="cannot be reached"):
        download(f"http://127.0.0.1:{port}/a", tmp_path / "a")
