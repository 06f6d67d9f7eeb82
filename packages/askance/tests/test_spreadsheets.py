"""What a spreadsheet would run stands behind an apostrophe, whatever stands before it, and comes back as it was."""

import csv
import io
import sys
import unicodedata
from types import SimpleNamespace

import numpy as np
import pytest

from askance.cli.predict import write_csv
from askance.runner.predict import Predictions
from askance.spreadsheets import safe, unsafe

EVERY = [chr(number) for number in range(sys.maxunicode + 1)]
BLANK = [sign for sign in EVERY if unicodedata.category(sign) in ("Zs", "Zl", "Zp", "Cc")]
UNSEEN = [
    *BLANK,
    *"\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2066\u2069\u180e\ufeff\u3164\u2800\ufe0f",
    *"\U000e0001\ufffc\ue000\u0301",
]
SIGNS = [sign for sign in EVERY if unicodedata.normalize("NFKC", sign) in ("=", "+", "-", "@", "\u2212")]
ODD = [
    "",
    "'",
    "''",
    "'=",
    "=",
    "-",
    "'-",
    "+1",
    "'+1",
    "-1",
    "'-1",
    "-1+1",
    "'-1+1",
    "' =1",
    " '=1",
    "a=1",
    "'a",
    "\n",
    "'\n",
]


@pytest.mark.parametrize("before", UNSEEN, ids=ascii)
def test_what_stands_unseen_before_a_formula_hides_it_from_nobody_here(before):
    for text in (f"{before}=1+1", f"{before}{before}@x", f"'{before}-1+1"):
        assert safe(text) == f"'{text}"
        assert unsafe(safe(text)) == text


@pytest.mark.parametrize("sign", SIGNS, ids=ascii)
def test_every_form_of_a_sign_begins_a_formula(sign):
    assert safe(f"{sign}1+1") == f"'{sign}1+1"


@pytest.mark.parametrize("text", ODD)
def test_every_text_comes_back_as_it_was(text):
    assert unsafe(safe(text)) == text
    assert unsafe(safe(safe(text))) == safe(text)


@pytest.mark.parametrize(
    "cell", ["-1", "+1", "-0.5e-7", "12", -3, 0.5, None, True, "-", "+", "ham", "a = b", "'quoted'"]
)
def test_numbers_and_ordinary_texts_stay_as_they_are(cell):
    assert safe(cell) is cell


def test_predictions_have_none_in_cells_or_names():
    file = io.StringIO()
    columns = {"row": np.arange(2), "label": np.array(["=1+1", "ham"], object), "margin": np.array([-0.5, 1.0])}
    reasons = [[(" =cmd|x", 0.1)], [("word", 0.2)]]
    write = write_csv(file, SimpleNamespace(classes=["ham", "=1+1"], separator=";"))
    write(Predictions(columns, np.full((2, 2), 0.5), reasons))
    names, first, second = csv.reader(io.StringIO(file.getvalue()))
    assert names == ["row", "label", "margin", "probability of ham", "probability of =1+1", "why"]
    assert first == ["0", "'=1+1", "-0.5", "0.5", "0.5", "' =cmd|x +0.1"]
    assert second[1::4] == ["ham", "word +0.2"]
