"""Every slip in ``slips.txt`` is answered with what stands there: on the command line with one line and exit code 2, in
Python with an exception whose message is one line."""

from __future__ import annotations

import contextlib
import gzip
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.here import complaint

import askance
from askance.data import open_stream

LINES = (Path(__file__).parent / "slips.txt").read_text(encoding="utf-8").splitlines()
SLIPS = [(line.removeprefix("$ askance "), LINES[n + 1]) for n, line in enumerate(LINES) if line.startswith("$ ")]

IN_PYTHON = [(line.removeprefix(">>> "), LINES[n + 1]) for n, line in enumerate(LINES) if line.startswith(">>> ")]

SPAM, HAM = "win a prize now,spam", "lunch on friday ok,ham"
ROWS = [f"{k % 7},{('shop', 'friend')[k % 2]},{SPAM if k % 3 else HAM}" for k in range(60)]
TEXTS = {
    "mail.csv": "\n".join(["size,sender,text,label", *ROWS]) + "\n",
    "one.csv": "p,label\n1,a\n2,a\n",
    "empty.csv": "p,label\n",
    "nothing.csv": "",
    "blank.csv": "p,label\n1,\n2,NA\n",
    "prices.csv": "x,price\n" + "".join(f"{k},{k}.25\n" for k in range(99)),
    "keys.csv": "x,label\n" + "".join(f"{k % 3},k{k}\n" for k in range(200)),
    "twice.csv": "a,label,label\n1,x,y\n2,y,x\n",
    "cells.csv": "a,b,label\n1,2,x\n1,2\n2,1,y\n",
    "quote.csv": 'a,label\n"1,x\n2,y\n',
    "thousands.csv": 'a,label\n"1.234,50",x\n"2.345,50",y\n',
    "word.csv": "a,label\n" + "1,x\n2,y\n" * 30 + "many,x\n",
    "solo.csv": "text\nhello\n",
    "array.json": '[{"a": 1, "label": "x"}, ',
    "none.json": "[]\n",
    "bad.jsonl": '{"a": 1, "label": "x"}\n{"a": 2, "label"\n',
    "list.jsonl": '{"a": 1, "label": "x"}\n[1, 2]\n',
    "inf.jsonl": '{"a": Infinity, "label": "x"}\n{"a": 2, "label": "y"}\n',
    "bad.libsvm": "+1 1:0.5\n-1 2:x\n",
    "zero.libsvm": "+1 0:1\n-1 1:1\n+1 -3:1\n",
    "m.model": "no model",
    "mixed/a.csv": "a,label\n1,x\n",
    "mixed/b.jsonl": '{"a": 1, "label": "x"}\n',
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of which many are spoilt."""
    folder = tmp_path_factory.mktemp("slips")
    for name in ("days", "mixed"):
        (folder / name).mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "latin.csv").write_bytes("größe,label\n1,a\n2,b\n".encode("latin1"))
    (folder / "umlauts.csv").write_bytes("city,label\nBern,a\nZürich,b\n".encode("latin1") * 3)
    (folder / "broken.feather").write_bytes(b"ARROW1\0\0 and no more")
    (folder / "utf16.csv").write_bytes("a,label\n1,x\n2,y\n".encode("utf-16"))
    (folder / "cut.csv.gz").write_bytes(gzip.compress(b"a,label\n" + b"1,x\n2,y\n" * 999)[:-20])
    (folder / "noise.csv").write_bytes(bytes(range(256)) * 4)
    np.savez(folder / "events.npz", X=np.arange(40.0).reshape(20, 2), y=np.arange(20) % 2)
    np.savez(folder / "short.npz", X=np.zeros((3, 2)), y=[0, 1])
    np.savez(folder / "bare.npz", X=np.zeros((3, 2)))
    np.save(folder / "one.npy", np.zeros(3))
    askance.make("PAA-I").fit(np.eye(2), ["a", "b"]).save(folder / "good.model")
    return folder


def test_there_are_a_hundred_slips_and_none_stands_there_twice() -> None:
    assert len(SLIPS) >= 100
    assert len(dict(SLIPS)) == len(SLIPS)


@pytest.mark.parametrize(("words", "sentence"), SLIPS, ids=[words for words, _ in SLIPS])
def test_a_slip_is_answered_with_one_sentence(folder: Path, words: str, sentence: str) -> None:
    said = complaint(*shlex.split(words), cwd=folder)
    if sentence.endswith("..."):
        assert said.startswith(sentence.removesuffix("..."))
    else:
        assert said == f"{sentence}\n"


def names() -> dict[str, Any]:
    """What the lines of Python use: events, and classifiers that have seen none, arrays, a table, or one of them."""
    import pandas as pd
    import polars as pl
    import scipy.sparse
    from sklearn.linear_model import SGDClassifier

    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.where(X[:, 0] > 0, "spam", "ham")
    texts = ["win a prize now", "lunch on friday ok"] * 20
    rows = [
        {"size": float(size), "sender": sender, "text": text}
        for size, sender, text in zip(X[:, 1], ["shop", "friend"] * 20, texts, strict=True)
    ]
    clf, raw = (askance.make("PAA-I", random_state=0) for _ in range(2))
    clf.run(X, y)
    raw.run(pd.DataFrame(rows), y)
    live = askance.make("PAA-I", classes=["ham", "spam"], n_features=3, random_state=0)
    return {
        "make": askance.make, "load": askance.load, "ActiveClassifier": askance.ActiveClassifier,
        "budgets": askance.budgets, "quality": askance.quality, "open_stream": open_stream,
        "wrap": askance.wrap, "SGDClassifier": SGDClassifier, "scipy": scipy,
        "np": np, "pd": pd, "pl": pl, "X": X, "y": y, "rows": rows, "frame": pd.DataFrame(rows),
        "new": askance.make("auto", budget=20, random_state=0), "clf": clf, "raw": raw,
        "live": live, "d": live.ask(X[0]),
    }  # fmt: skip


def test_there_are_many_slips_in_python_and_none_stands_there_twice() -> None:
    assert len(IN_PYTHON) >= 80
    assert len(dict(IN_PYTHON)) == len(IN_PYTHON)


@pytest.mark.parametrize(("line", "sentence"), IN_PYTHON, ids=[line for line, _ in IN_PYTHON])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_slip_in_python_is_answered_with_one_sentence(folder: Path, line: str, sentence: str) -> None:
    kind, _, message = sentence.partition(": ")
    with contextlib.chdir(folder), pytest.raises(Exception) as raised:  # noqa: PT011
        exec(line, names())
    assert (type(raised.value).__name__, str(raised.value)) == (kind, message)
