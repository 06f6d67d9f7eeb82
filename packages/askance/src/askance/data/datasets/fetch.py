"""Get a data set from its official source into the cache."""

from __future__ import annotations

from pathlib import Path

from askance.data.datasets import folders
from askance.data.datasets.convert import convert
from askance.data.datasets.download import Report, download, has_checksum
from askance.data.datasets.registry import Entry, RemoteFile, find
from askance.errors import DatasetError


def downloads_folder() -> Path:
    """Where the files of the official sources are kept, as they came."""
    return folders.cache_folder() / "downloads"


def get(name: str, report: Report | None = None) -> list[Path]:
    """Fetch a data set, unless it is on this machine already, and return its file or files.

    Parameters
    ----------
    name : str
        A name of the registry. For a task, what it is made of is fetched.
    report : callable, optional
        Told how far a download is.

    Raises
    ------
    DatasetError
        One sentence that says what went wrong, where to get the set and where to put it.
    """
    entry = find(name)
    if entry.is_task:
        return [path for part in entry.parts for path in get(part, report)]
    present = folders.path_of(entry)
    if present is not None:
        return [present]
    if not entry.can_be_fetched:
        raise DatasetError(missing(entry))
    try:
        paths = [_fetch(source, report) for source in entry.files]
        content = convert(entry, paths)
    except DatasetError as error:
        raise DatasetError(f"{error}. {by_hand(entry)}") from None
    path = folders.cache_folder() / entry.file_name
    folders.write(content, path)
    return [path]


def _fetch(source: RemoteFile, report: Report | None) -> Path:
    path = downloads_folder() / source.file_name
    if path.is_file() and has_checksum(path, source.checksum):
        return path
    download(source.url, path, source.checksum, report)
    return path


def missing(entry: Entry) -> str:
    """One sentence: the set is not here; where to get it and where to put it."""
    if entry.can_be_fetched:
        return f"{entry.name} is not on this machine: run 'askance data get {entry.name}', or {_by_hand(entry)}"
    return (
        f"{entry.name} is not on this machine and has no download that askance could convert: make "
        f"{entry.file_name} from {entry.source}, {entry.page}, and {_put_it()}"
    )


def by_hand(entry: Entry) -> str:
    """One sentence: what to do without a network."""
    sentence = _by_hand(entry)
    return sentence[0].upper() + sentence[1:]


def _by_hand(entry: Entry) -> str:
    urls = " and ".join(source.url for source in entry.files)
    names = " and ".join(source.file_name for source in entry.files)
    return (
        f"get {urls} elsewhere, put {names} into {downloads_folder()}, and run 'askance data get {entry.name}'; "
        f"or, with {entry.file_name} at hand, {_put_it()}"
    )


def _put_it() -> str:
    folder = folders.local_folder()
    where = f"{folder}, the folder that ASKANCE_DATA names" if folder else "a folder that ASKANCE_DATA names"
    return f"put it into {where}."
