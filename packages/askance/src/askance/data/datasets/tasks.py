"""Tasks that the papers made of public sets: classes against each other, parts joined, categories spread out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from askance.data.datasets.folders import Content
from askance.errors import InvalidParameter


def one_against_the_rest(content: Content, name: str, label: str) -> Content:
    """One class of several as +1, all others as -1."""
    known = np.unique(content.y)
    if len(known) < 3 or label not in {str(one) for one in known.tolist()}:
        there = ", ".join(str(one) for one in known[:30].tolist())
        raise InvalidParameter(f"{name} has no class {label!r} to set against others; its classes are {there}.")
    y = np.where(content.y == int(label), 1, -1).astype(np.int8)
    return Content(content.X, y, content.texts, content.extra)


def _select(content: Content, rows: np.ndarray, y: np.ndarray) -> Content:
    texts = None if content.texts is None else [content.texts[row] for row in rows.tolist()]
    X = None if content.X is None else content.X[rows]
    return Content(X, y, texts)


def binary(parts: list[Content], options: dict[str, Any]) -> Content:
    """Some classes as +1, some others (all others unless ``negative`` lists them) as -1; the rest is left out."""
    content = parts[0]
    positive = np.isin(content.y, options["positive"])
    negative = np.isin(content.y, options["negative"]) if "negative" in options else ~positive
    rows = np.flatnonzero(positive | negative)
    return _select(content, rows, np.where(positive[rows], 1, -1).astype(np.int8))


def first_rows(parts: list[Content], options: dict[str, Any]) -> Content:
    """The first rows only: where a file is training and test set together, and a paper uses the former."""
    rows = np.arange(options["rows"])
    return _select(parts[0], rows, parts[0].y[rows])


def join_parts(parts: list[Content], options: dict[str, Any]) -> Content:
    """Several sets, one after the other."""
    rows = [part.X for part in parts]
    X = sp.vstack(rows, format="csr") if sp.issparse(rows[0]) else np.concatenate(rows)
    return Content(X, np.concatenate([part.y for part in parts]))


def interleave(parts: list[Content], options: dict[str, Any]) -> Content:
    """Columns of category codes become one column per category, behind the others."""
    content, codes = parts[0], options["categories"]
    X = sp.csc_matrix(content.X)
    kept = [column for column in range(X.shape[1]) if column not in codes]
    blocks: list[Any] = [X[:, kept]]
    for column in codes:
        code = np.asarray(X[:, [column]].todense()).ravel().astype(int)
        ones = np.ones(len(code))
        n_categories = len(content.extra.get(f"cat{column}", ())) or int(code.max()) + 1
        blocks.append(sp.csr_matrix((ones, (np.arange(len(code)), code)), shape=(len(code), n_categories)))
    return Content(sp.hstack(blocks, format="csr"), content.y)


TASKS: dict[str, Callable[[list[Content], dict[str, Any]], Content]] = {
    "binary": binary,
    "first rows": first_rows,
    "joined": join_parts,
    "spread out": interleave,
}
