"""Files that appear complete or not at all."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from askance.atomic import atomic_write, remove_unfinished


def test_a_file_takes_its_place_when_the_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with atomic_write(target) as name:
        Path(name).write_text("new")
        assert target.read_text() == "old"
        assert Path(name).parent == tmp_path
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_block_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def fail() -> None:
        with atomic_write(target) as name:
            Path(name).write_text("new")
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.skipif(sys.platform == "win32", reason="needs permissions of files")
def test_a_file_has_the_permissions_of_any_other(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "a.txt"):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640


def test_what_is_unfinished_can_be_removed_and_nothing_else(tmp_path: Path) -> None:
    finished, unfinished = tmp_path / "finished.txt", tmp_path / "unfinished.txt"
    with atomic_write(finished):
        pass

    def give_up() -> None:
        with atomic_write(unfinished) as name:
            assert Path(name).exists()
            remove_unfinished()
            assert not Path(name).exists()

    with pytest.raises(FileNotFoundError):
        give_up()
    assert list(tmp_path.iterdir()) == [finished]
