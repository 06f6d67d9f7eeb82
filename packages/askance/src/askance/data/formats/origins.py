"""Where the rows of a batch come from: file, line and id, for whoever writes down what became of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from askance.data.encoding.kinds import IGNORED_NAMES

FILE, LINE, ID = "file", "line", "id"


def find_id(names: Sequence[str]) -> str | None:
    """The field that is called as an id usually is."""
    return next((name for name in names if name.strip().lower() in IGNORED_NAMES), None)


class Origins:
    """Gathers, for the rows of a batch, in order, where each comes from.

    Parameters
    ----------
    files : sequence of str
        The files of the source; a row's file is told where there are several.
    has_lines : bool
        Whether rows stand in lines.
    id_field : str, optional
        The field with the id of a row.

    Examples
    --------
    >>> origins = Origins(["mail.csv"], has_lines=True, id_field="id")
    >>> origins.add(0, [2, 3], ["m1", None])
    >>> origins.take()
    {'line': array([2, 3]), 'id': array(['m1', None], dtype=object)}
    """

    def __init__(self, files: Sequence[str], has_lines: bool, id_field: str | None) -> None:
        self._files = list(files)
        self.id_field = id_field
        tells = {
            FILE: len(files) > 1 and (has_lines or id_field is not None),
            LINE: has_lines,
            ID: id_field is not None,
        }
        self.names = tuple(name for name, is_told in tells.items() if is_told)
        """The columns there are, in order."""
        self.forget()

    def forget(self) -> None:
        """Begin a batch."""
        self._counts: list[tuple[int, int]] = []
        self._lines: list[np.ndarray] = []
        self._ids: list[Any] = []

    def add(self, place: int, lines: Sequence[int] | np.ndarray, ids: Sequence[Any]) -> None:
        """Some more rows, of the file at this place."""
        self._counts.append((place, max(len(lines), len(ids))))
        self._lines.append(np.asarray(lines, np.int64))
        self._ids += ids

    def drain(self) -> tuple[np.ndarray, list[Any]]:
        """The lines and the ids of the rows added since the last time, for rows of one file."""
        lines, ids = np.concatenate([np.zeros(0, np.int64), *self._lines]), self._ids
        self.forget()
        return lines, ids

    def take(self) -> dict[str, np.ndarray]:
        """The columns for the rows added since the last time."""
        if not self.names:
            return {}
        ids = np.empty(len(self._ids), object)
        ids[:] = self._ids
        columns = {
            FILE: np.repeat(
                np.array([self._files[place] for place, _ in self._counts], object), [n for _, n in self._counts]
            ),
            LINE: np.concatenate([np.zeros(0, np.int64), *self._lines]),
            ID: ids,
        }
        self.forget()
        return {name: columns[name] for name in self.names}
