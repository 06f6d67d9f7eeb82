import hashlib

import pytest

from askance.data.datasets import available, get, load_dataset
from askance.data.datasets.folders import cache_folder
from askance.errors import DatasetError

LINES = b"+1 1:0.5 3:1\n-1 2:1\n-1 1:2\n"


def table(address, checksum="", rows=3, more=""):
    return f"""
[tiny]
kind = "sparse"
rows = {rows}
columns = 3
classes = 2
source = "three lines"
page = "https://example.org/tiny"
licence = "none"
format = "libsvm"
files = [["{address}/tiny.libsvm", "{checksum}"]]

[hidden]
kind = "dense"
rows = 3
columns = 3
classes = 2
source = "a secret archive"
page = "https://example.org/hidden"
licence = "none"
{more}
"""


def test_a_set_is_fetched_once_converted_and_loaded(server, use_table):
    use_table(table(server.address, f"sha256:{hashlib.sha256(LINES).hexdigest()}"))
    server.answers["/tiny.libsvm"] = (200, LINES, None)
    assert not available("tiny")
    (path,) = get("tiny")
    assert path == cache_folder() / "tiny.npz"
    assert available("tiny")
    data = load_dataset("tiny")
    assert data.X.toarray().tolist() == [[0.5, 0, 1], [0, 1, 0], [2, 0, 0]]
    assert data.y.tolist() == [1, -1, -1]
    get("tiny")
    assert server.asked == ["/tiny.libsvm"]


def test_a_failed_download_says_where_to_get_the_set_and_where_to_put_it(server, use_table):
    use_table(table(server.address))
    with pytest.raises(DatasetError) as caught:
        get("tiny")
    message = str(caught.value)
    assert f"{server.address}/tiny.libsvm answered 404" in message
    assert f"put tiny.libsvm into {cache_folder() / 'downloads'}" in message
    assert "askance data get tiny" in message
    assert "ASKANCE_DATA" in message
    assert not cache_folder().exists() or not list(cache_folder().rglob("*.part"))


def test_a_file_that_was_put_there_by_hand_needs_no_network(server, use_table):
    use_table(table(server.address))
    (cache_folder() / "downloads").mkdir(parents=True)
    (cache_folder() / "downloads" / "tiny.libsvm").write_bytes(LINES)
    get("tiny")
    assert server.asked == []


def test_a_file_put_there_with_a_wrong_checksum_is_fetched_again(server, use_table):
    use_table(table(server.address, f"sha256:{hashlib.sha256(LINES).hexdigest()}"))
    server.answers["/tiny.libsvm"] = (200, LINES, None)
    (cache_folder() / "downloads").mkdir(parents=True)
    (cache_folder() / "downloads" / "tiny.libsvm").write_bytes(b"half of i")
    get("tiny")
    assert server.asked == ["/tiny.libsvm"]


@pytest.mark.parametrize("body", [b"", b"\x00\xff junk", b"1 1:one\n", b"<html>moved</html>"])
def test_something_that_is_not_the_set_is_refused_and_not_kept_as_one(server, use_table, body):
    use_table(table(server.address))
    server.answers["/tiny.libsvm"] = (200, body, None)
    with pytest.raises(DatasetError, match="tiny"):
        get("tiny")
    assert not available("tiny")


def test_a_set_of_another_size_is_refused(server, use_table):
    use_table(table(server.address, rows=4))
    server.answers["/tiny.libsvm"] = (200, LINES, None)
    with pytest.raises(DatasetError, match="should have 4 rows and 3 columns, but this has 3 and 3"):
        get("tiny")


def test_a_set_without_a_download_says_what_to_make_it_of(server, use_table):
    use_table(table(server.address))
    with pytest.raises(DatasetError, match="make hidden.npz from a secret archive, https://example.org/hidden"):
        get("hidden")


def test_a_task_fetches_what_it_is_made_of(server, use_table):
    more = """
[both]
kind = "task"
rows = 6
columns = 3
classes = 2
source = "twice"
page = "https://example.org/both"
licence = "none"
options = { make = "joined", parts = ["tiny", "tiny"] }
"""
    use_table(table(server.address, more=more))
    server.answers["/tiny.libsvm"] = (200, LINES, None)
    get("both")
    assert load_dataset("both").X.shape == (6, 3)
